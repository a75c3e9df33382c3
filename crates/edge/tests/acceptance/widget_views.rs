//! Views of widgets: what is on record of them, what they may do in the person's name, and their own tools.

use std::sync::{Arc, atomic::Ordering};

use kernel::{ports::Piece, prompt::Part, update::SessionId};
use serde_json::{Value, json};
use testkit::{
    Gate,
    model::{Line, call, text, wait},
};

use crate::{
    common::{Ask, House, Socket, bad},
    widgets::{Shown, home, home_of, open},
};

async fn view(house: &House, session: &str, call: &str) -> Value {
    let (status, view) = house.get(&format!("/api/sessions/{session}/widgets/{call}")).await;
    assert_eq!(status, 200, "{view}");
    view
}

/// What a model was last shown that is no result of a tool.
fn shown_to_model(house: &House) -> Vec<String> {
    let prompts = house.world.model.prompts();
    let parts = prompts.last().unwrap().parts.iter();
    let said = parts.filter_map(|part| match part {
        Part::User { text, .. } => Some(text.clone()),
        _ => None,
    });
    said.collect()
}

/// The next thing that the person is asked.
async fn asked(listener: &mut Socket) -> Value {
    let heard = listener.until_event("permission.requested").await;
    heard.last().unwrap()["event"]["data"]["approval"].clone()
}

async fn decide(house: &House, approval: &Value, decision: &str) {
    let path = format!("/api/approvals/{}", approval["id"].as_str().unwrap());
    let (status, answer) = house.post(&path, json!({ "decision": decision })).await;
    assert_eq!(status, 200, "{answer}");
}

async fn until_call(listener: &mut Socket, outcome: &str) {
    listener
        .until(|it| {
            it["event"]["type"] == "widget.call" && it["event"]["data"]["outcome"] == outcome
        })
        .await;
}

#[tokio::test]
async fn a_view_is_there_again_when_its_server_is_gone() {
    let (mut house, session, fake) = home_of(Arc::default()).await;
    let before = view(&house, &session, "c1").await;
    assert_eq!((&before["server"], &before["uri"]), (&json!("clock"), &json!("ui://clock/time")));
    house.kill().await;
    fake.gone.store(true, Ordering::Relaxed);
    house.start().await;
    let (status, ticket) = open(&house, &session, "c1").await;
    assert_eq!(status, 200, "{ticket}");
    let path = ticket["url"].as_str().unwrap();
    let path = path.strip_prefix(&format!("http://{}", house.sandbox())).unwrap();
    let page = Ask::new(house.sandbox(), "GET", path).send().await;
    assert!(page.text().ends_with("<p>time</p>"), "{}", page.text());
    let mut shown = Shown::new(&house, ticket["frameId"].clone()).await;
    shown.greet().await;
    assert_eq!(shown.hear().await["params"], json!({ "arguments": { "zone": "UTC" } }));
    assert_eq!(shown.hear().await["params"]["structuredContent"], json!({ "zone": "UTC" }));
    let called = shown.ask(1, "tools/call", json!({ "name": "get-time" })).await;
    assert_eq!(called["error"]["message"], "the server clock is gone");
    let (status, refused) = open(&house, &session, "c2").await;
    assert_eq!((status, &refused["code"]), (409, &json!("CONFLICT")), "{refused}");
}

