//! One connection is asked, whoever else shows the same window.

use kernel::apps::{
    AppFact, FailedReason, Kind, OwnerReason, Response,
    protocol::{Shown, WindowEvent},
};
use serde_json::{Value, json};

use crate::support::{NOTHING, Scene, frame};

const LOST: &str = "App did not respond (timeout). The connection that hosted the app closed \
                    before it replied; the command may have run.";
const RELOADED: &str = "App did not respond (timeout). The app reloaded before it replied; the \
                        command may have run.";

#[test]
fn a_command_goes_to_the_connection_that_was_ready_last_and_to_no_other() {
    let mut scene = Scene::docked();
    scene.join(2);
    scene.join(3);
    let start = scene.kept.len();
    assert_eq!(scene.ready(2, "dock", "b"), ["to 2: dock manifest [req-2]"]);
    let (window, connection) = ("monitor-0/dock".to_owned(), "conn-2".to_owned());
    assert_eq!(
        scene.facts_since(start)[..2],
        [
            AppFact::Ready {
                window: window.clone(),
                connection: connection.clone(),
                instance: Some("b".into()),
                generation: 2,
                replayed: None,
            },
            AppFact::Owner { window, connection, reason: OwnerReason::Ready },
        ]
    );
    scene.introduce(2, "req-2");
    let sent = ["to 2: dock command add [req-3]"];
    assert_eq!(scene.command("dock", "add", Value::Null), sent);
}

#[test]
fn only_the_one_that_was_asked_can_answer() {
    let mut scene = Scene::docked();
    scene.open("other");
    scene.join(2);
    scene.query("dock", "cells");
    let start = scene.kept.len();
    let data = || Response::of(Kind::Query, Some(json!(1)));
    assert_eq!(scene.answer(2, "req-2", data()), NOTHING);
    assert_eq!(scene.answer_in(1, "req-2", Some("other"), data()), NOTHING);
    assert_eq!(scene.answer(1, "req-guessed", data()), NOTHING);
    assert_eq!(scene.answer(1, "req-2", data()), ["call 1 = 1"]);
    assert_eq!(scene.answer(1, "req-2", data()), NOTHING);
    let why = scene.facts_since(start).into_iter().filter_map(|fact| match fact {
        AppFact::Rejected { connection, window, why, .. } => {
            assert_eq!(window.as_deref(), Some("monitor-0/dock"));
            Some(format!("{connection}: {why}"))
        }
        _ => None,
    });
    assert_eq!(
        why.collect::<Vec<_>>(),
        [
            "conn-2: it was asked of another connection",
            "conn-1: it was asked of another window",
            "conn-1: no such request is open",
            "conn-1: no such request is open",
        ]
    );
}

#[test]
fn when_the_owner_goes_a_query_is_asked_of_the_next_and_a_command_is_not() {
    let mut scene = Scene::docked();
    scene.join(2);
    scene.ready(2, "dock", "b");
    scene.introduce(2, "req-2");
    scene.query("dock", "cells");
    scene.command("dock", "add", Value::Null);
    assert_eq!(
        scene.leave(2),
        [
            format!("call 2 ! {LOST}"),
            "to 1: dock manifest [req-5]".to_owned(),
            "to 1: dock query cells [req-3]".to_owned(),
        ]
    );
    assert_eq!(scene.data(1, "req-3", json!(1)), ["call 1 = 1"]);
    assert_eq!(scene.query("dock", "cells"), ["to 1: dock query cells [req-6]"]);
}

#[test]
fn when_the_last_one_goes_what_is_open_fails_at_once() {
    let mut scene = Scene::docked();
    scene.query("dock", "cells");
    scene.command("dock", "add", Value::Null);
    let gone = "App did not respond (timeout). No client is connected to this session, so no page \
                can load the app.";
    assert_eq!(scene.leave(1), [format!("call 2 ! {LOST}"), format!("call 1 ! {gone}")]);
}

#[test]
fn a_query_waits_for_a_page_that_comes_back_as_long_as_it_would_have_waited_anyway() {
    let mut scene = Scene::docked();
    scene.query("dock", "cells");
    scene.wait(1000);
    scene.join(2);
    assert_eq!(scene.leave(1), NOTHING);
    assert_eq!(
        scene.ready(2, "dock", "a"),
        ["to 2: dock manifest [req-3]", "to 2: dock query cells [req-2]"]
    );
    assert_eq!(scene.wait(3999), NOTHING);
    assert_eq!(scene.wait(1), ["call 1 ! App did not respond (timeout)."]);
}

