//! When a schedule is due: pure arithmetic over a calendar, a time zone and the clock's readings.

use std::time::Duration;

use croner::{
    Cron,
    errors::CronError,
    parser::{CronParser, Seconds, Year},
};
use jiff::{
    SignedDuration, Timestamp, Zoned,
    tz::{AmbiguousOffset, TimeZone},
};
use serde::{Deserialize, Serialize};

/// How close two runs may be.
pub const SHORTEST: Duration = Duration::from_mins(1);
/// How many of the next runs are looked at to see whether any two are too close.
const LOOKED_AT: usize = 50;
/// How much of a day may come twice.
const LONGEST_FOLD: SignedDuration = SignedDuration::from_hours(3);
/// How long an interval may be: ten years.
pub const LONGEST_MINUTES: u32 = 10 * 366 * 24 * 60;

/// What was asked for, in the words it was asked in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Timing {
    Cron {
        expression: String,
        /// An IANA name; where the owner lives when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        zone: Option<String>,
    },
    Interval {
        minutes: u32,
    },
}

/// What is wrong with a timing. The words are those of the API.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimingError {
    #[error("Invalid cron expression")]
    Invalid { why: String },
    #[error("Invalid cron expression: it never runs")]
    Never,
    #[error("Cron expression runs every {0} seconds. Minimum interval is 1 minute")]
    TooOften(i64),
    #[error("Minimum interval is 1 minute")]
    TooShort,
    #[error("Maximum interval is {LONGEST_MINUTES} minutes")]
    TooLong,
    #[error("Unknown timezone: {0}")]
    UnknownZone(String),
}

impl TimingError {
    /// The same with whatever may help, for a person who is still typing.
    pub fn explained(&self) -> String {
        match self {
            Self::Invalid { why } => format!("{self}: {why}"),
            Self::UnknownZone(_) => {
                format!("{self}. Use a name such as Europe/Berlin, America/New_York or UTC")
            }
            Self::Never | Self::TooOften(_) | Self::TooShort | Self::TooLong => self.to_string(),
        }
    }
}

/// A timing that can be reckoned with.
#[derive(Clone, Debug)]
pub enum Rhythm {
    /// At times of the wall clock. One that a change of the clocks leaves out counts as the first
    /// moment after it; one that comes twice counts the first time.
    Calendar { cron: Box<Cron>, zone: TimeZone },
    /// In every hour there is: none is left out or skipped, however clocks are changed.
    Hourly { cron: Box<Cron>, zone: TimeZone },
    /// Counted from the anchor, however late any run was.
    Every { anchor: Timestamp, length: SignedDuration },
}

impl Rhythm {
    /// Reads a timing. Intervals count from `anchor`; a calendar without a zone is that of `home`.
    pub fn read(timing: &Timing, anchor: Timestamp, home: &TimeZone) -> Result<Self, TimingError> {
        match timing {
            Timing::Interval { minutes: 0 } => Err(TimingError::TooShort),
            Timing::Interval { minutes } if *minutes > LONGEST_MINUTES => Err(TimingError::TooLong),
            Timing::Interval { minutes } => {
                let length = SignedDuration::from_mins((*minutes).into());
                Ok(Self::Every { anchor: whole(anchor), length })
            }
            Timing::Cron { expression, zone } => {
                let zone = match zone {
                    None => home.clone(),
                    Some(name) => {
                        TimeZone::get(name).map_err(|_| TimingError::UnknownZone(name.clone()))?
                    }
                };
                let parser =
                    CronParser::builder().seconds(Seconds::Optional).year(Year::Disallowed).build();
                let cron = parser.parse(expression).map_err(|error| invalid(&error))?;
                let hourly = (0..24).all(|hour| cron.pattern.hour_match(hour).unwrap_or(false));
                let cron = Box::new(cron);
                Ok(if hourly { Self::Hourly { cron, zone } } else { Self::Calendar { cron, zone } })
            }
        }
    }

