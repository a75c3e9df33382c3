//! Windows that the person takes over and hands back, what became of them, and what is undone.

use kernel::apps::protocol::Answer;
use serde_json::{Value, json};

use super::{
    app_protocol::{create, joined},
    app_requests::{ask, command, request, respond},
};
use crate::common::{House, Socket};

/// Somebody who shows the windows of a session, and hears whose hands they are in.
async fn watching(house: &House, session: &str) -> Socket {
    let mut socket = joined(house, session).await;
    socket.send(json!({ "type": "SUBSCRIBE_MONITOR", "hands": true })).await;
    socket.until(|frame| frame["type"] == "CONNECTION_STATUS").await;
    socket
}

/// Waits until a window is said to be in these hands.
async fn in_hands(socket: &mut Socket, hands: &str) -> Value {
    let is_it = |frame: &Value| frame["actions"][0]["hands"] == hands;
    socket.until(is_it).await.last().unwrap()["actions"][0].clone()
}

async fn register(socket: &mut Socket) {
    let ready = json!({ "type": "APP_PROTOCOL_READY", "windowId": "dock", "instance": "one" });
    socket.send(ready).await;
    let asked = request(socket).await;
    let takes = |inverse: &str| {
        let params = json!({ "type": "object", "properties": { "by": { "type": "integer" } } });
        json!({ "description": "Counts", "params": params, "inverse": inverse })
    };
    let manifest = json!({ "appId": "counter", "name": "Counter",
        "state": { "n": { "description": "How many" } },
        "commands": { "inc": takes("dec"), "dec": takes("inc") } });
    respond(socket, &asked, json!({ "kind": "manifest", "manifest": manifest })).await;
}

async fn docked(house: &House) -> (String, Socket) {
    let id = house.session().await;
    let mut page = watching(house, &id).await;
    page.send(create("dock", "iframe", json!("/api/apps/counter/index.html"))).await;
    page.until(|frame| frame["actions"][0]["type"] == "window.create").await;
    register(&mut page).await;
    (id, page)
}

/// Has the agent count, and the app do so.
async fn counted(house: &House, id: &str, page: &mut Socket, by: u64) -> Answer {
    let answer = ask(house, id, "dock", command("inc", Some(json!({ "by": by }))));
    let asked = request(page).await;
    respond(page, &asked, json!({ "kind": "command", "result": { "ok": true } })).await;
    answer.await.unwrap()
}

fn note(answer: &Answer) -> Option<&str> {
    match answer {
        Answer::Said { note, .. } => note.as_deref(),
        other => panic!("{other:?}"),
    }
}

async fn hand(house: &House, id: &str, to: &str) -> (u16, Value) {
    house.post("/api/windows/dock/hands", json!({ "session": id, "hands": to })).await
}

/// What became of the window, in short, the newest first.
async fn history(house: &House, id: &str) -> Vec<String> {
    let path = format!("/api/windows/dock/history?session={id}");
    let (status, told) = house.get(&path).await;
    assert_eq!(status, 200, "{told}");
    let line = |event: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let command = &event["command"];
        let parts = [
            text(&event["who"]),
            text(&event["what"]),
            text(&event["text"]),
            text(&command["name"]),
            text(&command["params"]),
            text(&command["came"]),
            text(&command["undo"]),
        ];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    };
    told["events"].as_array().unwrap().iter().map(line).collect()
}

