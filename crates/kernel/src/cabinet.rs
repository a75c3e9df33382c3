//! The apps there are, as the rest of the house sees them.

pub mod launch;
pub mod opening;

use std::{path::PathBuf, sync::Arc};

use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use serde_json::Value;
use tokio::sync::broadcast;

use crate::roster::{News, Roster};

/// Where apps are found, put and taken from.
pub trait Cabinet: Send + Sync {
    /// Every app, by name and then by id.
    fn list(&self) -> BoxFuture<'_, Arc<Vec<Card>>>;

    /// A file of an app as it is now, by a plain path; `None` where there is none that is shown.
    fn file<'a>(&'a self, id: &'a str, path: &'a str) -> BoxFuture<'a, Option<Vec<u8>>>;

    /// The picture that stands for an app, with the ending of its name.
    fn icon<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<(&'static str, Vec<u8>)>>;

    /// What an archive holds, before anything of it is kept.
    fn inspect(&self, parcel: Parcel) -> BoxFuture<'_, Result<Card, InstallError>>;

    /// Puts in what an archive holds, in the place of whatever had its id.
    fn install(&self, parcel: Parcel) -> BoxFuture<'_, Result<Card, InstallError>>;

    /// Takes out one that the owner has put in.
    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), RemoveError>>;

    /// The ids of those whose files change, as they do.
    fn changes(&self) -> broadcast::Receiver<String>;
}

/// An archive with an app.
#[derive(Clone, Debug, Default)]
pub struct Parcel {
    pub bytes: Vec<u8>,
    /// What the app shall be called; else what the archive says.
    pub id: Option<String>,
    /// The archive's own name, of which an id may be made.
    pub name: Option<String>,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InstallError {
    /// What is wrong with the archive.
    #[error("{0}")]
    Refused(String),
    #[error("the app cannot be kept: {0}")]
    Disk(String),
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RemoveError {
    #[error("no app is called `{0}`")]
    Unknown(String),
    #[error("`{0}` came with the program and cannot be removed")]
    Bundled(String),
    #[error("the app cannot be removed: {0}")]
    Disk(String),
}

/// What is known of an app without running it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Card {
    pub id: String,
    pub name: String,
    pub icon: Option<Icon>,
    pub description: Option<String>,
    pub version: Option<String>,
    pub author: Option<String>,
    /// Not offered where apps are chosen from.
    pub hidden: bool,
    /// Says that it registers with the App Protocol; nothing depends on it.
    pub protocol: bool,
    pub associations: Vec<Association>,
    pub looks: Looks,
    /// The document it begins with.
    pub entry: String,
    pub asks: Asks,
    /// None for one that came with the program.
    pub folder: Option<PathBuf>,
    /// What of its description cannot be used.
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Icon {
    Emoji(String),
    /// A picture in its folder.
    Picture,
}

/// How its window likes to look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Looks {
    pub variant: Option<&'static str>,
    pub dock_edge: Option<&'static str>,
    pub frameless: bool,
    pub window_style: Option<Value>,
    pub width: Option<f64>,
    pub height: Option<f64>,
}

/// Files it opens, and how they are handed to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Association {
    /// In small letters, each with its dot.
    pub extensions: Vec<String>,
    pub command: String,
    pub param: String,
    pub encoding: Encoding,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    #[default]
    Text,
    Base64,
}

/// What an app asks for, beyond what every app has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asks {
    pub permissions: Vec<Permission>,
    /// Origins it speaks to by itself.
    pub connect: Vec<String>,
    /// Origins it loads scripts, styles, pictures, fonts and sounds from.
    pub load: Vec<String>,
    /// How many bytes it may keep; the usual if absent.
    pub storage: Option<u64>,
}

/// Something that not every app may do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    Clipboard,
    Downloads,
    Modals,
    Popups,
    /// What lies under this prefix of what all apps keep, besides its own. Asked for when it is used.
    Storage {
        prefix: String,
        writes: bool,
    },
}

impl Permission {
    /// As it is written down.
    pub fn name(&self) -> String {
        match self {
            Self::Clipboard => "clipboard".to_owned(),
            Self::Downloads => "downloads".to_owned(),
            Self::Modals => "modals".to_owned(),
            Self::Popups => "popups".to_owned(),
            Self::Storage { prefix, writes: true } => format!("storage:{prefix}"),
            Self::Storage { prefix, writes: false } => format!("storage-read:{prefix}"),
        }
    }
}

/// One thing wrong in an `app.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, as a JSON Pointer; empty for the whole.
    pub path: String,
    /// What was expected.
    pub what: String,
}

/// A house without apps.
pub struct NoCabinet;

impl Cabinet for NoCabinet {
    fn list(&self) -> BoxFuture<'_, Arc<Vec<Card>>> {
        future::ready(Arc::default()).boxed()
    }

    fn file<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Option<Vec<u8>>> {
        future::ready(None).boxed()
    }

    fn icon<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Option<(&'static str, Vec<u8>)>> {
        future::ready(None).boxed()
    }

    fn inspect(&self, _: Parcel) -> BoxFuture<'_, Result<Card, InstallError>> {
        future::ready(Err(InstallError::Disk("there is no room for apps".into()))).boxed()
    }

    fn install(&self, parcel: Parcel) -> BoxFuture<'_, Result<Card, InstallError>> {
        self.inspect(parcel)
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), RemoveError>> {
        future::ready(Err(RemoveError::Unknown(id.to_owned()))).boxed()
    }

    fn changes(&self) -> broadcast::Receiver<String> {
        broadcast::Sender::new(1).subscribe()
    }
}

/// Tells the whole house of every app that changes, for as long as there is a cabinet.
pub async fn announce(mut changes: broadcast::Receiver<String>, roster: Arc<Roster>) {
    use broadcast::error::RecvError;
    loop {
        match changes.recv().await {
            Ok(id) => roster.tell(News::AppChanged { id }),
            // Whoever shows an app looks again at the next change.
            Err(RecvError::Lagged(_)) => (),
            Err(RecvError::Closed) => return,
        }
    }
}

/// A small letter, and then small letters, digits and hyphens.
pub fn is_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let begins = text.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
    begins && text.len() <= 64 && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_plain_name_and_nothing_that_leads_elsewhere() {
        for good in ["a", "sheet", "my-app", "a1", "a-", "a--b", &"x".repeat(64)] {
            assert!(is_id(good), "{good}");
        }
        let long = "x".repeat(65);
        for bad in [
            "", "-", "-a", "1a", "A", "a_b", "a.b", ".", "..", "../a", "a/b", "a\\b", "%2e%2e",
            "a%2Fb", "a\0", "a b", "ä", "a\n", "~", "/", "c:", "a#b", "_a", ".a", &long,
        ] {
            assert!(!is_id(bad), "{bad:?}");
        }
    }
}
