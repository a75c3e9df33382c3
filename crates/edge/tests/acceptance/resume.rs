//! Nothing lost and nothing twice: histories, sockets that are cut, listeners that come late or read slowly.

use serde_json::{Value, json};
use testkit::{
    Gate, TestTool, World,
    model::{call, reasoning, text, wait},
};

use crate::common::{House, ids, persisted, shorts};

/// A turn with some of everything, in two steps.
fn world() -> World {
    World::new([
        vec![
            reasoning("let me think"),
            text("I will "),
            text("look."),
            call("a", "echo", json!({ "n": 1 })),
            call("b", "nothing", json!({})),
        ],
        vec![text("All "), text("is "), text("well.")],
    ])
}

/// A place from which a client goes on: the last `seq` it has seen.
fn last_seq(frames: &[Value]) -> u64 {
    frames.iter().filter_map(|frame| frame["seq"].as_u64()).next_back().unwrap_or_default()
}

#[tokio::test]
async fn history_is_what_was_heard_before_and_after_a_restart() {
    let mut house = House::over(world()).await;
    let id = house.session().await;
    let mut socket = house.socket().await;
    socket.subscribe_with(&id, json!({ "after": 0 })).await;
    house.say(&id, "go").await;
    let mut heard = socket.turn().await;
    let change = json!({ "setContext": { "setName": "files", "items": ["a.txt"] } });
    house.patch(&format!("/api/sessions/{id}"), change).await;
    heard.extend(socket.waiting().await);
    let last = house.log(&id).await["last"].clone();
    for restarted in [false, true] {
        if restarted {
            house.restart().await;
        }
        let history = house.history(&id).await;
        assert_eq!(persisted(&history), persisted(&heard), "restarted: {restarted}");
        let [.., load, complete] = &history[..] else { panic!("{history:#?}") };
        assert_eq!(load["event"]["data"]["reason"], "load");
        assert_eq!(load["event"]["ephemeral"], true);
        let expected = json!({ "type": "historyComplete", "sessionId": id, "seq": last });
        assert_eq!(*complete, expected);
        assert_eq!(history.len(), persisted(&heard).len() + 2, "and nothing else");
    }
}

#[tokio::test]
async fn history_goes_on_from_anywhere() {
    let house = House::over(world()).await;
    let id = house.session().await;
    house.turn(&id, json!({ "prompt": "go" })).await;
    let all = house.history(&id).await;
    let mut socket = house.socket().await;
    let last = last_seq(&all);
    for after in 0..last + 3 {
        let rest = socket.history(&id, json!({ "after": after })).await;
        // The frames of one fact stay together: the last of them bears the seq.
        let from = all.iter().rposition(|it| it["seq"].as_u64().is_some_and(|it| it <= after));
        let skipped = if after >= last { all.len() - 1 } else { from.map_or(0, |it| it + 1) };
        assert_eq!(rest, all[skipped..], "after {after}");
    }
    let far = socket.history(&id, json!({ "after": u64::MAX })).await;
    assert_eq!(far, all[all.len() - 1..], "beyond the end is the end");
}

/// Cuts the socket after every number of frames there can be, and goes on with another.
#[tokio::test]
async fn a_cut_at_any_point_of_a_turn_loses_and_doubles_nothing() {
    let whole = {
        let house = House::over(world()).await;
        let id = house.session().await;
        house.turn(&id, json!({ "prompt": "go" })).await.len()
    };
    for cut in 0..whole {
        let house = House::over(world()).await;
        let id = house.session().await;
        let mut socket = house.socket().await;
        socket.subscribe_with(&id, json!({ "after": 0 })).await;
        house.say(&id, "go").await;
        let mut heard = Vec::new();
        while heard.len() < cut {
            heard.push(socket.next().await);
        }
        drop(socket);
        let after = last_seq(&heard);
        let mut socket = house.socket().await;
        heard.extend(socket.subscribe_with(&id, json!({ "after": after })).await);
        while !heard.iter().any(|it| it["event"]["type"] == "session.idle") {
            heard.push(socket.next().await);
        }
        // A fact told in several frames may be cut in between; the repeat has the same ids.
        let mut seen = Vec::new();
        for frame in persisted(&heard) {
            if !seen.contains(&frame) {
                seen.push(frame);
            }
        }
        let history = persisted(&house.history(&id).await);
        assert_eq!(ids(&seen), ids(&history), "cut after {cut}");
        assert_eq!(seen, history, "cut after {cut}");
        let placed = |frames: &[Value]| -> Vec<u64> {
            frames.iter().filter_map(|frame| frame["seq"].as_u64()).collect()
        };
        assert_eq!(placed(&heard), placed(&history), "cut after {cut}: a place comes once");
    }
}

