//! The house: opens, lists and lets go of sessions, and holds the ports.

mod room;

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{StreamExt as _, future, stream};

use crate::{
    applets::Applets,
    approvals::{Approvals, Rules},
    apps::Apps,
    budget::{Budgets, Purse},
    desk::Opening,
    desktop::{Devices, Kept, Trajectories},
    feed::Feed,
    guard::{Guard, Limits, Rejected},
    outputs::Outputs,
    ports::{Ports, StoreError},
    roster::Roster,
    schedule::Schedules,
    session::{Closed, Receipt, SayError, Session},
    update::{Amendment, Fact, Message, Seq, SessionId, WhenBusy},
    views::{pages::Pages, states::States},
    windows::{By, Pane, WindowError, Windows, Wish},
};

use room::{Room, carry_out};

/// How many closed rooms may be remembered before they are swept out.
const SWEEP: usize = 64;
/// How many sessions are put in order at once after a start.
const RECOVERING: usize = 16;

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// An idle session is let go after so long.
    pub rest: Duration,
    pub limits: Limits,
    /// How often a model is asked before a passing failure counts as one.
    pub attempts: u32,
    /// What needs a person's yes.
    pub rules: Rules,
    /// What holds while nobody has set others.
    pub budgets: Budgets,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            rest: Duration::from_mins(5),
            limits: Limits::default(),
            attempts: 5,
            rules: Rules::default(),
            budgets: Budgets::default(),
        }
    }
}

pub struct Host {
    pub ports: Ports,
    pub roster: Arc<Roster>,
    pub applets: Arc<Applets>,
    pub outputs: Arc<Outputs>,
    pub approvals: Arc<Approvals>,
    pub purse: Arc<Purse>,
    pub schedules: Arc<Schedules>,
    pub apps: Arc<Apps>,
    pub devices: Arc<Devices>,
    pub trajectories: Arc<Trajectories>,
    /// The sessions in which it is kept what was done on desktops, as far as they are known.
    pub(crate) desktop_sessions: tokio::sync::Mutex<Kept>,
    guard: Guard,
    settings: Settings,
    rooms: Mutex<HashMap<SessionId, Arc<Room>>>,
    closing: AtomicBool,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("Session not found: {0}")]
    Unknown(SessionId),
    #[error("the server is shutting down")]
    Closing,
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug, thiserror::Error)]
pub enum DeleteError {
    #[error("Cannot delete session while it is processing")]
    Busy,
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// Why a message was not taken.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Say(#[from] SayError),
    #[error("Agent call rejected: {0}")]
    Rejected(#[from] Rejected),
}

/// Why a window is not as somebody wished.
#[derive(Debug, thiserror::Error)]
pub enum ArrangeError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Window(#[from] WindowError),
}

impl Host {
    pub async fn start(ports: Ports, settings: Settings) -> Result<Arc<Self>, StoreError> {
        let roster = Arc::new(Roster::new(ports.catalog.sessions().await?));
        let approvals = Approvals::open(
            settings.rules,
            ports.catalog.clone(),
            ports.log.clone(),
            ports.clock.clone(),
            roster.clone(),
        );
        let purse = Purse::open(&ports, roster.clone(), settings.budgets).await?;
        let schedules = Schedules::open(&ports, roster.clone()).await?;
        let host = Arc::new(Self {
            schedules: Arc::new(schedules),
            approvals: Arc::new(approvals.await?),
            purse: Arc::new(purse),
            applets: Arc::new(Applets::new(ports.catalog.clone(), roster.clone())),
            outputs: Arc::new(Outputs::new(ports.catalog.clone())),
            apps: Arc::default(),
            devices: Arc::new(Devices::new(ports.clock.clone(), roster.clone())),
            trajectories: Arc::new(Trajectories::new(ports.catalog.clone(), ports.clock.clone())),
            desktop_sessions: tokio::sync::Mutex::default(),
            guard: Guard::new(settings.limits),
            settings,
            rooms: Mutex::default(),
            closing: AtomicBool::new(false),
            roster,
            ports,
        });
        host.recall_deeds().await?;
        Ok(host)
    }

    /// Opens the sessions that a crash left with something to do: turns to end, messages to answer,
    /// questions to give up. What sessions that are gone have left behind goes.
    pub async fn recover(&self) {
        if let Err(error) = self.sweep_widgets().await {
            tracing::warn!(%error, "cannot clear away what is left of widgets");
        }
        let all = self.roster.all().into_iter();
        let unfinished =
            all.filter(|(_, state)| state.is_unfinished() || !state.questions.is_empty());
        let open = |(id, _)| async move {
            if let Err(error) = self.open(id).await {
                tracing::warn!(session = %id, %error, "cannot put the session in order");
            }
        };
        stream::iter(unfinished).for_each_concurrent(RECOVERING, open).await;
    }

