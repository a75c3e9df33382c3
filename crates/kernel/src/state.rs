//! What a session's facts add up to. Small, whatever the history: it is stored with every batch.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    ledger,
    update::{Answer, Compaction, Context, ContextChange, Entry, Fact, Outcome, Seq, Usage},
};

/// How much of the first message makes a summary.
const SUMMARY_CHARS: usize = 80;
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summed_up: Option<SummedUp>,
    /// The past is being summed up at the person's wish.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compacting: bool,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenTurn {
    pub said: Seq,
    pub flow: String,
    /// The step being answered, if the model has been asked.
    pub step: Option<Seq>,
    /// Tool calls that have not returned.
    pub calls: Vec<String>,
}

impl State {
    pub fn apply(&mut self, Entry { seq, at, fact }: &Entry) {
        self.last = *seq;
        if let Some((_, usage)) = ledger::used(fact) {
            self.spent.add(usage);
        }
        match fact {
            Fact::Opened { cwd, model, name } => {
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
            Fact::EnvHinted { hint } => self.env_hint.clone_from(hint),
            Fact::ContextChanged { context, .. } => self.context.clone_from(context),
            Fact::Observed => self.unobserved = false,
            Fact::Queued(_) => self.queue.push_back(*seq),
            Fact::Said { message, queued } => {
                self.queue.retain(|waiting| Some(*waiting) != *queued);
                self.summary.get_or_insert_with(|| summarise(&message.text));
                self.updated_at = *at;
                let flow = message.flow.clone();
                self.turn = Some(OpenTurn { said: *seq, flow, step: None, calls: Vec::new() });
            }
            Fact::StepStarted { .. } => {
                if let Some(turn) = &mut self.turn {
                    turn.step = Some(*seq);
                }
            }
            Fact::Answered(Answer { calls, usage, .. }) => {
                if let Some(usage) = usage {
                    self.filled = Some(usage.input_tokens.saturating_add(usage.output_tokens));
                }
                if let Some(call) = calls.last() {
                    self.intent = Some(call.title.clone());
                }
                self.updated_at = *at;
                if let Some(turn) = &mut self.turn {
                    turn.step = None;
                    turn.calls.extend(calls.iter().map(|call| call.id.clone()));
                }
            }
            Fact::ToolReturned { call, .. } => {
                if let Some(turn) = &mut self.turn {
                    turn.calls.retain(|open| open != call);
                }
            }
            Fact::CompactionStarted => self.compacting = true,
            Fact::CompactionEnded(Compaction::Failed { .. }) => self.compacting = false,
            Fact::CompactionEnded(Compaction::Done { upto, .. }) => {
                self.compacting = false;
                self.summed_up = Some(SummedUp { upto: *upto, at: *seq });
                // The next step is counted anew.
                self.filled = None;
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

    /// The context with one set replaced, or added to without repeats.
    pub fn changed_by(&self, ContextChange { set, items, merge }: ContextChange) -> Fact {
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
