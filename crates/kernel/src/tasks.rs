//! Plans of several steps, and how far they have come.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::update::Fact;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub id: Uuid,
    pub title: String,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub text: String,
    pub progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    Pending,
    Active,
    Done,
    Failed,
    Skipped,
}

/// How a task came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Close {
    Done,
    Failed,
    Cancelled,
}

/// What an agent means to do, as it sees it now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub title: String,
    pub steps: Vec<Step>,
}

impl Task {
    /// How it came out, if no step is left to do.
    pub fn close(&self) -> Option<Close> {
        let is = |step: &Step, progress| step.progress == progress;
        let open = |step: &Step| is(step, Progress::Pending) || is(step, Progress::Active);
        match self.steps.iter().any(open) {
            true => None,
            false if self.steps.iter().any(|step| is(step, Progress::Failed)) => {
                Some(Close::Failed)
            }
            false => Some(Close::Done),
        }
    }
}

impl Plan {
    /// The facts that lead from the task that is open, if one is, to this plan.
    pub fn facts(self, open: Option<&Task>, id: impl FnOnce() -> Uuid) -> Vec<Fact> {
        let Self { title, steps } = self;
        let task = Task { id: open.map_or_else(id, |open| open.id), title, steps };
        let closed = task.close().map(|close| Fact::TaskClosed { task: task.id, close });
        let told = match open {
            Some(open) if *open == task => None,
            Some(_) => Some(Fact::TaskMoved(task)),
            None => Some(Fact::TaskOpened(task)),
        };
        told.into_iter().chain(closed).collect()
    }
}
