//! News of apps on their way to whoever listens to the session: told together, a few times a second, and soon forgotten.

use std::{
    collections::{BTreeMap, VecDeque},
    mem,
    sync::{Arc, Weak},
    time::Duration,
};

use futures::{FutureExt as _, future::BoxFuture};
use jiff::Timestamp;

use crate::{
    apps::{Apps, News, Telling},
    host::Host,
    update::{SessionId, Signal},
};

/// How long what comes next is gathered before it is told.
const PAUSE: Duration = Duration::from_millis(200);
/// How much is told at once of one window.
const AT_ONCE: usize = 50;
/// How much is remembered for whoever comes later.
const KEPT: usize = 400;
const KEPT_BYTES: usize = 512 << 10;

pub(super) struct Gazette {
    host: Weak<Host>,
    session: SessionId,
    /// Not told yet, by window.
    fresh: BTreeMap<String, Fresh>,
    /// How far calls of a model are, by what it calls them.
    calls: BTreeMap<String, Signal>,
    kept: VecDeque<Arc<News>>,
    kept_bytes: usize,
    /// Not before then.
    next: Timestamp,
    telling: Option<BoxFuture<'static, ()>>,
}

#[derive(Default)]
struct Fresh {
    news: Vec<(Timestamp, Telling)>,
    left_out: u64,
}

impl Gazette {
    pub fn new(host: Weak<Host>, session: SessionId) -> Self {
        Self {
            host,
            session,
            fresh: BTreeMap::new(),
            calls: BTreeMap::new(),
            kept: VecDeque::new(),
            kept_bytes: 0,
            next: Timestamp::MIN,
            telling: None,
        }
    }

    pub fn note(&mut self, now: Timestamp, window: &str, what: Telling, call: Option<String>) {
        if let (Telling::Progress { done, total, note, .. }, Some(call)) = (&what, call) {
            let message = note.clone().unwrap_or_else(|| match total {
                Some(total) => format!("{done} of {total}"),
                None => done.to_string(),
            });
            let (done, total) = (*done, *total);
            self.calls.insert(call.clone(), Signal::Progress { call, message, done, total });
        }
        self.fresh.entry(window.to_owned()).or_default().note(now, what);
    }

    /// Everything that is remembered of a window.
    pub fn of(&self, window: &str) -> Vec<Arc<News>> {
        self.kept.iter().filter(|news| news.window == window).cloned().collect()
    }

    pub fn is_done(&self) -> bool {
        self.fresh.is_empty() && self.calls.is_empty() && self.telling.is_none()
    }

    /// When there is something to tell.
    pub fn alarm(&self) -> Option<Timestamp> {
        let waits = !self.fresh.is_empty() || !self.calls.is_empty();
        (waits && self.telling.is_none()).then_some(self.next)
    }

    /// Begins to tell what has come. `last` if nobody will come any more to bring it.
    pub fn begin(&mut self, now: Timestamp, last: bool, apps: &Apps) {
        if self.alarm().is_none_or(|at| at > now && !last) {
            return;
        }
        self.next = now + PAUSE;
        let mut signals: Vec<Signal> = mem::take(&mut self.calls).into_values().collect();
        for (window, fresh) in mem::take(&mut self.fresh) {
            for (at, what) in fresh.told(now) {
                let news = News { id: apps.count(), at, window: window.clone(), what };
                let news = Arc::new(news);
                self.keep(news.clone());
                signals.push(Signal::App(news));
            }
        }
        self.telling = Some(tell(self.host.clone(), self.session, signals).boxed());
    }

    /// Returns when all of it was told; never if nothing is.
    pub async fn told(&mut self) {
        let Some(telling) = &mut self.telling else { return std::future::pending().await };
        telling.await;
        self.telling = None;
    }

    fn keep(&mut self, news: Arc<News>) {
        self.kept_bytes += news.what.size();
        self.kept.push_back(news);
        while self.kept.len() > KEPT || self.kept_bytes > KEPT_BYTES {
            let Some(oldest) = self.kept.pop_front() else { return };
            self.kept_bytes -= oldest.what.size();
        }
    }
}

impl Fresh {
    /// Of what only says how something stands, the newest counts.
    fn note(&mut self, now: Timestamp, what: Telling) {
        match &what {
            Telling::Progress { request: new, .. } => self.news.retain(
                |(_, old)| !matches!(old, Telling::Progress { request, .. } if request == new),
            ),
            Telling::StateChanged { keys: new } => {
                for (_, old) in &mut self.news {
                    if let Telling::StateChanged { keys } = old {
                        keys.extend(new.iter().cloned());
                        keys.sort();
                        keys.dedup();
                        return;
                    }
                }
            }
            Telling::Printed { .. }
            | Telling::Refused { .. }
            | Telling::Odd { .. }
            | Telling::LeftOut { .. } => (),
        }
        if self.news.len() < AT_ONCE {
            self.news.push((now, what));
        } else {
            self.left_out += 1;
        }
    }

    fn told(self, now: Timestamp) -> impl Iterator<Item = (Timestamp, Telling)> {
        let count = self.left_out;
        let more = (count > 0).then_some((now, Telling::LeftOut { count }));
        self.news.into_iter().chain(more)
    }
}

async fn tell(host: Weak<Host>, session: SessionId, signals: Vec<Signal>) {
    let Some(host) = host.upgrade() else { return };
    // Nobody listens to a session that cannot be opened, or is closed in between.
    let Ok(handle) = host.open(session).await else { return };
    for signal in signals {
        if handle.tell(signal).await.is_err() {
            return;
        }
    }
}
