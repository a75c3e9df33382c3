//! What cannot be taken is refused with its reason, and changes nothing.

use proptest::{
    collection::vec,
    prelude::{Strategy, any},
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::common::{House, bad, error};

const NOBODY: &str = "019c18a5-1d00-7000-8000-00000000ffff";

fn invalid(path: &str, what: &str) -> (u16, Value) {
    bad(&format!("Invalid JSON body: {path}: {what}"))
}

/// Every endpoint that reads a body, with a body it would take.
fn endpoints(id: &str) -> [(&'static str, String); 4] {
    [
        ("POST", "/api/sessions".to_owned()),
        ("PATCH", format!("/api/sessions/{id}")),
        ("POST", format!("/api/sessions/{id}/messages")),
        ("POST", "/api/preferences".to_owned()),
    ]
}

/// A body in which every endpoint reads this as one of its strings.
fn everywhere(text: &[u8]) -> Vec<u8> {
    let fields = ["name", "prompt", "cwd", "lastCwd"].map(|name| {
        let open = format!("\"{name}\":\"").into_bytes();
        [open.as_slice(), text, b"\""].concat()
    });
    [b"{", fields.join(&b","[..]).as_slice(), b"}"].concat()
}

#[tokio::test]
async fn bodies_that_cannot_be_read_are_refused_by_every_endpoint() {
    let house = House::new([]).await;
    let id = house.session().await;
    let before = house.snapshot(&id).await;
    let broken = bad("Invalid JSON body");
    let bodies: [(Vec<u8>, (u16, Value)); 16] = [
        (b"".to_vec(), bad("JSON body required")),
        (b" ".to_vec(), broken.clone()),
        (b"{".to_vec(), broken.clone()),
        (b"nonsense".to_vec(), broken.clone()),
        (br#"{"name":"x","prompt":"x"} x"#.to_vec(), broken.clone()),
        (br#"{"name":"x","prompt":"x"}{}"#.to_vec(), broken.clone()),
        (br#"{"name":"x","prompt":"x",}"#.to_vec(), broken.clone()),
        (everywhere(b"\xff"), broken.clone()),
        (everywhere(b"\\ud800"), broken.clone()),
        (b"\xef\xbb\xbf{}".to_vec(), broken.clone()),
        ("[".repeat(100_000).into_bytes(), broken.clone()),
        (format!("{{\"name\":{}", "[".repeat(100_000)).into_bytes(), (400, Value::Null)),
        (b"[]".to_vec(), broken.clone()),
        (br#"["/tmp","x","y"]"#.to_vec(), broken),
        (b"null".to_vec(), (400, Value::Null)),
        (br#""prompt""#.to_vec(), (400, Value::Null)),
    ];
    for (method, path) in endpoints(&id) {
        for (body, answer) in &bodies {
            let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
            let reply = house.ask(method, &path).body("application/json", body.clone()).send();
            let (status, said) = reply.await.json();
            assert_eq!((status, &said["code"]), (400, &json!("BAD_REQUEST")), "{path} {shown}");
            let text = said["error"].as_str().unwrap();
            assert!(
                text.starts_with("Invalid JSON body") || text == "JSON body required",
                "{path} {shown}: {text}"
            );
            assert!(
                answer.1.is_null() || (status, said.clone()) == *answer,
                "{path} {shown} {said}"
            );
        }
        let large = format!("{{\"x\":\"{}\"}}", "x".repeat(17 << 20));
        let reply = house.ask(method, &path).body("application/json", large).send().await;
        let refused = (413, error("PAYLOAD_TOO_LARGE", "Request body too large"));
        assert_eq!(reply.json(), refused, "{method} {path}");
    }
    let just = format!("{{\"x\":\"{}\"}}", "x".repeat((1 << 20) - 8));
    let preferences = house.ask("POST", "/api/preferences");
    let reply = preferences.body("application/json; charset=utf-8", just.clone()).send().await;
    assert_eq!(reply.status, 200, "a megabyte is not too much");
    let preferences = house.ask("POST", "/api/preferences");
    let reply = preferences.body("application/json", format!("{just} ")).send().await;
    assert_eq!(reply.status, 413, "one more is");
    assert_eq!(house.snapshot(&id).await, before, "nothing was done");
}

#[tokio::test]
async fn fields_of_the_wrong_kind_are_named() {
    let house = House::new([]).await;
    let id = house.session().await;
    let before = house.snapshot(&id).await;
    let [(_, sessions), (_, session), (_, messages), (_, preferences)] = endpoints(&id);
    let integer = "invalid type: integer `5`, expected a string";
    for field in ["cwd", "model", "description"] {
        let answer = house.post(&sessions, json!({ (field): 5 })).await;
        assert_eq!(answer, invalid(field, integer));
    }
    let long = "x".repeat(501);
    let answer = house.post(&sessions, json!({ "description": long })).await;
    assert_eq!(answer, bad("description is longer than 500 characters"));
    let answer = house.post(&sessions, json!({ "cwd": "a\u{0}b" })).await;
    assert_eq!(answer, bad("Path does not exist: a\u{0}b"));

    for field in ["name", "envHint"] {
        for value in [json!(5), json!([]), json!({}), json!(true)] {
            let answer = house.patch(&session, json!({ (field): value, "name2": 1 })).await;
            assert_eq!((answer.0, &answer.1["code"]), (400, &json!("BAD_REQUEST")), "{field}");
            let text = answer.1["error"].as_str().unwrap();
            assert!(text.starts_with(&format!("Invalid JSON body: {field}: ")), "{text}");
        }
    }
    for context in [
        json!(5),
        json!([]),
        json!(["files", ["a"]]),
        json!({}),
        json!({ "setName": "files" }),
        json!({ "items": [] }),
        json!({ "setName": 5, "items": [] }),
        json!({ "setName": "", "items": [] }),
        json!({ "setName": "files", "items": "a" }),
        json!({ "setName": "files", "items": ["a", 5] }),
        json!({ "setName": "files", "items": {} }),
        json!({ "setName": "files", "items": [], "mode": "append" }),
        json!({ "setName": "files", "items": [], "mode": 5 }),
        json!({ "setName": "x".repeat(65), "items": [] }),
        json!({ "setName": "files", "items": ["x".repeat(5000)] }),
    ] {
        let body = json!({ "name": "changed", "setContext": context });
        let answer = house.patch(&session, body).await;
        assert_eq!((answer.0, &answer.1["code"]), (400, &json!("BAD_REQUEST")), "{context}");
    }

    let message = |more: Value| {
        let mut body = json!({ "prompt": "hi" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        house.post(&messages, body)
    };
    for prompt in [json!(5), json!([]), json!({}), json!(true)] {
        assert_eq!(message(json!({ "prompt": prompt })).await, bad("prompt must be a string"));
    }
    for field in ["imageData", "appletSlug", "fromSession", "scheduleSlug", "correlationId"] {
        assert_eq!(message(json!({ (field): 5 })).await, invalid(field, integer));
    }
    for field in ["source", "queue", "appletState", "appletNavigation"] {
        for value in [json!(5), json!("nonsense"), json!([1])] {
            let answer = message(json!({ (field): value })).await;
            assert_eq!((answer.0, &answer.1["code"]), (400, &json!("BAD_REQUEST")), "{field}");
            let text = answer.1["error"].as_str().unwrap();
            assert!(text.starts_with(&format!("Invalid JSON body: {field}: ")), "{text}");
        }
    }
    let answer = message(json!({ "correlationId": "x".repeat(256) })).await;
    assert_eq!(answer, bad("correlationId is longer than 255 characters"));

    for field in ["lastCwd", "lastModel", "lastSessionId"] {
        let answer = house.post(&preferences, json!({ (field): 5, "lastCwd2": "x" })).await;
        assert_eq!(answer, invalid(field, integer));
    }
    assert_eq!(house.snapshot(&id).await, before, "nothing was done");
}

#[tokio::test]
async fn names_of_sessions_that_are_none_lead_nowhere() {
    let house = House::new([]).await;
    let id = house.session().await;
    let before = house.snapshot(&id).await;
    let upper = id.to_uppercase();
    let encoded = "%2e%2e%2fpasswd";
    let long = "x".repeat(10_000);
    for name in [NOBODY, "nonsense", "..", encoded, "%00", "%20", &upper, &long] {
        for (method, rest, status) in [
            ("PATCH", "", 404),
            ("DELETE", "", 400),
            ("POST", "/resume", 400),
            ("POST", "/observe", 404),
            ("POST", "/messages", 404),
            ("POST", "/cancel", 200),
            ("GET", "/state", 404),
        ] {
            let ask = house.ask(method, &format!("/api/sessions/{name}{rest}"));
            let (answered, body) = ask.json(&json!({ "prompt": "hi" })).send().await.json();
            assert_eq!(answered, status, "{method} {name}{rest} {body}");
            assert!(status == 200 || body["code"] == "NOT_FOUND", "{method} {name}{rest} {body}");
        }
    }
    let (status, body) = house.post("/api/sessions/%ff/observe", json!({})).await;
    assert_eq!((status, body), bad("Invalid session id"));
    assert_eq!(house.snapshot(&id).await, before, "nothing was done");
}

#[tokio::test]
async fn a_body_that_ends_early_is_not_taken() {
    let house = House::new([]).await;
    let id = house.session().await;
    let before = house.snapshot(&id).await;
    let body = r#"{"prompt":"hi"}"#;
    let request = format!(
        "POST /api/sessions/{id}/messages HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\n\
         content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\nzz\r\n",
        house.bearer(),
        body.len()
    );
    let answer = crate::common::exchange(house.address(), request.as_bytes()).await;
    let reply = crate::common::Reply::parse(&answer);
    assert_eq!(reply.json(), bad("the request body ended early"));
    assert_eq!(house.snapshot(&id).await, before, "nothing was done");
}

/// Arbitrary bytes, or JSON with arbitrary words in the places where it matters.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let field = "(type|prompt|sessionId|after|data|name|cwd|source|setContext|id|queue)";
    let value = r#"(null|true|-?[0-9]{1,25}|1e400|""|"[a-z]{0,9}"|\[\]|\{\}|"\\u0000")"#;
    let kind = "(subscribe|requestHistory|setState|getState|ping)";
    let object = format!(r#"\{{"type":"{kind}","{field}":{value},"{field}":{value}\}}"#);
    proptest::prop_oneof![
        vec(any::<u8>(), 0..200),
        proptest::string::string_regex(&object).unwrap().prop_map(String::into_bytes),
    ]
}

#[test]
fn no_bytes_whatsoever_break_the_server() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let house = runtime.block_on(House::new([]));
    let id = runtime.block_on(house.session());
    let mut runner = TestRunner::new(Config { cases: 100, ..Config::default() });
    let tried = runner.run(&bytes(), |bytes| {
        runtime.block_on(async {
            for (method, path) in endpoints(&id) {
                let ask = house.ask(method, &path).body("application/json", bytes.clone());
                let reply = ask.send().await;
                assert!(reply.status < 500, "{method} {path} {}", reply.text());
                reply.json();
            }
            let mut socket = house.socket().await;
            socket.send_raw(Message::binary(bytes.clone())).await;
            socket.waiting().await;
            let health = house.ask_without_key("GET", "/healthz").send().await;
            assert_eq!(health.status, 200);
        });
        Ok(())
    });
    tried.unwrap();
}
