//! Every session there is and how it stands, with news of what changes: a fold over facts, held in memory.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
use tokio::sync::broadcast;
use uuid::Uuid;

use crate::{
    state::State,
    update::{Entry, Fact, Seq, SessionId},
    views::writing::Writing,
};

/// How much news a listener may miss before it must look at the whole list again.
const NEWS_DEPTH: usize = 1024;

/// How many settled questions are remembered, to tell a late answer from a wrong one.
const SETTLED: usize = 256;

/// What everybody in the house hears, whichever session they look at.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    Session {
        session: SessionId,
        /// Its place in the session's history: right after this fact.
        after: Seq,
        change: Change,
    },
    /// The state of an applet changed; `from` is the connection that changed it.
    AppletState {
        session: Option<SessionId>,
        /// The applet, where one was meant.
        slug: Option<String>,
        data: Arc<Value>,
        from: Option<u64>,
        /// The frame that changed it, if one did.
        frame: Option<Uuid>,
    },
    /// The files of an applet changed, or it came or went.
    AppletChanged { slug: String },
    /// The files of an app changed, or it came or went.
    AppChanged { id: String },
    /// A schedule was changed, or has come a step further.
    Schedules,
    /// A device came or went, or what it is told has changed.
    Devices,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Created,
    Deleted,
    Renamed,
    /// Another model answers from now on.
    ModelChanged,
    /// Something else needs a person's yes from now on.
    ModeChanged,
    Busy(bool),
    /// An answer came that nobody has seen; so many sessions have one.
    Idle {
        unobserved: usize,
    },
    Observed {
        unobserved: usize,
    },
    /// Something was asked of the person, or settled; so much is open in this session.
    Questions {
        open: usize,
        /// Who or what settled the last of them, for a person.
        by: Option<Arc<str>>,
    },
}

pub struct Roster {
    inner: Mutex<Inner>,
    news: broadcast::Sender<News>,
    /// What models are writing just now.
    pub writing: Writing,
}

#[derive(Default)]
struct Inner {
    sessions: HashMap<SessionId, Arc<State>>,
    unobserved: usize,
    /// The questions that were settled last.
    settled: VecDeque<Uuid>,
}

impl Roster {
    pub fn new(sessions: impl IntoIterator<Item = (SessionId, State)>) -> Self {
        let sessions: HashMap<_, _> =
            sessions.into_iter().map(|(id, state)| (id, Arc::new(state))).collect();
        let unobserved = sessions.values().filter(|state| state.unobserved).count();
        let inner = Mutex::new(Inner { sessions, unobserved, settled: VecDeque::new() });
        let (news, writing) = (broadcast::Sender::new(NEWS_DEPTH), Writing::default());
        Self { inner, news, writing }
    }

    pub fn get(&self, session: SessionId) -> Option<Arc<State>> {
        self.inner().sessions.get(&session).cloned()
    }

    pub fn all(&self) -> Vec<(SessionId, Arc<State>)> {
        self.inner().sessions.iter().map(|(id, state)| (*id, state.clone())).collect()
    }

    pub fn len(&self) -> usize {
        self.inner().sessions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn unobserved(&self) -> usize {
        self.inner().unobserved
    }

    /// Whether this question was settled, not too long ago.
    pub fn was_settled(&self, question: Uuid) -> bool {
        let inner = self.inner();
        inner.settled.contains(&question)
            || inner.sessions.values().any(|state| state.settled.contains(&question))
    }

    pub fn listen(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    pub fn tell(&self, news: News) {
        // An error only means that nobody is listening now.
        self.news.send(news).ok();
    }

    /// Notes what the session's own task has stored. The news of it is out before the session
    /// itself tells of the facts, so that a listener to both can put them in order.
    pub(crate) fn update(&self, session: SessionId, state: &Arc<State>, entries: &[Arc<Entry>]) {
        let mut inner = self.inner();
        let old = inner.sessions.insert(session, state.clone());
        let was_unobserved = old.as_ref().is_some_and(|old| old.unobserved);
        let was_busy = old.as_ref().is_some_and(|old| old.is_busy());
        inner.unobserved += usize::from(state.unobserved);
        inner.unobserved -= usize::from(was_unobserved);
        let unobserved = inner.unobserved;
        let tell = |after, change| self.tell(News::Session { session, after, change });
        if old.is_none() {
            tell(state.last, Change::Created);
        }
        if entries.iter().any(|entry| matches!(entry.fact, Fact::Renamed { .. })) {
            tell(state.last, Change::Renamed);
        }
        if entries.iter().any(|entry| matches!(entry.fact, Fact::ModelChanged { .. })) {
            tell(state.last, Change::ModelChanged);
        }
        let is_question =
            |entry: &Arc<Entry>| matches!(entry.fact, Fact::Asked(_) | Fact::Settled { .. });
        for entry in entries {
            if let Fact::Settled { question, .. } = &entry.fact {
                inner.settled.push_back(*question);
            }
        }
        let excess = inner.settled.len().saturating_sub(SETTLED);
        inner.settled.drain(..excess);
        if entries.iter().any(|entry| matches!(entry.fact, Fact::ModeChanged { .. })) {
            tell(state.last, Change::ModeChanged);
        }
        if entries.iter().any(is_question) {
            let by = entries.iter().rev().find_map(|entry| match &entry.fact {
                Fact::Settled { by, .. } => Some(Arc::from(by.as_str())),
                _ => None,
            });
            tell(state.last, Change::Questions { open: state.questions.len(), by });
        }
        match (was_unobserved, state.unobserved) {
            (false, true) => tell(state.last, Change::Idle { unobserved }),
            (true, false) => tell(state.last, Change::Observed { unobserved }),
            _ => (),
        }
        match (was_busy, state.is_busy()) {
            (false, true) => {
                let first = entries.first().map_or(state.last, |entry| entry.seq);
                tell(first.before(), Change::Busy(true));
            }
            (true, false) => tell(state.last, Change::Busy(false)),
            _ => (),
        }
    }

    pub(crate) fn remove(&self, session: SessionId) {
        let mut inner = self.inner();
        let Some(state) = inner.sessions.remove(&session) else { return };
        inner.unobserved -= usize::from(state.unobserved);
        drop(inner);
        self.tell(News::Session { session, after: state.last, change: Change::Deleted });
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
