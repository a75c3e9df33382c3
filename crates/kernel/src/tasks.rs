//! Plans of several steps, and how far they have come.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::update::Fact;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub id: Uuid,
    pub title: String,
    pub steps: Vec<Step>,
    /// How far it has come at its best, in thousandths: a plan that grows does not fall back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reached: u16,
    #[serde(default, skip_serializing_if = "Visibility::is_auto")]
    pub visibility: Visibility,
}

/// Whether it is worth a person's attention, as the agent sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// If it has more than one step.
    #[default]
    Auto,
    Show,
    Hide,
}

impl Visibility {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    fn is_auto(&self) -> bool {
        *self == Self::Auto
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Show => "show",
            Self::Hide => "hide",
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(share: &u16) -> bool {
    *share == 0
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
    /// Where it is not said, a plan stays as visible as it was.
    pub visibility: Option<Visibility>,
}

impl Task {
    /// How many of its steps are left to do.
    pub fn left(&self) -> usize {
        let open = |step: &&Step| matches!(step.progress, Progress::Pending | Progress::Active);
        self.steps.iter().filter(open).count()
    }

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

/// How much of these steps is finished, one way or another, in thousandths.
pub fn share(steps: &[Step]) -> u16 {
    let open = |step: &&Step| matches!(step.progress, Progress::Pending | Progress::Active);
    let finished = steps.len() - steps.iter().filter(open).count();
    let thousandths = (finished * 1000).checked_div(steps.len()).unwrap_or_default();
    u16::try_from(thousandths).unwrap_or(1000)
}

impl Plan {
    /// The facts that lead from the task that is open, if one is, to this plan.
    pub fn facts(self, open: Option<&Task>, id: impl FnOnce() -> Uuid) -> Vec<Fact> {
        let Self { title, steps, visibility } = self;
        let reached = share(&steps).max(open.map_or(0, |open| open.reached));
        let before = || open.map(|open| open.visibility).unwrap_or_default();
        let visibility = visibility.unwrap_or_else(before);
        let id = open.map_or_else(id, |open| open.id);
        let task = Task { id, title, steps, reached, visibility };
        let closed =
            task.close().map(|close| Fact::TaskClosed { task: task.id, close, reason: None });
        let told = match open {
            Some(open) if *open == task => None,
            Some(_) => Some(Fact::TaskMoved(task)),
            None => Some(Fact::TaskOpened(task)),
        };
        told.into_iter().chain(closed).collect()
    }
}
