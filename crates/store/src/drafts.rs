//! Unfinished sentences on their way to the database.

use std::{
    collections::HashMap,
    mem,
    time::{Duration, Instant},
};

use kernel::update::SessionId;
use rusqlite::Connection;

use crate::work;

/// How long a word may wait for company.
const PATIENCE: Duration = Duration::from_millis(20);
/// How long to wait after words could not be written.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Drafts {
    waiting: HashMap<SessionId, String>,
    due: Option<Instant>,
    /// What left `waiting` in the current transaction, oldest first.
    taken: Vec<(SessionId, String)>,
}

impl Drafts {
    pub fn add(&mut self, session: SessionId, text: &str) {
        self.waiting.entry(session).or_default().push_str(text);
        self.due.get_or_insert_with(|| Instant::now() + PATIENCE);
    }

    /// When what waits should be written, if anything does.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    pub fn forget(&mut self, session: SessionId) {
        self.taken.extend(self.waiting.remove_entry(&session));
    }

    /// Writes all that waits, within the current transaction.
    pub fn flush(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let first = self.taken.len();
        self.taken.extend(mem::take(&mut self.waiting));
        for (session, text) in &self.taken[first..] {
            // A session that is gone, or never was, has nothing more to say.
            let Some(found) = work::find(connection, *session)? else { continue };
            connection
                .prepare_cached(
                    "INSERT INTO drafts (session, n, text)
                     SELECT ?1, coalesce(max(n), 0) + 1, ?2 FROM drafts WHERE session = ?1",
                )?
                .execute((found.number, text))?;
        }
        Ok(())
    }

    /// The transaction is committed.
    pub fn committed(&mut self) {
        self.taken.clear();
        self.due = None;
    }

    /// The transaction failed: what it had taken waits again, before what came later.
    pub fn rolled_back(&mut self) {
        for (session, mut text) in self.taken.drain(..).rev() {
            let later = self.waiting.entry(session).or_default();
            text.push_str(later);
            *later = text;
        }
        self.due = (!self.waiting.is_empty()).then(|| Instant::now() + RETRY);
    }
}
