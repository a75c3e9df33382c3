//! A session: one task, one log, one writer.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{broadcast, mpsc, oneshot, watch},
    task::JoinHandle,
    time::Instant,
};

use crate::{
    feed::{Draft, Following, Told},
    ports::{Batch, Log, Ports, StoreError},
    roster::Roster,
    state::State,
    turn::{Report, Turn, TurnError},
    update::{
        Amendment, Answer, Command, ContextChange, Entry, Fact, Failure, Message, Outcome, Output,
        Seq, SessionId, Signal, Update, WhenBusy,
    },
};

/// How many updates a slow listener may fall behind before it must reread the log.
const FEED_DEPTH: usize = 1024;
/// How many reports of a turn are handled before wishes are looked at again.
const BATCH: usize = 64;
/// How many messages may wait.
pub const QUEUE_DEPTH: usize = 100;
/// How many items a context set holds.
pub const CONTEXT_SET: usize = 10;
/// How soon a turn that could not be recorded as ended is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// A cheap handle to a running session.
#[derive(Clone)]
pub struct Session {
    id: SessionId,
    inbox: mpsc::Sender<Command>,
    log: Arc<dyn Log>,
    /// Closed when the task is gone.
    life: watch::Receiver<()>,
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
        let answer = self.ask(|reply| Command::Say { message, when_busy, reply }).await?;
        Ok(answer.unwrap_or_else(|| Err(lost().into())))
    }

    pub async fn cancel(&self) -> Result<Result<bool, StoreError>, Closed> {
        let answer = self.ask(|reply| Command::Cancel { reply }).await?;
        Ok(answer.unwrap_or_else(|| Err(lost())))
    }

    pub async fn amend(&self, amendment: Amendment) -> Result<Result<(), StoreError>, Closed> {
        let answer = self.ask(|reply| Command::Amend { amendment, reply }).await?;
        Ok(answer.unwrap_or_else(|| Err(lost())))
    }

    pub async fn observe(&self) -> Result<Result<bool, StoreError>, Closed> {
        let answer = self.ask(|reply| Command::Observe { reply }).await?;
        Ok(answer.unwrap_or_else(|| Err(lost())))
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

    async fn send(&self, command: Command) -> Result<(), Closed> {
        self.inbox.send(command).await.map_err(|_| Closed)
    }
}

fn lost() -> StoreError {
    StoreError::Unavailable("the session ended meanwhile".into())
}

/// How a session is begun or opened again.
pub(crate) struct Opening {
    pub id: SessionId,
    pub ports: Ports,
    pub roster: Arc<Roster>,
    /// Let go after so long without a wish, a turn or a listener.
    pub rest: Duration,
}

impl Opening {
    /// A new session, whose first fact is this.
    pub async fn begin(self, fact: Fact) -> Result<Session, StoreError> {
        let (mut desk, session, commands) = self.desk(Arc::default());
        desk.record(vec![fact]).await?;
        tokio::spawn(desk.serve(commands));
        Ok(session)
    }

    /// A session that exists. A turn that a crash cut short is recorded as interrupted first.
    pub async fn resume(self, state: Arc<State>) -> Result<Session, StoreError> {
        let (mut desk, session, commands) = self.desk(state);
        if let Some(turn) = &desk.state.turn {
            desk.draft.step = turn.step.unwrap_or_default();
            desk.draft.text = desk.ports.log.drafted(desk.id).await?;
            desk.end(Outcome::Interrupted).await?;
        }
        desk.start_next().await?;
        tokio::spawn(desk.serve(commands));
        Ok(session)
    }

    fn desk(self, state: Arc<State>) -> (Desk, Session, mpsc::Receiver<Command>) {
        let Self { id, ports, roster, rest } = self;
        let (inbox, commands) = mpsc::channel(32);
        let (life, alive) = watch::channel(());
        let session = Session { id, inbox, log: ports.log.clone(), life: alive.clone() };
        let desk = Desk {
            id,
            state,
            roster,
            rest,
            inbox: session.inbox.downgrade(),
            alive,
            feed: broadcast::Sender::new(FEED_DEPTH),
            draft: Draft::default(),
            running: None,
            owed: None,
            closing: false,
            left: false,
            used: Instant::now(),
            ports,
            _life: life,
        };
        (desk, session, commands)
    }
}

