//! What becomes of files: foreseen for whoever must allow it, then done to all of them or none.

use std::{io, path::Path, path::PathBuf};

use kernel::toolbox::{Deed, Detail, Reply, Risk};
use serde_json::json;

use crate::{diff, folder::Folder, put};

/// The most that a file may have to be worked on, in bytes.
pub const LARGEST: u64 = 16 * 1024 * 1024;
/// The most of a diff that is shown to a model.
const SHOWN: usize = 8 * 1024;
/// The most of a diff that is kept.
const KEPT: usize = 1024 * 1024;

/// What becomes of one file.
#[derive(Debug, PartialEq)]
pub struct Change {
    /// Where it is, and where it will be. Absent if it is new, or will be gone.
    pub from: Option<PathBuf>,
    pub to: Option<PathBuf>,
    pub old: Old,
    pub new: String,
    /// Whether it shall be executable, if that matters.
    pub executable: Option<bool>,
}

/// What was there.
#[derive(Debug, PartialEq)]
pub enum Old {
    /// Empty for a file that is new.
    Text(String),
    /// Something of which there can be no diff, and why.
    Opaque(String),
}

impl Old {
    pub fn size(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Opaque(_) => 0,
        }
    }
}

impl Change {
    pub fn create(path: PathBuf, new: String) -> Self {
        let old = Old::Text(String::new());
        Self { from: None, to: Some(path), old, new, executable: None }
    }

    pub fn replace(path: PathBuf, old: Old, new: String) -> Self {
        Self { from: Some(path.clone()), to: Some(path), old, new, executable: None }
    }

    /// What was done, in the past tense.
    pub fn done(&self) -> String {
        match (&self.from, &self.to) {
            (Some(from), Some(to)) if from != to => {
                format!("renamed `{}` to `{}`", from.display(), to.display())
            }
            (Some(path), Some(_)) => format!("changed `{}`", path.display()),
            (None, Some(path)) => format!("created `{}`", path.display()),
            (Some(path), None) => format!("deleted `{}`", path.display()),
            (None, None) => "did nothing".into(),
        }
    }

    /// The unified diff, as Git writes it, and as `apply_patch` reads it.
    pub fn diff(&self) -> String {
        let (Some(old), Some(new)) = (
            self.from.as_deref().or(self.to.as_deref()),
            self.to.as_deref().or(self.from.as_deref()),
        ) else {
            return String::new();
        };
        let hunks = match &self.old {
            Old::Text(old) => diff::hunks(old, &self.new),
            Old::Opaque(why) => format!("[what was there is not shown: {why}]\n"),
        };
        let extended = self.extended();
        if hunks.is_empty() && extended.is_empty() {
            return String::new();
        }
        let [a, b] = [("a", old), ("b", new)]
            .map(|(side, path)| quoted(&format!("{side}/{}", path.display())));
        let header = format!("diff --git {a} {b}\n{extended}");
        if hunks.is_empty() {
            return header;
        }
        let from = self.from.as_ref().map_or("/dev/null", |_| &a);
        let to = self.to.as_ref().map_or("/dev/null", |_| &b);
        format!("{header}--- {from}\n+++ {to}\n{hunks}")
    }

    /// What two names and the lines between them cannot say.
    fn extended(&self) -> String {
        let mode = if self.executable == Some(true) { "100755" } else { "100644" };
        match (&self.from, &self.to) {
            (None, _) => format!("new file mode {mode}\n"),
            (_, None) => "deleted file mode 100644\n".into(),
            (Some(from), Some(to)) => {
                let [old, new] = [from, to].map(|path| quoted(&path.display().to_string()));
                let changed = self.executable.map(|_| format!("new mode {mode}\n"));
                let renamed = format!("rename from {old}\nrename to {new}\n");
                let renamed = (from != to).then_some(renamed);
                [changed, renamed].into_iter().flatten().collect()
            }
        }
    }

    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let to = self.to.iter().filter(|to| self.from.as_ref() != Some(to));
        self.from.iter().chain(to)
    }
}

