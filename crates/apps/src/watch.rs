//! Hears of changes in folders of applets or apps, and passes them on when a moment is quiet.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

/// An editor saves in several steps, which should be heard of as one.
const QUIET: Duration = Duration::from_millis(150);

/// Whoever keeps what lies in the folders.
pub trait Hearer: Send + Sync + 'static {
    /// Something has changed, or may have: what was read before is old.
    fn stale(&self);

    /// These have changed, and are quiet now.
    fn settled(&self, names: Vec<String>);
}

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
    /// Only names like this are of something.
    pub fn begin<H: Hearer>(hearer: Weak<H>, is_name: fn(&str) -> bool) -> Self {
        let (sender, changes) = mpsc::unbounded_channel();
        let roots: Arc<Mutex<Vec<PathBuf>>> = Arc::default();
        let known = roots.clone();
        let of = hearer.clone();
        let heard = move |event: notify::Result<Event>| {
            let Ok(event) = event else {
                // Something was missed: nothing that is known can be relied on.
                if let Some(hearer) = of.upgrade() {
                    hearer.stale();
                }
                return;
            };
            if matches!(event.kind, EventKind::Access(_)) {
                return;
            }
            // At once, so that nobody is shown a list that is known to be old.
            if let Some(hearer) = of.upgrade() {
                hearer.stale();
            }
            let known = known.lock().unwrap_or_else(PoisonError::into_inner);
            for path in event.paths {
                // The other end is gone when the house is.
                sender.send(name(&known, &path).filter(|name| is_name(name))).ok();
            }
        };
        let watcher = notify::recommended_watcher(heard);
        let watcher = watcher.inspect_err(|error| {
            tracing::warn!(%error, "changes of files will not be heard of");
        });
        tokio::spawn(pass_on(hearer, changes));
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

/// What a file belongs to, if it belongs to something.
fn name(roots: &[PathBuf], path: &Path) -> Option<String> {
    let inside = roots.iter().find_map(|root| path.strip_prefix(root).ok())?;
    Some(inside.components().next()?.as_os_str().to_str()?.to_owned())
}

async fn pass_on<H: Hearer>(hearer: Weak<H>, mut changes: mpsc::UnboundedReceiver<Option<String>>) {
    while let Some(first) = changes.recv().await {
        let mut names = BTreeSet::from([first]);
        while let Ok(Some(more)) = tokio::time::timeout(QUIET, changes.recv()).await {
            names.insert(more);
        }
        let Some(hearer) = hearer.upgrade() else { return };
        let names: Vec<String> = names.into_iter().flatten().collect();
        if !names.is_empty() {
            hearer.settled(names);
        }
    }
}
