//! How many messages somebody may send: a handful at once, and so many a second for ever.

use jiff::Timestamp;

/// What a frame may say to its tenant.
const AT_ONCE: f64 = 240.0;
const A_SECOND: f64 = 60.0;

#[derive(Debug)]
pub struct Allowance {
    at_once: f64,
    a_second: f64,
    left: f64,
    at: Timestamp,
    spent: bool,
}

impl Allowance {
    pub fn full(now: Timestamp) -> Self {
        Self::of(AT_ONCE, A_SECOND, now)
    }

    pub fn of(at_once: f64, a_second: f64, now: Timestamp) -> Self {
        Self { at_once, a_second, left: at_once, at: now, spent: false }
    }

    /// Whether the last message was one too many.
    pub fn is_spent(&self) -> bool {
        self.spent
    }

    /// Whether one more is allowed.
    pub fn spend(&mut self, now: Timestamp) -> bool {
        let seconds = now.duration_since(self.at).as_secs_f64().max(0.0);
        (self.left, self.at) = ((self.left + seconds * self.a_second).min(self.at_once), now);
        self.spent = self.left < 1.0;
        if !self.spent {
            self.left -= 1.0;
        }
        !self.spent
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn a_burst_is_followed_by_so_many_a_second() {
        let mut now = Timestamp::UNIX_EPOCH;
        let mut allowance = Allowance::full(now);
        let mut allowed = |now| (0..1000).filter(|_| allowance.spend(now)).count();
        assert_eq!(allowed(now), 240);
        assert_eq!(allowed(now), 0);
        now += SignedDuration::from_secs(1);
        assert_eq!(allowed(now), 60);
        now += SignedDuration::from_hours(1);
        assert_eq!(allowed(now), 240);
        // A clock that was set back gives nothing, and takes nothing.
        assert_eq!(allowed(now - SignedDuration::from_hours(1)), 0);
    }
}
