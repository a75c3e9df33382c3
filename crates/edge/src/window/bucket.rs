//! How often something may be done: a few times at once, and then at a steady pace.

use tokio::time::Instant;

#[derive(Default)]
pub struct Bucket {
    /// What was left, and when.
    left: Option<(f64, Instant)>,
}

impl Bucket {
    /// Takes one of at most `burst`, of which `pace` come back each second; says whether there was one.
    pub fn take(&mut self, burst: f64, pace: f64) -> bool {
        let now = Instant::now();
        let left = self.left.map_or(burst, |(left, then)| {
            (left + now.duration_since(then).as_secs_f64() * pace).min(burst)
        });
        let taken = left >= 1.0;
        self.left = Some((if taken { left - 1.0 } else { left }, now));
        taken
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_followed_by_a_steady_pace() {
        let mut bucket = Bucket::default();
        let mut take = |count: usize| (0..count).filter(|_| bucket.take(3.0, 1.0)).count();
        assert_eq!(take(5), 3);
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(take(5), 2);
        tokio::time::advance(Duration::from_hours(1)).await;
        assert_eq!(take(5), 3);
    }
}
