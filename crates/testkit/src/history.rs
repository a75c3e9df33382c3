//! What makes a log a valid history, whoever wrote it and whatever was killed meanwhile.

use std::collections::{HashMap, HashSet};

use kernel::{
    question::{About, Verdict},
    update::{Answer, Entry, Fact, Output, Seq},
    visit,
};
use uuid::Uuid;

/// The first rule a history breaks, if it breaks one: places have no hole, turns do not overlap,
/// steps and answers come in pairs, every call starts and returns at most once, and before its turn
/// ends, as do its questions, and what is in doubt starts only with leave.
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
    /// The messages that still stand.
    said: Vec<Seq>,
    model: String,
    in_turn: bool,
    /// An agent answers in this turn.
    visited: bool,
    compacting: bool,
    step: Option<Seq>,
    calls: HashSet<String>,
    /// What each open call would do.
    deeds: HashMap<String, String>,
    started: HashSet<String>,
    /// Calls that the person has allowed.
    allowed: HashSet<String>,
    /// Deeds that were cut off.
    doubts: HashSet<String>,
    asked: HashSet<Uuid>,
    /// What is asked, with the call that waits for it and whether that is in doubt.
    questions: HashMap<Uuid, (Option<String>, bool)>,
    task: Option<Uuid>,
    /// The windows that are open.
    windows: HashSet<String>,
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
            | Fact::ModelLent { .. }
            | Fact::Embedded(_)
            | Fact::App(_)
            | Fact::Desktop(_)
            | Fact::Widget(_)
            | Fact::Observed => (),
            Fact::ToolStarted { call } => {
                rule(self.calls.contains(call), "only what was called starts")?;
                rule(self.started.insert(call.clone()), "what was called starts once")?;
                let doubtful = self.deeds.get(call).is_some_and(|it| self.doubts.contains(it));
                let allowed = self.allowed.remove(call);
                rule(!doubtful || allowed, "what is in doubt starts only with leave")?;
            }
            Fact::Asked(question) => {
                rule(self.asked.insert(question.id), "questions have names of their own")?;
                let doubt = matches!(question.about, About::Leave { doubt: Some(_), .. });
                self.questions.insert(question.id, (question.call.clone(), doubt));
                let open = question.call.as_ref().is_none_or(|call| self.calls.contains(call));
                rule(open, "a call that waits is open")?;
            }
            Fact::Settled { question, verdict, .. } => {
                let Some((call, doubt)) = self.questions.remove(question) else {
                    return Err("only what was asked is settled, and once");
                };
                if let (Some(call), Verdict::Allowed { .. }) = (call, verdict) {
                    if let (Some(deed), true) = (self.deeds.get(&call), doubt) {
                        self.doubts.remove(deed);
                    }
                    self.allowed.insert(call);
                }
            }
            Fact::TaskOpened(task) => {
                rule(self.task.replace(task.id).is_none(), "tasks do not overlap")?;
            }
            Fact::TaskMoved(task) => rule(self.task == Some(task.id), "only an open task moves")?,
            Fact::TaskClosed { task, .. } => self.close_task(*task)?,
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
                self.said.push(*seq);
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
            Fact::Answered(answer) => self.answer(answer)?,
            Fact::ToolReturned { call, output } => {
                rule(self.calls.remove(call), "only what was called returns, and once")?;
                let deed = self.deeds.remove(call);
                if self.started.remove(call) && *output == Output::Interrupted {
                    self.doubts.extend(deed);
                }
            }
            Fact::Unqueued { queued } => {
                rule(self.queued.remove(queued), "only what waits is called off")?;
            }
            Fact::WindowOpened(window) => drop(self.windows.insert(window.key())),
            Fact::WindowChanged { window, .. } => self.change_window(window)?,
            Fact::WindowClosed { window, .. } => self.close_window(window)?,
            Fact::Rewound { before, .. } => self.rewind(*before)?,
            Fact::TurnEnded(_) => self.end()?,
        }
        Ok(())
    }

    fn answer(&mut self, Answer { step, calls, .. }: &Answer) -> Result<(), &'static str> {
        rule(self.step == Some(*step), "an answer belongs to the open step")?;
        self.step = None;
        for call in calls {
            rule(self.calls.insert(call.id.clone()), "calls have names of their own")?;
            let deed = format!("{} {}", call.name, call.args);
            self.deeds.insert(call.id.clone(), deed);
        }
        Ok(())
    }

    fn close_task(&mut self, task: Uuid) -> Result<(), &'static str> {
        rule(self.task.take() == Some(task), "only an open task closes")
    }

    fn change_window(&self, window: &str) -> Result<(), &'static str> {
        rule(self.windows.contains(window), "only an open window changes")
    }

    fn close_window(&mut self, window: &str) -> Result<(), &'static str> {
        rule(self.windows.remove(window), "only an open window closes")
    }

    fn rewind(&mut self, before: Seq) -> Result<(), &'static str> {
        rule(!self.in_turn && !self.compacting, "only what is over is taken back")?;
        let stands = self.said.iter().position(|said| *said == before);
        rule(stands.is_some(), "only a message that stands is taken back")?;
        self.said.truncate(stands.unwrap_or_default());
        Ok(())
    }

    fn end(&mut self) -> Result<(), &'static str> {
        rule(self.in_turn, "only what began ends")?;
        rule(self.calls.is_empty(), "every call returns before its turn ends")?;
        rule(!self.compacting, "a compaction ends before its turn")?;
        let asked = self.questions.values().any(|(call, _)| call.is_some());
        rule(!asked, "what a call asked is settled before its turn ends")?;
        self.in_turn = false;
        self.step = None;
        Ok(())
    }
}

