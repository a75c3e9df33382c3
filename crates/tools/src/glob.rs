//! Finds files by their names.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError, atomic::AtomicBool},
};

use cap_std::time::SystemTime;
use globset::{GlobBuilder, GlobMatcher};
use kernel::toolbox::{Call, Risk};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    folder::{Folder, Watch},
    search::{self, printable},
    typed::{Typed, shorten},
    walk::{Found, walk},
    workshop::Workshop,
};

const USUAL: usize = 100;
const MOST: usize = 1000;

/// Finds files of the session's folder by their names, newest first. Skips what `.gitignore` and
/// `.ignore` name, and what version control keeps for itself. Does not follow links.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Such as `*.rs` (in every directory), `src/*.{ts,js}` or `docs/**/*.md`.
    pattern: String,
    /// The directory to look in, relative to the session's folder, or absolute inside it. Patterns
    /// begin there. The session's folder itself if absent.
    path: Option<String>,
    /// How many to show; at most 1000. 100 if absent.
    limit: Option<usize>,
}

pub struct Glob {
    pub workshop: Workshop,
}

impl Typed for Glob {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "glob";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, input: &Input) -> String {
        format!("Finding {}", shorten(&input.pattern, 80))
    }

    async fn run(&self, input: Input, call: Call) -> Result<String, String> {
        let watch = Watch::default();
        let stop = watch.stop();
        self.workshop.within(call.cwd, move |folder| find(folder, &input, &stop)).await
    }
}

/// The newest so far.
#[derive(Default)]
struct Newest {
    files: BTreeSet<(Reverse<SystemTime>, PathBuf)>,
    left_out: u64,
}

fn find(folder: &Folder, input: &Input, stop: &AtomicBool) -> Result<String, String> {
    let pattern = matcher(&input.pattern)?;
    let most = search::limit(input.limit, USUAL, MOST)?;
    let from = search::directory(folder, input.path.as_deref())?;
    let newest = Mutex::new(Newest::default());
    let visit = |found: &Found| {
        if pattern.is_match(found.path.strip_prefix(&from).unwrap_or(&found.path)) {
            let changed = found.metadata()?.modified()?;
            let mut newest = newest.lock().unwrap_or_else(PoisonError::into_inner);
            newest.add(changed, &found.path, most);
        }
        io::Result::Ok(())
    };
    let walked = walk(folder, &from, stop, &visit);
    let unreadable = walked.map_err(|error| folder.explain(&from.display().to_string(), &error))?;
    Ok(newest.into_inner().unwrap_or_else(PoisonError::into_inner).show(unreadable))
}

/// A pattern without directories is one for every directory.
fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    let wrong = |why: &dyn std::fmt::Display| format!("the pattern cannot be read: {why}");
    if pattern.is_empty() {
        return Err(wrong(&"it is empty"));
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let anywhere = if pattern.contains('/') { String::new() } else { "**/".to_owned() };
    let glob = GlobBuilder::new(&format!("{anywhere}{pattern}")).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| wrong(error.kind()))
}

impl Newest {
    fn add(&mut self, changed: SystemTime, path: &Path, most: usize) {
        // However many there are, only so many are held.
        if self.files.len() == most {
            self.left_out += 1;
            let oldest = self.files.last().map(|(changed, path)| (*changed, path.as_path()));
            if oldest.is_some_and(|oldest| (Reverse(changed), path) > oldest) {
                return;
            }
            self.files.pop_last();
        }
        self.files.insert((Reverse(changed), path.to_owned()));
    }

    fn show(self, unreadable: u64) -> String {
        let files = self.files.iter().map(|(_, path)| printable(&path.to_string_lossy()));
        let mut lines: Vec<String> = files.collect();
        if lines.is_empty() {
            lines.push("(no file is named like that)".into());
        }
        if self.left_out > 0 {
            lines.push(format!("[{} more are not shown]", self.left_out));
        }
        lines.extend(search::missed(unreadable));
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests;
