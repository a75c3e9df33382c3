//! An app that loads anew is given its commands again, once each.

use kernel::apps::{
    AppFact, Kind, Response,
    protocol::{Limits, WindowEvent},
};
use serde_json::{Value, json};

use crate::support::{NOTHING, Scene, counter, frame};

/// Three commands that were carried out, as requests 2 to 4.
fn told() -> Scene {
    let mut scene = Scene::docked();
    for n in 1..4 {
        scene.command("dock", "add", json!({ "n": n }));
        scene.done(1, &format!("req-{}", n + 1), json!(n));
    }
    scene
}

#[test]
fn steps_come_one_by_one_and_new_commands_after_them() {
    let mut scene = told();
    assert_eq!(scene.ready(1, "dock", "b"), ["to 1: dock manifest [req-5]"]);
    assert_eq!(scene.command("dock", "add", json!({ "n": 4 })), NOTHING);
    assert_eq!(scene.query("dock", "cells"), NOTHING);
    assert_eq!(scene.manifest("dock"), ["to 1: dock manifest [req-6]"]);
    let step = |n: u64, name: &str| [format!("to 1: dock command add {{\"n\":{n}}} [{name}]")];
    assert_eq!(scene.introduce(1, "req-5"), step(1, "replay-dock-7-0"));
    assert_eq!(scene.done(1, "replay-dock-7-0", json!(1)), step(2, "replay-dock-8-1"));
    assert_eq!(scene.done(1, "replay-dock-8-1", json!(2)), step(3, "replay-dock-9-2"));
    let start = scene.kept.len();
    assert_eq!(
        scene.done(1, "replay-dock-9-2", json!(3)),
        ["to 1: dock command add {\"n\":4} [req-a]", "to 1: dock query cells [req-b]"]
    );
    let replay = AppFact::Replay { window: "monitor-0/dock".into(), from: 1, to: 3, failed: 0 };
    assert_eq!(scene.facts_since(start)[1], replay);
}

#[test]
fn a_second_tab_is_brought_up_to_date_and_the_first_runs_nothing_again() {
    let mut scene = told();
    scene.join(2);
    scene.ready(2, "dock", "b");
    let mut said = scene.introduce(2, "req-5");
    for (index, name) in
        ["replay-dock-6-0", "replay-dock-7-1", "replay-dock-8-2"].iter().enumerate()
    {
        assert_eq!(said, [format!("to 2: dock command add {{\"n\":{}}} [{name}]", index + 1)]);
        said = scene.done(2, name, json!(null));
    }
    assert_eq!(said, NOTHING);
}

#[test]
fn a_tab_that_was_ready_earlier_gets_only_what_it_lacks() {
    let mut scene = Scene::docked();
    scene.command("dock", "add", json!({ "n": 1 }));
    scene.done(1, "req-2", json!(1));
    scene.join(2);
    scene.ready(2, "dock", "b");
    scene.introduce(2, "req-3");
    scene.done(2, "replay-dock-4-0", json!(1));
    for (n, request) in [(2, "req-5"), (3, "req-6")] {
        scene.command("dock", "add", json!({ "n": n }));
        scene.done(2, request, json!(n));
    }
    assert_eq!(
        scene.leave(2),
        ["to 1: dock manifest [req-7]", "to 1: dock command add {\"n\":2} [replay-dock-8-0]",]
    );
    assert_eq!(
        scene.done(1, "replay-dock-8-0", json!(2)),
        ["to 1: dock command add {\"n\":3} [replay-dock-9-1]"]
    );
    assert_eq!(scene.done(1, "replay-dock-9-1", json!(3)), NOTHING);
}

#[test]
fn a_page_that_comes_back_runs_nothing_twice_also_after_a_restart() {
    let mut scene = told();
    scene.leave(1);
    scene.join(2);
    assert_eq!(scene.ready(2, "dock", "a"), ["to 2: dock manifest [req-5]"]);
    assert_eq!(scene.introduce(2, "req-5"), NOTHING);
    assert_eq!(scene.query("dock", "cells"), ["to 2: dock query cells [req-6]"]);
    scene.data(2, "req-6", json!(1));
    scene.restart();
    scene.join(3);
    let asked = scene.ready(3, "dock", "a");
    let request = asked[0].rsplit_once('[').unwrap().1.trim_end_matches(']').to_owned();
    assert_eq!(scene.introduce(3, &request), NOTHING);
    assert_eq!(scene.query("dock", "cells").len(), 1);
}