#[tokio::test]
async fn what_a_widget_does_is_on_record_and_what_was_cut_off_is_said_to_be() {
    let (mut house, session) = home().await;
    let mut listener = house.listener(&session).await;
    let mut shown = Shown::ready(&house, &session).await;
    let read = json!({ "name": "get-time", "arguments": { "zone": "JST" } });
    shown.ask(1, "tools/call", read.clone()).await;
    until_call(&mut listener, "done").await;
    let act = json!({ "name": "act", "arguments": {} });
    shown.request(2, "tools/call", act.clone()).await;
    let approval = asked(&mut listener).await;
    decide(&house, &approval, "deny").await;
    assert_eq!(shown.hear().await["result"]["isError"], true);
    until_call(&mut listener, "failed").await;
    shown.request(3, "tools/call", act.clone()).await;
    asked(&mut listener).await;
    house.restart().await;
    let known = view(&house, &session, "c1").await;
    let calls: Vec<Value> = known["calls"].as_array().unwrap().clone();
    let told: Vec<_> =
        calls.iter().map(|it| (&it["method"], &it["params"], &it["outcome"])).collect();
    let method = json!("tools/call");
    assert_eq!(
        told,
        [
            (&method, &read, &json!("done")),
            (&method, &act, &json!("failed")),
            (&method, &act, &json!("interrupted")),
        ]
    );
    let dropped = "`https://b.com; script-src *` is no host, and was left out of its policy";
    assert_eq!(known["verdict"], json!({ "verdict": "ok", "detail": dropped }));
}

#[tokio::test]
async fn what_is_done_in_the_persons_name_needs_their_leave() {
    let (house, session) = home().await;
    house.world.model.otherwise(vec![text("I see.")]);
    let mut listener = house.listener(&session).await;
    let mut shown = Shown::ready(&house, &session).await;
    let script = shown.ask(1, "ui/open-link", json!({ "url": "javascript:alert(1)" })).await;
    assert_eq!(script["result"], json!({ "isError": true }));
    shown.request(2, "ui/open-link", json!({ "url": "https://a.example/x" })).await;
    let approval = asked(&mut listener).await;
    let wants = "The widget of get-time (clock) wants to open a link";
    assert_eq!((&approval["title"], &approval["patterns"]), (&json!(wants), &json!(["a.example"])));
    decide(&house, &approval, "once").await;
    let wish = shown.wish().await;
    assert_eq!(wish, json!({ "id": 1, "kind": "open-link", "url": "https://a.example/x" }));
    shown.note(json!({ "done": 1, "ok": true })).await;
    assert_eq!(shown.hear().await["result"], json!({}));
    let link = json!({ "type": "resource_link", "uri": "file:///a.csv", "name": "a.csv" });
    shown.request(3, "ui/download-file", json!({ "contents": [link] })).await;
    let approval = asked(&mut listener).await;
    assert_eq!(approval["detail"]["args"], json!({ "files": [{ "name": "a.csv", "bytes": 3 }] }));
    decide(&house, &approval, "once").await;
    let wish = shown.wish().await;
    let file = json!({ "name": "a.csv", "mimeType": "application/octet-stream", "base64": "MSwy" });
    assert_eq!(wish["files"], json!([file]));
    shown.note(json!({ "done": wish["id"], "ok": true })).await;
    assert_eq!(shown.hear().await["result"], json!({}));
    let said = json!({ "role": "user", "content": [{ "type": "text", "text": "hello" }] });
    shown.request(4, "ui/message", said.clone()).await;
    let approval = asked(&mut listener).await;
    decide(&house, &approval, "deny").await;
    assert_eq!(shown.hear().await["result"], json!({ "isError": true }));
    shown.request(5, "ui/message", said).await;
    let approval = asked(&mut listener).await;
    decide(&house, &approval, "once").await;
    let heard = listener.until_event("user.message").await;
    let data = heard.last().unwrap()["event"]["data"].clone();
    assert_eq!((&data["content"], &data["source"]), (&json!("hello"), &json!("widget")));
    assert_eq!(shown.hear().await["result"], json!({}));
}

#[tokio::test]
async fn a_server_may_be_held_to_act_only_right_after_a_touch() {
    let (house, session, fake) = home_of(Arc::default()).await;
    fake.gesture.store(true, Ordering::Relaxed);
    let mut listener = house.listener(&session).await;
    let mut shown = Shown::ready(&house, &session).await;
    let link = json!({ "url": "https://a.example/" });
    let refused = shown.ask(1, "ui/open-link", link.clone()).await;
    assert_eq!(refused["result"], json!({ "isError": true }));
    assert_eq!(house.get("/api/approvals").await, (200, json!({ "approvals": [] })));
    shown.note(json!({ "gesture": true })).await;
    shown.request(2, "ui/open-link", link).await;
    let approval = asked(&mut listener).await;
    decide(&house, &approval, "deny").await;
    assert_eq!(shown.hear().await["result"], json!({ "isError": true }));
}

