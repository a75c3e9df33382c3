//! What a phone has missed, gathered while the past is read.

use std::collections::VecDeque;

use crate::window::{cards::Change, story::Told};

/// How many rows are told to one who comes back.
const CATCH_UP: usize = 200;

#[derive(Default)]
pub struct Missed {
    pub rows: VecDeque<Told>,
    /// Tasks that have ended, and with what.
    pub closed: Vec<(String, String)>,
}

impl Missed {
    /// Only what lasts: words, and how tasks ended.
    pub fn note(&mut self, told: Told) {
        match told {
            Told::Said { .. } | Told::Ended { .. } | Told::Note(_) => {
                self.rows.push_back(told);
                if self.rows.len() > CATCH_UP {
                    self.rows.pop_front();
                }
            }
            Told::Card(Change::Closed { id, result }) => self.closed.push((id, result)),
            Told::Card(Change::Shown(_))
            | Told::Began(_)
            | Told::Text { .. }
            | Told::Counted
            | Told::Busy(_) => (),
        }
    }
}
