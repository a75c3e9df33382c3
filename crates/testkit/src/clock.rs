//! Time that passes when the test says so, and ids that are the same in every run.

use std::sync::{Mutex, PoisonError};

use futures::{FutureExt as _, future::BoxFuture};
use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};
use kernel::ports::Clock;
use tokio::sync::watch;
use uuid::{Builder, Uuid};

/// 2026-02-01T10:00:00Z
const START: i64 = 1_769_940_000;

pub struct ManualClock {
    inner: Mutex<Inner>,
    /// Says how late it is whenever that changes.
    told: watch::Sender<Timestamp>,
}

struct Inner {
    now: Timestamp,
    ids: u64,
    zone: TimeZone,
}

impl Default for ManualClock {
    fn default() -> Self {
        let now = Timestamp::from_second(START).unwrap();
        let inner = Mutex::new(Inner { now, ids: 0, zone: TimeZone::UTC });
        Self { inner, told: watch::Sender::new(now) }
    }
}

impl ManualClock {
    pub fn advance(&self, by: SignedDuration) {
        self.set(self.now() + by);
    }

    /// Makes it this late, or this early.
    pub fn set(&self, now: Timestamp) {
        self.with(|inner| inner.now = now);
        self.told.send_replace(now);
    }

    /// Its owner moves.
    pub fn live_in(&self, zone: TimeZone) {
        self.with(|inner| inner.zone = zone);
    }

    fn with<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        change(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.with(|inner| inner.now)
    }

    fn today(&self) -> Date {
        self.now().to_zoned(self.zone()).date()
    }

    /// By UTC, unless its owner has moved.
    fn zone(&self) -> TimeZone {
        self.with(|inner| inner.zone.clone())
    }

    fn until(&self, at: Timestamp) -> BoxFuture<'_, ()> {
        async move {
            let mut told = self.told.subscribe();
            let mut last = *told.borrow_and_update();
            while last < at {
                // The clock outlives whoever borrows it.
                told.changed().await.unwrap();
                let now = *told.borrow_and_update();
                if now < last {
                    return;
                }
                last = now;
            }
        }
        .boxed()
    }

    fn id(&self) -> Uuid {
        let count = self.with(|inner| {
            inner.ids += 1;
            inner.ids
        });
        id(count)
    }

    fn bits(&self) -> u128 {
        self.id().as_u128()
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
