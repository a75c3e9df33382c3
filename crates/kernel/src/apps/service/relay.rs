//! The task behind the App Protocol of one session.

use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, Weak},
    time::Duration,
};

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};

use super::{
    Line, Observed, Wish, Wishes, Word,
    gazette::Gazette,
    saving::{Saving, Unsaved},
};
use crate::{
    apps::{
        Abilities, AppFact, Apps, Offers, Touched,
        protocol::{
            Answer, CallId, Connection, Effect, Input, Limits, Machine, Notice, Outgoing, Record,
            Shown, Standing, WindowEvent,
        },
    },
    host::Host,
    ports::{Clock, Log, StoreError},
    update::{Entry, Fact, Message, Origin, Seq, SessionId, WhenBusy},
    windows::{Content, Operation, Renderer, WindowChange},
};

/// How much of the log is in memory at a time.
const PAGE: usize = 128;
/// How soon what could not be stored or read is tried again.
const RETRY: Duration = Duration::from_secs(5);

pub(super) fn start(host: &Arc<Host>, apps: Arc<Apps>, session: SessionId) -> Wishes {
    let (wishes, heard) = mpsc::unbounded_channel();
    let (clock, log) = (host.ports.clock.clone(), host.ports.log.clone());
    let host = Arc::downgrade(host);
    let work = async move {
        let Some((record, read)) = read(&host, &*log, session).await else {
            return apps.leave(session);
        };
        let dice = clock.clone();
        let (machine, effects) = Machine::resume(record, move || dice.bits(), clock.now());
        let mut relay = Relay {
            saving: Saving::new(host.clone(), session),
            gazette: Gazette::new(host.clone(), session),
            host,
            apps,
            session,
            clock,
            machine,
            read,
            lines: BTreeMap::new(),
            callers: BTreeMap::new(),
            failed: None,
            offered: Offers::new(),
        };
        relay.carry_out(effects);
        relay.run(heard).await;
    };
    tokio::spawn(work);
    wishes
}

struct Relay {
    host: Weak<Host>,
    apps: Arc<Apps>,
    session: SessionId,
    clock: Arc<dyn Clock>,
    machine: Machine,
    /// The last fact that was read from the log: what is heard again of it is not news.
    read: Seq,
    lines: BTreeMap<Connection, Arc<dyn Line>>,
    callers: BTreeMap<CallId, oneshot::Sender<Answer>>,
    saving: Saving<Held>,
    gazette: Gazette,
    /// When it is tried again to store what could not be.
    failed: Option<Timestamp>,
    /// What the rest of the house was told last.
    offered: Offers,
}

/// What is said only when all before it is safe.
enum Held {
    Request(Connection, Outgoing),
    Reply(CallId, Answer),
}

