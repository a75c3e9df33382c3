//! What was done on devices lately, whoever did it, for those who come to look later.

use std::sync::Arc;

use super::{Deed, Devices};
use crate::desktop::{Done, Outcome};

/// How many are remembered.
pub(in crate::desktop) const MOST: usize = 512;

/// A deed and its place among all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Noted {
    pub number: u64,
    pub deed: Arc<Deed>,
}

impl Devices {
    /// The newest before a place, newest first, and whether there are older ones.
    pub fn recent(&self, device: Option<&str>, before: u64, limit: usize) -> (Vec<Noted>, bool) {
        let inner = self.inner();
        let is_meant = |noted: &&Noted| {
            noted.number < before && device.is_none_or(|device| noted.deed.device == device)
        };
        let mut found = inner.recent.iter().rev().filter(is_meant);
        let page = found.by_ref().take(limit).cloned().collect();
        (page, found.next().is_some())
    }

    /// What is on record from before, oldest first: it comes before all that is done from now on.
    pub(in crate::desktop) fn recall(&self, deeds: impl IntoIterator<Item = Deed>) {
        for deed in deeds {
            self.remember(&Arc::new(deed));
        }
    }

    /// Remembers it, without pictures; those are large, and of a moment.
    pub(super) fn remember(&self, deed: &Arc<Deed>) -> u64 {
        let deed = if has_picture(&deed.result) { Arc::new(plain(deed)) } else { deed.clone() };
        let mut inner = self.inner();
        inner.deeds += 1;
        let number = inner.deeds;
        if inner.recent.len() == MOST {
            inner.recent.pop_front();
        }
        inner.recent.push_back(Noted { number, deed });
        number
    }
}

fn has_picture<E>(result: &Result<Outcome, E>) -> bool {
    match result {
        Ok(Outcome::Done(Done { picture, .. })) => picture.is_some(),
        Ok(Outcome::Picture(_) | Outcome::Batch(_)) => true,
        Ok(_) | Err(_) => false,
    }
}

fn plain(deed: &Deed) -> Deed {
    let result = deed.result.as_ref().map(|outcome| Outcome::said(outcome.summary()));
    Deed { result: result.map_err(Clone::clone), ..deed.clone() }
}
