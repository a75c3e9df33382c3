//! What is taken as a message and what is not: the order of checks, queues, images, sources, keys.

use jiff::SignedDuration;
use serde_json::{Value, json};
use testkit::{
    Gate,
    model::{text, wait},
};

use crate::common::{House, bad, error, no_session};

const BUSY: &str = "Session is busy processing another message";
const NOBODY: &str = "019c18a5-1d00-7000-8000-00000000ffff";

fn ok(id: &str) -> (u16, Value) {
    (200, json!({ "ok": true, "sessionId": id }))
}

fn rejected(reason: &str) -> (u16, Value) {
    (400, error("AGENT_CALL_REJECTED", &format!("Agent call rejected: {reason}")))
}

/// What was said in a session, in order.
async fn said(house: &House, id: &str) -> Vec<Value> {
    let history = house.history(id).await;
    let said = history.iter().filter(|frame| frame["event"]["type"] == "user.message");
    said.map(|frame| frame["event"]["data"]["content"].clone()).collect()
}

/// Each message breaks one more rule than the one below it, and is told of the first.
#[tokio::test]
async fn messages_are_checked_in_order() {
    let gate = Gate::default();
    let house = House::new([vec![text("a"), wait(&gate)]]).await;
    let (busy, idle) = (house.session().await, house.session().await);
    let (far, near) = (house.session().await, house.session().await);
    house.world.model.otherwise(vec![text("fine")]);
    house.say(&busy, "go").await;
    gate.reached().await;
    for id in [&near, &far] {
        house.turn(id, json!({ "prompt": "go", "correlationId": "deep" })).await;
    }
    let refusal = "Effective call depth 3 exceeds limit (max 2)";
    let bad_image = "data:image/svg+xml;base64,AAAA";
    let agent = |from: &str| {
        json!({
            "prompt": "hi", "source": "agent", "fromSession": from, "correlationId": "deep",
            "imageData": bad_image,
        })
    };
    let without = |mut body: Value, name: &str| {
        body.as_object_mut().unwrap().remove(name);
        body
    };
    let required = "correlationId required for agent-initiated calls";
    let own = "Cannot post to own session";
    let before = house.snapshot(&idle).await;
    for (id, body, answer) in [
        ("nonsense", json!({ "fromSession": "x" }), bad("prompt is required")),
        ("nonsense", json!({ "prompt": "", "fromSession": "x" }), bad("prompt is required")),
        ("nonsense", json!({ "prompt": null, "source": 5 }), bad("prompt is required")),
        (NOBODY, without(agent(NOBODY), "correlationId"), bad(required)),
        (&busy, without(agent(&busy), "correlationId"), bad(required)),
        (&idle, json!({ "prompt": "x", "fromSession": "y", "correlationId": "" }), bad(required)),
        (NOBODY, agent(NOBODY), no_session(NOBODY)),
        ("nonsense", agent("nonsense"), no_session("nonsense")),
        (&busy, agent(&busy), (409, error("SESSION_BUSY", BUSY))),
        (&idle, agent(&idle), bad(own)),
        (&idle, agent(&busy), rejected(refusal)),
        (&idle, without(without(agent(&idle), "source"), "fromSession"), rejected(refusal)),
        (&idle, json!({ "prompt": "hi", "imageData": bad_image }), bad("Invalid image data")),
        (&idle, json!({ "prompt": "hi", "appletSlug": "a/b" }), bad("Invalid slug")),
        (&idle, json!({ "prompt": "hi", "scheduleSlug": "x] " }), bad("Invalid slug")),
    ] {
        assert_eq!(house.message(id, body.clone()).await, answer, "{id} {body}");
    }
    assert_eq!(house.snapshot(&idle).await, before, "nothing was done");
    let body = json!({
        "prompt": "hi", "imageData": "", "source": "agent", "fromSession": "", "appletSlug": "",
        "correlationId": "",
    });
    assert_eq!(house.message(&idle, body).await, ok(&idle), "what is empty is not said");
}

