//! The official dialect: what each method takes, gives and refuses.

use std::time::Duration;

use serde_json::{Value, json};
use widgets::{Capabilities, Trouble};

use super::world::{View, error};

#[tokio::test]
async fn a_greeting_tells_four_things_and_no_key_of_the_seed() {
    let view = View::new();
    let told = view.greet(json!({})).await;
    assert_eq!(told["protocolVersion"], json!("2026-01-26"));
    assert_eq!(told["hostInfo"], json!({ "name": "megaron", "version": "1" }));
    assert_eq!(told["hostContext"]["toolInfo"]["tool"]["name"], json!("get-time"));
    assert_eq!(told["hostContext"].get("viewport"), None);
    let keys: Vec<&String> = told["hostCapabilities"].as_object().unwrap().keys().collect();
    let expected = [
        "openLinks",
        "downloadFile",
        "serverTools",
        "serverResources",
        "logging",
        "updateModelContext",
        "message",
        "sampling",
        "sandbox",
    ];
    assert_eq!(keys, expected);
    assert_eq!(told["hostCapabilities"]["logging"], json!({}));
}

#[tokio::test]
async fn a_greeting_is_answered_whatever_version_it_asks_for_and_however_often() {
    let view = View::official().await;
    for (version, expected) in [("1999-01-01", "2026-01-26"), ("2026-01-26", "2026-01-26")] {
        let params = json!({
            "appInfo": { "name": "other", "version": "2" },
            "appCapabilities": {},
            "protocolVersion": version,
        });
        let told = view.ask("ui/initialize", params).await;
        assert_eq!(told["protocolVersion"], json!(expected));
    }
    assert_eq!(view.ask("ping", json!({})).await, json!({}));
    // Another greeting may be in the other dialect.
    let seed = view.ask("ui/initialize", json!({})).await;
    assert_eq!(seed["protocolVersion"], json!("2024-11-05"));
    let wrong = json!({ "protocolVersion": "2026-01-26", "appCapabilities": {} });
    let expected = "Invalid params for ui/initialize: appInfo: Invalid input: expected object, \
                    received undefined";
    assert_eq!(view.ask("ui/initialize", wrong).await, error(-32602, expected));
    let streaming = json!({
        "protocolVersion": "2025-01-01",
        "appCapabilities": { "supportsPartialInput": true },
    });
    let seed = view.ask("ui/initialize", streaming).await;
    assert_eq!(seed["protocolVersion"], json!("2025-01-01"));
    assert_eq!(seed["hostCapabilities"]["serverToolProxy"], json!(true));
}

#[tokio::test]
async fn what_is_wrong_with_parameters_is_said_with_their_path() {
    let view = View::official().await;
    let expected =
        |method: &str, rest: &str| error(-32602, &format!("Invalid params for {method}: {rest}"));
    for (method, params, rest) in [
        ("ui/open-link", json!({}), "url: Invalid input: expected string, received undefined"),
        (
            "ui/open-link",
            json!({ "url": 3 }),
            "url: Invalid input: expected string, received number",
        ),
        ("ui/request-display-mode", json!({ "mode": "bogus" }), "mode: Invalid input"),
        ("ui/request-display-mode", json!({}), "mode: Invalid input"),
        ("tools/call", json!({}), "name: Invalid input: expected string, received undefined"),
        (
            "tools/call",
            json!({ "name": "t", "arguments": [] }),
            "arguments: Invalid input: expected object, received array",
        ),
        ("resources/read", json!({}), "uri: Invalid input: expected string, received undefined"),
        (
            "ui/message",
            json!({ "role": "assistant", "content": [] }),
            "role: Invalid input: expected \"user\"",
        ),
        ("ui/message", json!({ "content": [] }), "role: Invalid input: expected \"user\""),
        (
            "ui/message",
            json!({ "role": "user" }),
            "content: Invalid input: expected array, received undefined",
        ),
        (
            "ui/update-model-context",
            json!({ "content": "c" }),
            "content: Invalid input: expected array, received string",
        ),
        (
            "ui/update-model-context",
            json!({ "structuredContent": 1 }),
            "structuredContent: Invalid input: expected record, received number",
        ),
        (
            "ui/download-file",
            json!({ "contents": {} }),
            "contents: Invalid input: expected array, received object",
        ),
        (
            "ui/download-file",
            json!({ "contents": [{ "type": "text" }] }),
            "contents: Invalid input: expected resource or resource_link",
        ),
    ] {
        assert_eq!(view.ask(method, params.clone()).await, expected(method, rest), "{params}");
    }
    assert_eq!(view.world.taken(), [""; 0]);
}

