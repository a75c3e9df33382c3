//! Requests to the apps in windows: who is asked, in which words, and whose answer counts.

use kernel::{
    apps::{AppCall, Asked, Kind, Response, Touched, protocol::Answer, texts},
    update::SessionId,
    windows::{By, Content, Opening, Renderer, Wish},
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::app_protocol::{create, facts, joined};
use crate::common::{House, Socket};

const ADDRESS: &str = "/api/apps/counter/index.html";

/// Asks what is in a window, as a tool would.
pub fn ask(house: &House, session: &str, window: &str, asked: Asked) -> JoinHandle<Answer> {
    let (host, session) = (house.host(), SessionId::parse(session).unwrap());
    let call = AppCall::new(window, asked);
    tokio::spawn(async move { host.ask_app(session, call).await.unwrap() })
}

fn query(key: &str) -> Asked {
    Asked::Query { state_key: key.to_owned() }
}

pub fn command(name: &str, params: Option<Value>) -> Asked {
    Asked::Command { command: name.to_owned(), params }
}

/// The next request, and nothing else that may be told meanwhile.
pub async fn request(socket: &mut Socket) -> Value {
    let heard = socket.until(|frame| frame["type"] == "APP_PROTOCOL_REQUEST").await;
    heard.last().unwrap().clone()
}

pub async fn respond(socket: &mut Socket, request: &Value, response: Value) {
    socket
        .send(json!({ "type": "APP_PROTOCOL_RESPONSE", "requestId": request["requestId"],
            "windowId": request["windowId"], "response": response }))
        .await;
}

fn manifest() -> Value {
    let command = json!({ "description": "Counts" });
    json!({ "appId": "counter", "name": "Counter", "state": { "n": { "description": "How many" } },
        "commands": { "inc": command, "inc2": command } })
}

/// Registers the app in a window and tells what it can do; gives back how it was asked.
pub async fn register(socket: &mut Socket, window: &str, more: Value) -> Value {
    let mut ready = json!({ "type": "APP_PROTOCOL_READY", "windowId": window });
    ready.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    socket.send(ready).await;
    let asked = request(socket).await;
    assert_eq!(asked["request"], json!({ "kind": "manifest" }));
    respond(socket, &asked, json!({ "kind": "manifest", "manifest": manifest() })).await;
    asked
}

fn said(answer: Answer) -> Response {
    match answer {
        Answer::Said { response, .. } => response,
        other => panic!("{other:?}"),
    }
}

/// A session with an app in the window `dock`, and somebody who shows it.
pub async fn opened(house: &House) -> (String, Socket) {
    let id = house.session().await;
    let mut socket = joined(house, &id).await;
    socket.send(create("dock", "iframe", json!(ADDRESS))).await;
    assert_eq!(socket.next().await["actions"][0]["appId"], "counter");
    (id, socket)
}

#[tokio::test]
async fn requests_look_as_they_always_did_and_are_said_again_when_an_app_reloads() {
    let house = House::new([]).await;
    let (id, mut app) = opened(&house).await;
    let asked = register(&mut app, "dock", json!({})).await;
    assert!(asked["requestId"].as_str().unwrap().starts_with("req-"), "{asked}");
    assert_eq!((&asked["windowId"], &asked["seq"]), (&json!("dock"), &json!(2)));
    for (name, params, expected) in [
        (
            "inc",
            Some(json!({ "by": 2 })),
            json!({ "kind": "command", "command": "inc", "params": { "by": 2 } }),
        ),
        ("inc2", None, json!({ "kind": "command", "command": "inc2" })),
    ] {
        let answer = ask(&house, &id, "dock", command(name, params));
        let asked = request(&mut app).await;
        assert_eq!(asked["request"], expected);
        respond(&mut app, &asked, json!({ "kind": "command", "result": { "ok": true } })).await;
        let response = said(answer.await.unwrap());
        assert_eq!((response.value, response.error), (Some(json!({ "ok": true })), None));
    }
    register(&mut app, "dock", json!({})).await;
    for (place, expected) in [
        json!({ "kind": "command", "command": "inc", "params": { "by": 2 } }),
        json!({ "kind": "command", "command": "inc2" }),
    ]
    .into_iter()
    .enumerate()
    {
        let asked = request(&mut app).await;
        let name = asked["requestId"].as_str().unwrap();
        let suffix = format!("-{place}");
        assert!(name.starts_with("replay-dock-") && name.ends_with(&suffix), "{name}");
        assert_eq!(asked["request"], expected);
        respond(&mut app, &asked, json!({ "kind": "command", "result": null })).await;
    }
}

#[tokio::test]
async fn a_document_that_was_there_before_is_not_played_anything_again() {
    let house = House::new([]).await;
    let (id, mut app) = opened(&house).await;
    register(&mut app, "dock", json!({ "instance": "one" })).await;
    let answer = ask(&house, &id, "dock", command("inc", None));
    let asked = request(&mut app).await;
    respond(&mut app, &asked, json!({ "kind": "command", "result": 1 })).await;
    answer.await.unwrap();
    drop(app);
    // The same document by another connection.
    let mut app = joined(&house, &id).await;
    register(&mut app, "dock", json!({ "instance": "one" })).await;
    let answer = ask(&house, &id, "dock", query("n"));
    let asked = request(&mut app).await;
    assert_eq!(asked["request"], json!({ "kind": "query", "stateKey": "n" }));
    respond(&mut app, &asked, json!({ "kind": "query", "data": 1 })).await;
    assert_eq!(said(answer.await.unwrap()).value, Some(json!(1)));
}

#[tokio::test]
async fn each_client_is_asked_in_the_form_that_it_uses() {
    let house = House::new([]).await;
    for (ready, called) in
        [("dock", "monitor-0/dock"), ("monitor-0/dock", "dock"), ("0/dock", "0/dock")]
    {
        let (id, mut app) = opened(&house).await;
        assert_eq!(register(&mut app, ready, json!({})).await["windowId"], ready);
        let answer = ask(&house, &id, called, query("n"));
        let asked = request(&mut app).await;
        assert_eq!(asked["windowId"], ready);
        respond(&mut app, &asked, json!({ "kind": "query", "data": 5 })).await;
        assert_eq!(said(answer.await.unwrap()).value, Some(json!(5)), "{ready} {called}");
    }
}

#[tokio::test]
async fn answers_are_taken_as_they_come() {
    let house = House::new([]).await;
    let (id, mut app) = opened(&house).await;
    register(&mut app, "dock", json!({})).await;
    for (response, value, error) in [
        (json!({ "kind": "query", "data": 1 }), Some(json!(1)), None),
        (json!({ "kind": "query", "data": "x", "error": null }), Some(json!("x")), None),
        (
            json!({ "kind": "query", "data": [{ "a": 1 }], "error": "" }),
            Some(json!([{ "a": 1 }])),
            None,
        ),
        (json!({ "kind": "query" }), None, None),
        (json!({ "kind": "query", "data": null }), Some(Value::Null), None),
        (
            json!({ "kind": "query", "error": "No iframe found in window" }),
            None,
            Some("No iframe found in window"),
        ),
        (json!({ "kind": "query", "data": 1, "error": "broken" }), Some(json!(1)), Some("broken")),
    ] {
        let answer = ask(&house, &id, "dock", query("n"));
        let asked = request(&mut app).await;
        respond(&mut app, &asked, response.clone()).await;
        let heard = said(answer.await.unwrap());
        assert_eq!((heard.value, heard.error.as_deref()), (value, error), "{response}");
    }
}

#[tokio::test]
async fn a_command_is_run_by_one_tab_and_by_no_other_session() {
    let house = House::new([]).await;
    let (id, mut first) = opened(&house).await;
    let (_, mut stranger) = opened(&house).await;
    let mut second = joined(&house, &id).await;
    register(&mut first, "dock", json!({ "instance": "a" })).await;
    register(&mut stranger, "dock", json!({ "instance": "c" })).await;
    register(&mut second, "dock", json!({ "instance": "b" })).await;
    let answer = ask(&house, &id, "dock", command("inc", None));
    let asked = request(&mut second).await;
    respond(&mut second, &asked, json!({ "kind": "command", "result": 1 })).await;
    assert_eq!(said(answer.await.unwrap()).value, Some(json!(1)));
    for other in [&mut first, &mut stranger] {
        // Whatever had been said to them would come before this.
        other.send(create("after", "text", json!("x"))).await;
        let heard = other.until(|it| it["actions"][0]["windowId"] == "after").await;
        assert!(heard.iter().all(|it| it["type"] != "APP_PROTOCOL_REQUEST"), "{heard:#?}");
    }
}

#[tokio::test]
async fn only_who_was_asked_can_answer() {
    let house = House::new([]).await;
    let (id, mut app) = opened(&house).await;
    let (_, mut stranger) = opened(&house).await;
    let mut other = joined(&house, &id).await;
    register(&mut app, "dock", json!({ "instance": "a" })).await;
    let answer = ask(&house, &id, "dock", query("n"));
    let asked = request(&mut app).await;
    let forged = json!({ "kind": "query", "data": "forged" });
    respond(&mut other, &asked, forged.clone()).await;
    respond(&mut stranger, &asked, forged.clone()).await;
    let mut elsewhere = asked.clone();
    elsewhere["windowId"] = json!("another");
    respond(&mut app, &elsewhere, forged).await;
    // What each of them says next is heard after that.
    for socket in [&mut other, &mut stranger] {
        socket.send(create("after", "text", json!("x"))).await;
        socket.until(|it| it["actions"][0]["windowId"] == "after").await;
    }
    respond(&mut app, &asked, json!({ "kind": "query", "data": "real" })).await;
    assert_eq!(said(answer.await.unwrap()).value, Some(json!("real")));
    respond(&mut app, &asked, json!({ "kind": "query", "data": "twice" })).await;
    app.send(create("last", "text", json!("x"))).await;
    app.until(|it| it["actions"][0]["windowId"] == "last").await;
    // What was refused is on record, though nobody waits for that.
    let rejected = async || {
        let facts = facts(&house, &id, "app").await;
        facts.iter().filter(|it| it["app"] == "rejected").count()
    };
    while rejected().await < 2 {}
}

#[tokio::test]
async fn without_anybody_who_shows_it_an_app_is_not_waited_for() {
    let house = House::new([]).await;
    let id = house.session().await;
    let content = Content { renderer: Renderer::Iframe, data: json!(ADDRESS) };
    let opening = Wish::Open(Box::new(Opening::new("dock", "Dock", content)));
    let session = SessionId::parse(&id).unwrap();
    house.host().arrange(session, opening, By::Agent).await.unwrap();
    let answer = ask(&house, &id, "dock", query("n")).await.unwrap();
    let Answer::Refused(text) = answer else { panic!("{answer:?}") };
    let why = "No client is connected to this session, so no page can load the app.";
    assert!(text.ends_with(why), "{text}");
}

#[tokio::test]
async fn what_an_app_says_may_be_large_and_is_cut_only_for_who_reads_it() {
    let house = House::new([]).await;
    let (id, mut app) = opened(&house).await;
    register(&mut app, "dock", json!({})).await;
    let large = "ä".repeat(900_000);
    let answer = ask(&house, &id, "dock", query("n"));
    let asked = request(&mut app).await;
    respond(&mut app, &asked, json!({ "kind": "query", "data": large })).await;
    let response = said(answer.await.unwrap());
    let shown = texts::result(Kind::Query, &response).unwrap();
    let cut = format!("\"{}\n... (truncated, 1758KB total)", "ä".repeat(39_999));
    assert!(shown == cut, "{} characters", shown.chars().count());
    assert!(response.value == Some(json!(large)), "all of it has come");
    app.send(json!({ "type": "WINDOW_MESSAGE", "windowId": "dock", "content": large })).await;
    let end = app.closed().await.unwrap().unwrap();
    assert_eq!((u16::from(end.code), end.reason.as_str()), (1009, "frame larger than 1 MB"));
    // And is kept whole, though nobody waits for that.
    let is_it = |fact: &Value| fact["response"]["value"] == json!(large);
    while !facts(&house, &id, "app").await.iter().any(is_it) {}
}

#[tokio::test]
async fn an_app_says_itself_that_it_has_changed() {
    let house = House::new([]).await;
    let (id, mut app) = opened(&house).await;
    let session = SessionId::parse(&id).unwrap();
    let mut touches = house.host().apps.touches();
    register(&mut app, "dock", json!({})).await;
    let touched = |keys: Option<&str>| Touched {
        session,
        window: "monitor-0/dock".to_owned(),
        keys: keys.map(|key| vec![key.to_owned()]),
    };
    assert_eq!(touches.recv().await, Ok(touched(None)));
    app.send(json!({ "type": "APP_PROTOCOL_STATE_CHANGED", "windowId": "dock",
        "stateKeys": ["n", 7, "unknown"] }))
        .await;
    assert_eq!(touches.recv().await, Ok(touched(Some("n"))));
}
