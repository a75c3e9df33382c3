//! One connection of the Caco socket: what the client wishes goes in, what it may hear goes out.

mod desktops;
mod news;
mod shells;
mod windows;

use std::{
    collections::VecDeque,
    mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::extract::ws::Utf8Bytes;
use kernel::{
    applets::{AppletKey, Seat, Teller},
    desktop,
    feed::{Feed, Heard},
    host::OpenError,
    roster::News,
    update::{Seq, SessionId},
};
use serde_json::Value;
use tokio::sync::broadcast::{self, error::RecvError};

use super::{
    frames::Frame,
    hear::{Complaint, Place, Wish, hear},
    say::{self, Deltas, Line},
};
use crate::{App, frames::outbox::Outbox, shell::Shells, socket::Dialect};

/// How many frames are gathered before they are sent off together.
const GATHER: usize = 512;
/// How large they may become: whoever does not read them keeps them in memory.
const GATHER_BYTES: usize = 64 << 10;

pub struct Connection {
    app: Arc<App>,
    /// Tells our own changes from those of others.
    number: u64,
    client: String,
    news: broadcast::Receiver<News>,
    desktops: broadcast::Receiver<desktop::News>,
    /// Applets may listen here.
    _seat: Seat,
    deltas: Deltas,
    watching: Option<Watching>,
    /// A name it is subscribed to that nothing goes by yet, and whether something does now.
    awaited: Option<(SessionId, bool)>,
    /// Histories asked for, of sessions other than the one watched.
    histories: VecDeque<History>,
    /// News that belongs behind facts of the watched session not yet told.
    held: Vec<News>,
    /// What is said to the frames that this page shows.
    windows: Arc<Outbox>,
    /// Commands that run for this connection.
    shells: Shells,
    out: Vec<Utf8Bytes>,
}

/// The session this connection is subscribed to.
struct Watching {
    feed: Feed,
    /// The last of its facts that has been put into words.
    told: Seq,
    /// A request to tell its past.
    history: Option<Asked>,
    /// Whether the sentence being spoken is wanted from its beginning.
    join: bool,
}

struct History {
    asked: Asked,
    feed: Feed,
}

/// A request for history, to be answered when it is told.
struct Asked {
    session: String,
    id: Option<Value>,
}

impl Connection {
    pub fn new(app: Arc<App>, client: String) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        Self {
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            news: app.host.roster.listen(),
            desktops: app.host.devices.news(),
            _seat: app.host.applets.seat(),
            app,
            client,
            deltas: Deltas::default(),
            watching: None,
            awaited: None,
            histories: VecDeque::new(),
            held: Vec::new(),
            windows: Arc::default(),
            shells: Shells::default(),
            out: Vec::new(),
        }
    }

    async fn obey(&mut self, wish: Wish) -> Result<(), Complaint> {
        match wish {
            Wish::Nothing => (),
            Wish::Ping { id } => self.answer(&Frame::Pong { id: id.as_ref() }),
            Wish::Subscribe { session, after, deltas } => {
                self.deltas = deltas;
                self.subscribe(&session, after).await.map_err(|error| complain(None, &error))?;
            }
            Wish::History { session, after, id } => {
                let asked = Asked { session, id: id.clone() };
                self.history(asked, after).await.map_err(|error| complain(id, &error))?;
            }
            Wish::SetState { data, place, id } => {
                let named = place.session.is_some();
                let key = self.key(place, id.as_ref()).await?;
                // Without a subscription it is told to those who have none either.
                let told = if named { key.session } else { self.watched() };
                let teller = Teller { from: Some(self.number), frame: None };
                let pushed = self.app.host.applets.push(&key, data, told, teller).await;
                pushed.map_err(|error| complain(id, &error))?;
            }
            Wish::GetState { place, id } => {
                let key = self.key(place, id.as_ref()).await?;
                let state = self.app.host.applets.state(&key).await;
                let data = state.map_err(|error| complain(id.clone(), &error))?;
                self.answer(&Frame::State { id: id.as_ref(), data: &data });
            }
            Wish::HoldFrame { frame } => self.hold(&frame),
            Wish::FrameMessage { frame, message } => self.pass_on(&frame, message),
            Wish::FrameNote { frame, note } => self.note(&frame, note),
            Wish::Shell { id, order } => self.run(&id, order)?,
            Wish::ShellCancel { id } => self.stop(id)?,
        }
        Ok(())
    }

    async fn key(&self, place: Place, id: Option<&Value>) -> Result<AppletKey, Complaint> {
        if let Some(text) = &place.session {
            let known = SessionId::parse(text).and_then(|it| self.app.host.roster.get(it));
            if known.is_none() {
                let error = format!("Session not found: {text}");
                return Err(Complaint { id: id.cloned(), error });
            }
        }
        let key = self.app.clients.applet_key(&self.client, place, self.watched()).await;
        key.map_err(|error| complain(id.cloned(), &error))
    }

    /// A name nothing goes by is accepted: its events come if it appears.
    async fn subscribe(&mut self, session: &str, after: Option<Seq>) -> Result<(), OpenError> {
        self.release_all();
        (self.watching, self.awaited) = (None, None);
        let Some(id) = SessionId::parse(session) else { return Ok(()) };
        match self.app.host.feed(id, after).await {
            Ok(feed) => {
                self.watching = Some(Watching {
                    told: feed.last(),
                    feed,
                    history: None,
                    join: after.is_some(),
                });
            }
            Err(OpenError::Unknown(_)) => self.awaited = Some((id, false)),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// On the watched session the live feed starts over from the past, so that live events wait
    /// and nothing is told twice. Another session's past is told beside it.
    async fn history(&mut self, asked: Asked, after: Seq) -> Result<(), OpenError> {
        let id = SessionId::parse(&asked.session);
        let feed = match id {
            Some(id) => match self.app.host.feed(id, Some(after)).await {
                Ok(feed) => Some(feed),
                Err(OpenError::Unknown(_)) => None,
                Err(error) => return Err(error),
            },
            None => None,
        };
        let Some(feed) = feed else {
            self.complete(&asked, Seq(0));
            return Ok(());
        };
        if self.watched() != id {
            self.histories.push_back(History { asked, feed });
            return Ok(());
        }
        let before = self.watching.replace(Watching {
            told: feed.last(),
            feed,
            history: Some(asked),
            join: true,
        });
        // A request that this one overtakes is answered with it, not forgotten.
        if let Some(Watching { feed, history: Some(asked), .. }) = before {
            self.complete(&asked, feed.last());
        }
        Ok(())
    }

    /// The session it is subscribed to.
    pub fn watched(&self) -> Option<SessionId> {
        self.watching.as_ref().map(|watching| watching.feed.session().id())
    }

    fn tell(&mut self, heard: Option<Heard>) {
        if matches!(&heard, Some(Heard::Live(told)) if told.facts().next().is_some()) {
            self.spread_waiting();
        }
        let Some(Watching { feed, told, history, join }) = &mut self.watching else { return };
        let session = feed.session().id();
        // Whatever it is, it is what the feed has come to.
        *told = feed.last();
        match heard {
            Some(Heard::Past(entry)) => {
                gather(&mut self.out, self.deltas, &say::past(session, &entry));
            }
            Some(Heard::Live(told)) => {
                say::live(session, &told, |lines| gather(&mut self.out, self.deltas, lines));
            }
            Some(Heard::Now { last, draft }) => {
                let now = self.app.host.ports.clock.now();
                if let Some(draft) = draft.filter(|_| *join) {
                    let lines = say::draft(session, last, now, &draft);
                    gather(&mut self.out, self.deltas, &lines);
                }
                // From now on, whoever falls behind needs the whole sentence again.
                *join = true;
                if let Some(asked) = history.take() {
                    self.conclude(session, &asked, last);
                }
            }
            None => {
                self.watching = None;
                // Else it has nothing to do but to wait for the goodbye.
                if !self.app.host.is_closing() {
                    let error = "The session is closed; subscribe again to go on.";
                    self.answer(&Frame::Error { id: None, error });
                }
            }
        }
        self.release();
    }

    fn tell_history(&mut self, heard: Option<Heard>) {
        let Some(History { feed, .. }) = self.histories.front() else { return };
        let session = feed.session().id();
        match heard {
            Some(Heard::Past(entry)) => {
                gather(&mut self.out, self.deltas, &say::past(session, &entry));
            }
            Some(Heard::Live(_)) => (),
            Some(Heard::Now { last, draft }) => {
                let now = self.app.host.ports.clock.now();
                if let Some(draft) = draft {
                    let lines = say::draft(session, last, now, &draft);
                    gather(&mut self.out, self.deltas, &lines);
                }
                if let Some(History { asked, .. }) = self.histories.pop_front() {
                    self.conclude(session, &asked, last);
                }
            }
            None => {
                if let Some(History { asked, feed }) = self.histories.pop_front() {
                    self.complete(&asked, feed.last());
                }
            }
        }
    }

    /// The past is told: what the session holds in mind, and that this was all.
    fn conclude(&mut self, session: SessionId, asked: &Asked, last: Seq) {
        let state = self.app.host.roster.get(session);
        if let Some(state) = state.filter(|state| !state.context.is_empty()) {
            let now = self.app.host.ports.clock.now();
            self.out.push(say::context(session, last, now, &state.context).text);
        }
        self.complete(asked, last);
    }

    fn complete(&mut self, Asked { session, id }: &Asked, seq: Seq) {
        self.answer(&Frame::HistoryComplete { session_id: session, seq, id: id.as_ref() });
    }

    fn answer(&mut self, frame: &Frame<'_>) {
        self.out.push(say::write(frame).text);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.app.frames.leave(self.number);
    }
}

impl Dialect for Connection {
    async fn hear(&mut self, frame: &[u8]) {
        let obeyed = match hear(frame) {
            Ok(wish) => self.obey(wish).await,
            Err(complaint) => Err(complaint),
        };
        if let Err(Complaint { id, error }) = obeyed {
            self.answer(&Frame::Error { id: id.as_ref(), error: &error });
        }
    }

    async fn say(&mut self, out: &mut Vec<Utf8Bytes>) {
        if let Some((session, true)) = self.awaited {
            let feed = self.app.host.feed(session, Some(Seq(0))).await.ok();
            // Should it be gone again, there is nothing to hear.
            self.watching =
                feed.map(|feed| Watching { told: feed.last(), feed, history: None, join: true });
            self.awaited = None;
        }
        if self.out.is_empty() {
            let history = next(self.histories.front_mut().map(|history| &mut history.feed));
            let watched = self.watching.as_mut().map(|watching| &mut watching.feed);
            tokio::select! {
                biased;
                news = self.news.recv() => match news {
                    Ok(news) => self.spread(news),
                    Err(RecvError::Lagged(_)) => self.out.push(say::missed_news().text),
                    Err(RecvError::Closed) => std::future::pending().await,
                },
                heard = next(watched) => self.tell(heard),
                news = self.desktops.recv() => match news {
                    Err(RecvError::Closed) => std::future::pending().await,
                    news => self.spread_desktop(news.ok()),
                },
                lines = self.windows.take() => self.out.extend(lines),
                heard = history => self.tell_history(heard),
                piece = self.shells.next() => self.out.push(piece),
            }
        }
        self.gather_more();
        mem::swap(out, &mut self.out);
    }
}

impl Connection {
    /// Everything else that can be said without waiting goes out with it, unless it is much.
    fn gather_more(&mut self) {
        let (mut count, mut bytes) = (0, 0);
        loop {
            bytes += self.out[count..].iter().map(|line| line.len()).sum::<usize>();
            count = self.out.len();
            if count >= GATHER || bytes >= GATHER_BYTES || !self.tell_more() {
                return;
            }
        }
    }

    /// Tells one more thing, if that can be done without waiting.
    fn tell_more(&mut self) -> bool {
        let watched = self.watching.as_mut().and_then(|watching| watching.feed.next_now());
        if watched.is_some() {
            self.tell(watched);
            return true;
        }
        let past = self.histories.front_mut().and_then(|history| history.feed.next_now());
        let more = past.is_some();
        if more {
            self.tell_history(past);
        }
        more
    }
}

async fn next(feed: Option<&mut Feed>) -> Option<Heard> {
    match feed {
        Some(feed) => feed.next().await,
        None => std::future::pending().await,
    }
}

fn gather(out: &mut Vec<Utf8Bytes>, deltas: Deltas, lines: &[Line]) {
    out.extend(lines.iter().filter(|line| deltas.include(line)).map(|line| line.text.clone()));
}

fn complain(id: Option<Value>, error: &dyn std::error::Error) -> Complaint {
    Complaint { id, error: error.to_string() }
}
