//! What a view gives to be kept, and for how long it waits for the person.

use std::{slice, time::Duration};

use serde_json::{Value, json};
use widgets::Capabilities;

use super::world::{View, all, error};

#[tokio::test]
async fn pictures_for_the_model_are_taken_where_they_are_offered_and_are_weighed_apart() {
    let method = "ui/update-model-context";
    let picture =
        |mime: &str, data: Value| json!({ "type": "image", "mimeType": mime, "data": data });
    let large = json!("A".repeat(300_000));
    let content = |blocks: &[Value]| json!({ "content": blocks });
    let view = View::official().await;
    let one = picture("image/png", large.clone());
    assert_eq!(view.ask(method, content(slice::from_ref(&one))).await, json!({}));
    assert_eq!(view.world.taken().len(), 1);
    // The same once more is nothing new.
    assert_eq!(view.ask(method, content(slice::from_ref(&one))).await, json!({}));
    assert_eq!(view.world.taken(), [""; 0]);
    let text = json!({ "type": "text", "text": "x".repeat(70_000) });
    let refused = view.ask(method, content(&[text, one.clone()])).await;
    assert_eq!(refused["data"], json!({ "limit": "contextBytes", "max": 64 << 10 }));
    let small = picture("image/webp", json!("AAAA"));
    let refused = view.ask(method, content(&vec![small.clone(); 5])).await;
    assert_eq!(refused["data"], json!({ "limit": "contextPictures", "max": 4 }));
    let kinds = "image/png or image/jpeg or image/gif or image/webp";
    for (block, path, kind, received) in [
        (picture("image/svg+xml", json!("AAAA")), "mimeType", kinds, "string"),
        (json!({ "type": "image", "data": "AAAA" }), "mimeType", kinds, "undefined"),
        (picture("image/png", json!(3)), "data", "string", "number"),
    ] {
        let wrong = format!(
            "Invalid params for {method}: content.1.{path}: Invalid input: expected {kind}, \
             received {received}"
        );
        let refused =
            view.ask(method, content(&[json!({ "type": "text", "text": "t" }), block])).await;
        assert_eq!(refused, error(-32602, &wrong));
    }
    assert_eq!(view.world.taken(), [""; 0]);
    let blind = View::with(Capabilities { context_images: false, ..all() });
    let told = blind.greet(json!({})).await["hostCapabilities"]["updateModelContext"].clone();
    assert_eq!(told, json!({ "text": {}, "structuredContent": {} }));
    let why = "Invalid content format: the model of this session takes no images";
    assert_eq!(blind.ask(method, content(&[small])).await, error(-32000, why));
}

#[tokio::test]
async fn what_a_view_of_our_bridge_keeps_is_told_to_it_after_the_next_greeting() {
    let view = View::new();
    let bridge = json!({ "experimental": { "megaron/bridge": { "version": 1 } } });
    let greeting = json!({ "protocolVersion": "2024-11-05", "appCapabilities": bridge });
    let greet = async || {
        let told = view.ask("ui/initialize", greeting.clone()).await;
        told["hostContext"].get("megaron/widgetState").cloned()
    };
    assert_eq!(greet().await, None);
    let keep = async |state: Value| {
        view.tell("ui/notifications/widget-state", json!({ "state": state })).await;
    };
    keep(json!({ "a": 1 })).await;
    keep(json!({ "a": 1 })).await;
    keep(json!("no object")).await;
    keep(json!({ "a": "x".repeat(70_000) })).await;
    assert_eq!(view.world.taken(), [r#"keep {"a":1}"#]);
    assert_eq!(view.handler.dropped(), 2);
    assert_eq!(greet().await, Some(json!({ "a": 1 })));
    // An official guest is told nothing that it does not know of.
    assert_eq!(view.greet(json!({})).await["hostContext"].get("megaron/widgetState"), None);
}

#[tokio::test]
async fn only_a_guest_that_gives_up_by_itself_is_waited_for_no_longer_than_it_waits() {
    let bridge = json!({ "experimental": { "megaron/bridge": { "version": 1 } } });
    let seed = json!({ "protocolVersion": "2024-11-05" });
    let ours = json!({ "protocolVersion": "2024-11-05", "appCapabilities": bridge });
    let official = json!({
        "protocolVersion": "2026-01-26", "appInfo": {}, "appCapabilities": {},
    });
    let nine = Some(Duration::from_secs(9));
    for (greeting, patience) in [(seed, nine), (ours, None), (official, None)] {
        let view = View::new();
        view.ask("ui/initialize", greeting.clone()).await;
        view.ask("tools/call", json!({ "name": "t" })).await;
        assert_eq!(*view.world.patience.lock().unwrap(), patience, "{greeting}");
    }
}
