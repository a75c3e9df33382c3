//! Reads what happens in every session, notes what is owed to whom, and sends it when its time has come.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use futures::{
    FutureExt as _, StreamExt as _,
    future::{self, BoxFuture},
    stream::FuturesUnordered,
};
use jiff::{SignedDuration, Timestamp};
use kernel::{
    ports::StoreError,
    roster::{Change, News},
    state::State,
    update::{Seq, SessionId},
};
use tokio::sync::broadcast::error::RecvError;

use super::{
    notice::Notice,
    owed::{Debts, LIFE, Owed, Place},
    post::{self, Letter, Outcome},
    subscription::{Subscription, Trouble},
};
use crate::{App, window};

const PAGE: usize = 128;
/// How many messages are on their way at a time; one for each browser.
const AT_ONCE: usize = 4;
const ATTEMPTS: u32 = 8;
const FIRST_WAIT: Duration = Duration::from_secs(15);
const LONGEST_WAIT: Duration = Duration::from_hours(1);
/// When storage is asked again after it failed.
const AGAIN: SignedDuration = SignedDuration::from_secs(5);

type Sending = FuturesUnordered<BoxFuture<'static, (Place, Seq, Outcome)>>;

/// For as long as the server runs.
pub async fn keep(app: Arc<App>) {
    let mut news = app.host.roster.listen();
    let mut keeper = Keeper::begin(app.clone()).await;
    let mut sending = Sending::new();
    let mut look_again = true;
    loop {
        if std::mem::take(&mut look_again) {
            keeper.look_everywhere().await;
        }
        let now = app.host.ports.clock.now();
        keeper.send_due(now, &mut sending).await;
        let next = keeper.next_due(now);
        tokio::select! {
            told = news.recv() => match told {
                Ok(News::Session { session, change: Change::Deleted, .. }) => {
                    keeper.forget(session).await;
                }
                Ok(News::Session { session, .. }) => keeper.look_at(session).await,
                Ok(_) => (),
                Err(RecvError::Lagged(_)) => look_again = true,
                Err(RecvError::Closed) => return future::pending().await,
            },
            () = app.push.changed.notified() => {
                keeper.quiet.clear();
                look_again = true;
            }
            Some((place, seq, outcome)) = sending.next() => keeper.note(place, seq, outcome).await,
            () = app.host.ports.clock.until(next) => (),
        }
    }
}

struct Keeper {
    app: Arc<App>,
    debts: Debts,
    /// Browsers to which something is on its way.
    busy: HashSet<String>,
    /// Until when something waits because it is night there: read from the settings again after a crash,
    /// and whenever they change.
    quiet: HashMap<Place, Timestamp>,
}

impl Keeper {
    /// Waits until what was owed before can be read.
    async fn begin(app: Arc<App>) -> Self {
        let (catalog, clock) = (app.host.ports.catalog.clone(), app.host.ports.clock.clone());
        loop {
            match Debts::load(catalog.clone()).await {
                Ok(debts) => {
                    return Self { app, debts, busy: HashSet::new(), quiet: HashMap::new() };
                }
                Err(error) => tracing::warn!(%error, "cannot read what notifications are owed"),
            }
            clock.until(clock.now().saturating_add(AGAIN).unwrap_or(Timestamp::MAX)).await;
        }
    }

    async fn look_everywhere(&mut self) {
        for (session, _) in self.app.host.roster.all() {
            self.look_at(session).await;
        }
    }

    async fn look_at(&mut self, session: SessionId) {
        // Where it was read up to is as before, so the next news brings it.
        if let Err(error) = self.read(session).await {
            tracing::warn!(%session, %error, "cannot tell what notifications are owed");
        }
    }