impl Relay {
    async fn run(mut self, mut wishes: mpsc::UnboundedReceiver<Wish>) {
        while !self.is_over(&wishes) {
            if self.failed.is_none() {
                self.saving.begin();
            }
            self.gazette.begin(self.clock.now(), self.machine.is_idle(), &self.apps);
            let alarms = self.machine.alarm().into_iter().chain(self.failed);
            let alarm = alarms.chain(self.gazette.alarm()).min();
            let clock = self.clock.clone();
            let ring = async move {
                match alarm {
                    Some(at) => clock.until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                wish = wishes.recv() => match wish {
                    Some(wish) => self.obey(wish),
                    // The session is gone.
                    None => return self.gone(),
                },
                stored = self.saving.stored() => match stored {
                    Ok(()) => self.release(),
                    Err(Unsaved::Failed(why)) => self.unsaved(&why),
                    Err(Unsaved::Gone) => {
                        self.apps.leave(self.session);
                        return self.gone();
                    }
                },
                () = self.gazette.told() => (),
                () = ring => {
                    self.failed.take_if(|at| *at <= self.clock.now());
                    self.step(Input::Tick);
                }
            }
        }
    }

    /// What could be done in its apps cannot be done any more.
    fn gone(&self) {
        if !self.offered.is_empty() {
            self.apps.offer(self.session, Offers::new());
        }
    }

    /// Whether nobody is left, and nobody can come any more: then the next begins another.
    fn is_over(&self, wishes: &mpsc::UnboundedReceiver<Wish>) -> bool {
        let is_told = self.saving.is_done() && self.gazette.is_done();
        let is_idle = self.machine.is_idle() && self.callers.is_empty() && is_told;
        is_idle && self.apps.leave_if(self.session, || wishes.is_empty())
    }

    fn obey(&mut self, wish: Wish) {
        let input = match wish {
            Wish::Join { connection, line } => {
                self.lines.insert(connection, line);
                Input::Joined(connection)
            }
            Wish::Leave(connection) => {
                self.lines.remove(&connection);
                Input::Left(connection)
            }
            Wish::Ready { connection, window, monitor, instance, replayed } => {
                Input::Ready { connection, window, monitor, instance, replayed }
            }
            Wish::Answered { connection, request, window, response } => {
                Input::Answered { connection, request, window, response }
            }
            Wish::Remarked { connection, window, monitor, remark } => {
                Input::Remarked { connection, window, monitor, remark }
            }
            Wish::Observe { window, monitor, reply } => {
                let standing = self.machine.standing(&window, monitor.as_deref());
                let news = |standing: &Standing| self.gazette.of(&standing.window);
                let seen = standing.map(|it| Observed { news: news(&it), standing: it });
                // Who asked may have left.
                reply.send(seen).ok();
                return;
            }
            Wish::Call { called, reply } => {
                self.callers.insert(called.call, reply);
                Input::Called(called)
            }
            Wish::Touched { connection, window, monitor } => {
                Input::Touched { connection, window, monitor }
            }
            Wish::Hands { wish, reply } => {
                self.callers.extend(wish.call.zip(reply));
                Input::Hands(wish)
            }
            Wish::Await { call, window, attended, reply } => {
                self.callers.insert(call, reply);
                Input::Awaited { call, window, monitor: None, attended }
            }
            Wish::Undo { undo, reply } => {
                self.callers.insert(undo.call, reply);
                Input::Undo(undo)
            }
            Wish::Abandon(call) => {
                self.callers.remove(&call);
                Input::Abandoned(call)
            }
            Wish::Heard(entries) => return self.heard(&entries),
        };
        self.step(input);
    }

    fn heard(&mut self, entries: &[Arc<Entry>]) {
        let read = self.read;
        for entry in entries.iter().filter(|entry| entry.seq > read) {
            if let Fact::App(fact) = &entry.fact
                && matches!(**fact, AppFact::Interaction { .. })
            {
                self.step(Input::Told((**fact).clone()));
            }
            for event in events(&entry.fact, self.machine.record()) {
                self.step(Input::Window(event));
            }
        }
    }

    fn step(&mut self, input: Input) {
        let effects = self.machine.step(self.clock.now(), input);
        self.carry_out(effects);
        self.offer();
    }

    /// Lets the rest of the house know what can be done in apps, if that is not what it was.
    fn offer(&mut self) {
        let offers = self.machine.offers();
        let before = mem::replace(&mut self.offered, offers);
        let offers = &self.offered;
        // Most often they are the very same, and need not be looked at.
        let is_old = |window: &str, abilities: &Arc<Abilities>| {
            let old = before.get(window);
            old.is_some_and(|old| Arc::ptr_eq(old, abilities) || old == abilities)
        };
        let new = offers.iter().filter(|(window, abilities)| !is_old(window, abilities));
        let new: Vec<String> = new.map(|(window, _)| window.clone()).collect();
        if new.is_empty() && offers.len() == before.len() {
            return;
        }
        self.apps.offer(self.session, offers.clone());
        for window in new {
            self.touch(window, None);
        }
    }

    fn touch(&self, window: String, keys: Option<Vec<String>>) {
        self.apps.touch(Touched { session: self.session, window, keys });
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Record(fact) => self.saving.note(fact),
                Effect::Send { connection, request, safe: true } => {
                    self.saving.hold(Held::Request(connection, request));
                }
                Effect::Send { connection, request, safe: false } => self.send(connection, request),
                Effect::Reply { call, answer, safe: true } => {
                    self.saving.hold(Held::Reply(call, answer));
                }
                Effect::Reply { call, answer, safe: false } => self.reply(call, answer),
                Effect::Touch { window, keys } => self.touch(window, keys),
                Effect::Tell(notice) => self.tell(notice),
                Effect::News { window, what, tool_call } => {
                    self.gazette.note(self.clock.now(), &window, what, tool_call);
                }
                Effect::Warn(text) => tracing::warn!(session = %self.session, "{text}"),
            }
        }
        self.release();
    }

    /// Says what has become safe to say.
    fn release(&mut self) {
        while let Some(held) = self.saving.freed() {
            match held {
                Held::Request(connection, request) => self.send(connection, request),
                Held::Reply(call, answer) => self.reply(call, answer),
            }
        }
    }

    /// Nothing is sent that is not on record. What has happened is told, for it has.
    fn unsaved(&mut self, why: &str) {
        tracing::error!(session = %self.session, why, "cannot record what happens in apps");
        self.failed = Some(self.clock.now() + RETRY);
        let mut replays = Vec::new();
        loop {
            let given_up = self.saving.give_up();
            if given_up.is_empty() {
                break;
            }
            for held in given_up {
                match held {
                    Held::Request(connection, request) if request.is_replay() => {
                        replays.push(Held::Request(connection, request));
                    }
                    Held::Request(_, Outgoing { request, .. }) => {
                        self.step(Input::Unrecorded { request, why: why.to_owned() });
                    }
                    Held::Reply(call, answer) => self.reply(call, answer),
                }
            }
        }
        // An app that is brought up to date waits, rather than miss all that it lacks.
        for replay in replays {
            self.saving.hold(replay);
        }
    }

    fn send(&self, connection: Connection, request: Outgoing) {
        if let Some(line) = self.lines.get(&connection) {
            line.tell(Word::Request(request));
        }
    }

    fn reply(&mut self, call: CallId, answer: Answer) {
        if let Some(reply) = self.callers.remove(&call) {
            // Who asked may have left.
            reply.send(answer).ok();
        }
    }

    /// Brings the agent what it waits for; what it may only like to know, it is told in its next turn.
    fn tell(&mut self, Notice { window, app, text, awaited }: Notice) {
        if !awaited {
            let (app_id, content, instructions) = (app, text, None);
            let inform = true;
            let fact = AppFact::Interaction { window, content, instructions, app_id, inform };
            return self.saving.note(fact);
        }
        let Some(host) = self.host.upgrade() else { return };
        let session = self.session;
        let id = app.unwrap_or_else(|| window.clone());
        let origin = Origin::App { id, window: Some(window) };
        let message = Message { origin, ..Message::from_user(text) };
        tokio::spawn(async move {
            if let Err(error) = host.post(session, message, WhenBusy::Queue).await {
                tracing::warn!(%session, %error, "cannot tell what has become of an app");
            }
        });
    }
}

