//! What a view is told of its call and its surroundings, and when.

use std::time::Duration;

use serde_json::{Value, json};

use super::world::{View, object};

#[expect(clippy::needless_pass_by_value, reason = "shorter where it is called")]
fn told(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": format!("ui/notifications/{method}"), "params": params })
}

#[tokio::test]
async fn nothing_is_told_before_the_view_listens_and_then_everything_in_order() {
    let view = View::new();
    view.handler.stream(object(json!({ "a": "x" })));
    view.handler.give(object(json!({ "a": "xy" })));
    view.handler.finish(json!({ "content": [], "isError": true, "structuredContent": null }));
    view.handler.change(object(json!({ "theme": "dark" })));
    assert_eq!(view.world.said(), [Value::Null; 0]);
    let greeting = view.greet(json!({})).await;
    assert_eq!(greeting["hostContext"]["theme"], json!("dark"));
    assert_eq!(
        view.world.said(),
        [
            told("tool-input", json!({ "arguments": { "a": "xy" } })),
            told(
                "tool-result",
                json!({ "content": [], "isError": true, "structuredContent": null })
            ),
        ]
    );
}

#[tokio::test]
async fn pieces_come_before_the_whole_and_none_after_it() {
    let view = View::official().await;
    view.handler.stream(object(json!({ "a": "x" })));
    view.handler.stream(object(json!({ "a": "xy" })));
    // A result that is here too early waits for the arguments.
    view.handler.finish(json!({ "_meta": { "m": 1 } }));
    view.handler.give(object(json!({ "a": "xyz" })));
    view.handler.stream(object(json!({ "a": "late" })));
    view.handler.give(object(json!({ "a": "again" })));
    view.handler.finish(json!({ "content": [1] }));
    view.handler.cancel(None);
    assert_eq!(
        view.world.said(),
        [
            told("tool-input-partial", json!({ "arguments": { "a": "x" } })),
            told("tool-input-partial", json!({ "arguments": { "a": "xy" } })),
            told("tool-input", json!({ "arguments": { "a": "xyz" } })),
            told("tool-result", json!({ "_meta": { "m": 1 }, "content": [] })),
        ]
    );
}

#[tokio::test]
async fn a_view_of_the_seed_gets_pieces_only_if_it_asked_for_them() {
    for (streams, expected) in
        [(false, vec![]), (true, vec!["ui/notifications/tool-input-partial"])]
    {
        let view = View::new();
        let capabilities = json!({ "supportsPartialInput": streams });
        let params = json!({ "protocolVersion": "2024-11-05", "appCapabilities": capabilities });
        view.ask("ui/initialize", params).await;
        view.tell("ui/notifications/initialized", json!({})).await;
        view.handler.stream(object(json!({ "a": 1 })));
        assert_eq!(view.world.methods(), expected);
    }
}

#[tokio::test]
async fn a_call_that_was_cancelled_is_told_in_each_dialect() {
    for (view, method, other) in [
        (View::official().await, "tool-cancelled", "tool-input"),
        (View::seed().await, "cancelled", "tool-input"),
    ] {
        view.handler.give(object(json!({})));
        view.handler.cancel(Some("user action".into()));
        view.handler.finish(json!({ "content": [] }));
        assert_eq!(
            view.world.said(),
            [
                told(other, json!({ "arguments": {} })),
                told(method, json!({ "reason": "user action" })),
            ]
        );
    }
    let early = View::official().await;
    early.handler.stream(object(json!({ "a": 1 })));
    early.handler.cancel(None);
    early.handler.give(object(json!({ "a": 1 })));
    assert_eq!(
        early.world.said(),
        [
            told("tool-input-partial", json!({ "arguments": { "a": 1 } })),
            told("tool-cancelled", json!({})),
        ]
    );
}

