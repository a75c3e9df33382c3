//! What is remembered of a device between its sockets: how far it has come, and whether it is there.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kernel::{
    ports::{Catalog, Shelf, StoreError},
    update::{Seq, SessionId},
};
use serde::{Deserialize, Serialize};
use tokio::{
    sync::{broadcast, watch},
    time::Instant,
};

use super::{bucket::Bucket, typing::Typing};

/// How many devices are remembered while they have no socket.
const REMEMBERED: usize = 1024;
/// How many sockets one device may have.
pub const SOCKETS: usize = 8;
/// How many words on typing may wait for a slow reader, who can do without them.
const TYPING: usize = 64;
/// Words younger than this are said again to a phone that never answers pings.
const UNSURE: Duration = Duration::from_secs(30);

/// Every device that came since the start.
pub struct Phones {
    catalog: Arc<dyn Catalog>,
    known: Mutex<HashMap<String, Arc<Presence>>>,
    /// The conversation that all phones share, once it is known.
    shared: Mutex<Option<SessionId>>,
    /// Held while that is made.
    pub making: tokio::sync::Mutex<()>,
    pub started: Instant,
    /// Who is typing, for those who care.
    pub typing: broadcast::Sender<Typing>,
}

impl Phones {
    pub fn new(catalog: Arc<dyn Catalog>) -> Self {
        Self {
            catalog,
            known: Mutex::default(),
            shared: Mutex::default(),
            making: tokio::sync::Mutex::default(),
            started: Instant::now(),
            typing: broadcast::Sender::new(TYPING),
        }
    }

    pub fn shared(&self) -> Option<SessionId> {
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn share(&self, session: SessionId) {
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
    }

    pub fn of(&self, device: &str) -> Arc<Presence> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED && !known.contains_key(device) {
            known.retain(|_, it| Arc::strong_count(it) > 1);
        }
        let made = || Arc::new(Presence::new(self.catalog.clone(), device));
        known.entry(device.to_owned()).or_insert_with(made).clone()
    }
}

pub struct Presence {
    catalog: Arc<dyn Catalog>,
    device: String,
    inner: Mutex<Inner>,
    /// Rises whenever something changed that somebody may wait for.
    changed: watch::Sender<u64>,
    /// Rises whenever its sockets are to prove that they live.
    doubts: watch::Sender<u64>,
    /// Held while what is remembered is read from disk, or written.
    storing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Inner {
    sockets: HashSet<u64>,
    next: u64,
    /// When the last of its sockets was lost.
    lost: Option<Instant>,
    /// Since then it came by itself and read the history.
    came_anew: bool,
    /// It said goodbye.
    left: bool,
    /// The highest doubt that one of its sockets has answered.
    proved: u64,
    held: usize,
    sends: Bucket,
    reads: Bucket,
    talks: HashMap<SessionId, Talk>,
}

/// How far a device has come in one conversation.
#[derive(Clone, Debug, Default)]
pub struct Talk {
    /// All up to here has arrived.
    pub mark: Option<Seq>,
    /// It answers pings.
    pub ponged: bool,
    /// All up to here was sent.
    pub sent: Seq,
    /// The last words that were sent, and when.
    pub words: Option<(Seq, Instant)>,
    /// It has read the history since its last socket was opened.
    pub fresh: bool,
    /// The tasks it was told of, and where they ended, until that has arrived.
    pub tasks: HashMap<String, Option<Seq>>,
    /// The question of whose answer it was sent a piece.
    pub streamed: Option<Seq>,
    /// It was connected when the server last stopped, so what it was told is not known.
    pub doubtful: bool,
}

impl Talk {
    /// Where to go on. A device that never answers pings counts as having heard all that was sent, but
    /// for words that may just have been lost.
    pub fn resume(&self) -> Option<Seq> {
        if self.ponged {
            return self.mark;
        }
        let unsure = self.words.filter(|(_, at)| at.elapsed() < UNSURE);
        let heard = unsure.map_or(self.sent, |(seq, _)| seq.before().min(self.sent));
        self.mark.max((heard > Seq(0)).then_some(heard))
    }
}

/// What of it survives a restart.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Record {
    mark: Option<Seq>,
    ponged: bool,
    connected: bool,
}

impl Presence {
    fn new(catalog: Arc<dyn Catalog>, device: &str) -> Self {
        Self {
            catalog,
            device: device.to_owned(),
            inner: Mutex::default(),
            changed: watch::Sender::new(0),
            doubts: watch::Sender::new(0),
            storing: tokio::sync::Mutex::default(),
        }
    }

    /// What is remembered of it in this conversation.
    pub async fn talk(&self, session: SessionId) -> Result<Talk, StoreError> {
        if let Some(talk) = self.inner().talks.get(&session) {
            return Ok(talk.clone());
        }
        let _storing = self.storing.lock().await;
        if let Some(talk) = self.inner().talks.get(&session) {
            return Ok(talk.clone());
        }
        let record: Option<Record> =
            self.catalog.load(Shelf::Devices, &self.record(session)).await?;
        let Record { mark, ponged, connected } = record.unwrap_or_default();
        let talk = Talk { mark, ponged, doubtful: connected, ..Talk::default() };
        self.inner().talks.insert(session, talk.clone());
        Ok(talk)
    }

