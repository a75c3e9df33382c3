//! Who is typing: told to others at once, over after a few seconds, and never kept.

use std::{collections::HashMap, time::Duration};

use kernel::update::SessionId;
use tokio::time::Instant;

/// Without another word, nobody types for longer.
const LASTS: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typing {
    pub session: SessionId,
    pub device: String,
    pub active: bool,
}

/// Those who type, as one socket knows it.
#[derive(Default)]
pub struct Typists(HashMap<String, Instant>);

impl Typists {
    /// Says whether that is news.
    pub fn note(&mut self, device: &str, active: bool) -> bool {
        if active {
            return self.0.insert(device.to_owned(), Instant::now() + LASTS).is_none();
        }
        self.0.remove(device).is_some()
    }

    pub fn due(&self) -> Option<Instant> {
        self.0.values().min().copied()
    }

    /// Those who have stopped without saying so.
    pub fn stopped(&mut self) -> Vec<String> {
        let now = Instant::now();
        self.0.extract_if(|_, until| *until <= now).map(|(device, _)| device).collect()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn typing_ends_with_a_word_or_after_five_seconds() {
        let mut typists = Typists::default();
        assert!(typists.note("a", true) && typists.note("b", true));
        assert!(!typists.note("a", true), "nothing new");
        assert!(typists.note("b", false) && !typists.note("b", false));
        tokio::time::advance(Duration::from_secs(3)).await;
        assert!(!typists.note("a", true));
        tokio::time::advance(Duration::from_secs(3)).await;
        assert_eq!(typists.stopped(), [""; 0]);
        tokio::time::sleep_until(typists.due().unwrap()).await;
        assert_eq!((typists.stopped(), typists.due()), (vec!["a".to_owned()], None));
    }
}