/// The session's own side of its handle: the only writer of its log.
struct Desk {
    id: SessionId,
    ports: Ports,
    roster: Arc<Roster>,
    rest: Duration,
    state: Arc<State>,
    feed: broadcast::Sender<Arc<Told>>,
    /// Weak, or the session would keep itself open.
    inbox: mpsc::WeakSender<Command>,
    alive: watch::Receiver<()>,
    /// The one thing here not made of facts.
    draft: Draft,
    running: Option<Running>,
    /// How a turn ended that could not be recorded, for want of storage.
    owed: Option<Outcome>,
    closing: bool,
    left: bool,
    used: Instant,
    _life: watch::Sender<()>,
}

/// Dropping this forgets the turn, and with it whatever it had still to report.
struct Running {
    task: JoinHandle<Result<(), TurnError>>,
    reports: mpsc::Receiver<Report>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Desk {
    async fn serve(mut self, mut commands: mpsc::Receiver<Command>) {
        let mut reports = Vec::with_capacity(BATCH);
        let mut open = true;
        while open || self.running.is_some() {
            let resting = self.used + self.rest;
            tokio::select! {
                // Wishes first, or a talkative turn could not be cancelled.
                biased;
                command = commands.recv(), if open => {
                    self.used = Instant::now();
                    match command {
                        Some(command) => self.obey(command).await,
                        None => open = false,
                    }
                }
                count = next_reports(&mut self.running, &mut reports) => {
                    if count == 0 {
                        self.finish().await;
                    } else {
                        self.hear(reports.drain(..)).await;
                        self.used = Instant::now();
                    }
                }
                () = tokio::time::sleep(RETRY), if self.owed.is_some() => {
                    // Still owed, then; it is tried again.
                    self.settle().await.ok();
                }
                () = tokio::time::sleep_until(resting), if open && self.running.is_none() => {
                    if self.feed.receiver_count() == 0 && self.owed.is_none() {
                        // What is in the inbox is still obeyed; later callers open it anew.
                        commands.close();
                    }
                    self.used = Instant::now();
                }
            }
            if self.left {
                return;
            }
            if self.closing && self.running.is_none() {
                commands.close();
            }
        }
    }

    /// Whoever asked may have left meanwhile: replies to nobody are dropped throughout.
    async fn obey(&mut self, command: Command) {
        match command {
            Command::Say { message, when_busy, reply } => {
                let said = self.say(message, when_busy).await;
                reply.send(said).ok();
            }
            Command::Cancel { reply } => {
                reply.send(self.cancel().await).ok();
            }
            Command::Amend { amendment, reply } => {
                reply.send(self.amend(amendment).await).ok();
            }
            Command::Observe { reply } => {
                reply.send(self.observe().await).ok();
            }
            Command::Tell(signal) => self.pass_on(signal),
            Command::Follow { reply } => {
                let draft = (!self.draft.is_empty()).then(|| self.draft.clone());
                let live = self.feed.subscribe();
                reply.send(Following { last: self.state.last, draft, live }).ok();
            }
            Command::Close { now } => {
                self.closing = true;
                if now && self.running.take().is_some() {
                    self.owed = Some(Outcome::Interrupted);
                    self.settle().await.ok();
                }
            }
            Command::Leave { reply } => {
                self.left = !self.state.is_unfinished();
                reply.send(self.left).ok();
            }
        }
    }

    async fn say(&mut self, message: Message, when_busy: WhenBusy) -> Result<Receipt, SayError> {
        if let Some(key) = &message.key
            && let Some(entry) = self.ports.log.keyed(self.id, key).await?
        {
            return repeated(&entry, &message);
        }
        if self.closing {
            return Err(SayError::Closing);
        }
        self.settle().await?;
        if !self.state.is_busy() {
            self.begin(message, None).await?;
            return Ok(Receipt { seq: self.state.last, queued: None, repeated: false });
        }
        match when_busy {
            WhenBusy::Refuse => Err(SayError::Busy),
            WhenBusy::Queue if self.state.queue.len() >= QUEUE_DEPTH => Err(SayError::QueueFull),
            WhenBusy::Queue => {
                self.record(vec![Fact::Queued(message)]).await?;
                let queued = Some(self.state.queue.len());
                Ok(Receipt { seq: self.state.last, queued, repeated: false })
            }
        }
    }

    async fn cancel(&mut self) -> Result<bool, StoreError> {
        if self.running.take().is_none() {
            self.settle().await?;
            return Ok(false);
        }
        self.owed = Some(Outcome::Cancelled);
        self.settle().await?;
        Ok(true)
    }

    async fn amend(&mut self, amendment: Amendment) -> Result<(), StoreError> {
        let Amendment { name, env_hint, context } = amendment;
        let mut facts = Vec::new();
        facts.extend(name.map(|name| Fact::Renamed { name }));
        facts.extend(env_hint.map(|hint| Fact::EnvHinted { hint }));
        facts.extend(context.map(|change| self.change_context(change)));
        self.record(facts).await
    }

    fn change_context(&self, ContextChange { set, items, merge }: ContextChange) -> Fact {
        let mut context = self.state.context.clone();
        let known = context.entry(set.clone()).or_default();
        if !merge {
            known.clear();
        }
        for item in items {
            if !merge || !known.contains(&item) {
                known.push(item);
            }
        }
        known.truncate(CONTEXT_SET);
        Fact::ContextChanged { set, context }
    }

    async fn observe(&mut self) -> Result<bool, StoreError> {
        if !self.state.unobserved {
            return Ok(false);
        }
        self.record(vec![Fact::Observed]).await?;
        Ok(true)
    }

    /// Records that a message was spoken and starts the turn that answers it.
    async fn begin(&mut self, message: Message, queued: Option<Seq>) -> Result<(), StoreError> {
        let flow = message.flow.clone();
        self.record(vec![Fact::Said { message, queued }]).await?;
        let Some(inbox) = self.inbox.upgrade() else { return Ok(()) };
        let log = self.ports.log.clone();
        let session = Session { id: self.id, inbox, log, life: self.alive.clone() };
        let (sender, reports) = mpsc::channel(BATCH);
        let cwd = self.ports.cwd(&self.state.cwd);
        let turn = Turn { ports: self.ports.clone(), session, cwd, flow, reports: sender };
        let task = tokio::spawn(turn.run(self.state.clone()));
        self.running = Some(Running { task, reports });
        Ok(())
    }

    /// Takes up the message that has waited longest, if nothing else is going on.
    async fn start_next(&mut self) -> Result<(), StoreError> {
        if self.closing || self.state.is_busy() {
            return Ok(());
        }
        let Some(&place) = self.state.queue.front() else { return Ok(()) };
        let waiting = self.ports.log.read(self.id, place.before(), 1).await?;
        match waiting.into_iter().next() {
            Some(Entry { fact: Fact::Queued(message), .. }) => {
                // The key stays with the place where it was first said.
                self.begin(Message { key: None, ..message }, Some(place)).await
            }
            _ => Err(StoreError::Unavailable(format!("no message waits at {}", place.0))),
        }
    }

    async fn hear(&mut self, reports: impl Iterator<Item = Report>) {
        let (from, step) = (self.draft.text.len(), self.draft.step);
        for report in reports {
            match report {
                Report::Signal(signal) => self.pass_on(signal),
                Report::Fact(fact, stored) => match self.record(vec![fact]).await {
                    Ok(()) => drop(stored.send(self.state.last)),
                    Err(error) => return self.give_up(&error),
                },
            }
        }
        if self.feed.len() > FEED_DEPTH / 2 {
            // Listeners that only want for the processor get it; one that is stuck costs nothing.
            tokio::task::yield_now().await;
        }
        // A sentence that was finished within this batch needs no note.
        let new = if self.draft.step == step { from } else { 0 };
        if let Some(text) = self.draft.text.get(new..)
            && !text.is_empty()
        {
            self.ports.log.draft(self.id, text);
        }
    }

    /// The turn has said all it had to say.
    async fn finish(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        let outcome = match (&mut running.task).await {
            Ok(Ok(())) => Outcome::Finished,
            Ok(Err(error)) => failed(error.kind(), &error.to_string()),
            Err(_) => failed(Failure::Internal, "the turn broke down"),
        };
        self.owed = Some(outcome);
        if let Err(error) = self.settle().await {
            self.give_up(&error);
        }
    }

    /// Storage fails in the middle of a turn: those present are told, and the record is owed.
    fn give_up(&mut self, error: &StoreError) {
        tracing::error!(session = %self.id, %error, "cannot record");
        self.running = None;
        let reason = error.to_string();
        self.owed.get_or_insert_with(|| failed(Failure::Internal, &reason));
        self.pass_on(Signal::Unrecorded { reason });
    }

    /// Pays what is owed, then goes on with what waits.
    async fn settle(&mut self) -> Result<(), StoreError> {
        let Some(outcome) = self.owed.take() else { return Ok(()) };
        if let Err(error) = self.end(outcome.clone()).await {
            self.owed = Some(outcome);
            return Err(error);
        }
        if let Err(error) = self.start_next().await {
            tracing::error!(session = %self.id, %error, "cannot go on with the next message");
        }
        Ok(())
    }

    /// Keeps what was heard of an unfinished sentence, marks open calls, and ends the turn.
    async fn end(&mut self, outcome: Outcome) -> Result<(), StoreError> {
        let mut facts = Vec::new();
        if let Some(turn) = &self.state.turn {
            if let (Some(step), false) = (turn.step, self.draft.is_empty()) {
                facts.push(Fact::Answered(Answer {
                    step,
                    text: self.draft.text.clone(),
                    reasoning: self.draft.reasoning.clone(),
                    calls: Vec::new(),
                    usage: None,
                    partial: true,
                }));
            }
            let open = turn.calls.iter().cloned();
            facts.extend(open.map(|call| Fact::ToolReturned { call, output: Output::Interrupted }));
        }
        metrics::counter!("megaron_turns_total", "outcome" => name(&outcome)).increment(1);
        facts.push(Fact::TurnEnded(outcome));
        self.record(facts).await
    }

    /// Stores, then tells: nobody hears of a fact that could be lost.
    async fn record(&mut self, facts: Vec<Fact>) -> Result<(), StoreError> {
        if facts.is_empty() {
            return Ok(());
        }
        let at = self.ports.clock.now();
        let mut state = State::clone(&self.state);
        let mut entries = Vec::with_capacity(facts.len());
        let mut ends_draft = false;
        for fact in facts {
            ends_draft |= matches!(fact, Fact::Answered(_) | Fact::TurnEnded(_));
            let entry = Arc::new(Entry { seq: state.last.next(), at, fact });
            state.apply(&entry);
            entries.push(entry);
        }
        let (session, state) = (self.id, Arc::new(state));
        let batch = Batch { session, entries: entries.clone(), state: state.clone(), ends_draft };
        self.ports.log.append(batch).await?;
        metrics::counter!("megaron_facts_total").increment(entries.len() as u64);
        self.roster.update(self.id, &state, &entries);
        self.state = state;
        if ends_draft {
            self.draft = Draft::default();
        }
        for entry in entries {
            self.publish(Update::Fact(entry));
        }
        Ok(())
    }

    fn pass_on(&mut self, signal: Signal) {
        match &signal {
            Signal::Text { step, delta, .. } => {
                self.draft.step = *step;
                self.draft.text.push_str(delta);
            }
            Signal::Reasoning { step, delta, .. } => {
                self.draft.step = *step;
                self.draft.reasoning.push_str(delta);
            }
            Signal::Intent { .. } | Signal::Unrecorded { .. } => (),
        }
        let at = self.ports.clock.now();
        self.publish(Update::Signal { after: self.state.last, at, signal });
    }

    fn publish(&self, update: Update) {
        // An error only means that nobody is listening now.
        self.feed.send(Arc::new(Told::new(update))).ok();
    }
}

/// The running turn's next reports, none when it is over; waits for ever if no turn runs.
async fn next_reports(running: &mut Option<Running>, reports: &mut Vec<Report>) -> usize {
    match running {
        Some(running) => running.reports.recv_many(reports, BATCH).await,
        None => std::future::pending().await,
    }
}

fn repeated(entry: &Entry, message: &Message) -> Result<Receipt, SayError> {
    match &entry.fact {
        Fact::Said { message: said, .. } | Fact::Queued(said) if said.text == message.text => {
            Ok(Receipt { seq: entry.seq, queued: None, repeated: true })
        }
        _ => Err(SayError::KeyReused),
    }
}

fn failed(kind: Failure, reason: &str) -> Outcome {
    Outcome::Failed { kind, reason: reason.to_owned() }
}

fn name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Finished => "finished",
        Outcome::Cancelled => "cancelled",
        Outcome::Failed { .. } => "failed",
        Outcome::Interrupted => "interrupted",
    }
}
