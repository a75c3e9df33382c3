//! Notifications for a phone with an app of its own: under its key, for what it did not hear.

use jiff::SignedDuration;
use kernel::ports::{Catalog as _, Shelf};
use serde_json::{Value, json};
use testkit::{World, model::text};

use crate::common::{Ask, Browser, House, Phone, bad, error};

const GRACE: SignedDuration = SignedDuration::from_secs(5);
const SUBSCRIPTIONS: &str = "/window/push/subscriptions";

struct Device {
    id: String,
    key: String,
}

impl Device {
    async fn paired(house: &House, name: &str) -> Self {
        let (_, paired) = house.post("/api/keys", json!({ "name": name })).await;
        let said = |field: &str| paired[field].as_str().unwrap().to_owned();
        Self { id: said("id"), key: said("key") }
    }

    fn ask(&self, house: &House, method: &str, path: &str) -> Ask {
        let ask = house.ask_without_key(method, path);
        ask.header("authorization", &format!("Bearer {}", self.key))
    }

    async fn send(&self, house: &House, method: &str, body: &Value) -> (u16, Value) {
        self.ask(house, method, SUBSCRIPTIONS).json(body).send().await.json()
    }
}

async fn noted(house: &House, prefix: &str) -> Vec<Value> {
    let records = house.world.store.list(Shelf::Devices, prefix).await.unwrap();
    records.iter().map(|(_, text)| serde_json::from_str(text).unwrap()).collect()
}

/// Returns once whoever sends notifications has read all of this session.
async fn read(house: &House, session: &str) {
    let id = kernel::update::SessionId::parse(session).unwrap();
    let last = house.host().roster.get(id).unwrap().last.0;
    let seen = |cursor: &Value| cursor.as_u64() >= Some(last);
    while !noted(house, &format!("push/cursor/{session}")).await.iter().any(seen) {
        tokio::task::yield_now().await;
    }
}

async fn settled(house: &House) {
    while !noted(house, "push/owed/").await.is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_phone_is_told_once_of_what_it_did_not_hear_and_of_nothing_else() {
    let world = World::new([]);
    world.model.otherwise(vec![text("Yes.")]);
    let house = House::over(world).await;
    let device = Device::paired(&house, "phone").await;
    let mut phone = Phone::new(&house, &device.key, "phone");
    phone.start().await;
    let session = house.host().roster.all()[0].0.to_string();
    let browser = Browser::new(&house, 1);
    let (status, taken) = device.send(&house, "POST", &browser.wish()).await;
    let (_, listed) = house.get("/api/push").await;
    let shown = &listed["subscriptions"][0];
    assert_eq!((status, &shown["id"], &shown["deviceId"]), (201, &taken["id"], &json!(device.id)));

    // What its app has confirmed is not sent.
    phone.say("a", "are you there?").await;
    phone.until_idle().await;
    read(&house, &session).await;
    let owed = noted(&house, "push/owed/").await;
    let seq = owed[0]["notice"]["seq"].as_u64();
    let place = format!("place/{}/", device.id);
    while noted(&house, &place).await[0]["mark"].as_u64() < seq {
        phone.status().await;
    }
    house.world.clock.advance(GRACE);
    settled(&house).await;
    assert_eq!(house.web.sent(), [] as [&str; 0]);

    // What it did not hear is, once; and nothing of a conversation that its key does not open.
    phone.leave().await;
    house.turn(&session, json!({ "prompt": "and now?" })).await;
    let elsewhere = house.session().await;
    house.turn(&elsewhere, json!({ "prompt": "not for the phone" })).await;
    for session in [&session, &elsewhere] {
        read(&house, session).await;
    }
    house.world.clock.advance(GRACE);
    settled(&house).await;
    let sent = house.web.until_sent(1).await;
    assert_eq!(sent.len(), 1);
    let payload = browser.open(&house, &sent[0]).await;
    assert_eq!((&payload["body"], &payload["sessionId"]), (&json!("Yes."), &json!(session)));

    // A service that knows nothing of it any more ends it.
    browser.answers(&house, 410, &[]);
    house.turn(&session, json!({ "prompt": "once more" })).await;
    read(&house, &session).await;
    house.world.clock.advance(GRACE);
    while !noted(&house, "push/browser/").await.is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_subscription_belongs_to_its_device_and_goes_with_its_key() {
    let mut house = House::new([]).await;
    let (one, other) = (Device::paired(&house, "one").await, Device::paired(&house, "other").await);
    let path = "/window/push/key";
    let key = one.ask(&house, "GET", path).send().await.json();
    assert_eq!(key, (200, json!({ "key": house.get("/api/push").await.1["publicKey"] })));
    for (method, path) in [("GET", path), ("POST", SUBSCRIPTIONS), ("DELETE", SUBSCRIPTIONS)] {
        let reply = house.ask_without_key(method, path).send().await;
        assert_eq!(reply.json(), (401, error("UNAUTHORIZED", "unauthorized")), "{path}");
    }
    let wish = Browser::new(&house, 1).wish();
    let with = |endpoint: &str| {
        let mut wish = wish.clone();
        wish["endpoint"] = json!(endpoint);
        wish
    };
    for (wish, problem) in [
        (with("http://push.example/x"), "endpoint must begin with https://"),
        (with("https://127.0.0.1/x"), "endpoint: 127.0.0.1 is not on the open internet"),
        (with("nowhere"), "endpoint is no address: relative URL without a base"),
    ] {
        assert_eq!(one.send(&house, "POST", &wish).await, bad(problem));
    }
    assert_eq!(one.send(&house, "POST", &json!({ "endpoint": 5 })).await.0, 400);

    for number in 1..=4 {
        let wish = Browser::new(&house, number).wish();
        assert_eq!(one.send(&house, "POST", &wish).await.0, 201);
        assert_eq!(one.send(&house, "POST", &wish).await.0, 201, "the same one again");
    }
    let (status, refused) = one.send(&house, "POST", &Browser::new(&house, 5).wish()).await;
    let text = "this device has 4 subscriptions already; remove one first";
    assert_eq!((status, refused), (409, error("CONFLICT", text)));
    assert_eq!(other.send(&house, "POST", &Browser::new(&house, 5).wish()).await.0, 201);
    let absent = (404, error("NOT_FOUND", "this device has no such subscription"));
    assert_eq!(other.send(&house, "DELETE", &wish).await, absent, "it is another's");
    assert_eq!(one.send(&house, "DELETE", &wish).await, (200, json!({ "ok": true })));
    assert_eq!(one.send(&house, "DELETE", &wish).await, absent);

    house.delete("/api/keys/one").await;
    let owners = async |house: &House| -> Vec<Value> {
        let (_, listed) = house.get("/api/push").await;
        let all = listed["subscriptions"].as_array().unwrap();
        all.iter().map(|it| it["deviceId"].clone()).collect()
    };
    assert_eq!(owners(&house).await, [json!(other.id)]);
    // One that was forgotten halfway is gone after the next start.
    house.world.store.discard(Shelf::Devices, &format!("key/{}", other.id)).await.unwrap();
    house.restart().await;
    assert_eq!(owners(&house).await, [] as [Value; 0]);
}
