//! Walking back through a session's log, past what was taken back, towards its beginning.

use std::vec;

use crate::{
    ports::{Log, StoreError},
    update::{Entry, Fact, Seq, SessionId},
};

const PAGE: usize = 128;
/// Behind every fact there is.
pub const END: Seq = Seq(u64::MAX >> 1);

/// The facts before a place that still count, newest first, read page by page.
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

    /// What comes next comes before this.
    pub fn place(&self) -> Seq {
        self.before
    }

    /// The next older fact; `None` at the beginning of the log. Behind a [`Fact::Rewound`] comes what
    /// was before all that it took back.
    pub async fn next(&mut self) -> Result<Option<Entry>, StoreError> {
        loop {
            let before = self.before;
            if let Some(entry) = self.page.find(|entry| entry.seq < before) {
                self.before = match entry.fact {
                    Fact::Rewound { before, .. } => before.min(entry.seq),
                    _ => entry.seq,
                };
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
