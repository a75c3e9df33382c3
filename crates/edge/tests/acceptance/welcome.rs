//! The first visit: what could answer, and choosing it.

use edge::Found;
use serde_json::{Value, json};

use crate::common::House;

#[tokio::test]
async fn a_newcomer_is_told_what_can_be_chosen_and_what_is_missing() {
    let mut house = House::new([]).await;
    let nothing = json!({ "firstRun": true, "defaultModel": "test", "found": [] });
    assert_eq!(house.get("/api/welcome").await, (200, nothing));
    let found = |what: &str, provider: Option<&str>, models: &[&str]| Found {
        what: what.to_owned(),
        payer: "nobody".to_owned(),
        provider: provider.map(str::to_owned),
        models: models.iter().map(|it| (*it).to_owned()).collect(),
        hint: "start it".to_owned(),
    };
    house.found = vec![
        found("a guest", None, &["guest", "stranger"]),
        found("a server that is not used", Some("box"), &[]),
    ];
    house.restart().await;
    house.session().await;
    let shown = |what: &str, models: &[&str], hint: Value| {
        json!({
            "what": what, "payer": "nobody", "models": models, "usable": !models.is_empty(), "hint": hint,
        })
    };
    let expected = [
        shown("a guest", &["guest"], Value::Null),
        shown("a server that is not used", &[], json!("start it")),
    ];
    let told = json!({ "firstRun": false, "defaultModel": "test", "found": expected });
    assert_eq!(house.get("/api/welcome").await, (200, told));
}

#[tokio::test]
async fn the_model_that_was_chosen_answers_in_new_sessions_from_then_on() {
    let mut house = House::new([]).await;
    house.session().await;
    let model =
        async |house: &House| house.post("/api/sessions", json!({})).await.1["model"].clone();
    assert_eq!(model(&house).await, "test");
    house.post("/api/preferences", json!({ "lastModel": "guest" })).await;
    assert_eq!(model(&house).await, "guest");
    house.restart().await;
    assert_eq!(model(&house).await, "guest");
    assert_eq!(house.get("/api/welcome").await.1["defaultModel"], "guest");
    house.post("/api/preferences", json!({ "lastModel": "nobody" })).await;
    assert_eq!(model(&house).await, "test", "where there is no such model, the house decides");
}
