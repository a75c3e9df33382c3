//! Sockets that stop reading, beside one that reads on.

use futures::future::join_all;
use serde_json::json;
use tokio::net::TcpSocket;

use crate::{
    PAUSE,
    client::{Client, Heard, Socket},
    server::{Home, Server},
    until,
    watcher::{Habits, Watcher},
    within,
    witness::{self, Witness},
};

/// How much more memory the server may hold for those who do not listen.
const ROOM: u64 = 30 << 20;
const MANY: usize = 20;
/// As little as the system gives.
const BUFFER: u32 = 2048;

#[tokio::test]
async fn a_reader_that_stops_slows_nobody_and_is_dropped_in_the_end_and_resumes() {
    let (home, server) = start().await;
    let client = Client::of(&home);
    let session = client.create().await;
    let mut stuck = vec![Stuck::start(&client, &session, None).await];
    stream_beside(&client, &session, &server, 100_000).await;
    until("the reader to be dropped", async || {
        let metrics = client.text("/metrics").await;
        metrics.contains("megaron_slow_readers_total 1").then_some(())
    })
    .await;
    let past = witness::history(&client, &session).await;
    let cuts = stuck.remove(0).catch_up(&client, &session, &past).await;
    assert_eq!(cuts, 1);
}

#[tokio::test]
async fn twenty_readers_that_stop_amid_a_long_answer_cost_little_and_catch_up() {
    let (home, server) = start().await;
    let client = Client::of(&home);
    let session = client.create().await;
    let mut stuck = Vec::new();
    for _ in 0..MANY {
        stuck.push(Stuck::start(&client, &session, None).await);
    }
    stream_beside(&client, &session, &server, 50_000).await;
    let past = witness::history(&client, &session).await;
    // All at once: the longer a reader has kept the system waiting, the longer the system takes to ask again.
    join_all(stuck.into_iter().map(|reader| reader.catch_up(&client, &session, &past))).await;
}

#[tokio::test]
async fn twenty_readers_that_stop_in_a_long_past_hold_little_of_it() {
    let (home, server) = start().await;
    let client = Client::of(&home);
    let session = client.create().await;
    let book = "all of this was said long ago ".repeat(1_500);
    for number in 0..100 {
        client.post(&session, &format!("/long 1\n{number} {book}")).await;
        client.idle(&session).await;
    }
    let before = server.memory();
    let mut stuck = Vec::new();
    for _ in 0..MANY {
        stuck.push(Stuck::start(&client, &session, Some(0)).await);
    }
    // Whoever comes after them is served.
    let past = witness::history(&client, &session).await;
    let grown = server.memory().saturating_sub(before);
    assert!(grown < ROOM, "{} kB more than before", grown >> 10);
    join_all(stuck.into_iter().map(|reader| reader.catch_up(&client, &session, &past))).await;
}

async fn start() -> (Home, Server) {
    let home = Home::new();
    let server = home.serve(&[]).await;
    (home, server)
}

/// A long answer reaches one who reads, in little memory, whoever else does not.
async fn stream_beside(client: &Client, session: &str, server: &Server, words: usize) {
    let habits = Habits { deltas: Some("native"), ..Habits::default() };
    let reader = Watcher::start(client, session, habits);
    let before = server.memory();
    client.post(session, &format!("/long {words}")).await;
    let most = most_memory(server, client.idle(session)).await;
    let grown = most.saturating_sub(before);
    assert!(grown < ROOM, "{} kB more than before", grown >> 10);
    let past = witness::history(client, session).await;
    reader.up_to(past.last()).await.agrees_with(&past);
}

/// The most the server held in memory while something went on.
async fn most_memory(server: &Server, meanwhile: impl Future<Output = ()>) -> u64 {
    let mut most = 0;
    let watching = async {
        loop {
            most = most.max(server.memory());
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::select! {
        () = meanwhile => (),
        () = watching => (),
    }
    most.max(server.memory())
}

/// A client that has stopped reading.
struct Stuck {
    socket: Socket,
    witness: Witness,
}

impl Stuck {
    async fn start(client: &Client, session: &str, after: Option<u64>) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(BUFFER).unwrap();
        let mut socket = client.connect_from(socket).await.unwrap();
        let witness = witness::join(&mut socket, session, after).await;
        Self { socket, witness }
    }

    /// Reads on; when it is cut off, it comes back and says how far it had come. Returns how often.
    async fn catch_up(self, client: &Client, session: &str, past: &Witness) -> usize {
        let Self { mut socket, mut witness } = self;
        socket.widen();
        let mut cuts = 0;
        while witness.last() < past.last() {
            match within("the rest", socket.hear()).await {
                Heard::Frame(frame) => witness.hear(frame),
                Heard::Closed(_) => {
                    cuts += 1;
                    socket = client.connect().await.unwrap();
                    let after = witness.last();
                    let wish = json!({"type": "subscribe", "sessionId": session, "after": after});
                    assert!(socket.say(wish).await);
                }
            }
        }
        witness.agrees_with(past);
        cuts
    }
}
