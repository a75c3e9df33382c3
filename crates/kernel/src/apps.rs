//! What is open in each session that is in memory: its windows, and the apps in them.

mod fact;
pub mod history;
pub mod names;
mod news;
mod offers;
mod past;
pub mod protocol;
pub mod schema;
mod service;
pub mod texts;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

pub use fact::{
    AppFact, AppRequest, Asked, BackReason, Cause, FailedReason, Inverse, Keep, Kind, OwnerReason,
    Response,
};
pub use news::{Level, News, Remark, Telling};
pub use offers::{Abilities, Ability, Offers, Touched};
pub use past::Traffic;
pub use service::{AppCall, Attendance, Line, Observed, Undoing, Word};

use tokio::sync::{broadcast, watch};

use self::service::{Wish, Wishes};
use crate::{
    update::{Entry, Fact, SessionId},
    windows::Windows,
};

/// How many changes in apps may wait to be heard. Who falls behind takes everything for changed.
const TOUCHES: usize = 256;

/// Only the task of a session changes what is kept of it here, by its [`Seat`].
pub struct Apps {
    open: Mutex<HashMap<SessionId, Arc<Windows>>>,
    /// The tasks that drive the protocol, where somebody needs them.
    relays: Mutex<HashMap<SessionId, Wishes>>,
    count: AtomicU64,
    /// What can be done in apps now, where anything can.
    offers: Mutex<BTreeMap<SessionId, Arc<Offers>>>,
    /// Counts changes of that.
    edition: watch::Sender<u64>,
    touched: broadcast::Sender<Touched>,
}

impl Default for Apps {
    fn default() -> Self {
        Self {
            open: Mutex::default(),
            relays: Mutex::default(),
            count: AtomicU64::default(),
            offers: Mutex::default(),
            edition: watch::Sender::default(),
            touched: broadcast::Sender::new(TOUCHES),
        }
    }
}

impl Apps {
    /// The windows of a session, if it is in memory and somebody has asked for them since.
    pub fn windows(&self, session: SessionId) -> Option<Arc<Windows>> {
        self.open().get(&session).cloned()
    }

    /// What the apps of a session can do that somebody shows now.
    pub fn offers(&self, session: SessionId) -> Arc<Offers> {
        self.offered().get(&session).cloned().unwrap_or_default()
    }

    /// The same of every session that has any, the oldest first.
    pub fn all_offers(&self) -> Vec<(SessionId, Arc<Offers>)> {
        self.offered().iter().map(|(session, offers)| (*session, offers.clone())).collect()
    }

    /// Hears whenever something else can be done in an app.
    pub fn editions(&self) -> watch::Receiver<u64> {
        self.edition.subscribe()
    }

    /// Hears when what is in an app has changed.
    pub fn touches(&self) -> broadcast::Receiver<Touched> {
        self.touched.subscribe()
    }

    /// From now on this can be done in the apps of a session.
    fn offer(&self, session: SessionId, offers: Offers) {
        {
            let mut offered = self.offered();
            if offers.is_empty() {
                offered.remove(&session);
            } else {
                offered.insert(session, Arc::new(offers));
            }
        }
        self.edition.send_modify(|edition| *edition += 1);
    }

    fn touch(&self, touched: Touched) {
        // Nobody needs to listen.
        self.touched.send(touched).ok();
    }

    pub(crate) fn seat(self: &Arc<Self>, session: SessionId) -> Seat {
        Seat { apps: self.clone(), session }
    }

    /// A session is gone, and with it whoever asked something in it.
    pub(crate) fn forget(&self, session: SessionId) {
        self.relays().remove(&session);
    }

    /// A number that nobody else has.
    fn count(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    /// Says something to the task of a session, if there is one. Under the lock, so that none goes
    /// while it is told something.
    fn tell(&self, session: SessionId, wish: Wish) {
        if let Some(relay) = self.relays().get(&session) {
            // One that is gone by now has nothing to lose.
            relay.send(wish).ok();
        }
    }

    fn tell_or_start(
        self: &Arc<Self>,
        session: SessionId,
        wish: Wish,
        start: impl FnOnce(&Arc<Self>) -> Wishes,
    ) {
        let mut relays = self.relays();
        relays.entry(session).or_insert_with(|| start(self)).send(wish).ok();
    }

    /// Whether somebody shows the windows of a session, or waits for an app there.
    fn is_served(&self, session: SessionId) -> bool {
        self.relays().contains_key(&session)
    }

    /// The task of a session ends.
    fn leave(&self, session: SessionId) {
        self.relays().remove(&session);
    }

    /// The same, unless it has been told something.
    fn leave_if(&self, session: SessionId, is_left: impl FnOnce() -> bool) -> bool {
        let mut relays = self.relays();
        let leaves = is_left();
        if leaves {
            relays.remove(&session);
        }
        leaves
    }

    fn relays(&self) -> MutexGuard<'_, HashMap<SessionId, Wishes>> {
        self.relays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offered(&self) -> MutexGuard<'_, BTreeMap<SessionId, Arc<Offers>>> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
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
        let matters = |fact: &Fact| fact.is_of_windows() || matches!(fact, Fact::TurnEnded(_));
        let news = entries.iter().filter(|entry| matters(&entry.fact));
        let news: Vec<Arc<Entry>> = news.cloned().collect();
        if news.is_empty() {
            return;
        }
        if let Some(windows) = self.apps.open().get_mut(&self.session) {
            for entry in &news {
                if windows.hears(&entry.fact) {
                    Arc::make_mut(windows).apply(entry);
                }
            }
        }
        self.apps.tell(self.session, Wish::Heard(news));
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.apps.open().remove(&self.session);
    }
}
