//! Frames for windows: a ticket to what a window shows, and the same one again after a restart.

use serde_json::{Value, json};

use super::{
    app_protocol::{create, joined},
    cabinet::{listed, put},
};
use crate::common::{Ask, House};

/// A session with a window that shows this.
async fn showing(house: &House, renderer: &str, data: Value) -> String {
    let id = house.session().await;
    let mut socket = joined(house, &id).await;
    socket.send(create("w", renderer, data)).await;
    assert_eq!(socket.next().await["type"], "ACTIONS");
    id
}

async fn ticket(house: &House, session: &str, window: &str, more: Value) -> (u16, Value) {
    let mut body = json!({ "kind": "window", "id": window, "sessionId": session });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    house.post("/api/frames", body).await
}

fn path(ticket: &Value) -> String {
    let url = ticket["url"].as_str().unwrap();
    url[url.find("/f/").unwrap()..].to_owned()
}

async fn shown(house: &House, path: &str) -> (u16, String) {
    let reply = Ask::new(house.sandbox(), "GET", path).send().await;
    (reply.status, reply.text())
}

#[tokio::test]
async fn a_window_of_html_is_a_document_on_the_other_origin() {
    let house = House::new([]).await;
    let id = showing(&house, "html", json!("<p>Hello</p><script>1</script>")).await;
    for name in ["w", "monitor-0/w", "0/w"] {
        let (status, ticket) = ticket(&house, &id, name, json!({})).await;
        assert_eq!(status, 200, "{ticket}");
        assert_eq!(ticket["sandbox"], "allow-scripts allow-forms");
        assert_eq!(ticket["title"], "The w");
        let (status, text) = shown(&house, &path(&ticket)).await;
        assert_eq!(status, 200);
        assert!(text.contains("<body>\n<p>Hello</p><script>1</script>\n</body>"), "{text}");
        assert!(text.contains("__megaron/sdk.js"), "{text}");
        let beside = format!("{}other.html", path(&ticket));
        assert_eq!(shown(&house, &beside).await.0, 404);
    }
}

#[tokio::test]
async fn a_window_of_an_app_begins_with_the_document_that_its_address_names() {
    let house = House::new([]).await;
    put(&house, "book", &json!({ "name": "Book" }), &[("two words.html", "<p>second</p>")]);
    listed(&house, "book").await;
    for (address, start) in [
        ("/api/apps/book/index.html", ""),
        ("/api/apps/book/two%20words.html?page=2#end", "two%20words.html?page=2"),
        ("/api/apps/book/nowhere.html", ""),
        ("/api/apps/book/../../secret", ""),
        ("/api/apps/book/%2e%2e/app.json", ""),
        ("/api/apps/book/", ""),
    ] {
        let id = showing(&house, "iframe", json!(address)).await;
        let (status, ticket) = ticket(&house, &id, "w", json!({})).await;
        assert_eq!(status, 200, "{ticket}");
        let path = path(&ticket);
        assert_eq!(path.splitn(4, '/').last().unwrap(), start, "{address}");
        assert_eq!(shown(&house, &path).await.0, 200);
    }
}

#[tokio::test]
async fn what_is_not_framed_is_refused_with_the_reason() {
    let house = House::new([]).await;
    let text = showing(&house, "text", json!("hi")).await;
    let elsewhere = showing(&house, "iframe", json!("https://example.org/")).await;
    let refused = |status: u16, error: &str| {
        let code = if status == 404 { "NOT_FOUND" } else { "BAD_REQUEST" };
        (status, json!({ "error": error, "code": code }))
    };
    let not_framed = |name: &str| {
        refused(400, &format!("{name} window is not framed; html and apps of this server are"))
    };
    assert_eq!(ticket(&house, &text, "w", json!({})).await, not_framed("text"));
    assert_eq!(ticket(&house, &elsewhere, "w", json!({})).await, not_framed("iframe"));
    assert_eq!(
        ticket(&house, &text, "nobody", json!({})).await,
        refused(404, "Window \"nobody\" not found.")
    );
    let nowhere = house.post("/api/frames", json!({ "kind": "window", "id": "w" })).await;
    let error = "sessionId is required for windows: each belongs to a session";
    assert_eq!(nowhere, refused(400, error));
}

#[tokio::test]
async fn what_a_page_still_shows_is_its_own_again_after_a_restart() {
    let mut house = House::new([]).await;
    let id = showing(&house, "html", json!("<p>Hello</p>")).await;
    let (_, given) = ticket(&house, &id, "w", json!({})).await;
    house.restart().await;
    assert_eq!(shown(&house, &path(&given)).await.0, 404, "no ticket outlives the server");
    let kept = json!({ "frameId": given["frameId"], "url": given["url"], "nonce": given["nonce"] });
    let (status, again) = ticket(&house, &id, "w", json!({ "keep": kept })).await;
    assert_eq!(status, 200, "{again}");
    for name in ["frameId", "nonce"] {
        assert_eq!(again[name], given[name]);
    }
    assert_eq!(path(&again), path(&given));
    assert_eq!(shown(&house, &path(&again)).await.0, 200);
    for (name, bad) in [
        ("url", json!("http://127.0.0.1/f/short/")),
        ("url", json!("http://127.0.0.1/g/")),
        ("nonce", json!("\"};alert(1)")),
    ] {
        let mut kept = kept.clone();
        kept[name] = bad;
        let refused = ticket(&house, &id, "w", json!({ "keep": kept })).await;
        assert_eq!(
            refused,
            (400, json!({ "error": "keep: no ticket of ours", "code": "BAD_REQUEST" }))
        );
    }
    let app = json!({ "kind": "app", "id": "demo", "keep": kept });
    let (_, other) = house.post("/api/frames", app).await;
    assert_ne!(other["frameId"], given["frameId"], "only windows are kept");
}
