//! What the house does with its devices, and keeps on record in the sessions that are concerned.

use std::sync::{Arc, Weak};

use tokio::sync::broadcast::error::RecvError;

use super::{
    Action, Armed, Arming, DesktopError, DesktopFact, Devices, Done, News, Outcome, Pause, Point,
};
use crate::{
    host::{Host, OpenError},
    roster::{self, Change},
    update::SessionId,
};

impl Host {
    /// Keeps on record when a person takes a device over at the device itself, gives it back, or let
    /// it be driven for a time that is over now; and lets each device show whether it may be driven.
    /// Ends when the house is gone.
    pub fn watch_desktops(self: &Arc<Self>) -> impl Future<Output = ()> + Send + 'static {
        let mut news = self.devices.news();
        let (host, clock) = (Arc::downgrade(self), self.ports.clock.clone());
        for (device, _) in self.devices.list() {
            tokio::spawn(follow(host.clone(), device));
        }
        let mut asked = self.roster.listen();
        async move {
            let mut held = Vec::new();
            loop {
                let Some(there) = host.upgrade() else { return };
                held = there.keep_time(held).await;
                drop(there);
                let soonest = held.iter().map(|arming| arming.until).min();
                let ends = async {
                    match soonest {
                        Some(at) => clock.until(at).await,
                        None => std::future::pending().await,
                    }
                };
                let came = tokio::select! {
                    news = news.recv() => news,
                    asked = asked.recv() => {
                        expect_person(&host, asked.ok().as_ref());
                        continue;
                    }
                    () = ends => continue,
                };
                match came {
                    Ok(News::Came { device }) => drop(tokio::spawn(follow(host.clone(), device))),
                    Ok(_) | Err(RecvError::Lagged(_)) => (),
                    Err(RecvError::Closed) => return,
                }
            }
        }
    }

    /// Ends what has run out since, and returns what still holds.
    async fn keep_time(&self, before: Vec<Arming>) -> Vec<Arming> {
        for Arming { device, session, until, .. } in before.clone() {
            // What was ended or replaced by somebody is on record by that.
            if self.devices.armed(&device, session) != Armed::Expired(until) {
                continue;
            }
            if let Some(ended) = self.letting_go(&device) {
                // It may be slow to answer, and nobody else shall wait for it.
                tokio::spawn(ended);
            }
            if let Some(session) = session {
                let why = "the time ran out".to_owned();
                self.note_or_warn(session, DesktopFact::Disarmed { device, why }).await;
            }
        }
        let armings = self.devices.armings();
        if before.iter().any(|arming| !armings.contains(arming)) {
            self.devices.time_is_over();
        }
        for (device, _) in self.devices.list() {
            let lent = armings.iter().filter(|arming| arming.device == device);
            if let Some(desktop) = self.devices.get(&device) {
                desktop.lend(lent.map(|arming| arming.until).max());
            }
        }
        armings
    }

    /// Nothing goes on and nothing stays pressed where nobody may drive any more.
    fn letting_go(&self, device: &str) -> Option<impl Future<Output = ()> + Send + 'static> {
        if self.devices.armings().iter().any(|arming| arming.device == device) {
            return None;
        }
        let (desktop, device) = (self.devices.get(device)?, device.to_owned());
        Some(async move {
            let ended = async {
                desktop.cancel(None).await?;
                desktop.act(Action::ReleaseAll.into()).await
            };
            if let Err(error) = ended.await {
                tracing::warn!(device, %error, "a device did not let go as it should");
            }
        })
    }

    /// The person lets a session, or everybody, drive a device for a while.
    pub async fn arm(&self, arming: Arming) -> Result<Arming, OpenError> {
        let arming = self.devices.arm(arming);
        let Some(session) = arming.session else { return Ok(arming) };
        let Arming { device, classes, until, area, .. } = arming.clone();
        let fact = DesktopFact::Armed { device, classes, until, area };
        let noted = self.note_desktop(session, fact).await;
        if noted.is_err() {
            // What is not on record does not hold.
            self.devices.disarm(&arming.device, arming.session);
        }
        noted.map(|()| arming)
    }

    /// And no longer. Holds at once, on record or not.
    pub async fn disarm(&self, device: &str, session: Option<SessionId>, why: &str) -> bool {
        let sessions = self.concerned(device);
        let ended = self.devices.disarm(device, session);
        if let Some(ending) = self.letting_go(device).filter(|_| ended) {
            ending.await;
        }
        for id in sessions.into_iter().filter(|id| session.is_none_or(|only| only == *id)) {
            let fact = DesktopFact::Disarmed { device: device.to_owned(), why: why.to_owned() };
            self.note_or_warn(id, fact).await;
        }
        ended
    }

    /// Stops everything on a device until it is handed back.
    pub async fn stop_desktop(&self, device: &str, why: Pause) -> Result<(), DesktopError> {
        let stopped = self.devices.pause(device, why).await;
        for id in self.concerned(device) {
            let fact = DesktopFact::Paused { device: device.to_owned(), why };
            self.note_or_warn(id, fact).await;
        }
        stopped
    }

    /// The person takes a device into their own hands.
    pub async fn take_over(&self, device: &str) -> Result<(), DesktopError> {
        let taken = self.devices.take_over(device).await;
        for id in self.concerned(device) {
            let fact = DesktopFact::Paused { device: device.to_owned(), why: Pause::Owner };
            self.note_or_warn(id, fact).await;
        }
        taken
    }

    pub async fn hand_back(&self, device: &str) -> Result<(), DesktopError> {
        let there = self.devices.get(device).map(|it| it.states().borrow().paused);
        self.devices.hand_back(device).await?;
        // What the device itself tells is on record by that.
        let here = if there.flatten().is_some() { Vec::new() } else { self.concerned(device) };
        for id in here {
            self.note_or_warn(id, DesktopFact::HandedBack { device: device.to_owned() }).await;
        }
        Ok(())
    }

    /// The sessions that may drive a device now: by leave of their own, or of all and have done so.
    fn concerned(&self, device: &str) -> Vec<SessionId> {
        let armings: Vec<Arming> =
            self.devices.armings().into_iter().filter(|it| it.device == device).collect();
        let mut sessions: Vec<SessionId> = armings.iter().filter_map(|it| it.session).collect();
        if armings.iter().any(|arming| arming.session.is_none()) {
            sessions.extend(self.devices.drivers(device));
        }
        sessions.sort_unstable();
        sessions.dedup();
        sessions
    }

    pub(super) async fn note_or_warn(&self, session: SessionId, fact: DesktopFact) {
        if let Err(error) = self.note_desktop(session, fact).await {
            tracing::warn!(%session, %error, "cannot keep on record what happened on a desktop");
        }
    }

    async fn note_desktop(&self, session: SessionId, fact: DesktopFact) -> Result<(), OpenError> {
        loop {
            let open = self.open(session).await?;
            if let Ok(noted) = open.note_desktop(fact.clone()).await {
                return Ok(noted?);
            }
        }
    }
}

