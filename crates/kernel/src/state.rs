//! What a session's facts add up to. Small, whatever the history: it is stored with every batch.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    approvals::Mode,
    ledger,
    message::Errand,
    question::{About, Question, Verdict},
    tasks::Task,
    update::{
        Answer, Compaction, Context, ContextChange, Entry, Fact, Outcome, Output, Seq, SessionId,
        Usage,
    },
    visit::names_agent,
};

/// How much of the first message makes a summary.
const SUMMARY_CHARS: usize = 80;
/// How many calls of unknown outcome are remembered.
const DOUBTS: usize = 16;
/// How many settled questions are remembered.
const SETTLED: usize = 16;
/// How many items a context set holds.
const CONTEXT_SET: usize = 10;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub last: Seq,
    pub cwd: String,
    pub model: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub env_hint: String,
    #[serde(skip_serializing_if = "Context::is_empty")]
    pub context: Context,
    pub updated_at: Timestamp,
    /// When its last fact came to be.
    pub at: Timestamp,
    /// An answer came that nobody has looked at.
    pub unobserved: bool,
    /// What it was last busy with, for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// Places of the messages that wait, oldest first.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub queue: VecDeque<Seq>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<OpenTurn>,
    /// How many tokens the last step filled, as its provider counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filled: Option<u64>,
    pub spent: Spent,
    /// Of that, what the last turn used, or the one that is running.
    #[serde(skip_serializing_if = "Spent::is_nothing")]
    pub turn_spent: Spent,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summed_up: Option<SummedUp>,
    /// The past is being summed up at the person's wish.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compacting: bool,
    /// What needs a person's yes, where it is not what the house says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The session whose agent made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// What the person was asked and has not answered, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<OpenQuestion>,
    /// The questions that were settled last, to tell a late answer from a wrong one.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub settled: VecDeque<Uuid>,
    /// Calls that were cut off in the middle of whatever they did.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub doubts: VecDeque<Doubt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// The oldest fact that the open windows are built from; none if no window is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows_from: Option<Seq>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenQuestion {
    pub id: Uuid,
    /// Where all of it is.
    pub at: Seq,
    /// The tool call of the running turn that waits for it.
    pub call: Option<String>,
    pub expires: Option<Timestamp>,
    /// The call that was in doubt when it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// A call that was set going, and what came of it is not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    pub call: String,
    /// Where its name and its arguments are.
    pub at: Seq,
}

/// What a session has used in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// In US dollars, as far as prices are known.
    pub cost: f64,
}

impl Spent {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, usage: Usage) {
        self.input_tokens = self.input_tokens.saturating_add(usage.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(usage.output_tokens);
        self.cost = (self.cost + usage.dollars()).min(f64::MAX);
    }
}

/// The past that a model is shown as a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummedUp {
    /// The last fact it covers.
    pub upto: Seq,
    /// Where the summary is.
    pub at: Seq,
}

/// A turn that has begun and not ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenTurn {
    pub said: Seq,
    pub flow: String,
    /// The step being answered, if the model has been asked.
    pub step: Option<Seq>,
    /// How often the model has been asked.
    #[serde(default)]
    pub steps: u32,
    /// Tool calls that have not returned.
    pub calls: Vec<String>,
    /// Those of them that may have changed something by now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub started: Vec<String>,
    /// The answer that asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Seq>,
    /// Nobody is there to be asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    /// The schedule whose run it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errand: Option<(String, Errand)>,
}