#[tokio::test]
async fn what_was_not_offered_is_not_there() {
    let view = View::with(Capabilities::default());
    view.greet(json!({})).await;
    for method in [
        "tools/call",
        "ui/open-link",
        "ui/message",
        "ui/update-model-context",
        "ui/download-file",
        "resources/read",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        "sampling/createMessage",
        "completion/complete",
        "ui/notifications/initialized",
    ] {
        assert_eq!(
            view.ask(method, json!({})).await,
            error(-32601, "Method not found"),
            "{method}"
        );
    }
    assert_eq!(view.world.taken(), [""; 0]);
}

#[tokio::test]
async fn calls_reach_the_server_with_their_token_and_come_back_whole() {
    let view = View::official().await;
    let whole = json!({
        "content": [{ "type": "text", "text": "T" }],
        "structuredContent": null,
        "isError": true,
        "_meta": { "a": 1 },
    });
    view.will(Ok(whole.clone()));
    let params = json!({ "name": "get-time", "arguments": {}, "_meta": { "progressToken": 6 } });
    assert_eq!(view.ask("tools/call", params).await, whole);
    assert_eq!(view.world.taken(), ["call get-time {} progress 6"]);
    view.handler.progress(&json!(6), 1.0, Some(2.0), None);
    let progress = json!({ "progressToken": 6, "progress": 1.0, "total": 2.0 });
    let expected =
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": progress });
    assert_eq!(view.world.said(), [expected]);
}

#[tokio::test]
async fn a_call_that_gave_no_result_says_why() {
    let denied = json!({ "content": [{ "type": "text", "text": "no" }], "isError": true });
    for (trouble, expected) in [
        (Trouble::NotAvailable, error(-32000, "Tool not available to this view: t")),
        (Trouble::NotFound, error(-32603, "Tool t not found")),
        (Trouble::Denied("no".into()), denied),
        (Trouble::Failed("lost".into()), error(-32603, "lost")),
        (
            Trouble::Server { code: -32042, message: "visit".into(), data: Some(json!(1)) },
            json!({ "code": -32042, "message": "visit", "data": 1 }),
        ),
        (Trouble::Other("odd".into()), error(-32603, "odd")),
    ] {
        let view = View::official().await;
        view.will(Err(trouble));
        assert_eq!(view.ask("tools/call", json!({ "name": "t" })).await, expected);
    }
}

#[tokio::test]
async fn a_link_is_opened_only_if_it_leads_to_the_web_and_the_person_agrees() {
    let view = View::official().await;
    let link = |url: &str| json!({ "url": url });
    assert_eq!(view.ask("ui/open-link", link("https://e.x/")).await, json!({}));
    assert_eq!(view.world.taken(), ["open https://e.x/"]);
    for url in ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "no url"] {
        assert_eq!(view.ask("ui/open-link", link(url)).await, json!({ "isError": true }), "{url}");
    }
    assert_eq!(view.world.taken(), [""; 0]);
    view.refuses(Trouble::Denied("no".into()));
    assert_eq!(view.ask("ui/open-link", link("https://e.x/")).await, json!({ "isError": true }));
}

