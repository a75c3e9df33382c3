//! Keys of devices: made once, seen, and gone the moment they are revoked.

use phone::Event;
use serde_json::json;
use testkit::{
    Gate,
    model::{hang, text, wait},
};

use crate::common::{Ask, House, Phone, Socket, bad, error, no_session};

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

#[tokio::test]
async fn a_revoked_device_is_shut_out_of_every_door_at_once_and_no_other_is() {
    let house = House::new([vec![text("well"), hang()]]).await;
    let wish = json!({ "name": "tablet", "scope": "everything" });
    let (_, paired) = house.post("/api/keys", wish).await;
    let key = paired["key"].as_str().unwrap().to_owned();
    let bearer = format!("Bearer {key}");
    let ask = |method: &str, path: &str| {
        house.ask_without_key(method, path).header("authorization", &bearer)
    };
    let mut other = Phone::open(&house, "other").await;

    // Everything that a device can have open.
    let token = async || {
        let (status, issued) =
            ask("POST", "/api/socket-token").json(&json!({})).send().await.json();
        assert_eq!(status, 200, "{issued}");
        format!("/caco/ws?token={}", issued["token"].as_str().unwrap())
    };
    let (used, unused) = (token().await, token().await);
    let by_key = [("authorization", bearer.clone())];
    let mut sockets = Vec::new();
    for path in [
        format!("/ws?token={key}"),
        format!("/ws?token={key}&v=2"),
        "/window/ws".to_owned(),
        "/ws".to_owned(),
        "/apps/ws".to_owned(),
        used,
    ] {
        let headers = if path.contains('?') { &[][..] } else { &by_key[..] };
        sockets.push((Socket::open(house.address(), &path, headers).await.unwrap(), path));
    }
    let login = house.ask_without_key("POST", "/login");
    let login = login.body("application/x-www-form-urlencoded", format!("key={key}")).send().await;
    let cookie = login.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let by_cookie = [("cookie", cookie.clone())];
    let page = Socket::open(house.address(), "/ws", &by_cookie).await.unwrap();
    sockets.push((page, "the page".to_owned()));
    let frame = json!({ "kind": "app", "id": "demo" });
    let (_, frame) = ask("POST", "/api/frames").json(&frame).send().await.json();
    let ticket = frame["url"].as_str().unwrap();
    let ticket = ticket.strip_prefix(&format!("http://{}", house.sandbox())).unwrap().to_owned();
    let look = || Ask::new(house.sandbox(), "GET", &ticket).send();
    assert_eq!(look().await.status, 200);
    let asked = json!({ "model": "test", "stream": true,
        "messages": [{ "role": "user", "content": "hi" }] });
    let stream = tokio::spawn(ask("POST", "/v1/chat/completions").json(&asked).send());
    while house.world.model.speaking() == 0 {
        tokio::task::yield_now().await;
    }
    // A second device whose status is kept waiting for its lost socket.
    let (_, lost) = house.post("/api/keys", json!({ "name": "lost" })).await;
    let mut lost = Phone::new(&house, lost["key"].as_str().unwrap(), "lost");
    lost.start().await;
    lost.cut();
    while house.get("/api/keys").await.1["keys"][1]["connected"] == true {
        tokio::task::yield_now().await;
    }
    let held = tokio::spawn(lost.ask("/status"));

    for name in ["lost", "tablet"] {
        assert_eq!(house.delete(&format!("/api/keys/{name}")).await.0, 200);
    }
    for (mut socket, path) in sockets {
        let closed = socket.closed().await.unwrap().unwrap();
        assert_eq!(
            (u16::from(closed.code), &*closed.reason),
            (4401, "the key was revoked"),
            "{path}"
        );
    }
    assert_eq!(held.await.unwrap().status, 401);
    assert_eq!(look().await.status, 404, "what it showed in a frame");
    let cut_off = stream.await.unwrap();
    assert!(!cut_off.text().contains("[DONE]"), "{}", cut_off.text());
    house.world.model.silent().await;

    nothing_opens(&house, &bearer, &cookie, unused).await;
    house.world.model.push(vec![text("Still here.")]);
    other.say("a", "are you there?").await;
    other.until_idle().await;
    assert_eq!(other.words(), ["are you there?", "Still here."]);
}

/// Neither a key nor what was given for it opens anything any more.
async fn nothing_opens(house: &House, bearer: &str, cookie: &str, unused: String) {
    let key = bearer.strip_prefix("Bearer ").unwrap();
    let ask = |method: &str, path: &str| {
        house.ask_without_key(method, path).header("authorization", bearer)
    };
    let by_key = [("authorization", bearer.to_owned())];
    let by_cookie = [("cookie", cookie.to_owned())];
    for (method, path) in [
        ("GET", "/status"),
        ("GET", "/messages"),
        ("GET", "/window/status"),
        ("GET", "/window/messages"),
        ("POST", "/window/attachments"),
        ("GET", "/window/push/key"),
        ("POST", "/window/push/subscriptions"),
        ("GET", "/api/sessions"),
        ("POST", "/api/frames"),
        ("GET", "/api/push"),
        ("GET", "/v1/models"),
        ("POST", "/mcp"),
        ("GET", "/metrics"),
    ] {
        assert_eq!(ask(method, path).json(&json!({})).send().await.status, 401, "{path}");
    }
    for (path, headers) in [
        (format!("/ws?token={key}"), &[][..]),
        (format!("/window/ws?token={key}"), &[][..]),
        (unused, &[][..]),
        ("/window/ws".to_owned(), &by_key[..]),
        ("/ws".to_owned(), &by_key[..]),
        ("/caco/ws".to_owned(), &by_key[..]),
        ("/apps/ws".to_owned(), &by_key[..]),
        ("/ws".to_owned(), &by_cookie[..]),
    ] {
        let refused = Socket::open(house.address(), &path, headers).await.err();
        assert_eq!(refused.map(|(status, _)| status), Some(401), "{path}");
    }
}
