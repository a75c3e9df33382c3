//! Frames of version 2: those of version 1 and more, each with its place in the log.

use axum::extract::ws::Utf8Bytes;
use kernel::update::Seq;
use serde::Serialize;

use crate::window::frames::{self as first, CUT, FRAME_BYTES, MARGIN, Status, Step, fitting};

/// What a phone may ask for besides sending messages.
pub const CAPABILITIES: &[&str] =
    &["resume", "cancel", "approvals", "sessions", "attachments", "typing"];

/// Room for the place of a frame.
const PLACE_BYTES: usize = 32;

#[derive(Serialize)]
#[serde(tag = "type")]
pub enum Frame<'a> {
    #[serde(rename = "connected")]
    Connected {
        agent: &'a str,
        status: Status,
        context_remaining: f64,
        tokens_used: i64,
        v: u8,
        session: &'a str,
        device: &'a str,
        capabilities: &'a [&'a str],
        limits: Limits,
    },
    /// All of the past that was asked for is told.
    #[serde(rename = "caught_up")]
    CaughtUp {},
    /// It is too much, or unknown: the history is to be read anew.
    #[serde(rename = "reset")]
    Reset {},
    #[serde(rename = "message.stream")]
    Stream {
        reply_to: &'a str,
        delta: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        replace: bool,
    },
    #[serde(rename = "message.complete")]
    Complete {
        reply_to: &'a str,
        id: &'a str,
        content: &'a str,
        timestamp: &'a str,
        outcome: &'a str,
        #[serde(skip_serializing_if = "<[File]>::is_empty")]
        attachments: &'a [File],
    },
    #[serde(rename = "message.accepted")]
    Accepted {
        reply_to: &'a str,
        id: &'a str,
        timestamp: &'a str,
        position: usize,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        duplicate: bool,
    },
    #[serde(rename = "message.user")]
    User {
        id: &'a str,
        content: &'a str,
        timestamp: &'a str,
        origin: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        device: Option<&'a str>,
        #[serde(skip_serializing_if = "<[File]>::is_empty")]
        attachments: &'a [File],
    },
    #[serde(rename = "task.failed")]
    TaskFailed { task_id: &'a str, progress: f64, steps: &'a [Step], error: &'a str },
    #[serde(rename = "approval.request")]
    Approval {
        approval_id: &'a str,
        title: &'a str,
        detail: &'a str,
        tool: &'a str,
        options: &'a [&'a str],
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        choices: &'a [String],
        #[serde(skip_serializing_if = "Option::is_none")]
        expires_at: Option<String>,
    },
    #[serde(rename = "approval.resolved")]
    Resolved { approval_id: &'a str, decision: &'a str, by: &'a str },
    #[serde(rename = "session.list")]
    Sessions { reply_to: &'a str, sessions: &'a [Listed] },
    #[serde(rename = "session.selected")]
    Selected { reply_to: &'a str, session: &'a str },
    #[serde(rename = "typing")]
    Typing { device: &'a str, active: bool },
    /// As version 1 says it.
    #[serde(untagged)]
    Same(first::Frame<'a>),
}

#[derive(Clone, Copy, Serialize)]
pub struct Limits {
    pub content_chars: usize,
    pub frame_bytes: usize,
    pub messages_per_minute: u32,
    pub burst: u32,
    pub waiting: usize,
    pub sockets: usize,
    pub page: usize,
    pub attachment_bytes: usize,
    pub attachments: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct File {
    pub id: String,
    pub name: String,
    pub mime: String,
    /// In bytes; absent once the file is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    pub url: String,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    pub id: String,
    pub name: String,
    pub updated_at: String,
    pub status: Status,
}

/// The frame as text, without its place. What words have too much of is cut off, and said to be.
pub fn written(frame: &Frame<'_>) -> String {
    // Our own frames have string keys and finite numbers, so this cannot fail.
    let text = |frame: &Frame<'_>| serde_json::to_string(frame).unwrap_or_default();
    let cut = |content: &str| format!("{}{CUT}", fitting(content, FRAME_BYTES - MARGIN));
    let whole = text(frame);
    if whole.len() + PLACE_BYTES <= FRAME_BYTES {
        return whole;
    }
    match *frame {
        Frame::Complete { reply_to, id, content, timestamp, outcome, attachments } => {
            let content = &cut(content);
            text(&Frame::Complete { reply_to, id, content, timestamp, outcome, attachments })
        }
        Frame::User { id, content, timestamp, origin, device, attachments } => {
            let content = &cut(content);
            text(&Frame::User { id, content, timestamp, origin, device, attachments })
        }
        _ => whole,
    }
}

/// What is written, with its place in the log as the last of its fields.
pub fn placed(mut written: String, seq: Seq) -> Utf8Bytes {
    if written.pop().is_some() {
        written.extend([",\"seq\":", &seq.0.to_string(), "}"]);
    }
    written.into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn every_frame_has_its_place_and_none_is_too_large() {
        let frame = |text: Utf8Bytes| serde_json::from_str::<Value>(&text).unwrap();
        let told = placed(written(&Frame::CaughtUp {}), Seq(7));
        assert_eq!(frame(told), json!({ "type": "caught_up", "seq": 7 }));
        let same =
            Frame::Same(first::Frame::TaskUpdated { task_id: "t", progress: 0.5, steps: &[] });
        let told = json!({ "type": "task.updated", "task_id": "t", "progress": 0.5, "steps": [], "seq": 8 });
        assert_eq!(frame(placed(written(&same), Seq(8))), told);
        let content = "\u{1}ä".repeat(200_000);
        let (id, timestamp) = ("msg_1", "2026-02-07T10:30:00Z");
        let user = Frame::User {
            id,
            content: &content,
            timestamp,
            origin: "api",
            device: None,
            attachments: &[],
        };
        let complete = Frame::Complete {
            reply_to: "",
            id,
            content: &content,
            timestamp,
            outcome: "ok",
            attachments: &[],
        };
        for long in [user, complete] {
            let text = placed(written(&long), Seq(u64::MAX));
            assert!(text.len() <= FRAME_BYTES, "{}", text.len());
            let told = frame(text);
            let kept = told["content"].as_str().unwrap().strip_suffix(CUT).unwrap();
            assert!(content.starts_with(kept) && kept.len() > 60_000);
            assert_eq!(told["seq"], u64::MAX);
        }
    }
}
