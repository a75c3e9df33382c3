//! One connection that shows the windows of a session: what it wishes goes in, what it may hear goes out.

use std::{collections::HashMap, mem, sync::Arc};

use axum::extract::ws::Utf8Bytes;
use kernel::{
    apps::{Asked, Attendance, Line, Word},
    feed::{Draft, Feed, Heard},
    host::{Host, OpenError},
    update::{Entry, Fact, SessionId},
    windows::Windows,
};
use tokio::sync::mpsc;

use super::{
    frames::{self, Frame, Request},
    hear::{Wish, hear, is_reply},
    say::{self, Interest, Teller, hands::Hands},
    wishes,
};
use crate::{App, frames::allowance::Allowance, socket::Dialect};

/// How many frames are gathered before they are sent off together.
const GATHER: usize = 256;
/// How much may wait to be said to apps. What does not fit is lost, and is found out in time.
const WAITING: usize = 1024;

pub struct Party {
    pub(super) app: Arc<App>,
    interest: Interest,
    /// Whether the session is the one that is followed in another dialect.
    following: bool,
    monitor: Option<String>,
    /// Whether it wants to hear whose hands windows are in.
    hands: bool,
    joined: Option<Joined>,
    /// How much each app may say yet.
    pub(super) allowances: HashMap<String, Allowance>,
    out: Outgoing,
}

struct Joined {
    feed: Feed,
    teller: Teller,
    attendance: Attendance,
    words: mpsc::Receiver<Word>,
}

/// Where what is said to this connection waits until it is sent.
struct Ear(mpsc::Sender<Word>);

impl Line for Ear {
    fn tell(&self, word: Word) {
        if self.0.try_send(word).is_err() {
            tracing::debug!("a request to an app found nobody who listens");
        }
    }
}

/// What is ready to be sent, and how much was.
#[derive(Default)]
struct Outgoing {
    lines: Vec<Utf8Bytes>,
    count: u64,
}

impl Outgoing {
    /// To this connection alone.
    fn answer(&mut self, frame: &Frame<'_>) {
        self.lines.push(frames::write(frame, None).into());
    }

    /// As to everybody.
    fn tell(&mut self, frame: &Frame<'_>) {
        self.count += 1;
        self.lines.push(frames::write(frame, Some(self.count)).into());
    }
}

impl Party {
    pub fn new(app: Arc<App>, interest: Interest) -> Self {
        let (following, monitor, joined) = (false, None, None);
        let (allowances, out) = (HashMap::new(), Outgoing::default());
        let hands = false;
        Self { app, interest, following, monitor, hands, joined, allowances, out }
    }

    pub fn session(&self) -> Option<SessionId> {
        self.joined.as_ref().map(|joined| joined.feed.session().id())
    }

    /// Tells of this session from now on, if it was asked to tell of whatever is followed.
    pub async fn follow(&mut self, session: Option<SessionId>) {
        if self.following && self.session() != session {
            self.join(session).await;
        }
    }

    /// Tells who has come where they are and what is open there, and then what happens.
    pub async fn join(&mut self, session: Option<SessionId>) {
        self.joined = None;
        let Some(session) = session else { return };
        match settle(&self.app.host, session).await {
            Ok((feed, windows)) => {
                self.welcome(session, &windows).await;
                let (line, words) = mpsc::channel(WAITING);
                let mut teller = Teller::new(self.interest, self.monitor.clone());
                if self.hands {
                    let (hands, words) = Hands::of(&windows);
                    teller.hands = Some(hands);
                    teller.tell_hands(&words, &mut |frame| self.out.answer(frame));
                }
                drop(windows);
                let attended = self.app.host.attend(session, Arc::new(Ear(line)));
                self.joined =
                    attended.ok().map(|attendance| Joined { feed, teller, attendance, words });
            }
            // It may be gone by now.
            Err(error) => self.complain(&error.to_string()),
        }
    }

    async fn welcome(&mut self, session_id: SessionId, windows: &Windows) {
        let state = self.app.host.roster.get(session_id);
        let provider = state.as_ref().map(|state| state.model.as_str()).unwrap_or_default();
        let monitor = self.monitor.as_deref();
        let seen = |name: &str| monitor.is_none_or(|wanted| say::same(wanted, name));
        let panes = windows.list().into_iter().map(|pane| &*pane.window);
        let shown: Vec<_> = panes.filter(|window| seen(&window.monitor)).collect();
        let (status, windows) = ("connected", shown.len());
        self.out.answer(&Frame::ConnectionStatus { status, provider, session_id, windows });
        if !shown.is_empty() {
            self.out.answer(&say::snapshot(shown.into_iter()));
        }
        if self.interest == Interest::Everything {
            self.ask_again(session_id).await;
        }
    }

    /// What waits for the person here waits for whoever has come as well.
    async fn ask_again(&mut self, session: SessionId) {
        let open = self.app.host.questions().await.unwrap_or_else(|error| {
            tracing::warn!(%session, %error, "cannot tell what is asked");
            Vec::new()
        });
        for waiting in open.iter().filter(|it| it.session == session) {
            self.out.answer(&say::asked(&waiting.question));
        }
    }

