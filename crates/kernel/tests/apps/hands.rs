//! Windows that a person takes over while an agent drives them, and hands back.

use kernel::{
    apps::{AppFact, BackReason},
    windows::{By, Hands},
};
use serde_json::json;

use crate::support::{NOTHING, Scene};

const BACK: &str = "The person had taken this window over and has handed it back.";
const LOOK: &str = "\nLook at what is there now before you go on.";

/// An agent has added something in the turn that goes on.
fn driven() -> Scene {
    let mut scene = Scene::docked();
    scene.command("dock", "add", json!(null));
    assert_eq!(scene.done(1, "req-2", json!(1)), ["call 1 = 1"]);
    scene
}

fn taken() -> Scene {
    let mut scene = driven();
    assert_eq!(scene.touch(1, "dock"), NOTHING);
    assert!(held(&scene));
    scene
}

fn held(scene: &Scene) -> bool {
    scene.machine.record().window("monitor-0/dock").unwrap().hands == Hands::Person
}

#[test]
fn a_touch_takes_what_an_agent_drives_and_nothing_else() {
    let mut scene = Scene::docked();
    let start = scene.kept.len();
    scene.touch(1, "dock");
    scene.touch(1, "nowhere");
    assert_eq!(scene.facts_since(start), [], "nobody drives it");
    scene.query("dock", "cells");
    scene.touch(1, "dock");
    assert!(!held(&scene), "to look is not to drive");
    scene.command("dock", "slow", json!(null));
    scene.touch(9, "dock");
    assert!(!held(&scene), "nobody has come by that connection");
    let start = scene.kept.len();
    scene.touch(1, "dock");
    scene.touch(1, "0/dock");
    let window = "monitor-0/dock".to_owned();
    assert_eq!(scene.facts_since(start), [AppFact::HandsTaken { window }]);
}

#[test]
fn a_touch_after_the_turn_takes_nothing() {
    let mut scene = driven();
    scene.end_turn();
    scene.touch(1, "dock");
    assert!(!held(&scene));
}

#[test]
fn commands_wait_and_queries_go_on_until_it_is_handed_back() {
    let mut scene = taken();
    assert_eq!(scene.command("dock", "add", json!(null)), NOTHING);
    assert_eq!(scene.query("dock", "cells"), ["to 1: dock query cells [req-3]"]);
    assert_eq!(scene.data(1, "req-3", json!([])), ["call 3 = []"]);
    assert_eq!(scene.edit(1, "dock", &["cells", "values"]), NOTHING);
    assert_eq!(scene.hand("dock", Hands::Agent), ["to 1: dock command add [req-4]", "call 4 may"]);
    let told = format!("call 2 = 2 ({BACK} Meanwhile they changed: cells, values.{LOOK})");
    assert_eq!(scene.done(1, "req-4", json!(2)), [told]);
    scene.command("dock", "add", json!(null));
    assert_eq!(scene.done(1, "req-5", json!(3)), ["call 5 = 3"], "it is told once");
}

#[test]
fn what_is_wrong_is_refused_at_once_whoever_has_the_hands() {
    let mut scene = taken();
    let refused = scene.command("dock", "inc", json!({ "by": "two" }));
    let expected =
        r#"call 2 ! Invalid params for command "inc" at /by: expected number, got string."#;
    assert_eq!(refused, [expected]);
}

#[test]
fn a_person_who_is_silent_has_left() {
    let mut scene = taken();
    scene.command("dock", "add", json!(null));
    assert_eq!(scene.wait(240_000), NOTHING);
    scene.touch(1, "dock");
    assert_eq!(scene.wait(299_000), NOTHING);
    let start = scene.kept.len();
    assert_eq!(scene.wait(1_000), ["to 1: dock command add [req-3]"]);
    let (window, reason) = ("monitor-0/dock".to_owned(), BackReason::Silence);
    assert_eq!(scene.facts_since(start)[0], AppFact::HandsBack { window, reason });
}

