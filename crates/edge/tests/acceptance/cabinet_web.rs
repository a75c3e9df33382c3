//! What an app may do only after a person's yes: speak to the internet, and share what others keep.

use kernel::web::{WebAnswer, WebError};
use serde_json::{Value, json};

use crate::{
    cabinet::{Frame, json_of, put},
    common::{House, Socket, error},
};

/// Answers the first question that is open, once there is one.
async fn decide(house: &House, socket: &mut Socket, decision: Value) -> Value {
    let asked = loop {
        let (_, inbox) = house.get("/api/approvals").await;
        if let Some(first) = inbox["approvals"].as_array().unwrap().first() {
            break first.clone();
        }
        socket.next().await;
    };
    let path = format!("/api/approvals/{}", asked["id"].as_str().unwrap());
    assert_eq!(house.post(&path, decision).await.0, 200);
    asked
}

fn page(text: &str) -> WebAnswer {
    WebAnswer {
        status: 200,
        reason: "OK".into(),
        headers: vec![("content-type".into(), "text/plain".into())],
        body: text.into(),
    }
}

async fn fetch(frame: &Frame<'_>, url: &str) -> (u16, Value) {
    json_of(&frame.ask("POST", "api/fetch").json(&json!({ "url": url })).send().await)
}

fn fetched(text: &str) -> (u16, Value) {
    let headers = json!({ "content-type": "text/plain" });
    (
        200,
        json!({ "ok": true, "status": 200, "statusText": "OK", "headers": headers, "body": text }),
    )
}

#[tokio::test]
async fn a_domain_is_asked_about_once_and_then_reached() {
    let house = House::new([]).await;
    put(&house, "news", &json!({ "name": "News" }), &[]);
    let id = house.session().await;
    let frame = Frame::open(&house, "news", Some(&id)).await;
    let mut socket = house.listener(&id).await;
    house.web.answer("https://a.example/x", Ok(page("one")));
    house.web.answer("https://a.example/y", Ok(page("two")));
    let yes = json!({ "decision": "once" });
    let (answer, asked) =
        tokio::join!(fetch(&frame, "https://a.example/x"), decide(&house, &mut socket, yes));
    assert_eq!(answer, fetched("one"));
    assert_eq!(
        (&asked["caller"], &asked["tool"], &asked["title"]),
        (
            &json!("app:news"),
            &json!("app_fetch"),
            &json!("The app News wants to speak to a.example")
        )
    );
    assert_eq!(fetch(&frame, "https://a.example/y").await, fetched("two"), "and not again");
    let no = json!({ "decision": "deny" });
    let (answer, _) =
        tokio::join!(fetch(&frame, "https://b.example/"), decide(&house, &mut socket, no));
    let denied = (403, error("FORBIDDEN", "User denied access to domain \"b.example\"."));
    assert_eq!(answer, denied);
    assert_eq!(fetch(&frame, "https://b.example/other").await, denied, "a no holds as well");
    assert_eq!(house.web.sent(), ["GET https://a.example/x", "GET https://a.example/y"]);

    let private = error("FORBIDDEN", "Access to internal networks is not allowed");
    assert_eq!(
        fetch(&frame, "http://127.0.0.1/").await,
        (403, private),
        "nobody is asked about it"
    );
    let alone = Frame::open(&house, "news", None).await;
    let (status, answer) = fetch(&alone, "https://a.example/x").await;
    let text = answer["error"].as_str().unwrap();
    assert!(
        status == 403 && text.starts_with("Domain \"a.example\" is not in the allowed list."),
        "{text}"
    );
}