/// Whoever answers a question on this machine's screen moves its pointer, and takes nothing over.
fn expect_person(host: &Weak<Host>, news: Option<&roster::News>) {
    let Some(roster::News::Session { change: Change::Questions { open: 1.., .. }, .. }) = news
    else {
        return;
    };
    if let Some(desktop) = host.upgrade().and_then(|host| host.devices.get(Devices::LOCAL)) {
        desktop.rest();
    }
}

/// Until the device has gone, or the house.
async fn follow(host: Weak<Host>, device: String) {
    let states = host.upgrade().and_then(|host| host.devices.get(&device)).map(|it| it.states());
    let Some(mut states) = states else { return };
    let mut before = None;
    while states.changed().await.is_ok() {
        let now = states.borrow_and_update().paused;
        if now == before {
            continue;
        }
        before = now;
        let Some(host) = host.upgrade() else { return };
        host.devices.noticed(&device, now);
        for session in host.concerned(&device) {
            let device = device.clone();
            let fact = match now {
                Some(why) => DesktopFact::Paused { device, why },
                None => DesktopFact::HandedBack { device },
            };
            host.note_or_warn(session, fact).await;
        }
    }
}

impl Outcome {
    /// In a line, for a person: without what was on the clipboard.
    pub fn summary(&self) -> String {
        match self {
            Self::Done(Done { message, .. }) => message.clone(),
            Self::Position { x, y, .. } => format!("The pointer is at ({x}, {y})"),
            Self::Picture(frame) => format!("A picture of {}x{} pixels", frame.width, frame.height),
            Self::Screen(screen) => format!("A screen of {}x{} pixels", screen.w, screen.h),
            Self::Windows(windows) => format!("{} windows", windows.len()),
            Self::Clipboard { text: Some(text) } => {
                format!("{} characters on the clipboard", text.chars().count())
            }
            Self::Clipboard { text: None } => "No text on the clipboard".to_owned(),
            Self::Batch(results) => {
                let done = results.iter().filter(|result| result.is_ok()).count();
                format!("{done} of {} actions done", results.len())
            }
        }
    }

    /// Where the pointer was before.
    pub fn before(&self) -> Option<Point> {
        match self {
            Self::Done(done) => done.before,
            Self::Batch(results) => results.iter().flatten().find_map(Self::before),
            _ => None,
        }
    }

    /// The program that got it, the last of several.
    pub fn window(&self) -> Option<&str> {
        match self {
            Self::Done(done) => done.window.as_deref(),
            Self::Batch(results) => results.iter().rev().flatten().find_map(Self::window),
            _ => None,
        }
    }

    /// Where the pointer was seen to be.
    pub fn at(&self) -> Option<Point> {
        match self {
            Self::Done(done) => done.at,
            Self::Position { x, y, .. } => {
                Some(Point { x: u32::try_from(*x).ok()?, y: u32::try_from(*y).ok()? })
            }
            Self::Batch(results) => results.iter().rev().flatten().find_map(Self::at),
            Self::Picture(_) | Self::Screen(_) | Self::Windows(_) | Self::Clipboard { .. } => None,
        }
    }
}
