//! Prompts that are said by the clock: what is planned, what came of it, and what it may do.

pub mod due;
mod keeper;
mod rehearsal;
mod running;
pub mod timing;

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    host::{OpenError, PostError},
    ports::StoreError,
    toolbox::{Caller, Deed},
    update::SessionId,
};

pub use due::Missed;
pub use keeper::Schedules;
pub use rehearsal::{RehearseError, Rehearsed};
pub use timing::{Rhythm, Timing, TimingError};

/// How long the name of a schedule may be.
const SLUG_CHARS: usize = 64;

/// Whether this can name a schedule: small letters, digits, and hyphens between them.
pub fn is_slug(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=SLUG_CHARS).contains(&text.len())
        && text.bytes().all(|byte| plain(byte) || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// What the person wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    pub prompt: String,
    pub enabled: bool,
    pub timing: Timing,
    /// Who answers; the default of the house at the time when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where a session of its own works; in the workspace when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Whether every run goes on where the last one ended.
    pub persist: bool,
    #[serde(default)]
    pub missed: Missed,
    #[serde(default)]
    pub on_new_need: OnNewNeed,
}

/// What becomes of a run that wants something it was not given leave for. Nobody is ever asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnNewNeed {
    /// It is told no, and goes on.
    #[default]
    DenyAndContinue,
    End,
}

/// A schedule, and how far it has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    pub slug: String,
    #[serde(flatten)]
    pub definition: Definition,
    pub created: Timestamp,
    pub updated: Timestamp,
    /// Intervals count from here.
    pub anchor: Timestamp,
    /// Every planned time up to here is dealt with.
    pub decided: Timestamp,
    /// Where the last run was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The run that ended last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Run>,
    /// The run that has begun and not ended. On record before anything is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<Run>,
}

/// One time that it was due, or was set going by hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub id: Uuid,
    /// The planned time; that of the wish for a run by hand.
    pub due: Timestamp,
    pub manual: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RunOutcome>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why it is not as planned: it stands for others, or was passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// What it wanted and was not given leave for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needed: Vec<Need>,
}

impl Run {
    fn new(id: Uuid, due: Timestamp, manual: bool) -> Self {
        Self {
            id,
            due,
            manual,
            started: None,
            finished: None,
            outcome: None,
            error: None,
            reason: None,
            session: None,
            needed: Vec::new(),
        }
    }

    /// The name of its record: the same planned time is never on record twice.
    pub fn record(&self, slug: &str) -> String {
        // By hand, as often as somebody likes.
        let hand = if self.manual { format!("-{}", self.id) } else { String::new() };
        format!("{}{:020}{hand}", prefix(slug), self.due.as_millisecond())
    }

    /// What its message is known by in the session's log.
    fn key(&self) -> String {
        format!("schedule-run:{}", self.id)
    }
}

fn prefix(slug: &str) -> String {
    format!("{slug}/")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    Success,
    Error,
    Cancelled,
    Skipped,
}

/// Something that a run wants to do and has no leave for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Need {
    pub tool: String,
    /// What it would do, in a line.
    pub title: String,
    pub caller: Caller,
    pub deed: Deed,
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("Schedule not found: {0}")]
    Unknown(String),
    #[error("Schedule is running already: {0}")]
    Running(String),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Post(#[from] PostError),
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        Self::Open(error.into())
    }
}
