//! What is streamed, and what is sent for it.

use std::fs;

use futures::{FutureExt as _, StreamExt as _};
use kernel::{
    ports::{Models as _, Piece},
    prompt::Part,
    toolbox::ToolSpec,
    update::{Attachment, Usage},
};
use models::{Kind, Price};
use serde_json::json;

use crate::{
    KEY, hear, lineup, model, prompt,
    server::{Reply, Server, events, soon},
    settings,
};

const HELLO: &str = r#"{"choices":[{"delta":{"content":"Hello"}}]}"#;
const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":100}}"#;

#[tokio::test]
async fn an_answer_is_streamed_and_priced() {
    let whole = Reply::Whole(events(&[HELLO, STOP, "[DONE]"]));
    let mut server = Server::start(&[whole]).await;
    let mut settings = settings(Kind::OpenaiChat, &server);
    settings.price = Some(Price::new(10.0, 100.0));
    settings.headers.insert("x-team".into(), "sky".into());
    let (pieces, error) = hear(model(settings).as_ref()).await;
    let usage =
        Usage { input_tokens: 1000, output_tokens: 100, cost: Some(0.02), ..Usage::default() };
    assert_eq!((pieces, error), (vec![Piece::Text("Hello".into()), Piece::Usage(usage)], None));
    let request = server.request().await;
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("authorization: Bearer {KEY}\r\n")), "{request}");
    assert!(request.contains("x-team: sky\r\n"), "{request}");
    assert!(request.contains(r#""content":"Hello""#), "{request}");
}

#[tokio::test]
async fn every_kind_knocks_at_its_own_door() {
    let cases = [
        (Kind::Anthropic, "POST /v1/messages ", format!("x-api-key: {KEY}")),
        (Kind::OpenaiResponses, "POST /v1/responses ", format!("authorization: Bearer {KEY}")),
        (
            Kind::Gemini,
            "POST /v1beta/models/best:streamGenerateContent?alt=sse ",
            format!("x-goog-api-key: {KEY}"),
        ),
    ];
    for (kind, line, key) in cases {
        let mut server = Server::start(&[Reply::Whole(events(&[]))]).await;
        hear(model(settings(kind, &server)).as_ref()).await;
        let request = server.request().await;
        assert!(request.starts_with(line), "{request}");
        assert!(request.contains(&key), "{request}");
        let versioned = request.contains("anthropic-version: 2023-06-01");
        assert_eq!(versioned, kind == Kind::Anthropic);
    }
}

#[tokio::test]
async fn the_end_of_an_answer_is_not_waited_for_twice() {
    // It has said that it is done, but never hangs up.
    let server = Server::start(&[Reply::Stuck(events(&[HELLO, STOP, "[DONE]"]))]).await;
    let (pieces, error) = hear(model(settings(Kind::OpenaiChat, &server)).as_ref()).await;
    assert_eq!((pieces.len(), error), (2, None));
}

#[tokio::test]
async fn words_come_as_they_are_said_and_cancelling_hangs_up() {
    let mut server = Server::start(&[Reply::Stuck(events(&[HELLO]))]).await;
    let model = model(settings(Kind::OpenaiChat, &server));
    let mut stream = model.stream(&prompt());
    assert_eq!(soon(stream.next()).await, Some(Ok(Piece::Text("Hello".into()))));
    assert!(stream.next().now_or_never().is_none());
    drop(stream);
    server.client_leaves().await;
}

#[tokio::test]
async fn cancelling_before_the_first_word_hangs_up_as_well() {
    let mut server = Server::start(&[Reply::Stuck(String::new())]).await;
    let model = model(settings(Kind::Anthropic, &server));
    let mut stream = model.stream(&prompt());
    tokio::select! {
        piece = stream.next() => unreachable!("{piece:?}"),
        _ = server.request() => (),
    }
    drop(stream);
    server.client_leaves().await;
}

#[tokio::test]
async fn nothing_is_asked_before_anybody_listens() {
    let mut server = Server::start(&[Reply::Whole(events(&[]))]).await;
    drop(model(settings(Kind::Gemini, &server)).stream(&prompt()));
    assert_eq!(server.asked(), 0);
}

#[tokio::test]
async fn pictures_are_read_when_they_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let image = |name: &str| Attachment {
        path: folder.path().join(name),
        mime: "image/png".into(),
        name: name.into(),
    };
    fs::write(folder.path().join("cat.png"), "meow").unwrap();
    let mut prompt = prompt();
    let images = vec![image("cat.png"), image("gone.png")];
    prompt.parts = vec![Part::User { text: "Look".into(), images }];
    let mut server = Server::start(&[Reply::Whole(events(&[HELLO, STOP]))]).await;
    let model = model(settings(Kind::OpenaiChat, &server));
    assert_eq!(soon(model.stream(&prompt).count()).await, 2);
    let request = server.request().await;
    assert!(request.contains("data:image/png;base64,bWVvdw=="), "{request}");
    assert!(request.contains("[picture not found: gone.png]"), "{request}");
}

#[tokio::test]
async fn a_proxy_is_asked_instead() {
    let mut proxy = Server::start(&[Reply::Whole(events(&[HELLO, STOP]))]).await;
    let mut settings = settings(Kind::OpenaiChat, &proxy);
    settings.proxy = settings.base_url.replace("http://models.example/v1".into());
    assert_eq!(hear(model(settings).as_ref()).await.1, None);
    let request = proxy.request().await;
    assert!(request.starts_with("POST http://models.example/v1/chat/completions "), "{request}");
}

#[tokio::test]
async fn a_tool_of_the_vendor_is_asked_for_by_its_word_beside_those_of_the_owner() {
    let mut server = Server::start(&[Reply::Whole(events(&[]))]).await;
    let mut settings = settings(Kind::Anthropic, &server);
    settings.computer_use = true;
    settings.models = Some(vec!["claude-opus-4-5".into()]);
    settings.headers.insert("anthropic-beta".into(), "owners-word".into());
    let model = lineup([("house", settings)]).find("house/claude-opus-4-5").unwrap();
    let mut asked = prompt();
    let schema = json!({ "type": "object", "x-screen": { "width": 800, "height": 600 } });
    let (name, description) = ("computer".to_owned(), "Drives.".to_owned());
    asked.tools = vec![ToolSpec { name, description, schema }];
    soon(model.stream(&asked).collect::<Vec<_>>()).await;
    let request = server.request().await;
    let words = "anthropic-beta: owners-word,computer-use-2025-11-24\r\n";
    assert!(request.contains(words), "{request}");
    assert!(request.contains("\"type\":\"computer_20251124\""), "{request}");
    asked.tools.clear();
    soon(model.stream(&asked).collect::<Vec<_>>()).await;
    let request = server.request().await;
    assert!(request.contains("anthropic-beta: owners-word\r\n"), "{request}");
}
