//! Applets and apps: those that come with Megaron, and those in the owner's folders.

mod bundled;
mod drawer;
mod drawers;
mod folder;
mod history;
mod install;
mod kept;
mod manifest;
mod meta;
mod parcel;
mod shelf;
mod shipped;
mod watch;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use futures::{FutureExt as _, future::BoxFuture};
use kernel::gallery::{Applet, Gallery, Parts, is_slug};
use tokio::sync::broadcast;

pub use drawers::Drawers;
pub use install::Bundle;

use crate::{
    history::Historian,
    kept::Kept,
    shelf::Shelf,
    watch::{Hearer, Known, Watch},
};

/// How many changes a listener may miss before it must look again.
const CHANGES: usize = 64;

/// Something in a folder of applets that cannot be used as it is, or not all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub folder: PathBuf,
    pub what: String,
}

/// Every applet of this house: the later of two with the same name wins.
pub struct Folders {
    /// From the weakest to the strongest; the last is the owner's own.
    shelves: Arc<[Shelf]>,
    workshop: PathBuf,
    watch: Mutex<Watch>,
    changes: broadcast::Sender<String>,
    kept: Kept<Applet>,
    historian: Historian,
}

impl Folders {
    /// `workshop` is the owner's own folder, made if need be; those in `others` are only read. Needs a
    /// runtime, in which changes are heard of and remembered.
    pub fn open(others: &[PathBuf], workshop: PathBuf) -> Arc<Self> {
        if let Err(error) = std::fs::create_dir_all(&workshop) {
            tracing::warn!(folder = %workshop.display(), %error, "there is no room for applets");
        }
        let shelves = others.iter().cloned().chain([workshop.clone()]).map(Shelf::new).collect();
        let changes = broadcast::Sender::new(CHANGES);
        let folders = Arc::new_cyclic(|this| Self {
            shelves,
            watch: Mutex::new(Watch::begin(this.clone(), is_slug)),
            historian: history::begin(workshop.clone()),
            workshop,
            changes,
            kept: Kept::default(),
        });
        folders.is_watched();
        folders
    }

    /// What is wrong in these folders, for a person.
    pub fn problems(folders: &[PathBuf]) -> Vec<Problem> {
        folders.iter().cloned().flat_map(|root| Shelf::new(root).list().1).collect()
    }

    async fn look(&self) -> Arc<Vec<Applet>> {
        // Before the folders are read, or a change in between would be missed.
        let watched = self.is_watched();
        let edition = match self.kept.get() {
            Ok(list) if watched => return list,
            Ok(_) => None,
            Err(edition) => Some(edition),
        };
        let shelves = self.shelves.clone();
        let list = Arc::new(blocking(move || gather(&shelves)).await.unwrap_or_default());
        if let Some(edition) = edition.filter(|_| watched) {
            self.kept.keep(edition, &list);
        }
        list
    }

    /// Whether every folder that exists will be heard of when it changes.
    fn is_watched(&self) -> bool {
        let known: Vec<Known> = {
            let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
            self.shelves.iter().map(|shelf| watch.look(shelf.root())).collect()
        };
        if known.contains(&Known::Anew) {
            self.kept.forget();
        }
        !known.contains(&Known::Not)
    }
}

impl Hearer for Folders {
    fn stale(&self) {
        self.kept.forget();
    }

    fn settled(&self, names: Vec<String>) {
        self.historian.note();
        self.kept.forget();
        for slug in names {
            // An error only means that nobody is listening now.
            self.changes.send(slug).ok();
        }
    }
}

impl Gallery for Folders {
    fn list(&self) -> BoxFuture<'_, Arc<Vec<Applet>>> {
        self.look().boxed()
    }

    fn load<'a>(&'a self, slug: &'a str) -> BoxFuture<'a, Result<Option<Parts>, String>> {
        let (shelves, slug) = (self.shelves.clone(), slug.to_owned());
        let find = move || {
            if !is_slug(&slug) {
                return Ok(None);
            }
            for shelf in shelves.iter().rev() {
                if let Some(parts) = shelf.load(&slug)? {
                    return Ok(Some(parts));
                }
            }
            Ok(bundled::load(&slug))
        };
        async { blocking(find).await.unwrap_or_else(|| Err("reading it broke down".into())) }
            .boxed()
    }

    fn workshop(&self) -> Option<&Path> {
        Some(&self.workshop)
    }

    fn changes(&self) -> broadcast::Receiver<String> {
        self.changes.subscribe()
    }
}

fn gather(shelves: &[Shelf]) -> Vec<Applet> {
    let mut found = bundled::list();
    for shelf in shelves {
        let (applets, _) = shelf.list();
        found.retain(|old| applets.iter().all(|new| new.slug != old.slug));
        found.extend(applets);
    }
    found.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.slug.cmp(&b.slug)));
    found
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
