//! The server is killed again and again while clients watch and talk.

use kernel::{
    ledger,
    update::{Entry, Fact, Message, Outcome},
};
use serde_json::{Value, json};
use testkit::history;
use tokio::sync::watch;

use crate::{
    PAUSE,
    chance::Chance,
    client::Client,
    server::Home,
    watcher::{Habits, Watcher},
    within, witness,
};

const ROUNDS: u64 = 10;

#[tokio::test]
async fn through_ten_kills_nothing_is_lost_and_nothing_told_twice() {
    let mut chance = Chance::new();
    let home = Home::new();
    let mut server = home.serve(&[]).await;
    let client = Client::of(&home);
    let session = client.create().await;
    let habits = |deltas, restless| Habits { deltas, restless };
    let mut first = Watcher::start(&client, &session, habits(Some("native"), None));
    let second = Watcher::start(&client, &session, habits(None, None));
    let third = Watcher::start(&client, &session, habits(None, Some(chance.fork())));
    let (stop, stopped) = watch::channel(false);
    let (taken, mut count) = watch::channel(0);
    let (speaker, words) = (client.clone(), chance.fork());
    let speaking = tokio::spawn(speak(speaker, session.clone(), words, taken, stopped));

    for round in 0..ROUNDS {
        let seen = first.progress();
        // At first surely in the middle of a sentence; then anywhere.
        match if round == 0 { 0 } else { chance.of(0..5) } {
            0 => {
                let frames = seen.frames + 300;
                first.hears(|now| now.frames >= frames).await;
            }
            1 => {
                let frames = seen.frames + chance.of(1..200);
                first.hears(|now| now.frames >= frames).await;
            }
            2 => {
                let events = seen.events + chance.of(1..30);
                first.hears(|now| now.events >= events).await;
            }
            3 => (), // At once, while it puts in order what the last kill left.
            _ => {
                let messages = *count.borrow() + chance.of(1..4);
                let taken = count.wait_for(|now| *now >= messages);
                within("messages to be taken", taken).await.unwrap();
            }
        }
        server.kill().await;
        server = home.serve(&[]).await;
    }

    stop.send_replace(true);
    let said = within("the last message to be taken", speaking).await.unwrap();
    client.idle(&session).await;
    let log = client.log(&session).await;
    assert_eq!(history::check(&log), Ok(()));
    for message in &said {
        kept_once(&log, message);
    }
    let total = client.get("/api/usage").await["total"].clone();
    assert_eq!(total["inputTokens"], used(&log), "what was used is counted once");
    let interrupted = |entry: &&Entry| entry.fact == Fact::TurnEnded(Outcome::Interrupted);
    assert!(log.iter().filter(interrupted).count() > 0, "no turn was interrupted");
    let past = witness::history(&client, &session).await;
    assert!(past.partials().any(|text| text.starts_with("word1 word2")), "no text was kept");
    for watcher in [first, second, third] {
        watcher.up_to(past.last()).await.agrees_with(&past);
    }
}

struct Said {
    key: String,
    prompt: String,
}

/// Talks until it is told to stop; returns what was acknowledged, which is all of it.
async fn speak(
    client: Client,
    session: String,
    mut chance: Chance,
    taken: watch::Sender<u64>,
    stopped: watch::Receiver<bool>,
) -> Vec<Said> {
    let mut said = Vec::new();
    while !*stopped.borrow() {
        let number = said.len();
        let kind = if number == 0 { 0 } else { chance.of(0..4) };
        let prompt = match kind {
            0 => format!("/slow 5\n/long 400\n{number}"),
            1 => format!("/slow 1\n/long 200\n{number}"),
            2 => format!(
                "/par\n/tool current_time {{}}\n/tool list_directory {{}}\n/tool none {{}}\n{number}"
            ),
            _ => format!("hello {number}"),
        };
        let key = format!("key-{number}");
        let message = json!({ "prompt": prompt, "queue": chance.of(0..2) == 0 });
        let trying = async {
            while !is_taken(client.say(&session, message.clone(), &key).await) {
                tokio::time::sleep(PAUSE).await;
            }
        };
        within("a message to be taken", trying).await;
        said.push(Said { key, prompt });
        taken.send_replace(said.len() as u64);
    }
    said
}

fn is_taken(answer: Option<(u16, Value)>) -> bool {
    match answer {
        Some((200, _)) => true,
        Some((409, _)) | None => false,
        Some((status, body)) => panic!("{status} {body}"),
    }
}

/// How much the models of these steps read.
fn used(log: &[Entry]) -> u64 {
    let spent = log.iter().filter_map(|entry| ledger::used(&entry.fact));
    spent.map(|(_, usage)| usage.input_tokens).sum()
}

fn kept_once(log: &[Entry], Said { key, prompt }: &Said) {
    let keyed = |message: &Message| message.key.as_ref() == Some(key);
    let accepted = log.iter().filter(|entry| match &entry.fact {
        Fact::Queued(message) | Fact::Said { message, .. } => keyed(message),
        _ => false,
    });
    assert_eq!(accepted.count(), 1, "{key}: {prompt}");
    let spoken = log.iter().filter(|entry| match &entry.fact {
        Fact::Said { message, .. } => message.text == *prompt,
        _ => false,
    });
    assert_eq!(spoken.count(), 1, "{key}: {prompt}");
}
