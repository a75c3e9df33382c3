//! What a server says beside its answers: the last of it, in lines of bearable length.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kernel::{ports::Clock, servers::LogLine};

use super::settings::Settings;

const LINES: usize = 500;
const LINE: usize = 2000;

pub struct Logbook {
    lines: Mutex<VecDeque<LogLine>>,
    clock: Arc<dyn Clock>,
    settings: Arc<Settings>,
}

impl Logbook {
    pub fn new(clock: Arc<dyn Clock>, settings: Arc<Settings>) -> Self {
        Self { lines: Mutex::default(), clock, settings }
    }

    /// Adds one line, without the secrets that the server was given.
    pub fn note(&self, text: &str) {
        let text = self.settings.hide(cut(text.trim_end(), LINE));
        if text.is_empty() {
            return;
        }
        let line = LogLine { at: self.clock.now(), text };
        let mut lines = self.lines();
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    pub fn all(&self) -> Vec<LogLine> {
        self.lines().iter().cloned().collect()
    }

    pub fn last(&self) -> Option<String> {
        self.lines().back().map(|line| line.text.clone())
    }

    fn lines(&self) -> MutexGuard<'_, VecDeque<LogLine>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The beginning of a text, of at most so many bytes.
pub fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most.min(text.len()))]
}

#[cfg(test)]
mod tests {
    use testkit::ManualClock;

    use super::*;

    #[test]
    fn only_the_last_lines_are_kept_without_secrets_and_not_too_long() {
        let env = [("K".to_owned(), "s3cret".to_owned())].into();
        let settings = Settings { env, ..Settings::default() };
        let log = Logbook::new(Arc::new(ManualClock::default()), Arc::new(settings));
        for index in 0..LINES + 3 {
            log.note(&format!("line {index}\n"));
        }
        log.note(&"ä".repeat(LINE));
        log.note("the key is s3cret");
        let texts: Vec<String> = log.all().into_iter().map(|line| line.text).collect();
        assert_eq!(texts.len(), LINES);
        assert_eq!(texts[0], "line 5");
        assert_eq!(texts[LINES - 2], "ä".repeat(LINE / 2));
        assert_eq!(log.last(), Some("the key is (hidden)".into()));
    }
}