#[tokio::test]
async fn a_window_is_taken_over_and_handed_back_and_every_page_knows() {
    let mut house = House::new([]).await;
    let (id, mut page) = docked(&house).await;
    let mut other = watching(&house, &id).await;
    page.send(json!({ "type": "APP_TOUCHED", "windowId": "dock" })).await;
    // What a page says is taken in one after the other: by now the touch was, before the agent asks.
    page.send(create("beside", "text", json!("x"))).await;
    page.until(|frame| frame["actions"][0]["windowId"] == "beside").await;
    let answer = counted(&house, &id, &mut page, 1).await;
    assert_eq!(note(&answer), None, "nobody had taken it");
    let driven = json!({ "type": "window.hands", "windowId": "dock", "hands": "agent",
        "driven": true });
    assert_eq!(in_hands(&mut other, "agent").await, driven);

    page.send(json!({ "type": "APP_TOUCHED", "windowId": "dock" })).await;
    let taken = json!({ "type": "window.hands", "windowId": "dock", "hands": "person",
        "driven": true });
    assert_eq!(in_hands(&mut page, "person").await, taken);
    assert_eq!(in_hands(&mut other, "person").await, taken);
    let waiting = ask(&house, &id, "dock", command("inc", Some(json!({ "by": 2 }))));
    let edited = json!({ "type": "APP_PROTOCOL_STATE_CHANGED", "windowId": "dock",
        "stateKeys": ["n", 7], "byPerson": true });
    page.send(edited).await;
    page.send(json!({ "type": "APP_HANDS", "windowId": "dock", "hands": "agent" })).await;
    in_hands(&mut other, "agent").await;
    let asked = request(&mut page).await;
    assert_eq!(asked["request"]["params"], json!({ "by": 2 }));
    respond(&mut page, &asked, json!({ "kind": "command", "result": null })).await;
    let told = "The person had taken this window over and has handed it back. Meanwhile they \
                changed: n.\nLook at what is there now before you go on.";
    assert_eq!(note(&waiting.await.unwrap()), Some(told));

    let (status, shown) = hand(&house, &id, "person").await;
    assert_eq!((status, &shown["hands"], &shown["driven"]), (200, &json!("person"), &json!(true)));
    drop((page, other));
    house.restart().await;
    let mut page = joined(&house, &id).await;
    page.send(json!({ "type": "SUBSCRIBE_MONITOR", "hands": true })).await;
    assert_eq!(in_hands(&mut page, "person").await["windowId"], "dock", "a restart keeps it");
    let (status, shown) = hand(&house, &id, "agent").await;
    assert_eq!((status, &shown["hands"]), (200, &Value::Null));
    in_hands(&mut page, "agent").await;
}

#[tokio::test]
async fn what_became_of_a_window_is_told_with_who_did_it_and_undone() {
    let house = House::new([]).await;
    let (id, mut page) = docked(&house).await;
    counted(&house, &id, &mut page, 1).await;
    counted(&house, &id, &mut page, 2).await;
    hand(&house, &id, "person").await;
    let expected = [
        "person handsTaken",
        r#"agent command inc {"by":2} done can"#,
        r#"agent command inc {"by":1} done covered"#,
        "person opened The dock",
    ];
    assert_eq!(history(&house, &id).await, expected);

    // What the person undoes waits for nobody.
    let (undone, ()) =
        tokio::join!(house.post("/api/windows/dock/undo", json!({ "session": id })), async {
            let asked = request(&mut page).await;
            let expected = json!({ "kind": "command", "command": "dec", "params": { "by": 2 } });
            assert_eq!(asked["request"], expected);
            respond(&mut page, &asked, json!({ "kind": "command", "result": 1 })).await;
        });
    assert_eq!(undone, (200, json!({ "said": "1" })));
    let expected = [
        r#"person command dec {"by":2} done can"#,
        "person handsTaken",
        r#"agent command inc {"by":2} done undone"#,
        r#"agent command inc {"by":1} done can"#,
        "person opened The dock",
    ];
    assert_eq!(history(&house, &id).await, expected);
}

#[tokio::test]
async fn what_cannot_be_handed_or_undone_is_explained() {
    let house = House::new([]).await;
    let (id, _page) = docked(&house).await;
    let (status, error) = hand(&house, &id, "nobody").await;
    let expected = "hands: expected `agent` or `person`, not `nobody`";
    assert_eq!((status, error["error"].as_str()), (400, Some(expected)));
    let nothing = "There is nothing in window \"monitor-0/dock\" that can be undone.";
    let (status, error) = house.post("/api/windows/dock/undo", json!({ "session": id })).await;
    assert_eq!((status, error["error"].as_str()), (409, Some(nothing)));
    for path in ["hands", "undo"] {
        let path = format!("/api/windows/none/{path}");
        let body = json!({ "session": id, "hands": "agent" });
        let body = if path.ends_with("undo") { json!({ "session": id }) } else { body };
        assert_eq!(house.post(&path, body).await.0, 404);
    }
    let path = format!("/api/windows/none/history?session={id}");
    assert_eq!(house.get(&path).await.0, 404);
}
