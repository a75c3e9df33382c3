//! Time that passes when the test says so, and ids that are the same in every run.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};
use kernel::ports::Clock;
use uuid::{Builder, Uuid};

/// 2026-02-01T10:00:00Z
const START: i64 = 1_769_940_000;

pub struct ManualClock {
    inner: Mutex<Inner>,
}

struct Inner {
    now: Timestamp,
    ids: u64,
}

impl Default for ManualClock {
    fn default() -> Self {
        let now = Timestamp::from_second(START).unwrap();
        Self { inner: Mutex::new(Inner { now, ids: 0 }) }
    }
}

impl ManualClock {
    pub fn advance(&self, by: SignedDuration) {
        self.with(|inner| inner.now += by);
    }

    fn with<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        change(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.with(|inner| inner.now)
    }

    /// Its owner lives by UTC.
    fn today(&self) -> Date {
        self.now().to_zoned(TimeZone::UTC).date()
    }

    fn id(&self) -> Uuid {
        let count = self.with(|inner| {
            inner.ids += 1;
            inner.ids
        });
        id(count)
    }

    fn chance(&self) -> f64 {
        0.0
    }
}

/// The `count`th id of every [`ManualClock`].
pub(crate) fn id(count: u64) -> Uuid {
    let mut chance = [0; 10];
    chance[2..].copy_from_slice(&count.to_be_bytes());
    Builder::from_unix_timestamp_millis(START.unsigned_abs() * 1000, &chance).into_uuid()
}

#[cfg(test)]
mod tests {
    use kernel::update::SessionId;

    use super::*;

    #[test]
    fn time_passes_only_when_told() {
        let clock = ManualClock::default();
        assert_eq!(clock.now().to_string(), "2026-02-01T10:00:00Z");
        clock.advance(SignedDuration::from_millis(1500));
        assert_eq!(clock.now().to_string(), "2026-02-01T10:00:01.5Z");
    }

    #[test]
    fn ids_are_the_same_in_every_run_and_in_order() {
        let clock = ManualClock::default();
        let ids: Vec<_> = (0..300).map(|_| clock.id()).collect();
        assert!(ids.is_sorted());
        assert!(ids.iter().all(|id| id.get_version_num() == 7));
        assert_eq!(ids[0].to_string(), "019c18a5-1d00-7000-8000-000000000001");
        assert_eq!(SessionId::parse(&ids[299].to_string()), Some(SessionId(ids[299])));
    }
}