#[tokio::test]
async fn of_two_messages_at_once_one_is_taken() {
    for _ in 0..20 {
        let gate = Gate::default();
        let mut house = House::new([vec![text("a"), wait(&gate)]]).await;
        let id = house.session().await;
        // Not in memory, which is where the original took both.
        house.restart().await;
        let post = || house.message(&id, json!({ "prompt": "go" }));
        let (one, other) = futures::future::join(post(), post()).await;
        let mut answers = [one, other];
        answers.sort_by_key(|(status, _)| *status);
        assert_eq!(answers, [ok(&id), (409, error("SESSION_BUSY", BUSY))]);
    }
}

#[tokio::test]
async fn queued_messages_are_answered_in_order() {
    let gate = Gate::default();
    let house = House::new([vec![wait(&gate), text("first")]]).await;
    house.world.model.otherwise(vec![text("next")]);
    let id = house.session().await;
    let mut socket = house.listener(&id).await;
    let queue = |prompt: &str| house.message(&id, json!({ "prompt": prompt, "queue": true }));
    assert_eq!(queue("one").await, ok(&id), "where nobody waits it changes nothing");
    gate.reached().await;
    for (position, prompt) in [(1, "two"), (2, "three")] {
        let answer = json!({ "ok": true, "sessionId": id, "queued": true, "position": position });
        assert_eq!(queue(prompt).await, (200, answer));
    }
    assert_eq!(said(&house, &id).await, ["one"], "a message appears when its turn begins");
    gate.open();
    for _ in 0..3 {
        socket.turn().await;
    }
    assert_eq!(said(&house, &id).await, ["one", "two", "three"]);
}

#[tokio::test]
async fn queued_messages_survive_a_kill() {
    let gate = Gate::default();
    let mut house = House::new([vec![text("half "), wait(&gate)]]).await;
    house.world.model.otherwise(vec![text("next")]);
    let id = house.session().await;
    house.say(&id, "one").await;
    gate.reached().await;
    for prompt in ["two", "three"] {
        house.message(&id, json!({ "prompt": prompt, "queue": true })).await;
    }
    house.restart().await;
    let mut socket = house.socket().await;
    socket.subscribe_with(&id, json!({ "after": 0 })).await;
    let idle = |frame: &Value| frame["event"]["type"] == "session.idle";
    while said(&house, &id).await.len() < 3 {
        socket.until(idle).await;
    }
    assert_eq!(said(&house, &id).await, ["one", "two", "three"]);
}

#[tokio::test]
async fn at_most_a_hundred_messages_wait() {
    let gate = Gate::default();
    let house = House::new([vec![wait(&gate)]]).await;
    let id = house.session().await;
    house.say(&id, "go").await;
    for _ in 0..100 {
        let answer = house.message(&id, json!({ "prompt": "more", "queue": true })).await;
        assert_eq!(answer.0, 200);
    }
    let answer = house.message(&id, json!({ "prompt": "more", "queue": true })).await;
    assert_eq!(answer, (409, error("SESSION_BUSY", "100 messages are waiting already")));
}

