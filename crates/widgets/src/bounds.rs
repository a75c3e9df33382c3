//! How much one view may ask for.

use std::{collections::VecDeque, time::Duration};

use serde_json::Value;

const MINUTE: Duration = Duration::from_mins(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub in_flight: usize,
    pub per_minute: usize,
    pub message_bytes: usize,
    pub download_bytes: usize,
    /// Pictures apart, of which there are so many at most.
    pub context_bytes: usize,
    pub context_pictures: usize,
    pub tools: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_flight: 16,
            per_minute: 240,
            message_bytes: 1 << 20,
            download_bytes: 16 << 20,
            context_bytes: 64 << 10,
            context_pictures: 4,
            tools: 64,
        }
    }
}

/// When the requests of the last minute came.
#[derive(Debug, Default)]
pub struct Pace(VecDeque<Duration>);

impl Pace {
    /// Whether one more fits; if so it is counted.
    pub fn take(&mut self, now: Duration, most: usize) -> bool {
        while self.0.front().is_some_and(|first| now.saturating_sub(*first) >= MINUTE) {
            self.0.pop_front();
        }
        let fits = self.0.len() < most;
        if fits {
            self.0.push_back(now);
        }
        fits
    }
}

/// How many bytes a value takes as JSON.
pub fn bytes(value: &Value) -> usize {
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
            self.0 += part.len();
            Ok(part.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Neither a value nor a counter can fail.
    serde_json::to_writer(&mut counter, value).ok();
    counter.0
}