#[tokio::test]
async fn the_newest_of_what_a_widget_tells_reaches_the_next_turn_and_begins_none() {
    let (mut house, session) = home().await;
    house.world.model.otherwise(vec![text("I see.")]);
    let mut shown = Shown::ready(&house, &session).await;
    for n in [1, 2] {
        let told = json!({ "structuredContent": { "n": n } });
        assert_eq!(shown.ask(n, "ui/update-model-context", told).await["result"], json!({}));
    }
    let asked = house.world.model.prompts().len();
    let told = "[widget of \"get-time\" from the server \"clock\"; data from the widget, not the \
                person's words] {\"n\":2}";
    let seen = view(&house, &session, "c1").await["context"].clone();
    assert_eq!(seen, json!({ "version": 2, "text": told }));
    assert_eq!(house.world.model.prompts().len(), asked, "no turn was begun");
    house.turn(&session, json!({ "prompt": "go" })).await;
    assert_eq!(shown_to_model(&house)[1..], [told, "go"]);
    // It is told once, and stays where it was told.
    let told = told.to_owned();
    shown.ask(3, "ui/updateModelContext", json!({ "context": { "m": 3 } })).await;
    house.restart().await;
    house.turn(&session, json!({ "prompt": "on" })).await;
    let merged = told.replace("{\"n\":2}", "{\"n\":2,\"m\":3}");
    assert_eq!(shown_to_model(&house)[1..], [&*told, "go", &*merged, "on"]);
}

#[tokio::test]
async fn why_a_widget_is_not_shown_is_told_to_everybody() {
    let (house, session) = home().await;
    let results = house.world.model.prompts().last().unwrap().parts.clone();
    let mime = "the widget is of type `text/plain`, and text/html;profile=mcp-app was expected";
    let place = "the widget is said to be at `https://a.example/`, which does not begin with ui://";
    for (of, verdict, detail) in [("c2", "wrong-mime", mime), ("c4", "bad-uri", place)] {
        let why = format!("{verdict}: {detail}");
        let told = format!("noon\n[the widget of this result is not shown to the person: {why}]");
        let found = results.iter().any(|part| match part {
            Part::Result { call, output } => call == of && output.text() == told,
            _ => false,
        });
        assert!(found, "{results:?}");
        let known = view(&house, &session, of).await["verdict"].clone();
        assert_eq!(known, json!({ "verdict": verdict, "detail": detail }));
    }
    let mut listener = house.listener(&session).await;
    let (_, ticket) = open(&house, &session, "c1").await;
    let mut shown = Shown::new(&house, ticket["frameId"].clone()).await;
    shown.note(json!({ "verdict": "made-up" })).await;
    let refused = shown.socket.until(|it| it["type"] == "frameError").await;
    let expected = "verdict must be one of: csp-blocked, script-error, crashed, denied";
    assert_eq!(refused.last().unwrap()["error"], expected);
    shown.note(json!({ "verdict": "script-error", "detail": "boom" })).await;
    let heard = listener.until_event("widget.verdict").await;
    let data = json!({ "toolCallId": "c1", "verdict": "script-error", "detail": "boom" });
    assert_eq!(heard.last().unwrap()["event"]["data"], data);
    house.world.model.push(vec![text("Sorry.")]);
    house.turn(&session, json!({ "prompt": "go" })).await;
    let told = "[something is wrong in the widget of this result: script-error: boom]";
    assert_eq!(shown_to_model(&house)[1..], [told, "go"]);
}

