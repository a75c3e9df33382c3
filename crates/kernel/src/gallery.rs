//! The applets there are, as the rest of the house sees them.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio::sync::broadcast;

use crate::roster::{News, Roster};

/// Where applets are found.
pub trait Gallery: Send + Sync {
    /// Every applet, the one that changed last first.
    fn list(&self) -> BoxFuture<'_, Arc<Vec<Applet>>>;

    /// One with its parts, as they are now. An error is why it cannot be read.
    fn load<'a>(&'a self, slug: &'a str) -> BoxFuture<'a, Result<Option<Parts>, String>>;

    /// The folder in which the owner's applets are made; none where there is no room for them.
    fn workshop(&self) -> Option<&Path>;

    /// The slugs of those whose files change, as they do.
    fn changes(&self) -> broadcast::Receiver<String>;
}

/// What is known of an applet without reading its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Applet {
    pub slug: String,
    pub name: String,
    pub description: Option<String>,
    /// What may stand in its address, as its author wrote it down.
    pub params: Map<String, Value>,
    /// What it is for, told to agents.
    pub purpose: Option<String>,
    /// What it tells of itself, and what it listens to.
    pub state_schema: StateSchema,
    pub updated: Timestamp,
    pub needs: Needs,
    /// None for one that came with the program.
    pub folder: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateSchema {
    pub get: Option<Value>,
    pub set: Option<Value>,
}

/// What an applet says it needs beyond what every applet has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// What it may ask the person for.
    pub permissions: Vec<Permission>,
    /// Where it may send requests to.
    pub connect: Vec<String>,
    /// Where it may load pictures, styles, fonts, media and scripts from.
    pub resources: Vec<String>,
}

/// Something an applet does only after a person's yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    AppsOpen,
    FilesWrite,
    SchedulesWrite,
    Shell,
}

impl Permission {
    pub const ALL: [Self; 4] =
        [Self::AppsOpen, Self::FilesWrite, Self::SchedulesWrite, Self::Shell];

    pub fn name(self) -> &'static str {
        match self {
            Self::AppsOpen => "apps:open",
            Self::FilesWrite => "files:write",
            Self::SchedulesWrite => "schedules:write",
            Self::Shell => "shell",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|permission| permission.name() == name)
    }
}

/// An applet with all that it consists of.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    pub applet: Applet,
    pub html: String,
    pub script: Option<String>,
    pub style: Option<String>,
}

/// A house without applets.
pub struct NoGallery;

impl Gallery for NoGallery {
    fn list(&self) -> BoxFuture<'_, Arc<Vec<Applet>>> {
        future::ready(Arc::default()).boxed()
    }

    fn load<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Parts>, String>> {
        future::ready(Ok(None)).boxed()
    }

    fn workshop(&self) -> Option<&Path> {
        None
    }

    fn changes(&self) -> broadcast::Receiver<String> {
        broadcast::Sender::new(1).subscribe()
    }
}

/// Tells the whole house of every applet that changes, for as long as there is a gallery.
pub async fn announce(mut changes: broadcast::Receiver<String>, roster: Arc<Roster>) {
    use broadcast::error::RecvError;
    loop {
        match changes.recv().await {
            Ok(slug) => roster.tell(News::AppletChanged { slug }),
            // Whoever shows an applet looks again at the next change.
            Err(RecvError::Lagged(_)) => (),
            Err(RecvError::Closed) => return,
        }
    }
}

/// Small letters, digits and hyphens, with no hyphen at either end.
pub fn is_slug(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let hyphened = text.starts_with('-') || text.ends_with('-');
    (1..=64).contains(&text.len()) && !hyphened && text.bytes().all(|it| plain(it) || it == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_a_plain_name_and_nothing_that_leads_elsewhere() {
        for good in ["a", "0", "calculator", "git-diff", "a--b", &"x".repeat(64)] {
            assert!(is_slug(good), "{good}");
        }
        let long = "x".repeat(65);
        for bad in [
            "", "-", "-a", "a-", "A", "a_b", "a.b", ".", "..", "../a", "a/b", "a\\b", "%2e%2e",
            "a%2Fb", "..%2fa", "a\0", "a b", "ä", "a\n", "con.", "~", "/", "/etc", "c:", "a#b",
            "_a", ".a", &long,
        ] {
            assert!(!is_slug(bad), "{bad:?}");
        }
    }
}
