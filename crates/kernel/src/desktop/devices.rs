//! The devices there are, which of them may be driven by whom and for how long, and the one way to drive one.

mod hands;
mod pace;
mod recent;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use serde_json::Value;
use tokio::{sync::broadcast, time::Instant};

pub(super) use self::hands::see;
pub use self::recent::Noted;
use super::{Class, Code, Desktop, DesktopError, Order, Outcome, Pause, Recording, action::Action};
use crate::{ports::Clock, roster::Roster, toolbox::Caller, update::SessionId};

/// The longest time for which a device can be armed.
pub const LONGEST: Duration = Duration::from_hours(8);
/// How much news a listener may fall behind.
const BACKLOG: usize = 256;

/// Shared by everybody who drives devices, and those who bring them.
pub struct Devices {
    clock: Arc<dyn Clock>,
    roster: Arc<Roster>,
    inner: Mutex<Inner>,
    news: broadcast::Sender<News>,
    /// Counts orders, whoever gave them and to whom.
    orders: AtomicU64,
}

#[derive(Default)]
struct Inner {
    present: BTreeMap<String, Present>,
    /// Counts those who came.
    stays: u64,
    armings: Vec<Arming>,
    /// The device that each session drove last.
    last: HashMap<SessionId, String>,
    /// Oldest first.
    recent: VecDeque<Noted>,
    /// Counts what was done.
    deeds: u64,
    /// What is being recorded on which device.
    recordings: HashMap<String, Recording>,
}

struct Present {
    desktop: Arc<dyn Desktop>,
    stay: u64,
    since: Timestamp,
    /// By our side, whatever the device thinks of itself.
    paused: Option<Pause>,
    /// From when on the next order fits the rate.
    free: Option<Instant>,
}

/// Who drives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// None for the owner, who drives from outside any.
    pub session: Option<SessionId>,
    pub caller: Caller,
}

/// Leave to drive a device for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arming {
    pub device: String,
    /// The one session that may, or all.
    pub session: Option<SessionId>,
    pub classes: Vec<Class>,
    pub until: Timestamp,
}

/// How an arming stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Armed {
    Never,
    /// It is over since then.
    Expired(Timestamp),
    Until(Timestamp, Vec<Class>),
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

/// By which right something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The person lets somebody.
    Leave,
    /// The person does it.
    Hands,
}

/// Something that was done, or refused, as everybody may know it.
#[derive(Clone, Debug, PartialEq)]
pub struct Deed {
    pub device: String,
    pub command: String,
    pub who: Who,
    pub kind: &'static str,
    /// Without secrets.
    pub arguments: BTreeMap<String, Value>,
    /// Without pictures where something was secret.
    pub result: Result<Outcome, DesktopError>,
    pub at: Timestamp,
    pub ms: u64,
}

/// A device is there while this is.
pub struct Stay {
    devices: Arc<Devices>,
    device: String,
    number: u64,
}

impl Stay {
    /// Whether no other has taken its name.
    pub fn is_current(&self) -> bool {
        let inner = self.devices.inner();
        inner.present.get(&self.device).is_some_and(|present| present.stay == self.number)
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        let mut inner = self.devices.inner();
        let ours = |present: &Present| present.stay == self.number;
        if inner.present.get(&self.device).is_some_and(ours) {
            inner.present.remove(&self.device);
            drop(inner);
            self.devices.tell(News::Left { device: self.device.clone() });
        }
    }
}

impl Devices {
    /// This machine's own.
    pub const LOCAL: &'static str = "local";

    pub fn new(clock: Arc<dyn Clock>, roster: Arc<Roster>) -> Self {
        let (news, _) = broadcast::channel(BACKLOG);
        Self { clock, roster, inner: Mutex::default(), news, orders: AtomicU64::new(0) }
    }

