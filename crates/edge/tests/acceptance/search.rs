//! Looking for words in a session: what is found, where, and how one asks on.

use serde_json::{Value, json};
use testkit::model::{call, text};

use crate::common::{House, bad, no_session};

/// What was found, in short, and where to ask on.
async fn found(house: &House, id: &str, query: &str) -> (Vec<(String, String)>, Value) {
    let (status, page) = house.get(&format!("/api/sessions/{id}/search?{query}")).await;
    assert_eq!(status, 200, "{page}");
    let short = |it: &Value| {
        (it["kind"].as_str().unwrap().to_owned(), it["excerpt"].as_str().unwrap().to_owned())
    };
    (page["found"].as_array().unwrap().iter().map(short).collect(), page["before"].clone())
}

fn pair(kind: &str, excerpt: &str) -> (String, String) {
    (kind.to_owned(), excerpt.to_owned())
}

#[tokio::test]
async fn words_are_found_in_messages_answers_and_tools_the_newest_first() {
    let house = House::new([
        vec![text("Let me see."), call("c1", "echo", json!({ "text": "a red kite" }))],
        vec![text("It says: a RED\nkite.")],
        vec![text("Fine.")],
    ])
    .await;
    let id = house.session().await;
    house.turn(&id, json!({ "prompt": "Where is the kite? The red one." })).await;
    house.turn(&id, json!({ "prompt": "Thanks, a blue kite" })).await;
    let (status, page) = house.get(&format!("/api/sessions/{id}/search?q=Kite%20red")).await;
    assert_eq!((status, &page["before"]), (200, &Value::Null));
    let all = page["found"].as_array().unwrap();
    let kinds: Vec<&str> = all.iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["answer", "tool", "tool", "message"]);
    assert_eq!(all[0]["excerpt"], "It says: a RED kite.");
    assert_eq!(all[3]["excerpt"], "Where is the kite? The red one.");
    assert_eq!((&all[1]["toolCallId"], &all[0].get("toolCallId")), (&json!("c1"), &None));
    let history = house.history(&id).await;
    let said = history.iter().find(|it| it["event"]["type"] == "user.message").unwrap();
    assert_eq!(all[3]["seq"], said["seq"], "places are those of events");
    assert_eq!(found(&house, &id, "q=green").await, (vec![], Value::Null));
    assert_eq!(found(&house, &id, "q=blue").await.0, [pair("message", "Thanks, a blue kite")]);
}

#[tokio::test]
async fn pages_put_together_are_all_there_is() {
    let house = House::new([]).await;
    house.world.model.otherwise(vec![text("an echo")]);
    let id = house.session().await;
    for number in 0..4 {
        house.turn(&id, json!({ "prompt": format!("echo {number}") })).await;
    }
    let (whole, before) = found(&house, &id, "q=echo").await;
    assert_eq!((whole.len(), before), (8, Value::Null));
    let (mut all, mut query) = (Vec::new(), "q=echo&limit=3".to_owned());
    loop {
        let (some, before) = found(&house, &id, &query).await;
        assert!(some.len() <= 3, "{some:?}");
        all.extend(some);
        let Some(before) = before.as_u64() else { break };
        query = format!("q=echo&limit=3&before={before}");
    }
    assert_eq!(all, whole);
}

#[tokio::test]
async fn what_was_taken_back_is_not_found() {
    let house = House::new([]).await;
    house.world.model.otherwise(vec![text("as you say")]);
    let id = house.session().await;
    house.turn(&id, json!({ "prompt": "a secret plan" })).await;
    let (_, page) = house.get(&format!("/api/sessions/{id}/search?q=secret")).await;
    let replaces = page["found"][0]["seq"].clone();
    house.turn(&id, json!({ "prompt": "a better plan", "replaces": replaces })).await;
    assert_eq!(found(&house, &id, "q=secret").await, (vec![], Value::Null));
    assert_eq!(found(&house, &id, "q=plan").await.0, [pair("message", "a better plan")]);
}

#[tokio::test]
async fn a_search_for_nothing_is_refused_in_words() {
    let house = House::new([]).await;
    let id = house.session().await;
    let get = async |query: &str| house.get(&format!("/api/sessions/{id}/search{query}")).await;
    let required = bad("q is required: what to look for");
    assert_eq!(get("").await, required);
    assert_eq!(get("?q=%20%09").await, required);
    let long = "x".repeat(201);
    assert_eq!(get(&format!("?q={long}")).await, bad("q may have 200 characters at most"));
    assert_eq!(get("?q=a&limit=101").await, bad("limit must be from 1 to 100, not 101"));
    assert_eq!(get("?q=a&before=-1").await.0, 400);
    let nobody = "019c18a5-1d00-7000-8000-00000000ffff";
    assert_eq!(house.get(&format!("/api/sessions/{nobody}/search?q=a")).await, no_session(nobody));
}
