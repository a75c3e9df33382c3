//! Notifications: who is told of what, that it gets there once, and that nobody else can read it.

use jiff::SignedDuration;
use kernel::{
    ports::{Catalog as _, Shelf},
    toolbox::Risk,
    update::SessionId,
    web::WebRequest,
};
use serde_json::{Value, json};
use testkit::{
    Gate, TestTool, World,
    model::{call, text, wait},
};

use crate::common::{Browser, House, bad, error, header};

const GRACE: SignedDuration = SignedDuration::from_secs(5);

async fn house(answers: &[&str]) -> House {
    House::new(answers.iter().map(|it| vec![text(it)])).await
}

fn everything() -> Value {
    json!({ "answers": true })
}

/// What is noted under names that begin so.
async fn noted(house: &House, prefix: &str) -> Vec<(String, String)> {
    house.world.store.list(Shelf::Devices, prefix).await.unwrap()
}

/// Returns once the end of this session's last turn was seen by whoever sends notifications.
async fn read(house: &House, id: &str) {
    let session = SessionId::parse(id).unwrap();
    let last = house.host().roster.get(session).unwrap().last;
    loop {
        let cursors = noted(house, &format!("push/cursor/{id}")).await;
        if cursors.iter().any(|(_, seq)| seq.parse::<u64>().unwrap() >= last.0) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// Returns once nothing is owed any more.
async fn settled(house: &House) {
    while !noted(house, "push/owed/").await.is_empty() {
        tokio::task::yield_now().await;
    }
}

async fn told(house: &House, browser: &Browser, requests: &[WebRequest]) -> Vec<String> {
    let mut told = Vec::new();
    for request in requests {
        told.push(browser.open(house, request).await["body"].as_str().unwrap().to_owned());
    }
    told
}

#[tokio::test]
async fn a_browser_is_told_of_an_answer_that_nobody_saw() {
    let house = house(&["It is **four**\nin all."]).await;
    let browser = Browser::new(&house, 1);
    let subscribed = browser.subscribe(&house, everything()).await;
    let id = house.session().await;
    house.patch(&format!("/api/sessions/{id}"), json!({ "name": "Sums" })).await;
    house.turn(&id, json!({ "prompt": "2+2" })).await;
    house.world.clock.advance(GRACE);
    let sent = house.web.until_sent(1).await;
    let payload = browser.open(&house, &sent[0]).await;
    let expected = json!({
        "title": "Sums", "body": "It is **four** in all.", "kind": "answer", "sessionId": id,
        "seq": payload["seq"],
    });
    assert_eq!(payload, expected);
    assert_eq!(
        ["ttl", "urgency"].map(|name| header(&sent[0], name)),
        [(24 * 60 * 60 - 5).to_string(), "low".to_owned()]
    );
    let topic = header(&sent[0], "topic");
    assert!(topic.len() <= 32 && !topic.contains(&id), "{topic}");

    settled(&house).await;
    let (_, listed) = loop {
        let listed = house.get("/api/push").await;
        if !listed.1["subscriptions"][0]["lastSuccessAt"].is_null() {
            break listed;
        }
    };
    let shown = &listed["subscriptions"][0];
    assert_eq!(
        (&shown["id"], &shown["service"], &shown["lastSuccessAt"], &shown["lastError"]),
        (
            &subscribed["id"],
            &json!("push.example"),
            &json!("2026-02-01T10:00:05.000Z"),
            &Value::Null
        )
    );
    let wish = browser.wish();
    for secret in [&wish["endpoint"], &wish["keys"]["auth"], &wish["keys"]["p256dh"]] {
        assert!(!listed.to_string().contains(secret.as_str().unwrap()));
    }
}

#[tokio::test]
async fn what_a_page_in_front_has_shown_is_not_sent() {
    let house = house(&["one", "two"]).await;
    let browser = Browser::new(&house, 1);
    browser.subscribe(&house, everything()).await;
    let (seen, unseen) = (house.session().await, house.session().await);
    for id in [&seen, &unseen] {
        house.turn(id, json!({ "prompt": "go" })).await;
        read(&house, id).await;
    }
    assert_eq!(noted(&house, "push/owed/").await.len(), 2);
    house.post(&format!("/api/sessions/{seen}/observe"), json!({})).await;
    house.world.clock.advance(GRACE);
    settled(&house).await;
    let sent = house.web.until_sent(1).await;
    assert_eq!(told(&house, &browser, &sent).await, ["two"]);
}

#[tokio::test]
async fn a_device_chooses_what_it_is_told() {
    let gate = Gate::default();
    let scripts = [vec![text("short")], vec![wait(&gate), text("long")], vec![text("unasked")]];
    let house = House::new(scripts).await;
    let (all, tasks, none) =
        (Browser::new(&house, 1), Browser::new(&house, 2), Browser::new(&house, 3));
    all.subscribe(&house, json!({ "hideContent": true })).await;
    tasks.subscribe(&house, json!({ "messages": false, "questions": false })).await;
    none.subscribe(&house, json!({ "tasks": false, "messages": false })).await;
    let ids = [house.session().await, house.session().await, house.session().await];
    house.turn(&ids[0], json!({ "prompt": "quick" })).await;
    house.say(&ids[1], "slow").await;
    gate.reached().await;
    house.world.clock.advance(SignedDuration::from_secs(30));
    let mut socket = house.listener(&ids[1]).await;
    gate.open();
    socket.turn().await;
    house.turn(&ids[2], json!({ "prompt": "x", "appletSlug": "a", "source": "applet" })).await;
    for id in &ids {
        read(&house, id).await;
    }
    house.world.clock.advance(GRACE);
    settled(&house).await;
    let sent = house.web.until_sent(3).await;
    let of = |browser: &Browser| {
        sent.iter().filter(|it| it.url == browser.endpoint).cloned().collect::<Vec<_>>()
    };
    let mut hidden = told(&house, &all, &of(&all)).await;
    hidden.sort();
    assert_eq!(hidden, ["A task has ended.", "There is a message for you."]);
    assert_eq!(told(&house, &tasks, &of(&tasks)).await, ["long"]);
    assert_eq!(of(&none), []);
}

#[tokio::test]
async fn a_question_is_told_of_while_it_waits() {
    let tool = TestTool::echo().named("act").risky(Risk::Acts);
    let scripts = [vec![call("c", "act", json!({ "on": "a" }))], vec![text("Done")]];
    let house = House::over(World::new(scripts).tool(&tool)).await;
    let browser = Browser::new(&house, 1);
    browser.subscribe(&house, json!({ "tasks": false })).await;
    let id = house.session().await;
    let mut socket = house.listener(&id).await;
    house.say(&id, "act").await;
    let heard = socket.until_event("permission.requested").await;
    let approval = heard.last().unwrap()["event"]["data"]["approval"]["id"].clone();
    house.world.clock.advance(GRACE);
    let sent = house.web.until_sent(1).await;
    assert_eq!(told(&house, &browser, &sent).await, [r#"May I? Running act {"on":"a"}"#]);
    assert_eq!(header(&sent[0], "urgency"), "high");
    let path = format!("/api/approvals/{}", approval.as_str().unwrap());
    house.post(&path, json!({ "decision": "once" })).await;
    socket.turn().await;
    read(&house, &id).await;
    settled(&house).await;
    assert_eq!(house.web.sent().len(), 1);
}

#[tokio::test]
async fn a_browser_that_is_gone_is_forgotten() {
    let house = house(&["one"]).await;
    let browser = Browser::new(&house, 1);
    browser.answers(&house, 410, &[]);
    browser.subscribe(&house, everything()).await;
    let mut socket = house.socket().await;
    let id = house.session().await;
    house.turn(&id, json!({ "prompt": "go" })).await;
    house.world.clock.advance(GRACE);
    let is_news = |frame: &Value| frame["event"]["type"] == "devices.changed";
    while !house.get("/api/push").await.1["subscriptions"].as_array().unwrap().is_empty() {
        socket.until(is_news).await;
    }
    settled(&house).await;
    assert_eq!(noted(&house, "push/browser/").await, []);
}

#[tokio::test]
async fn a_service_that_is_busy_is_asked_again_later() {
    let house = house(&["one"]).await;
    let browser = Browser::new(&house, 1);
    browser.answers(&house, 429, &[("retry-after", "120")]);
    browser.subscribe(&house, everything()).await;
    let id = house.session().await;
    house.turn(&id, json!({ "prompt": "go" })).await;
    let begun = house.now();
    let due = async |count: usize| loop {
        let owed = noted(&house, "push/owed/").await;
        let owed: Vec<Value> =
            owed.iter().map(|(_, it)| serde_json::from_str(it).unwrap()).collect();
        if let Some(owed) = owed.iter().find(|it| it["attempts"] == count) {
            let due: jiff::Timestamp = owed["due"].as_str().unwrap().parse().unwrap();
            return due.duration_since(begun).as_secs();
        }
        tokio::task::yield_now().await;
    };
    house.world.clock.advance(GRACE);
    assert_eq!(due(1).await, 5 + 120, "as long as it was asked to");
    browser.answers(&house, 503, &[]);
    house.world.clock.advance(SignedDuration::from_secs(120));
    assert_eq!(due(2).await, 125 + 30, "longer each time");
    browser.answers(&house, 201, &[]);
    house.world.clock.advance(SignedDuration::from_secs(30));
    settled(&house).await;
    let sent = house.web.until_sent(3).await;
    assert_eq!(told(&house, &browser, &sent).await, ["one", "one", "one"]);
}

#[tokio::test]
async fn quiet_hours_hold_messages_back() {
    let house = house(&["first", "second"]).await;
    let browser = Browser::new(&house, 1);
    let mut settings = everything();
    settings["quiet"] = json!({ "from": "11:00", "to": "12:30" });
    settings["timeZone"] = json!("Europe/Berlin");
    browser.subscribe(&house, settings).await;
    let id = house.session().await;
    for prompt in ["one", "two"] {
        house.turn(&id, json!({ "prompt": prompt })).await;
        read(&house, &id).await;
        house.world.clock.advance(SignedDuration::from_mins(30));
    }
    assert_eq!(noted(&house, "push/owed/").await.len(), 1, "the newest of a session");
    assert_eq!(house.web.sent(), [] as [&str; 0]);
    house.world.clock.advance(SignedDuration::from_mins(30));
    settled(&house).await;
    let sent = house.web.until_sent(1).await;
    assert_eq!(told(&house, &browser, &sent).await, ["second"]);
}

#[tokio::test]
async fn what_is_owed_at_a_crash_is_sent_afterwards_and_once() {
    let mut house = house(&["one", "two", "three"]).await;
    let browser = Browser::new(&house, 1);
    browser.subscribe(&house, everything()).await;
    let id = house.session().await;
    // Killed before its time has come.
    house.turn(&id, json!({ "prompt": "go" })).await;
    read(&house, &id).await;
    house.kill().await;
    house.world.clock.advance(GRACE);
    house.start().await;
    house.web.until_sent(1).await;
    settled(&house).await;
    // Killed while it is on its way.
    house.web.hang(&browser.endpoint);
    house.turn(&id, json!({ "prompt": "go on" })).await;
    house.world.clock.advance(GRACE);
    house.web.until_sent(2).await;
    house.kill().await;
    browser.answers(&house, 201, &[]);
    house.start().await;
    house.web.until_sent(3).await;
    settled(&house).await;
    // And nothing comes of it any more.
    house.restart().await;
    house.turn(&id, json!({ "prompt": "again" })).await;
    house.world.clock.advance(GRACE);
    let sent = house.web.until_sent(4).await;
    assert_eq!(told(&house, &browser, &sent).await, ["one", "two", "two", "three"]);
    let topics: Vec<String> = sent.iter().map(|it| header(it, "topic")).collect();
    assert!(topics.iter().all(|topic| *topic == topics[0]), "the service keeps the last");
}

#[tokio::test]
async fn what_happened_unheard_while_the_server_read_nothing_is_found_in_the_log() {
    let mut house = house(&["one"]).await;
    let browser = Browser::new(&house, 1);
    let id = house.session().await;
    house.turn(&id, json!({ "prompt": "before anybody wanted to know" })).await;
    house.world.clock.advance(GRACE);
    browser.subscribe(&house, everything()).await;
    house.world.model.push(vec![text("after")]);
    house.turn(&id, json!({ "prompt": "now" })).await;
    house.kill().await;
    // As if it had died before it noted anything.
    for (name, _) in
        noted(&house, "push/owed/").await.into_iter().chain(noted(&house, "push/cursor/").await)
    {
        house.world.store.discard(Shelf::Devices, &name).await.unwrap();
    }
    house.world.clock.advance(GRACE);
    house.start().await;
    let sent = house.web.until_sent(1).await;
    settled(&house).await;
    assert_eq!(told(&house, &browser, &sent).await, ["after"]);
}

#[tokio::test]
async fn a_test_says_whether_it_got_there() {
    let house = house(&[]).await;
    let browser = Browser::new(&house, 1);
    let shown = browser.subscribe(&house, json!({})).await;
    let path = format!("/api/push/subscriptions/{}", shown["id"].as_str().unwrap());
    assert_eq!(house.post(&format!("{path}/test"), json!({})).await, (200, json!({ "ok": true })));
    let sent = house.web.until_sent(1).await;
    assert_eq!(told(&house, &browser, &sent).await, ["Notifications reach this device."]);
    browser.answers(&house, 403, &[]);
    let refused = house.post(&format!("{path}/test"), json!({})).await;
    assert_eq!(refused, (502, error("BAD_GATEWAY", "the push service answered 403")));
    let (_, listed) = house.get("/api/push").await;
    assert_eq!(listed["subscriptions"][0]["lastError"], "the push service answered 403");

    let settings = json!({ "answers": true, "quiet": { "from": "22:00", "to": "07:00" } });
    let (_, changed) = house.patch(&path, json!({ "name": "Anna", "settings": settings })).await;
    assert_eq!((&changed["name"], &changed["settings"]["answers"]), (&json!("Anna"), &json!(true)));
    let (_, again) = house.post("/api/push/subscriptions", browser.wish()).await;
    assert_eq!(again, changed, "the same browser again changes nothing that was chosen");
    assert_eq!(house.delete(&path).await, (200, json!({ "ok": true })));
    assert_eq!(house.delete(&path).await.0, 404);
    assert_eq!(house.patch(&path, json!({})).await.0, 404);
    assert_eq!(house.post(&format!("{path}/test"), json!({})).await.0, 404);
}

#[tokio::test]
async fn what_is_no_subscription_is_explained() {
    let house = house(&[]).await;
    let good = Browser::new(&house, 1).wish();
    let with = |pointer: &str, value: Value| {
        let mut wish = good.clone();
        wish["name"] = json!("x");
        wish["settings"] = json!({});
        *wish.pointer_mut(pointer).unwrap() = value;
        wish
    };
    for (wish, problem) in [
        (with("/endpoint", json!("http://push.example/x")), "endpoint must begin with https://"),
        (
            with("/endpoint", json!("http://127.0.0.1:1/x")),
            "endpoint: 127.0.0.1 is not on the open internet",
        ),
        (
            with("/endpoint", json!("https://a:b@push.example/x")),
            "endpoint must not carry a name or a password",
        ),
        (
            with("/keys/p256dh", json!("BBBB")),
            "keys.p256dh must be a point of P-256 in base64url: 65 bytes that begin with 4",
        ),
        (with("/keys/auth", json!("")), "keys.auth must be 16 bytes in base64url"),
        (with("/name", json!(" ")), "name must have 1 to 60 characters, all of them visible"),
        (
            with("/settings", json!({ "timeZone": "Nowhere" })),
            "`Nowhere` is no time zone such as Europe/Berlin",
        ),
    ] {
        assert_eq!(house.post("/api/push/subscriptions", wish).await, bad(problem));
    }
    assert_eq!(house.ask_without_key("GET", "/api/push").send().await.status, 401);
    for number in 1..=32 {
        Browser::new(&house, number).subscribe(&house, json!({})).await;
    }
    let (status, refused) =
        house.post("/api/push/subscriptions", Browser::new(&house, 33).wish()).await;
    let full = "32 browsers are told already; remove one first";
    assert_eq!((status, refused), (409, error("CONFLICT", full)));
}

#[tokio::test]
async fn a_browser_of_a_device_goes_with_its_key() {
    let house = house(&[]).await;
    let wanted = json!({ "name": "Anna", "scope": "everything" });
    let (_, paired) = house.post("/api/keys", wanted).await;
    let key = paired["key"].as_str().unwrap();
    let entered = house
        .ask_without_key("POST", "/login")
        .body("application/x-www-form-urlencoded", format!("key={key}"))
        .send()
        .await;
    let cookie = entered.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let ask =
        |method: &str, path: &str| house.ask_without_key(method, path).header("cookie", &cookie);
    let browser = Browser::new(&house, 1);
    let subscribe = ask("POST", "/api/push/subscriptions").json(&browser.wish());
    let (status, shown) = subscribe.send().await.json();
    assert_eq!((status, &shown["deviceId"], &shown["name"]), (200, &paired["id"], &json!("Anna")));
    Browser::new(&house, 2).subscribe(&house, json!({})).await;

    house.delete("/api/keys/Anna").await;
    let (_, listed) = house.get("/api/push").await;
    let left: Vec<&Value> =
        listed["subscriptions"].as_array().unwrap().iter().map(|it| &it["deviceId"]).collect();
    assert_eq!(left, [&Value::Null], "those of others stay");
    assert_eq!(ask("GET", "/api/push").send().await.status, 401, "and its login has ended");
}
