//! Who may be asked what, and what is refused before anything is sent.

use std::collections::BTreeSet;

use kernel::apps::{
    AppFact, Asked, Kind, Response,
    protocol::{Input, Machine, Record, Shown, WindowEvent},
};
use serde_json::{Value, json};

use crate::support::{NOTHING, Scene};

const UNREGISTERED: &str = "App did not register with the App Protocol (timeout). The iframe app \
                            may not call window.yaar.app.register().";
const NO_MANIFEST: &str = "App did not respond to manifest request (timeout). The app may not \
                           support the App Protocol.";
const NO_CLIENT: &str = "No client is connected to this session, so no page can load the app.";

#[test]
fn a_window_that_is_not_there_or_shows_no_app_is_asked_nothing() {
    let mut scene = Scene::new();
    scene.window(WindowEvent::Opened {
        window: "monitor-0/note".into(),
        shown: Shown { frame: None, app: None },
    });
    scene.join(1);
    assert_eq!(scene.query("gone", "cells"), ["call 1 ! Window \"gone\" not found."]);
    assert_eq!(
        scene.command("monitor-0/note", "inc", Value::Null),
        ["call 2 ! Window \"monitor-0/note\" is not an iframe app."]
    );
    assert_eq!(scene.facts_since(0), []);
}

#[test]
fn an_app_that_never_registers_is_waited_for_five_seconds() {
    let mut scene = Scene::new();
    scene.open("dock");
    scene.join(1);
    assert_eq!(scene.query("dock", "cells"), NOTHING);
    assert_eq!(scene.wait(4999), NOTHING);
    assert_eq!(scene.wait(1), [format!("call 1 ! {UNREGISTERED}")]);
}

#[test]
fn a_query_that_comes_before_its_app_is_sent_when_the_app_is_there() {
    let mut scene = Scene::new();
    scene.open("dock");
    scene.join(1);
    scene.query("monitor-0/dock", "cells");
    scene.wait(500);
    assert_eq!(
        scene.ready(1, "dock", "a"),
        ["to 1: dock manifest [req-1]", "to 1: dock query cells [req-2]"]
    );
    assert_eq!(scene.data(1, "req-2", json!([1])), ["call 1 = [\n  1\n]"]);
}

#[test]
fn silence_ends_after_five_seconds_in_the_words_of_what_was_asked() {
    let mut scene = Scene::docked();
    scene.manifest("dock");
    scene.query("dock", "cells");
    scene.command("dock", "add", Value::Null);
    assert_eq!(
        scene.wait(5000),
        [
            format!("call 1 ! {NO_MANIFEST}"),
            "call 2 ! App did not respond (timeout).".to_owned(),
            "call 3 ! open [req-4]".to_owned(),
        ]
    );
}

#[test]
fn a_reply_of_another_kind_or_with_an_error_is_no_success() {
    let mut scene = Scene::docked();
    let none = "call 1 ! Unexpected response kind.";
    scene.query("dock", "cells");
    assert_eq!(scene.answer(1, "req-2", Response::default()), [none]);
    scene.query("dock", "cells");
    let other = Response::of(Kind::Command, Some(json!(1)));
    assert_eq!(scene.answer(1, "req-3", other), [none.replace('1', "2")]);
    scene.command("dock", "add", Value::Null);
    let bridge = Response::error(Kind::Command, "No iframe found in window");
    assert_eq!(scene.answer(1, "req-4", bridge), ["call 3 ! No iframe found in window"]);
    scene.leave(1);
    scene.join(2);
    // None of it is played again.
    assert_eq!(scene.ready(2, "dock", "b"), ["to 2: dock manifest [req-5]"]);
    assert_eq!(scene.introduce(2, "req-5"), NOTHING);
}

#[test]
fn the_manifest_is_always_asked_of_the_app_itself() {
    let mut scene = Scene::docked();
    assert_eq!(scene.manifest("dock"), ["to 1: dock manifest [req-2]"]);
    let newer = json!({ "appId": "counter", "commands": { "fresh": {} } });
    let told = scene.answer(1, "req-2", Response::of(Kind::Manifest, Some(newer.clone())));
    assert_eq!(told, [format!("call 1 = {newer:#}")]);
    // And what it says is what holds from now on.
    assert_eq!(scene.command("dock", "fresh", Value::Null), ["to 1: dock command fresh [req-3]"]);
}

