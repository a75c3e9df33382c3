//! Where applets are made: the one place besides the session's folder that file tools reach; and the
//! house around it, which they do not.

use std::path::{Path, PathBuf};

use kernel::toolbox::{Call, Deed, Detail, Risk};

use crate::folder::Folder;

#[derive(Clone, Debug, Default)]
pub struct Workshop {
    pub applets: Option<PathBuf>,
    /// Where the house keeps its keys and all that was ever said.
    pub house: Option<PathBuf>,
}

impl Workshop {
    /// The folder that a path is meant in. One in the workshop is written out in full.
    pub fn root(&self, path: &str, call: &Call) -> PathBuf {
        let there = |root: &&PathBuf| {
            Path::new(path).starts_with(root) && !Path::new(path).starts_with(&call.cwd)
        };
        self.applets.as_ref().filter(there).unwrap_or(&call.cwd).clone()
    }

    /// Does blocking work in a folder, away from the tasks that must not wait.
    pub async fn within<T, F>(&self, root: PathBuf, work: F) -> Result<T, String>
    where
        T: Send + 'static,
        F: FnOnce(&Folder) -> Result<T, String> + Send + 'static,
    {
        let workshop = self.clone();
        let work = tokio::task::spawn_blocking(move || work(&Folder::open(root, &workshop)?));
        work.await.unwrap_or_else(|_| Err("the tool broke down".into()))
    }

    /// What is to be allowed in this folder. What is made in the workshop runs in the person's
    /// browser, so no leave for other files covers it: not for all of them, nor because the workshop
    /// happens to lie in the session's folder.
    pub fn judged(&self, root: &Path, deed: Deed) -> Deed {
        let Some(workshop) = self.applets.as_deref().and_then(|it| it.canonicalize().ok()) else {
            return deed;
        };
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let paths: Vec<PathBuf> = deed.subjects.iter().map(|path| root.join(path)).collect();
        if !paths.iter().any(|path| path.starts_with(&workshop)) {
            return deed;
        }
        let subjects: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
        let detail = match deed.detail {
            Detail::Change { diff, .. } => Detail::Change { path: subjects.join(", "), diff },
            other => other,
        };
        let within = Some(workshop.display().to_string());
        Deed { risk: Risk::Acts, detail, subjects, within }
    }
}