    /// Notes what is owed first, then how far it has read; only then is anything sent.
    async fn read(&mut self, session: SessionId) -> Result<(), StoreError> {
        let browsers = self.app.push.subscriptions.list();
        let Some(since) = browsers.first().map(|it| it.created) else { return Ok(()) };
        let Some(state) = self.app.host.roster.get(session) else { return Ok(()) };
        let mut place = self.begins(session, &state, since).await?;
        if place >= state.last {
            return Ok(());
        }
        let log = self.app.host.ports.log.clone();
        let mut notices = Vec::new();
        while place < state.last {
            let facts = log.read(session, place, PAGE).await?;
            let Some(last) = facts.last() else { break };
            place = last.seq;
            for entry in facts.iter().filter(|entry| entry.at >= since) {
                notices.extend(Notice::of(log.as_ref(), session, &state, entry).await?);
            }
        }
        for browser in browsers {
            if !self.may_hear(&browser, session).await? {
                continue;
            }
            let wanted = |it: &&Notice| it.at >= browser.created && browser.settings.wants(it.kind);
            if let Some(newest) = notices.iter().rev().find(wanted) {
                self.debts.owe(&browser.id, newest.clone()).await?;
                // What waits now may be something that does not have to.
                self.quiet.remove(&(browser.id.clone(), session));
            }
        }
        self.debts.read(session, place, !notices.is_empty()).await
    }

    /// The key of a phone opens one conversation, and it is told of no other.
    async fn may_hear(
        &self,
        browser: &Subscription,
        session: SessionId,
    ) -> Result<bool, StoreError> {
        let device = browser.device.as_deref();
        match device.and_then(|device| self.app.access.devices.named(device)) {
            Some(device) => window::hears(&self.app, &device, session).await,
            None => Ok(true),
        }
    }

    /// After which fact there may be news for somebody.
    async fn begins(
        &self,
        session: SessionId,
        state: &State,
        since: Timestamp,
    ) -> Result<Seq, StoreError> {
        if state.at < since {
            return Ok(state.last);
        }
        if let Some(cursor) = self.debts.cursor(session) {
            return Ok(cursor);
        }
        let mut before = state.last.next();
        loop {
            let facts = self.app.host.ports.log.read_back(session, before, PAGE).await?;
            let Some(oldest) = facts.last() else { return Ok(Seq(0)) };
            before = oldest.seq;
            if let Some(old) = facts.iter().find(|entry| entry.at < since) {
                return Ok(old.seq);
            }
        }
    }

    /// What was due by then is on its way, or waits for something else.
    fn next_due(&self, now: Timestamp) -> Timestamp {
        let due = self.debts.owed.iter().map(|(place, owed)| self.due(place, owed));
        due.filter(|due| *due > now).min().unwrap_or(Timestamp::MAX)
    }

    fn due(&self, place: &Place, owed: &Owed) -> Timestamp {
        self.quiet.get(place).map_or(owed.due, |end| owed.due.max(*end))
    }

    async fn send_due(&mut self, now: Timestamp, sending: &mut Sending) {
        let due: Vec<Place> = self
            .debts
            .owed
            .iter()
            .filter(|(place, owed)| self.due(place, owed) <= now && !self.busy.contains(&place.0))
            .map(|(place, _)| place.clone())
            .collect();
        for place in due {
            if self.busy.len() >= AT_ONCE {
                return;
            }
            if !self.busy.contains(&place.0) {
                self.send(place, now, sending).await;
            }
        }
    }

    async fn send(&mut self, place: Place, now: Timestamp, sending: &mut Sending) {
        let Some(owed) = self.debts.owed.get(&place) else { return };
        let browser = self.app.push.subscriptions.get(&place.0);
        let browser = match browser {
            Some(browser) if !self.is_moot(&browser, owed, now).await => browser,
            _ => return self.settle(&place).await,
        };
        if let Some(end) = browser.settings.waits(owed.notice.kind, now) {
            self.quiet.insert(place, end);
            return;
        }
        self.quiet.remove(&place);
        self.busy.insert(place.0.clone());
        sending.push(deliver(self.app.clone(), browser, place, owed.notice.clone()).boxed());
    }

    /// Whether there is no need to send it any more.
    async fn is_moot(&self, browser: &Subscription, owed: &Owed, now: Timestamp) -> bool {
        let Owed { notice, .. } = owed;
        let is_old = now.duration_since(notice.at) >= LIFE;
        let App { host, push, phones, .. } = self.app.as_ref();
        let Some(state) = host.roster.get(notice.session) else { return true };
        let over = match notice.question {
            Some(question) => state.questions.iter().all(|open| open.id != question),
            None => notice.went_well && !state.unobserved,
        };
        if is_old || over || !browser.settings.wants(notice.kind) {
            return true;
        }
        if push.seen_since(notice.session, notice.at) {
            return true;
        }
        let Some(device) = &browser.device else { return false };
        // The app on that device has shown it.
        let talk = phones.of(device).talk(notice.session).await;
        talk.is_ok_and(|talk| talk.ponged && talk.mark.is_some_and(|mark| mark >= notice.seq))
    }

