//! The answer being written, piece by piece, as far as one socket has passed it on.

use kernel::update::Seq;

use super::{rows::GAP, story::Question};

pub struct Reply {
    pub question: Question,
    /// The step being told, and how much of it was.
    step: Option<Seq>,
    heard: usize,
    /// Something was said in an earlier step.
    any: bool,
    /// No more pieces: the phone has one that cannot be continued.
    frozen: bool,
    /// What waits to be sent.
    pending: String,
}

impl Reply {
    pub fn new(question: Question) -> Self {
        let pending = String::new();
        Self { question, step: None, heard: 0, any: false, frozen: false, pending }
    }

    /// One that goes on from its middle, with the whole of what was said so far.
    pub fn joined(question: Question, texts: &[String], draft: Option<(Seq, &str)>) -> Self {
        let mut reply = Self::new(question);
        for text in texts {
            reply.add(text);
        }
        if let Some((step, text)) = draft {
            (reply.step, reply.heard) = (Some(step), text.len());
            reply.add(text);
        }
        reply
    }

    pub fn frozen(question: Question) -> Self {
        Self { frozen: true, ..Self::new(question) }
    }

    /// A piece of a step, of which so much is known with it.
    pub fn piece(&mut self, step: Seq, delta: &str, size: usize) {
        self.enter(step);
        if size != self.heard + delta.len() {
            return self.freeze();
        }
        self.more(delta);
    }

    /// All of a step: the rest of what was not told in pieces.
    pub fn whole(&mut self, step: Seq, text: &str) {
        self.enter(step);
        match text.get(self.heard..) {
            Some(rest) => {
                let rest = rest.to_owned();
                self.more(&rest);
            }
            None => self.freeze(),
        }
    }

    /// From now on only the end is told.
    pub fn freeze(&mut self) {
        self.frozen = true;
        self.pending.clear();
    }

    pub fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// What is sent next, no larger than this.
    pub fn take(&mut self, bytes: usize) -> String {
        let end = self.pending.floor_char_boundary(bytes);
        let rest = self.pending.split_off(end);
        std::mem::replace(&mut self.pending, rest)
    }

    fn enter(&mut self, step: Seq) {
        if self.step != Some(step) {
            (self.step, self.heard) = (Some(step), 0);
        }
    }

    fn more(&mut self, delta: &str) {
        if self.frozen || delta.is_empty() {
            self.heard += delta.len();
            return;
        }
        if self.heard == 0 && self.any {
            self.pending.push_str(GAP);
        }
        self.heard += delta.len();
        self.any = true;
        self.pending.push_str(delta);
    }

    fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.any {
            self.pending.push_str(GAP);
        }
        self.any = true;
        self.pending.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question { seq: Seq(1), row: "msg_1".to_owned(), asker: None }
    }

    #[test]
    fn pieces_put_together_are_the_answer() {
        let mut reply = Reply::new(question());
        reply.piece(Seq(2), "Hel", 3);
        reply.piece(Seq(2), "lo", 5);
        reply.whole(Seq(2), "Hello");
        reply.whole(Seq(4), "");
        reply.whole(Seq(6), "wörld");
        assert_eq!(reply.take(9), "Hello\n\nw");
        assert_eq!(reply.take(100), "örld");
        assert!(!reply.is_pending());
    }

    #[test]
    fn whoever_comes_in_the_middle_hears_it_from_the_beginning() {
        let texts = ["One.".to_owned(), String::new()];
        let mut reply = Reply::joined(question(), &texts, Some((Seq(5), "Tw")));
        reply.piece(Seq(5), "o", 3);
        assert_eq!(reply.take(100), "One.\n\nTwo");
        reply.piece(Seq(5), "!", 9);
        assert!(!reply.is_pending(), "what does not fit is not told");
        reply.piece(Seq(5), "?", 5);
        assert!(!reply.is_pending());
    }
}