#[tokio::test]
async fn who_joins_in_the_middle_hears_the_open_text_once() {
    let gate = Gate::default();
    let script = vec![reasoning("hm"), text("Once upon "), text("a "), wait(&gate), text("time")];
    let house = House::new([script]).await;
    let id = house.session().await;
    house.say(&id, "tell").await;
    gate.reached().await;
    let mut watcher = house.socket().await;
    watcher.subscribe_with(&id, json!({ "deltas": "native" })).await;
    let mut resumed = house.socket().await;
    let caught_up = resumed.subscribe_with(&id, json!({ "after": 0, "deltas": "seed" })).await;
    let mut reader = house.socket().await;
    let past = ["user.message", "assistant.turn_start"];
    let open = ["assistant.reasoning_delta", "assistant.message_delta", "assistant.message.delta"];

    let history = reader.history(&id, json!({})).await;
    assert_eq!(shorts(&history), [&past[..], &open, &["historyComplete"]].concat());
    for delta in &history[2..5] {
        let data = &delta["event"]["data"];
        assert_eq!(data["replace"], true);
        assert_eq!(delta["event"]["ephemeral"], true);
    }
    assert_eq!(history[3]["event"]["data"]["deltaContent"], "Once upon a ");
    assert_eq!(history[3]["event"]["data"]["totalResponseSizeBytes"], 12);
    assert_eq!(history[4]["event"]["data"]["content"], "Once upon a ");

    let history = watcher.history(&id, json!({})).await;
    let expected = [&past[..], &open[..2], &["historyComplete"]].concat();
    assert_eq!(shorts(&history), expected, "under the name the subscription chose");
    let mut caught_up = caught_up;
    caught_up.extend(resumed.waiting().await);
    assert_eq!(shorts(&caught_up), [&past[..], &open[..1], &open[2..]].concat());

    gate.open();
    let live = watcher.turn().await;
    assert_eq!(live[0]["event"]["data"]["deltaContent"], "time");
    assert!(live[0]["event"]["data"]["replace"].is_null());
    let rest =
        ["assistant.message", "assistant.reasoning", "session.idle", "list idle", "busy false"];
    assert_eq!(shorts(&live), [&open[1..2], &rest].concat(), "nothing is told again");
    assert_eq!(shorts(&resumed.turn().await), [&open[2..], &rest].concat());
    assert_eq!(shorts(&reader.turn().await), rest[3..], "who asked for the past did not subscribe");
}

#[tokio::test]
async fn history_and_live_events_do_not_mix() {
    let gate = Gate::default();
    let mut script: Vec<_> = (0..600).map(|number| text(&format!("{number} "))).collect();
    script.insert(300, wait(&gate));
    let house = House::new([]).await;
    let id = house.session().await;
    let mut socket = house.socket().await;
    house.world.model.otherwise(vec![text("short")]);
    for _ in 0..30 {
        house.turn(&id, json!({ "prompt": "go" })).await;
    }
    house.world.model.push(script);
    socket.subscribe_with(&id, json!({ "deltas": "native" })).await;
    house.say(&id, "long").await;
    gate.reached().await;
    socket.send(json!({ "type": "requestHistory", "sessionId": id })).await;
    // The request is being answered, and the turn goes on meanwhile.
    let mut told = vec![socket.until(|frame| frame["seq"] == 2).await.pop().unwrap()];
    gate.open();
    told.extend(socket.until(|frame| frame["type"] == "historyComplete").await);
    let after = socket.turn().await;
    let open = told.len() - 2;
    assert_eq!(told[open]["event"]["data"]["replace"], true, "the open text comes at the end");
    let replaced = told.iter().chain(&after).filter(|it| it["event"]["data"]["replace"] == true);
    assert_eq!(replaced.count(), 1);
    assert_eq!(persisted(&told).len(), open, "and nothing live comes before it");
    let texts = told[open..].iter().chain(&after);
    let joined: String =
        texts.filter_map(|it| it["event"]["data"]["deltaContent"].as_str()).collect();
    let said = after.iter().find(|it| it["event"]["type"] == "assistant.message").unwrap();
    assert_eq!(said["event"]["data"]["content"], joined, "no piece is missing or told twice");
    let all = [persisted(&told), persisted(&after)].concat();
    assert_eq!(all, persisted(&house.history(&id).await));
}

#[tokio::test]
async fn a_listener_that_does_not_read_holds_up_nobody_and_catches_up() {
    let pieces = (0..1_600).map(|number| text(&format!("{number} {}", "x".repeat(5_000))));
    let house = House::new([pieces.collect()]).await;
    let id = house.session().await;
    let mut slow = house.socket().await;
    slow.subscribe_with(&id, json!({ "after": 0, "deltas": "native" })).await;
    let mut quick = house.socket().await;
    quick.subscribe_with(&id, json!({ "deltas": "native" })).await;
    // Eight megabytes are more than any buffer between us holds.
    house.say(&id, "go").await;
    let quick = quick.turn().await;
    let heard = slow.turn().await;
    assert_eq!(persisted(&heard), persisted(&quick), "it has heard every fact");
    let mut shown = String::new();
    for frame in &heard {
        let data = &frame["event"]["data"];
        if let Some(text) = data["deltaContent"].as_str() {
            if data["replace"] == true {
                shown.clear();
            }
            shown.push_str(text);
        }
    }
    let said = heard.iter().find(|it| it["event"]["type"] == "assistant.message").unwrap();
    let said = said["event"]["data"]["content"].as_str().unwrap();
    assert!(said.starts_with(&shown), "what it heard of the text fits together");
}

#[tokio::test]
async fn a_tool_that_runs_is_seen_by_who_comes_late() {
    let gate = Gate::default();
    let script = vec![text("Wait."), call("a", "wait", json!({}))];
    let world = World::new([script, vec![text("Done")]]).tool(&TestTool::waiting(&gate));
    let house = House::over(world).await;
    let id = house.session().await;
    house.say(&id, "go").await;
    gate.reached().await;
    let mut socket = house.socket().await;
    let mut heard = socket.subscribe_with(&id, json!({ "after": 0 })).await;
    gate.open();
    heard.extend(socket.turn().await);
    assert_eq!(persisted(&heard), persisted(&house.history(&id).await));
}
