//! Listening to a session, from any point in its past.

use std::{
    any::Any,
    sync::{Arc, OnceLock},
    vec,
};

use tokio::sync::broadcast::{
    self,
    error::{RecvError, TryRecvError},
};

use crate::{
    session::{Closed, Session},
    update::{Entry, Seq, Update},
};

/// How much of the log is in memory at a time for each listener that catches up.
const PAGE: usize = 256;

/// The sentence being spoken, as far as it has been heard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    pub step: Seq,
    pub text: String,
    pub reasoning: String,
}

impl Draft {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.reasoning.is_empty()
    }
}

/// Where a newcomer stands: the end of the past, the sentence being spoken now, and the future.
pub struct Following {
    pub last: Seq,
    pub draft: Option<Draft>,
    pub live: broadcast::Receiver<Arc<Told>>,
}

/// Updates that came together, on their way to many listeners, with room for what the first of
/// them makes of it all.
pub struct Told {
    pub updates: Vec<Update>,
    made: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Told {
    pub(crate) fn new(updates: Vec<Update>) -> Self {
        Self { updates, made: OnceLock::new() }
    }

    /// The facts among them.
    pub fn facts(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.updates.iter().filter_map(|update| match update {
            Update::Fact(entry) => Some(entry),
            Update::Signal { .. } => None,
        })
    }

    /// Shows `tell` what `make` makes of them, made once for all listeners that want a `T`.
    ///
    /// There is room for one kind. A listener that wants another makes its own each time.
    pub fn with_made<T: Send + Sync + 'static>(
        &self,
        make: impl Fn(&[Update]) -> T,
        tell: impl FnOnce(&T),
    ) {
        let kept = self.made.get_or_init(|| Box::new(make(&self.updates)));
        match kept.downcast_ref::<T>() {
            Some(kept) => tell(kept),
            None => tell(&make(&self.updates)),
        }
    }
}

/// What is heard when listening.
pub enum Heard {
    /// Told from the log.
    Past(Box<Entry>),
    /// The past is told up to `last`; this is the sentence being spoken. Comes once at first, and
    /// again whenever the listener had fallen behind and has caught up.
    Now {
        last: Seq,
        draft: Option<Draft>,
    },
    Live(Arc<Told>),
}

struct Present {
    draft: Option<Draft>,
}

/// A stream of updates that survives falling behind.
pub struct Feed {
    session: Session,
    /// The last fact heard.
    last: Seq,
    /// Facts up to here are read from the log.
    until: Seq,
    page: vec::IntoIter<Entry>,
    /// The present, as it was when we looked; told when the past is.
    present: Option<Present>,
    live: broadcast::Receiver<Arc<Told>>,
    behind: bool,
}

impl Feed {
    /// Everything after `after`, or from now on if nothing is given or it lies in the future.
    pub async fn open(session: Session, after: Option<Seq>) -> Result<Self, Closed> {
        let Following { last: until, draft, live } = session.follow().await?;
        let last = after.map_or(until, |after| after.min(until));
        let page = Vec::new().into_iter();
        let present = Some(Present { draft });
        Ok(Self { session, last, until, page, present, live, behind: false })
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    pub fn last(&self) -> Seq {
        self.last
    }

    /// `None` once the session is closed or its log cannot be read. Cancel safe.
    pub async fn next(&mut self) -> Option<Heard> {
        loop {
            if self.behind {
                self.catch_up().await.ok()?;
            }
            if let Some(heard) = self.at_hand() {
                return Some(heard);
            }
            if self.last < self.until {
                self.turn_page().await?;
                continue;
            }
            match self.live.recv().await {
                Ok(told) => return Some(self.hear(told)),
                Err(RecvError::Lagged(_)) => self.behind = true,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// What can be heard without waiting, if anything.
    pub fn next_now(&mut self) -> Option<Heard> {
        loop {
            if self.behind {
                return None;
            }
            if let Some(heard) = self.at_hand() {
                return Some(heard);
            }
            if self.last < self.until {
                return None;
            }
            match self.live.try_recv() {
                Ok(told) => return Some(self.hear(told)),
                Err(TryRecvError::Lagged(_)) => self.behind = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
            }
        }
    }

    fn at_hand(&mut self) -> Option<Heard> {
        if let Some(entry) = self.page.next() {
            self.last = entry.seq;
            return Some(Heard::Past(Box::new(entry)));
        }
        if self.last < self.until {
            return None;
        }
        let Present { draft } = self.present.take()?;
        Some(Heard::Now { last: self.last, draft })
    }

    fn hear(&mut self, told: Arc<Told>) -> Heard {
        if let Some(entry) = told.facts().last() {
            self.last = entry.seq;
        }
        Heard::Live(told)
    }

    async fn turn_page(&mut self) -> Option<()> {
        let page = self.session.read(self.last, PAGE).await;
        let mut page = page
            .inspect_err(
                |error| tracing::warn!(session = %self.session.id(), %error, "cannot read the log"),
            )
            .ok()?;
        page.retain(|entry| entry.seq <= self.until);
        if page.is_empty() {
            return None;
        }
        self.page = page.into_iter();
        Some(())
    }

    /// Goes on from the log where the live feed had overtaken us.
    async fn catch_up(&mut self) -> Result<(), Closed> {
        let Following { last, draft, live } = self.session.follow().await?;
        self.until = last;
        self.present = Some(Present { draft });
        self.live = live;
        self.behind = false;
        Ok(())
    }
}
