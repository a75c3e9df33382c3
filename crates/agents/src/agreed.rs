//! Changes of files that an agent was given leave for, and may then have made without being asked about again.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agent_client_protocol::v1::schema::Diff;

use crate::files;

/// How many are remembered at once.
const MOST: usize = 256;

/// What was agreed to in one turn. Clones are the same.
#[derive(Clone, Default)]
pub struct Agreed(Arc<Mutex<Vec<Change>>>);

/// A change as the person saw it.
#[derive(Clone, PartialEq)]
struct Change {
    /// The agent's call that it belongs to.
    call: String,
    diff: Diff,
}

impl Agreed {
    pub fn add(&self, call: &str, diffs: Vec<Diff>) {
        let mut changes = self.changes();
        let room = MOST.saturating_sub(changes.len());
        let new = diffs.into_iter().take(room).map(|diff| Change { call: call.to_owned(), diff });
        changes.extend(new);
    }

    /// The call under which it was agreed that this file shall hold this. Each change is good for
    /// one writing.
    pub async fn take(&self, cwd: &Path, path: &Path, content: &str) -> Option<String> {
        let about = |it: &&Change| cwd.join(&it.diff.path) == cwd.join(path);
        let known: Vec<Change> = self.changes().iter().filter(about).cloned().collect();
        if known.is_empty() {
            return None;
        }
        let now = files::read(cwd.to_owned(), path.to_owned(), None, None).await.ok();
        if now.is_none() && cwd.join(path).symlink_metadata().is_ok() {
            return None;
        }
        let calls = known.chunk_by(|one, other| one.call == other.call);
        let fits = |them: &&[Change]| after(now.as_deref(), them).as_deref() == Some(content);
        let fitting = calls.into_iter().find(fits)?;
        let call = fitting.first()?.call.clone();
        self.changes().retain(|it| !fitting.contains(it));
        Some(call)
    }

    fn changes(&self) -> MutexGuard<'_, Vec<Change>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a file would hold after these changes; `None` if they do not fit what it holds now.
fn after(now: Option<&str>, changes: &[Change]) -> Option<String> {
    let mut text = now.map(str::to_owned);
    for Change { diff, .. } in changes {
        text = match (text, &diff.old_text) {
            (None, None) => Some(diff.new_text.clone()),
            (Some(text), Some(old)) if text == *old => Some(diff.new_text.clone()),
            // Elsewhere in the file, the same words would be another change.
            (Some(text), Some(old)) if !old.is_empty() && text.matches(old).count() == 1 => {
                Some(text.replacen(old, &diff.new_text, 1))
            }
            _ => return None,
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: Option<&str>, new: &str) -> Diff {
        Diff::new("a", new).old_text(old.map(str::to_owned))
    }

    async fn taken(now: Option<&str>, diffs: Vec<Diff>, path: &str, content: &str) -> bool {
        let dir = tempfile::tempdir().unwrap();
        if let Some(now) = now {
            std::fs::write(dir.path().join("a"), now).unwrap();
        }
        let agreed = Agreed::default();
        agreed.add("c", diffs);
        let first = agreed.take(dir.path(), path.as_ref(), content).await;
        let again = agreed.take(dir.path(), path.as_ref(), content).await;
        assert_eq!(again, None, "one leave is for one writing");
        first.as_deref() == Some("c")
    }

    #[tokio::test]
    async fn only_the_change_that_was_shown_is_agreed_to() {
        assert!(taken(None, vec![diff(None, "new")], "a", "new").await);
        assert!(taken(Some("x\ny\n"), vec![diff(Some("x\ny\n"), "z\n")], "a", "z\n").await);
        assert!(taken(Some("x\ny\n"), vec![diff(Some("x"), "z")], "a", "z\ny\n").await);
        let both = || vec![diff(Some("x"), "z"), diff(Some("y"), "w")];
        assert!(taken(Some("x\ny\n"), both(), "a", "z\nw\n").await);
        assert!(!taken(Some("x\ny\n"), both(), "a", "z\ny\n").await, "half of it");
        assert!(!taken(None, vec![diff(None, "new")], "a", "newer").await);
        assert!(!taken(None, vec![diff(None, "new")], "b", "new").await);
        assert!(!taken(Some("old"), vec![diff(None, "new")], "a", "new").await, "it is there");
        assert!(!taken(Some("x\0"), vec![diff(None, "new")], "a", "new").await);
        assert!(!taken(Some("x x"), vec![diff(Some("x"), "z")], "a", "z x").await, "which one?");
        assert!(!taken(Some("y"), vec![diff(Some("x"), "z")], "a", "z").await, "it has changed");
        assert!(!taken(Some("y"), Vec::new(), "a", "z").await);
    }

    #[tokio::test]
    async fn a_file_is_the_same_by_its_whole_path() {
        let dir = tempfile::tempdir().unwrap();
        let agreed = Agreed::default();
        agreed.add("c", vec![diff(None, "new")]);
        let whole = dir.path().join("a");
        assert_eq!(agreed.take(dir.path(), &whole, "new").await.as_deref(), Some("c"));
    }
}
