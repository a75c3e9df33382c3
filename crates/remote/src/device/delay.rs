//! How long to wait before the hub is tried again: longer each time, and never quite the same.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(30);

#[derive(Default)]
pub struct Delays {
    tries: u32,
}

impl Delays {
    /// `chance` is anything from 0 to 1.
    pub fn next(&mut self, chance: f64) -> Duration {
        let doubled = FIRST.saturating_mul(2_u32.saturating_pow(self.tries)).min(LONGEST);
        self.tries = self.tries.saturating_add(1);
        doubled.mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0)
    }

    /// All is well again.
    pub fn reset(&mut self) {
        self.tries = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_longer_each_time_up_to_half_a_minute() {
        let mut delays = Delays::default();
        let longest: Vec<f64> = (0..9).map(|_| delays.next(1.0).as_secs_f64()).collect();
        assert_eq!(longest, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]);
        delays.reset();
        assert_eq!(delays.next(0.0), Duration::from_millis(250));
        for _ in 0..100 {
            delays.next(0.5);
        }
        assert_eq!(delays.next(2.0), LONGEST);
    }
}