impl State {
    pub fn apply(&mut self, Entry { seq, at, fact }: &Entry) {
        self.last = *seq;
        self.at = *at;
        if let Some((_, usage)) = ledger::used(fact) {
            self.spent.add(usage);
            self.turn_spent.add(usage);
        }
        match fact {
            Fact::Opened { cwd, model, name, parent } => {
                self.parent = *parent;
                self.cwd.clone_from(cwd);
                self.model.clone_from(model);
                self.name.clone_from(name);
                self.updated_at = *at;
            }
            Fact::Renamed { name } => self.name.clone_from(name),
            Fact::ModelChanged { model } => {
                self.model.clone_from(model);
                // Another model counts in other tokens.
                self.filled = None;
            }
            Fact::ModeChanged { mode } => self.mode = Some(*mode),
            Fact::EnvHinted { hint } => self.env_hint.clone_from(hint),
            Fact::ContextChanged { context, .. } => self.context.clone_from(context),
            Fact::Observed => self.unobserved = false,
            Fact::Queued(_) => self.queue.push_back(*seq),
            Fact::Unqueued { queued } => self.queue.retain(|waiting| waiting != queued),
            Fact::Said { message, queued } => {
                self.turn_spent = Spent::default();
                self.queue.retain(|waiting| Some(*waiting) != *queued);
                self.summary.get_or_insert_with(|| summarise(&message.text));
                self.updated_at = *at;
                self.turn = Some(OpenTurn {
                    said: *seq,
                    flow: message.flow.clone(),
                    unattended: message.origin.is_unattended(),
                    errand: message.origin.errand().map(|(slug, it)| (slug.to_owned(), it)),
                    ..OpenTurn::default()
                });
            }
            Fact::StepStarted { index } => {
                if let Some(turn) = &mut self.turn {
                    turn.steps = index.saturating_add(1);
                    turn.step = Some(*seq);
                }
            }
            Fact::Answered(Answer { calls, usage, model, .. }) => {
                // An agent counts all that it asked its own model, which is not what is in view.
                if let Some(usage) = usage.filter(|_| !names_agent(model)) {
                    self.filled = Some(usage.input_tokens.saturating_add(usage.output_tokens));
                }
                if let Some(call) = calls.last() {
                    self.intent = Some(call.title.clone());
                }
                self.updated_at = *at;
                if let Some(turn) = &mut self.turn {
                    turn.step = None;
                    turn.asked = Some(*seq);
                    turn.calls.extend(calls.iter().map(|call| call.id.clone()));
                }
            }
            Fact::ToolStarted { call } => {
                if let Some(turn) = &mut self.turn {
                    turn.started.push(call.clone());
                }
            }
            Fact::ToolReturned { call, output } => self.returned(call, output),
            Fact::CompactionStarted => self.compacting = true,
            Fact::CompactionEnded(Compaction::Failed { .. }) => self.compacting = false,
            Fact::CompactionEnded(Compaction::Done { upto, .. }) => {
                self.compacting = false;
                self.summed_up = Some(SummedUp { upto: *upto, at: *seq });
                // The next step is counted anew.
                self.filled = None;
            }
            Fact::Asked(question) => self.asked(*seq, question),
            Fact::Settled { question, verdict, .. } => self.settled(*question, verdict),
            Fact::TaskOpened(task) | Fact::TaskMoved(task) => self.task = Some(task.clone()),
            Fact::TaskClosed { .. } => self.task = None,
            Fact::WindowOpened(_) => {
                self.windows_from.get_or_insert(*seq);
            }
            Fact::WindowClosed { left, .. } => self.windows_from = *left,
            // What is on record is all there is to it.
            Fact::ModelLent { .. }
            | Fact::Embedded(_)
            | Fact::WindowChanged { .. }
            | Fact::App(_)
            | Fact::Desktop(_)
            | Fact::Widget(_) => (),
            Fact::Rewound { filled, summed_up, anew, .. } => {
                self.filled = *filled;
                self.summed_up = *summed_up;
                if *anew {
                    self.summary = None;
                }
            }
            Fact::TurnEnded(outcome) => {
                self.turn = None;
                self.updated_at = *at;
                if matches!(outcome, Outcome::Finished | Outcome::Cancelled) {
                    self.unobserved = true;
                }
            }
        }
    }

    fn returned(&mut self, call: &String, output: &Output) {
        let Some(turn) = &mut self.turn else { return };
        turn.calls.retain(|open| open != call);
        let started = turn.started.contains(call);
        turn.started.retain(|open| open != call);
        if let (true, Output::Interrupted, Some(at)) = (started, output, turn.asked) {
            self.doubts.push_back(Doubt { call: call.clone(), at });
            let excess = self.doubts.len().saturating_sub(DOUBTS);
            self.doubts.drain(..excess);
        }
    }

    fn asked(&mut self, at: Seq, question: &Question) {
        let doubt = match &question.about {
            About::Leave { doubt, .. } => doubt.clone(),
            About::Choice { .. } | About::Form { .. } | About::Visit { .. } => None,
        };
        let Question { id, call, expires, .. } = question;
        self.questions.push(OpenQuestion {
            id: *id,
            at,
            call: call.clone(),
            expires: *expires,
            doubt,
        });
    }

    fn settled(&mut self, question: Uuid, verdict: &Verdict) {
        let Some(place) = self.questions.iter().position(|open| open.id == question) else {
            return;
        };
        let settled = self.questions.remove(place);
        self.settled.push_back(question);
        let excess = self.settled.len().saturating_sub(SETTLED);
        self.settled.drain(..excess);
        if let (Verdict::Allowed { .. }, Some(call)) = (verdict, settled.doubt) {
            self.doubts.retain(|doubt| doubt.call != call);
        }
    }

    /// Whether the turn waits for the person and can go on from there, whatever happens meanwhile.
    pub fn awaits_person(&self) -> bool {
        let Some(turn) = &self.turn else { return false };
        let waits = |call: &String| self.questions.iter().any(|it| it.call.as_ref() == Some(call));
        turn.step.is_none() && turn.calls.iter().any(waits)
    }

    /// The context with one set replaced, or added to without repeats.
    pub fn changed_by(&self, change: ContextChange) -> Fact {
        let ContextChange { set, items, merge, forget_empty } = change;
        let mut context = self.context.clone();
        let known = context.entry(set.clone()).or_default();
        if !merge {
            known.clear();
        }
        for item in items {
            if !merge || !known.contains(&item) {
                known.push(item);
            }
        }
        known.truncate(CONTEXT_SET);
        if forget_empty && known.is_empty() {
            context.remove(&set);
        }
        Fact::ContextChanged { set, context }
    }

    pub fn is_busy(&self) -> bool {
        self.turn.is_some() || self.compacting
    }

    /// Whether it has more to do than its owner was told: a turn to end, a message to answer.
    pub fn is_unfinished(&self) -> bool {
        self.is_busy() || !self.queue.is_empty()
    }

    pub fn has_messages(&self) -> bool {
        self.summary.is_some()
    }
}

/// The beginning of the first line that says something.
fn summarise(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(SUMMARY_CHARS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_the_beginning_of_what_was_said_first() {
        assert_eq!(summarise("\n  list my files \nplease"), "list my files");
        assert_eq!(summarise(&"ä".repeat(90)), format!("{}…", "ä".repeat(80)));
        assert_eq!(summarise(""), "");
    }
}
