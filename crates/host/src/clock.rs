//! Time and chance as this machine has them.

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use kernel::ports::Clock;
use uuid::Uuid;

pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the port that others take time from")]
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        // Whole milliseconds, as they are written on every wire: what was stored reads back equal.
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }

    fn today(&self) -> Date {
        self.now().to_zoned(self.zone()).date()
    }

    fn zone(&self) -> TimeZone {
        TimeZone::system()
    }

    #[expect(clippy::disallowed_methods, reason = "this is the port that others take ids from")]
    fn id(&self) -> Uuid {
        Uuid::now_v7()
    }

    #[expect(clippy::disallowed_methods, reason = "this is the port that others take chance from")]
    fn bits(&self) -> u128 {
        // Some bits of such an id are always the same, and these are others in the second.
        Uuid::new_v4().as_u128() ^ Uuid::new_v4().as_u128().rotate_left(64)
    }

    fn chance(&self) -> f64 {
        // The tail of a new id is as random as anything here.
        let tail = u32::try_from(self.id().as_u128() & u128::from(u32::MAX)).unwrap_or_default();
        f64::from(tail) / f64::from(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_told_in_whole_milliseconds() {
        assert_eq!(SystemClock.now().subsec_nanosecond() % 1_000_000, 0);
    }

    #[test]
    fn a_later_id_sorts_after_an_earlier_one() {
        let ids: Vec<Uuid> = (0..1000).map(|_| SystemClock.id()).collect();
        assert!(ids.is_sorted());
    }
}