    /// Changes what is remembered; see [`Self::save`].
    pub fn change(&self, session: SessionId, change: impl FnOnce(&mut Talk)) {
        change(self.inner().talks.entry(session).or_default());
    }

    pub async fn save(&self, session: SessionId) -> Result<(), StoreError> {
        let _storing = self.storing.lock().await;
        let record = {
            let inner = self.inner();
            let Some(talk) = inner.talks.get(&session) else { return Ok(()) };
            let connected = !inner.sockets.is_empty();
            Record { mark: talk.mark, ponged: talk.ponged, connected }
        };
        self.catalog.save(Shelf::Devices, &self.record(session), &record).await
    }

    /// All up to here has arrived. Says whether that was news.
    pub fn arrived(&self, session: SessionId, seq: Seq) -> bool {
        let mut news = false;
        self.change(session, |talk| {
            news = talk.mark.is_none_or(|mark| mark < seq);
            talk.mark = talk.mark.max(Some(seq));
            talk.tasks.retain(|_, ended| ended.is_none_or(|ended| ended > seq));
        });
        news
    }

    /// It read the history, so it is a program that has just begun.
    pub fn read(&self, session: SessionId, last: Seq) {
        self.change(session, |talk| {
            talk.mark = talk.mark.max(Some(last));
            talk.fresh = true;
        });
        self.inner().came_anew = true;
        self.tell();
    }

    /// A socket of its own; none if it has too many.
    pub fn enter(self: &Arc<Self>) -> Option<Place> {
        let mut inner = self.inner();
        if inner.sockets.len() >= SOCKETS {
            return None;
        }
        inner.next += 1;
        let number = inner.next;
        inner.sockets.insert(number);
        (inner.lost, inner.left, inner.came_anew) = (None, false, false);
        drop(inner);
        self.tell();
        let doubts = self.doubts.subscribe();
        Some(Place { presence: self.clone(), number, doubts, well: false })
    }

    pub fn is_here(&self) -> bool {
        !self.inner().sockets.is_empty()
    }

    /// Asks its sockets to prove that they live; see [`Self::has_proved`].
    pub fn doubt(&self) -> u64 {
        self.doubts.send_modify(|doubt| *doubt += 1);
        *self.doubts.borrow()
    }

    pub fn has_proved(&self, doubt: u64) -> bool {
        self.inner().proved >= doubt
    }

    /// Whether it answers pings at all, in any conversation.
    pub fn pongs(&self) -> bool {
        self.inner().talks.values().any(|talk| talk.ponged)
    }

    /// When it was lost, unless it went on purpose or has begun anew.
    pub fn lost(&self) -> Option<Lost> {
        let inner = self.inner();
        if inner.left || inner.came_anew || !inner.sockets.is_empty() {
            return None;
        }
        let before = inner.talks.values().any(|talk| talk.doubtful);
        match inner.lost {
            Some(at) => Some(Lost::At(at)),
            None if before => Some(Lost::BeforeStart),
            None => None,
        }
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Room for one more request that waits; none if too many do.
    pub fn hold(self: &Arc<Self>, most: usize) -> Option<Held> {
        let mut inner = self.inner();
        if inner.held >= most {
            return None;
        }
        inner.held += 1;
        drop(inner);
        Some(Held(self.clone()))
    }

    /// Whether it may say something more now.
    pub fn may_send(&self) -> bool {
        self.inner().sends.take(20.0, 1.0)
    }

    /// Whether it may read another page now.
    pub fn may_read(&self) -> bool {
        self.inner().reads.take(20.0, 10.0)
    }

    fn tell(&self) {
        self.changed.send_modify(|version| *version += 1);
    }

    fn record(&self, session: SessionId) -> String {
        format!("place/{}/{session}", self.device)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    At(Instant),
    /// It was connected when the server stopped.
    BeforeStart,
}

/// The place of one socket, given up when it is dropped.
pub struct Place {
    presence: Arc<Presence>,
    number: u64,
    pub doubts: watch::Receiver<u64>,
    /// It said goodbye.
    pub well: bool,
}

impl Place {
    /// It answered a ping: it lives.
    pub fn proved(&self) {
        let doubt = *self.doubts.borrow();
        self.presence.inner().proved = doubt;
        self.presence.tell();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut inner = self.presence.inner();
        inner.sockets.remove(&self.number);
        if inner.sockets.is_empty() {
            (inner.lost, inner.left) = (Some(Instant::now()), self.well);
        }
        drop(inner);
        self.presence.tell();
    }
}

/// A request that waits.
pub struct Held(Arc<Presence>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.inner().held -= 1;
    }
}

/// How long a request for the status waits for the socket to come back: the phone gives its socket up
/// for good if it is told in the meantime that all is well.
pub fn patience(lost: Lost, now: Instant, started: Instant) -> Duration {
    const LONG: Duration = Duration::from_secs(8);
    const SHORT: Duration = Duration::from_secs(4);
    const START: Duration = Duration::from_secs(15);
    match lost {
        Lost::At(at) if now.duration_since(at) < LONG => LONG,
        Lost::BeforeStart if now.duration_since(started) < START => LONG,
        Lost::At(_) | Lost::BeforeStart => SHORT,
    }
}
