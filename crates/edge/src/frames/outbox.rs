//! What waits to be said to the frames of one connection; bounded, and honest about what was lost.

use std::{
    collections::BTreeSet,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use axum::extract::ws::Utf8Bytes;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Notify;
use uuid::Uuid;

/// How much may wait for a page that does not listen.
const BYTES: usize = 4 << 20;

#[derive(Default)]
pub struct Outbox {
    waiting: Mutex<Waiting>,
    bell: Notify,
}

#[derive(Default)]
struct Waiting {
    lines: Vec<Utf8Bytes>,
    bytes: usize,
    /// Frames that were to be told something that did not fit.
    lost: BTreeSet<Uuid>,
}

/// What is said to a frame.
#[derive(Clone, Copy, Debug)]
pub enum Word<'a> {
    Message(&'a Value),
    /// For the page around it, not for what is in it.
    Wish(&'a Value),
    Error(&'a str),
    /// There is no such frame any more.
    Gone,
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum Line<'a> {
    #[serde(rename = "frameMessage", rename_all = "camelCase")]
    Message { frame_id: Uuid, message: &'a Value },
    #[serde(rename = "frameWish", rename_all = "camelCase")]
    Wish { frame_id: Uuid, wish: &'a Value },
    #[serde(rename = "frameError", rename_all = "camelCase")]
    Error { frame_id: Uuid, error: &'a str },
    #[serde(rename = "frameGone", rename_all = "camelCase")]
    Gone { frame_id: Uuid },
    /// Something did not fit; whoever holds the frame anew is told everything again.
    #[serde(rename = "frameLost", rename_all = "camelCase")]
    Lost { frame_id: Uuid },
}

impl Outbox {
    pub fn push(&self, frame_id: Uuid, word: &Word<'_>) {
        let line = write(&match word {
            Word::Message(message) => Line::Message { frame_id, message },
            Word::Wish(wish) => Line::Wish { frame_id, wish },
            Word::Error(error) => Line::Error { frame_id, error },
            Word::Gone => Line::Gone { frame_id },
        });
        {
            let mut waiting = self.waiting();
            if waiting.bytes + line.len() > BYTES {
                waiting.lost.insert(frame_id);
            } else {
                waiting.bytes += line.len();
                waiting.lines.push(line);
            }
        }
        self.bell.notify_one();
    }

    /// Waits until something waits, and takes all of it. Dropped before, it takes nothing.
    pub async fn take(&self) -> Vec<Utf8Bytes> {
        loop {
            let Waiting { mut lines, lost, .. } = mem::take(&mut *self.waiting());
            lines.extend(lost.into_iter().map(|frame_id| write(&Line::Lost { frame_id })));
            if !lines.is_empty() {
                return lines;
            }
            self.bell.notified().await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write(line: &Line<'_>) -> Utf8Bytes {
    // Nothing in a line can fail to be written.
    serde_json::to_string(line).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(lines: &[Utf8Bytes]) -> Vec<Value> {
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[tokio::test]
    async fn what_does_not_fit_is_owned_up_to_once_for_each_frame() {
        let outbox = Outbox::default();
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let large = json!("x".repeat(3 << 20));
        outbox.push(one, &Word::Message(&json!({ "n": 1 })));
        outbox.push(one, &Word::Message(&large));
        for _ in 0..3 {
            outbox.push(two, &Word::Message(&large));
        }
        outbox.push(two, &Word::Error("no"));
        let heard = read(&outbox.take().await);
        assert_eq!(
            heard,
            [
                json!({ "type": "frameMessage", "frameId": one, "message": { "n": 1 } }),
                json!({ "type": "frameMessage", "frameId": one, "message": large }),
                json!({ "type": "frameError", "frameId": two, "error": "no" }),
                json!({ "type": "frameLost", "frameId": two }),
            ]
        );
        outbox.push(two, &Word::Message(&large));
        assert_eq!(read(&outbox.take().await).len(), 1, "there is room again");
    }
}
