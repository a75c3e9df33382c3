//! Bytes in, pieces out: the two halves of reading a stream, joined.

use kernel::ports::{ModelError, Piece};
use serde_json::Value;

use crate::{
    config::Kind,
    fault,
    sse::{self, Event},
    wire::{self, Decode},
};

/// As much as is kept to say what came instead of events.
const EXCERPT: usize = 64 * 1024;

pub struct Reader {
    events: sse::Parser,
    decoder: Box<dyn Decode>,
    /// What came before any event.
    prologue: Vec<u8>,
    heard: bool,
}

/// Pieces in order, perhaps with an error behind them that ends it all.
pub type Heard = (Vec<Piece>, Option<ModelError>);

impl Reader {
    pub fn new(kind: Kind) -> Self {
        Self {
            events: sse::Parser::default(),
            decoder: wire::decoder(kind),
            prologue: Vec::new(),
            heard: false,
        }
    }

    pub fn push(&mut self, bytes: &[u8]) -> Heard {
        if !self.heard {
            let room = EXCERPT.saturating_sub(self.prologue.len()).min(bytes.len());
            self.prologue.extend_from_slice(&bytes[..room]);
        }
        let Ok(events) = self.events.push(bytes) else {
            let error = fault::garbage("an event has no end", "more than 32 MiB");
            return (Vec::new(), Some(error));
        };
        self.decode(events)
    }

    /// Whether the last event has been heard, although more bytes may come.
    pub fn is_done(&self) -> bool {
        self.decoder.is_done()
    }

    pub fn finish(&mut self) -> Heard {
        let last = self.events.finish();
        let is_torn = last.as_ref().is_some_and(|event| is_torn(&event.data));
        // Half an event is no garbage: the rest of it was lost.
        let last = last.filter(|_| !is_torn);
        let (mut pieces, error) = self.decode(last);
        if error.is_some() {
            return (pieces, error);
        }
        if is_torn && !self.decoder.is_done() {
            return (pieces, Some(fault::ended_early()));
        }
        if let Some(error) = self.instead() {
            return (pieces, Some(error));
        }
        match self.decoder.finish() {
            Ok(rest) => {
                pieces.extend(rest);
                (pieces, None)
            }
            Err(error) => (pieces, Some(error)),
        }
    }

    fn decode(&mut self, events: impl IntoIterator<Item = Event>) -> Heard {
        let mut pieces = Vec::new();
        for Event { name, data } in events {
            // What comes after the end, or with nothing in it, says nothing.
            if data.trim().is_empty() || self.decoder.is_done() {
                continue;
            }
            self.heard = true;
            match self.decoder.event(name.as_deref(), &data) {
                Ok(more) => pieces.extend(more),
                Err(error) => return (pieces, Some(error)),
            }
        }
        (pieces, None)
    }

    /// What it means that something came, and it was no event.
    fn instead(&self) -> Option<ModelError> {
        let text = String::from_utf8_lossy(&self.prologue);
        // Comments keep a connection warm, and say nothing.
        let said = text.lines().any(|line| !line.is_empty() && !line.starts_with(':'));
        if self.heard || !said {
            return None;
        }
        let parsed: Option<Value> = serde_json::from_str(&text).ok();
        Some(match parsed.as_ref().and_then(|value| value.get("error")) {
            Some(error) => fault::from_error(None, error),
            None => fault::garbage("it did not answer with a stream of events", &text),
        })
    }
}

fn is_torn(data: &str) -> bool {
    let data = data.trim();
    let whole = serde_json::from_str::<Value>(data);
    "[DONE]".strip_prefix(data).is_some_and(|rest| !rest.is_empty())
        || whole.is_err_and(|error| error.is_eof())
}
