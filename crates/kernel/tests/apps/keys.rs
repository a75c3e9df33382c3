//! A command with a key of its caller's is carried out once, however often it is asked for.

use kernel::apps::{Kind, Response};
use serde_json::{Value, json};

use crate::support::{NOTHING, Scene};

fn keyed(scene: &mut Scene) -> Vec<String> {
    scene.keyed("dock", "add", json!({ "n": 1 }), Some("k"))
}

#[test]
fn a_command_that_has_succeeded_is_not_run_again() {
    let mut scene = Scene::docked();
    assert_eq!(keyed(&mut scene), ["to 1: dock command add {\"n\":1} [req-2]"]);
    scene.done(1, "req-2", json!(7));
    assert_eq!(keyed(&mut scene), ["call 2 = 7"]);
    scene.leave(1);
    assert_eq!(keyed(&mut scene), ["call 3 = 7"]);
    scene.restart();
    assert_eq!(keyed(&mut scene), ["call 4 = 7"]);
}

#[test]
fn what_an_app_has_refused_stays_refused() {
    let mut scene = Scene::docked();
    keyed(&mut scene);
    scene.answer(1, "req-2", Response::error(Kind::Command, "Error: no"));
    assert_eq!(keyed(&mut scene), ["call 2 ! Error: no"]);
}

#[test]
fn a_call_joins_the_one_that_is_under_way() {
    let mut scene = Scene::docked();
    keyed(&mut scene);
    scene.wait(1000);
    assert_eq!(keyed(&mut scene), NOTHING);
    assert_eq!(scene.done(1, "req-2", json!(7)), ["call 1 = 7", "call 2 = 7"]);
}

#[test]
fn a_call_joins_one_that_is_late_and_waits_its_own_time() {
    let mut scene = Scene::docked();
    keyed(&mut scene);
    scene.wait(6000);
    assert_eq!(keyed(&mut scene), NOTHING);
    assert_eq!(scene.wait(4999), NOTHING);
    assert_eq!(scene.wait(1), ["call 2 ! open [req-2]"]);
    assert_eq!(keyed(&mut scene), NOTHING);
    let told = scene.done(1, "req-2", json!(7));
    assert_eq!(told[1..], ["call 3 = 7"]);
}

#[test]
fn calls_that_wait_for_an_app_under_one_key_are_one_command() {
    let mut scene = Scene::new();
    scene.open("dock");
    scene.join(1);
    assert_eq!(keyed(&mut scene), NOTHING);
    assert_eq!(keyed(&mut scene), NOTHING);
    let other = scene.keyed("dock", "add", json!({ "n": 2 }), Some("k"));
    let reused = "idempotencyKey \"k\" was already used for a different command.";
    assert_eq!(other, [format!("call 3 ! {reused}")]);
    scene.ready(1, "dock", "a");
    assert_eq!(scene.introduce(1, "req-1"), ["to 1: dock command add {\"n\":1} [req-2]"]);
    assert_eq!(scene.done(1, "req-2", json!(7)), ["call 1 = 7", "call 2 = 7"]);
}

#[test]
fn a_key_is_for_one_command_with_its_params() {
    let mut scene = Scene::docked();
    keyed(&mut scene);
    scene.done(1, "req-2", json!(7));
    let reused = "idempotencyKey \"k\" was already used for a different command.";
    for (command, params) in
        [("add", json!({ "n": 2 })), ("add", Value::Null), ("set", json!({ "n": 1 }))]
    {
        let told = scene.keyed("dock", command, params, Some("k"));
        assert!(told[0].ends_with(reused), "{told:?}");
    }
}

#[test]
fn what_was_lost_is_sent_again() {
    let mut scene = Scene::docked();
    keyed(&mut scene);
    scene.leave(1);
    scene.join(2);
    scene.ready(2, "dock", "a");
    scene.introduce(2, "req-3");
    assert_eq!(keyed(&mut scene), ["to 2: dock command add {\"n\":1} [req-4]"]);
    scene.restart();
    scene.join(3);
    let asked = scene.ready(3, "dock", "a");
    let request = asked[0].rsplit_once('[').unwrap().1.trim_end_matches(']').to_owned();
    scene.introduce(3, &request);
    assert_eq!(keyed(&mut scene).len(), 1);
}

#[test]
fn what_was_refused_before_it_was_sent_may_be_said_right() {
    let mut scene = Scene::docked();
    scene.keyed("dock", "inc", json!({}), Some("k"));
    let sent = scene.keyed("dock", "inc", json!({ "by": 1 }), Some("k"));
    assert_eq!(sent, ["to 1: dock command inc {\"by\":1} [req-2]"]);
}
