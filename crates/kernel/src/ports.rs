//! What the kernel needs from the world.

use std::{ops::RangeInclusive, path::PathBuf, sync::Arc, time::Duration};

use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
    stream::BoxStream,
};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    cabinet::Cabinet,
    gallery::Gallery,
    ledger::Spending,
    prompt::Prompt,
    state::State,
    toolbox::Toolbox,
    update::{Entry, Failure, Seq, SessionId, Usage},
    visit::{Doing, Visit},
    web::Web,
};

pub type Stored<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// The append-only store of every session's facts.
pub trait Log: Send + Sync {
    /// Returns once the whole batch would survive a power cut; on an error nothing of it is kept.
    fn append(&self, batch: Batch) -> Stored<'_, ()>;

    /// The oldest entries after `after`, oldest first: at most `limit`, fewer if they are large, and
    /// none only if there are none.
    fn read(&self, session: SessionId, after: Seq, limit: usize) -> Stored<'_, Vec<Entry>>;

    /// The newest entries before `before`, newest first; as many as [`Log::read`] would.
    fn read_back(&self, session: SessionId, before: Seq, limit: usize) -> Stored<'_, Vec<Entry>>;

    /// The entry whose message carries this key.
    fn keyed(&self, session: SessionId, key: &str) -> Stored<'_, Option<Entry>>;

    /// Notes more of the sentence being spoken. Soon safe from a crash of the process, and it waits
    /// for nothing: losing a word of it is not an error.
    fn draft(&self, session: SessionId, text: &str);

    /// What was noted of an unfinished sentence.
    fn drafted(&self, session: SessionId) -> Stored<'_, String>;
}

/// Facts of one session that are stored together, with what they add up to.
#[derive(Clone, Debug)]
pub struct Batch {
    pub session: SessionId,
    /// In order and without a hole, beginning right after what is stored.
    pub entries: Vec<Arc<Entry>>,
    pub state: Arc<State>,
    /// What these facts say was used, for the [`Ledger`].
    pub spent: Vec<Spending>,
    /// Whether what was drafted is now said, or never will be.
    pub ends_draft: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The log has moved on without us: two owners write one session.
    #[error("another writer has changed session {0}")]
    Conflict(SessionId),
    #[error("the data directory cannot be used: {0}")]
    Unavailable(String),
}

/// Things looked up by name.
pub trait Catalog: Send + Sync {
    fn sessions(&self) -> Stored<'_, Vec<(SessionId, State)>>;

    /// Forgets a session, its log and its draft.
    fn remove(&self, session: SessionId) -> Stored<'_, ()>;

    fn get(&self, shelf: Shelf, name: &str) -> Stored<'_, Option<String>>;
    fn put(&self, shelf: Shelf, name: &str, value: String) -> Stored<'_, ()>;
    fn discard(&self, shelf: Shelf, name: &str) -> Stored<'_, ()>;

    /// Every record whose name begins with `prefix`, by name.
    fn list(&self, shelf: Shelf, prefix: &str) -> Stored<'_, Vec<(String, String)>>;
}

/// The kinds of record in a [`Catalog`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shelf {
    Preferences,
    /// What each client looks at.
    Clients,
    AppletState,
    /// What the person has allowed for good.
    Grants,
    /// Servers of tools that were added, and what was chosen for each.
    Servers,
    Schedules,
    /// What came of each time that a schedule was due.
    Runs,
    /// What apps keep.
    Apps,
    /// What tools have put out for a person.
    Outputs,
    /// Keys of devices, and how far each has come.
    Devices,
    /// Keys of desktops that connect, and of those who watch.
    Desktops,
    /// What was recorded on desktops, to be done again.
    Trajectories,
    /// Pages of widgets, by what is in them.
    Widgets,
}

impl Shelf {
    pub const ALL: [Self; 13] = [
        Self::Preferences,
        Self::Clients,
        Self::AppletState,
        Self::Grants,
        Self::Servers,
        Self::Schedules,
        Self::Runs,
        Self::Apps,
        Self::Outputs,
        Self::Devices,
        Self::Desktops,
        Self::Trajectories,
        Self::Widgets,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Preferences => "preferences",
            Self::Clients => "clients",
            Self::AppletState => "applet-state",
            Self::Grants => "grants",
            Self::Servers => "servers",
            Self::Schedules => "schedules",
            Self::Runs => "runs",
            Self::Apps => "apps",
            Self::Outputs => "outputs",
            Self::Devices => "devices",
            Self::Desktops => "desktops",
            Self::Trajectories => "trajectories",
            Self::Widgets => "widgets",
        }
    }
}