#[tokio::test]
async fn an_image_becomes_an_attachment() {
    let house = House::new([vec![text("nice")], vec![text("large")]]).await;
    let id = house.session().await;
    let body = json!({ "prompt": "look", "imageData": "data:image/png;base64,aGVsbG8=" });
    let heard = house.turn(&id, body).await;
    let data = &heard[1]["event"]["data"];
    let path = data["attachments"][0]["path"].as_str().unwrap();
    let attachment = json!({
        "type": "file", "path": path, "displayName": "image.png", "mimeType": "image/png",
        "url": format!("/api/sessions/{id}/pictures/2/0"),
    });
    assert_eq!(*data, json!({ "content": "look", "attachments": [attachment] }));
    assert_eq!(house.world.store.file(path.as_ref()).unwrap(), b"hello");
    assert_eq!(house.history(&id).await[0]["event"]["data"], *data);

    // Five megabytes of image are seven of text.
    let image = format!("data:image/jpeg;base64,{}", "AAAA".repeat(5 * 1024 * 1024 / 3));
    let heard = house.turn(&id, json!({ "prompt": "large", "imageData": image })).await;
    let path = heard[1]["event"]["data"]["attachments"][0]["path"].as_str().unwrap();
    assert_eq!(house.world.store.file(path.as_ref()).unwrap().len(), 5 * 1024 * 1024 / 3 * 3);

    let before = house.snapshot(&id).await;
    let image = format!("data:image/png;base64,{}", "A".repeat(17 * 1024 * 1024));
    let answer = house.message(&id, json!({ "prompt": "huge", "imageData": image })).await;
    assert_eq!(answer, (413, error("PAYLOAD_TOO_LARGE", "Request body too large")));
    for image in
        ["nonsense", "data:image/png;base64,", "data:image/png;base64,!", "data:text/x;base64,AAAA"]
    {
        let body = json!({ "prompt": "look", "imageData": image });
        assert_eq!(house.message(&id, body).await, bad("Invalid image data"), "{image}");
    }
    assert_eq!(house.snapshot(&id).await, before, "nothing was done");
    house.delete(&format!("/api/sessions/{id}")).await;
    assert_eq!(house.world.store.file(path.as_ref()), None, "it goes with its session");
}

