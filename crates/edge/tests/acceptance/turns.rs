//! What is heard of a turn: every frame in its place, whether it ends well, is cancelled or fails.

use kernel::update::Failure;
use serde_json::{Value, json};
use testkit::{
    Gate, TestTool, World,
    model::{call, fail, hang, reasoning, text, wait},
};

use crate::common::{House, ids, persisted, shorts};

const TIME: &str = "2026-02-01T10:00:00.000Z";

/// Each event names the one before it; ephemeral ones hang on the last that was kept.
fn assert_chained(frames: &[Value]) {
    let mut last: Option<(u64, Value)> = None;
    for frame in frames.iter().filter(|frame| frame["type"] == "event") {
        let event = &frame["event"];
        if let Some((seq, id)) = &last {
            // A fact that is kept and not sent stands in between.
            let skipped = frame["seq"].as_u64().is_some_and(|next| next > seq + 1);
            assert!(skipped || event["parentId"] == *id, "{frame:#} does not follow {id}");
        }
        assert_eq!(event["timestamp"], TIME);
        if event["ephemeral"] != true {
            let seq = frame["seq"].as_u64().or(last.map(|(seq, _)| seq));
            last = Some((seq.unwrap_or_default(), event["id"].clone()));
        }
    }
}

#[tokio::test]
async fn a_plain_turn_is_told_frame_by_frame() {
    let house = House::new([vec![text("Hel"), text("lo")]]).await;
    let id = house.session().await;
    let heard = house.turn(&id, json!({ "prompt": "hi" })).await;
    assert_chained(&heard);
    let busy = |is_busy: bool| {
        let data = json!({ "sessionId": id, "isBusy": is_busy });
        json!({ "type": "globalEvent", "event": { "type": "session.busy", "data": data } })
    };
    let [_, user, start, hel, _, lo, _, message, idle, ..] = &ids_or_none(&heard)[..] else {
        panic!("{heard:#?}")
    };
    let first = &heard[1]["event"]["parentId"];
    assert!(first.is_string(), "being opened counts");
    let event = |seq: u64, kind: &str, data: Value, id_: &Value, parent: &Value| {
        let event =
            json!({ "type": kind, "data": data, "id": id_, "timestamp": TIME, "parentId": parent });
        json!({ "type": "event", "sessionId": id, "seq": seq, "event": event })
    };
    let message_id = heard[3]["event"]["data"]["messageId"].clone();
    let delta = |kind: &str, data: Value, id_: &Value| {
        let event = json!({
            "type": kind, "data": data, "id": id_, "timestamp": TIME, "parentId": start,
            "ephemeral": true,
        });
        json!({ "type": "event", "sessionId": id, "event": event })
    };
    let native = |text: &str, size: u32, id_: &Value| {
        let data = json!({
            "messageId": message_id, "deltaContent": text, "totalResponseSizeBytes": size,
        });
        delta("assistant.message_delta", data, id_)
    };
    let seed = |text: &str, id_: &Value| {
        let data = json!({ "messageId": message_id, "content": text });
        delta("assistant.message.delta", data, id_)
    };
    let said = json!({ "content": "hi", "attachments": [] });
    let answered = json!({ "messageId": message_id, "content": "Hello", "toolRequests": [] });
    let list = json!({ "reason": "idle", "sessionId": id, "unobservedCount": 1 });
    let expected = [
        busy(true),
        event(2, "user.message", said, user, first),
        event(3, "assistant.turn_start", json!({ "turnId": "0" }), start, user),
        native("Hel", 3, hel),
        seed("Hel", hel),
        native("lo", 5, lo),
        seed("lo", lo),
        event(4, "assistant.message", answered, message, start),
        event(5, "session.idle", json!({}), idle, message),
        json!({
            "type": "globalEvent", "event": { "type": "session.listChanged", "data": list },
        }),
        busy(false),
    ];
    assert_eq!(heard, expected);
}

fn ids_or_none(frames: &[Value]) -> Vec<Value> {
    frames.iter().map(|frame| frame["event"]["id"].clone()).collect()
}