    /// Whether it ever runs after `now`, and never too often.
    pub fn check(&self, now: Timestamp) -> Result<(), TimingError> {
        if let Self::Every { .. } = self {
            return Ok(());
        }
        let runs: Vec<Timestamp> = self.following(now).take(LOOKED_AT).collect();
        if runs.is_empty() {
            return Err(TimingError::Never);
        }
        let gaps = runs.windows(2).map(|pair| pair[1].duration_since(pair[0]).as_secs());
        match gaps.min() {
            Some(seconds) if seconds.unsigned_abs() < SHORTEST.as_secs() => {
                Err(TimingError::TooOften(seconds))
            }
            _ => Ok(()),
        }
    }

    /// The first planned time after `moment`, if there is one.
    pub fn after(&self, moment: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Calendar { cron, zone } => {
                let mut wall = on_wall(whole(moment), zone)?;
                loop {
                    wall = cron.find_next_occurrence(&wall, false).ok()?;
                    let instant = instant(&wall, zone)?;
                    if instant > moment {
                        return Some(instant);
                    }
                }
            }
            Self::Hourly { cron, zone } => {
                let from = whole(moment).to_zoned(zone.clone());
                let found = cron.find_next_occurrence(&from, false).ok()?.timestamp();
                Some(found).filter(|it| *it > moment)
            }
            Self::Every { anchor, length } => {
                let passed = moment.duration_since(*anchor).as_secs();
                let count = passed.div_euclid(length.as_secs()).max(0).checked_add(1)?;
                let length = length.as_secs().checked_mul(count)?;
                anchor.checked_add(SignedDuration::from_secs(length)).ok()
            }
        }
    }

    /// The planned times after `moment`, in order.
    pub fn following(&self, moment: Timestamp) -> impl Iterator<Item = Timestamp> {
        std::iter::successors(self.after(moment), |last| self.after(*last))
    }

    /// The last planned time that is not after `moment`.
    pub fn latest(&self, moment: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Calendar { cron, zone } => {
                // Times that came twice lie ahead on the wall, though they have been.
                let mut wall = on_wall(whole(moment), zone)?.checked_add(LONGEST_FOLD).ok()?;
                loop {
                    wall = cron.find_previous_occurrence(&wall, false).ok()?;
                    let instant = instant(&wall, zone)?;
                    if instant <= moment {
                        return Some(instant);
                    }
                }
            }
            Self::Hourly { cron, zone } => {
                let from = whole(moment).to_zoned(zone.clone());
                let found = cron.find_previous_occurrence(&from, true).ok()?.timestamp();
                Some(found).filter(|it| *it <= moment)
            }
            Self::Every { anchor, length } => {
                let count = moment.duration_since(*anchor).as_secs().div_euclid(length.as_secs());
                let passed = length.as_secs().checked_mul(count).filter(|_| count > 0)?;
                anchor.checked_add(SignedDuration::from_secs(passed)).ok()
            }
        }
    }
}

/// What clocks on the wall show, in a zone where they are never changed.
fn on_wall(moment: Timestamp, zone: &TimeZone) -> Option<Zoned> {
    moment.to_zoned(zone.clone()).datetime().to_zoned(TimeZone::UTC).ok()
}

/// When clocks on the wall show this, for the first time; where they never do, the first moment
/// after they were changed.
fn instant(wall: &Zoned, zone: &TimeZone) -> Option<Timestamp> {
    let shown = zone.to_ambiguous_timestamp(wall.datetime());
    match shown.offset() {
        AmbiguousOffset::Gap { after, .. } => {
            let before = after.to_timestamp(wall.datetime()).ok()?;
            zone.following(before).next().map(|change| change.timestamp())
        }
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Fold { .. } => shown.earlier().ok(),
    }
}

/// Runs are planned to the second.
fn whole(moment: Timestamp) -> Timestamp {
    Timestamp::from_second(moment.as_second()).unwrap_or(moment)
}

fn invalid(error: &CronError) -> TimingError {
    let why = match error {
        CronError::EmptyPattern => {
            "it is empty; five fields are expected: minute, hour, day, month, weekday".into()
        }
        CronError::InvalidPattern(why)
        | CronError::IllegalCharacters(why)
        | CronError::ComponentError(why) => why.trim_end_matches('.').to_owned(),
        CronError::InvalidDate | CronError::InvalidTime | CronError::TimeSearchLimitExceeded => {
            error.to_string()
        }
    };
    TimingError::Invalid { why }
}