#[test]
fn after_a_restart_a_fresh_document_is_given_everything_again() {
    for instance in ["b", ""] {
        let mut scene = told();
        scene.restart();
        scene.join(2);
        let asked = scene.ready(2, "dock", instance);
        let request = asked[0].rsplit_once('[').unwrap().1.trim_end_matches(']').to_owned();
        let mut said = scene.introduce(2, &request);
        for n in 1..4 {
            let [line] = said.as_slice() else { panic!("{said:?}") };
            assert!(line.starts_with(&format!("to 2: dock command add {{\"n\":{n}}} [replay")));
            let step = line.rsplit_once('[').unwrap().1.trim_end_matches(']').to_owned();
            said = scene.done(2, &step, json!(null));
        }
        assert_eq!(said, NOTHING);
    }
}

#[test]
fn a_client_that_tells_documents_not_apart_loads_anew_whenever_it_is_ready() {
    let mut scene = Scene::new();
    scene.open("dock");
    scene.join(1);
    assert_eq!(scene.ready(1, "dock", ""), ["to 1: dock manifest [req-1]"]);
    assert_eq!(scene.introduce(1, "req-1"), NOTHING);
    scene.command("dock", "inc", json!({ "by": 2 }));
    scene.done(1, "req-2", json!({ "ok": true }));
    scene.command("dock", "add", Value::Null);
    scene.done(1, "req-3", json!({ "ok": true }));
    scene.ready(1, "dock", "");
    assert_eq!(
        scene.introduce(1, "req-4"),
        ["to 1: dock command inc {\"by\":2} [replay-dock-5-0]"]
    );
    assert_eq!(
        scene.done(1, "replay-dock-5-0", json!(1)),
        ["to 1: dock command add [replay-dock-6-1]"]
    );
}

#[test]
fn registering_twice_in_one_document_only_asks_for_the_manifest() {
    let mut scene = told();
    let start = scene.kept.len();
    assert_eq!(scene.ready(1, "dock", "a"), ["to 1: dock manifest [req-5]"]);
    assert_eq!(scene.introduce(1, "req-5"), NOTHING);
    // And is no fact of its own, however often it happens.
    assert_eq!(scene.facts_since(start).len(), 2);
}

#[test]
fn however_often_an_app_registers_it_is_asked_one_thing_at_a_time() {
    let mut scene = told();
    assert_eq!(scene.ready(1, "dock", "a"), ["to 1: dock manifest [req-5]"]);
    for _ in 0..1000 {
        assert_eq!(scene.ready(1, "dock", "a"), NOTHING);
    }
    assert_eq!(scene.introduce(1, "req-5"), ["to 1: dock manifest [req-6]"]);
    assert_eq!(scene.introduce(1, "req-6"), NOTHING);
    scene.ready(1, "dock", "a");
    scene.ready(1, "dock", "a");
    assert_eq!(scene.wait(5000), ["to 1: dock manifest [req-8]"]);
}

#[test]
fn what_is_kept_is_for_the_app_to_say() {
    let mut scene = Scene::docked();
    let commands = [("add", 1), ("set", 2), ("ping", 3), ("set", 4), ("add", 5)];
    for (index, (command, n)) in commands.iter().enumerate() {
        scene.command("dock", command, json!({ "n": n }));
        scene.done(1, &format!("req-{}", index + 2), json!(null));
    }
    scene.command("dock", "add", json!({ "n": 6 }));
    scene.answer(1, "req-7", Response::error(Kind::Command, "no"));
    scene.ready(1, "dock", "b");
    let mut said = scene.introduce(1, "req-8");
    let mut played = Vec::new();
    while let [line] = said.as_slice() {
        let (what, step) = line.rsplit_once('[').unwrap();
        played.push(what.trim_start_matches("to 1: dock command ").trim_end().to_owned());
        let step = step.trim_end_matches(']').to_owned();
        said = scene.done(1, &step, json!(null));
    }
    assert_eq!(played, ["add {\"n\":1}", "set {\"n\":4}", "add {\"n\":5}"]);
}

#[test]
fn a_step_that_fails_is_told_of_and_the_rest_goes_on() {
    let mut scene = told();
    scene.ready(1, "dock", "b");
    scene.introduce(1, "req-5");
    scene.answer(1, "replay-dock-6-0", Response::error(Kind::Command, "full"));
    assert_eq!(scene.wait(5000), ["to 1: dock command add {\"n\":3} [replay-dock-8-2]"]);
    assert_eq!(
        scene.done(1, "replay-dock-8-2", json!(3)),
        [
            "note: The app in window \"monitor-0/dock\" has loaded anew. 2 of the 3 commands that it \
          was given again have failed:\n1: full\n2: App did not respond (timeout)."
        ]
    );
    // What it did not take it is not given once more.
    scene.leave(1);
    scene.join(2);
    scene.ready(2, "dock", "b");
    assert_eq!(scene.introduce(2, "req-9"), NOTHING);
}

