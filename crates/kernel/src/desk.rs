//! The session's own side of its handle: one task, one log, one writer.

mod arranging;
mod ending;
mod opening;
mod questions;
mod recording;
mod rewinding;

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{
    sync::{broadcast, mpsc, oneshot, watch},
    task::JoinHandle,
    time::Instant,
};
use uuid::Uuid;

use crate::{
    approvals::Approvals,
    apps::Seat,
    budget::Purse,
    feed::{Draft, Following, Told},
    ports::{Ports, StoreError},
    question::Verdict,
    roster::Roster,
    session::{QUEUE_DEPTH, Receipt, SayError, Session},
    state::{OpenQuestion, State},
    turn::{Report, Turn, TurnError},
    update::{
        Amendment, Command, Entry, Fact, Message, Outcome, Seq, SessionId, Signal, Update, Usage,
        WhenBusy,
    },
};

pub(crate) use opening::Opening;

/// How many batches of updates a slow listener may fall behind before it must reread the log.
const FEED_DEPTH: usize = 64;
/// How many reports of a turn are handled before wishes are looked at again.
const BATCH: usize = 64;
/// How often a turn makes way, after each batch, for listeners that make nothing of it.
const PATIENCE: usize = 32;
/// How long it makes way at most for those that do.
const PACE: Duration = Duration::from_millis(1);
/// How soon a turn that could not be recorded as ended is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// The only writer of its log.
struct Desk {
    id: SessionId,
    ports: Ports,
    roster: Arc<Roster>,
    approvals: Arc<Approvals>,
    purse: Arc<Purse>,
    seat: Seat,
    rest: Duration,
    attempts: u32,
    state: Arc<State>,
    feed: broadcast::Sender<Arc<Told>>,
    /// Weak, or the session would keep itself open.
    inbox: mpsc::WeakSender<Command>,
    alive: watch::Receiver<()>,
    /// Like what follows not made of facts.
    draft: Draft,
    /// Who waits for the answers to open questions.
    waiting: HashMap<Uuid, oneshot::Sender<Verdict>>,
    /// What the model has said it used, and of which model, until that is on record.
    heard: Option<(String, Usage)>,
    running: Option<Running>,
    /// How a turn ended that could not be recorded, for want of storage.
    owed: Option<Outcome>,
    /// What has expired could not be recorded, for want of storage.
    overdue: bool,
    closing: bool,
    left: bool,
    used: Instant,
    _life: watch::Sender<()>,
}

