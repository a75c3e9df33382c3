//! The phone's doors: who gets in, how paths may be written, and what hostile callers get.

use phone::Event;
use serde_json::{Value, json};
use testkit::{World, model::text};
use tokio_tungstenite::tungstenite::Message;

use crate::common::{Ask, House, Phone, Socket, error};

fn unauthorized() -> (u16, Value) {
    (401, error("UNAUTHORIZED", "unauthorized"))
}

async fn refused(house: &House, path: &str) -> (u16, Value) {
    match Socket::open(house.address(), path, &[]).await {
        Ok(_) => panic!("{path} was let in"),
        Err(refusal) => refusal,
    }
}

#[tokio::test]
async fn a_key_and_nothing_else_opens_the_doors() {
    let house = House::new([]).await;
    let key = house.key();
    for path in
        ["/status", "//status", "/messages", "//messages", "/window/status", "/window//messages"]
    {
        assert_eq!(
            house.ask_without_key("GET", path).send().await.json(),
            unauthorized(),
            "{path}"
        );
        let with_token = format!("{path}?token={key}");
        let reply = house.ask_without_key("GET", &with_token).send().await;
        assert_eq!(reply.json(), unauthorized(), "{path}");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        let reply = house.ask("GET", path).send().await;
        assert_eq!(
            (reply.status, reply.header("cache-control")),
            (200, Some("no-store")),
            "{path}"
        );
        assert_eq!(house.ask("HEAD", path).send().await.status, 200, "{path}");
        let reply = house.ask("POST", path).send().await;
        assert_eq!((reply.status, reply.header("allow")), (405, Some("GET,HEAD")), "{path}");
    }
    // A phone calls by whatever name the machine has in its network.
    let by_name = Ask::new(house.address(), "GET", "/status").header("host", "hall.lan:53000");
    let by_name = by_name.header("authorization", &format!("bearer  {key} "));
    assert_eq!(by_name.send().await.status, 200);

    let half = &key[..20];
    for path in ["/ws?token=", &format!("/ws?token={half}"), &format!("/ws?token={key}%20x")] {
        assert_eq!(refused(&house, path).await, unauthorized(), "{path}");
    }
    let coded = key.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat();
    for path in [
        format!("/ws?token={key}"),
        format!("//ws?token={key}"),
        format!("/window/ws?token={key}"),
        format!("/window//ws?token={coded}"),
        format!("/ws?chat_id=ios-default&token={key}"),
    ] {
        let mut socket = Socket::open(house.address(), &path, &[]).await.unwrap();
        assert_eq!(socket.next().await["type"], "connected", "{path}");
    }
    let headers = [("authorization", house.bearer())];
    let mut socket = Socket::open(house.address(), "/window/ws", &headers).await.unwrap();
    assert_eq!(socket.next().await["type"], "connected");
    // Without a token it is the browser's socket, which says nothing by itself.
    let mut socket = house.socket().await;
    assert!(socket.waiting().await.is_empty());
    let upgrade = house.ask_without_key("GET", &format!("/ws?token={key}")).send().await;
    assert_eq!(upgrade.status, 426);
    let other = format!("/messages?chat_id={}", uuid::Uuid::nil());
    assert_eq!(house.get(&other).await.0, 404);
}

#[tokio::test]
async fn all_phones_share_one_conversation_which_the_browser_sees() {
    let house = House::new([]).await;
    assert_eq!(house.host().roster.len(), 0);
    Phone::open(&house, "one").await;
    Phone::open(&house, "two").await;
    let all = house.host().roster.all();
    assert_eq!((all.len(), all[0].1.name.as_str()), (1, "phone"));
    // Deleted, it is made anew.
    house.delete(&format!("/api/sessions/{}", all[0].0)).await;
    Phone::open(&house, "three").await;
    let anew = house.host().roster.all();
    assert!(anew.len() == 1 && anew[0].0 != all[0].0);
}

