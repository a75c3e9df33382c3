//! Follows one turn through the events of its session: what is new of it, and how it ended. Prints nothing.

use std::collections::{HashMap, HashSet};

use super::frames::{Delta, EventFrame, Happening, PlanEnded, Settled, Task};
use crate::asked::Asked;

/// Something to show.
#[derive(Debug, PartialEq)]
pub enum Show {
    Text(String),
    /// The message is complete.
    Stop,
    Reasoning(String),
    /// What is going on: a tool call, a retry.
    Doing(String),
    /// Something only the person can say.
    Asking(Box<Asked>),
    /// It has been said, or no longer matters.
    Settled(Settled),
}

#[derive(Debug, PartialEq)]
pub enum End {
    Finished,
    Cancelled,
    Failed(String),
}

pub struct Reader {
    prompt: String,
    /// Everything up to here has been heard.
    last: u64,
    /// Frames of the fact after `last` that have been heard, should a cut have come between them.
    seen: HashSet<String>,
    /// Our message has been spoken; what comes is the answer.
    begun: bool,
    cancelled: bool,
    text: Speech,
    reasoning: Speech,
    tools: HashMap<String, String>,
    /// The plan that is open: its id and its title.
    plan: Option<(String, String)>,
}

impl Reader {
    /// Waits for `prompt` to be spoken after the fact `last`.
    pub fn new(prompt: String, last: u64) -> Self {
        Self {
            prompt,
            last,
            seen: HashSet::new(),
            begun: false,
            cancelled: false,
            text: Speech::default(),
            reasoning: Speech::default(),
            tools: HashMap::new(),
            plan: None,
        }
    }

    /// From where to go on after a cut.
    pub fn last(&self) -> u64 {
        self.last
    }

    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Whether this frame is news; to be asked once for each.
    pub fn is_news(&mut self, frame: &EventFrame) -> bool {
        let event = &frame.event;
        if frame.seq.is_some_and(|seq| seq <= self.last) {
            return false;
        }
        let stored = event.id.as_ref().filter(|_| !event.ephemeral);
        let new = stored.is_none_or(|id| self.seen.insert(id.clone()));
        if let Some(seq) = frame.seq {
            self.last = seq;
            self.seen.clear();
        }
        new
    }

    /// What a piece of news changes, and whether the turn is over with it.
    pub fn hear(&mut self, frame: EventFrame) -> (Vec<Show>, Option<End>) {
        let happening = frame.event.happening();
        if !self.begun {
            self.begun =
                matches!(&happening, Happening::Asked(said) if said.content == self.prompt);
            return (Vec::new(), None);
        }
        let mut shows = Vec::new();
        match happening {
            Happening::Text(delta) => shows.extend(self.text.hear(delta).map(Show::Text)),
            Happening::Said(said) => {
                shows.extend(self.text.end(said.content).map(Show::Text));
                shows.push(Show::Stop);
            }
            Happening::Reasoning(delta) => {
                shows.extend(self.reasoning.hear(delta).map(Show::Reasoning));
            }
            Happening::Reasoned(said) => {
                shows.extend(self.reasoning.end(said.content).map(Show::Reasoning));
            }
            Happening::ToolStarted(tool) => {
                shows.push(Show::Doing(format!("{} {}", tool.tool_name, tool.arguments)));
                self.tools.insert(tool.tool_call_id, tool.tool_name);
            }
            Happening::ToolEnded(tool) => {
                let name = self.tools.remove(&tool.tool_call_id).unwrap_or_default();
                if !tool.success {
                    let why = tool.error.map_or_else(|| "failed".into(), |error| error.message);
                    shows.push(Show::Doing(format!("{name}: {why}")));
                }
            }
            Happening::Remark(remark) => {
                self.cancelled |= remark.info_type == "cancellation";
                shows.push(Show::Doing(remark.message));
            }
            Happening::Planned(task) => shows.extend(self.planned(task).map(Show::Doing)),
            Happening::PlanEnded(end) => shows.extend(self.plan_ended(&end).map(Show::Doing)),
            Happening::Wanted(asked) => shows.push(Show::Asking(asked)),
            Happening::Settled(settled) => shows.push(Show::Settled(settled)),
            Happening::Idle if self.cancelled => return (shows, Some(End::Cancelled)),
            Happening::Idle => return (shows, Some(End::Finished)),
            Happening::Failed(error) => return (shows, Some(End::Failed(error.message))),
            Happening::Asked(_) | Happening::Other => (),
        }
        (shows, None)
    }

    fn planned(&mut self, task: Task) -> Option<String> {
        if task.visibility == "hide" {
            return None;
        }
        let over = |status: &str| matches!(status, "done" | "skipped" | "failed");
        let done = task.steps.iter().filter(|step| over(&step.status)).count();
        let active = task.steps.iter().find(|step| step.status == "active");
        let now = active.map(|step| format!(" · {}", step.text)).unwrap_or_default();
        let line = format!("{}: {done} of {}{now}", task.title, task.steps.len());
        self.plan = Some((task.id, task.title));
        Some(line)
    }

    fn plan_ended(&mut self, end: &PlanEnded) -> Option<String> {
        let (_, title) = self.plan.take_if(|(id, _)| *id == end.task_id)?;
        Some(match &end.reason {
            Some(reason) => format!("{title}: {}, {reason}", end.status),
            None => format!("{title}: {}", end.status),
        })
    }

    /// The turn was asked to stop; an end that comes now is due to that.
    pub fn cancel(&mut self) {
        self.cancelled = true;
    }
}

/// A message that arrives in pieces, and after a cut perhaps a second time.
#[derive(Default)]
struct Speech {
    heard: String,
    shown: String,
    /// All that was heard is shown, so a delta can be shown without comparing.
    in_step: bool,
}

impl Speech {
    /// What of it is to be shown now.
    fn hear(&mut self, delta: Delta) -> Option<String> {
        if delta.replace {
            return self.replace(delta.delta_content);
        }
        self.heard.push_str(&delta.delta_content);
        if self.in_step || self.shown.is_empty() {
            self.in_step = true;
            self.shown.push_str(&delta.delta_content);
            return Some(delta.delta_content).filter(|text| !text.is_empty());
        }
        let whole = std::mem::take(&mut self.heard);
        self.replace(whole)
    }

    fn end(&mut self, whole: String) -> Option<String> {
        let rest = self.replace(whole);
        *self = Self::default();
        rest
    }

    /// Goes on from a text that should begin with what was shown. One that is shorter will grow;
    /// one that differs is shown again from its start.
    fn replace(&mut self, whole: String) -> Option<String> {
        let rest = match whole.strip_prefix(&self.shown) {
            Some(rest) => rest.to_owned(),
            None if self.shown.starts_with(&whole) => String::new(),
            None => format!("\n{whole}"),
        };
        if whole.len() >= self.shown.len() || !rest.is_empty() {
            self.shown.clone_from(&whole);
        }
        self.in_step = self.shown.len() == whole.len();
        self.heard = whole;
        Some(rest).filter(|rest| !rest.is_empty())
    }
}

#[cfg(test)]
mod tests;
