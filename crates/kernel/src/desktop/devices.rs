//! The devices there are: who comes and goes, who has one in their hands, and what is told of it.

mod acting;
mod arming;
mod cancelling;
mod hands;
mod lasting;
mod pace;
mod recent;
mod region;
mod stay;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicU64},
};

use jiff::Timestamp;
use tokio::{
    sync::{RwLock, broadcast, watch},
    time::Instant,
};

use self::cancelling::Waiter;
pub use self::{
    acting::{Deed, Who},
    arming::{Armed, Arming},
    recent::Noted,
    stay::Stay,
};
pub(super) use self::{hands::see, recent::MOST};
use super::{Class, Code, Desktop, DesktopError, Order, Outcome, Pause, Recording, action::Action};
use crate::{ports::Clock, roster::Roster, update::SessionId};

/// How much news a listener may fall behind.
const BACKLOG: usize = 256;

/// Shared by everybody who drives devices, and those who bring them.
pub struct Devices {
    clock: Arc<dyn Clock>,
    roster: Arc<Roster>,
    inner: Mutex<Inner>,
    news: broadcast::Sender<News>,
    /// Told when something that is being done may have to end.
    endings: watch::Sender<()>,
    /// Counts orders, whoever gave them and to whom.
    orders: AtomicU64,
}

#[derive(Default)]
struct Inner {
    present: BTreeMap<String, Present>,
    /// Those that cannot be had although they could be expected.
    lacking: BTreeMap<String, Lack>,
    /// Counts those who came.
    stays: u64,
    /// Counts how often any was stopped.
    stops: u64,
    armings: Vec<Arming>,
    /// The device that each session drove last.
    last: HashMap<SessionId, String>,
    /// Oldest first.
    recent: VecDeque<Noted>,
    /// Counts what was done.
    deeds: u64,
    /// What is being recorded on which device.
    recordings: HashMap<String, Recording>,
    /// Orders that no device has got yet.
    waiting: Vec<Waiter>,
    /// Counts those that waited.
    waits: u64,
}

struct Present {
    desktop: Arc<dyn Desktop>,
    stay: u64,
    since: Timestamp,
    /// By our side, whatever the device thinks of itself.
    paused: Option<Pause>,
    /// When it was stopped last, among all stops.
    stopped: u64,
    /// From when on the next order fits the rate.
    free: Option<Instant>,
    /// Held by whoever gives it input; alone by who is bound to a part of the screen.
    turns: Arc<RwLock<()>>,
}

/// Why there is no such device.
struct Lack {
    why: DesktopError,
    /// Whether it is what is meant where none is named.
    is_meant: bool,
}

/// Something that happened to a device.
#[derive(Clone, Debug)]
pub enum News {
    Came {
        device: String,
    },
    Left {
        device: String,
    },
    Armed(Arming),
    Disarmed {
        device: String,
        session: Option<SessionId>,
    },
    Paused {
        device: String,
        why: Pause,
    },
    HandedBack {
        device: String,
    },
    Acted(Noted),
    /// What is done there is recorded from now on, or no longer, or has become more.
    Recording {
        device: String,
    },
    /// So many steps of a trajectory have been done again.
    Replayed {
        device: String,
        done: usize,
        of: usize,
    },
}

impl Devices {
    /// This machine's own.
    pub const LOCAL: &'static str = "local";

    pub fn new(clock: Arc<dyn Clock>, roster: Arc<Roster>) -> Self {
        let (news, _) = broadcast::channel(BACKLOG);
        let (inner, endings, orders) =
            (Mutex::default(), watch::Sender::default(), AtomicU64::new(0));
        Self { clock, roster, inner, news, endings, orders }
    }

    /// A device has come, in place of any other of that name. It leaves when what is returned is
    /// dropped.
    pub fn join(self: &Arc<Self>, device: &str, desktop: Arc<dyn Desktop>) -> Stay {
        let mut inner = self.inner();
        inner.stays += 1;
        let (stay, since) = (inner.stays, self.clock.now());
        let present = Present {
            desktop,
            stay,
            since,
            paused: None,
            stopped: 0,
            free: None,
            turns: Arc::default(),
        };
        inner.present.insert(device.to_owned(), present);
        inner.lacking.remove(device);
        drop(inner);
        self.tell(News::Came { device: device.to_owned() });
        Stay { devices: self.clone(), device: device.to_owned(), number: stay }
    }

