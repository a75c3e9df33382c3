//! The App Protocol without I/O: one machine for a session, told what happens and saying what to do.
//!
//! It knows no clock: time comes with every input, and [`Machine::alarm`] says when it wants to be
//! told of it next. What it does is a list of [`Effect`]s, to be carried out in their order.

mod calls;
mod deeds;
mod hands;
mod journal;
mod lookup;
mod manifest;
mod readiness;
mod record;
mod remarks;
mod replay;
mod replies;
mod standing;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use jiff::Timestamp;

use self::{calls::Waiting, hands::Holds, manifest::Manifest, replay::Behind, replies::Open};
use crate::{
    apps::{AppFact, Asked, Cause, FailedReason, Kind, Offers, Remark, Response, Telling},
    windows::By,
};

pub use self::{
    deeds::{Deeds, Reversal},
    hands::{HandsWish, SILENCE, Undo},
    journal::{Limits, Noted},
    manifest::PATIENCE,
    record::{Record, Shown, WindowEvent},
    standing::{Loaded, Readiness, Standing},
};

/// Somebody who shows the windows of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Connection(pub u64);

impl fmt::Display for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "conn-{}", self.0)
    }
}

/// One call of a tool, by a number of the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// Numbers that nobody can guess.
pub trait Chance: Send {
    fn bits(&mut self) -> u128;
}

impl<F: FnMut() -> u128 + Send> Chance for F {
    fn bits(&mut self) -> u128 {
        self()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Joined(Connection),
    Left(Connection),
    /// An app says that it is there.
    Ready {
        connection: Connection,
        /// As the client names it.
        window: String,
        /// Where the client looks for windows that it names without saying where.
        monitor: Option<String>,
        instance: Option<String>,
        /// The last command that its document was given again, where the client says so.
        replayed: Option<u64>,
    },
    Answered {
        connection: Connection,
        request: String,
        window: Option<String>,
        response: Response,
    },
    /// An app says something of itself, unasked.
    Remarked {
        connection: Connection,
        window: String,
        monitor: Option<String>,
        remark: Remark,
    },
    Called(Called),
    /// Whoever made the call does not wait any longer.
    Abandoned(CallId),
    Window(WindowEvent),
    /// The person did something in a window, by hand.
    Touched {
        connection: Connection,
        window: String,
        monitor: Option<String>,
    },
    /// The person says whose hands a window is in.
    Hands(HandsWish),
    /// An agent wants to change a window itself, as soon as it may.
    Awaited {
        call: CallId,
        window: String,
        monitor: Option<String>,
        attended: bool,
    },
    Undo(Undo),
    /// An app has said something, as it was stored.
    Told(AppFact),
    /// The fact of a request could not be stored, so that it was not sent.
    Unrecorded {
        request: String,
        why: String,
    },
    /// Only time has passed.
    Tick,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    pub call: CallId,
    /// As the caller names it.
    pub window: String,
    pub monitor: Option<String>,
    pub asked: Asked,
    /// The caller's own name for a command, which is then carried out once.
    pub key: Option<String>,
    /// A tool, or a file that is opened.
    pub cause: Cause,
    /// What a model calls the call.
    pub tool_call: Option<String>,
    pub by: By,
    /// Whether a person may be waited for.
    pub attended: bool,
    /// The request that it takes back.
    pub undoes: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Record(AppFact),
    Send {
        connection: Connection,
        request: Outgoing,
        /// Only once all facts before it are safe.
        safe: bool,
    },
    Reply {
        call: CallId,
        answer: Answer,
        safe: bool,
    },
    /// What is in the app of a window may not be what it was: these states, or any.
    Touch {
        window: String,
        keys: Option<Vec<String>>,
    },
    /// Something that the session should know.
    Tell(Notice),
    /// Something that is heard by whoever listens just now.
    News {
        window: String,
        what: Telling,
        /// What a model calls the call that it is about.
        tool_call: Option<String>,
    },
    /// Something that somebody may want to read in the logs of the server.
    Warn(String),
}

/// A request as it leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    pub request: String,
    /// In the words of the client that it goes to.
    pub window: String,
    pub asked: Asked,
    /// The document that it is for, where the client tells them apart.
    pub instance: Option<String>,
    /// Of a command that is played again, for a client that remembers: its place in the journal.
    pub position: Option<u64>,
}

impl Outgoing {
    /// Whether it brings an app up to date.
    pub fn is_replay(&self) -> bool {
        self.request.starts_with(calls::REPLAY)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Said {
        window: String,
        kind: Kind,
        response: Response,
        /// What the person has done meanwhile, for an agent.
        note: Option<String>,
    },
    /// Whoever waited for a window may go on.
    Free { note: Option<String> },
    /// In the words of the protocol.
    Refused(String),
    /// No reply has come in time; a late one will be told.
    Open { request: String },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub window: String,
    pub app: Option<String>,
    pub text: String,
    /// Whether somebody waits for this, rather than may like to know.
    pub awaited: bool,
}

pub struct Machine {
    record: Record,
    now: Timestamp,
    chance: Box<dyn Chance>,
    connections: BTreeSet<Connection>,
    live: BTreeMap<String, Live>,
    /// Calls that are not sent yet, oldest first.
    waiting: Vec<Waiting>,
    open: BTreeMap<String, Open>,
    holds: Holds,
    effects: Vec<Effect>,
}

/// What is true of a window only while somebody shows it.
#[derive(Default)]
struct Live {
    /// Who has its app ready, the latest last.
    ready: Vec<Registered>,
    owner: Option<Connection>,
    /// Set while the owner is brought up to date.
    behind: Option<Behind>,
    is_full: bool,
}

#[derive(Clone)]
struct Registered {
    connection: Connection,
    generation: u64,
    /// What the client calls the window.
    name: String,
    instance: Option<String>,
    /// Whether the client says when it comes back how far its document was brought.
    remembers: bool,
    manifest: Told,
    /// The request for a manifest that nobody but us waits for.
    fetching: Option<String>,
    /// Whether the app has registered once more since that was sent.
    is_stale: bool,
}

/// What an app has said of itself.
#[derive(Clone, Default)]
enum Told {
    #[default]
    NotYet,
    Manifest(Arc<Manifest>),
    Nothing,
}

impl Live {
    fn owner(&self) -> Option<&Registered> {
        let owner = self.owner?;
        self.ready.iter().find(|ready| ready.connection == owner)
    }

