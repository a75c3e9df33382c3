//! Where applets are made: the one place besides the session's folder that file tools reach.

use std::path::{Path, PathBuf};

use kernel::toolbox::{Call, Deed, Detail, Risk};

#[derive(Clone, Debug, Default)]
pub struct Workshop(pub Option<PathBuf>);

impl Workshop {
    /// The folder that a path is meant in. One in the workshop is written out in full.
    pub fn root(&self, path: &str, call: &Call) -> PathBuf {
        let there = |root: &&PathBuf| {
            Path::new(path).starts_with(root) && !Path::new(path).starts_with(&call.cwd)
        };
        self.0.as_ref().filter(there).unwrap_or(&call.cwd).clone()
    }

    /// What is to be allowed in this folder. What is made in the workshop runs in the person's
    /// browser, so no leave for the session's own files covers it.
    pub fn judged(root: &Path, call: &Call, deed: Deed) -> Deed {
        if root == call.cwd {
            return deed;
        }
        let whole = |path: &String| root.join(path).display().to_string();
        let subjects: Vec<_> = deed.subjects.iter().map(whole).collect();
        let detail = match deed.detail {
            Detail::Change { diff, .. } => Detail::Change { path: subjects.join(", "), diff },
            other => other,
        };
        Deed { risk: Risk::Acts, detail, subjects }
    }
}