    async fn sweep_widgets(&self) -> Result<(), StoreError> {
        let is_there = |id| self.roster.get(id).is_some();
        Pages::new(self.ports.catalog.clone()).sweep(is_there).await?;
        States::new(self.ports.catalog.clone()).sweep(is_there).await
    }

    /// A new session. The folder and the model are the caller's to check.
    pub async fn create(
        &self,
        cwd: &Path,
        model: &str,
        name: &str,
    ) -> Result<SessionId, OpenError> {
        self.create_for(None, cwd, model, name).await
    }

    /// A new session, made by the agent of another, which may do no more than that one.
    pub async fn create_for(
        &self,
        parent: Option<SessionId>,
        cwd: &Path,
        model: &str,
        name: &str,
    ) -> Result<SessionId, OpenError> {
        let id = SessionId(self.ports.clock.id());
        let room = self.room(id);
        let door = room.door.clone().lock_owned().await;
        let fact = Fact::Opened {
            cwd: cwd.to_string_lossy().into_owned(),
            model: model.to_owned(),
            name: name.to_owned(),
            parent,
        };
        room.move_in(door, Box::pin(self.opening(id)?.begin(fact))).await?;
        Ok(id)
    }

    /// A handle to a session, opened if it is not.
    pub async fn open(&self, id: SessionId) -> Result<Session, OpenError> {
        // Known first, or every misspelt name would get a room.
        self.roster.get(id).ok_or(OpenError::Unknown(id))?;
        let room = self.room(id);
        if let Some(session) = room.live() {
            return Ok(session);
        }
        let door = room.door.clone().lock_owned().await;
        if let Some(session) = room.live() {
            return Ok(session);
        }
        let old = room.session().take();
        if let Some(old) = old {
            old.gone().await;
        }
        // Read only now: the old one may have had a last word.
        let state = self.roster.get(id).ok_or(OpenError::Unknown(id))?;
        Ok(room.move_in(door, Box::pin(self.opening(id)?.resume(state))).await?)
    }

    /// Whether it is in memory.
    pub fn is_live(&self, id: SessionId) -> bool {
        self.rooms().get(&id).is_some_and(|room| room.live().is_some())
    }

    /// Whether the bounds set for agents that talk to each other allow another message.
    pub fn may_post(&self, id: SessionId, flow: &str) -> Result<(), PostError> {
        Ok(self.guard.check(flow, id, self.ports.clock.now())?)
    }

    /// Says something to a session, within the bounds set for agents that talk to each other.
    pub async fn post(
        &self,
        id: SessionId,
        mut message: Message,
        when_busy: WhenBusy,
    ) -> Result<Receipt, PostError> {
        if message.flow.is_empty() {
            message.flow = self.ports.clock.id().to_string();
        }
        let flow = message.flow.clone();
        self.may_post(id, &flow)?;
        let say = |session: Session| {
            let message = message.clone();
            async move { session.say(message, when_busy).await }
        };
        let receipt = self.ask(id, say).await??;
        if !receipt.repeated {
            self.guard.note(&flow, id, self.ports.clock.now());
        }
        Ok(receipt)
    }

    /// Ends the running turn, if there is one. A session that is not open has none.
    pub async fn cancel(&self, id: SessionId) -> Result<bool, StoreError> {
        let Some(session) = self.rooms().get(&id).and_then(|room| room.live()) else {
            return Ok(false);
        };
        session.cancel().await.unwrap_or(Ok(false))
    }

    /// Calls off a message that waits; says whether it still did.
    pub async fn unqueue(&self, id: SessionId, place: Seq) -> Result<bool, OpenError> {
        Ok(self.ask(id, |session| async move { session.unqueue(place).await }).await??)
    }

    /// Sums up the past of a session, in the background; says whether that was begun.
    pub async fn compact(&self, id: SessionId) -> Result<bool, OpenError> {
        Ok(self.ask(id, |session| async move { session.compact().await }).await??)
    }

    pub async fn amend(&self, id: SessionId, amendment: Amendment) -> Result<(), OpenError> {
        let amend = |session: Session| {
            let amendment = amendment.clone();
            async move { session.amend(amendment).await }
        };
        Ok(self.ask(id, amend).await??)
    }

