//! Walking back through a session's log, from any place towards its beginning.

use std::vec;

use crate::{
    ports::{Log, StoreError},
    update::{Entry, Seq, SessionId},
};

const PAGE: usize = 128;

/// The facts before a place, newest first, read page by page.
pub struct Back<'a> {
    log: &'a dyn Log,
    session: SessionId,
    before: Seq,
    page: vec::IntoIter<Entry>,
}

impl<'a> Back<'a> {
    pub fn from(log: &'a dyn Log, session: SessionId, before: Seq) -> Self {
        Self { log, session, before, page: Vec::new().into_iter() }
    }

    /// The next older fact; `None` at the beginning of the log.
    pub async fn next(&mut self) -> Result<Option<Entry>, StoreError> {
        loop {
            if let Some(entry) = self.page.next() {
                self.before = entry.seq;
                return Ok(Some(entry));
            }
            let page = self.log.read_back(self.session, self.before, PAGE).await?;
            if page.is_empty() {
                return Ok(None);
            }
            self.page = page.into_iter();
        }
    }
}
