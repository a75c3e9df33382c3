//! What goes wrong, and how it is told without telling the key.

use std::time::Duration;

use futures::StreamExt as _;
use kernel::{
    ports::{Models as _, Piece},
    update::Failure,
};
use models::{Kind, Problem};

use crate::{
    KEY, fail, hear, lineup, model, prompt,
    server::{Reply, Server, Standstill, events, response, soon},
    settings,
};

const HELLO: &str = r#"{"choices":[{"delta":{"content":"Hello"}}]}"#;

fn whole(text: &str) -> [Reply; 1] {
    [Reply::Whole(text.to_owned())]
}

#[tokio::test]
async fn every_refusal_becomes_a_kind_that_says_what_to_do() {
    let cases = [
        (
            response(
                "401 Unauthorized",
                "",
                r#"{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}"#,
            ),
            Failure::BadKey,
            "house does not accept the key: Incorrect API key. Correct the key in HOUSE_KEY",
            None,
        ),
        (
            response(
                "429 Too Many Requests",
                "retry-after: 7\r\n",
                r#"{"error":{"message":"Slow down","type":"rate_limit_error"}}"#,
            ),
            Failure::RateLimited,
            "house asks to wait 7.0 s: Slow down",
            Some(Duration::from_secs(7)),
        ),
        (
            response(
                "429 Too Many Requests",
                "",
                r#"{"error":{"message":"Check your plan.","code":"insufficient_quota"}}"#,
            ),
            Failure::NoQuota,
            "house will not work on credit: Check your plan. Top up your account at 127.0.0.1:",
            None,
        ),
        (
            response(
                "529 Overloaded",
                "retry-after-ms: 40\r\n",
                r#"{"error":{"message":"Overloaded","type":"overloaded_error"}}"#,
            ),
            Failure::Overloaded,
            "house is in trouble: Overloaded. Try again later, or choose another model",
            Some(Duration::from_millis(40)),
        ),
        (
            response("500 Oops", "", "<h1>Oops</h1>"),
            Failure::Overloaded,
            "house is in trouble: HTTP 500: <h1>Oops</h1>. Try again later, or choose another model",
            None,
        ),
        (
            response(
                "400 Bad Request",
                "",
                r#"{"error":{"message":"maximum context length is 8 tokens","code":"context_length_exceeded"}}"#,
            ),
            Failure::ContextTooLong,
            "the conversation is too long for best: maximum context length is 8 tokens. Sum it up",
            None,
        ),
        (
            response(
                "404 Not Found",
                "",
                r#"{"error":{"message":"no such model","code":"model_not_found"}}"#,
            ),
            Failure::NoModel,
            "house has no model best: no such model. Choose another",
            None,
        ),
        (
            response("302 Found", "location: http://127.0.0.1:1/\r\n", ""),
            Failure::Protocol,
            "it has moved; correct its base_url",
            None,
        ),
    ];
    for (reply, kind, message, wait) in cases {
        let server = Server::start(&whole(&reply)).await;
        let error = fail(model(settings(Kind::OpenaiChat, &server)).as_ref()).await;
        assert_eq!((error.kind, error.wait), (kind, wait), "{error}");
        assert!(error.message.contains(message), "{error}");
    }
}