    /// The windows that are open in a session.
    pub async fn windows(&self, id: SessionId) -> Result<Arc<Windows>, OpenError> {
        if let Some(windows) = self.apps.windows(id) {
            return Ok(windows);
        }
        Ok(self.ask(id, |session| async move { session.windows().await }).await??)
    }

    /// Opens, changes or closes a window; answers when that is safe, with the window as it stands or
    /// last stood.
    pub async fn arrange(&self, id: SessionId, wish: Wish, by: By) -> Result<Pane, ArrangeError> {
        let arrange = |session: Session| {
            let (wish, by) = (wish.clone(), by.clone());
            async move { session.arrange(wish, by).await }
        };
        Ok(self.ask(id, arrange).await??)
    }

    /// Marks it as seen; says whether that was news.
    pub async fn observe(&self, id: SessionId) -> Result<bool, OpenError> {
        Ok(self.ask(id, |session| async move { session.observe().await }).await??)
    }

    /// Listens from `after`, or from now on.
    pub async fn feed(&self, id: SessionId, after: Option<Seq>) -> Result<Feed, OpenError> {
        self.ask(id, |session| Feed::open(session, after)).await
    }

    /// Asks a session, once more if it was let go in between.
    async fn ask<T, A: Future<Output = Result<T, Closed>>>(
        &self,
        id: SessionId,
        ask: impl Fn(Session) -> A,
    ) -> Result<T, OpenError> {
        loop {
            if let Ok(answer) = ask(self.open(id).await?).await {
                return Ok(answer);
            }
        }
    }

    /// Removes a session and all that belongs to it, unless it is busy.
    pub async fn delete(&self, id: SessionId) -> Result<(), DeleteError> {
        loop {
            let session = self.open(id).await?;
            let room = self.room(id);
            let door = room.door.clone().lock_owned().await;
            match session.leave().await {
                Err(Closed) => continue,
                Ok(false) => return Err(DeleteError::Busy),
                Ok(true) => session.gone().await,
            }
            self.ports.agents.dismiss(id);
            let (ports, roster) = (self.ports.clone(), self.roster.clone());
            let (applets, approvals) = (self.applets.clone(), self.approvals.clone());
            let (outputs, apps) = (self.outputs.clone(), self.apps.clone());
            let devices = self.devices.clone();
            let clear = async move {
                let _door = door;
                // What hangs on it goes first: it could not be found again afterwards.
                applets.forget(id).await?;
                outputs.forget(id).await?;
                approvals.forget(id).await?;
                apps.forget(id);
                devices.forget(id);
                ports.tools.forget(id);
                ports.attic.clear(id).await?;
                Pages::new(ports.catalog.clone()).forget(id).await?;
                States::new(ports.catalog.clone()).forget(id).await?;
                ports.catalog.remove(id).await?;
                roster.remove(id);
                Ok(())
            };
            carry_out(clear).await.map_err(OpenError::from)?;
            self.rooms().remove(&id);
            return Ok(());
        }
    }

    /// Whether it is being shut: sessions end, and are not opened again.
    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Lets running turns end within `patience`, then records the rest as interrupted.
    pub async fn shut(&self, patience: Duration) {
        self.closing.store(true, Ordering::Relaxed);
        let live: Vec<Session> = self.rooms().values().filter_map(|room| room.live()).collect();
        for session in &live {
            session.close(false).await;
        }
        let gone = || future::join_all(live.iter().map(Session::gone));
        if tokio::time::timeout(patience, gone()).await.is_err() {
            for session in &live {
                session.close(true).await;
            }
            gone().await;
        }
    }

    fn opening(&self, id: SessionId) -> Result<Opening, OpenError> {
        if self.is_closing() {
            return Err(OpenError::Closing);
        }
        let (ports, roster) = (self.ports.clone(), self.roster.clone());
        let (approvals, purse) = (self.approvals.clone(), self.purse.clone());
        let (apps, Settings { rest, attempts, .. }) = (self.apps.clone(), self.settings);
        Ok(Opening { id, ports, roster, approvals, purse, apps, rest, attempts })
    }

    fn room(&self, id: SessionId) -> Arc<Room> {
        let mut rooms = self.rooms();
        if rooms.len() > SWEEP && !rooms.contains_key(&id) {
            rooms.retain(|_, room| Arc::strong_count(room) > 1 || !room.is_left());
        }
        rooms.entry(id).or_default().clone()
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Room>>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
