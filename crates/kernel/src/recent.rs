//! What was looked at last, and only a little of it, so that it need not be fetched again.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Few enough to be looked through one by one.
pub struct Recent<T> {
    most: usize,
    /// What was used last is at the end.
    kept: Mutex<VecDeque<(String, T)>>,
}

impl<T: Clone> Recent<T> {
    pub fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    pub fn get(&self, name: &str) -> Option<T> {
        let mut kept = self.kept();
        let place = kept.iter().position(|(it, _)| it == name)?;
        let found = kept.remove(place)?;
        let value = found.1.clone();
        kept.push_back(found);
        Some(value)
    }

    /// In the place of what was kept by this name, and of the one that was not used for longest.
    pub fn keep(&self, name: &str, value: T) {
        let mut kept = self.kept();
        kept.retain(|(it, _)| it != name);
        if kept.len() >= self.most {
            kept.pop_front();
        }
        kept.push_back((name.to_owned(), value));
    }

    pub fn forget(&self, of: impl Fn(&str) -> bool) {
        self.kept().retain(|(name, _)| !of(name));
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(String, T)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_used_for_longest_makes_room() {
        let recent = Recent::new(2);
        recent.keep("a", 1);
        recent.keep("b", 2);
        assert_eq!(recent.get("a"), Some(1));
        recent.keep("c", 3);
        assert_eq!(["a", "b", "c"].map(|it| recent.get(it)), [Some(1), None, Some(3)]);
        recent.keep("a", 4);
        assert_eq!(["a", "c"].map(|it| recent.get(it)), [Some(4), Some(3)]);
        recent.forget(|name| name == "a");
        assert_eq!(["a", "c"].map(|it| recent.get(it)), [None, Some(3)]);
    }
}