impl dyn Catalog {
    /// A record in the shape we gave it. One that no longer has that shape counts as absent.
    pub async fn load<T: DeserializeOwned>(
        &self,
        shelf: Shelf,
        key: &str,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.get(shelf, key).await?.and_then(|text| serde_json::from_str(&text).ok()))
    }

    pub async fn save(
        &self,
        shelf: Shelf,
        key: &str,
        value: &impl Serialize,
    ) -> Result<(), StoreError> {
        let text = serde_json::to_string(value)
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        self.put(shelf, key, text).await
    }
}

/// What was used, for ever: it outlives the sessions that it was used for.
pub trait Ledger: Send + Sync {
    /// Adds what was used outside of every session. Returns once that would survive a power cut; what
    /// a session uses comes with its facts, in [`Batch::spent`].
    fn spend(&self, spending: Spending) -> Stored<'_, ()>;

    /// What was used on each of these days of each model, by day and then by model.
    fn spending(&self, days: RangeInclusive<Date>) -> Stored<'_, Vec<Spending>>;
}

/// Files that came with messages.
pub trait Attic: Send + Sync {
    /// Returns once the file would survive a power cut.
    fn keep(&self, session: SessionId, extension: &str, bytes: Vec<u8>) -> Stored<'_, PathBuf>;

    /// What is in a file that was kept for this session; `None` if there is none by this name.
    fn fetch(&self, session: SessionId, path: PathBuf) -> Stored<'_, Option<Vec<u8>>>;

    /// How many bytes are in such a file; `None` if there is none by this name.
    fn size(&self, session: SessionId, path: PathBuf) -> Stored<'_, Option<u64>>;

    fn clear(&self, session: SessionId) -> Stored<'_, ()>;
}

/// A language model that streams one reply.
pub trait Model: Send + Sync {
    /// How many tokens it can be shown, its own answer included.
    fn window(&self) -> u64;

    /// How many of them are kept free for the answer.
    fn reserve(&self) -> u64 {
        (self.window() / 8).min(16_000)
    }

    /// Whether nobody pays for it, however much is asked.
    fn is_free(&self) -> bool {
        false
    }

    /// Whether it sees pictures, as far as that is known.
    fn sees(&self) -> Option<bool> {
        None
    }

    /// Dropping the stream stops the request.
    fn stream(&self, prompt: &Prompt) -> BoxStream<'static, Result<Piece, ModelError>>;
}

#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Text(String),
    Reasoning(String),
    /// More of the arguments of the `index`th call of this reply, as they are written.
    Calling {
        index: usize,
        name: String,
        args: String,
    },
    /// A whole call. The id is the provider's own where it is one of a kind for ever, else empty.
    Call {
        id: String,
        name: String,
        args: Value,
    },
    /// What this model must be shown again with its answer.
    Trace(Value),
    Usage(Usage),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub kind: Failure,
    /// What went wrong and what to do, for a person.
    pub message: String,
    /// How long the provider wants to be left alone.
    pub wait: Option<Duration>,
}

impl ModelError {
    pub fn new(kind: Failure, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), wait: None }
    }

    /// Whether the same question may well be answered later.
    pub fn is_passing(&self) -> bool {
        matches!(self.kind, Failure::RateLimited | Failure::Overloaded | Failure::Network)
    }
}

/// The models there are.
pub trait Models: Send + Sync {
    fn list(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ModelError>>;
    fn find(&self, id: &str) -> Option<Arc<dyn Model>>;
    fn default_id(&self) -> String;
}

#[derive(Clone, Debug, PartialEq)]
pub struct ModelInfo {
    pub id: String,
    pub name: String,
    /// What a request costs, relative to others.
    pub cost: f64,
    /// Who pays for it, for a person: `nobody: it runs on this machine`.
    pub payer: String,
    pub known: Known,
}

/// What is known of a model besides, as far as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Known {
    /// How many tokens it can be shown.
    pub window: Option<u64>,
    /// Whether it sees pictures.
    pub vision: Option<bool>,
    pub price: Option<Price>,
}

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Where cached input has a price of its own.
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
}