#[tokio::test]
async fn where_one_domain_sends_elsewhere_the_other_is_asked_about() {
    let house = House::new([]).await;
    put(&house, "news", &json!({}), &[]);
    let id = house.session().await;
    let frame = Frame::open(&house, "news", Some(&id)).await;
    let mut socket = house.listener(&id).await;
    let headers = vec![("location".into(), "https://c.example/".into())];
    house.web.answer(
        "https://a.example/",
        Ok(WebAnswer { status: 302, headers, ..WebAnswer::default() }),
    );
    house.web.answer("https://c.example/", Ok(page("there")));
    let deciding = async {
        let first = decide(&house, &mut socket, json!({ "decision": "once" })).await;
        // The first question is answered before the second is asked.
        loop {
            let (_, inbox) = house.get("/api/approvals").await;
            let open = inbox["approvals"].as_array().unwrap();
            if open.first().is_some_and(|it| it["id"] != first["id"]) {
                break;
            }
            socket.next().await;
        }
        let second = decide(&house, &mut socket, json!({ "decision": "once" })).await;
        [first["title"].clone(), second["title"].clone()]
    };
    let (answer, titles) = tokio::join!(fetch(&frame, "https://a.example/"), deciding);
    assert_eq!(answer, fetched("there"));
    let title = |domain: &str| json!(format!("The app News wants to speak to {domain}"));
    assert_eq!(titles, [title("a.example"), title("c.example")]);
}

#[tokio::test]
async fn what_goes_wrong_on_the_way_is_said_as_apps_know_it() {
    let house = House::new([]).await;
    put(&house, "news", &json!({}), &[]);
    let id = house.session().await;
    let frame = Frame::open(&house, "news", Some(&id)).await;
    let mut socket = house.listener(&id).await;
    for (path, failure) in [
        ("large", WebError::TooLarge),
        ("late", WebError::TimedOut),
        ("private", WebError::Private("a.example".into())),
        ("dead", WebError::Failed("a.example cannot be fetched: refused".into())),
    ] {
        house.web.answer(&format!("https://a.example/{path}"), Err(failure));
    }
    let yes = json!({ "decision": "once" });
    let (answer, _) =
        tokio::join!(fetch(&frame, "https://a.example/large"), decide(&house, &mut socket, yes));
    let told =
        |(status, answer): (u16, Value)| (status, answer["error"].as_str().unwrap().to_owned());
    assert_eq!(told(answer), (502, "Response too large (max 10MB)".into()));
    for (path, status, text) in [
        ("late", 504, "Request timed out"),
        ("private", 403, "Access to internal networks is not allowed"),
        ("dead", 502, "a.example cannot be fetched: refused"),
    ] {
        let answer = fetch(&frame, &format!("https://a.example/{path}")).await;
        assert_eq!(told(answer), (status, text.to_owned()), "{path}");
    }
}

#[tokio::test]
async fn what_others_keep_is_shared_only_where_it_was_declared_and_allowed() {
    let house = House::new([]).await;
    put(&house, "reader", &json!({ "permissions": ["storage-read:shared/"] }), &[]);
    put(&house, "writer", &json!({ "permissions": ["storage:shared/"] }), &[]);
    let id = house.session().await;
    let mut socket = house.listener(&id).await;
    let writer = Frame::open(&house, "writer", Some(&id)).await;
    let place = "api/storage/shared/notes.txt";
    let saving =
        async { json_of(&writer.ask("POST", place).body("text/plain", "hi").send().await) };
    let yes = json!({ "decision": "once" });
    let (saved, asked) = tokio::join!(saving, decide(&house, &mut socket, yes.clone()));
    assert_eq!(saved, (200, json!({ "ok": true, "path": "shared/notes.txt" })));
    let title = "The app Writer wants to read and change what is kept in shared/";
    assert_eq!((&asked["title"], &asked["tool"]), (&json!(title), &json!("storage:shared/")));
    let reader = Frame::open(&house, "reader", Some(&id)).await;
    let denied = (403, error("FORBIDDEN", "Access denied"));
    let writing = reader.ask("POST", place).body("text/plain", "no").send().await;
    assert_eq!(json_of(&writing), denied, "it may only read");
    let reading = async { reader.ask("GET", place).send().await.text() };
    let (read, _) = tokio::join!(reading, decide(&house, &mut socket, yes));
    assert_eq!(read, "hi");
    for path in ["api/storage/sharedness/x", "api/storage/other/x", "api/storage/apps/writer/x"] {
        assert_eq!(json_of(&reader.ask("GET", path).send().await), denied, "{path}");
    }
}
