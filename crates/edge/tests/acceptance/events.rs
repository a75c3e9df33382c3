//! The past over HTTP: pages that, put together, are what the socket replays.

use serde_json::{Value, json};
use testkit::{
    Gate,
    model::{call, reasoning, text, wait},
};

use crate::common::{House, bad, no_session, persisted, shorts};

/// One page; its frames must be there.
async fn page(house: &House, id: &str, query: &str) -> (Vec<Value>, Value, Value) {
    let (status, page) = house.get(&format!("/api/sessions/{id}/events{query}")).await;
    assert_eq!(status, 200, "{page}");
    assert_eq!(page.as_object().unwrap().len(), 3, "{page}");
    (page["frames"].as_array().unwrap().clone(), page["before"].clone(), page["last"].clone())
}

/// The kinds of the events on each page of so many facts, the oldest page first, and all events.
async fn pages(house: &House, id: &str, limit: usize) -> (Vec<usize>, Vec<Value>) {
    let (mut sizes, mut all, mut query) = (Vec::new(), Vec::new(), format!("?limit={limit}"));
    loop {
        let (frames, before, _) = page(house, id, &query).await;
        sizes.insert(0, frames.len());
        all.splice(0..0, frames);
        let Some(before) = before.as_u64() else { return (sizes, all) };
        query = format!("?limit={limit}&before={before}");
    }
}

#[tokio::test]
async fn pages_put_together_are_the_whole_history() {
    let house = House::new([
        vec![reasoning("hm"), text("I call."), call("c1", "echo", json!({ "text": "a" }))],
        vec![text("done")],
    ])
    .await;
    house.world.model.otherwise(vec![text("fine")]);
    let id = house.session().await;
    for number in 0..4 {
        house.turn(&id, json!({ "prompt": format!("message {number}") })).await;
        house.patch(&format!("/api/sessions/{id}"), json!({ "name": "of no concern" })).await;
    }
    let mut history = house.history(&id).await;
    let last = history.pop().unwrap()["seq"].clone();
    assert_eq!(history, persisted(&history));
    for limit in [1, 2, 3, 5, 8, 13, 21, 1000] {
        let (sizes, all) = pages(&house, &id, limit).await;
        assert_eq!(all, history, "pages of {limit}: {sizes:?}");
    }
    let (frames, before, end) = page(&house, &id, "").await;
    assert_eq!((frames, before, end), (history, Value::Null, last));
}

#[tokio::test]
async fn a_page_begins_with_a_message_where_one_is_not_far() {
    let house = House::new([]).await;
    house.world.model.otherwise(vec![text("fine")]);
    let id = house.session().await;
    for number in 0..3 {
        house.turn(&id, json!({ "prompt": format!("message {number}") })).await;
    }
    // Each turn is four facts: the message, the step, the answer and the end.
    let first = |frames: &[Value]| shorts(frames)[0].clone();
    let (six, before, _) = page(&house, &id, "?limit=6").await;
    assert_eq!((six.len(), first(&six)), (4, "user.message".to_owned()));
    let (next, before, _) = page(&house, &id, &format!("?limit=6&before={before}")).await;
    assert_eq!((next.len(), first(&next)), (4, "user.message".to_owned()));
    let (oldest, before, _) = page(&house, &id, &format!("?limit=6&before={before}")).await;
    assert_eq!((oldest.len(), before), (4, Value::Null), "and nothing but the opening is left");
    let (three, before, _) = page(&house, &id, "?limit=3").await;
    assert_eq!((three.len(), first(&three)), (3, "assistant.turn_start".to_owned()));
    assert_eq!(before, three[0]["seq"]);
}

#[tokio::test]
async fn a_listener_goes_on_where_the_page_ends() {
    let gate = Gate::default();
    let house = House::new([vec![text("Hel"), wait(&gate), text("lo")]]).await;
    let id = house.session().await;
    house.say(&id, "hi").await;
    gate.reached().await;
    let (frames, _, last) = page(&house, &id, "").await;
    assert_eq!(shorts(&frames), ["user.message", "assistant.turn_start"], "pieces are not kept");
    let mut socket = house.socket().await;
    let more = json!({ "after": last, "deltas": "native" });
    let heard = socket.subscribe_with(&id, more).await;
    assert_eq!(shorts(&heard), ["assistant.message_delta"]);
    assert_eq!(heard[0]["event"]["data"]["replace"], true);
    gate.open();
    let rest = persisted(&socket.turn().await);
    let (all, ..) = page(&house, &id, "").await;
    assert_eq!(all, [frames, rest].concat());
}

#[tokio::test]
async fn a_page_that_cannot_be_is_refused_in_words() {
    let house = House::new([]).await;
    let id = house.session().await;
    let get = async |query: &str| house.get(&format!("/api/sessions/{id}/events{query}")).await;
    let limit = |given| bad(&format!("limit must be from 1 to 1000, not {given}"));
    assert_eq!(get("?limit=0").await, limit(0));
    assert_eq!(get("?limit=1001").await, limit(1001));
    let (status, answer) = get("?before=-1").await;
    assert_eq!((status, answer["code"].as_str()), (400, Some("BAD_REQUEST")));
    let empty = |last: u64| (200, json!({ "frames": [], "before": null, "last": last }));
    assert_eq!(get("").await, empty(1), "the opening makes no event");
    assert_eq!(get("?before=0").await, empty(1));
    assert_eq!(get(&format!("?before={}", u64::MAX)).await, empty(1));
    let nobody = "019c18a5-1d00-7000-8000-00000000ffff";
    assert_eq!(house.get(&format!("/api/sessions/{nobody}/events")).await, no_session(nobody));
    assert_eq!(house.get("/api/sessions/nonsense/events").await, no_session("nonsense"));
}
