//! What a page and its frames say to each other, carried over the one connection it has.

use serde_json::Value;
use uuid::Uuid;

use super::{Connection, Frame};
use crate::frames::HearError;

impl Connection {
    pub(super) fn hold(&mut self, frame: &str) {
        let frames = &self.app.frames;
        let held =
            Uuid::try_parse(frame).is_ok_and(|id| frames.hold(id, self.number, &self.windows));
        self.answer(&if held {
            Frame::Held { frame_id: frame }
        } else {
            Frame::Gone { frame_id: frame }
        });
    }

    pub(super) fn pass_on(&mut self, frame: &str, message: Value) {
        let id = Uuid::try_parse(frame).map_err(|_| HearError::Gone);
        let heard = id.and_then(|id| self.app.frames.hear(id, self.number, message));
        self.taken(frame, heard);
    }

    pub(super) fn note(&mut self, frame: &str, note: Value) {
        let id = Uuid::try_parse(frame).map_err(|_| HearError::Gone);
        let noted = id.and_then(|id| self.app.frames.note(id, self.number, note));
        self.taken(frame, noted);
    }

    fn taken(&mut self, frame: &str, taken: Result<(), HearError>) {
        match taken {
            Ok(()) | Err(HearError::StillTooFast) => (),
            Err(HearError::Gone) => self.answer(&Frame::Gone { frame_id: frame }),
            Err(error) => {
                self.answer(&Frame::Refused { frame_id: frame, error: &error.to_string() });
            }
        }
    }
}