#[test]
fn an_app_that_loads_anew_in_the_middle_begins_again() {
    let mut scene = told();
    scene.ready(1, "dock", "b");
    scene.introduce(1, "req-5");
    assert_eq!(scene.ready(1, "dock", "c"), ["to 1: dock manifest [req-7]"]);
    assert_eq!(scene.done(1, "replay-dock-6-0", json!(1)), NOTHING);
    assert_eq!(scene.introduce(1, "req-7"), ["to 1: dock command add {\"n\":1} [replay-dock-8-0]"]);
}

#[test]
fn an_app_that_says_nothing_of_itself_is_given_its_commands_all_the_same() {
    let mut scene = told();
    scene.ready(1, "dock", "b");
    assert_eq!(scene.wait(999), NOTHING);
    assert_eq!(scene.wait(1), ["to 1: dock command add {\"n\":1} [replay-dock-6-0]"]);
}

#[test]
fn another_app_at_the_same_address_is_given_nothing() {
    let mut scene = told();
    scene.ready(1, "dock", "b");
    let mut other = counter();
    other["appId"] = json!("impostor");
    let start = scene.kept.len();
    assert_eq!(scene.answer(1, "req-5", Response::of(Kind::Manifest, Some(other))), NOTHING);
    let retired = AppFact::Retired { window: "monitor-0/dock".into() };
    assert_eq!(scene.facts_since(start)[1..], [retired]);
    scene.ready(1, "dock", "c");
    assert_eq!(scene.introduce(1, "req-6"), NOTHING);
}

#[test]
fn a_window_opened_over_one_of_the_same_content_keeps_what_was_done_in_it() {
    let mut scene = told();
    scene.open("dock");
    assert_eq!(scene.query("dock", "cells"), NOTHING);
    assert_eq!(
        scene.ready(1, "dock", "a"),
        ["to 1: dock manifest [req-5]", "to 1: dock query cells [req-6]"]
    );
    scene.data(1, "req-6", json!(0));
    let window = "monitor-0/dock".to_owned();
    scene.window(WindowEvent::Opened { window, shown: frame("/api/apps/other/index.html") });
    scene.ready(1, "dock", "z");
    assert_eq!(scene.introduce(1, "req-7"), NOTHING);
}

#[test]
fn at_the_limit_commands_still_run_and_the_session_is_told_once() {
    let mut scene = Scene::with(Limits { entries: 2, bytes: 1 << 20 });
    scene.open("dock");
    scene.join(1);
    scene.ready(1, "dock", "a");
    scene.introduce(1, "req-1");
    let mut said = Vec::new();
    for n in 2..6 {
        scene.command("dock", "add", Value::Null);
        said.extend(scene.done(1, &format!("req-{n}"), json!(n)));
    }
    assert_eq!(
        said,
        [
            "call 1 = 2",
            "call 2 = 3",
            "note: The app in window \"monitor-0/dock\" has carried out more commands than are \
             kept. What it is told from now on will be missing when it loads anew.",
            "call 3 = 4",
            "call 4 = 5",
        ]
    );
}

#[test]
fn ten_thousand_commands_are_played_again_in_order() {
    let mut scene = Scene::docked();
    for n in 0..10_000_u32 {
        let sent = scene.command("dock", "add", json!({ "n": n }));
        let request = sent[0].rsplit_once('[').unwrap().1.trim_end_matches(']').to_owned();
        scene.done(1, &request, json!(null));
    }
    let asked = scene.ready(1, "dock", "b");
    let request = asked[0].rsplit_once('[').unwrap().1.trim_end_matches(']').to_owned();
    let mut said = scene.introduce(1, &request);
    for n in 0..10_000_u32 {
        let [line] = said.as_slice() else { panic!("{said:?}") };
        assert!(line.starts_with(&format!("to 1: dock command add {{\"n\":{n}}} ")), "{line}");
        let step = line.rsplit_once('[').unwrap().1.trim_end_matches(']').to_owned();
        said = scene.done(1, &step, json!(null));
    }
    assert_eq!(said, NOTHING);
}
