//! Every message that a view of the official dialect is sent, held against the published schema.

use std::{fs, path::PathBuf};

use serde_json::{Map, Value, json};

use super::world::{View, object};

/// Where the published schema is, once `make peers` has been run.
fn published() -> Value {
    let build = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let folder = build.parent().unwrap().join("peers/node_modules/@modelcontextprotocol/ext-apps");
    let path = folder.join("dist/src/generated/schema.json");
    let text = fs::read_to_string(&path);
    assert!(text.is_ok(), "{} is not there; run `make peers`", path.display());
    serde_json::from_str(&text.unwrap()).unwrap()
}

fn check(schema: &Value, definition: &str, value: &Value) {
    let root = &schema["$defs"][definition];
    assert!(root.is_object(), "{definition} is not published");
    let mut root = root.clone();
    // Some of them name others; what they bring themselves goes before.
    let own = root.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut all: Map<String, Value> = schema["$defs"].as_object().unwrap().clone();
    all.extend(own);
    root["$defs"] = Value::Object(all);
    let validator = jsonschema::options().offline().build(&root).unwrap();
    let wrong: Vec<String> = validator.iter_errors(value).map(|it| it.to_string()).collect();
    assert!(wrong.is_empty(), "{definition}: {wrong:?} in {value}");
}

/// Definitions speak of neither the version nor the id.
fn bare(mut message: Value) -> Value {
    let fields = message.as_object_mut().unwrap();
    fields.remove("jsonrpc");
    fields.remove("id");
    message
}

#[tokio::test(start_paused = true)]
async fn what_a_view_is_sent_is_what_the_specification_says() {
    let schema = published();
    let view = View::new();
    view.handler.give(object(json!({ "a": 1 })));
    let mut greeting = view.greet(json!({})).await;
    // The schema closes both halves of an intersection there, so that nothing fits it.
    greeting["hostContext"].as_object_mut().unwrap().remove("containerDimensions");
    check(&schema, "McpUiInitializeResult", &greeting);
    check(&schema, "McpUiHostCapabilities", &greeting["hostCapabilities"]);
    let result = json!({ "content": [{ "type": "text", "text": "T" }], "structuredContent": { "t": 1 },
                         "isError": false, "_meta": {} });
    view.handler.finish(result);
    view.handler.change(object(json!({ "theme": "dark", "locale": "de-DE" })));
    let sent: Vec<Value> = view.world.said().into_iter().map(bare).collect();
    let expected = [
        "McpUiToolInputNotification",
        "McpUiToolResultNotification",
        "McpUiHostContextChangedNotification",
    ];
    assert_eq!(sent.len(), expected.len(), "{sent:?}");
    for (definition, message) in expected.iter().zip(&sent) {
        check(&schema, definition, message);
    }
    let streaming = View::official().await;
    streaming.handler.stream(object(json!({ "a": "x" })));
    streaming.handler.cancel(Some("user action".into()));
    streaming.handler.part().await;
    let expected = [
        "McpUiToolInputPartialNotification",
        "McpUiToolCancelledNotification",
        "McpUiResourceTeardownRequest",
    ];
    let sent: Vec<Value> = streaming.world.said().into_iter().map(bare).collect();
    assert_eq!(sent.len(), expected.len(), "{sent:?}");
    for (definition, message) in expected.iter().zip(&sent) {
        check(&schema, definition, message);
    }
}

#[tokio::test]
async fn what_a_view_is_answered_is_what_the_specification_says() {
    let schema = published();
    let view = View::official().await;
    for (method, params, definition) in [
        ("ui/open-link", json!({ "url": "https://e.x/" }), "McpUiOpenLinkResult"),
        ("ui/open-link", json!({ "url": "data:x" }), "McpUiOpenLinkResult"),
        ("ui/message", json!({ "role": "user", "content": [] }), "McpUiMessageResult"),
        ("ui/download-file", json!({ "contents": [] }), "McpUiDownloadFileResult"),
        (
            "ui/request-display-mode",
            json!({ "mode": "fullscreen" }),
            "McpUiRequestDisplayModeResult",
        ),
    ] {
        check(&schema, definition, &view.ask(method, params).await);
    }
}
