//! What was used over HTTP: by session, model and day, for ever, and over `/v1` as well.

use jiff::SignedDuration;
use serde_json::{Value, json};
use testkit::model::{hang, priced, text, usage};
use tokio::io::AsyncWriteExt as _;

use crate::common::{House, bad};

fn spent(input: u64, output: u64, cost: f64) -> Value {
    json!({ "inputTokens": input, "outputTokens": output, "cost": cost })
}

fn total(requests: u64, input: u64, output: u64, cost: f64) -> Value {
    json!({
        "requests": requests, "inputTokens": input, "outputTokens": output, "cost": cost,
        "cacheReadTokens": 0, "cacheWriteTokens": 0, "reasoningTokens": 0,
    })
}

fn with(mut value: Value, name: &str, what: Value) -> Value {
    value[name] = what;
    value
}

fn model(name: &str, total: Value) -> Value {
    with(total, "model", json!(name))
}

/// A day and its models.
fn day(name: &str, total: Value, models: Value) -> Value {
    with(with(total, "day", json!(name)), "models", models)
}

async fn used(house: &House) -> Value {
    let (status, used) = house.get("/api/usage").await;
    assert_eq!(status, 200, "{used}");
    used
}

#[tokio::test]
async fn usage_is_told_by_session_model_and_day_and_outlives_its_sessions() {
    let mut house = House::new([
        vec![text("cheap"), priced(9, 1, 0.25)],
        vec![text("dear"), priced(2, 1, 0.5)],
        vec![text("in short"), priced(4, 1, 0.125)],
    ])
    .await;
    house.guest.push(vec![text("free"), usage(100, 10)]);
    let nothing = json!({
        "usage": null, "total": total(0, 0, 0, 0.0), "bySession": [], "byModel": [], "byDay": [],
        "budgets": [],
    });
    let cheap = house.session().await;
    assert_eq!(used(&house).await, nothing);
    let (dear, free) = (house.session().await, house.session().await);
    house.session().await;
    house.patch(&format!("/api/sessions/{free}"), json!({ "model": "guest" })).await;
    house.turn(&cheap, json!({ "prompt": "go" })).await;
    house.world.clock.advance(SignedDuration::from_hours(24));
    for id in [&dear, &free] {
        house.turn(id, json!({ "prompt": "go" })).await;
    }
    let mut socket = house.listener(&dear).await;
    house.post(&format!("/api/sessions/{dear}/compact"), json!({})).await;
    socket.turn().await;
    let session =
        |id: &str, name: &str, spent: Value| with(model(name, spent), "sessionId", json!(id));
    let first =
        day("2026-02-01", total(1, 9, 1, 0.25), json!([model("test", total(1, 9, 1, 0.25))]));
    let second = day(
        "2026-02-02",
        total(3, 106, 12, 0.625),
        json!([model("test", total(2, 6, 2, 0.625)), model("guest", total(1, 100, 10, 0.0))]),
    );
    let expected = json!({
        "usage": null,
        "total": total(4, 115, 13, 0.875),
        "bySession": [
            session(&dear, "test", spent(6, 2, 0.625)),
            session(&cheap, "test", spent(9, 1, 0.25)),
            session(&free, "guest", spent(100, 10, 0.0)),
        ],
        "byModel": [
            model("test", total(3, 15, 3, 0.875)),
            model("guest", total(1, 100, 10, 0.0)),
        ],
        "byDay": [first, second],
        "budgets": [],
    });
    assert_eq!(used(&house).await, expected);
    house.restart().await;
    assert_eq!(used(&house).await, expected);
    assert_eq!(house.delete(&format!("/api/sessions/{dear}")).await.0, 200);
    let mut without = expected.clone();
    without["bySession"].as_array_mut().unwrap().remove(0);
    assert_eq!(used(&house).await, without, "what was used remains");
}

#[tokio::test]
async fn as_many_days_are_told_as_one_asks_for() {
    let house = House::new([]).await;
    house.world.model.otherwise(vec![text("ok"), usage(1, 1)]);
    let id = house.session().await;
    house.turn(&id, json!({ "prompt": "go" })).await;
    house.world.clock.advance(SignedDuration::from_hours(24 * 30));
    house.turn(&id, json!({ "prompt": "go" })).await;
    let days = async |query: &str| {
        let (_, used) = house.get(&format!("/api/usage{query}")).await;
        let days = used["byDay"].as_array().unwrap().iter();
        days.map(|day| day["day"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(days("").await, ["2026-02-01", "2026-03-03"]);
    assert_eq!(days("?days=30").await, ["2026-03-03"]);
    house.world.clock.advance(SignedDuration::from_hours(24));
    assert_eq!(days("").await, ["2026-03-03"]);
    assert_eq!(days("?days=1").await, [""; 0]);
    assert_eq!(days("?days=366").await, ["2026-02-01", "2026-03-03"]);
    for query in ["0", "367", "65535"] {
        let answer = house.get(&format!("/api/usage?days={query}")).await;
        assert_eq!(answer, bad("days must be from 1 to 366"));
    }
    for query in ["-1", "many", "65536"] {
        let (status, answer) = house.get(&format!("/api/usage?days={query}")).await;
        assert_eq!((status, &answer["code"]), (400, &json!("BAD_REQUEST")));
    }
}

#[tokio::test]
async fn what_other_programs_use_is_counted_however_they_ask() {
    let house = House::new([]).await;
    house.world.model.otherwise(vec![text("well"), priced(7, 3, 0.25)]);
    let messages = json!([{ "role": "user", "content": "hi" }]);
    for (path, stream, requests, cost) in [
        ("chat/completions", false, 1, 0.25),
        ("chat/completions", true, 2, 0.5),
        ("responses", false, 3, 0.75),
        ("responses", true, 4, 1.0),
    ] {
        let body =
            json!({ "model": "test", "messages": messages, "input": "hi", "stream": stream });
        let reply = house.ask("POST", &format!("/v1/{path}")).json(&body).send().await;
        assert!(reply.text().contains("well"));
        let expected = total(requests, 7 * requests, 3 * requests, cost);
        let used = used(&house).await;
        assert_eq!((&used["total"], &used["bySession"]), (&expected, &json!([])), "{path}");
        assert_eq!(used["byModel"], json!([model("test", expected)]));
    }
}

#[tokio::test]
async fn who_hangs_up_pays_for_what_was_heard() {
    let house = House::new([vec![priced(7, 1, 0.5), text("well"), hang()]]).await;
    let body = json!({ "model": "test", "input": "hi", "stream": true }).to_string();
    let (address, key) = (house.address(), house.key());
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /v1/responses HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut heard = String::new();
    while !heard.contains("well") {
        let mut some = [0; 1024];
        let count = tokio::io::AsyncReadExt::read(&mut stream, &mut some).await.unwrap();
        assert!(count > 0, "{heard}");
        heard += &String::from_utf8_lossy(&some[..count]);
    }
    drop(stream);
    house.world.model.silent().await;
    let expected = total(1, 7, 1, 0.5);
    while used(&house).await["total"] != expected {
        tokio::task::yield_now().await;
    }
}
