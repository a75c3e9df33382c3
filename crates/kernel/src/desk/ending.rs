//! How a turn ends, whoever ends it: what is on record then, and what is owed.

use super::Desk;
use crate::{
    ports::StoreError,
    question::Verdict,
    tasks::{Close, Task},
    turn::Report,
    update::{Answer, Compaction, Fact, Failure, Outcome, Output, Signal},
};

impl Desk {
    pub(super) async fn cancel(&mut self) -> Result<bool, StoreError> {
        if !self.cut_short() {
            self.settle().await?;
            return Ok(false);
        }
        self.owed = Some(Outcome::Cancelled);
        self.settle().await?;
        Ok(true)
    }

    /// Forgets the running turn, but not what it has said it used; says whether there was one.
    pub(super) fn cut_short(&mut self) -> bool {
        let Some(mut running) = self.running.take() else { return false };
        while let Ok(report) = running.reports.try_recv() {
            if let Report::Used { model, usage } = report {
                self.heard = Some((model, usage));
            }
        }
        true
    }

    /// The turn has said all it had to say.
    pub(super) async fn finish(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        let outcome = match (&mut running.task).await {
            Ok(Ok(())) => Outcome::Finished,
            Ok(Err(error)) => Outcome::failed(error.kind(), &error.to_string()),
            Err(_) => Outcome::failed(Failure::Internal, "the turn broke down"),
        };
        self.owed = Some(outcome);
        if let Err(error) = self.settle().await {
            self.give_up(&error);
        }
    }

    /// Storage fails in the middle of a turn: those present are told, and the record is owed.
    pub(super) fn give_up(&mut self, error: &StoreError) {
        tracing::error!(session = %self.id, %error, "cannot record");
        self.running = None;
        let reason = error.to_string();
        self.owed.get_or_insert_with(|| Outcome::failed(Failure::Internal, &reason));
        self.pass_on(Signal::Unrecorded { reason });
    }

    /// Pays what is owed, then goes on with what waits.
    pub(super) async fn settle(&mut self) -> Result<(), StoreError> {
        let Some(outcome) = self.owed.take() else { return Ok(()) };
        if let Err(error) = self.end(outcome.clone()).await {
            self.owed = Some(outcome);
            return Err(error);
        }
        if let Err(error) = self.start_next().await {
            tracing::error!(session = %self.id, %error, "cannot go on with the next message");
        }
        Ok(())
    }

    /// Keeps what was heard of an unfinished sentence, marks open calls, and ends the turn.
    pub(super) async fn end(&mut self, outcome: Outcome) -> Result<(), StoreError> {
        let mut facts = Vec::new();
        let (mut model, mut usage) = self.heard.clone().unzip();
        if self.state.compacting {
            let reason = format!("it was {}", outcome.name());
            let (model, usage) = (model.take().unwrap_or_default(), usage.take());
            facts.push(Fact::CompactionEnded(Compaction::Failed { reason, model, usage }));
        }
        if let Some(turn) = &self.state.turn {
            // Also if nothing was said: what was used for it is to be counted.
            if let Some(step) = turn.step
                && (usage.is_some() || !self.draft.is_empty())
            {
                facts.push(Fact::Answered(Answer {
                    text: self.draft.text.clone(),
                    reasoning: self.draft.reasoning.clone(),
                    model: model.unwrap_or_default(),
                    usage,
                    partial: true,
                    ..Answer::to(step)
                }));
            }
            let of_turn = self.state.questions.iter().filter(|open| open.call.is_some());
            facts.extend(of_turn.map(|open| Fact::Settled {
                question: open.id,
                verdict: Verdict::Withdrawn,
                by: format!("the turn was {}", outcome.name()),
            }));
            let open = turn.calls.iter().cloned();
            facts.extend(open.map(|call| Fact::ToolReturned { call, output: Output::Interrupted }));
            metrics::counter!("megaron_turns_total", "outcome" => outcome.name()).increment(1);
            facts.extend(self.state.task.as_ref().map(|task| {
                let (close, reason) = closing(task, &outcome);
                Fact::TaskClosed { task: task.id, close, reason: Some(reason) }
            }));
            facts.push(Fact::TurnEnded(outcome));
        }
        self.record(facts).await?;
        let open = &self.state.questions;
        self.waiting.retain(|id, _| open.iter().any(|it| it.id == *id));
        Ok(())
    }
}

/// What becomes of an open task when a turn ends like this. Nobody works on it any more, so it does
/// not stay open; an agent that takes it up again says so with a new plan.
fn closing(task: &Task, outcome: &Outcome) -> (Close, String) {
    match outcome {
        Outcome::Finished => {
            let (left, all) = (task.left(), task.steps.len());
            (Close::Cancelled, format!("the turn ended with {left} of {all} steps left"))
        }
        Outcome::Cancelled => (Close::Cancelled, "it was stopped".to_owned()),
        Outcome::Failed { reason, .. } => (Close::Failed, reason.clone()),
        Outcome::Interrupted => (Close::Failed, "the server restarted".to_owned()),
    }
}
