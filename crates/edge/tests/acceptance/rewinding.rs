//! Saying something else instead, over HTTP: what clients hear of it, and what they see afterwards.

use serde_json::{Value, json};
use testkit::{
    Gate,
    model::{text, usage, wait},
};

use crate::common::{House, bad, error, persisted, shorts};

/// Where each message stands in the history that is replayed.
async fn places(house: &House, id: &str) -> Vec<u64> {
    let history = house.history(id).await;
    let said = history.iter().filter(|frame| frame["event"]["type"] == "user.message");
    said.map(|frame| frame["seq"].as_u64().unwrap()).collect()
}

async fn events(house: &House, id: &str, query: &str) -> Value {
    house.get(&format!("/api/sessions/{id}/events{query}")).await.1
}

fn texts(frames: &Value) -> Vec<String> {
    let content = |frame: &Value| frame["event"]["data"]["content"].as_str().map(str::to_owned);
    frames.as_array().unwrap().iter().filter_map(content).collect()
}

#[tokio::test]
async fn everybody_hears_what_was_taken_back_and_new_pages_leave_it_out() {
    let house =
        House::new([1, 2, 3].map(|it| vec![text(&format!("reply {it}")), usage(it, 0)])).await;
    let id = house.session().await;
    house.turn(&id, json!({ "prompt": "one" })).await;
    house.turn(&id, json!({ "prompt": "two" })).await;
    let two = places(&house, &id).await[1];
    let before = house.history(&id).await;
    let heard = house.turn(&id, json!({ "prompt": "two, better", "replaces": two })).await;
    let new = persisted(&heard);
    assert_eq!(
        shorts(&new)[..2],
        ["session.rewound", "user.message"],
        "in one go, and in this order"
    );
    assert_eq!(new[0]["event"]["data"], json!({ "before": two }));
    let history = house.history(&id).await;
    let all = [&before[..before.len() - 1], &new].concat();
    assert_eq!(history[..history.len() - 1], all, "the socket replays everything");
    let page = events(&house, &id, "").await;
    assert_eq!(texts(&page["frames"]), ["one", "reply 1", "two, better", "reply 3"]);
    assert_eq!(page["last"], history.last().unwrap()["seq"]);
    let (_, state) = house.get(&format!("/api/sessions/{id}/state")).await;
    assert_eq!((&state["contextUsed"], &state["usage"]["inputTokens"]), (&json!(3), &json!(6)));
    let newest = events(&house, &id, "?limit=5").await;
    assert_eq!(newest["frames"], json!(new));
    let rest = events(&house, &id, &format!("?limit=5&before={}", newest["before"])).await;
    assert_eq!(
        (texts(&rest["frames"]), &rest["before"]),
        (vec!["one".into(), "reply 1".into()], &Value::Null)
    );
    let (_, debug) = house.get("/api/debug/messages").await;
    assert_eq!(debug["count"], 4, "{debug}");
}

#[tokio::test]
async fn what_cannot_be_replaced_is_refused_in_words() {
    let gate = Gate::default();
    let house = House::new([vec![text("fine")], vec![wait(&gate)]]).await;
    let id = house.session().await;
    house.turn(&id, json!({ "prompt": "one" })).await;
    let place = places(&house, &id).await[0];
    let replace = async |body: Value| {
        let mut message = json!({ "prompt": "better" });
        message.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        house.message(&id, message).await
    };
    let before = house.snapshot(&id).await;
    for other in [0, place + 1, 99, u64::MAX] {
        let message = "replaces must be the seq of a message of the person that was not taken back";
        assert_eq!(
            replace(json!({ "replaces": other })).await,
            bad(&format!("{message}; {other} is none"))
        );
    }
    let (status, answer) = replace(json!({ "replaces": "2" })).await;
    assert_eq!(status, 400);
    assert!(answer["error"].as_str().unwrap().contains("replaces"), "{answer}");
    let agent = json!({
        "replaces": place, "source": "agent", "fromSession": "s", "correlationId": "c",
    });
    let person = "replaces is for messages of the person, not of applets, agents or schedules";
    assert_eq!(replace(agent).await, bad(person));
    assert_eq!(house.snapshot(&id).await, before, "nothing was done");
    house.say(&id, "two").await;
    gate.reached().await;
    let busy = (409, error("SESSION_BUSY", "Session is busy processing another message"));
    assert_eq!(replace(json!({ "replaces": place })).await, busy);
    assert_eq!(replace(json!({ "replaces": place, "queue": true })).await, busy);
}

#[tokio::test]
async fn a_message_is_replaced_once_under_one_key() {
    let house = House::new([]).await;
    house.world.model.otherwise(vec![text("fine")]);
    let id = house.session().await;
    house.turn(&id, json!({ "prompt": "one" })).await;
    let place = places(&house, &id).await[0];
    let mut socket = house.listener(&id).await;
    let post = async |replaces: Value| {
        let body = json!({ "prompt": "better", "replaces": replaces });
        let path = format!("/api/sessions/{id}/messages");
        house.ask("POST", &path).header("idempotency-key", "k").json(&body).send().await.json()
    };
    let ok = (200, json!({ "ok": true, "sessionId": id }));
    assert_eq!(post(json!(place)).await, ok);
    socket.turn().await;
    let log = house.log(&id).await;
    assert_eq!(post(json!(place)).await, ok);
    let reused = error("IDEMPOTENCY_KEY_REUSED", "Idempotency-Key was used for another message");
    assert_eq!(post(Value::Null).await, (422, reused));
    assert_eq!(house.log(&id).await, log);
}