#[test]
fn nobody_waits_for_ever_for_a_person_who_is_busy() {
    let mut scene = taken();
    scene.command("dock", "add", json!(null));
    scene.want("dock", true);
    let mut said = Vec::new();
    for _ in 0..30 {
        scene.touch(1, "dock");
        said.extend(scene.wait(60_000));
    }
    let text = "The person has taken this window over and is still busy there, so nothing was done. \
                Go on with something else, or ask them whether they are finished.";
    said.sort();
    assert_eq!(said, [format!("call 2 ! {text}"), format!("call 3 ! {text}")]);
    assert!(held(&scene));
}

#[test]
fn in_a_run_that_nobody_attends_nobody_is_waited_for() {
    let mut scene = taken();
    let refused = scene.want("dock", false);
    assert!(
        refused[0].starts_with("call 2 ! The person has taken this window over"),
        "{refused:?}"
    );
}

#[test]
fn an_agent_that_changes_a_window_itself_waits_too() {
    let mut scene = taken();
    assert_eq!(scene.want("dock", true), NOTHING);
    assert_eq!(scene.want("other", true), ["call 3 may"], "what is not there is held by nobody");
    let told = format!("call 2 may ({BACK}{LOOK})");
    assert_eq!(scene.hand("dock", Hands::Agent), [told, "call 4 may".to_owned()]);
    assert_eq!(scene.hand("other", Hands::Agent), ["call 5 ! Window \"other\" not found."]);
}

#[test]
fn a_window_that_is_closed_is_held_by_nobody() {
    let mut scene = taken();
    scene.command("dock", "add", json!(null));
    scene.want("dock", true);
    let mut said = scene.close("dock");
    said.sort();
    assert_eq!(said, ["call 2 ! Window \"dock\" not found.", "call 3 may"]);
}

#[test]
fn a_restart_keeps_who_has_the_hands() {
    let mut scene = taken();
    scene.edit(1, "dock", &["cells"]);
    scene.restart();
    assert!(held(&scene));
    scene.join(2);
    scene.ready(2, "dock", "a");
    scene.introduce(2, "req-10000000000000001");
    assert_eq!(scene.command("dock", "add", json!(null)), NOTHING);
    let said = scene.hand("dock", Hands::Agent);
    assert_eq!(said, ["to 2: dock command add [req-10000000000000002]", "call 3 may"]);
    let told = format!("call 2 = 2 ({BACK} Meanwhile they changed: cells.{LOOK})");
    assert_eq!(scene.done(2, "req-10000000000000002", json!(2)), [told]);
}

#[test]
fn what_nobody_shows_any_longer_is_held_for_a_moment_only() {
    let mut scene = taken();
    scene.leave(1);
    assert_eq!(scene.want("dock", true), NOTHING);
    assert_eq!(scene.wait(29_999), NOTHING, "a page may only be loaded anew");
    let said = scene.wait(1);
    assert!(said[0].starts_with("call 2 may (The person had taken this window over and no longer"));
}

#[test]
fn the_person_may_take_and_use_a_window_at_any_time() {
    let mut scene = Scene::docked();
    scene.hand("dock", Hands::Person);
    assert_eq!(scene.command("dock", "plus", json!({ "by": 2 })), NOTHING);
    scene.hand("dock", Hands::Agent);
    scene.done(1, "req-2", json!(2));
    scene.hand("dock", Hands::Person);
    let sent = scene.undo("dock", None, By::Person);
    assert_eq!(sent, [r#"to 1: dock command minus {"by":2} [req-3]"#]);
}

#[test]
fn what_the_person_changes_is_noted_once_until_an_agent_does_something() {
    let mut scene = driven();
    let start = scene.kept.len();
    let edited = |keys: &[&str]| AppFact::Edited {
        window: "monitor-0/dock".into(),
        keys: keys.iter().map(|&key| key.to_owned()).collect(),
    };
    scene.edit(1, "dock", &["cells"]);
    scene.edit(1, "dock", &["cells", "values"]);
    scene.edit(1, "dock", &["cells"]);
    assert_eq!(scene.facts_since(start), [edited(&["cells"]), edited(&["values"])]);
    scene.command("dock", "add", json!(null));
    scene.done(1, "req-3", json!(2));
    let start = scene.kept.len();
    scene.edit(1, "dock", &["cells"]);
    scene.edit(1, "dock", &[&"k".repeat(201)]);
    assert_eq!(scene.facts_since(start), [edited(&["cells"])]);
}
