//! What happens when an app takes longer than it was given.

use kernel::apps::{
    AppFact, Asked, FailedReason, Kind, Response,
    protocol::{CallId, Input},
};
use serde_json::{Value, json};

use crate::support::{NOTHING, Scene};

#[test]
fn an_app_that_asks_for_more_time_is_given_it() {
    let mut scene = Scene::docked();
    scene.command("dock", "slow", Value::Null);
    assert_eq!(scene.wait(8000), NOTHING);
    assert_eq!(scene.done(1, "req-2", json!("ok")), ["call 1 = \"ok\""]);
    scene.ready(1, "dock", "b");
    assert_eq!(scene.introduce(1, "req-3"), ["to 1: dock command slow [replay-dock-4-0]"]);
}

#[test]
fn a_late_result_follows_is_kept_and_played_again() {
    let mut scene = Scene::docked();
    scene.command("dock", "add", json!({ "n": 1 }));
    let start = scene.kept.len();
    assert_eq!(scene.wait(8000), ["call 1 ! open [req-2]"]);
    assert_eq!(
        scene.done(1, "req-2", json!({ "ok": true })),
        ["follow-up: The command \"add\" in window \"monitor-0/dock\" (tool call tool-1, request \
          [req-2]) had no reply in time. It has succeeded now. The app says:\n{\n  \"ok\": true\n}"]
    );
    let facts = scene.facts_since(start);
    let [AppFact::Failed { reason, .. }, AppFact::Response { elapsed_ms, late, .. }] =
        facts.as_slice()
    else {
        panic!("{facts:?}")
    };
    assert_eq!((*reason, *elapsed_ms, *late), (FailedReason::Timeout, 8000, true));
    scene.ready(1, "dock", "b");
    let played = ["to 1: dock command add {\"n\":1} [replay-dock-4-0]"];
    assert_eq!(scene.introduce(1, "req-3"), played);
}

#[test]
fn a_late_failure_follows_too() {
    let mut scene = Scene::docked();
    scene.command("dock", "add", Value::Null);
    scene.wait(5000);
    let told = scene.answer(1, "req-2", Response::error(Kind::Command, "Error: full"));
    assert!(told[0].ends_with("It has failed now. The app says:\nError: full"), "{told:?}");
}

#[test]
fn a_result_that_is_too_late_counts_no_more() {
    let mut scene = Scene::docked();
    scene.command("dock", "add", Value::Null);
    assert_eq!(scene.wait(605_000), ["call 1 ! open [req-2]"]);
    assert_eq!(scene.done(1, "req-2", json!(1)), NOTHING);
    scene.ready(1, "dock", "b");
    assert_eq!(scene.introduce(1, "req-3"), NOTHING);
}

#[test]
fn a_late_result_is_made_up_for_in_a_tab_that_took_over_meanwhile() {
    let mut scene = Scene::docked();
    scene.command("dock", "add", json!({ "n": 1 }));
    scene.wait(5000);
    scene.join(2);
    scene.ready(2, "dock", "b");
    scene.introduce(2, "req-3");
    scene.command("dock", "add", json!({ "n": 2 }));
    scene.done(2, "req-4", json!(null));
    let told = scene.done(1, "req-2", json!(null));
    assert_eq!(told[1..], ["to 2: dock command add {\"n\":1} [replay-dock-5-0]"]);
    scene.done(2, "replay-dock-5-0", json!(null));
    // The first has not seen the second command, and only that.
    assert_eq!(scene.leave(2)[1..], ["to 1: dock command add {\"n\":2} [replay-dock-7-0]"]);
}

#[test]
fn a_call_that_nobody_waits_for_any_more_is_not_sent() {
    let mut scene = Scene::new();
    scene.open("dock");
    scene.join(1);
    scene.command("dock", "add", Value::Null);
    scene.step(Input::Abandoned(CallId(1)));
    assert_eq!(scene.ready(1, "dock", "a"), ["to 1: dock manifest [req-1]"]);
    assert_eq!(scene.introduce(1, "req-1"), NOTHING);
    assert_eq!(scene.machine.alarm(), None);
}

#[test]
fn a_command_that_could_not_be_recorded_is_refused() {
    let mut scene = Scene::docked();
    scene.command("dock", "add", Value::Null);
    let request = scene.facts_since(0).into_iter().find_map(|fact| match fact {
        AppFact::Request(request) if request.asked != Asked::Manifest => Some(request.request),
        _ => None,
    });
    let (request, why) = (request.unwrap(), "the disk is full".to_owned());
    assert_eq!(
        scene.step(Input::Unrecorded { request, why }),
        ["call 1 ! The command was not sent, because it could not be recorded: the disk is full."]
    );
}

#[test]
fn a_session_can_be_asked_only_so_much_at_once() {
    let mut scene = Scene::docked();
    for _ in 0..1000 {
        scene.query("dock", "cells");
    }
    assert_eq!(
        scene.query("dock", "cells"),
        ["call 1001 ! Too many calls wait for the apps of this session. Try again later."]
    );
}