/// What the log says, and up to where it was read. None if there is nothing to be read any more.
async fn read(host: &Weak<Host>, log: &dyn Log, session: SessionId) -> Option<(Record, Seq)> {
    loop {
        let from = host.upgrade()?.roster.get(session)?.windows_from;
        match fold(log, session, from).await {
            Ok(read) => return Some(read),
            Err(error) => {
                tracing::error!(%session, %error, "cannot read what happened in apps");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

async fn fold(
    log: &dyn Log,
    session: SessionId,
    from: Option<Seq>,
) -> Result<(Record, Seq), StoreError> {
    let mut record = Record::new(Limits::default());
    let Some(mut read) = from.map(Seq::before) else { return Ok((record, Seq::default())) };
    loop {
        let page = log.read(session, read, PAGE).await?;
        let Some(newest) = page.last() else { return Ok((record, read)) };
        read = newest.seq;
        for entry in &page {
            match &entry.fact {
                Fact::App(fact) => drop(record.apply(fact)),
                fact => {
                    for event in events(fact, &record) {
                        record.seen(&event);
                    }
                }
            }
        }
    }
}

/// What a fact says of windows, as far as apps and hands go.
fn events(fact: &Fact, record: &Record) -> Vec<WindowEvent> {
    let driven = match fact {
        Fact::WindowChanged { window, change, by } if change.drives(by) => {
            Some(WindowEvent::Driven { window: window.clone() })
        }
        Fact::TurnEnded(_) => Some(WindowEvent::TurnEnded),
        _ => None,
    };
    driven.into_iter().chain(event(fact, record)).collect()
}

/// What a fact says of a window to the apps in it.
fn event(fact: &Fact, record: &Record) -> Option<WindowEvent> {
    match fact {
        Fact::WindowOpened(window) => {
            let shown = Shown { app: window.app.clone(), ..shown(&window.content) };
            Some(WindowEvent::Opened { window: window.key(), shown })
        }
        Fact::WindowChanged { window, change, .. } => {
            let shown = match change {
                WindowChange::Content { content } => shown(content),
                WindowChange::Updated { operation: Operation::Replace { data } } => {
                    record.window(window)?.shown.frame.as_ref()?;
                    let content = Content { renderer: Renderer::Iframe, data: data.clone() };
                    shown(&content.checked().ok()?)
                }
                _ => return None,
            };
            Some(WindowEvent::Changed { window: window.clone(), shown })
        }
        Fact::WindowClosed { window, .. } => Some(WindowEvent::Closed { window: window.clone() }),
        _ => None,
    }
}

fn shown(content: &Content) -> Shown {
    let is_frame = content.renderer == Renderer::Iframe;
    let frame = is_frame.then(|| content.data.clone());
    Shown { frame, app: content.app().map(str::to_owned) }
}
