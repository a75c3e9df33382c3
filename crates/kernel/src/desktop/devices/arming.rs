//! For how long which device may be driven, by whom, and in which ways.

use std::time::Duration;

use jiff::Timestamp;

use super::{Class, Devices, News};
use crate::update::SessionId;

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
}

/// How an arming stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Armed {
    Never,
    /// It is over since then.
    Expired(Timestamp),
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
            self.tell(News::Disarmed { device: device.to_owned(), session });
        }
        ended
    }

    /// How far a session may drive a device; for the owner, whether anybody may.
    pub fn armed(&self, device: &str, session: Option<SessionId>) -> Armed {
        let now = self.clock.now();
        let inner = self.inner();
        let counts = |arming: &&Arming| {
            arming.device == device
                && (session.is_none() || arming.session.is_none() || arming.session == session)
        };
        let longest = inner.armings.iter().filter(counts).max_by_key(|arming| arming.until);
        match longest {
            None => Armed::Never,
            Some(arming) if arming.until <= now => Armed::Expired(arming.until),
            Some(arming) => Armed::Until(arming.until, arming.classes.clone()),
        }
    }

    /// Everything that holds.
    pub fn armings(&self) -> Vec<Arming> {
        let now = self.clock.now();
        self.inner().armings.iter().filter(|arming| now < arming.until).cloned().collect()
    }
}
