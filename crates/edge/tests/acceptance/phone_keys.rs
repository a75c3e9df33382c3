//! Keys of devices: made once, seen, and gone the moment they are revoked.

use phone::Event;
use serde_json::json;
use testkit::{
    Gate,
    model::{text, wait},
};

use crate::common::{House, Phone, Socket, bad, error, no_session};

#[tokio::test]
async fn a_device_has_a_key_of_its_own_until_it_is_revoked() {
    let gate = Gate::default();
    let mut house = House::new([vec![wait(&gate), text("Late.")], vec![text("Yes.")]]).await;
    let (status, paired) = house.post("/api/keys", json!({ "name": " Anna's phone " })).await;
    assert_eq!(
        (status, &paired["name"], &paired["scope"]),
        (200, &json!("Anna's phone"), &json!("phone"))
    );
    let key = paired["key"].as_str().unwrap().to_owned();
    assert!(
        key.len() == 43 && key.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-".contains(&it))
    );
    let taken = house.post("/api/keys", json!({ "name": "Anna's phone" })).await;
    assert_eq!(taken.0, 409);

    // It opens the phone's doors and no other, also after a restart.
    house.restart().await;
    let mut phone = Phone::new(&house, &key, "anna");
    phone.start().await;
    let other = Phone::open(&house, "other").await;
    assert_eq!(phone.ask("/api/sessions").await.status, 401);
    let (_, listed) = house.get("/api/keys").await;
    assert_eq!(listed["keys"][0]["connected"], true);
    assert!(listed["keys"][0]["lastSeenAt"].is_string() && !listed.to_string().contains(&key));
    phone.say("a", "hello").await;
    phone.say("b", "and more").await;
    gate.reached().await;
    while other.rows("").await.len() < 2 {}

    let revoked = house.delete("/api/keys/Anna's%20phone").await;
    assert_eq!(revoked, (200, json!({ "ok": true })));
    let closed = phone.socket().closed().await.unwrap().unwrap();
    assert_eq!(u16::from(closed.code), 4401);
    assert_eq!(phone.ask("/status").await.status, 401);
    let again = Socket::open(house.address(), &format!("/ws?token={key}"), &[]).await;
    assert_eq!(again.err().map(|(status, _)| status), Some(401));
    // What it said and waited is called off; what was being answered goes on.
    gate.open();
    let mut other = other;
    other
        .until(|event| matches!(event, Event::Complete { content, .. } if content == "Late."))
        .await;
    let rows = other.rows("").await;
    let words: Vec<_> = rows.iter().map(|row| row.content.as_str()).collect();
    assert_eq!(words, ["hello", "and more", "Stopped.", "Late."]);
    let (status, paired) = house.post("/api/keys", json!({ "name": "Anna's phone" })).await;
    assert!(status == 200 && paired["key"] != json!(key));
    assert_eq!(
        house.delete("/api/keys/nobody").await,
        (404, error("NOT_FOUND", "Device not found: nobody"))
    );
}

#[tokio::test]
async fn a_key_may_open_everything_or_one_other_conversation() {
    let house = House::new([vec![text("Here.")]]).await;
    let id = house.session().await;
    let wish = json!({ "name": "tablet", "scope": "everything", "sessionId": id });
    let (_, paired) = house.post("/api/keys", wish).await;
    let key = paired["key"].as_str().unwrap();
    let mut tablet = Phone::new(&house, key, "tablet");
    assert_eq!(tablet.ask("/api/sessions").await.status, 200);
    tablet.start().await;
    tablet.say("a", "where are we?").await;
    tablet.until_idle().await;
    assert_eq!(house.host().roster.all().len(), 1, "no other conversation was made");
    assert_eq!(tablet.rows("").await.len(), 2);

    let (_, paired) = house.post("/api/keys", json!({ "name": "phone" })).await;
    let phone = Phone::new(&house, paired["key"].as_str().unwrap(), "phone");
    assert_eq!(phone.ask(&format!("/messages?chat_id={id}")).await.status, 404);
    for (wish, answer) in [
        (json!({ "name": " " }), bad("name must have 1 to 60 characters, all of them visible")),
        (
            json!({ "name": "x".repeat(61) }),
            bad("name must have 1 to 60 characters, all of them visible"),
        ),
        (json!({ "name": "x", "sessionId": "nowhere" }), no_session("nowhere")),
    ] {
        assert_eq!(house.post("/api/keys", wish).await, answer);
    }
    assert_eq!(house.post("/api/keys", json!({ "name": "x", "scope": "half" })).await.0, 400);
}

#[tokio::test]
async fn wrong_keys_are_refused_and_then_not_even_that() {
    let house = House::new([]).await;
    let stranger = Phone::new(&house, "wrong", "stranger");
    let mut answers = Vec::new();
    for _ in 0..125 {
        answers.push(stranger.ask("/status").await);
    }
    assert!(answers[..120].iter().all(|reply| reply.status == 401));
    let last = answers.last().unwrap();
    let wait: u64 = last.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    let text = format!("too many wrong keys; try again in {wait} seconds");
    assert_eq!(last.json(), (429, error("RATE_LIMITED", &text)));
    // Every door counts, and none says more to whoever guesses.
    let doors = [
        stranger.ask("/api/sessions").await,
        house.ask_without_key("GET", "/login?code=wrong").send().await,
        house.ask_without_key("POST", "/login").body("text/plain", "key=wrong").send().await,
    ];
    for reply in doors {
        assert_eq!((reply.status, reply.header("retry-after").is_some()), (429, true));
    }
    for path in ["/ws?token=wrong", "/caco/ws?token=wrong"] {
        let refusal = Socket::open(house.address(), path, &[]).await.err().unwrap();
        assert_eq!(refusal.0, 429, "{path}");
    }
    // A good key is as good as ever: behind this address may be a proxy.
    assert!(!Phone::new(&house, &house.key(), "good").status().await.busy);
    assert_eq!(house.get("/api/sessions").await.0, 200);
    // Whoever brings no key at all has made no mistake.
    assert_eq!(house.ask_without_key("GET", "/api/sessions").send().await.status, 401);
}