#[test]
fn a_command_under_way_at_the_old_owner_ends_there_before_the_new_one_is_asked() {
    let mut scene = Scene::docked();
    scene.command("dock", "add", json!({ "n": 1 }));
    scene.join(2);
    scene.ready(2, "dock", "b");
    scene.introduce(2, "req-3");
    assert_eq!(scene.command("dock", "add", json!({ "n": 2 })), NOTHING);
    assert_eq!(
        scene.done(1, "req-2", json!(true)),
        ["call 1 = true", "to 2: dock command add {\"n\":1} [replay-dock-4-0]"]
    );
    assert_eq!(
        scene.done(2, "replay-dock-4-0", json!(true)),
        ["to 2: dock command add {\"n\":2} [req-5]"]
    );
}

#[test]
fn an_app_that_loads_anew_answers_nothing_of_what_it_was_asked_before() {
    let mut scene = Scene::docked();
    scene.command("dock", "add", Value::Null);
    let start = scene.kept.len();
    assert_eq!(
        scene.ready(1, "dock", "b"),
        [format!("call 1 ! {RELOADED}"), "to 1: dock manifest [req-3]".to_owned()]
    );
    let failed = scene.facts_since(start).into_iter().find_map(|fact| match fact {
        AppFact::Failed { reason, .. } => Some(reason),
        _ => None,
    });
    assert_eq!(failed, Some(FailedReason::Reloaded));
    assert_eq!(scene.done(1, "req-2", json!("stale")), NOTHING);
}

#[test]
fn a_window_that_is_closed_and_opened_again_waits_for_its_new_app() {
    let mut scene = Scene::docked();
    scene.command("dock", "add", Value::Null);
    scene.done(1, "req-2", json!(1));
    scene.query("dock", "cells");
    let closed = "call 2 ! App did not respond (timeout). The window was closed or shows something \
                  else now; the command may have run.";
    assert_eq!(scene.close("dock"), [closed]);
    assert_eq!(scene.query("dock", "cells"), ["call 3 ! Window \"dock\" not found."]);
    scene.open("dock");
    assert_eq!(scene.query("dock", "cells"), NOTHING);
    // Nothing of before is played again, not even in the very same document.
    assert_eq!(
        scene.ready(1, "dock", "a"),
        ["to 1: dock manifest [req-4]", "to 1: dock query cells [req-5]"]
    );
    assert_eq!(scene.introduce(1, "req-4"), NOTHING);
}

#[test]
fn content_that_is_replaced_takes_its_app_and_its_past_with_it() {
    let mut scene = Scene::docked();
    scene.command("dock", "add", Value::Null);
    scene.done(1, "req-2", json!(1));
    let window = || "monitor-0/dock".to_owned();
    let same = frame("/api/apps/counter/index.html");
    scene.window(WindowEvent::Changed { window: window(), shown: same });
    // The same again is no change.
    assert_eq!(scene.query("dock", "cells"), ["to 1: dock query cells [req-3]"]);
    scene.data(1, "req-3", json!(1));
    let other = frame("/api/apps/other/index.html");
    scene.window(WindowEvent::Changed { window: window(), shown: other });
    assert_eq!(scene.query("dock", "cells"), NOTHING);
    assert_eq!(
        scene.ready(1, "dock", "o"),
        ["to 1: dock manifest [req-4]", "to 1: dock query cells [req-5]"]
    );
    assert_eq!(scene.introduce(1, "req-4"), NOTHING);
    scene.command("dock", "add", Value::Null);
    let text = Shown::default();
    let told = scene.window(WindowEvent::Changed { window: window(), shown: text });
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(scene.query("dock", "x"), ["call 5 ! Window \"dock\" is not an iframe app."]);
}

#[test]
fn what_nobody_shows_is_not_ready() {
    let mut scene = Scene::new();
    scene.open("dock");
    let told = scene.ready(1, "dock", "a");
    assert_eq!(told, ["warn: conn-1 has an app ready in no app's window: dock"]);
    scene.join(1);
    let told = scene.ready(1, "gone", "a");
    assert_eq!(told, ["warn: conn-1 has an app ready in no app's window: gone"]);
    assert_eq!(scene.facts_since(0), []);
}