#[tokio::test]
async fn a_message_tells_its_source_beside_its_words() {
    let mut house = House::new([]).await;
    house.world.model.otherwise(vec![text("fine")]);
    let id = house.session().await;
    let sources = [
        json!({ "source": "applet", "appletSlug": "calc" }),
        json!({ "source": "agent", "fromSession": NOBODY }),
        json!({ "source": "scheduler", "scheduleSlug": "daily" }),
    ];
    let marks = ["[applet:calc] ", &format!("[agent:{NOBODY}] "), "[scheduler:daily] "];
    let with = |more: &Value, rest: Value| {
        let mut body = rest;
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for restarted in [false, true] {
        for (source, mark) in sources.iter().zip(marks) {
            if restarted {
                // The first message after a restart is where the original lost them.
                house.restart().await;
            }
            let post = json!({ "prompt": "hi", "correlationId": format!("{mark}{restarted}") });
            let heard = house.turn(&id, with(source, post)).await;
            let data = with(source, json!({ "content": "hi", "attachments": [] }));
            assert_eq!(heard[1]["event"]["data"], data);
            let history = house.history(&id).await;
            assert!(history.contains(&heard[1]), "history tells what was heard");
            let shown = format!("{:?}", house.world.model.prompts().last().unwrap().parts);
            assert!(shown.contains(&format!("{mark}hi")), "the model is told who speaks");
        }
    }
    for source in ["applet", "agent", "scheduler", "user"] {
        let heard = house.turn(&id, json!({ "prompt": "hi", "source": source })).await;
        let plain = json!({ "content": "hi", "attachments": [] });
        assert_eq!(heard[1]["event"]["data"], plain, "nobody's name is the person");
    }
}

#[tokio::test]
async fn a_message_sent_twice_under_one_key_is_said_once() {
    let gate = Gate::default();
    let house = House::new([vec![text("a"), wait(&gate)]]).await;
    house.world.model.otherwise(vec![text("next")]);
    let id = house.session().await;
    let path = format!("/api/sessions/{id}/messages");
    let post = |key: &str, body: Value| {
        house.ask("POST", &path).header("idempotency-key", key).json(&body).send()
    };
    let hi = json!({ "prompt": "hi" });
    assert_eq!(post("k1", hi.clone()).await.json(), ok(&id));
    gate.reached().await;
    assert_eq!(post("k1", hi.clone()).await.json(), ok(&id), "also while busy");
    let text = "Idempotency-Key was used for another message";
    let other = post("k1", json!({ "prompt": "ho" })).await.json();
    assert_eq!(other, (422, error("IDEMPOTENCY_KEY_REUSED", text)));
    assert_eq!(post("k2", hi.clone()).await.json(), (409, error("SESSION_BUSY", BUSY)));
    let queued = json!({ "prompt": "later", "queue": true });
    for (key, position) in [("k3", 1), ("k4", 2), ("k4", 2), ("k3", 1)] {
        let answer = json!({ "ok": true, "sessionId": id, "queued": true, "position": position });
        assert_eq!(post(key, queued.clone()).await.json(), (200, answer), "{key}");
    }
    for key in ["", &"x".repeat(256)] {
        let text = "Idempotency-Key must be 1 to 255 characters of plain ASCII";
        assert_eq!(post(key, hi.clone()).await.json(), bad(text));
    }
    let mut socket = house.listener(&id).await;
    gate.open();
    for _ in 0..3 {
        socket.turn().await;
    }
    assert_eq!(post("k1", hi).await.json(), ok(&id), "and when all is over");
    assert_eq!(said(&house, &id).await, ["hi", "later", "later"]);
}

#[tokio::test]
async fn a_key_is_remembered_over_a_kill() {
    let mut house = House::new([vec![text("a")]]).await;
    let id = house.session().await;
    let path = format!("/api/sessions/{id}/messages");
    for _ in 0..2 {
        let ask = house.ask("POST", &path).header("idempotency-key", "k");
        let answer = ask.json(&json!({ "prompt": "hi" })).send().await;
        assert_eq!(answer.json(), ok(&id));
        house.restart().await;
    }
    assert_eq!(said(&house, &id).await, ["hi"]);
}

#[tokio::test]
async fn agents_may_call_and_reply_but_not_go_deeper() {
    let house = House::new([]).await;
    house.world.model.otherwise(vec![text("fine")]);
    let (a, b, c) = (house.session().await, house.session().await, house.session().await);
    let call = |to: &str, from: &str| {
        let body = json!({
            "prompt": "hi", "source": "agent", "fromSession": from, "correlationId": "flow",
        });
        let (house, to) = (&house, to.to_owned());
        async move { house.message(&to, body).await }
    };
    house.turn(&a, json!({ "prompt": "start", "correlationId": "flow" })).await;
    let mut listener = house.listener(&b).await;
    assert_eq!(call(&b, &a).await, ok(&b));
    listener.turn().await;
    let deep = rejected("Effective call depth 3 exceeds limit (max 2)");
    assert_eq!(call(&c, &b).await, deep);
    let mut listener = house.listener(&a).await;
    assert_eq!(call(&a, &b).await, ok(&a), "a reply leads back");
    listener.turn().await;
    assert_eq!(call(&c, &a).await, ok(&c), "and from there it may go on");
}

#[tokio::test]
async fn the_eleventh_call_in_a_minute_waits_for_the_next() {
    let house = House::new([]).await;
    house.world.model.otherwise(vec![text("fine")]);
    let id = house.session().await;
    let body = json!({ "prompt": "hi", "correlationId": "flow" });
    let (missing, busy) = ("nonsense", Gate::default());
    for _ in 0..10 {
        assert_eq!(house.message(missing, body.clone()).await.0, 404, "does not count");
        house.turn(&id, body.clone()).await;
        house.world.clock.advance(SignedDuration::from_secs(5));
    }
    let limit = rejected("Rate limit exceeded: 10 calls per 60s");
    assert_eq!(house.message(&id, body.clone()).await, limit);
    let other = json!({ "prompt": "hi", "correlationId": "another" });
    house.turn(&id, other).await;
    house.turn(&id, json!({ "prompt": "hi" })).await;
    house.world.clock.advance(SignedDuration::from_secs(10));
    house.turn(&id, body.clone()).await;
    assert_eq!(house.message(&id, body.clone()).await, limit, "one has left the window, one came");
    house.world.clock.advance(SignedDuration::from_secs(60));
    house.world.model.push(vec![wait(&busy)]);
    assert_eq!(house.message(&id, body).await, ok(&id));
}