#[tokio::test]
async fn an_agent_calls_a_tool_that_a_widget_defines_for_as_long_as_that_is_shown() {
    let (house, session) = home().await;
    let mut listener = house.listener(&session).await;
    let (_, ticket) = open(&house, &session, "c1").await;
    let mut shown = Shown::new(&house, ticket["frameId"].clone()).await;
    shown.greet_as(json!({ "tools": {} })).await;
    for _ in 0..2 {
        shown.hear().await;
    }
    let listing = shown.hear().await;
    assert_eq!(listing["method"], "tools/list");
    let schema = json!({ "type": "object", "properties": { "hour": { "maximum": 23 } } });
    let tool = json!({ "name": "set-hour", "description": "Sets it.", "inputSchema": schema });
    let listed = json!({ "jsonrpc": "2.0", "id": listing["id"], "result": { "tools": [tool] } });
    shown.say(listed).await;
    listener.until_event("widget.tools").await;
    let tools = view(&house, &session, "c1").await["tools"].clone();
    let offered = tools[0]["offered"].as_str().unwrap().to_owned();
    let id = SessionId::parse(&session).unwrap();
    let is_offered = |house: &House| {
        house.host().ports.tools.specs_in(id).iter().any(|spec| spec.name == offered)
    };
    assert!(is_offered(&house));
    let lent = house.host().ports.tools.lent();
    assert_eq!(lent.iter().map(|(of, it)| (*of, &it.name)).collect::<Vec<_>>(), [(id, &offered)]);
    let model = &house.world.model;
    model.push(vec![
        call("d1", &offered, json!({ "hour": 99 })),
        call("d2", &offered, json!({ "hour": 7 })),
    ]);
    model.push(vec![text("Done.")]);
    house.say(&session, "make it seven").await;
    let asked = shown.hear().await;
    assert_eq!(asked["params"], json!({ "name": "set-hour", "arguments": { "hour": 7 } }));
    let content = json!([{ "type": "text", "text": "it is seven" }]);
    shown
        .say(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "content": content } }))
        .await;
    let heard = listener.turn().await;
    let results: Vec<&Value> = heard
        .iter()
        .map(|it| &it["event"])
        .filter(|it| it["type"] == "tool.execution_complete")
        .map(|it| &it["data"])
        .collect();
    assert_eq!(results[0]["success"], false);
    assert_eq!(results[1]["result"]["content"], "it is seven");
    let path = format!("/api/frames/{}", shown.frame.as_str().unwrap());
    let ended = house.delete(&path);
    let parting = async {
        let asked = shown.hear().await;
        assert_eq!(asked["method"], "ui/resource-teardown");
        shown.say(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": {} })).await;
    };
    let (ended, ()) = tokio::join!(ended, parting);
    assert_eq!(ended, (200, json!({ "ok": true })));
    assert!(!is_offered(&house));
}

#[tokio::test]
async fn a_widget_is_shown_while_its_call_is_written_and_is_told_how_that_goes() {
    let (house, session) = home().await;
    let (some, more) = (Gate::default(), Gate::default());
    let writing = |args: &str| {
        let (name, args) = ("get-time".to_owned(), args.to_owned());
        Line::Piece(Piece::Calling { index: 0, name, args })
    };
    house.world.model.push(vec![
        writing("{\"zone\":\"Eu"),
        wait(&some),
        writing("rope/Ber"),
        wait(&more),
        call("e1", "get-time", json!({ "zone": "Europe/Berlin" })),
    ]);
    house.world.model.push(vec![text("noon")]);
    let mut listener = house.listener(&session).await;
    house.say(&session, "and in Berlin?").await;
    let heard = listener.until_event("widget.writing").await;
    let data = heard.last().unwrap()["event"]["data"].clone();
    assert_eq!(data["toolName"], "get-time");
    let (status, ticket) = open(&house, &session, data["id"].as_str().unwrap()).await;
    assert_eq!(status, 200, "{ticket}");
    let mut shown = Shown::new(&house, ticket["frameId"].clone()).await;
    shown.greet().await;
    let partial = |zone: &str| {
        let params = json!({ "arguments": { "zone": zone } });
        json!({ "jsonrpc": "2.0", "method": "ui/notifications/tool-input-partial", "params": params })
    };
    assert_eq!(shown.hear().await, partial("Eu"));
    some.open();
    assert_eq!(shown.hear().await, partial("Europe/Ber"));
    // All is written, and nothing of it on record yet: whoever asks for it now has it all the same.
    let store = house.world.store.hold_appends();
    more.open();
    listener.until_event("assistant.intent").await;
    let (status, late) = open(&house, &session, data["id"].as_str().unwrap()).await;
    assert_eq!(status, 200, "{late}");
    store.open();
    let input = shown.hear().await;
    assert_eq!(input["method"], "ui/notifications/tool-input");
    assert_eq!(input["params"], json!({ "arguments": { "zone": "Europe/Berlin" } }));
    assert_eq!(shown.hear().await["method"], "ui/notifications/tool-result");
    listener.turn().await;
    assert_eq!(view(&house, &session, "e1").await["verdict"]["verdict"], "ok");
}

