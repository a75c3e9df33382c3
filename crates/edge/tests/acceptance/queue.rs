//! Messages that wait: listed, called off in time, and too late.

use serde_json::{Value, json};
use testkit::{
    Gate,
    model::{text, wait},
};

use crate::common::{House, error, no_session};

async fn waiting(house: &House, id: &str) -> Value {
    house.get(&format!("/api/sessions/{id}/state")).await.1["queuedMessages"].clone()
}

#[tokio::test]
async fn a_message_that_waits_can_be_called_off() {
    let gate = Gate::default();
    let mut house = House::new([vec![text("a"), wait(&gate)]]).await;
    house.world.model.otherwise(vec![text("fine")]);
    let id = house.session().await;
    house.say(&id, "one").await;
    gate.reached().await;
    assert_eq!(waiting(&house, &id).await, json!([]));
    let path = format!("/api/sessions/{id}/messages");
    for (key, prompt) in [("two", "two"), ("7", "three"), ("four", "four")] {
        let body = json!({ "prompt": prompt, "queue": true });
        let ask = house.ask("POST", &path).header("idempotency-key", key).json(&body);
        assert_eq!(ask.send().await.status, 200);
    }
    let all = waiting(&house, &id).await;
    let seq = all[0]["seq"].as_u64().unwrap();
    let queued = |seq: u64, text: &str, key: &str| json!({ "seq": seq, "text": text, "key": key });
    let expected =
        [queued(seq, "two", "two"), queued(seq + 1, "three", "7"), queued(seq + 2, "four", "four")];
    assert_eq!(all, json!(expected));
    let call_off = async |house: &House, which: &str| {
        house.delete(&format!("/api/sessions/{id}/queue/{which}")).await
    };
    let done = (200, json!({ "success": true }));
    assert_eq!(call_off(&house, &seq.to_string()).await, done);
    assert_eq!(call_off(&house, "four").await, done);
    let late = "this message waits no longer: it was said, or called off already";
    let late = (409, error("CONFLICT", late));
    assert_eq!(call_off(&house, "two").await, late);
    for other in ["nobody", "0", "1", "99", "18446744073709551615"] {
        let absent = error("NOT_FOUND", &format!("no message waits, or has waited, as {other}"));
        assert_eq!(call_off(&house, other).await, (404, absent));
    }
    assert_eq!(waiting(&house, &id).await, json!([expected[1]]));
    house.restart().await;
    let mut socket = house.socket().await;
    socket.subscribe_with(&id, json!({ "after": 0 })).await;
    let said = |frame: &Value| frame["event"]["data"]["content"] == "three";
    if !house.history(&id).await.iter().any(said) {
        socket.until(said).await;
    }
    assert_eq!(call_off(&house, "7").await, late, "it was said");
    let history = house.history(&id).await;
    let said: Vec<&Value> = history
        .iter()
        .filter(|frame| frame["event"]["type"] == "user.message")
        .map(|frame| &frame["event"]["data"]["content"])
        .collect();
    assert_eq!(said, ["one", "three"]);
    let nobody = "019c18a5-1d00-7000-8000-00000000ffff";
    let answer = house.delete(&format!("/api/sessions/{nobody}/queue/1")).await;
    assert_eq!(answer, no_session(nobody));
}
