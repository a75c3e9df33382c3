//! Applies a unified diff: to all the files it names, or to none.

mod fit;
mod parse;

use std::{collections::BTreeSet, path::PathBuf};

use kernel::toolbox::{Call, Deed, Reply, Risk};
use schemars::JsonSchema;
use serde::Deserialize;

use self::parse::Section;
use crate::{
    change::{self, Change, LARGEST, Old, carry_out, deed},
    folder::Folder,
    typed::{Typed, shorten},
    workshop::Workshop,
};

/// Applies a unified diff to files in the session's folder: adds, changes, deletes and renames them,
/// all of them or none. Unchanged and removed lines must be exactly as they are in the files; the
/// line numbers of a hunk may be off.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// For each file `--- a/path` and `+++ b/path`, then hunks that begin with `@@ -1,3 +1,4 @@`.
    /// `/dev/null` in the place of a path adds or deletes a file. To rename one, write
    /// `diff --git a/old b/new`, `rename from old` and `rename to new` before them.
    patch: String,
}

pub struct ApplyPatch {
    pub workshop: Workshop,
}

impl Typed for ApplyPatch {
    type Input = Input;
    type Output = Reply;
    const NAME: &'static str = "apply_patch";
    const RISK: Risk = Risk::Edits;

    fn title(&self, input: &Input) -> String {
        let Ok(sections) = parse::sections(&input.patch) else {
            return "Applying a patch".into();
        };
        let names: Vec<&str> = sections.iter().map(Section::name).collect();
        format!("Patching {}", shorten(&names.join(", "), 80))
    }

    async fn foresee(&self, input: Input, call: &Call) -> Result<Deed, String> {
        let planned = move |folder: &Folder| Ok(deed(&plan(folder, &input)?));
        let deed = self.workshop.within(call.cwd.clone(), planned).await?;
        Ok(self.workshop.judged(&call.cwd, deed))
    }

    async fn run(&self, input: Input, call: Call) -> Result<Reply, String> {
        self.workshop.within(call.cwd, move |folder| apply(folder, &input)).await
    }
}

fn apply(folder: &Folder, input: &Input) -> Result<Reply, String> {
    let changes = plan(folder, input)?;
    let done: Vec<String> = changes.iter().map(Change::done).collect();
    carry_out(folder, &changes, &done.join("\n"))
}

/// What becomes of each file.
fn plan(folder: &Folder, input: &Input) -> Result<Vec<Change>, String> {
    let (mut changes, mut named, mut size) = (Vec::new(), BTreeSet::new(), 0);
    for section in parse::sections(&input.patch)? {
        let change = change(folder, &section)?;
        let twice = change.from.iter().any(|path| !named.insert(path.clone()))
            || change
                .to
                .iter()
                .any(|to| change.from.as_ref() != Some(to) && !named.insert(to.clone()));
        if twice {
            let name = section.name();
            return Err(format!("the patch names `{name}` twice; put its hunks together"));
        }
        size += change.new.len() as u64 + change.old.size();
        if size > 4 * LARGEST {
            return Err(format!("the files have more than {} bytes together", 4 * LARGEST));
        }
        changes.push(change);
    }
    Ok(changes)
}

fn change(folder: &Folder, section: &Section) -> Result<Change, String> {
    let change = match (&section.old, &section.new) {
        (None, Some(new)) => create(folder, section, new)?,
        (Some(old), None) => delete(folder, section, old)?,
        (Some(old), Some(new)) => modify(folder, section, old, new)?,
        (None, None) => return Err("the patch makes nothing out of nothing".into()),
    };
    Ok(Change { executable: section.executable, ..change })
}

fn create(folder: &Folder, section: &Section, name: &str) -> Result<Change, String> {
    let path = vacant(folder, name)?;
    Ok(Change::create(path, fit::apply("", section)?))
}

fn delete(folder: &Folder, section: &Section, name: &str) -> Result<Change, String> {
    let path = itself(folder, name)?;
    let text = change::text(folder, name, &path)?;
    if !fit::apply(&text, section)?.is_empty() {
        return Err(format!(
            "`{name}` is to be deleted, but has lines that the patch does not remove"
        ));
    }
    let (old, new) = (Old::Text(text), String::new());
    Ok(Change { from: Some(path), to: None, old, new, executable: None })
}

fn modify(folder: &Folder, section: &Section, old: &str, new: &str) -> Result<Change, String> {
    let renamed = old != new;
    let from = if renamed { itself(folder, old)? } else { folder.settle(old)? };
    let to = if renamed { vacant(folder, new)? } else { from.clone() };
    let text = change::text(folder, old, &from)?;
    let changed = fit::apply(&text, section)?;
    Ok(Change { to: Some(to), ..Change::replace(from, Old::Text(text), changed) })
}

/// A place where nothing is.
fn vacant(folder: &Folder, name: &str) -> Result<PathBuf, String> {
    let path = folder.settle(name)?;
    if folder.dir.symlink_metadata(&path).is_ok() {
        return Err(format!("`{name}` exists already"));
    }
    Ok(path)
}

/// A file that will not be where it is. That of a link would leave the link behind.
fn itself(folder: &Folder, name: &str) -> Result<PathBuf, String> {
    let found = folder.dir.symlink_metadata(folder.relative(name)?);
    if found.is_ok_and(|found| found.is_symlink()) {
        return Err(format!("`{name}` is a link; only files can be deleted or renamed"));
    }
    folder.settle(name)
}

#[cfg(test)]
mod tests;
