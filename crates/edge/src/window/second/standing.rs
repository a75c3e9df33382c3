//! How things stand, for whoever has just caught up: open tasks, open questions, the answer being written.

use kernel::{
    feed::Draft,
    ports::StoreError,
    update::{Fact, Seq, Signal},
};
use tokio::time::Instant;

use super::{Second, frames::Frame, telling};
use crate::window::{
    frames::{self as first, Status},
    line::COUNTS,
    pump::Out,
    reply::Reply,
};

impl Second {
    /// The past is told. Comes again if this socket had fallen behind: then pieces may be missing.
    pub(super) async fn now(&mut self, last: Seq, draft: Option<&Draft>) -> Result<(), StoreError> {
        self.told = last;
        if !self.past {
            self.join(draft);
            return Ok(());
        }
        self.past = false;
        let state = self.app.host.roster.get(self.session);
        let (waiting, plan) = state.as_ref().map(|it| (it.queue.iter(), it.task.as_ref())).unzip();
        self.story.arrive(waiting.into_iter().flatten().copied(), plan.flatten());
        self.push(&Frame::CaughtUp {});
        for card in self.story.cards() {
            if card.is_worth_showing() {
                self.cards.insert(card.id.clone(), card.steps.clone());
                self.push(&Frame::Same(card.created()));
            }
        }
        for open in state.iter().flat_map(|state| &state.questions) {
            let log = &self.app.host.ports.log;
            let entry = log.read(self.session, open.at.before(), 1).await?.pop();
            if let Some(Fact::Asked(question)) = entry.map(|entry| entry.fact) {
                self.put(telling::asked(&question));
            }
        }
        self.join(draft);
        self.count(false);
        Ok(())
    }

    fn put(&mut self, frame: String) {
        self.out.push_back(Out::Frame(super::placed(frame, self.told)));
    }

    /// The answer being written, from its beginning.
    fn join(&mut self, draft: Option<&Draft>) {
        let Some((question, texts)) = self.story.running() else { return };
        let draft = draft.map(|draft| (draft.step, draft.text.as_str()));
        self.reply = Some(Reply::joined(question.clone(), texts, draft));
        self.replace = true;
    }

    pub(super) fn signal(&mut self, signal: &Signal) {
        if let (Signal::Text { step, delta, size }, Some(reply)) = (signal, &mut self.reply) {
            reply.piece(*step, delta, *size);
        }
    }

    /// Tells whether it is busy if that has changed, and what fills the context if that was counted.
    pub(super) fn count(&mut self, counted: bool) {
        let busy = self.story.is_busy();
        let lately = self.counted_at.is_some_and(|at| at.elapsed() < COUNTS);
        if busy == self.busy && (!counted || lately) {
            return;
        }
        (self.busy, self.counted_at) = (busy, Some(Instant::now()));
        let (_, filling) = self.standing();
        self.push(&Frame::Same(first::Frame::StatusUpdate {
            status: Status::of(busy),
            context_remaining: filling.remaining,
            tokens_used: filling.used,
        }));
    }
}