#[tokio::test]
async fn a_message_keeps_its_blocks_and_a_no_is_told() {
    let view = View::official().await;
    let block = json!({ "type": "text", "text": "hi" });
    for content in [json!("hi"), block.clone(), json!([block])] {
        let said = json!({ "role": "user", "content": content });
        assert_eq!(view.ask("ui/message", said).await, json!({}));
        assert_eq!(view.world.taken(), [r#"say [{"type":"text","text":"hi"}]"#]);
    }
    view.refuses(Trouble::Denied("no".into()));
    let said = json!({ "role": "user", "content": [] });
    assert_eq!(view.ask("ui/message", said).await, json!({ "isError": true }));
}

#[tokio::test]
async fn a_context_takes_the_place_of_the_one_before() {
    let view = View::official().await;
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    for params in [
        json!({ "content": text("a"), "structuredContent": { "a": 1 } }),
        json!({ "content": text("b") }),
        json!({ "content": text("b") }),
        json!({}),
    ] {
        assert_eq!(view.ask("ui/update-model-context", params).await, json!({}));
    }
    assert_eq!(
        view.world.taken(),
        [
            r#"remember 1 {"content":[{"type":"text","text":"a"}],"structuredContent":{"a":1}}"#,
            r#"remember 2 {"content":[{"type":"text","text":"b"}]}"#,
            "remember 3 {}",
        ]
    );
    view.refuses(Trouble::Denied("no".into()));
    let refused = view.ask("ui/update-model-context", json!({ "content": text("c") })).await;
    assert_eq!(refused, error(-32000, "Context update denied"));
    assert!(view.handler.memory().is_empty());
}

#[tokio::test]
async fn the_mode_in_force_is_answered_and_none_is_taken_that_the_view_does_not_know() {
    let view = View::new();
    view.greet(json!({ "availableDisplayModes": ["inline", "fullscreen"] })).await;
    let ask = async |mode: &str| view.ask("ui/request-display-mode", json!({ "mode": mode })).await;
    assert_eq!(ask("pip").await, json!({ "mode": "inline" }));
    assert_eq!(ask("inline").await, json!({ "mode": "inline" }));
    assert_eq!((view.world.taken(), view.world.said()), (vec![], vec![]));
    assert_eq!(ask("fullscreen").await, json!({ "mode": "fullscreen" }));
    let changed = json!({
        "jsonrpc": "2.0",
        "method": "ui/notifications/host-context-changed",
        "params": { "displayMode": "fullscreen" },
    });
    assert_eq!(view.world.said(), [changed]);
    view.refuses(Trouble::Denied("no".into()));
    assert_eq!(ask("inline").await, json!({ "mode": "fullscreen" }));
    assert_eq!(view.world.said(), [Value::Null; 0]);
}

#[tokio::test]
async fn files_resources_and_a_model_are_asked_for_where_they_are_offered() {
    let view = View::official().await;
    let link = json!({ "type": "resource_link", "uri": "file:///a.csv", "name": "a" });
    assert_eq!(view.ask("ui/download-file", json!({ "contents": [link] })).await, json!({}));
    view.refuses(Trouble::Denied("no".into()));
    let refused = view.ask("ui/download-file", json!({ "contents": [] })).await;
    assert_eq!(refused, json!({ "isError": true }));
    for method in ["resources/read", "resources/list", "resources/templates/list"] {
        let listed = view.ask(method, json!({ "uri": "ui://a" })).await;
        assert_eq!(listed, json!({ "resources": [] }));
    }
    assert_eq!(view.ask("sampling/createMessage", json!({})).await, json!({ "role": "assistant" }));
    assert_eq!(
        view.world.taken(),
        [
            r#"download [{"type":"resource_link","uri":"file:///a.csv","name":"a"}]"#,
            "download []",
            r#"resources/read {"uri":"ui://a"}"#,
            r#"resources/list {"uri":"ui://a"}"#,
            r#"resources/templates/list {"uri":"ui://a"}"#,
            "sample",
        ]
    );
}

#[tokio::test]
async fn a_name_of_the_seed_is_answered_in_its_way_whoever_says_it() {
    let view = View::official().await;
    let refused = view.ask("ui/openLink", json!({})).await;
    assert_eq!(refused, error(-32602, "URL is required"));
    assert_eq!(view.ask("ui/log", json!({ "message": "m" })).await, json!({}));
    // It stays what it was.
    assert_eq!(view.ask("ui/foo", json!({})).await, error(-32601, "Method not found"));
    let before = View::new();
    assert_eq!(before.ask("ui/foo", json!({})).await, error(-32601, "Method not found"));
    before.ask("ui/callServerTool", json!({})).await;
    let unknown = error(-32601, "Unknown ext-apps method: ui/foo");
    assert_eq!(before.ask("ui/foo", json!({})).await, unknown);
}

#[tokio::test]
async fn what_is_only_told_is_heeded() {
    let view = View::official().await;
    let remark = json!({ "level": "critical", "logger": "g", "data": { "x": 1 } });
    view.tell("notifications/message", remark).await;
    view.tell("notifications/message", json!({ "level": "loud", "data": 1 })).await;
    view.tell("ui/notifications/size-changed", json!({ "width": 900, "height": 426 })).await;
    view.tell("ui/notifications/size-changed", json!({ "width": 900, "height": 426 })).await;
    view.tell("ui/notifications/size-changed", json!({ "height": 10_000 })).await;
    view.tell("ui/notifications/size-changed", json!({ "height": 20_000 })).await;
    view.tell("ui/notifications/size-changed", json!({ "height": -1, "width": "wide" })).await;
    view.tell("ui/notifications/request-teardown", json!({})).await;
    assert_eq!(
        view.world.taken(),
        [
            r#"log Critical g  {"x":1}"#,
            "resize Some(900.0) Some(426.0) None",
            "resize None Some(4000.0) None",
            "close None",
        ]
    );
}

#[tokio::test]
async fn a_request_that_is_taken_back_is_not_answered() {
    let view = View::official().await;
    *view.world.silent.lock().unwrap() = true;
    let call =
        json!({ "jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": { "name": "t" } });
    let cancel = view.tell("notifications/cancelled", json!({ "requestId": "c" }));
    let (answer, ()) = futures::join!(view.handler.handle(call), cancel);
    assert_eq!(answer, None);
    let last = view.world.records.lock().unwrap().pop();
    let taken_back =
        widgets::Record::TakenBack { ask: None, method: "tools/call".into(), took: Duration::ZERO };
    assert_eq!(last, Some(taken_back));
}
