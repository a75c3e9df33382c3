//! What is open in each session that is in memory: its windows, and the apps in them.

mod fact;
pub mod protocol;
pub mod schema;
pub mod texts;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub use fact::{
    AppFact, AppRequest, Asked, Cause, FailedReason, Keep, Kind, OwnerReason, Response,
};

use crate::{
    update::{Entry, SessionId},
    windows::Windows,
};

/// Only the task of a session changes what is kept of it here, by its [`Seat`].
#[derive(Default)]
pub struct Apps {
    open: Mutex<HashMap<SessionId, Arc<Windows>>>,
}

impl Apps {
    /// The windows of a session, if it is in memory and somebody has asked for them since.
    pub fn windows(&self, session: SessionId) -> Option<Arc<Windows>> {
        self.open().get(&session).cloned()
    }

    pub(crate) fn seat(self: &Arc<Self>, session: SessionId) -> Seat {
        Seat { apps: self.clone(), session }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Windows>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Held by the task of a session. With it goes what was kept.
pub(crate) struct Seat {
    apps: Arc<Apps>,
    session: SessionId,
}

impl Seat {
    pub fn windows(&self) -> Option<Arc<Windows>> {
        self.apps.windows(self.session)
    }

    /// Keeps what was read from the log, up to its end.
    pub fn keep(&self, windows: Windows) -> Arc<Windows> {
        let windows = Arc::new(windows);
        self.apps.open().insert(self.session, windows.clone());
        windows
    }

    /// Hears of what is stored, before anybody else does.
    pub fn hear(&self, entries: &[Arc<Entry>]) {
        let mut open = self.apps.open();
        let Some(windows) = open.get_mut(&self.session) else { return };
        let news = entries.iter().filter(|entry| entry.fact.is_of_windows());
        for entry in news {
            Arc::make_mut(windows).apply(entry);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.apps.open().remove(&self.session);
    }
}