/// Dropping this forgets the turn, and with it whatever it had still to report.
struct Running {
    task: JoinHandle<Result<(), TurnError>>,
    reports: mpsc::Receiver<Report>,
    /// Answers that came before a turn that was taken up again had put its questions again.
    early: Vec<(OpenQuestion, Verdict)>,
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
            let patience = self.patience();
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
                () = tokio::time::sleep(patience.unwrap_or_default()), if patience.is_some() => {
                    let expired = self.expire().await;
                    self.overdue = expired.is_err();
                    if let Err(error) = expired {
                        tracing::error!(session = %self.id, %error, "cannot let a question expire");
                    }
                }
                () = tokio::time::sleep_until(resting), if open && self.running.is_none() => {
                    let waits = self.owed.is_some() || !self.state.questions.is_empty();
                    if self.feed.receiver_count() == 0 && !waits {
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
            Command::Unqueue { place, reply } => {
                reply.send(self.unqueue(place).await).ok();
            }
            Command::Compact { reply } => {
                reply.send(self.compact().await).ok();
            }
            Command::Amend { amendment, reply } => {
                reply.send(self.amend(amendment).await).ok();
            }
            Command::Observe { reply } => {
                reply.send(self.observe().await).ok();
            }
            Command::Ask { question, reply } => self.ask(question, reply).await,
            Command::Settle { question, verdict, by, reply } => {
                reply.send(self.settle_question(question, verdict, by).await).ok();
            }
            Command::Plan { plan, reply } => {
                let facts = plan.facts(self.state.task.as_ref(), || self.ports.clock.id());
                reply.send(self.record(facts).await).ok();
            }
            Command::Lend { to, model, usage, reply } => {
                reply.send(self.record(vec![Fact::ModelLent { to, model, usage }]).await).ok();
            }
            Command::Show { embed, reply } => {
                reply.send(self.record(vec![Fact::Embedded(embed)]).await).ok();
            }
            Command::Arrange { wish, by, reply } => {
                reply.send(self.arrange(wish, &by).await).ok();
            }
            Command::Windows { reply } => {
                reply.send(self.windows().await).ok();
            }
            Command::NoteApps { facts, reply } => {
                reply.send(self.note_apps(facts).await).ok();
            }
            Command::NoteDesktop { fact, reply } => {
                reply.send(self.record(vec![Fact::Desktop(Box::new(fact))]).await).ok();
            }
            Command::NoteWidgets { facts, reply } => {
                reply.send(self.note_widgets(facts).await).ok();
            }
            Command::Tell(signal) => self.pass_on(signal),
            Command::Follow { reply } => {
                let draft = (!self.draft.is_empty()).then(|| self.draft.clone());
                let live = self.feed.subscribe();
                reply.send(Following { last: self.state.last, draft, live }).ok();
            }
            Command::Close { now } => {
                self.closing = true;
                let pausing = self.state.awaits_person() && self.is_still();
                if pausing {
                    // As after a crash, it goes on from the question.
                    self.running = None;
                } else if now && self.cut_short() {
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
        if let Some(place) = message.replaces {
            return self.say_instead(place, message).await;
        }
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

    async fn unqueue(&mut self, place: Seq) -> Result<bool, StoreError> {
        if !self.state.queue.contains(&place) {
            return Ok(false);
        }
        self.record(vec![Fact::Unqueued { queued: place }]).await?;
        Ok(true)
    }

    async fn amend(&mut self, amendment: Amendment) -> Result<(), StoreError> {
        let Amendment { name, env_hint, context, model, mode } = amendment;
        let mut facts = Vec::new();
        facts.extend(mode.map(|mode| Fact::ModeChanged { mode }));
        facts.extend(model.map(|model| Fact::ModelChanged { model }));
        facts.extend(name.map(|name| Fact::Renamed { name }));
        facts.extend(env_hint.map(|hint| Fact::EnvHinted { hint }));
        facts.extend(context.map(|change| self.state.changed_by(change)));
        self.record(facts).await
    }

    async fn observe(&mut self) -> Result<bool, StoreError> {
        if !self.state.unobserved {
            return Ok(false);
        }
        self.record(vec![Fact::Observed]).await?;
        Ok(true)
    }

    /// Sums up the past, unless something is going on.
    async fn compact(&mut self) -> Result<bool, StoreError> {
        self.settle().await?;
        if self.closing || self.state.is_busy() || !self.state.has_messages() {
            return Ok(false);
        }
        self.record(vec![Fact::CompactionStarted]).await?;
        let state = self.state.clone();
        self.start(String::new(), |turn| turn.sum_up(state));
        Ok(true)
    }

    /// Records that a message was spoken and starts the turn that answers it.
    async fn begin(&mut self, message: Message, queued: Option<Seq>) -> Result<(), StoreError> {
        self.begin_after(Vec::new(), message, queued).await
    }

    /// The same right after these facts, all of it or nothing.
    async fn begin_after(
        &mut self,
        mut facts: Vec<Fact>,
        message: Message,
        queued: Option<Seq>,
    ) -> Result<(), StoreError> {
        let flow = message.flow.clone();
        facts.push(Fact::Said { message, queued });
        self.record(facts).await?;
        let state = self.state.clone();
        self.start(flow, |turn| turn.run(state));
        Ok(())
    }

    fn start<F>(&mut self, flow: String, work: impl FnOnce(Turn) -> F)
    where
        F: Future<Output = Result<(), TurnError>> + Send + 'static,
    {
        let Some(inbox) = self.inbox.upgrade() else { return };
        let log = self.ports.log.clone();
        let session = Session { id: self.id, inbox, log, life: self.alive.clone() };
        let (sender, reports) = mpsc::channel(BATCH);
        let cwd = self.ports.cwd(&self.state.cwd);
        let (ports, attempts, purse) = (self.ports.clone(), self.attempts, self.purse.clone());
        let (approvals, roster) = (self.approvals.clone(), self.roster.clone());
        let turn =
            Turn { ports, purse, approvals, roster, session, cwd, flow, attempts, reports: sender };
        let task = tokio::spawn(work(turn));
        self.running = Some(Running { task, reports, early: Vec::new() });
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
        let mut signals = Vec::new();
        for report in reports {
            match report {
                Report::Signal(signal) => signals.push(self.note(signal)),
                Report::Used { model, usage } => self.heard = Some((model, usage)),
                Report::Fact(fact, stored) => {
                    self.publish(std::mem::take(&mut signals));
                    match self.record(vec![fact]).await {
                        Ok(()) => drop(stored.send(self.state.last)),
                        Err(error) => return self.give_up(&error),
                    }
                }
            }
        }
        self.publish(signals);
        self.make_way().await;
        // A sentence that was finished within this batch needs no note.
        let new = if self.draft.step == step { from } else { 0 };
        if let Some(text) = self.draft.text.get(new..)
            && !text.is_empty()
        {
            self.ports.log.draft(self.id, text);
        }
    }

    /// Lets listeners catch up that only want for the processor. One that is stuck costs a moment,
    /// one that is slow a little of the pace, and nothing ever waits for either.
    async fn make_way(&self) {
        let (mut behind, mut idle, began) = (self.feed.len(), 0, Instant::now());
        while behind > FEED_DEPTH / 2 && idle < PATIENCE && began.elapsed() < PACE {
            tokio::task::yield_now().await;
            let now = self.feed.len();
            idle = if now < behind { 0 } else { idle + 1 };
            behind = now;
        }
    }

    fn pass_on(&mut self, signal: Signal) {
        let update = self.note(signal);
        self.publish(vec![update]);
    }

    /// Remembers what belongs to the sentence being spoken.
    fn note(&mut self, signal: Signal) -> Update {
        match &signal {
            Signal::Text { step, delta, .. } => {
                self.draft.step = *step;
                self.draft.text.push_str(delta);
            }
            Signal::Reasoning { step, delta, .. } => {
                self.draft.step = *step;
                self.draft.reasoning.push_str(delta);
            }
            Signal::Intent { .. }
            | Signal::Calling { .. }
            | Signal::Printed { .. }
            | Signal::Progress { .. }
            | Signal::Retrying { .. }
            | Signal::App(_)
            | Signal::WidgetTools { .. }
            | Signal::Writing { .. }
            | Signal::NearBudget(_)
            | Signal::ReloadWanted
            | Signal::Unrecorded { .. } => (),
        }
        Update::Signal { after: self.state.last, at: self.ports.clock.now(), signal }
    }

    fn publish(&self, updates: Vec<Update>) {
        if !updates.is_empty() {
            // An error only means that nobody is listening now.
            self.feed.send(Arc::new(Told::new(updates))).ok();
        }
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
        Fact::Said { message: said, .. } | Fact::Queued(said)
            if (&said.text, said.replaces) == (&message.text, message.replaces) =>
        {
            Ok(Receipt { seq: entry.seq, queued: None, repeated: true })
        }
        _ => Err(SayError::KeyReused),
    }
}
