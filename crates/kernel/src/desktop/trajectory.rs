//! A stretch of work on a desktop that was recorded, to be done again by its name.

mod fold;
mod motion;
mod store;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use fold::Recording;
pub use motion::Motion;
pub use store::{Trajectories, TrajectoryError};

use super::{Crop, DesktopError, Point};

/// How many steps one has at most.
pub const MOST_STEPS: usize = 500;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    pub id: Uuid,
    pub name: String,
    /// Where it was recorded.
    pub device: String,
    pub made: Timestamp,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub motion: Motion,
    /// What was seen before it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sight: Option<Sight>,
}

/// How it looked around a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sight {
    pub at: Point,
    pub crop: Crop,
}

/// How far it was done again.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    pub name: String,
    /// So many steps are done, those that were left out included.
    pub done: usize,
    pub of: usize,
    /// Why it did not go on.
    pub stopped: Option<Stopped>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Stopped {
    /// It does not look there as it did.
    Differs {
        expected: Crop,
        found: Option<Crop>,
        difference: f64,
    },
    /// A secret was typed, which was not kept: the person has to.
    Secret,
    Failed(DesktopError),
}

impl Replay {
    /// In a sentence, for whoever wanted it.
    pub fn summary(&self) -> String {
        let Self { name, done, of, stopped } = self;
        let step = done + 1;
        match stopped {
            None => format!("Did all {of} steps of {name}."),
            Some(Stopped::Differs { difference, .. }) => format!(
                "Stopped before step {step} of {of}: {:.0} % of the screen around its point looks different \
                 from when {name} was recorded.",
                difference * 100.0
            ),
            Some(Stopped::Secret) => format!(
                "Stopped before step {step} of {of}: a secret was typed there, which was not kept. The \
                 person has to type it."
            ),
            Some(Stopped::Failed(error)) => {
                format!("Stopped at step {step} of {of}: {error}")
            }
        }
    }
}