/// An agent with a mind, a memory and tools of its own, that answers in place of a model.
pub trait Agent: Send + Sync {
    fn name(&self) -> &str;

    /// Answers once. Dropping the stream makes it stop, one way or another.
    fn visit(&self, visit: Visit) -> BoxStream<'static, Result<Doing, ModelError>>;
}

/// The agents there are, by the names of models: `agent/claude`.
pub trait Agents: Send + Sync {
    fn list(&self) -> Vec<ModelInfo>;
    fn find(&self, id: &str) -> Option<Arc<dyn Agent>>;
    /// Whoever still waits to be asked in this session may go: it is gone.
    fn dismiss(&self, session: SessionId);
    /// What an agent has told of itself in a session where it answers, for a person: its modes, its
    /// options, the commands it knows.
    fn about(&self, id: &str, session: SessionId) -> Vec<Brief> {
        let _ = (id, session);
        Vec::new()
    }
}

/// What every agent is told besides the conversation.
pub trait Briefing: Send + Sync {
    /// For a session that works in this folder, in the order in which it is told.
    fn parts(&self, cwd: PathBuf) -> BoxFuture<'_, Vec<Brief>>;

    /// The person's own part, replaced.
    fn rewrite(&self, text: String) -> Stored<'_, ()>;

    /// What can be read with [`Briefing::skill`]: each by name, with what it is for.
    fn skills(&self, cwd: PathBuf) -> BoxFuture<'_, Vec<Brief>> {
        let _ = cwd;
        future::ready(Vec::new()).boxed()
    }

    /// The whole of something of which only the name and the purpose were told.
    fn skill(&self, cwd: PathBuf, name: String) -> BoxFuture<'_, Option<String>>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brief {
    /// Where it comes from, for a person: `AGENTS.md of this folder`.
    pub title: String,
    pub text: String,
}

/// How often whoever waits looks at the clock: it may have been set.
const GLANCE: Duration = Duration::from_secs(1);

/// Time and chance.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
    /// The day it is where the owner lives.
    fn today(&self) -> Date;
    /// A new name that sorts after earlier ones.
    fn id(&self) -> Uuid;
    /// So many bits that nobody can guess: chance, and nothing of time.
    fn bits(&self) -> u128;
    /// Anything from 0 to 1, for waits that should not all end at once.
    fn chance(&self) -> f64;

    /// Where the owner lives.
    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }

    /// Returns when that time has come, however the clock is set meanwhile; earlier if it was set
    /// back, for then whoever waits should look again.
    fn until(&self, at: Timestamp) -> BoxFuture<'_, ()> {
        async move {
            let mut now = self.now();
            while now < at {
                let left = Duration::try_from(at.duration_since(now)).unwrap_or_default();
                tokio::time::sleep(left.min(GLANCE)).await;
                let later = self.now();
                if later < now {
                    return;
                }
                now = later;
            }
        }
        .boxed()
    }
}

/// All of them, as every session is given them.
#[derive(Clone)]
pub struct Ports {
    pub log: Arc<dyn Log>,
    pub catalog: Arc<dyn Catalog>,
    pub ledger: Arc<dyn Ledger>,
    pub attic: Arc<dyn Attic>,
    pub models: Arc<dyn Models>,
    pub agents: Arc<dyn Agents>,
    pub tools: Arc<Toolbox>,
    pub clock: Arc<dyn Clock>,
    pub briefing: Arc<dyn Briefing>,
    pub gallery: Arc<dyn Gallery>,
    pub cabinet: Arc<dyn Cabinet>,
    pub web: Arc<dyn Web>,
    /// Where sessions work that name no folder of their own.
    pub workspace: PathBuf,
}

impl Ports {
    /// A session's folder, or the workspace if that is gone.
    pub fn cwd(&self, recorded: &str) -> PathBuf {
        let recorded = PathBuf::from(recorded);
        if recorded.is_dir() { recorded } else { self.workspace.clone() }
    }
}
