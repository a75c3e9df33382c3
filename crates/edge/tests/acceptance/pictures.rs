//! Pictures over HTTP: told by events, served by their place, and never by a path.

use kernel::{ports::Attic as _, update::SessionId};
use serde_json::{Value, json};
use testkit::{
    TestTool, World,
    model::{call, text},
};

use crate::common::{House, bad, error, no_session};

const NOBODY: &str = "019c18a5-1d00-7000-8000-00000000ffff";

/// The data of the first event of this kind.
fn told(frames: &[Value], kind: &str) -> Value {
    frames.iter().find(|frame| frame["event"]["type"] == kind).unwrap()["event"]["data"].clone()
}

#[tokio::test]
async fn what_a_tool_shows_can_be_looked_at() {
    let tool = TestTool::showing([("image/png", b"a png"), ("image/svg+xml", b"<svg/>")]);
    let world = World::new([vec![call("c1", "show", json!({}))], vec![text("nice")]]).tool(&tool);
    let house = House::over(world).await;
    let id = house.session().await;
    let heard = house.turn(&id, json!({ "prompt": "show" })).await;
    let result = told(&heard, "tool.execution_complete")["result"].clone();
    let images = result["images"].as_array().unwrap();
    // An svg is no extension, so it was not kept at all.
    assert_eq!(images.len(), 1, "{result}");
    let url = images[0]["url"].as_str().unwrap();
    let expected = json!({ "url": url, "mimeType": "image/png", "name": "picture-1.png" });
    assert_eq!(result, json!({ "content": "look", "images": [expected] }));
    let reply = house.ask("GET", url).send().await;
    assert_eq!((reply.status, reply.text().as_str()), (200, "a png"));
    for (name, value) in [
        ("content-type", "image/png"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "private, max-age=31536000, immutable"),
    ] {
        assert_eq!(reply.header(name), Some(value));
    }
    let etag = reply.header("etag").unwrap();
    let known = format!("\"other\", W/{etag}");
    let again = house.ask("GET", url).header("if-none-match", &known).send().await;
    assert_eq!((again.status, again.text().as_str()), (304, ""));
    assert_eq!(again.header("etag"), Some(etag));
    assert_eq!(house.ask_without_key("GET", url).send().await.status, 401);
}

#[tokio::test]
async fn several_pictures_go_along_with_a_message() {
    let house = House::new([vec![text("nice")]]).await;
    let id = house.session().await;
    let body = json!({
        "prompt": "look", "imageData": "data:image/png;base64,aGVsbG8=",
        "images": ["data:image/jpg;base64,YQ==", "data:image/bmp;base64,Yg=="],
    });
    let heard = house.turn(&id, body).await;
    let attachments = told(&heard, "user.message")["attachments"].clone();
    let named: Vec<&Value> =
        attachments.as_array().unwrap().iter().map(|it| &it["displayName"]).collect();
    assert_eq!(named, ["image.png", "image.jpg", "image.bmp"]);
    let urls: Vec<String> = attachments
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["url"].as_str().unwrap().to_owned())
        .collect();
    let shown = async |url: &str| {
        let reply = house.ask("GET", url).send().await;
        (reply.status, reply.header("content-type").unwrap().to_owned(), reply.text())
    };
    assert_eq!(shown(&urls[0]).await, (200, "image/png".into(), "hello".into()));
    assert_eq!(shown(&urls[1]).await, (200, "image/jpeg".into(), "a".into()));
    let refused = "only png, jpeg, gif and webp are shown, and this is image/bmp";
    assert_eq!(house.get(&urls[2]).await, (415, error("UNSUPPORTED_MEDIA_TYPE", refused)));

    let many = vec!["data:image/png;base64,YQ=="; 11];
    let answer = house.message(&id, json!({ "prompt": "look", "images": many })).await;
    assert_eq!(answer, bad("images holds 11, and at most 10 go along"));
    let answer = house.message(&id, json!({ "prompt": "look", "images": ["nonsense"] })).await;
    assert_eq!(answer, bad("Invalid image data"));
}

#[tokio::test]
async fn what_is_not_a_picture_or_is_gone_is_said_in_words() {
    let house = House::new([vec![text("nice")]]).await;
    let id = house.session().await;
    let body = json!({ "prompt": "look", "imageData": "data:image/png;base64,aGVsbG8=" });
    let heard = house.turn(&id, body).await;
    let url = told(&heard, "user.message")["attachments"][0]["url"].as_str().unwrap().to_owned();
    assert_eq!(url, format!("/api/sessions/{id}/pictures/2/0"));
    for (seq, index) in [
        ("2", "1"),
        ("1", "0"),
        ("0", "0"),
        ("99", "0"),
        ("-1", "0"),
        ("x", "0"),
        ("2", "x"),
        ("18446744073709551615", "0"),
        ("2", "18446744073709551616"),
    ] {
        let path = format!("/api/sessions/{id}/pictures/{seq}/{index}");
        let absent = error("NOT_FOUND", &format!("there is no picture {index} at {seq}"));
        assert_eq!(house.get(&path).await, (404, absent));
    }
    let elsewhere = house.session().await;
    let path = url.replace(&id, &elsewhere);
    assert_eq!(house.get(&path).await.0, 404);
    assert_eq!(house.get(&url.replace(&id, NOBODY)).await, no_session(NOBODY));
    house.world.store.clear(SessionId::parse(&id).unwrap()).await.unwrap();
    let gone = error("GONE", "the file of this picture is gone");
    assert_eq!(house.get(&url).await, (410, gone));
}