#[tokio::test]
async fn pages_may_be_asked_for_in_many_ways() {
    let world = World::new([]);
    world.model.otherwise(vec![text("Yes.")]);
    let house = House::over(world).await;
    let mut phone = Phone::open(&house, "pages").await;
    for number in 0..3 {
        phone.say(&number.to_string(), &format!("question {number}")).await;
        phone.until_idle().await;
        house.world.clock.advance(jiff::SignedDuration::from_secs(10));
    }
    let all = phone.rows("").await;
    assert_eq!(all.len(), 6);
    for (query, rows) in [
        ("?limit=200", &all[..]),
        ("?limit=abc", &all[..]),
        ("?limit=9999999999999999999999", &all[..]),
        ("?limit=0", &all[4..]),
        ("?limit=-1", &all[4..]),
        ("?limit=3", &all[2..]),
        ("?before=2026-02-01T10:00:20Z", &all[..4]),
        ("?before=2026-02-01T11:00:20%2B01:00", &all[..4]),
        ("?before=2026-02-01T11:00:20+01:00", &all[..4]),
        ("?before=2026-02-01T10:00:19.5Z", &all[..4]),
        ("?before=2026-02-01T10:00:20Z&limit=1", &all[2..4]),
        ("?before=2999-01-01T00:00:00Z", &all[..]),
        ("?before=1999-01-01T00:00:00Z", &[][..]),
    ] {
        assert_eq!(phone.rows(query).await, rows, "{query}");
    }
    let reply = phone.ask("/messages?before=yesterday").await;
    let text = "before must be a time such as 2026-02-07T10:30:00Z";
    assert_eq!(reply.json(), (400, error("BAD_REQUEST", text)));
}

#[tokio::test]
async fn hostile_frames_are_answered_and_hurt_nobody() {
    let house = House::new([vec![text("Still here.")]]).await;
    let mut good = Phone::open(&house, "good").await;
    let mut bad = Phone::open(&house, "bad").await;
    let deep = "[".repeat(10_000);
    for (frame, code) in [
        ("[]", "bad_frame"),
        ("null", "bad_frame"),
        ("{", "bad_json"),
        (deep.as_str(), "bad_json"),
        (r#"{"type":"dance"}"#, "unknown_type"),
        (r#"{"type":"message.send","content":"  "}"#, "empty"),
    ] {
        bad.socket().send_raw(Message::text(frame.to_owned())).await;
        let answer = bad.socket().next().await;
        assert_eq!(
            (&answer["type"], &answer["code"]),
            (&json!("error"), &json!(code)),
            "{frame:.40}"
        );
        assert!(answer.get("reply_to").is_none());
    }
    bad.socket().send_raw(Message::binary(vec![0xff, 0xfe])).await;
    assert_eq!(bad.socket().next().await["code"], "bad_json");
    // The app shows no errors, so it is given words that it does show.
    bad.send(json!({ "type": "message.send", "id": "x", "content": 5 })).await;
    assert_eq!(bad.socket().next().await["reply_to"], "x");
    let note = bad.next().await;
    let shown = "Not accepted: content must be a string";
    assert!(matches!(&note, Event::Complete { content, .. } if content == shown), "{note:?}");
    for _ in 0..13 {
        bad.socket().send_raw(Message::text("1")).await;
    }
    let closed = bad.socket().closed().await.unwrap().unwrap();
    assert_eq!(u16::from(closed.code), 1008);
    bad.connect().await;
    bad.socket().send_raw(Message::text("x".repeat((1 << 20) + 1))).await;
    let closed = bad.socket().closed().await.unwrap().unwrap();
    assert_eq!(u16::from(closed.code), 1009);
    good.say("a", "are you there?").await;
    good.until_idle().await;
    assert_eq!(good.words(), ["are you there?", "Still here."]);
}

#[tokio::test]
async fn a_flood_is_refused_in_words_and_others_are_served() {
    let world = World::new([]);
    world.model.otherwise(vec![text("Yes.")]);
    let house = House::over(world).await;
    let mut flood = Phone::open(&house, "flood").await;
    for number in 0..40 {
        let (id, content) = (number.to_string(), "again");
        flood.send(json!({ "type": "message.send", "id": id, "content": content })).await;
    }
    let is_refusal = |event: &Event| match event {
        Event::Complete { content, .. } => content.starts_with("Not accepted: too many messages"),
        _ => false,
    };
    flood.until(is_refusal).await;
    let mut calm = Phone::open(&house, "calm").await;
    calm.say("c", "and me?").await;
    let answered =
        |event: &Event| matches!(event, Event::Complete { reply_to, .. } if reply_to == "c");
    calm.until(answered).await;
    flood.leave().await;
    for _ in 0..40 {
        flood.status().await;
    }
    let mut pages = Vec::new();
    for _ in 0..40 {
        pages.push(flood.ask("/messages").await.status);
    }
    assert!(pages.iter().all(|status| matches!(status, 200 | 429)), "{pages:?}");
}
