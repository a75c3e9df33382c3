//! Values as the phone reads them: times of whole seconds, shares within 0 to 1, names.

use jiff::Timestamp;
use kernel::{
    ports::Models,
    state::State,
    update::{Seq, SessionId},
};
use sha2::{Digest as _, Sha256};
use uuid::Builder;

/// `2026-02-07T10:30:00Z`: the phone drops any time with a fraction.
pub fn time(at: Timestamp) -> String {
    let whole = Timestamp::from_second(second(at)).unwrap_or_default();
    whole.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The second it is in, also before 1970.
pub fn second(at: Timestamp) -> i64 {
    at.as_millisecond().div_euclid(1000)
}

/// What a row goes by, live and in every history: it follows from its place.
pub fn row_id(session: SessionId, seq: Seq, at: Timestamp) -> String {
    let mut digest = Sha256::new();
    digest.update(session.0.as_bytes());
    digest.update(seq.0.to_be_bytes());
    let digest: [u8; 32] = digest.finalize().into();
    let mut chance = [0; 10];
    chance.copy_from_slice(&digest[..10]);
    let millis = u64::try_from(at.as_millisecond()).unwrap_or_default();
    format!("msg_{}", Builder::from_unix_timestamp_millis(millis, &chance).into_uuid())
}

/// How full the context is, and what fills it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filling {
    pub remaining: f64,
    pub used: i64,
}

impl Filling {
    pub fn of(state: &State, models: &dyn Models) -> Self {
        let used = state.filled.unwrap_or_default();
        let window = models.find(&state.model).map_or(0, |model| model.window());
        Self { remaining: remaining(used, window), used: i64::try_from(used).unwrap_or(i64::MAX) }
    }
}

/// Four digits, and always a number that JSON has.
#[expect(clippy::cast_precision_loss, reason = "a share needs no more digits")]
fn remaining(used: u64, window: u64) -> f64 {
    if used == 0 || window == 0 {
        return 1.0;
    }
    let share = window.saturating_sub(used) as f64 / window as f64;
    (share * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_whole_seconds() {
        for (at, text) in [
            ("2026-02-07T10:30:00.999999Z", "2026-02-07T10:30:00Z"),
            ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(time(at.parse().unwrap()), text);
        }
    }

    #[test]
    fn what_remains_is_always_a_number_from_0_to_1() {
        for (used, window, share) in [
            (0, 0, 1.0),
            (5, 0, 1.0),
            (0, 100, 1.0),
            (25, 100, 0.75),
            (1, 3, 0.6667),
            (200, 100, 0.0),
            (u64::MAX, u64::MAX, 0.0),
        ] {
            assert!((remaining(used, window) - share).abs() < 1e-9, "{used} {window}");
        }
    }

    #[test]
    fn a_row_has_one_name_for_ever_and_no_other_row_has_it() {
        let session = SessionId(uuid::Uuid::nil());
        let at = "2026-02-07T10:30:00Z".parse().unwrap();
        let id = row_id(session, Seq(1), at);
        assert_eq!(id, row_id(session, Seq(1), at));
        assert_ne!(id, row_id(session, Seq(2), at));
        assert_ne!(id, row_id(SessionId(uuid::Uuid::max()), Seq(1), at));
        assert_eq!((id.len(), &id[..4], &id[18..19]), (40, "msg_", "7"));
    }
}
