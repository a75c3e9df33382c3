//! What apps say of themselves, unasked: what it changes, and what is made of it.

use kernel::apps::{
    Asked, Kind, Level, Remark, Response, Telling,
    protocol::{Loaded, Readiness, Standing},
};
use serde_json::{Value, json};

use crate::support::{NOTHING, Scene, counter};

fn progress(request: String, done: f64, call: &str) -> (Telling, Option<String>) {
    let (total, note) = (Some(4.0), Some("reading".to_owned()));
    (Telling::Progress { request, done, total, note }, Some(call.to_owned()))
}

fn changed(keys: &[&str]) -> Remark {
    let keys = keys.iter().map(|key| (*key).to_owned()).collect();
    Remark::StateChanged { keys, by_person: false }
}

#[test]
fn a_command_that_tells_how_far_it_is_is_given_its_time_anew() {
    let mut scene = Scene::docked();
    scene.command("dock", "add", json!({ "n": 1 }));
    assert_eq!(scene.wait(4000), NOTHING);
    scene.progress(1, "req-2", 1.0);
    assert_eq!(scene.wait(4000), NOTHING);
    scene.progress(1, "req-2", 2.0);
    assert_eq!(scene.wait(4999), NOTHING);
    assert_eq!(scene.done(1, "req-2", json!("ok")), ["call 1 = \"ok\""]);
    let request = scene.full("req-2");
    let told = [progress(request.clone(), 1.0, "tool-1"), progress(request, 2.0, "tool-1")];
    assert_eq!(scene.news, told);
}

#[test]
fn who_falls_silent_after_that_has_as_long_as_ever() {
    let mut scene = Scene::docked();
    scene.command("dock", "slow", Value::Null);
    scene.wait(3000);
    scene.progress(1, "req-2", 1.0);
    assert_eq!(scene.wait(19_999), NOTHING);
    assert_eq!(scene.wait(1), ["call 1 ! open [req-2]"]);
    // Whoever was told so waits no longer, whatever is said now.
    scene.progress(1, "req-2", 2.0);
    assert_eq!(scene.news.len(), 1);
    assert_eq!(scene.wait(600_000), NOTHING);
    assert_eq!(scene.machine.alarm(), None);
}

#[test]
fn nobody_is_waited_for_longer_than_ten_minutes() {
    let mut scene = Scene::docked();
    scene.command("dock", "add", Value::Null);
    for _ in 0..149 {
        assert_eq!(scene.wait(4000), NOTHING);
        scene.progress(1, "req-2", 1.0);
    }
    assert_eq!(scene.wait(4000), ["call 1 ! open [req-2]"]);
}

#[test]
fn only_the_app_that_works_on_a_command_tells_of_it() {
    let mut scene = Scene::docked();
    scene.join(2);
    scene.command("dock", "add", Value::Null);
    scene.wait(4000);
    scene.progress(2, "req-2", 1.0);
    scene.progress(1, "req-guessed", 1.0);
    scene.progress(7, "req-2", 1.0);
    assert_eq!(scene.news, []);
    assert_eq!(scene.wait(1000), ["call 1 ! open [req-2]"]);
}

#[test]
fn only_the_owner_tells_of_its_state_and_only_of_what_it_has() {
    let mut scene = Scene::docked();
    scene.join(2);
    scene.remark(2, changed(&["cells"]));
    scene.remark(1, changed(&["toString"]));
    scene.remark(1, changed(&["cells", "toString", "cells"]));
    let keys = vec!["cells".to_owned()];
    assert_eq!(scene.news, [(Telling::StateChanged { keys }, None)]);
}

#[test]
fn what_is_printed_is_told_with_who_shows_the_app() {
    let mut scene = Scene::docked();
    scene.join(2);
    let printed = || Remark::Printed { level: Level::Error, text: "it broke".into() };
    scene.remark(2, printed());
    let (connection, text) = ("conn-2".to_owned(), "it broke".to_owned());
    let told = Telling::Printed { connection, level: Level::Error, text };
    assert_eq!(scene.news, [(told, None)]);
    scene.close("dock");
    scene.remark(2, printed());
    assert_eq!(scene.news.len(), 1);
}

#[test]
fn what_is_refused_and_what_looks_odd_is_told() {
    let mut scene = Scene::docked();
    let refused = scene.command("dock", "inc", json!({ "by": "two" }));
    let why = "Invalid params for command \"inc\" at /by: expected number, got string.";
    assert_eq!(refused, [format!("call 1 ! {why}")]);
    let params = Some(json!({ "by": "two" }));
    let asked = Asked::Command { command: "inc".into(), params };
    assert_eq!(scene.news, [(Telling::Refused { asked, why: why.to_owned() }, None)]);
    scene.manifest("dock");
    let manifest = json!({ "state": { "n": { "schema": { "type": "number" } } } });
    scene.answer(1, "req-2", Response::of(Kind::Manifest, Some(manifest)));
    scene.query("dock", "n");
    let told = scene.data(1, "req-3", json!("many"));
    let what = "`n` at ``: expected number, got string";
    let warning = format!("warn: the app in monitor-0/dock: {what}");
    assert_eq!(told, [warning, "call 3 = \"many\"".to_owned()]);
    let odd = Telling::Odd { request: Some(scene.full("req-3")), what: what.to_owned() };
    assert_eq!(scene.news[1..], [(odd, None)]);
}

#[test]
fn how_an_app_stands_can_be_seen_at_any_time() {
    let mut scene = Scene::new();
    scene.open("dock");
    let standing = |scene: &Scene| scene.machine.standing("dock", None).unwrap();
    let loading = Standing {
        window: "monitor-0/dock".into(),
        app: None,
        readiness: Readiness::Loading,
        owner: None,
        loads: Vec::new(),
        manifest: None,
        connections: 0,
        journal: 0,
        waiting: 0,
        open: 0,
    };
    assert_eq!(standing(&scene), loading);
    scene.join(1);
    scene.query("dock", "cells");
    assert_eq!(standing(&scene), Standing { connections: 1, waiting: 1, ..loading.clone() });
    scene.ready(1, "dock", "a");
    scene.introduce(1, "req-1");
    scene.data(1, "req-2", json!(0));
    scene.command("dock", "add", Value::Null);
    scene.done(1, "req-3", json!(1));
    scene.command("dock", "add", Value::Null);
    let load = |connection: &str, generation, instance: &str| Loaded {
        connection: connection.into(),
        generation,
        instance: Some(instance.into()),
    };
    let ready = Standing {
        readiness: Readiness::Ready,
        owner: Some("conn-1".into()),
        loads: vec![load("conn-1", 1, "a")],
        manifest: Some(counter()),
        connections: 1,
        journal: 1,
        open: 1,
        ..loading.clone()
    };
    assert_eq!(standing(&scene), ready);
    scene.done(1, "req-4", json!(2));
    scene.join(2);
    scene.ready(2, "dock", "b");
    let behind = standing(&scene);
    assert_eq!(behind.readiness, Readiness::CatchingUp);
    assert_eq!(behind.loads, [load("conn-1", 1, "a"), load("conn-2", 2, "b")]);
    scene.leave(2);
    scene.leave(1);
    assert_eq!(standing(&scene), Standing { readiness: Readiness::Lost, journal: 2, ..loading });
    assert_eq!(scene.machine.standing("none", None), Err("Window \"none\" not found.".to_owned()));
}