    /// A device has come, in place of any other of that name. It leaves when what is returned is
    /// dropped.
    pub fn join(self: &Arc<Self>, device: &str, desktop: Arc<dyn Desktop>) -> Stay {
        let mut inner = self.inner();
        inner.stays += 1;
        let (stay, since) = (inner.stays, self.clock.now());
        let present = Present { desktop, stay, since, paused: None, free: None };
        inner.present.insert(device.to_owned(), present);
        drop(inner);
        self.tell(News::Came { device: device.to_owned() });
        Stay { devices: self.clone(), device: device.to_owned(), number: stay }
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
            let text = format!("No device is named {name}");
            let error = DesktopError::new(Code::Disconnected, text);
            return Err(error.expecting(inner.present.keys()));
        }
        if let Some(last) = session.and_then(|id| inner.last.get(&id)).filter(present) {
            return Ok(last.clone());
        }
        let mut names = inner.present.keys();
        match (names.next(), names.next()) {
            (None, _) => Err(DesktopError::no_client()),
            (Some(only), None) => Ok(only.clone()),
            (Some(_), Some(_)) => {
                let names: Vec<&str> = inner.present.keys().map(String::as_str).collect();
                let listed = names.join(", ");
                let text = format!("Several devices: {listed}; name one in \"device\"");
                Err(DesktopError::bad(text).expecting(names))
            }
        }
    }

    /// Lets a session, or everybody, drive a device until a time that is at most
    /// [`LONGEST`] away. A person's wish alone.
    pub fn arm(&self, mut arming: Arming) -> Arming {
        let latest = self.clock.now().checked_add(LONGEST).unwrap_or(Timestamp::MAX);
        arming.until = arming.until.min(latest);
        arming.classes.sort_unstable();
        arming.classes.dedup();
        let mut inner = self.inner();
        inner.armings.retain(|old| (&old.device, old.session) != (&arming.device, arming.session));
        inner.armings.push(arming.clone());
        drop(inner);
        self.tell(News::Armed(arming.clone()));
        arming
    }

    /// Ends what was allowed to this session, or everything; says whether there was anything.
    pub fn disarm(&self, device: &str, session: Option<SessionId>) -> bool {
        let ends = |arming: &Arming| {
            arming.device == device && (session.is_none() || arming.session == session)
        };
        let mut inner = self.inner();
        let before = inner.armings.len();
        inner.armings.retain(|arming| !ends(arming));
        let ended = inner.armings.len() < before;
        drop(inner);
        if ended {
            self.tell(News::Disarmed { device: device.to_owned(), session });
        }
        ended
    }

    /// How far a session may drive a device; for the owner, whether anybody may.
    pub fn armed(&self, device: &str, session: Option<SessionId>) -> Armed {
        let now = self.clock.now();
        let inner = self.inner();
        let counts = |arming: &&Arming| {
            arming.device == device
                && (session.is_none() || arming.session.is_none() || arming.session == session)
        };
        let longest = inner.armings.iter().filter(counts).max_by_key(|arming| arming.until);
        match longest {
            None => Armed::Never,
            Some(arming) if arming.until <= now => Armed::Expired(arming.until),
            Some(arming) => Armed::Until(arming.until, arming.classes.clone()),
        }
    }

    /// Everything that holds.
    pub fn armings(&self) -> Vec<Arming> {
        let now = self.clock.now();
        self.inner().armings.iter().filter(|arming| now < arming.until).cloned().collect()
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
            let present = inner.present.get_mut(device).ok_or_else(DesktopError::no_client)?;
            present.paused = Some(why);
            present.desktop.clone()
        };
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

    /// A name for an order that none has had before.
    pub fn number(&self) -> String {
        let number = self.orders.fetch_add(1, Ordering::Relaxed);
        format!("cmd_{number}_{}", self.clock.now().as_millisecond())
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

    /// Does something on a device, if the one who asks may. Everybody drives by this way, and
    /// everything that comes of it is told.
    pub async fn act(
        &self,
        who: Who,
        device: &str,
        order: Order,
    ) -> (Arc<Deed>, Result<Outcome, DesktopError>) {
        self.perform(who, device, order, Way::Leave).await
    }

    async fn perform(
        &self,
        who: Who,
        device: &str,
        mut order: Order,
        way: Way,
    ) -> (Arc<Deed>, Result<Outcome, DesktopError>) {
        // Whatever it was called by whoever wants it: a name that comes twice would be taken for a repeat.
        order.id = self.number();
        let (at, begun) = (self.clock.now(), Instant::now());
        let (command, action) = (order.id.clone(), order.action.clone());
        let result = self.attempt(&who, device, order, way).await;
        let mut told = result.clone();
        if action.is_secret()
            && let Ok(Outcome::Done(done)) = &mut told
        {
            done.picture = None;
        }
        let deed = Arc::new(Deed {
            device: device.to_owned(),
            command,
            who,
            kind: action.kind(),
            arguments: action.arguments(),
            result: told,
            at,
            ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        // Every trembling of a hand would drown the rest.
        if way == Way::Leave || !matches!(action, Action::MouseMove { .. }) {
            let number = self.remember(&deed);
            self.tell(News::Acted(Noted { number, deed: deed.clone() }));
        }
        (deed, result)
    }

    async fn attempt(
        &self,
        who: &Who,
        device: &str,
        order: Order,
        way: Way,
    ) -> Result<Outcome, DesktopError> {
        order.action.check()?;
        if let Some(after) = &order.after {
            after.check()?;
        }
        let desktop = self.get(device).ok_or_else(DesktopError::no_client)?;
        match way {
            Way::Hands => self.in_hands(device)?,
            Way::Leave if order.action == Action::ReleaseAll => (),
            Way::Leave => self.may(who, device, &order.action)?,
        }
        if order.action.is_input() {
            if way == Way::Leave {
                if self.paused(device).is_some() {
                    return Err(DesktopError::paused());
                }
                self.settled(device).await;
            }
            self.fits(device, &order.action).await?;
        }
        if let Some(session) = who.session {
            self.inner().last.insert(session, device.to_owned());
        }
        let sight = self.witness(device, &order.action).await;
        let action = order.action.clone();
        let outcome = desktop.act(order).await?;
        self.note_step(device, &action, sight, &outcome);
        Ok(outcome)
    }

    fn may(&self, who: &Who, device: &str, action: &Action) -> Result<(), DesktopError> {
        match self.armed(device, who.session) {
            Armed::Never => Err(not_armed("Desktop control is not armed".into())),
            Armed::Expired(at) => Err(not_armed(format!("Desktop control expired at {at}"))),
            Armed::Until(_, classes) => {
                let missing = action.classes().into_iter().find(|it| !classes.contains(it));
                let Some(missing) = missing else { return Ok(()) };
                let error = DesktopError::new(Code::Denied, "Desktop control is not granted");
                Err(error.expecting([missing.name()]))
            }
        }
    }

    /// Returns when nobody is asked anything on a screen that may show the question: whoever is
    /// asked about shall not answer.
    async fn settled(&self, device: &str) {
        if device != Self::LOCAL {
            return;
        }
        let mut news = self.roster.listen();
        while self.roster.all().iter().any(|(_, state)| !state.questions.is_empty()) {
            // Having missed some is reason enough to look again.
            if let Err(broadcast::error::RecvError::Closed) = news.recv().await {
                return;
            }
        }
    }

    pub(super) fn tell(&self, news: News) {
        // Nobody listening is no error.
        self.news.send(news).ok();
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_armed(text: String) -> DesktopError {
    DesktopError::new(Code::NotArmed, text)
}