#[test]
fn a_client_is_addressed_in_the_form_that_it_used_itself() {
    for (announced, called) in [("dock", "0/dock"), ("monitor-0/dock", "dock"), ("0/dock", "dock")]
    {
        let mut scene = Scene::new();
        scene.open("dock");
        scene.join(1);
        scene.ready(1, announced, "a");
        let asked = scene.query(called, "cells");
        assert_eq!(asked, [format!("to 1: {announced} query cells [req-2]")]);
        for window in [Some("dock"), Some("monitor-0/dock"), None] {
            scene.query(called, "cells");
            let request = format!(
                "req-{}",
                3 + u8::from(window != Some("dock")) + u8::from(window.is_none())
            );
            let told = scene.answer_in(1, &request, window, Response::of(Kind::Query, None));
            assert!(told[0].ends_with("= null"), "{told:?}");
        }
    }
}

#[test]
fn of_windows_with_one_name_the_callers_own_monitor_has_the_one_that_is_meant() {
    let mut scene = Scene::new();
    scene.open("monitor-0/dock");
    scene.open("monitor-1/dock");
    scene.join(1);
    scene.ready(1, "monitor-1/dock", "b");
    let query = || Asked::Query { state_key: "cells".into() };
    assert_eq!(
        scene.call("dock", query(), None),
        ["call 1 ! Window \"dock\" is on several monitors. Use one of: monitor-0/dock, \
          monitor-1/dock."]
    );
    let sent = ["to 1: monitor-1/dock query cells [req-2]"];
    assert_eq!(scene.call_from(Some("monitor-1"), "dock", query(), None), sent);
}

#[test]
fn without_a_client_nothing_is_waited_for() {
    let mut scene = Scene::new();
    scene.open("dock");
    let never = format!("call 1 ! {UNREGISTERED} {NO_CLIENT}");
    assert_eq!(scene.query("dock", "cells"), [never]);
    scene.join(1);
    scene.ready(1, "dock", "a");
    scene.leave(1);
    let silent = format!("call 2 ! App did not respond (timeout). {NO_CLIENT}");
    assert_eq!(scene.query("dock", "cells"), [silent]);
    assert_eq!(scene.manifest("dock"), [format!("call 3 ! {NO_MANIFEST} {NO_CLIENT}")]);
    scene.join(2);
    scene.query("dock", "cells");
    let silent = format!("call 4 ! App did not respond (timeout). {NO_CLIENT}");
    assert_eq!(scene.leave(2), [silent]);
}

#[test]
fn params_that_do_not_fit_are_refused_before_anything_is_sent() {
    let mut scene = Scene::docked();
    let wrong = "Invalid params for command \"inc\" at /by";
    assert_eq!(
        scene.command("dock", "inc", json!({ "by": "2" })),
        [format!("call 1 ! {wrong}: expected number, got string.")]
    );
    let nothing = format!("{wrong}: expected a value, got nothing.");
    assert_eq!(scene.command("dock", "inc", json!({})), [format!("call 2 ! {nothing}")]);
    assert_eq!(scene.command("dock", "inc", Value::Null), [format!("call 3 ! {nothing}")]);
    let sent = ["to 1: dock command inc {\"by\":2} [req-2]"];
    assert_eq!(scene.command("dock", "inc", json!({ "by": 2 })), sent);
}

