//! How one phone is told of tasks: once that they are there, at times how they stand, and how they end.

use tokio::time::Instant;

use super::{CARDS, Line};
use crate::window::{cards::Card, frames::Frame};

impl Line {
    pub(super) fn show(&mut self, card: Card) {
        let (mut new, id) = (false, card.id.clone());
        if !card.is_worth_showing() {
            return;
        }
        self.presence.change(self.session, |talk| {
            new = talk.tasks.insert(id.clone(), None).is_none();
        });
        let now = Instant::now();
        if new {
            self.push(&card.created());
            self.cards.insert(id, (now, None));
            return;
        }
        match self.cards.get_mut(&id) {
            Some((at, waiting)) if now.duration_since(*at) < CARDS => *waiting = Some(card),
            _ => {
                self.update(&card);
                self.cards.insert(id, (now, None));
            }
        }
    }

    pub(super) fn update(&mut self, card: &Card) {
        self.push(&card.updated());
    }

    pub(super) fn close(&mut self, id: &str, result: &str) {
        self.flush();
        if let Some((_, Some(card))) = self.cards.remove(id) {
            self.update(&card);
        }
        let (mut known, told) = (false, self.told);
        self.presence.change(self.session, |talk| {
            known = talk.tasks.get_mut(id).map(|ended| *ended = Some(told)).is_some();
        });
        if known {
            self.push(&Frame::TaskCompleted { task_id: id, progress: 1.0, result });
        }
    }
}