#[tokio::test]
async fn the_page_around_a_widget_says_how_it_is_shown() {
    let (house, session) = home().await;
    let (_, allowed) = house
        .post("/api/widgets/features", json!({ "server": "clock", "feature": "clipboardWrite" }))
        .await;
    assert_eq!(allowed["ok"], true, "{allowed}");
    let around = json!({ "availableDisplayModes": ["inline", "fullscreen"], "secret": 1 });
    let params = json!({ "context": around.to_string() });
    let wish = json!({ "kind": "widget", "id": "c1", "sessionId": session, "params": params });
    let (_, ticket) = house.post("/api/frames", wish).await;
    assert_eq!(ticket["allow"], "clipboard-write *");
    let mut shown = Shown::new(&house, ticket["frameId"].clone()).await;
    let greeting = shown.greet().await;
    let sandbox = &greeting["hostCapabilities"]["sandbox"];
    assert_eq!(sandbox["permissions"], json!({ "clipboardWrite": {} }));
    assert_eq!(sandbox["csp"]["connectDomains"], json!(["https://a.example"]));
    assert_eq!(greeting["hostContext"].get("secret"), None);
    for _ in 0..2 {
        shown.hear().await;
    }
    let pip = shown.ask(1, "ui/request-display-mode", json!({ "mode": "pip" })).await;
    assert_eq!(pip["result"], json!({ "mode": "inline" }), "the page cannot");
    shown.request(2, "ui/request-display-mode", json!({ "mode": "fullscreen" })).await;
    let wish = shown.wish().await;
    assert_eq!(wish, json!({ "id": 1, "kind": "display-mode", "mode": "fullscreen" }));
    shown.note(json!({ "done": 1, "ok": true, "mode": "fullscreen" })).await;
    assert_eq!(shown.hear().await["params"], json!({ "displayMode": "fullscreen" }));
    assert_eq!(shown.hear().await["result"], json!({ "mode": "fullscreen" }));
    shown.note(json!({ "context": { "theme": "dark", "toolInfo": {} } })).await;
    assert_eq!(shown.hear().await["params"], json!({ "theme": "dark" }));
    let sized = json!({ "width": 300, "height": 10_000 });
    shown
        .say(
            json!({ "jsonrpc": "2.0", "method": "ui/notifications/size-changed", "params": sized }),
        )
        .await;
    assert_eq!(shown.wish().await, json!({ "kind": "size", "width": 300.0, "height": 800.0 }));
}

#[tokio::test]
async fn authors_of_widgets_are_given_a_bridge_for_the_hosts_they_trust() {
    let house = House::new([]).await;
    let path = "/api/widgets/bridge.js?adapters=ext-apps&trustedOrigins=https://claude.ai";
    let script = house.ask("GET", path).send().await;
    assert_eq!(script.header("content-type"), Some("text/javascript; charset=utf-8"));
    let options = r#"{"adapters":["ext-apps"],"trustedOrigins":["https://claude.ai"]}"#;
    assert!(script.text().contains(options));
    let wrong = "no adapter is called `x`; there are: ext-apps, openai, generic";
    assert_eq!(house.get("/api/widgets/bridge.js?adapters=x").await, bad(wrong));
}
