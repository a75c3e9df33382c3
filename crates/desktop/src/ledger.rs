//! What we have sent to the display and not yet heard back of: anything else that is heard was a person.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sent {
    Motion,
    Button { code: u8, down: bool },
    Key { code: u8, down: bool },
}

/// Counts rather than times: on a busy machine an echo may be late, and is ours all the same.
#[derive(Default)]
pub struct Ledger {
    sent: Mutex<HashMap<Sent, u64>>,
}

impl Ledger {
    /// Before it is sent, or it might be heard first.
    pub fn note(&self, what: Sent) {
        *self.sent.lock().unwrap_or_else(PoisonError::into_inner).entry(what).or_default() += 1;
    }

    /// Whether it was us.
    pub fn strike(&self, heard: Sent) -> bool {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(count) = sent.get_mut(&heard).filter(|count| **count > 0) else { return false };
        *count -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_once_is_known_once() {
        let ledger = Ledger::default();
        ledger.note(Sent::Motion);
        ledger.note(Sent::Key { code: 9, down: true });
        assert!(ledger.strike(Sent::Key { code: 9, down: true }));
        assert!(!ledger.strike(Sent::Key { code: 9, down: true }));
        assert!(!ledger.strike(Sent::Key { code: 9, down: false }));
        assert!(ledger.strike(Sent::Motion));
        assert!(!ledger.strike(Sent::Motion));
    }
}