    /// A device cannot be had: whoever names it is told why, and where it `is_meant` whoever names
    /// none while there is no other. It counts for nothing else.
    pub fn lack(&self, device: &str, why: DesktopError, is_meant: bool) {
        self.inner().lacking.insert(device.to_owned(), Lack { why, is_meant });
    }

    /// All that are there, by name, with since when.
    pub fn list(&self) -> Vec<(String, Timestamp)> {
        let inner = self.inner();
        inner.present.iter().map(|(name, present)| (name.clone(), present.since)).collect()
    }

    pub fn get(&self, device: &str) -> Option<Arc<dyn Desktop>> {
        self.inner().present.get(device).map(|present| present.desktop.clone())
    }

    /// The device that is meant: the one that is named, else the session's last, else the only one.
    pub fn pick(
        &self,
        named: Option<&str>,
        session: Option<SessionId>,
    ) -> Result<String, DesktopError> {
        let inner = self.inner();
        let present = |name: &&String| inner.present.contains_key(*name);
        if let Some(name) = named {
            if inner.present.contains_key(name) {
                return Ok(name.to_owned());
            }
            if let Some(lack) = inner.lacking.get(name) {
                return Err(lack.why.clone());
            }
            let text = format!("No device is named {name}");
            let error = DesktopError::new(Code::Disconnected, text);
            return Err(error.expecting(inner.present.keys()));
        }
        if let Some(last) = session.and_then(|id| inner.last.get(&id)).filter(present) {
            return Ok(last.clone());
        }
        let mut names = inner.present.keys();
        match (names.next(), names.next()) {
            (None, _) => {
                let meant = inner.lacking.values().find(|lack| lack.is_meant);
                Err(meant.map_or_else(DesktopError::no_client, |lack| lack.why.clone()))
            }
            (Some(only), None) => Ok(only.clone()),
            (Some(_), Some(_)) => {
                let names: Vec<&str> = inner.present.keys().map(String::as_str).collect();
                let listed = names.join(", ");
                let text = format!("Several devices: {listed}; name one in \"device\"");
                Err(DesktopError::bad(text).expecting(names))
            }
        }
    }

    /// The sessions that drove this device last.
    pub(super) fn drivers(&self, device: &str) -> Vec<SessionId> {
        let inner = self.inner();
        inner.last.iter().filter(|(_, last)| *last == device).map(|(session, _)| *session).collect()
    }

    /// A session is gone: what it was allowed is over.
    pub fn forget(&self, session: SessionId) {
        let mut inner = self.inner();
        inner.last.remove(&session);
        inner.armings.retain(|arming| arming.session != Some(session));
        drop(inner);
        self.endings.send_replace(());
    }

    pub fn paused(&self, device: &str) -> Option<Pause> {
        let inner = self.inner();
        let present = inner.present.get(device)?;
        present.paused.or_else(|| present.desktop.states().borrow().paused)
    }

    /// Stops everything on a device, until it is handed back.
    pub async fn pause(&self, device: &str, why: Pause) -> Result<(), DesktopError> {
        let desktop = {
            let mut inner = self.inner();
            let stop = inner.stops + 1;
            let present = inner.present.get_mut(device).ok_or_else(DesktopError::no_client)?;
            (present.paused, present.stopped) = (Some(why), stop);
            let desktop = present.desktop.clone();
            inner.stops = stop;
            desktop
        };
        self.endings.send_replace(());
        self.tell(News::Paused { device: device.to_owned(), why });
        desktop.cancel(None).await?;
        desktop.act(Action::ReleaseAll.into()).await.map(drop)
    }

    /// The person gives a device back.
    pub async fn hand_back(&self, device: &str) -> Result<(), DesktopError> {
        let desktop = self.get(device).ok_or_else(DesktopError::no_client)?;
        desktop.hand_back().await?;
        if let Some(present) = self.inner().present.get_mut(device) {
            present.paused = None;
        }
        self.tell(News::HandedBack { device: device.to_owned() });
        Ok(())
    }

    /// A person took a device over at the device itself, or gave it back there.
    pub(super) fn noticed(&self, device: &str, paused: Option<Pause>) {
        let device = device.to_owned();
        self.tell(match paused {
            Some(why) => News::Paused { device, why },
            None => News::HandedBack { device },
        });
    }

    /// What happens from now on.
    pub fn news(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    pub(super) fn tell(&self, news: News) {
        // Nobody listening is no error.
        self.news.send(news).ok();
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
