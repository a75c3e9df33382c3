//! What makes a log a valid history, whoever wrote it and whatever was killed meanwhile.

use std::collections::HashSet;

use kernel::{
    update::{Answer, Entry, Fact, Seq},
    visit,
};
use uuid::Uuid;

/// The first rule a history breaks, if it breaks one: places have no hole, turns do not overlap,
/// steps and answers come in pairs, every call returns once, and before its turn ends.
pub fn check(entries: &[Entry]) -> Result<(), String> {
    let mut reader = Reader::default();
    for entry in entries {
        reader.read(entry).map_err(|rule| format!("{rule}, at {entry:?}"))?;
    }
    Ok(())
}

#[derive(Default)]
struct Reader {
    last: Seq,
    queued: HashSet<Seq>,
    model: String,
    in_turn: bool,
    /// An agent answers in this turn.
    visited: bool,
    compacting: bool,
    step: Option<Seq>,
    calls: HashSet<String>,
    questions: HashSet<Uuid>,
    task: Option<Uuid>,
}

impl Reader {
    fn read(&mut self, Entry { seq, fact, .. }: &Entry) -> Result<(), &'static str> {
        rule(*seq == self.last.next(), "places have no hole")?;
        rule((seq.0 == 1) == matches!(fact, Fact::Opened { .. }), "it begins with being opened")?;
        self.last = *seq;
        match fact {
            Fact::Opened { model, .. } | Fact::ModelChanged { model } => {
                self.model.clone_from(model);
            }
            Fact::Renamed { .. }
            | Fact::EnvHinted { .. }
            | Fact::ModeChanged { .. }
            | Fact::ContextChanged { .. }
            | Fact::Observed => (),
            Fact::ToolStarted { call } => {
                rule(self.calls.contains(call), "only what was called starts")?;
            }
            Fact::Asked(question) => {
                rule(self.questions.insert(question.id), "questions have names of their own")?;
                let open = question.call.as_ref().is_none_or(|call| self.calls.contains(call));
                rule(open, "a call that waits is open")?;
            }
            Fact::Settled { question, .. } => {
                rule(self.questions.remove(question), "only what was asked is settled, and once")?;
            }
            Fact::TaskOpened(task) => {
                rule(self.task.replace(task.id).is_none(), "tasks do not overlap")?;
            }
            Fact::TaskMoved(task) => {
                rule(self.task == Some(task.id), "only an open task moves")?;
            }
            Fact::TaskClosed { task, .. } => {
                rule(self.task.take() == Some(*task), "only an open task closes")?;
            }
            Fact::CompactionStarted => {
                rule(!self.compacting, "compactions do not overlap")?;
                self.compacting = true;
            }
            Fact::CompactionEnded(_) => {
                rule(self.compacting, "only a compaction that began ends")?;
                self.compacting = false;
            }
            Fact::Queued(_) => {
                rule(self.in_turn || self.compacting, "only a busy session makes wait")?;
                self.queued.insert(*seq);
            }
            Fact::Said { queued, .. } => {
                rule(!self.in_turn && !self.compacting, "turns do not overlap")?;
                let known = queued.is_none_or(|place| self.queued.remove(&place));
                rule(known, "who is called had been waiting")?;
                self.in_turn = true;
                self.visited = visit::names_agent(&self.model);
            }
            Fact::StepStarted { .. } => {
                rule(self.in_turn, "steps are part of a turn")?;
                rule(self.step.is_none(), "steps do not overlap")?;
                // An agent goes on while something that it began is still being done.
                let returned = self.calls.is_empty() || self.visited;
                rule(returned, "tools return before a model is asked again")?;
                self.step = Some(*seq);
            }
            Fact::Answered(Answer { step, calls, .. }) => {
                rule(self.step == Some(*step), "an answer belongs to the open step")?;
                self.step = None;
                for call in calls {
                    rule(self.calls.insert(call.id.clone()), "calls have names of their own")?;
                }
            }
            Fact::ToolReturned { call, .. } => {
                rule(self.calls.remove(call), "only what was called returns, and once")?;
            }
            Fact::TurnEnded(_) => {
                rule(self.in_turn, "only what began ends")?;
                rule(self.calls.is_empty(), "every call returns before its turn ends")?;
                rule(!self.compacting, "a compaction ends before its turn")?;
                self.in_turn = false;
                self.step = None;
            }
        }
        Ok(())
    }
}

fn rule(holds: bool, rule: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(rule) }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use kernel::update::{Message, Outcome};

    use super::*;

    fn history(facts: impl IntoIterator<Item = Fact>) -> Result<(), String> {
        let opened =
            Fact::Opened { cwd: "/".into(), model: "m".into(), name: String::new(), parent: None };
        let entries = [opened].into_iter().chain(facts).zip(1..);
        let entry = |(fact, seq)| Entry { seq: Seq(seq), at: Timestamp::UNIX_EPOCH, fact };
        check(&entries.map(entry).collect::<Vec<_>>())
    }

    fn said() -> Fact {
        Fact::Said { message: Message::from_user("hi"), queued: None }
    }

    #[test]
    fn broken_histories_are_found_out() {
        assert_eq!(history([said(), Fact::TurnEnded(Outcome::Finished)]), Ok(()));
        assert!(history([said(), said()]).unwrap_err().starts_with("turns do not overlap"));
        assert!(history([Fact::TurnEnded(Outcome::Finished)]).is_err());
        assert!(
            history([said(), Fact::StepStarted { index: 0 }, Fact::StepStarted { index: 1 }])
                .is_err()
        );
        assert!(history([Fact::Queued(Message::from_user("hi"))]).is_err());
    }
}
