//! What happened between the house and the app in one window, read back from the log.

use std::collections::HashMap;

use crate::{
    apps::AppFact,
    host::{Host, OpenError},
    update::{Entry, Fact, Seq, SessionId},
};

/// How much of the log is in memory at a time, and how much is looked through at once.
const PAGE: usize = 256;
const MOST: usize = 8192;

/// A part of it, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    pub entries: Vec<Entry>,
    /// Where to look for what was before; none if there is nothing.
    pub before: Option<Seq>,
}

impl Host {
    /// The newest `limit` facts of a window's app before `before`, and a few more where a request
    /// would be without its outcome. The window is named by its scoped id.
    pub async fn app_traffic(
        &self,
        session: SessionId,
        window: &str,
        before: Option<Seq>,
        limit: usize,
    ) -> Result<Traffic, OpenError> {
        self.roster.get(session).ok_or(OpenError::Unknown(session))?;
        let mut found = Finding::default();
        let mut before = before.unwrap_or(Seq(u64::MAX >> 1));
        let mut seen = 0;
        while seen < MOST && !found.is_enough(limit) {
            let page = self.ports.log.read_back(session, before, PAGE).await?;
            let Some(oldest) = page.last() else { return Ok(found.told(None)) };
            before = oldest.seq;
            seen += page.len();
            for entry in page {
                found.look(entry, window);
            }
        }
        Ok(found.told(Some(before)))
    }
}

/// Going back, outcomes come before what they are outcomes of.
#[derive(Default)]
struct Finding {
    entries: Vec<Entry>,
    outcomes: HashMap<String, Vec<Entry>>,
}

impl Finding {
    fn is_enough(&self, limit: usize) -> bool {
        self.entries.len() >= limit && self.outcomes.is_empty()
    }

    fn look(&mut self, entry: Entry, window: &str) {
        let Fact::App(fact) = &entry.fact else { return };
        match &**fact {
            AppFact::Response { request, .. } | AppFact::Failed { request, .. } => {
                self.outcomes.entry(request.clone()).or_default().push(entry);
            }
            AppFact::Request(request) => {
                let outcomes = self.outcomes.remove(&request.request).unwrap_or_default();
                if request.window == window {
                    self.entries.extend(outcomes);
                    self.entries.push(entry);
                }
            }
            other if other.window() == Some(window) => self.entries.push(entry),
            _ => (),
        }
    }

    fn told(mut self, before: Option<Seq>) -> Traffic {
        self.entries.sort_by_key(|entry| entry.seq);
        Traffic { entries: self.entries, before }
    }
}

impl AppFact {
    /// The window that it is about, where it says so itself.
    pub fn window(&self) -> Option<&str> {
        match self {
            Self::Request(request) => Some(&request.window),
            Self::Ready { window, .. }
            | Self::Lost { window, .. }
            | Self::Owner { window, .. }
            | Self::Replay { window, .. }
            | Self::Retired { window }
            | Self::Interaction { window, .. }
            | Self::File { window, .. }
            | Self::HandsTaken { window }
            | Self::HandsBack { window, .. }
            | Self::Edited { window, .. } => Some(window),
            Self::Rejected { window, .. } => window.as_deref(),
            Self::Response { .. } | Self::Failed { .. } => None,
        }
    }
}
