//! A list that was read from the disk, for as long as nothing has changed since.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub struct Kept<T>(Mutex<Inner<T>>);

struct Inner<T> {
    /// Counts what has made the list out of date.
    edition: u64,
    list: Option<Arc<Vec<T>>>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::new(Inner { edition: 0, list: None }))
    }
}

impl<T> Kept<T> {
    pub fn forget(&self) {
        let mut inner = self.inner();
        inner.edition += 1;
        inner.list = None;
    }

    /// The list if it is known, and else what [`Kept::keep`] is to be told.
    pub fn get(&self) -> Result<Arc<Vec<T>>, u64> {
        let inner = self.inner();
        inner.list.clone().ok_or(inner.edition)
    }

    /// Keeps what was read, unless something has changed meanwhile.
    pub fn keep(&self, edition: u64, list: &Arc<Vec<T>>) {
        let mut inner = self.inner();
        if inner.edition == edition {
            inner.list = Some(list.clone());
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