fn rule(holds: bool, rule: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(rule) }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use kernel::{
        question::Question,
        toolbox::{Caller, Deed},
        update::{Message, Outcome, ToolRequest},
    };
    use serde_json::json;

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

    /// A step that makes this call.
    fn called(step: u64, id: &str) -> [Fact; 2] {
        let args = json!({});
        let call = ToolRequest { id: id.into(), name: "act".into(), args, title: "Act".into() };
        let answer = Answer { calls: vec![call], ..Answer::to(Seq(step)) };
        [Fact::StepStarted { index: 0 }, Fact::Answered(answer)]
    }

    fn asked(id: u128, call: &str, doubt: Option<&str>) -> Fact {
        let (why, doubt) = (String::new(), doubt.map(str::to_owned));
        Fact::Asked(Box::new(Question {
            id: Uuid::from_u128(id),
            call: Some(call.into()),
            caller: Caller::Model,
            tool: "act".into(),
            title: "Act".into(),
            about: About::Leave { deed: Deed::reads(), why, doubt },
            expires: None,
        }))
    }

    fn settled(id: u128, verdict: Verdict) -> Fact {
        Fact::Settled { question: Uuid::from_u128(id), verdict, by: "me".into() }
    }

    #[test]
    fn a_deed_that_was_cut_off_needs_leave() {
        let started = |call: &str| Fact::ToolStarted { call: call.into() };
        let cut =
            |call: &str| Fact::ToolReturned { call: call.into(), output: Output::Interrupted };
        let begin = || [said()].into_iter().chain(called(3, "a")).chain([started("a")]);
        let again = || begin().chain([cut("a")]).chain(called(7, "b"));
        let allowed = || Verdict::Allowed { scope: kernel::question::Scope::Once };
        let broken = |facts: Vec<Fact>, broken: &str| {
            let error = history(facts).unwrap_err();
            assert!(error.starts_with(broken), "{error}");
        };
        broken(begin().chain([started("a")]).collect(), "what was called starts once");
        broken(again().chain([started("b")]).collect(), "what is in doubt starts only with leave");
        let doubted = || again().chain([asked(1, "b", Some("a"))]);
        broken(
            doubted().chain([settled(1, Verdict::Expired), started("b")]).collect(),
            "what is in doubt starts only with leave",
        );
        assert_eq!(history(doubted().chain([settled(1, allowed()), started("b")])), Ok(()));
        let end = || Fact::TurnEnded(Outcome::Cancelled);
        broken(
            doubted().chain([cut("b"), end()]).collect(),
            "what a call asked is settled before its turn ends",
        );
        broken(
            doubted().chain([settled(1, allowed()), settled(1, allowed())]).collect(),
            "only what was asked is settled, and once",
        );
    }
}