    fn load(&mut self, generation: u64) -> Option<&mut Registered> {
        self.ready.iter_mut().find(|ready| ready.generation == generation)
    }

    /// What the owner has said of itself.
    fn manifest(&self) -> Option<Arc<Manifest>> {
        self.owner()?.manifest()
    }
}

impl Registered {
    fn manifest(&self) -> Option<Arc<Manifest>> {
        match &self.manifest {
            Told::Manifest(manifest) => Some(manifest.clone()),
            Told::NotYet | Told::Nothing => None,
        }
    }
}

impl Machine {
    /// Takes up what a session's facts add up to. Nobody can answer any more what was asked before.
    pub fn resume(
        record: Record,
        chance: impl Chance + 'static,
        now: Timestamp,
    ) -> (Self, Vec<Effect>) {
        let mut machine = Self {
            now,
            chance: Box::new(chance),
            connections: BTreeSet::new(),
            live: record.keys().map(|key| (key.to_owned(), Live::default())).collect(),
            waiting: Vec::new(),
            open: BTreeMap::new(),
            holds: Holds::resume(&record, now),
            effects: Vec::new(),
            record,
        };
        for request in machine.record.unanswered() {
            machine.note(AppFact::Failed { request, reason: FailedReason::OwnerLost });
        }
        let effects = std::mem::take(&mut machine.effects);
        (machine, effects)
    }

    pub fn step(&mut self, now: Timestamp, input: Input) -> Vec<Effect> {
        self.now = now;
        self.expire();
        match input {
            Input::Joined(connection) => {
                self.connections.insert(connection);
                self.holds.joined();
            }
            Input::Left(connection) => self.left(connection),
            Input::Ready { connection, window, monitor, instance, replayed } => {
                self.ready(connection, window, monitor.as_deref(), instance, replayed);
            }
            Input::Answered { connection, request, window, response } => {
                self.answered(connection, &request, window.as_deref(), &response);
            }
            Input::Remarked { connection, window, monitor, remark } => {
                self.remarked(connection, &window, monitor.as_deref(), remark);
            }
            Input::Called(called) => self.called(called),
            Input::Abandoned(call) => self.abandoned(call),
            Input::Window(event) => self.seen(&event),
            Input::Touched { connection, window, monitor } => {
                self.touched(connection, &window, monitor.as_deref());
            }
            Input::Hands(wish) => self.handed(wish),
            Input::Awaited { call, window, monitor, attended } => {
                self.awaited(call, &window, monitor.as_deref(), attended);
            }
            Input::Undo(undo) => self.undo(undo),
            Input::Told(fact) => drop(self.record.apply(&fact)),
            Input::Unrecorded { request, why } => self.unrecorded(&request, &why),
            Input::Tick => (),
        }
        std::mem::take(&mut self.effects)
    }

    /// When it wants to be told the time.
    pub fn alarm(&self) -> Option<Timestamp> {
        let waiting = self.waiting.iter().filter_map(Waiting::until);
        let behind = self.live.values().filter_map(|live| live.behind.as_ref()?.until());
        // What is held for another reason is not set going by the clock.
        let behind = behind.filter(|until| *until > self.now);
        let holds = self.holds.alarm(&self.record);
        waiting.chain(self.open.values().map(Open::until)).chain(behind).chain(holds).min()
    }

    /// All of it that its facts say as well.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// What can be done in the apps that somebody shows, as far as they have said.
    pub fn offers(&self) -> Offers {
        let shown = self.live.iter().filter_map(|(window, live)| {
            Some((window.clone(), live.manifest()?.abilities.clone()))
        });
        shown.collect()
    }

    /// Whether nothing would be lost but what its facts say as well.
    pub fn is_idle(&self) -> bool {
        let nobody = self.connections.is_empty() && self.holds.is_awaited_by_nobody();
        nobody && self.waiting.is_empty() && self.open.is_empty()
    }

    fn note(&mut self, fact: AppFact) -> Option<Noted> {
        let noted = self.record.apply(&fact);
        self.effects.push(Effect::Record(fact));
        noted
    }

    fn warn(&mut self, text: impl Into<String>) {
        self.effects.push(Effect::Warn(text.into()));
    }

    fn tell(&mut self, window: &str, text: String, awaited: bool) {
        let app = self.record.window(window).and_then(|past| past.shown.app.clone());
        self.effects.push(Effect::Tell(Notice { window: window.to_owned(), app, text, awaited }));
    }
}