#[tokio::test]
async fn reasoning_is_told_after_the_message_it_led_to() {
    let house = House::new([vec![reasoning("hm"), reasoning("m"), text("Yes")]]).await;
    let id = house.session().await;
    let mut socket = house.socket().await;
    socket.subscribe_with(&id, json!({ "deltas": "native" })).await;
    house.say(&id, "well?").await;
    let heard = socket.turn().await;
    assert_chained(&heard);
    let expected = [
        "busy true",
        "user.message",
        "assistant.turn_start",
        "assistant.reasoning_delta",
        "assistant.reasoning_delta",
        "assistant.message_delta",
        "assistant.message",
        "assistant.reasoning",
        "session.idle",
        "list idle",
        "busy false",
    ];
    assert_eq!(shorts(&heard), expected);
    let reasoning = &heard[7]["event"]["data"];
    assert_eq!(reasoning["content"], "hmm");
    assert_eq!(reasoning["reasoningId"], heard[3]["event"]["data"]["reasoningId"]);
    assert!(heard[6]["seq"].is_null(), "a fact told in two frames puts its place on the last");
    assert_eq!(heard[7]["seq"], 4);
}

#[tokio::test]
async fn tools_start_in_the_order_called_and_complete_as_they_do() {
    let (slow, quick) = (Gate::default(), Gate::default());
    quick.open();
    let calls = vec![
        text("Let me see."),
        call("c1", "slow", json!({ "n": 1 })),
        call("c2", "quick", json!({ "n": 2 })),
        call("c3", "nothing", json!({})),
    ];
    let silent = vec![call("c4", "echo", json!({ "n": 4 }))];
    let world = World::new([calls, silent, vec![text("Done")]])
        .tool(&TestTool::waiting(&slow).named("slow"))
        .tool(&TestTool::waiting(&quick).named("quick"));
    let house = House::over(world).await;
    let id = house.session().await;
    let mut socket = house.socket().await;
    socket.subscribe_with(&id, json!({ "deltas": "seed" })).await;
    house.say(&id, "go").await;
    let completes = |frame: &Value| frame["event"]["type"] == "tool.execution_complete";
    let mut heard = socket.until(completes).await;
    heard.extend(socket.until(completes).await);
    slow.open();
    heard.extend(socket.turn().await);
    assert_chained(&heard);
    let expected = [
        "busy true",
        "user.message",
        "assistant.turn_start",
        "assistant.message.delta",
        "assistant.intent",
        "assistant.message",
        "tool.execution_start",
        "tool.execution_start",
        "tool.execution_start",
        "tool.execution_complete",
        "tool.execution_complete",
        "tool.execution_complete",
        "assistant.turn_start",
        "assistant.intent",
        "tool.execution_start",
        "tool.execution_complete",
        "assistant.turn_start",
        "assistant.message.delta",
        "assistant.message",
        "session.idle",
        "list idle",
        "busy false",
    ];
    assert_eq!(shorts(&heard), expected, "a message without text is not told");
    let data = |index: usize| &heard[index]["event"]["data"];
    let requests = json!([
        { "toolCallId": "c1", "name": "slow", "arguments": { "n": 1 }, "type": "function" },
        { "toolCallId": "c2", "name": "quick", "arguments": { "n": 2 }, "type": "function" },
        { "toolCallId": "c3", "name": "nothing", "arguments": {}, "type": "function" },
    ]);
    assert_eq!(data(5)["toolRequests"], requests);
    let start = json!({ "toolCallId": "c1", "toolName": "slow", "arguments": { "n": 1 } });
    assert_eq!(*data(6), start);
    assert_eq!([&data(7)["toolCallId"], &data(8)["toolCallId"]], ["c2", "c3"]);
    let mut early = [data(9).clone(), data(10).clone()];
    early.sort_by_key(|data| data["toolCallId"].to_string());
    let unknown = json!({ "message": "Tool 'nothing' does not exist.", "code": "failure" });
    assert_eq!(
        early,
        [
            json!({ "toolCallId": "c2", "success": true, "result": { "content": r#"{"n":2}"# } }),
            json!({ "toolCallId": "c3", "success": false, "error": unknown }),
        ]
    );
    assert_eq!(data(11)["toolCallId"], "c1");
    assert_eq!([&data(2)["turnId"], &data(12)["turnId"], &data(16)["turnId"]], ["0", "1", "2"]);
    let intent = &house.get("/api/sessions").await.1["grouped"][house.cwd()][0]["currentIntent"];
    assert_eq!(intent, data(13)["intent"].as_str().unwrap());
    assert_eq!(persisted(&house.history(&id).await), persisted(&heard));
}

#[tokio::test]
async fn a_cancelled_turn_says_so_and_rests() {
    let house = House::new([vec![text("half"), hang()], vec![text("again")]]).await;
    let id = house.session().await;
    let mut socket = house.socket().await;
    socket.subscribe_with(&id, json!({ "deltas": "seed" })).await;
    house.say(&id, "go").await;
    let mut heard = socket.until_event("assistant.message.delta").await;
    let cancel = format!("/api/sessions/{id}/cancel");
    assert_eq!(house.ask("POST", &cancel).send().await.json(), (200, json!({ "ok": true })));
    heard.extend(socket.turn().await);
    assert_chained(&heard);
    let expected = [
        "busy true",
        "user.message",
        "assistant.turn_start",
        "assistant.message.delta",
        "assistant.message",
        "session.info",
        "session.idle",
        "list idle",
        "busy false",
    ];
    assert_eq!(shorts(&heard), expected);
    let info = json!({ "infoType": "cancellation", "message": "Operation cancelled by user" });
    assert_eq!(heard[5]["event"]["data"], info);
    assert_eq!(heard[4]["event"]["data"]["content"], "half", "what was heard is kept");
    for id in [&id, "nonsense", "019c18a5-1d00-7000-8000-00000000ffff"] {
        let answer = house.post(&format!("/api/sessions/{id}/cancel"), json!({})).await;
        assert_eq!(answer, (200, json!({ "ok": true })), "what does not run needs no stopping");
    }
    let heard = house.turn(&id, json!({ "prompt": "again" })).await;
    assert_eq!(shorts(&heard).last().unwrap(), "busy false");
}

#[tokio::test]
async fn what_waits_runs_after_a_cancelled_turn() {
    let house = House::new([vec![text("half"), hang()], vec![text("next")]]).await;
    let id = house.session().await;
    let mut socket = house.socket().await;
    socket.subscribe_with(&id, json!({ "deltas": "seed" })).await;
    house.say(&id, "go").await;
    socket.until_event("assistant.message.delta").await;
    house.message(&id, json!({ "prompt": "next", "queue": true })).await;
    house.post(&format!("/api/sessions/{id}/cancel"), json!({})).await;
    socket.turn().await;
    let heard = socket.turn().await;
    assert_eq!(heard[1]["event"]["data"]["content"], "next");
    let expected = [
        "busy true",
        "user.message",
        "assistant.turn_start",
        "assistant.message.delta",
        "assistant.message",
        "session.idle",
        "busy false",
    ];
    assert_eq!(shorts(&heard), expected, "unobserved already, so the list does not change");
}

#[tokio::test]
async fn a_failing_provider_is_told_of_and_the_session_lives_on() {
    let failure = fail(Failure::BadKey, "the provider refused the key");
    let house = House::new([vec![text("half"), failure], vec![text("fine")]]).await;
    let id = house.session().await;
    let mut socket = house.socket().await;
    socket.subscribe_with(&id, json!({ "deltas": "seed" })).await;
    house.say(&id, "go").await;
    let heard = socket.turn().await;
    assert_chained(&heard);
    let expected = [
        "busy true",
        "user.message",
        "assistant.turn_start",
        "assistant.message.delta",
        "assistant.message",
        "session.error",
        "busy false",
    ];
    assert_eq!(shorts(&heard), expected, "neither idle nor unobserved");
    let error = json!({ "errorType": "authorization", "message": "the provider refused the key" });
    assert_eq!(heard[5]["event"]["data"], error);
    assert_eq!(house.get("/api/sessions").await.1["unobservedCount"], 0);
    let heard = house.turn(&id, json!({ "prompt": "again" })).await;
    assert!(shorts(&heard).contains(&"session.idle".to_owned()), "{heard:#?}");
}

#[tokio::test]
async fn a_turn_cut_by_a_kill_is_told_as_interrupted() {
    let gate = Gate::default();
    let mut house = House::new([vec![text("half"), wait(&gate)]]).await;
    let id = house.session().await;
    let mut socket = house.listener(&id).await;
    house.say(&id, "go").await;
    let before = socket.until_event("assistant.message.delta").await;
    house.restart().await;
    let history = house.history(&id).await;
    let expected = [
        "user.message",
        "assistant.turn_start",
        "assistant.message",
        "session.error",
        "historyComplete",
    ];
    assert_eq!(shorts(&history), expected);
    assert_eq!(persisted(&history)[..2], persisted(&before));
    assert_eq!(history[2]["event"]["data"]["content"], "half");
    assert_eq!(history[3]["event"]["data"]["errorType"], "interrupted");
    let mut unique = ids(&persisted(&history));
    unique.dedup();
    assert_eq!(unique.len(), 4);
    assert_eq!(house.get("/api/sessions").await.1["grouped"][house.cwd()][0]["isBusy"], false);
}
