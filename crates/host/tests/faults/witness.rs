//! What one client was told, checked as it comes and kept to be compared.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    client::{Client, Heard, Socket},
    within,
};

/// What was said so shortly before the end may be missing from what is kept. Words are written down
/// after some 20 ms; the rest is for a machine that has other things to do.
const LAST_MOMENTS: Duration = Duration::from_secs(1);

const NATIVE: &str = "assistant.message_delta";

#[derive(Default)]
pub struct Witness {
    pub told: Told,
    pub frames: u64,
    /// By the name of the event and the message they belong to.
    streams: HashMap<(String, String), Stream>,
}

/// The facts, as a client sees them.
#[derive(Debug, Default, PartialEq)]
pub struct Told {
    /// The events that bear the place of their fact, in the order in which they came.
    pub events: Vec<(u64, Value)>,
    /// The other events of these facts, which may come again after a cut.
    parts: BTreeMap<String, Value>,
}

/// A message as it was heard word by word.
#[derive(Default)]
struct Stream {
    text: String,
    /// How long it was, and when.
    heard: Vec<(Instant, usize)>,
}

impl Witness {
    pub fn last(&self) -> u64 {
        self.told.events.last().map_or(0, |(seq, _)| *seq)
    }

    pub fn hear(&mut self, mut frame: Value) {
        self.frames += 1;
        assert_ne!(frame["type"], "error", "{frame}");
        if frame["type"] != "event" {
            return;
        }
        let event = frame["event"].take();
        if event["ephemeral"] == true {
            self.hear_passing(&event);
            return;
        }
        if let Some(seq) = frame["seq"].as_u64() {
            assert!(seq > self.last(), "{seq} comes after {}: {event}", self.last());
            self.told.events.push((seq, event));
        } else {
            let id = event["id"].as_str().unwrap().to_owned();
            let before = self.told.parts.insert(id, event.clone());
            assert!(before.is_none_or(|before| before == event), "{event}");
        }
    }

    /// The texts of the messages that were cut short.
    pub fn partials(&self) -> impl Iterator<Item = &str> {
        let partial = |(_, event): &&(u64, Value)| event["data"]["partial"] == true;
        let partials = self.told.events.iter().filter(partial);
        partials.filter_map(|(_, event)| event["data"]["content"].as_str())
    }

    /// Every message as it was heard word by word, under its native name.
    pub fn texts(&self) -> Vec<&str> {
        let native = self.streams.iter().filter(|((name, _), _)| name == NATIVE);
        native.map(|(_, stream)| stream.text.as_str()).collect()
    }

    fn hear_passing(&mut self, event: &Value) {
        let (name, data) = (event["type"].as_str().unwrap(), &event["data"]);
        let delta = match name {
            NATIVE => &data["deltaContent"],
            "assistant.message.delta" => &data["content"],
            _ => return,
        };
        let message = data["messageId"].as_str().unwrap().to_owned();
        let stream = self.streams.entry((name.to_owned(), message)).or_default();
        let delta = delta.as_str().unwrap();
        if data["replace"] == true {
            assert!(delta.starts_with(&stream.text), "{event}");
            stream.text.clear();
        }
        stream.text.push_str(delta);
        stream.heard.push((Instant::now(), stream.text.len()));
        if let Some(size) = data["totalResponseSizeBytes"].as_u64() {
            assert_eq!(stream.text.len() as u64, size, "a word is missing before {event}");
        }
    }

    /// It was told what there is to tell, and what is kept of each message continues what was heard of
    /// it; only if that was cut short it may end earlier, and then not by much.
    pub fn agrees_with(&self, past: &Self) {
        assert!(self.told == past.told, "told {:#?}\nkept {:#?}", self.told, past.told);
        for ((_, id), Stream { text, heard }) in &self.streams {
            let message = past.message(id);
            let kept = message["content"].as_str().unwrap_or_default();
            let is_whole = !message.is_null() && message["partial"] != true;
            let agrees = kept.starts_with(text.as_str()) || !is_whole && text.starts_with(kept);
            assert!(agrees, "heard {text:?}, kept {kept:?}");
            let Some((end, _)) = heard.last() else { continue };
            let mut early = heard.iter().filter(|(at, _)| *at + LAST_MOMENTS < *end);
            let safe = early.next_back().map_or(0, |(_, size)| *size);
            assert!(kept.len() >= safe, "heard {safe} bytes long before, kept {}", kept.len());
        }
    }

    /// What is known of a message, null if nothing is.
    fn message(&self, id: &str) -> &Value {
        let events = self.told.events.iter().map(|(_, event)| event);
        let mut all = events.chain(self.told.parts.values());
        let found = all
            .find(|event| event["type"] == "assistant.message" && event["data"]["messageId"] == id);
        found.map_or(&Value::Null, |event| &event["data"])
    }
}

/// One who begins to listen, from now on or from some place.
pub async fn join(socket: &mut Socket, session: &str, after: Option<u64>) -> Witness {
    let wish = json!({"type": "subscribe", "sessionId": session, "after": after});
    assert!(socket.say(wish).await);
    let mut witness = Witness::default();
    socket.settle().await.into_iter().for_each(|frame| witness.hear(frame));
    witness
}

/// All that a newcomer is told of the past.
pub async fn history(client: &Client, session: &str) -> Witness {
    let mut witness = Witness::default();
    let mut socket = client.connect().await.unwrap();
    assert!(socket.say(json!({"type": "requestHistory", "sessionId": session})).await);
    let listening = async {
        loop {
            match socket.hear().await {
                Heard::Frame(frame) if frame["type"] == "historyComplete" => break,
                Heard::Frame(frame) => witness.hear(frame),
                Heard::Closed(reason) => panic!("cut off: {reason:?}"),
            }
        }
    };
    within("the history", listening).await;
    witness
}