    /// Whatever it holds; what means nothing is noted and has no effect.
    pub async fn hear(&mut self, frame: &[u8]) {
        match hear(frame) {
            Ok(Wish::Nothing) => (),
            Ok(Wish::Join { monitor, session, hands }) => self.look(monitor, session, hands).await,
            Ok(wish) => wishes::obey(self, wish).await,
            Err(why) => tracing::debug!(why, "a frame of the App Protocol means nothing"),
        }
    }

    async fn look(&mut self, monitor: Option<String>, session: Option<String>, hands: bool) {
        let same = self.monitor == monitor && self.hands == hands;
        self.monitor = monitor;
        self.hands = hands;
        match session {
            Some(name) => {
                self.following = false;
                let known = SessionId::parse(&name);
                self.join(known.filter(|id| self.app.host.roster.get(*id).is_some())).await;
            }
            // Who came by name stays there, and looks elsewhere on it.
            None if self.interest == Interest::Everything && same => (),
            None if self.interest == Interest::Everything => self.join(self.session()).await,
            None => {
                self.following = true;
                self.joined = None;
            }
        }
    }

    /// Tells all that is said to and by the app in a window from now on; or no longer.
    pub(super) fn inspect(&mut self, window: Option<String>) {
        let window_id = window.as_deref();
        self.out.answer(&Frame::AppProtocolInspecting { window_id });
        if let Some(joined) = &mut self.joined {
            joined.teller.inspects = window;
        }
    }

    /// Its place among those who show the windows of its session.
    pub(super) fn attendance(&self) -> Option<&Attendance> {
        self.joined.as_ref().map(|joined| &joined.attendance)
    }

    pub(super) fn monitor(&self) -> Option<String> {
        self.monitor.clone()
    }

    fn ask(&mut self, Word::Request(asked): Word) {
        let request = match &asked.asked {
            Asked::Manifest => Request::Manifest,
            Asked::Query { state_key } => Request::Query { state_key },
            Asked::Command { command, params } => {
                Request::Command { command, params: params.as_ref() }
            }
        };
        let (request_id, window_id) = (&*asked.request, &*asked.window);
        let (instance, position) = (asked.instance.as_deref(), asked.position);
        self.out.tell(&Frame::AppProtocolRequest {
            request_id,
            window_id,
            request,
            instance,
            position,
        });
    }

    pub(super) fn answer(&mut self, frame: &Frame<'_>) {
        self.out.answer(frame);
    }

    pub(super) fn complain(&mut self, error: &str) {
        self.answer(&Frame::Error { error });
    }

    fn tell(&mut self, heard: Option<Heard>) {
        let Some(Joined { teller, .. }) = &mut self.joined else { return };
        let out = &mut self.out;
        match heard {
            Some(Heard::Past(entry)) => past(teller, &entry, out),
            Some(Heard::Live(told)) => teller.tell(&told.updates, |frame| out.tell(frame)),
            Some(Heard::Now { draft, .. }) => {
                let Draft { text, reasoning, .. } = draft.unwrap_or_default();
                teller.join(&text, &reasoning, |frame| out.tell(frame));
            }
            // Whoever follows is told again where they are when the session is back.
            None => self.joined = None,
        }
    }
}

/// What was missed while the connection did not keep up.
fn past(teller: &mut Teller, entry: &Entry, out: &mut Outgoing) {
    // A question is asked once; those still open are asked again by whoever comes again.
    if !matches!(entry.fact, Fact::Asked(_)) {
        teller.entry(entry, &mut |frame| out.tell(frame));
    }
}

/// The windows of a session as they are at one moment, and everything from that moment on.
async fn settle(host: &Host, session: SessionId) -> Result<(Feed, Arc<Windows>), OpenError> {
    let mut before = host.windows(session).await?;
    loop {
        let feed = host.feed(session, None).await?;
        let now = host.windows(session).await?;
        // While somebody holds them they are changed in a copy, so that the same are unchanged.
        if Arc::ptr_eq(&before, &now) {
            return Ok((feed, now));
        }
        before = now;
    }
}

impl Dialect for Party {
    async fn hear(&mut self, frame: &[u8]) {
        Self::hear(self, frame).await;
    }

    fn takes(&self, frame: &[u8]) -> bool {
        is_reply(frame)
    }

    async fn say(&mut self, out: &mut Vec<Utf8Bytes>) {
        while self.out.lines.is_empty() {
            let Some(Joined { feed, words, .. }) = &mut self.joined else {
                std::future::pending::<()>().await;
                continue;
            };
            tokio::select! {
                heard = feed.next() => self.tell(heard),
                Some(word) = words.recv() => self.ask(word),
            }
        }
        while self.out.lines.len() < GATHER
            && let Some(heard) = self.joined.as_mut().and_then(|it| it.feed.next_now())
        {
            self.tell(Some(heard));
        }
        mem::swap(out, &mut self.out.lines);
    }
}
