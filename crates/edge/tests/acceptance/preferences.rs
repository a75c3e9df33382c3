//! What the person prefers, and what was said.

use serde_json::{Value, json};
use testkit::{
    World,
    model::{call, text},
};

use crate::common::{House, bad, no_session};

#[tokio::test]
async fn preferences_take_what_they_know() {
    let mut house = House::new([]).await;
    let get = |house: &House| house.ask("GET", "/api/preferences").send();
    let first = json!({ "lastCwd": house.cwd(), "lastModel": "test", "lastSessionId": null });
    assert_eq!(get(&house).await.json(), (200, first));
    let id = house.session().await;
    let mut expected = json!({ "lastCwd": house.cwd(), "lastModel": "test", "lastSessionId": id });
    for (change, field, value) in [
        (json!({ "theme": "dark", "lastCwd": "/tmp" }), "lastCwd", json!("/tmp")),
        (json!({ "lastCwd": "", "lastModel": "" }), "lastCwd", json!("/tmp")),
        (json!({ "lastModel": "other" }), "lastModel", json!("other")),
        (json!({ "lastSessionId": null }), "lastSessionId", Value::Null),
        (json!({ "lastSessionId": id }), "lastSessionId", json!(id)),
        (json!({}), "lastSessionId", json!(id)),
    ] {
        expected[field] = value;
        let answer = house.post("/api/preferences", change.clone()).await;
        assert_eq!(answer, (200, expected.clone()), "{change}");
        assert_eq!(get(&house).await.json(), (200, expected.clone()));
    }
    let unknown = house.post("/api/preferences", json!({ "lastSessionId": "nonsense" })).await;
    assert_eq!(unknown, bad("lastSessionId names no session: nonsense"));
    house.restart().await;
    assert_eq!(get(&house).await.json(), (200, expected));
}

#[tokio::test]
async fn a_new_session_gets_the_model_that_was_chosen_as_long_as_it_is_there() {
    let house = House::new([]).await;
    let made = || async { house.post("/api/sessions", json!({})).await.1["model"].clone() };
    assert_eq!(made().await, "test");
    for (chosen, expected) in [("guest", "guest"), ("gone/away", "test"), ("test", "test")] {
        house.post("/api/preferences", json!({ "lastModel": chosen })).await;
        assert_eq!(made().await, expected, "{chosen}");
    }
}

#[tokio::test]
async fn what_was_said_in_the_active_session_can_be_looked_at() {
    let world =
        World::new([vec![call("a", "echo", json!({}))], vec![text("Done")], vec![text("Hi")]]);
    let house = House::over(world).await;
    let nothing = json!({ "count": 0, "messages": [] });
    assert_eq!(house.get("/api/debug/messages").await, (200, nothing.clone()));
    let id = house.session().await;
    house.turn(&id, json!({ "prompt": "go" })).await;
    house.turn(&id, json!({ "prompt": "hello" })).await;
    let message = |kind: &str, content: &str, asks: bool| json!({ "type": kind, "content": content, "hasToolRequests": asks });
    let messages = json!([
        message("user.message", "go", false),
        message("assistant.message", "", true),
        message("assistant.message", "Done", false),
        message("user.message", "hello", false),
        message("assistant.message", "Hi", false),
    ]);
    let expected = json!({ "count": 5, "messages": messages });
    assert_eq!(house.get("/api/debug/messages").await, (200, expected));
    let other = house.ask("GET", "/api/debug/messages").header("x-client-id", "tablet");
    assert_eq!(other.send().await.json(), (200, nothing));
}

#[tokio::test]
async fn the_log_is_read_page_by_page() {
    let house = House::new([vec![text("Hi")]]).await;
    let id = house.session().await;
    house.turn(&id, json!({ "prompt": "hello" })).await;
    let whole = house.log(&id).await;
    let facts = whole["facts"].as_array().unwrap();
    assert_eq!(whole["last"], 5);
    let kinds: Vec<&Value> = facts.iter().map(|entry| &entry["fact"]).collect();
    assert_eq!(kinds, ["opened", "said", "step_started", "answered", "turn_ended"]);
    let mut read = Vec::new();
    while read.len() < facts.len() {
        let path = format!("/api/log?session={id}&after={}&limit=2", read.len());
        let (_, page) = house.get(&path).await;
        assert_eq!(page["last"], 5);
        read.extend(page["facts"].as_array().unwrap().clone());
        let next = if read.len() < facts.len() { json!(read.len()) } else { Value::Null };
        assert_eq!(page["next"], next);
    }
    assert_eq!(read, *facts);
    let beyond = house.get(&format!("/api/log?session={id}&after=99")).await;
    assert_eq!(beyond, (200, json!({ "facts": [], "last": 5 })));
    assert_eq!(house.get("/api/log?session=nonsense").await, no_session("nonsense"));
    for query in ["", "?after=1", &format!("?session={id}&after=-1")] {
        let (status, answer) = house.get(&format!("/api/log{query}")).await;
        assert_eq!((status, &answer["code"]), (400, &json!("BAD_REQUEST")), "{query}: {answer}");
    }
}
