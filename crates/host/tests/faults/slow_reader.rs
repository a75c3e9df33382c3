//! Sockets that stop reading, beside one that reads on.

use serde_json::json;
use tokio::net::TcpSocket;

use crate::{
    PAUSE,
    client::{Client, Heard, Socket},
    server::{Home, Server},
    watcher::{Habits, Watcher},
    within,
    witness::{self, Witness},
};

/// How much more memory the server may hold while it serves those who do not listen.
const ROOM: u64 = 30 << 20;
const WORDS: usize = 200_000;
/// As little as the system gives.
const BUFFER: u32 = 2048;

#[tokio::test]
async fn a_reader_that_stops_neither_slows_the_others_nor_costs_memory_and_catches_up() {
    stop_reading(1).await;
}

#[tokio::test]
async fn twenty_readers_that_stop_are_no_worse_than_one() {
    stop_reading(20).await;
}

async fn stop_reading(count: usize) {
    let home = Home::new();
    let mut server = home.serve(&[]).await;
    let client = Client::of(&home);
    let session = client.create().await;
    // What any long answer costs is not at issue.
    client.post(&session, &format!("/long {WORDS}")).await;
    client.idle(&session).await;
    let start = witness::history(&client, &session).await.last();
    let mut stuck = Vec::new();
    for _ in 0..count {
        stuck.push(stuck_reader(&client, &session).await);
    }
    let habits = Habits { deltas: Some("native"), ..Habits::default() };
    let mut reader = Watcher::start(&client, &session, habits);
    reader.hears(|now| now.events > 0).await;
    let before = server.memory();
    println!("before {}", before >> 10);
    client.post(&session, &format!("/long {WORDS}")).await;
    let most = most_memory(&server, client.idle(&session)).await;
    println!("{count} most {} now {}", most >> 10, server.memory() >> 10);
    let past = witness::history(&client, &session).await;
    let witness = reader.up_to(past.last()).await;
    assert!(witness.told == past.told);
    for socket in stuck {
        catch_up(socket, &client, &session, &past, start).await;
    }
    println!("after {}", server.memory() >> 10);
    assert!(server.is_running());
}

async fn stuck_reader(client: &Client, session: &str) -> Socket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(BUFFER).unwrap();
    let mut socket = client.connect_from(socket).await.unwrap();
    assert!(socket.say(json!({"type": "subscribe", "sessionId": session})).await);
    socket.settle().await;
    socket
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
    most
}

/// Reads on; if it was dropped meanwhile, it comes back and says how far it had come.
async fn catch_up(mut socket: Socket, client: &Client, session: &str, past: &Witness, start: u64) {
    let mut witness = Witness::default();
    while witness.last() < past.last() {
        match within("the rest", socket.hear()).await {
            Heard::Frame(frame) => witness.hear(frame),
            Heard::Closed(_) => {
                socket = client.connect().await.unwrap();
                let after = witness.last().max(start);
                let wish = json!({"type": "subscribe", "sessionId": session, "after": after});
                assert!(socket.say(wish).await);
            }
        }
    }
    assert!(witness.told.events == past.told.since(start));
}
