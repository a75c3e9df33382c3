//! What is no message, too much of it, or nonsense: answered wherever there is an id, and never twice.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use widgets::{Limits, Setup};

use super::world::{View, error, setup};

#[tokio::test]
async fn what_has_an_id_is_answered_and_what_has_none_is_dropped() {
    let refused = |id: Value| {
        Some(json!({ "jsonrpc": "2.0", "id": id, "error": error(-32600, "Invalid Request") }))
    };
    for (message, expected) in [
        (json!({ "jsonrpc": "2.0", "id": 1 }), refused(json!(1))),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": 3 }), refused(json!(1))),
        (json!({ "jsonrpc": "1.0", "id": 0, "method": "ping" }), refused(json!(0))),
        (json!({ "id": "s", "method": "ping" }), refused(json!("s"))),
        (json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }), None),
        (json!({ "jsonrpc": "2.0", "id": {}, "method": "ping" }), None),
        (json!({ "jsonrpc": "2.0", "id": true, "method": "ping" }), None),
        (json!([{ "jsonrpc": "2.0", "id": 1, "method": "ping" }]), None),
        (json!("ping"), None),
        (json!(null), None),
        (json!({ "jsonrpc": "2.0", "method": "ping" }), None),
        (json!({ "jsonrpc": "2.0", "method": "ui/notifications/sandbox-proxy-ready" }), None),
        (json!({ "jsonrpc": "2.0", "method": "ui/notifications/initialized", "params": [] }), None),
        (json!({ "jsonrpc": "2.0", "id": 3, "result": {} }), None),
        (json!({ "jsonrpc": "2.0", "id": 3, "error": 1 }), None),
    ] {
        let view = View::new();
        assert_eq!(view.handler.handle(message.clone()).await, expected, "{message}");
        let dropped = u64::from(expected.is_none());
        assert_eq!(view.handler.dropped(), dropped, "{message}");
        assert_eq!(view.world.records.lock().unwrap().len(), 1, "{message}");
    }
    let broken = View::new().handler.handle_text("{").await;
    assert_eq!(
        broken,
        Some(json!({ "jsonrpc": "2.0", "id": null, "error": error(-32700, "Parse error") }))
    );
}

#[tokio::test]
async fn one_too_many_at_once_is_refused_and_the_rest_goes_on() {
    let view = View::official().await;
    *view.world.silent.lock().unwrap() = true;
    let call = |id: usize| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "t" } });
    let mut open: Vec<_> = (100..116).map(|id| Box::pin(view.handler.handle(call(id)))).collect();
    for each in &mut open {
        assert!(futures::poll!(each).is_pending());
    }
    let refused = view.handler.handle(call(116)).await.unwrap();
    assert_eq!(refused["error"]["code"], json!(-32000));
    assert_eq!(refused["error"]["data"], json!({ "limit": "inFlight", "max": 16 }));
    // The same id once more could not be told from the first.
    assert_eq!(view.handler.handle(call(103)).await, None);
    view.tell("notifications/cancelled", json!({ "requestId": 103 })).await;
    assert_eq!(open.remove(3).await, None);
    assert_eq!(view.ask("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn more_than_so_many_a_minute_are_refused_until_the_minute_is_over() {
    let view = View::new();
    for _ in 0..240 {
        assert_eq!(view.ask("ping", json!({})).await, json!({}));
    }
    let refused = view.ask("ping", json!({})).await;
    assert_eq!(refused["data"], json!({ "limit": "perMinute", "max": 240 }));
    *view.world.now.lock().unwrap() = Duration::from_mins(1);
    assert_eq!(view.ask("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn what_is_too_large_is_refused_or_dropped() {
    let view = View::official().await;
    let large = "x".repeat(2 << 20);
    let params = json!({ "name": "t", "arguments": { "a": large } });
    let refused = view.ask("tools/call", params).await;
    assert_eq!(refused["data"], json!({ "limit": "messageBytes", "max": 1 << 20 }));
    let before = view.handler.dropped();
    view.tell("notifications/message", json!({ "level": "info", "data": large })).await;
    assert_eq!(view.handler.dropped(), before + 1);
    let file = json!({ "type": "resource", "resource": { "uri": "file:///a", "text": large } });
    assert_eq!(view.ask("ui/download-file", json!({ "contents": [file] })).await, json!({}));
    let much = json!({ "structuredContent": { "a": "x".repeat(70_000) } });
    let refused = view.ask("ui/update-model-context", much).await;
    assert_eq!(refused["data"], json!({ "limit": "contextBytes", "max": 64 << 10 }));
    assert_eq!(view.handler.memory().version, 0);
}

#[tokio::test]
async fn a_view_has_only_so_many_tools() {
    let limits = Limits { tools: 2, ..Limits::default() };
    let view = View::set_up(Setup { limits, ..setup() });
    let tool = |name: &str| json!({ "name": name, "description": "d", "inputSchema": {} });
    for name in ["a", "b", "a"] {
        assert_eq!(view.ask("ui/registerTool", tool(name)).await, json!({}));
    }
    let refused = view.ask("ui/registerTool", tool("c")).await;
    assert_eq!(refused["data"], json!({ "limit": "tools", "max": 2 }));
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        prop::sample::select(vec![
            "2.0",
            "ui/initialize",
            "ui/callServerTool",
            "tools/call",
            "ui/open-link",
            "https://e.x/",
            "ui/notifications/initialized",
            "notifications/cancelled",
            "fullscreen",
        ])
        .prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "jsonrpc",
        "id",
        "method",
        "params",
        "result",
        "error",
        "name",
        "arguments",
        "url",
        "mode",
        "content",
        "context",
        "requestId",
        "inputSchema",
        "description",
        "appCapabilities",
        "x",
    ]);
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(key.clone(), inner, 0..6).prop_map(|map| map
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_said_nothing_breaks_and_an_answer_has_the_id_that_was_asked_with(
        messages in prop::collection::vec(anything(), 1..12)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let view = View::new();
            for message in messages {
                let id = message.get("id").cloned();
                if let Some(answer) = view.handler.handle(message).await {
                    prop_assert_eq!(answer.get("id"), id.as_ref());
                    prop_assert!(answer.get("result").is_some() != answer.get("error").is_some());
                }
                for posted in view.world.said() {
                    prop_assert!(posted.get("method").is_some(), "an answer was posted: {posted}");
                }
            }
            Ok(())
        })?;
    }
}
