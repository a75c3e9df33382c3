//! The server is told to stop while a turn runs.

use kernel::update::{Entry, Fact, Outcome};
use serde_json::json;
use testkit::history;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::{
    client::{Client, Heard, Socket},
    server::{Home, Server},
    within,
    witness::{self, Witness},
};

#[tokio::test]
async fn a_turn_too_long_for_the_drain_is_recorded_as_interrupted_with_its_text() {
    let home = Home::new();
    let mut server = home.serve(&["--drain", "1"]).await;
    let client = Client::of(&home);
    let session = client.create().await;
    let (mut socket, mut witness) = listen(&client, &session).await;
    client.post(&session, "/slow 20\n/long 1000").await;
    stop_amid_words(&server, &mut socket, &mut witness).await;
    assert_eq!(server.ended().await.code(), Some(0));

    let _server = home.serve(&[]).await;
    let (log, past) = (client.log(&session).await, witness::history(&client, &session).await);
    assert_eq!(history::check(&log), Ok(()));
    assert_eq!(outcomes(&log), [Outcome::Interrupted]);
    let kept: Vec<&str> = past.partials().collect();
    assert_eq!(kept, witness.texts(), "all that was heard is kept");
    // What the socket had no time to say is said now.
    let mut socket = client.connect().await.unwrap();
    let after = witness.last();
    assert!(socket.say(json!({"type": "subscribe", "sessionId": session, "after": after})).await);
    while witness.last() < past.last() {
        let Heard::Frame(frame) = within("the rest", socket.hear()).await else {
            panic!("cut off")
        };
        witness.hear(frame);
    }
    witness.agrees_with(&past);
    client.post(&session, "/long 2").await;
    client.idle(&session).await;
    assert_eq!(outcomes(&client.log(&session).await), [Outcome::Interrupted, Outcome::Finished]);
}

#[tokio::test]
async fn a_turn_that_fits_into_the_drain_is_finished_and_what_waits_is_answered_by_the_next() {
    let home = Home::new();
    let mut server = home.serve(&["--drain", "60"]).await;
    let client = Client::of(&home);
    let session = client.create().await;
    let (mut socket, mut witness) = listen(&client, &session).await;
    client.post(&session, "/slow 20\n/long 40").await;
    let waiting = json!({ "prompt": "/long 2", "queue": true });
    assert_eq!(client.say(&session, waiting, "").await.unwrap().0, 200);
    stop_amid_words(&server, &mut socket, &mut witness).await;
    assert_eq!(server.ended().await.code(), Some(0));
    assert_eq!(witness.texts()[0].split(' ').count(), 40, "it was heard to the end");

    let _server = home.serve(&[]).await;
    client.idle(&session).await;
    let log = client.log(&session).await;
    assert_eq!(history::check(&log), Ok(()));
    assert_eq!(outcomes(&log), [Outcome::Finished, Outcome::Finished]);
}

#[tokio::test]
async fn whoever_watches_a_quiet_session_hears_no_more_than_goodbye() {
    let home = Home::new();
    let mut server = home.serve(&["--drain", "60"]).await;
    let client = Client::of(&home);
    let (busy, quiet) = (client.create().await, client.create().await);
    let (mut socket, mut witness) = listen(&client, &quiet).await;
    let (mut other, mut other_witness) = listen(&client, &busy).await;
    client.post(&busy, "/slow 20\n/long 40").await;
    stop_amid_words(&server, &mut other, &mut other_witness).await;
    hear_goodbye(&mut socket, &mut witness).await;
    assert_eq!(server.ended().await.code(), Some(0));
}

#[tokio::test]
async fn a_second_server_is_refused_while_the_first_goes_on() {
    let home = Home::new();
    let _server = home.serve(&[]).await;
    let client = Client::of(&home);
    let session = client.create().await;
    let (mut socket, mut witness) = listen(&client, &session).await;
    client.post(&session, "/slow 5\n/long 100000").await;
    hear_words(&mut socket, &mut witness).await;
    let (code, complaint) = home.run(&["serve", "--no-open", "--listen", "127.0.0.1:0"]).await;
    assert_eq!(code, Some(1), "{complaint}");
    assert!(complaint.contains("uses the data directory"), "{complaint}");
    hear_words(&mut socket, &mut witness).await;
    assert_eq!(history::check(&client.log(&session).await), Ok(()));
}

async fn listen(client: &Client, session: &str) -> (Socket, Witness) {
    let mut socket = client.connect().await.unwrap();
    let witness = witness::join(&mut socket, session, None).await;
    (socket, witness)
}

/// Tells the server to stop once words are heard, and hears it out.
async fn stop_amid_words(server: &Server, socket: &mut Socket, witness: &mut Witness) {
    hear_words(socket, witness).await;
    server.terminate();
    hear_goodbye(socket, witness).await;
}

async fn hear_goodbye(socket: &mut Socket, witness: &mut Witness) {
    let reason = loop {
        match within("the end", socket.hear()).await {
            Heard::Frame(frame) => witness.hear(frame),
            Heard::Closed(reason) => break reason.unwrap(),
        }
    };
    assert_eq!(reason.code, CloseCode::Away, "{reason:?}");
}

async fn hear_words(socket: &mut Socket, witness: &mut Witness) {
    let enough = witness.frames + 20;
    while witness.frames < enough {
        let Heard::Frame(frame) = within("words", socket.hear()).await else { panic!("cut off") };
        witness.hear(frame);
    }
}

fn outcomes(log: &[Entry]) -> Vec<Outcome> {
    let outcome = |entry: &Entry| match &entry.fact {
        Fact::TurnEnded(outcome) => Some(outcome.clone()),
        _ => None,
    };
    log.iter().filter_map(outcome).collect()
}
