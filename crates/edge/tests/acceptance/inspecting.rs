//! An app looked at from outside: what it tells of itself, its past and how it stands.

use jiff::SignedDuration;
use kernel::{
    apps::{AppCall, Asked, protocol::Answer},
    update::SessionId,
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{
    app_protocol::{create, joined},
    app_requests::{opened, register, request, respond},
};
use crate::common::{House, Socket, error};

const DOCK: &str = "monitor-0/dock";

fn inc(house: &House, session: &str) -> JoinHandle<Answer> {
    let (host, session) = (house.host(), SessionId::parse(session).unwrap());
    let call = AppCall::new("dock", Asked::Command { command: "inc".into(), params: None });
    tokio::spawn(async move { host.ask_app(session, call).await.unwrap() })
}

async fn remark(socket: &mut Socket, kind: &str, more: Value) {
    let mut frame = json!({ "type": kind, "windowId": "dock" });
    frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    socket.send(frame).await;
}

async fn heard(socket: &mut Socket, kind: &str) -> Value {
    socket.until(|frame| frame["type"] == kind).await.last().unwrap().clone()
}

/// The next entry of this type that somebody who inspects is told.
async fn traced(socket: &mut Socket, kind: &str) -> Value {
    let is_it = |frame: &Value| frame["entries"][0]["type"] == kind;
    socket.until(is_it).await.last().unwrap()["entries"][0].clone()
}

#[tokio::test]
async fn everybody_who_shows_a_window_sees_how_far_its_command_is() {
    let house = House::new([]).await;
    let (id, mut app) = opened(&house).await;
    let mut other = joined(&house, &id).await;
    register(&mut app, "dock", json!({})).await;
    let answer = inc(&house, &id);
    let asked = request(&mut app).await;
    let step = json!({ "requestId": asked["requestId"], "done": 1, "total": 4, "note": "rows" });
    remark(&mut app, "APP_PROTOCOL_PROGRESS", step).await;
    let mut told = heard(&mut other, "APP_PROTOCOL_PROGRESS").await;
    told.as_object_mut().unwrap().remove("seq");
    let about = json!({ "type": "APP_PROTOCOL_PROGRESS", "requestId": asked["requestId"],
        "windowId": "dock", "monitorId": "monitor-0" });
    let with = |more: Value| {
        let mut whole = about.clone();
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        whole
    };
    assert_eq!(told, with(json!({ "done": 1.0, "total": 4.0, "note": "rows" })));
    respond(&mut app, &asked, json!({ "kind": "command", "result": 1 })).await;
    answer.await.unwrap();
    let mut ended = heard(&mut other, "APP_PROTOCOL_PROGRESS").await;
    ended.as_object_mut().unwrap().remove("seq");
    assert_eq!(ended, with(json!({ "ended": true })));
}

#[tokio::test]
async fn whoever_inspects_an_app_hears_all_of_it_and_of_no_other() {
    let house = House::new([]).await;
    let (id, mut app) = opened(&house).await;
    app.send(create("note", "text", json!("hi"))).await;
    register(&mut app, "dock", json!({ "instance": "one" })).await;
    let mut watcher = joined(&house, &id).await;
    watcher.send(json!({ "type": "APP_PROTOCOL_INSPECT", "windowId": "none" })).await;
    assert_eq!(heard(&mut watcher, "ERROR").await["error"], "Window \"none\" not found.");
    watcher.send(json!({ "type": "APP_PROTOCOL_INSPECT", "windowId": "dock" })).await;
    let begun = heard(&mut watcher, "APP_PROTOCOL_INSPECTING").await;
    assert_eq!(begun, json!({ "type": "APP_PROTOCOL_INSPECTING", "windowId": DOCK }));
    let answer = inc(&house, &id);
    let asked = request(&mut app).await;
    let told = traced(&mut watcher, "request").await;
    assert_eq!(
        (&told["requestId"], &told["windowId"], &told["request"], &told["cause"]),
        (&asked["requestId"], &json!(DOCK), &asked["request"], &json!("tool"))
    );
    respond(&mut app, &asked, json!({ "kind": "command", "result": 7 })).await;
    answer.await.unwrap();
    let told = traced(&mut watcher, "response").await;
    assert_eq!((&told["value"], &told["late"]), (&json!(7), &json!(false)));
    respond(&mut app, &asked, json!({ "kind": "command", "result": 8 })).await;
    let told = traced(&mut watcher, "rejected").await;
    assert_eq!(told["why"], "no such request is open");
    let printed = json!({ "level": "error", "args": ["it", "broke"] });
    remark(&mut app, "APP_PROTOCOL_CONSOLE", printed).await;
    let told = traced(&mut watcher, "console").await;
    assert_eq!((&told["level"], &told["text"]), (&json!("error"), &json!("it broke")));
    // News are gathered for a moment after others were told.
    house.world.clock.advance(SignedDuration::from_secs(1));
    remark(&mut app, "APP_PROTOCOL_STATE_CHANGED", json!({ "stateKeys": ["n", "other"] })).await;
    assert_eq!(traced(&mut watcher, "stateChanged").await["stateKeys"], json!(["n"]));

    let path = format!("/api/windows/dock/traffic?session={id}");
    let (status, past) = house.get(&path).await;
    let kinds = |entries: &Value| -> Vec<String> {
        let entries = entries.as_array().unwrap().iter();
        entries.map(|it| it["type"].as_str().unwrap().to_owned()).collect()
    };
    let expected = ["ready", "owner", "request", "response", "request", "response", "rejected"];
    assert_eq!((status, kinds(&past["entries"])), (200, expected.map(str::to_owned).into()));
    assert_eq!(kinds(&past["news"]), ["console", "stateChanged"]);
    assert!(past.get("before").is_none(), "{past}");
    let (_, other) = house.get(&format!("/api/windows/note/traffic?session={id}")).await;
    assert_eq!(other, json!({ "entries": [], "news": [] }));

    watcher.send(json!({ "type": "APP_PROTOCOL_INSPECT" })).await;
    let ended = heard(&mut watcher, "APP_PROTOCOL_INSPECTING").await;
    assert_eq!(ended, json!({ "type": "APP_PROTOCOL_INSPECTING" }));
}

#[tokio::test]
async fn how_an_app_stands_is_told() {
    let house = House::new([]).await;
    let (id, mut app) = opened(&house).await;
    let path = format!("/api/windows/monitor-0%2Fdock/app?session={id}");
    let (_, standing) = house.get(&path).await;
    assert_eq!(
        standing,
        json!({ "windowId": DOCK, "appId": "counter", "readiness": "loading", "loads": [],
            "connections": 1, "journal": 0, "waiting": 0, "open": 0 })
    );
    register(&mut app, "dock", json!({ "instance": "one" })).await;
    let answer = inc(&house, &id);
    let asked = request(&mut app).await;
    respond(&mut app, &asked, json!({ "kind": "command", "result": 1 })).await;
    answer.await.unwrap();
    let (_, standing) = house.get(&path).await;
    let load = json!({ "connection": standing["owner"], "generation": 1, "instance": "one" });
    assert_eq!((&standing["readiness"], &standing["loads"]), (&json!("ready"), &json!([load])));
    assert_eq!(
        (&standing["journal"], &standing["manifest"]["name"]),
        (&json!(1), &json!("Counter"))
    );
    let none = house.get(&format!("/api/windows/none/app?session={id}")).await;
    assert_eq!(none, (404, error("NOT_FOUND", "Window \"none\" not found.")));
    let nowhere = house.get("/api/windows/dock/app?session=x").await;
    assert_eq!(nowhere, (404, error("NOT_FOUND", "Session not found: x")));
}

#[tokio::test]
async fn what_is_asked_by_hand_must_make_sense() {
    let house = House::new([]).await;
    let id = house.session().await;
    for (more, message) in [
        (json!({}), "one of stateKey and command is needed, and not both"),
        (
            json!({ "stateKey": "n", "command": "inc" }),
            "one of stateKey and command is needed, and not both",
        ),
        (json!({ "stateKey": "n", "params": {} }), "params and idempotencyKey belong to a command"),
    ] {
        let mut wish = json!({ "session": id });
        wish.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = house.post("/api/windows/dock/ask", wish).await;
        assert_eq!(answer, (400, error("BAD_REQUEST", message)), "{more}");
    }
}