    async fn note(&mut self, place: Place, seq: Seq, outcome: Outcome) {
        self.busy.remove(&place.0);
        let app = self.app.clone();
        let (push, now) = (&app.push, app.host.ports.clock.now());
        // Another may have taken its place meanwhile.
        let is_same = self.debts.owed.get(&place).is_some_and(|owed| owed.notice.seq == seq);
        let what = match outcome {
            Outcome::Sent => None,
            Outcome::Gone => {
                tracing::info!(browser = place.0, "a browser is told nothing more: it is gone");
                if let Err(error) = push.subscriptions.remove(&place.0).await {
                    tracing::warn!(%error, "cannot forget a browser");
                }
                push.tell();
                return self.settle(&place).await;
            }
            Outcome::Refused(what) => Some(what),
            Outcome::Later { wait, what } => {
                if is_same && self.postpone(&place, wait, now).await {
                    return push.record(&place.0, Some(what), now).await;
                }
                Some(what)
            }
        };
        if is_same {
            self.settle(&place).await;
        }
        push.record(&place.0, what, now).await;
    }

    /// Says whether it is tried again.
    async fn postpone(&mut self, place: &Place, wait: Option<Duration>, now: Timestamp) -> bool {
        let Some(mut owed) = self.debts.owed.get(place).cloned() else { return false };
        owed.attempts += 1;
        if owed.attempts >= ATTEMPTS {
            return false;
        }
        let doubled = FIRST_WAIT.saturating_mul(1 << (owed.attempts - 1)).min(LONGEST_WAIT);
        let some = doubled.mul_f64(1.0 + self.app.host.ports.clock.chance() / 2.0);
        owed.due = now.saturating_add(wait.unwrap_or_default().max(some)).unwrap_or(now);
        if let Err(error) = self.debts.put(place.clone(), owed.clone()).await {
            tracing::warn!(%error, "cannot note that a notification is to be sent again");
            self.debts.owed.insert(place.clone(), owed);
        }
        true
    }

    async fn settle(&mut self, place: &Place) {
        self.quiet.remove(place);
        if let Err(error) = self.debts.settle(place).await {
            tracing::warn!(%error, "cannot note that a notification is not owed any more");
            self.debts.owed.remove(place);
        }
    }

    async fn forget(&mut self, session: SessionId) {
        if let Err(error) = self.debts.forget(session).await {
            tracing::warn!(%session, %error, "cannot forget what notifications were owed");
        }
    }
}

async fn deliver(
    app: Arc<App>,
    browser: Arc<Subscription>,
    place: Place,
    notice: Notice,
) -> (Place, Seq, Outcome) {
    let ports = &app.host.ports;
    let now = ports.clock.now();
    let letter = Letter {
        to: &browser,
        payload: &notice.payload(browser.settings.hide_content),
        seconds: (LIFE - now.duration_since(notice.at)).as_secs(),
        urgency: notice.urgency(),
        topic: Some(browser.topic(&notice.session.to_string())),
    };
    let outcome = post::deliver(ports.web.as_ref(), &app.push.vapid, letter, now).await;
    (place, notice.seq, outcome)
}

impl super::Push {
    /// How the last attempt went, for whoever looks at the list.
    pub(super) async fn record(&self, browser: &str, what: Option<String>, now: Timestamp) {
        if let Some(what) = &what {
            tracing::warn!(browser, what, "a notification was not taken");
        }
        let changed = self.subscriptions.change(browser, |it| {
            it.last_success = if what.is_none() { Some(now) } else { it.last_success };
            it.trouble = what.map(|what| Trouble { at: now, what });
        });
        match changed.await {
            Ok(_) => self.host.roster.tell(News::Devices),
            Err(error) => tracing::warn!(%error, "cannot note how a notification went"),
        }
    }
}
