//! What `.gitignore` and `.ignore` say, from a directory up to the session's folder.

use std::{io::Read as _, path::Path, sync::Arc};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, DirEntry, File, OpenOptions};
use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

/// In the order they are asked.
const FILES: [&str; 2] = [".ignore", ".gitignore"];
/// A longer one was not written by a person, and is read no further.
const LONGEST: u64 = 1024 * 1024;

#[derive(Default)]
pub struct Rules {
    own: Vec<Gitignore>,
    above: Option<Arc<Rules>>,
}

impl Rules {
    /// Those that are not in the tree.
    pub fn of_repository(dir: &Dir) -> Self {
        let file = dir.open_with(".git/info/exclude", &options());
        let own = file.ok().and_then(|file| read(file, Path::new(""))).into_iter().collect();
        Self { own, above: None }
    }

    /// With those of a directory below.
    pub fn below(above: &Arc<Self>, path: &Path, entries: &[DirEntry]) -> Arc<Self> {
        let named = |name: &&str| entries.iter().find(|entry| entry.file_name() == **name);
        let files = FILES.iter().filter_map(named);
        let files = files.filter_map(|entry| entry.open_with(&options()).ok());
        let own: Vec<Gitignore> = files.filter_map(|file| read(file, path)).collect();
        if own.is_empty() {
            return above.clone();
        }
        Arc::new(Self { own, above: Some(above.clone()) })
    }

    pub fn ignore(&self, path: &Path, directory: bool) -> bool {
        for own in &self.own {
            match own.matched(path, directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        self.above.as_ref().is_some_and(|above| above.ignore(path, directory))
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(FollowSymlinks::No);
    options
}

/// Rules that cannot be read are no rules. Not read by the crate itself: it would follow a link
/// out of the folder, wait for a pipe, and read a device for ever.
fn read(file: File, root: &Path) -> Option<Gitignore> {
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    let mut builder = GitignoreBuilder::new(root);
    for line in String::from_utf8_lossy(&text).lines() {
        // A line that makes no sense is not obeyed, as Git does it.
        builder.add_line(None, line).ok();
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