#[tokio::test]
async fn everything_is_told_once_more_after_another_handshake_and_not_otherwise() {
    let view = View::official().await;
    view.handler.give(object(json!({})));
    view.handler.finish(json!({ "content": [] }));
    let both = ["ui/notifications/tool-input", "ui/notifications/tool-result"];
    assert_eq!(view.world.methods(), both);
    view.tell("ui/notifications/initialized", json!({})).await;
    assert_eq!(view.world.methods(), [""; 0]);
    view.greet(json!({})).await;
    assert_eq!(view.world.methods(), both);
}

#[tokio::test]
async fn what_changes_around_a_view_is_told_once_and_nothing_else() {
    let view = View::official().await;
    view.handler.change(object(json!({ "theme": "dark", "locale": "en-US" })));
    view.handler.change(object(json!({ "theme": "dark" })));
    view.handler.change(object(json!({ "theme": "system" })));
    assert_eq!(view.world.said()[..1], [told("host-context-changed", json!({ "theme": "dark" }))]);
    let seed = View::seed().await;
    seed.handler.change(object(json!({ "timeZone": "Asia/Tokyo" })));
    assert_eq!(
        seed.world.said(),
        [told(
            "host-context-changed",
            json!({ "timeZone": "Asia/Tokyo", "timezone": "Asia/Tokyo" })
        )]
    );
}

#[tokio::test(start_paused = true)]
async fn a_view_of_the_seed_that_says_nothing_more_is_taken_to_listen() {
    let view = View::new();
    view.handler.give(object(json!({})));
    view.ask("ui/initialize", json!({})).await;
    let attending =
        async { tokio::time::timeout(Duration::from_millis(299), view.handler.attend()).await };
    assert!(attending.await.is_err());
    assert!(!view.handler.is_ready());
    let attending =
        async { tokio::time::timeout(Duration::from_millis(301), view.handler.attend()).await };
    assert!(attending.await.is_err());
    assert_eq!(view.world.methods(), ["ui/notifications/tool-input"]);
    // An official one is not.
    let view = View::new();
    view.ask(
        "ui/initialize",
        json!({ "protocolVersion": "2026-01-26", "appInfo": {}, "appCapabilities": {} }),
    )
    .await;
    let attending =
        async { tokio::time::timeout(Duration::from_mins(1), view.handler.attend()).await };
    assert!(attending.await.is_err());
    assert!(!view.handler.is_ready());
}

#[tokio::test(start_paused = true)]
async fn a_view_may_put_its_things_in_order_before_it_goes_but_not_for_ever() {
    let view = View::official().await;
    let parting = tokio::spawn({
        let handler = view.handler.clone();
        async move { handler.part().await }
    });
    while view.world.posted.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let asked =
        json!({ "jsonrpc": "2.0", "id": 0, "method": "ui/resource-teardown", "params": {} });
    assert_eq!(view.world.said(), [asked]);
    let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": { "saved": true } });
    assert_eq!(view.handler.handle(answer).await, None);
    parting.await.unwrap();
    // One that does not answer.
    let silent = View::official().await;
    let before = tokio::time::Instant::now();
    silent.handler.part().await;
    assert_eq!(before.elapsed(), Duration::from_secs(2));
    // One that cannot be asked.
    let seed = View::seed().await;
    let before = tokio::time::Instant::now();
    seed.handler.part().await;
    assert_eq!((before.elapsed(), seed.world.said()), (Duration::ZERO, vec![]));
    let late = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    assert_eq!(seed.handler.handle(late).await, None);
}

#[tokio::test]
async fn other_tools_of_the_server_are_told_to_whom_they_were_offered() {
    let view = View::official().await;
    view.handler.tools_changed();
    assert_eq!(view.world.methods(), ["notifications/tools/list_changed"]);
    let none = View::with(widgets::Capabilities::default());
    none.greet(json!({})).await;
    none.handler.tools_changed();
    assert_eq!(none.world.methods(), [""; 0]);
}