/// A name as it stands in a header: in quotation marks if it would not be read back otherwise.
fn quoted(name: &str) -> String {
    let odd = |c: char| c.is_control() || c == '"' || c == '\\';
    if !name.contains(odd) {
        return name.to_owned();
    }
    let escaped = name.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_ascii_control() => format!("\\{:03o}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// What there is to allow.
pub fn deed(changes: &[Change]) -> Deed {
    let paths: Vec<&PathBuf> = changes.iter().flat_map(Change::paths).collect();
    let subjects: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let risk = if paths.iter().any(|path| runs(path)) { Risk::Acts } else { Risk::Edits };
    let diff = diff::shortened(&diff_of(changes), KEPT);
    Deed {
        risk,
        detail: Detail::Change { path: subjects.join(", "), diff },
        subjects,
        within: None,
    }
}

/// Whether to write there is to run programs later: Git's hooks and settings do that.
fn runs(path: &Path) -> bool {
    path.components().any(|it| it.as_os_str().eq_ignore_ascii_case(".git"))
}

/// Does it, and shows what is different now.
pub fn carry_out(folder: &Folder, changes: &[Change], done: &str) -> Result<Reply, String> {
    put::all(folder, changes)?;
    let diff = diff_of(changes);
    let text = format!("{done}\n{}", diff::shortened(&diff, SHOWN));
    let data = json!({ "diff": diff::shortened(&diff, KEPT) });
    Ok(Reply { text: text.trim_end().to_owned(), data: Some(data), ..Reply::default() })
}

fn diff_of(changes: &[Change]) -> String {
    changes.iter().map(Change::diff).collect()
}

/// The text of a file that is to be changed.
pub fn text(folder: &Folder, given: &str, path: &Path) -> Result<String, String> {
    let explain = |error: io::Error| folder.explain(given, &error);
    folder.read_text(path, LARGEST).map_err(explain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(from: Option<&str>, to: Option<&str>, old: &str, new: &str) -> Change {
        let [from, to] = [from, to].map(|path| path.map(PathBuf::from));
        let old = Old::Text(old.into());
        Change { from, to, old, new: new.into(), executable: None }
    }

    #[test]
    fn a_diff_names_the_file_and_what_becomes_of_it() {
        let tool = Change { executable: Some(true), ..change(None, Some("x"), "", "") };
        for (change, diff) in [
            (change(None, Some("a"), "", ""), "diff --git a/a b/a\nnew file mode 100644\n"),
            (
                change(Some("a"), None, "x\n", ""),
                "diff --git a/a b/a\ndeleted file mode 100644\n\
                 --- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n",
            ),
            (
                change(Some("a"), Some("b"), "x\n", "x\n"),
                "diff --git a/a b/b\nrename from a\nrename to b\n",
            ),
            (change(Some("a"), Some("a"), "x", "x"), ""),
            (tool, "diff --git a/x b/x\nnew file mode 100755\n"),
            (
                change(None, Some("a\n\"b"), "", "x\n"),
                "diff --git \"a/a\\012\\\"b\" \"b/a\\012\\\"b\"\nnew file mode 100644\n\
                 --- /dev/null\n+++ \"b/a\\012\\\"b\"\n@@ -0,0 +1,1 @@\n+x\n",
            ),
        ] {
            assert_eq!(change.diff(), diff);
        }
    }

    #[test]
    fn a_file_that_git_may_run_is_more_than_an_edit() {
        let risk = |path| deed(&[change(None, Some(path), "", "")]).risk;
        assert_eq!(risk("src/git/config"), Risk::Edits);
        assert_eq!(risk(".gitignore"), Risk::Edits);
        assert_eq!(risk(".git/hooks/pre-commit"), Risk::Acts);
        assert_eq!(risk("sub/.GIT/config"), Risk::Acts);
    }
}
