//! Commands that are taken back, and done again by taking that back.

use kernel::{
    apps::{AppFact, Inverse},
    windows::By,
};
use serde_json::{Value, json};

use crate::support::{NOTHING, Scene};

/// Has an agent do something; the name of its request.
fn done(scene: &mut Scene, command: &str, params: Value, result: Value) -> String {
    let sent = scene.command("dock", command, params);
    let name = sent[0].rsplit_once('[').unwrap().1.trim_end_matches(']').to_owned();
    scene.done(1, &name, result);
    name
}

fn inverse(scene: &Scene) -> Option<Inverse> {
    let newest = scene.facts_since(0).into_iter().rev().find_map(|fact| match fact {
        AppFact::Response { inverse, .. } => Some(inverse),
        _ => None,
    });
    newest.unwrap()
}

#[test]
fn an_inverse_is_declared_in_several_ways() {
    let mut scene = Scene::docked();
    let of = |command: &str, params: Value, exact| {
        Some(Inverse { command: command.into(), params: Some(params), exact })
    };
    let told = json!({ "inverse": { "command": "set", "params": { "to": 1 } } });
    for (command, params, result, expected) in [
        ("plus", json!({ "by": 2 }), json!(7), of("minus", json!({ "by": 2 }), false)),
        ("plus", json!({ "by": 2 }), told.clone(), of("set", json!({ "to": 1 }), true)),
        ("write", json!({}), told, of("set", json!({ "to": 1 }), true)),
        ("write", json!({}), json!({ "ok": true }), None),
        ("write", json!({}), json!({ "inverse": { "command": "unheard-of" } }), None),
        ("change", json!({}), json!({ "change": 4 }), of("undo", json!({ "change": 4 }), true)),
        ("change", json!({}), json!({ "change": null }), None),
        (
            "erase",
            json!({}),
            json!(null),
            Some(Inverse { command: "add".into(), params: None, exact: false }),
        ),
        ("add", json!({}), json!({ "inverse": { "command": "set" } }), None),
    ] {
        done(&mut scene, command, params, result.clone());
        assert_eq!(inverse(&scene), expected, "{command} {result}");
    }
}

#[test]
fn the_newest_is_taken_back_first_and_done_again_by_taking_that_back() {
    let mut scene = Scene::docked();
    let first = done(&mut scene, "plus", json!({ "by": 1 }), json!(1));
    let second = done(&mut scene, "plus", json!({ "by": 2 }), json!(3));
    let covered = scene.undo("dock", Some(&first), By::Person);
    assert_eq!(covered, [r#"call 3 ! Other changes came after "plus". Undo those first."#]);

    let sent = scene.undo("dock", Some(&second), By::Person);
    assert_eq!(sent, [r#"to 1: dock command minus {"by":2} [req-4]"#]);
    assert_eq!(
        scene.undo("dock", Some(&second), By::Agent),
        ["call 5 ! That is being undone already."]
    );
    assert_eq!(scene.done(1, "req-4", json!(1)), ["call 4 = 1"]);
    assert_eq!(
        scene.undo("dock", Some(&second), By::Person),
        [r#"call 6 ! "plus" was undone already."#]
    );

    // The one before, once the newest is gone.
    let sent = scene.undo("dock", None, By::Agent);
    assert_eq!(sent, [r#"to 1: dock command minus {"by":1} [req-5]"#]);
    scene.done(1, "req-5", json!(0));
    assert_eq!(
        scene.undo("dock", None, By::Agent),
        ["call 8 ! There is nothing in window \"dock\" that can be undone."]
    );

    // Done again in the other order.
    assert_eq!(
        scene.undo("dock", Some("req-4"), By::Person),
        [r#"call 9 ! Other changes came after "minus". Undo those first."#]
    );
    let sent = scene.undo("dock", Some("req-5"), By::Person);
    assert_eq!(sent, [r#"to 1: dock command plus {"by":1} [req-6]"#]);
    scene.done(1, "req-6", json!(1));
    let sent = scene.undo("dock", Some("req-4"), By::Person);
    assert_eq!(sent, [r#"to 1: dock command plus {"by":2} [req-7]"#]);
    scene.done(1, "req-7", json!(3));

    // And taken back once more, after a restart.
    scene.restart();
    scene.join(1);
    scene.ready(1, "dock", "a");
    let sent = scene.undo("dock", None, By::Agent);
    assert_eq!(sent, NOTHING, "the app says what it can do first");
    let sent = scene.introduce(1, "req-b0000000000000001");
    assert!(sent[0].starts_with(r#"to 1: dock command minus {"by":2}"#), "{sent:?}");
}

#[test]
fn what_the_person_has_changed_since_is_the_apps_to_judge_or_left_alone() {
    let mut scene = Scene::docked();
    let plus = done(&mut scene, "plus", json!({ "by": 1 }), json!(1));
    scene.edit(1, "dock", &["cells"]);
    let refused = scene.undo("dock", Some(&plus), By::Person);
    assert!(refused[0].starts_with("call 2 ! The person has changed something"), "{refused:?}");

    let change = done(&mut scene, "change", json!({}), json!({ "change": 7 }));
    scene.edit(1, "dock", &["cells"]);
    let sent = scene.undo("dock", Some(&change), By::Person);
    assert_eq!(sent, [r#"to 1: dock command undo {"change":7} [req-4]"#]);
}
