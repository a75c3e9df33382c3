//! For how long which device may be driven, by whom, and in which ways.

use std::time::Duration;

use jiff::Timestamp;

use super::{Class, Devices, Inner, News};
use crate::{desktop::Rect, update::SessionId};

/// The longest time for which a device can be armed.
pub const LONGEST: Duration = Duration::from_hours(8);
/// Leave to drive a device for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arming {
    pub device: String,
    /// The one session that may, or all.
    pub session: Option<SessionId>,
    pub classes: Vec<Class>,
    pub until: Timestamp,
    /// The part of the screen that they may touch; all of it if none is named.
    pub area: Option<Rect>,
}

impl Arming {
    /// Whether it is for this session; for the owner all are.
    pub(super) fn counts(&self, device: &str, session: Option<SessionId>) -> bool {
        let is_theirs = session.is_none() || self.session.is_none() || self.session == session;
        self.device == device && is_theirs
    }
}

/// How far a device may be driven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Armed {
    Never,
    /// It is over since then.
    Expired(Timestamp),
    /// When the last of what holds ends, and the classes of all of it: some may end before.
    Until(Timestamp, Vec<Class>),
}

impl Devices {
    /// Lets a session, or everybody, drive a device until a time that is at most
    /// [`LONGEST`] away. A person's wish alone.
    pub fn arm(&self, mut arming: Arming) -> Arming {
        let latest = self.clock.now().checked_add(LONGEST).unwrap_or(Timestamp::MAX);
        arming.until = arming.until.min(latest);
        arming.classes.sort_unstable();
        arming.classes.dedup();
        let mut inner = self.inner();
        inner.armings.retain(|old| (&old.device, old.session) != (&arming.device, arming.session));
        inner.armings.push(arming.clone());
        drop(inner);
        // It may allow less than the one in whose place it is.
        self.endings.send_replace(());
        self.tell(News::Armed(arming.clone()));
        arming
    }

    /// Ends what was allowed to this session, or everything; says whether there was anything.
    pub fn disarm(&self, device: &str, session: Option<SessionId>) -> bool {
        let ends = |arming: &Arming| {
            arming.device == device && (session.is_none() || arming.session == session)
        };
        let mut inner = self.inner();
        let before = inner.armings.len();
        inner.armings.retain(|arming| !ends(arming));
        let ended = inner.armings.len() < before;
        drop(inner);
        if ended {
            self.endings.send_replace(());
            self.tell(News::Disarmed { device: device.to_owned(), session });
        }
        ended
    }

    /// How far a session may drive a device; for the owner, whether anybody may.
    pub fn armed(&self, device: &str, session: Option<SessionId>) -> Armed {
        let (now, inner) = (self.clock.now(), self.inner());
        let counting = || inner.armings.iter().filter(|it| it.counts(device, session));
        let Some(latest) = counting().map(|arming| arming.until).max() else {
            return Armed::Never;
        };
        if latest <= now {
            return Armed::Expired(latest);
        }
        let holding = counting().filter(|arming| now < arming.until);
        let mut classes: Vec<Class> = holding.flat_map(|arming| arming.classes.clone()).collect();
        classes.sort_unstable();
        classes.dedup();
        Armed::Until(latest, classes)
    }

    /// Until when a session may do something that is of all these classes; none if it may not.
    pub(super) fn lent_until(
        &self,
        device: &str,
        session: Option<SessionId>,
        classes: &[Class],
    ) -> Option<Timestamp> {
        let (now, inner) = (self.clock.now(), self.inner());
        let lent = |class: &Class| {
            inner.lending(now, device, session, *class).map(|arming| arming.until).max()
        };
        // The first that ends decides; one that is missing is the least of all.
        classes.iter().map(lent).min().flatten()
    }

    /// What a session goes by on a device: what was lent to it, else what was lent to all.
    pub fn arming(&self, device: &str, session: SessionId) -> Option<Arming> {
        let holding = self.armings().into_iter().filter(|it| it.counts(device, Some(session)));
        holding.max_by_key(|arming| arming.session.is_some())
    }

    /// Everything that holds.
    pub fn armings(&self) -> Vec<Arming> {
        let now = self.clock.now();
        self.inner().armings.iter().filter(|arming| now < arming.until).cloned().collect()
    }
}

impl Inner {
    /// What holds at a time and lends this to a session, or to anybody for the owner.
    pub(super) fn lending<'a>(
        &'a self,
        now: Timestamp,
        device: &'a str,
        session: Option<SessionId>,
        class: Class,
    ) -> impl Iterator<Item = &'a Arming> {
        let holding = self.armings.iter().filter(move |it| it.counts(device, session));
        holding.filter(move |it| now < it.until && it.classes.contains(&class))
    }
}
