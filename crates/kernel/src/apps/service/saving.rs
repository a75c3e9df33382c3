//! Facts on their way into the log, and what waits until they are safe there.

use std::{collections::VecDeque, mem, sync::Weak, time::Duration};

use futures::{FutureExt as _, future::BoxFuture};
use jiff::Timestamp;

use crate::{
    apps::AppFact,
    host::{Host, OpenError},
    ports::StoreError,
    update::SessionId,
};

/// How long looks at an app are gathered before they are stored: nobody waits for that.
const GATHER: Duration = Duration::from_millis(50);
/// How many of them are gathered.
const GATHERED: usize = 1000;

/// Stores many facts at once, if more have come while the last were stored.
pub(super) struct Saving<T> {
    host: Weak<Host>,
    session: SessionId,
    /// Not handed over yet.
    facts: Vec<AppFact>,
    /// When these are to be handed over, if not before.
    due: Option<Timestamp>,
    /// Handed over, and not known to be safe.
    handed: Vec<AppFact>,
    store: Option<BoxFuture<'static, Result<(), Unsaved>>>,
    /// How many there were, and how many are safe.
    noted: u64,
    saved: u64,
    /// What waits, each with how many must be safe first.
    held: VecDeque<(u64, T)>,
}

/// Why facts are not in the log.
pub(super) enum Unsaved {
    /// They can be stored later.
    Failed(String),
    /// There is nothing any more that they could be stored in.
    Gone,
}

impl<T> Saving<T> {
    pub fn new(host: Weak<Host>, session: SessionId) -> Self {
        Self {
            host,
            session,
            facts: Vec::new(),
            due: None,
            handed: Vec::new(),
            store: None,
            noted: 0,
            saved: 0,
            held: VecDeque::new(),
        }
    }

    pub fn note(&mut self, now: Timestamp, fact: AppFact) {
        self.noted += 1;
        let due = if fact.is_look() { now + GATHER } else { now };
        self.due = Some(self.due.map_or(due, |before| before.min(due)));
        self.facts.push(fact);
    }

    /// Keeps something until all that was noted before it is safe.
    pub fn hold(&mut self, thing: T) {
        self.held.push_back((self.noted, thing));
    }

    pub fn is_done(&self) -> bool {
        self.facts.is_empty() && self.handed.is_empty() && self.held.is_empty()
    }

    /// When there is something to store.
    pub fn alarm(&self) -> Option<Timestamp> {
        self.due.filter(|_| self.store.is_none())
    }

    /// Begins to store what has come, unless something is being stored already or it may wait.
    /// `last` if nothing more will come.
    pub fn begin(&mut self, now: Timestamp, last: bool) {
        let waits = self.due.is_some_and(|due| due > now)
            && self.held.is_empty()
            && self.facts.len() < GATHERED
            && !last;
        if self.store.is_some() || self.facts.is_empty() || waits {
            return;
        }
        self.due = None;
        self.handed.append(&mut self.facts);
        let facts = self.handed.clone();
        self.store = Some(store(self.host.clone(), self.session, facts).boxed());
    }

    /// Returns when something was stored or could not be; never if nothing is.
    pub async fn stored(&mut self) -> Result<(), Unsaved> {
        let Some(store) = &mut self.store else { return std::future::pending().await };
        let stored = store.await;
        self.store = None;
        if stored.is_ok() {
            self.saved += mem::take(&mut self.handed).len() as u64;
        } else {
            self.due = Some(Timestamp::MIN);
            // Their order is that of what happened.
            self.handed.append(&mut self.facts);
            mem::swap(&mut self.handed, &mut self.facts);
        }
        stored
    }

    /// What may go now.
    pub fn freed(&mut self) -> Option<T> {
        self.held.pop_front_if(|(after, _)| *after <= self.saved).map(|(_, thing)| thing)
    }

    /// All that waits, whether it is safe or not.
    pub fn give_up(&mut self) -> Vec<T> {
        mem::take(&mut self.held).into_iter().map(|(_, thing)| thing).collect()
    }
}

async fn store(host: Weak<Host>, session: SessionId, facts: Vec<AppFact>) -> Result<(), Unsaved> {
    let failed = |error: StoreError| Unsaved::Failed(error.to_string());
    loop {
        let Some(host) = host.upgrade() else { return Err(Unsaved::Gone) };
        let handle = match host.open(session).await {
            Ok(handle) => handle,
            Err(OpenError::Store(error)) => return Err(failed(error)),
            Err(OpenError::Unknown(_) | OpenError::Closing) => return Err(Unsaved::Gone),
        };
        // A session that was let go in between is opened again.
        if let Ok(noted) = handle.note_apps(facts.clone()).await {
            return noted.map(drop).map_err(failed);
        }
    }
}
