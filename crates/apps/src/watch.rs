//! Hears of changes in folders of applets, and passes them on when a moment is quiet.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use kernel::gallery::is_slug;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

use crate::{Folders, history::Historian};

/// An editor saves in several steps, which should be heard of as one.
const QUIET: Duration = Duration::from_millis(150);

pub struct Watch {
    watcher: Option<RecommendedWatcher>,
    /// As the system names what lies in them.
    roots: Arc<Mutex<Vec<PathBuf>>>,
    watched: BTreeSet<PathBuf>,
}

/// Whether changes of a folder are heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    Well,
    /// From now on: it came or went since it was looked at last.
    Anew,
    Not,
}

impl Watch {
    pub fn begin(folders: Weak<Folders>, historian: Historian) -> Self {
        let (sender, changes) = mpsc::unbounded_channel();
        let roots: Arc<Mutex<Vec<PathBuf>>> = Arc::default();
        let known = roots.clone();
        let of = folders.clone();
        let heard = move |event: notify::Result<Event>| {
            let Ok(event) = event else {
                // Something was missed: nothing that is known can be relied on.
                if let Some(folders) = of.upgrade() {
                    folders.changed(None);
                }
                return;
            };
            if matches!(event.kind, EventKind::Access(_)) {
                return;
            }
            // At once, so that nobody is shown a list that is known to be old.
            if let Some(folders) = of.upgrade() {
                folders.changed(None);
            }
            let known = known.lock().unwrap_or_else(PoisonError::into_inner);
            for path in event.paths {
                // The other end is gone when the house is.
                sender.send(slug(&known, &path)).ok();
            }
        };
        let watcher = notify::recommended_watcher(heard);
        let watcher = watcher.inspect_err(|error| {
            tracing::warn!(%error, "changes of applets will not be heard of");
        });
        tokio::spawn(pass_on(folders, changes, historian));
        Self { watcher: watcher.ok(), roots, watched: BTreeSet::new() }
    }

    /// How well this folder is known. Begins to listen to it if it has to.
    pub fn look(&mut self, root: &Path) -> Known {
        let is_there = root.is_dir();
        if is_there == self.watched.contains(root) {
            return Known::Well;
        }
        if !is_there {
            self.watched.remove(root);
            return Known::Anew;
        }
        let Some(watcher) = &mut self.watcher else { return Known::Not };
        if watcher.watch(root, RecursiveMode::Recursive).is_err() {
            return Known::Not;
        }
        self.watched.insert(root.to_owned());
        self.roots.lock().unwrap_or_else(PoisonError::into_inner).push(root.to_owned());
        Known::Anew
    }
}

/// The applet that a file belongs to, if it belongs to one.
fn slug(roots: &[PathBuf], path: &Path) -> Option<String> {
    let inside = roots.iter().find_map(|root| path.strip_prefix(root).ok())?;
    let first = inside.components().next()?.as_os_str().to_str()?;
    is_slug(first).then(|| first.to_owned())
}

async fn pass_on(
    folders: Weak<Folders>,
    mut changes: mpsc::UnboundedReceiver<Option<String>>,
    historian: Historian,
) {
    while let Some(first) = changes.recv().await {
        let mut slugs = BTreeSet::from([first]);
        while let Ok(Some(more)) = tokio::time::timeout(QUIET, changes.recv()).await {
            slugs.insert(more);
        }
        let Some(folders) = folders.upgrade() else { return };
        let slugs: Vec<String> = slugs.into_iter().flatten().collect();
        if !slugs.is_empty() {
            historian.note();
        }
        for slug in slugs {
            folders.changed(Some(slug));
        }
    }
}
