//! There is no room left to write, for a while.

use kernel::update::{Fact, Outcome};
use reqwest::Method;
use serde_json::json;
use testkit::history;

use crate::{
    client::{Client, Heard},
    script::Script,
    server::Home,
    until, within, witness,
};

#[tokio::test]
async fn when_nothing_can_be_written_the_caller_is_told_and_nothing_acknowledged_is_lost() {
    let home = Home::new();
    let mut server = home.serve(&[]).await;
    let client = Client::of(&home);
    let session = client.create().await;
    client.post(&session, "/long 5").await;
    client.idle(&session).await;
    let before = (client.log(&session).await, witness::history(&client, &session).await.told);

    server.limit_files(Some(0));
    for _ in 0..3 {
        let message = json!({ "prompt": "hello" });
        let (status, body) = client.say(&session, message, "again").await.unwrap();
        assert_eq!((status, body["code"].as_str()), (500, Some("INTERNAL_ERROR")), "{body}");
        let made = client.call(Method::POST, "/api/sessions", Some(json!({})), "").await;
        assert_eq!(made.unwrap().0, 500);
    }
    assert_eq!(client.get("/healthz").await["status"], "ok");
    let after = (client.log(&session).await, witness::history(&client, &session).await.told);
    assert_eq!(after, before, "what was there can still be read, and nothing was added");

    server.limit_files(None);
    let message = json!({ "prompt": "hello" });
    assert_eq!(client.say(&session, message, "again").await.unwrap().0, 200);
    client.idle(&session).await;
    server.limit_files(Some(0));
    assert_eq!(client.say(&session, json!({ "prompt": "bye" }), "").await.unwrap().0, 500);
    let before = client.log(&session).await;
    assert!(server.is_running());
    server.kill().await;

    let _server = home.serve(&[]).await;
    assert_eq!(client.log(&session).await, before);
    assert_eq!(history::check(&before), Ok(()));
    client.post(&session, "/long 2").await;
    client.idle(&session).await;
}

#[tokio::test]
async fn a_log_that_cannot_be_written_breaks_nothing_else() {
    let home = Home::new();
    let server = home.serve_logging_to_file().await;
    let client = Client::of(&home);
    let session = client.create().await;
    server.limit_files(Some(0));
    let message = json!({ "prompt": "/long 2" });
    for _ in 0..3 {
        assert_eq!(client.say(&session, message.clone(), "").await.unwrap().0, 500);
    }
    server.limit_files(None);
    client.post(&session, "/long 2").await;
    client.idle(&session).await;
}

#[tokio::test]
async fn a_turn_that_cannot_be_recorded_is_told_of_and_recorded_when_there_is_room_again() {
    let home = Home::new();
    let script = Script::play(&home, "");
    let mut server = home.serve(&["--drain", "1"]).await;
    let client = Client::of(&home);
    let session = client.create().await;
    let mut socket = client.connect().await.unwrap();
    witness::join(&mut socket, &session, None).await;
    // It goes on speaking only when there is no room for it.
    let mut pause = Some(script.pauses_between("word1 ", "word2"));
    client.post(&session, "speak").await;
    let error = loop {
        let Heard::Frame(frame) = within("an error", socket.hear()).await else {
            panic!("cut off")
        };
        let event = &frame["event"];
        if event["type"] == "assistant.message_delta" && pause.is_some() {
            server.limit_files(Some(0));
            pause = None;
        }
        if event["type"] == "session.error" {
            break event["data"].clone();
        }
    };
    assert_eq!(error["errorType"], "storage", "{error}");
    let state = client.get(&format!("/api/sessions/{session}/state")).await;
    assert_eq!(state["isBusy"], true, "it is not over before it is recorded");

    server.limit_files(None);
    client.idle(&session).await;
    let log = client.log(&session).await;
    assert_eq!(history::check(&log), Ok(()));
    let [.., answer, end] = log.as_slice() else { panic!("{log:?}") };
    assert!(matches!(&end.fact, Fact::TurnEnded(Outcome::Failed { .. })), "{end:?}");
    let Fact::Answered(answer) = &answer.fact else { panic!("{answer:?}") };
    assert!(answer.partial && answer.text.starts_with("word1 "), "{answer:?}");
    script.says("fine");
    client.post(&session, "speak").await;
    client.idle(&session).await;

    // Not even then does it hang when it is told to stop.
    let _pause = script.pauses_between("word1 ", "word2");
    client.post(&session, "speak").await;
    until("the turn to speak", async || {
        let log = client.log(&session).await;
        matches!(log.last()?.fact, Fact::StepStarted { .. }).then_some(())
    })
    .await;
    server.limit_files(Some(0));
    server.terminate();
    assert_eq!(server.ended().await.code(), Some(0));
    let _server = home.serve(&[]).await;
    client.idle(&session).await;
    let log = client.log(&session).await;
    assert_eq!(history::check(&log), Ok(()));
    assert_eq!(log.last().unwrap().fact, Fact::TurnEnded(Outcome::Interrupted));
}