#[tokio::test]
async fn a_stalled_stream_is_cut() {
    for said in [events(&[HELLO]), events(&[]), String::new()] {
        let mut server = Server::start(&[Reply::Stuck(said.clone())]).await;
        let mut settings = settings(Kind::OpenaiChat, &server);
        settings.silence_seconds = Some(30.0);
        let model = model(settings);
        let still = Standstill::begin();
        let mut stream = model.stream(&prompt());
        if said.contains("Hello") {
            assert_eq!(stream.next().await, Some(Ok(Piece::Text("Hello".into()))));
        }
        tokio::select! {
            piece = stream.next() => panic!("{piece:?}"),
            _ = server.request() => drop(still),
        }
        let error = stream.next().await.unwrap().unwrap_err();
        assert_eq!(error.kind, Failure::Network);
        assert!(error.message.contains("said nothing for 30s"), "{error}");
        assert!(stream.next().await.is_none(), "an error is the end");
        tokio::time::resume();
        server.client_leaves().await;
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_keeps_what_was_heard() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let event = format!("data: {HELLO}\n\n");
    let torn = format!("{chunked}{:x}\r\n{event}\r\nff\r\ndata: {{", event.len());
    for (reply, message) in [(events(&[HELLO]), "ended early"), (torn, "the connection broke")] {
        let server = Server::start(&whole(&reply)).await;
        let (pieces, error) = hear(model(settings(Kind::OpenaiChat, &server)).as_ref()).await;
        assert_eq!(pieces, [Piece::Text("Hello".into())]);
        let error = error.unwrap();
        assert_eq!(error.kind, Failure::Network);
        assert!(error.message.contains(message), "{error}");
    }
}

#[tokio::test]
async fn garbage_is_shown_in_short() {
    let page = format!("<html>{}</html>", "Welcome! ".repeat(10_000));
    let server = Server::start(&whole(&response("200 OK", "", &page))).await;
    let error = fail(model(settings(Kind::Gemini, &server)).as_ref()).await;
    assert_eq!(error.kind, Failure::Protocol);
    assert!(error.message.contains("<html>Welcome!") && error.message.len() < 600, "{error}");
    let server = Server::start(&whole("SSH-2.0-OpenSSH_9.6\r\n")).await;
    let error = fail(model(settings(Kind::Gemini, &server)).as_ref()).await;
    assert_eq!(error.kind, Failure::Network, "{error}");
}

#[tokio::test]
async fn nobody_there_is_told_with_where_it_should_be() {
    let server = Server::start(&whole("")).await;
    let mut settings = settings(Kind::OpenaiChat, &server);
    // Nothing listens on this port.
    settings.base_url = Some("http://127.0.0.1:1/v1".into());
    let error = fail(model(settings).as_ref()).await;
    assert_eq!(error.kind, Failure::Network);
    assert!(error.message.contains("Is the server at 127.0.0.1:1 running?"), "{error}");
}

#[tokio::test]
async fn a_missing_key_is_told_before_anybody_is_asked() {
    let mut server = Server::start(&whole(&events(&[]))).await;
    let mut settings = settings(Kind::Anthropic, &server);
    settings.api_key_env = Some("NO_SUCH_KEY".into());
    let lineup = lineup([("house", settings)]);
    let [Problem { provider: name, what: problem, .. }] = &lineup.problems()[..] else {
        unreachable!()
    };
    assert_eq!(name, "house");
    assert!(problem.contains("NO_SUCH_KEY is not set"), "{problem}");
    let error = fail(lineup.find("best").unwrap().as_ref()).await;
    assert_eq!(error.kind, Failure::BadKey);
    assert!(error.message.contains("NO_SUCH_KEY"), "{error}");
    assert_eq!(server.asked(), 0);
}

#[tokio::test]
async fn the_key_is_never_shown() {
    const TEAM: &str = "team-secret-token";
    let error =
        |said: &str| format!(r#"{{"error":{{"message":"{said}","type":"authentication_error"}}}}"#);
    let far = format!("{}{KEY}", "x".repeat(390));
    let echoes = [
        response("401 Unauthorized", "", &error(&format!("wrong: {KEY} {TEAM}"))),
        response("401 Unauthorized", "", &error(&far)),
        response("500 Oops", "", &format!("<pre>authorization: Bearer {KEY}</pre> {TEAM}")),
        response("200 OK", "", &format!("<pre>Bearer {KEY}</pre>")),
        response("200 OK", "", &error(KEY)),
        events(&[&error(KEY)]),
        events(&[&format!("{{\"{KEY}\" {TEAM}")]),
        format!("HTTP/1.1 2{KEY}\r\n\r\n"),
    ];
    for kind in [Kind::Anthropic, Kind::OpenaiResponses, Kind::OpenaiChat, Kind::Gemini] {
        for echo in &echoes {
            let server = Server::start(&whole(echo)).await;
            let mut settings = settings(kind, &server);
            settings.headers.insert("x-team".into(), format!("Token {TEAM}"));
            let written = format!("{settings:?}");
            let lineup = lineup([("house", settings)]);
            let error = fail(lineup.find("house/best").unwrap().as_ref()).await;
            let asked = soon(lineup.ask("house")).await;
            let shown = format!("{written} {lineup:?} {error} {error:?} {asked:?}");
            for secret in [KEY, "sk-never", TEAM] {
                assert!(!shown.contains(secret), "{shown}");
            }
        }
    }
}
