//! A handle to a session: what may be asked of it, from anywhere.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};
use uuid::Uuid;

use crate::{
    apps::AppFact,
    asker::Asker,
    desktop::DesktopFact,
    feed::Following,
    outputs::Embed,
    ports::{Log, StoreError},
    question::{Question, Verdict},
    tasks::Plan,
    update::{
        Amendment, Command, Entry, Fact, Message, Output, Seq, SessionId, Signal, Usage, WhenBusy,
    },
    views::fact::WidgetFact,
    windows::{By, Pane, WindowError, Windows, Wish},
};

const PAGE: usize = 128;
/// How many messages may wait.
pub const QUEUE_DEPTH: usize = 100;

/// Cheap to clone; the session itself is a task at its [`crate::desk`].
#[derive(Clone)]
pub struct Session {
    pub(crate) id: SessionId,
    pub(crate) inbox: mpsc::Sender<Command>,
    pub(crate) log: Arc<dyn Log>,
    /// Closed when the task is gone.
    pub(crate) life: watch::Receiver<()>,
}

/// Where a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub seq: Seq,
    /// How many will have been answered when it has, if it must wait.
    pub queued: Option<usize>,
    /// It had been said before, under the same key.
    pub repeated: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum SayError {
    #[error("Session is busy processing another message")]
    Busy,
    #[error("{QUEUE_DEPTH} messages are waiting already")]
    QueueFull,
    #[error("this key was used for another message")]
    KeyReused,
    #[error("nothing that the person said, and that still stands, is at {}", .0.0)]
    NotSaid(Seq),
    #[error("the server is shutting down")]
    Closing,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The session was let go before it took the wish; open it again.
#[derive(Debug, thiserror::Error)]
#[error("the session is closed")]
pub struct Closed;

impl Session {
    pub fn id(&self) -> SessionId {
        self.id
    }

    pub async fn say(
        &self,
        message: Message,
        when_busy: WhenBusy,
    ) -> Result<Result<Receipt, SayError>, Closed> {
        self.stored(|reply| Command::Say { message, when_busy, reply }).await
    }

    pub async fn cancel(&self) -> Result<Result<bool, StoreError>, Closed> {
        self.stored(|reply| Command::Cancel { reply }).await
    }

    pub async fn unqueue(&self, place: Seq) -> Result<Result<bool, StoreError>, Closed> {
        self.stored(|reply| Command::Unqueue { place, reply }).await
    }

    pub async fn compact(&self) -> Result<Result<bool, StoreError>, Closed> {
        self.stored(|reply| Command::Compact { reply }).await
    }

    pub async fn amend(&self, amendment: Amendment) -> Result<Result<(), StoreError>, Closed> {
        self.stored(|reply| Command::Amend { amendment, reply }).await
    }

    pub async fn observe(&self) -> Result<Result<bool, StoreError>, Closed> {
        self.stored(|reply| Command::Observe { reply }).await
    }

    /// Puts a question to the person and waits for what comes of it; `None` if the session is let
    /// go meanwhile. Who asks from outside any turn withdraws the question by not waiting any longer.
    pub async fn put(&self, question: Question) -> Option<Verdict> {
        let asker = Asker::of(self, &question);
        let verdict = self.ask(|reply| Command::Ask { question, reply }).await;
        asker.heard_out();
        verdict.ok()?
    }

    /// Settles a question; says whether it was open.
    pub async fn settle(
        &self,
        question: Uuid,
        verdict: Verdict,
        by: &str,
    ) -> Result<Result<bool, StoreError>, Closed> {
        let by = by.to_owned();
        let settle = |reply| Command::Settle { question, verdict, by, reply };
        self.stored(settle).await
    }

    /// Says what is meant to be done.
    pub async fn plan(&self, plan: Plan) -> Result<Result<(), StoreError>, Closed> {
        self.stored(|reply| Command::Plan { plan, reply }).await
    }

    /// What somebody else used of the model in this session's name.
    pub async fn lend(
        &self,
        to: String,
        model: String,
        usage: Usage,
    ) -> Result<Result<(), StoreError>, Closed> {
        self.stored(|reply| Command::Lend { to, model, usage, reply }).await
    }

    pub async fn show(&self, embed: Embed) -> Result<Result<(), StoreError>, Closed> {
        self.stored(|reply| Command::Show { embed, reply }).await
    }

    /// Opens, changes or closes a window; answers when that is safe, with the window as it stands or
    /// last stood.
    pub async fn arrange(&self, wish: Wish, by: By) -> Result<Result<Pane, WindowError>, Closed> {
        self.stored(|reply| Command::Arrange { wish, by, reply }).await
    }

    /// The windows that are open.
    pub async fn windows(&self) -> Result<Result<Arc<Windows>, StoreError>, Closed> {
        self.stored(|reply| Command::Windows { reply }).await
    }

    /// Keeps on record what happened between the house and an app; says where the last of it is.
    pub async fn note_apps(&self, facts: Vec<AppFact>) -> Result<Result<Seq, StoreError>, Closed> {
        self.stored(|reply| Command::NoteApps { facts, reply }).await
    }

    /// Keeps on record what happened on a desktop.
    pub async fn note_desktop(&self, fact: DesktopFact) -> Result<Result<(), StoreError>, Closed> {
        self.stored(|reply| Command::NoteDesktop { fact, reply }).await
    }

    /// Keeps on record what happened in or around a widget; says where the last of it is.
    pub async fn note_widgets(
        &self,
        facts: Vec<WidgetFact>,
    ) -> Result<Result<Seq, StoreError>, Closed> {
        self.stored(|reply| Command::NoteWidgets { facts, reply }).await
    }

    pub async fn tell(&self, signal: Signal) -> Result<(), Closed> {
        self.send(Command::Tell(signal)).await
    }

    pub(crate) async fn follow(&self) -> Result<Following, Closed> {
        self.ask(|reply| Command::Follow { reply }).await?.ok_or(Closed)
    }

    /// Closes it unless a turn is running, and says whether it did.
    pub(crate) async fn leave(&self) -> Result<bool, Closed> {
        Ok(self.ask(|reply| Command::Leave { reply }).await?.unwrap_or(false))
    }

    pub(crate) async fn close(&self, now: bool) {
        // Closed already is as good.
        self.send(Command::Close { now }).await.ok();
    }

    pub(crate) async fn read(&self, after: Seq, limit: usize) -> Result<Vec<Entry>, StoreError> {
        self.log.read(self.id, after, limit).await
    }

    /// What a tool call of this session returned, however long ago.
    pub async fn returned(&self, call: &str) -> Result<Option<Output>, StoreError> {
        let mut before = Seq(u64::MAX >> 1);
        loop {
            let page = self.log.read_back(self.id, before, PAGE).await?;
            let Some(oldest) = page.last() else { return Ok(None) };
            before = oldest.seq;
            let output = page.into_iter().find_map(|entry| match entry.fact {
                Fact::ToolReturned { call: returned, output } if returned == call => Some(output),
                _ => None,
            });
            if output.is_some() {
                return Ok(output);
            }
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.inbox.is_closed()
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.life.has_changed().is_err()
    }

    /// Returns when its task has written its last.
    pub(crate) async fn gone(&self) {
        // Nothing is ever sent: an error is how the end is heard.
        while self.life.clone().changed().await.is_ok() {}
    }

    /// The answer, `None` if the session ended without giving one.
    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<Option<T>, Closed> {
        let (reply, answer) = oneshot::channel();
        self.send(command(reply)).await?;
        Ok(answer.await.ok())
    }

    /// The answer to what ends in the store; an error of the store if the session gave none.
    async fn stored<T, E: From<StoreError>>(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<T, E>>) -> Command,
    ) -> Result<Result<T, E>, Closed> {
        let lost = || StoreError::Unavailable("the session ended meanwhile".into());
        Ok(self.ask(command).await?.unwrap_or_else(|| Err(lost().into())))
    }

    async fn send(&self, command: Command) -> Result<(), Closed> {
        self.inbox.send(command).await.map_err(|_| Closed)
    }
}
