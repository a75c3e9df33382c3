//! What tools have put out, by name.

use kernel::ports::{Catalog as _, Shelf};
use serde_json::{Value, json};
use testkit::{
    TestTool, World,
    model::{call, text},
};

use crate::common::{House, error, persisted, shorts};

/// Keeps something as a tool of this session would.
async fn keep(house: &House, id: &str, session: &str, data: &str, more: Value) {
    let mut output = json!({
        "id": id,
        "session": session,
        "data": data,
        "metadata": { "type": "embed" },
        "created_at": "2026-01-27T12:00:00Z",
    });
    output.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    house.world.store.put(Shelf::Outputs, id, output.to_string()).await.unwrap();
}

#[tokio::test]
async fn an_output_is_had_as_it_is_or_with_what_is_known_of_it() {
    let house = House::new([]).await;
    let session = house.session().await;
    let frame = "<iframe src=\"https://player.test\"></iframe>";
    keep(&house, "out_1_aaaaaa", &session, frame, json!({})).await;
    let binary =
        json!({ "binary": true, "metadata": { "type": "image", "mimeType": "image/png" } });
    keep(&house, "out_1_bbbbbb", &session, "AAEC/w==", binary).await;
    keep(&house, "out_1_cccccc", &session, "$ ls", json!({ "metadata": { "type": "terminal" } }))
        .await;
    for (id, kind, body) in [
        ("out_1_aaaaaa", "text/html; charset=utf-8", frame.as_bytes()),
        ("out_1_bbbbbb", "image/png", &[0, 1, 2, 255]),
        ("out_1_cccccc", "text/plain; charset=utf-8", b"$ ls"),
    ] {
        let reply = house.ask("GET", &format!("/api/outputs/{id}")).send().await;
        assert_eq!((reply.status, reply.body.as_slice()), (200, body), "{id}");
        assert_eq!(reply.header("content-type"), Some(kind), "{id}");
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.starts_with("sandbox;") && !policy.contains("allow-"), "{policy}");
    }
    let expected = json!({
        "id": "out_1_bbbbbb",
        "data": "AAEC/w==",
        "metadata": { "type": "image", "mimeType": "image/png" },
        "createdAt": "2026-01-27T12:00:00.000Z",
    });
    assert_eq!(house.get("/api/outputs/out_1_bbbbbb?format=json").await, (200, expected));
    let missing = (404, error("NOT_FOUND", "Output expired or not found"));
    for id in ["out_1_zzzzzz", "..%2fkey", "%ff", "x"] {
        assert_eq!(house.get(&format!("/api/outputs/{id}")).await, missing, "{id}");
    }
}

#[tokio::test]
async fn an_output_outlives_the_server_and_not_its_session() {
    let mut house = House::new([]).await;
    let (mine, other) = (house.session().await, house.session().await);
    keep(&house, "out_1_aaaaaa", &mine, "a", json!({})).await;
    keep(&house, "out_1_bbbbbb", &other, "b", json!({})).await;
    house.restart().await;
    let status = async |house: &House, id: &str| {
        house.ask("GET", &format!("/api/outputs/{id}")).send().await.status
    };
    assert_eq!(status(&house, "out_1_aaaaaa").await, 200);
    assert_eq!(house.delete(&format!("/api/sessions/{mine}")).await.0, 200);
    assert_eq!(status(&house, "out_1_aaaaaa").await, 404);
    assert_eq!(status(&house, "out_1_bbbbbb").await, 200);
}

#[tokio::test]
async fn what_is_embedded_is_told_before_the_words_about_it_live_and_ever_after() {
    let scripts = [vec![call("c1", "embed", json!({}))], vec![text("Listen.")]];
    let tool = TestTool::embedding("out_1_aaaaaa", "YouTube", "A song");
    let mut house = House::over(World::new(scripts).tool(&tool)).await;
    let (id, other) = (house.session().await, house.session().await);
    let player = "<iframe src=\"https://player.test\"></iframe>";
    keep(&house, "out_1_aaaaaa", &id, player, json!({})).await;
    let mut elsewhere = house.listener(&other).await;
    let mut socket = house.socket().await;
    socket.subscribe_with(&id, json!({ "deltas": "native" })).await;
    house.say(&id, "play it").await;
    let heard = socket.turn().await;
    let events: Vec<_> = heard.iter().filter(|it| it["type"] == "event").cloned().collect();
    let order = [
        "user.message",
        "assistant.turn_start",
        "assistant.intent",
        "tool.execution_start",
        "caco.embed",
        "tool.execution_complete",
        "assistant.turn_start",
        "assistant.message_delta",
        "assistant.message",
        "session.idle",
    ];
    assert_eq!(shorts(&events), order);
    let embed = &events[4];
    let data = json!({ "outputId": "out_1_aaaaaa", "provider": "YouTube", "title": "A song" });
    assert_eq!(embed["event"]["data"], data);
    assert!(embed["seq"].is_u64(), "it is kept");
    let result = &events[5]["event"]["data"];
    let marked = json!({ "content": "[output:out_1_aaaaaa] Embedded" });
    assert_eq!((&result["success"], &result["result"]), (&json!(true), &marked));
    let raw = house.ask("GET", "/api/outputs/out_1_aaaaaa").send().await;
    assert_eq!(raw.text(), player);
    assert_eq!(house.get("/api/outputs/out_1_aaaaaa?format=json").await.1["data"], player);
    let strange = elsewhere.waiting().await;
    assert!(strange.iter().all(|it| it["type"] != "event"), "{strange:?}");

    let told = persisted(&events);
    assert_eq!(persisted(&house.history(&id).await), told);
    house.restart().await;
    assert_eq!(persisted(&house.history(&id).await), told, "after a restart");
}
