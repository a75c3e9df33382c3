//! What a session has asked the person: put, answered, given up, and taken up again after a crash.

use std::time::Duration;

use tokio::sync::oneshot;
use uuid::Uuid;

use super::{Desk, RETRY};
use crate::{
    message::Errand,
    ports::StoreError,
    question::{Question, Verdict},
    state::OpenQuestion,
    update::{Fact, Failure, Outcome, Output},
};

impl Desk {
    /// Puts a question to the person, unless nobody waits for the answer any more.
    pub(super) async fn ask(&mut self, question: Question, reply: oneshot::Sender<Verdict>) {
        let of_turn = |call| self.state.turn.as_ref().is_some_and(|it| it.calls.contains(call));
        if reply.is_closed() || !question.call.as_ref().is_none_or(of_turn) {
            return;
        }
        if let Some(errand) = self.errand(&question) {
            return self.deny_unasked(question, errand, reply).await;
        }
        if let Some(verdict) = self.answered_early(&question).await {
            // Whoever asked may have left.
            reply.send(verdict).ok();
            return;
        }
        // Asked before a restart, and still open.
        let same = |open: &&OpenQuestion| open.call.is_some() && open.call == question.call;
        let asked = self.state.questions.iter().find(same).cloned();
        let id = match asked {
            Some(open) if self.is_about(&open, &question).await => open.id,
            // Something else would happen now than the person was shown.
            stale => {
                let id = question.id;
                let stale = stale.map(|open| Fact::Settled {
                    question: open.id,
                    verdict: Verdict::Withdrawn,
                    by: "things have changed".into(),
                });
                let facts = stale.into_iter().chain([Fact::Asked(Box::new(question))]);
                if let Err(error) = self.record(facts.collect()).await {
                    return self.give_up(&error);
                }
                id
            }
        };
        self.waiting.insert(id, reply);
    }

    /// The run of a schedule that a question comes from.
    fn errand(&self, question: &Question) -> Option<Errand> {
        question.call.as_ref()?;
        self.state.turn.as_ref()?.errand.as_ref().map(|(_, errand)| *errand)
    }

    /// Nobody is asked anything in the run of a schedule: what it wanted is on record, and it goes on
    /// or ends as its schedule says.
    async fn deny_unasked(
        &mut self,
        question: Question,
        errand: Errand,
        reply: oneshot::Sender<Verdict>,
    ) {
        let (id, title) = (question.id, question.title.clone());
        let by = "the schedule: nobody is asked in its runs".to_owned();
        let settled = Fact::Settled { question: id, verdict: Verdict::Expired, by };
        let recorded = self.record(vec![Fact::Asked(Box::new(question)), settled]).await;
        if let Err(error) = recorded {
            return self.give_up(&error);
        }
        if errand.ends && self.cut_short() {
            let reason = format!("it wanted something that it has no leave for: {title}");
            self.owed = Some(Outcome::failed(Failure::Refused, &reason));
            // Still owed if that fails; it is tried again.
            self.settle().await.ok();
            return;
        }
        // Whoever asked may have left.
        reply.send(Verdict::Expired).ok();
    }

    /// Whether the same was asked there.
    async fn is_about(&self, open: &OpenQuestion, question: &Question) -> bool {
        let found = self.ports.log.read(self.id, open.at.before(), 1).await;
        let found = found.ok().and_then(|mut found| found.pop()).map(|entry| entry.fact);
        let Some(Fact::Asked(asked)) = found else { return false };
        asked.tool == question.tool && asked.about == question.about
    }

    /// What was said to this question after a restart, before it was put again.
    async fn answered_early(&mut self, question: &Question) -> Option<Verdict> {
        let early = &mut self.running.as_mut()?.early;
        let place = early.iter().position(|(open, _)| open.call == question.call)?;
        let (open, verdict) = early.remove(place);
        // What was said to something else does not count.
        self.is_about(&open, question).await.then_some(verdict)
    }

    pub(super) async fn settle_question(
        &mut self,
        question: Uuid,
        verdict: Verdict,
        by: String,
    ) -> Result<bool, StoreError> {
        let open = self.state.questions.iter().find(|open| open.id == question).cloned();
        let Some(open) = open else { return Ok(false) };
        self.record(vec![Fact::Settled { question, verdict: verdict.clone(), by }]).await?;
        if let Some(waiting) = self.waiting.remove(&question) {
            // Whoever asked may have left.
            waiting.send(verdict).ok();
        } else if let Some(running) = &mut self.running
            && open.call.is_some()
            && verdict != Verdict::Withdrawn
        {
            running.early.push((open, verdict));
        }
        Ok(true)
    }

    /// How long until a question has waited long enough.
    pub(super) fn patience(&self) -> Option<Duration> {
        let first = self.state.questions.iter().filter_map(|open| open.expires).min()?;
        if self.overdue {
            return Some(RETRY);
        }
        let left = first.duration_since(self.ports.clock.now());
        Some(Duration::try_from(left).unwrap_or_default())
    }

    pub(super) async fn expire(&mut self) -> Result<(), StoreError> {
        let now = self.ports.clock.now();
        let late = |open: &&OpenQuestion| open.expires.is_some_and(|end| end <= now);
        let late: Vec<Uuid> = self.state.questions.iter().filter(late).map(|it| it.id).collect();
        for question in late {
            self.settle_question(question, Verdict::Expired, "its time ran out".into()).await?;
        }
        Ok(())
    }

    /// Gives up what was asked from outside any turn: whoever did is gone.
    pub(super) async fn withdraw_orphans(&mut self) -> Result<(), StoreError> {
        let orphans = self.state.questions.iter().filter(|open| open.call.is_none());
        let withdrawn = orphans.map(|open| Fact::Settled {
            question: open.id,
            verdict: Verdict::Withdrawn,
            by: "whoever asked is gone".into(),
        });
        self.record(withdrawn.collect()).await
    }

    /// Whether no tool is in the middle of changing something.
    pub(super) fn is_still(&self) -> bool {
        self.state.turn.as_ref().is_none_or(|turn| turn.started.is_empty())
    }

    /// Takes up a turn where it waited for the person. What was under way beside that is lost.
    pub(super) async fn go_on(&mut self) -> Result<(), StoreError> {
        let Some(turn) = &self.state.turn else { return Ok(()) };
        let flow = turn.flow.clone();
        let cut = turn.started.iter().cloned();
        let cut = cut.map(|call| Fact::ToolReturned { call, output: Output::Interrupted });
        self.record(cut.collect()).await?;
        let state = self.state.clone();
        self.start(flow, |turn| turn.run(state));
        Ok(())
    }
}
