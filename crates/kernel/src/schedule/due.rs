//! What is to be done now about the planned times that have come: pure, whatever happened meanwhile.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::timing::Rhythm;

/// How late a run may begin and still count as on time.
pub const GRACE: SignedDuration = SignedDuration::from_secs(10);
/// How many missed runs are made up for.
pub const CATCH_UP: usize = 24;
/// A reading that is so far ahead of the clock was taken from a clock that was wrong.
const AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// What becomes of planned times that passed while nothing could run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missed {
    Skip,
    /// One run stands for all of them.
    #[default]
    Once,
    /// Each is made up for, the oldest first, up to [`CATCH_UP`] of them.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The planned time to run for.
    pub run: Option<Timestamp>,
    /// How many planned times this run stands for besides.
    pub merged: Passed,
    /// Those for which nothing is run.
    pub skipped: Option<(Timestamp, Passed)>,
    /// Every planned time up to here is dealt with, once this is done.
    pub decided: Timestamp,
}

/// How many planned times, as far as anybody counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    pub count: usize,
    /// There are more.
    pub more: bool,
}

/// Where to go on from, should the clock have been set back by far.
pub fn sane(decided: Timestamp, now: Timestamp) -> Timestamp {
    if decided.duration_since(now) > AHEAD { now } else { decided }
}

/// What to do at `now`, where every planned time up to `decided` has been dealt with.
pub fn due(
    rhythm: &Rhythm,
    missed: Missed,
    decided: Timestamp,
    now: Timestamp,
) -> Option<Decision> {
    let latest = rhythm.latest(now).filter(|latest| *latest > decided);
    let latest = latest.or_else(|| rhythm.after(decided).filter(|it| *it <= now))?;
    // From the latest back, as far as it matters.
    let earlier = std::iter::successors(Some(latest), |later| {
        let before = later.checked_sub(SignedDuration::from_secs(1)).ok()?;
        rhythm.latest(before).filter(|it| *it > decided)
    });
    let passed: Vec<Timestamp> = earlier.take(CATCH_UP + 1).collect();
    let on_time = now.duration_since(latest) <= GRACE;
    let all = Passed { count: passed.len().min(CATCH_UP), more: passed.len() > CATCH_UP };
    let rest = Passed { count: passed.len() - 1, more: false };
    let rest = if all.more { Passed { count: CATCH_UP, more: true } } else { rest };
    let decision = |run, merged, skipped: Option<(Timestamp, Passed)>, decided| {
        let skipped = skipped.filter(|(_, passed)| passed.count > 0);
        Decision { run, merged, skipped, decided }
    };
    let before = passed.get(1).copied().unwrap_or(latest);
    Some(match missed {
        Missed::Skip if on_time => {
            decision(Some(latest), Passed::default(), Some((before, rest)), latest)
        }
        Missed::Skip => decision(None, Passed::default(), Some((latest, all)), latest),
        Missed::Once => decision(Some(latest), rest, None, latest),
        Missed::All => {
            let oldest = passed[passed.len().min(CATCH_UP) - 1];
            let dropped = passed.get(CATCH_UP).map(|it| (*it, Passed { count: 1, more: true }));
            decision(Some(oldest), Passed::default(), dropped, oldest)
        }
    })
}

impl std::fmt::Display for Passed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self { count: 1, more: false } => write!(f, "1 planned time"),
            Self { count, more: false } => write!(f, "{count} planned times"),
            Self { count, more: true } => write!(f, "{count} planned times or more"),
        }
    }
}