#[test]
fn a_name_that_the_app_does_not_know_is_asked_about_once_more_and_then_refused() {
    let mut scene = Scene::docked();
    assert_eq!(scene.command("dock", "incr", Value::Null), ["to 1: dock manifest [req-2]"]);
    assert_eq!(
        scene.introduce(1, "req-2"),
        ["call 1 ! Unknown command: incr. Did you mean \"inc\"?"]
    );
    assert_eq!(scene.query("dock", "cell"), ["to 1: dock manifest [req-3]"]);
    assert_eq!(
        scene.introduce(1, "req-3"),
        ["call 2 ! Unknown state key: cell. Did you mean \"cells\"?"]
    );
    scene.query("dock", "toString");
    assert_eq!(scene.wait(1000), ["call 3 ! Unknown state key: toString"]);
    scene.command("dock", "__proto__", Value::Null);
    assert_eq!(scene.introduce(1, "req-5"), ["call 4 ! Unknown command: __proto__"]);
    scene.command("dock", "late", Value::Null);
    let learnt = json!({ "commands": { "late": {} } });
    assert_eq!(
        scene.answer(1, "req-6", Response::of(Kind::Manifest, Some(learnt))),
        ["to 1: dock command late [req-7]"]
    );
}

#[test]
fn an_app_that_does_not_introduce_itself_is_told_commands_unchecked() {
    let mut scene = Scene::new();
    scene.open("dock");
    scene.join(1);
    scene.ready(1, "dock", "a");
    assert_eq!(scene.command("dock", "inc", json!({ "by": "x" })), NOTHING);
    let unchecked =
        "warn: the app in monitor-0/dock: it has not said what `inc` takes: it goes unchecked";
    let sent = "to 1: dock command inc {\"by\":\"x\"} [req-2]";
    assert_eq!(scene.wait(1000), [unchecked, sent]);
    // Once it has refused to say, nobody waits for it.
    scene.answer(1, "req-1", Response::error(Kind::Manifest, "No app registered"));
    let sent = "to 1: dock command inc [req-3]";
    assert_eq!(scene.command("dock", "inc", Value::Null), [unchecked, sent]);
}

#[test]
fn a_schema_without_sense_is_told_of_and_not_used() {
    let mut scene = Scene::new();
    scene.open("dock");
    scene.join(1);
    scene.ready(1, "dock", "a");
    let odd = json!({ "commands": { "go": { "params": { "$ref": "https://a.example/x" } } } });
    let told = scene.answer(1, "req-1", Response::of(Kind::Manifest, Some(odd)));
    assert!(told[0].starts_with("warn: the app in monitor-0/dock: command go: `params` is no"));
    assert_eq!(scene.command("dock", "go", json!(7)), ["to 1: dock command go 7 [req-2]"]);
}

#[test]
fn a_result_is_kept_whole_however_much_of_it_is_shown() {
    let mut scene = Scene::docked();
    scene.query("dock", "cells");
    let large = json!("ä".repeat(500_000));
    let start = scene.kept.len();
    let told = scene.data(1, "req-2", large.clone());
    assert!(told[0].ends_with("\n... (truncated, 977KB total)"), "{}", told[0].len());
    let facts = scene.facts_since(start);
    let AppFact::Response { response, .. } = &facts[0] else { panic!("{facts:?}") };
    assert_eq!(response.value, Some(large));
}

#[test]
fn ten_thousand_names_are_all_different_and_only_as_foreseeable_as_chance() {
    let mut seed = 7_u128;
    let dice = move || {
        seed = seed.wrapping_mul(0xda94_2042_e4dd_58b5).wrapping_add(0x9e37_79b9_7f4a_7c15);
        seed ^ (seed << 64)
    };
    let mut scene = Scene::docked();
    let (mut machine, _) = Machine::resume(Record::default(), dice, scene.now);
    std::mem::swap(&mut scene.machine, &mut machine);
    scene.open("dock");
    scene.join(1);
    scene.ready(1, "dock", "a");
    scene.introduce(1, "req-1");
    let mut names = BTreeSet::new();
    for _ in 0..10_000 {
        scene.manifest("dock");
        let Some(AppFact::Request(request)) = scene.facts_since(scene.kept.len() - 1).pop() else {
            panic!("no request")
        };
        assert_eq!(request.request.len(), "req-".len() + 32);
        let response = Response::of(Kind::Manifest, None);
        let asked = request.request.clone();
        assert!(names.insert(request.request));
        let connection = kernel::apps::protocol::Connection(1);
        let window = None;
        scene.step(Input::Answered { connection, request: asked, window, response });
    }
    assert!(names.iter().all(|name| name.starts_with("req-")));
}
