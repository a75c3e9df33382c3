//! Frames of version 1, with exactly the keys that the phone knows, and none larger than it bears.

use axum::extract::ws::Utf8Bytes;
use serde::Serialize;

/// The largest frame we send. The phone's socket dies of one above 1 MiB.
pub const FRAME_BYTES: usize = 256 << 10;
/// Room for everything in a frame besides its content.
pub const MARGIN: usize = 4 << 10;
/// The largest piece of a reply.
pub const DELTA_BYTES: usize = 16 << 10;
pub const CUT: &str = "\n\n[Cut here: the whole of it is in the history.]";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Idle,
    Busy,
}

impl Status {
    pub fn of(busy: bool) -> Self {
        if busy { Self::Busy } else { Self::Idle }
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "type")]
pub enum Frame<'a> {
    #[serde(rename = "connected")]
    Connected { agent: &'a str, status: Status, context_remaining: f64, tokens_used: i64 },
    #[serde(rename = "message.stream")]
    Stream { reply_to: &'a str, delta: &'a str },
    #[serde(rename = "message.complete")]
    Complete { reply_to: &'a str, id: &'a str, content: &'a str, timestamp: &'a str },
    #[serde(rename = "task.created")]
    TaskCreated {
        task_id: &'a str,
        title: &'a str,
        visibility: &'a str,
        status: &'a str,
        progress: f64,
        steps: &'a [Step],
    },
    #[serde(rename = "task.updated")]
    TaskUpdated { task_id: &'a str, progress: f64, steps: &'a [Step] },
    #[serde(rename = "task.completed")]
    TaskCompleted { task_id: &'a str, progress: f64, result: &'a str },
    #[serde(rename = "status.update")]
    StatusUpdate { status: Status, context_remaining: f64, tokens_used: i64 },
    #[serde(rename = "error")]
    Error {
        #[serde(skip_serializing_if = "Option::is_none")]
        reply_to: Option<&'a str>,
        code: &'a str,
        message: &'a str,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    pub name: String,
    pub status: &'static str,
}

/// The frame as text. What a reply has too much of is cut off, and said to be.
pub fn write(frame: &Frame<'_>) -> Utf8Bytes {
    // Our own frames have string keys and finite numbers, so this cannot fail.
    let text = serde_json::to_string(frame).unwrap_or_default();
    match frame {
        Frame::Complete { reply_to, id, content, timestamp } if text.len() > FRAME_BYTES => {
            let content = format!("{}{CUT}", fitting(content, FRAME_BYTES - MARGIN));
            let (reply_to, id, timestamp) = (*reply_to, *id, *timestamp);
            let cut = Frame::Complete { reply_to, id, content: &content, timestamp };
            serde_json::to_string(&cut).unwrap_or_default().into()
        }
        _ => text.into(),
    }
}

/// The longest beginning that takes up no more than so many bytes of JSON.
pub fn fitting(text: &str, bytes: usize) -> &str {
    let mut used = 0;
    for (place, character) in text.char_indices() {
        used += match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            control if control < ' ' => 6,
            other => other.len_utf8(),
        };
        if used > bytes {
            return &text[..place];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_cut_where_a_character_ends_and_says_so() {
        for content in ["ä€𝄞".repeat(100_000), "\u{1}\"".repeat(100_000)] {
            let frame = write(&Frame::Complete {
                reply_to: "r",
                id: "i",
                content: &content,
                timestamp: "2026-02-07T10:30:00Z",
            });
            assert!(frame.len() <= FRAME_BYTES, "{}", frame.len());
            let frame: serde_json::Value = serde_json::from_str(&frame).unwrap();
            let kept = frame["content"].as_str().unwrap().strip_suffix(CUT).unwrap();
            assert!(content.starts_with(kept) && kept.len() > 60_000);
        }
    }
}
