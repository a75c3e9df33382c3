//! Every file of a folder but those that are ignored. Each step goes through a handle, so that
//! no link and no race leads out; a walker that works on paths could not promise that.

mod rules;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, DirEntry, File, OpenOptions};
use rayon::Scope;

use self::rules::Rules;
use crate::folder::Folder;

/// Deeper than this nobody has anything to find, and every step down keeps a handle open.
const DEEPEST: usize = 100;
/// So many files are looked at in a row; others may be looked at meanwhile.
const ROW: usize = 32;
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// A file on the way.
pub struct Found {
    /// From the session's folder on.
    pub path: PathBuf,
    entry: DirEntry,
}

impl Found {
    pub fn metadata(&self) -> io::Result<cap_std::fs::Metadata> {
        self.entry.metadata()
    }

    /// Opens it, if it is still the file it was.
    pub fn open(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        self.entry.open_with(&options)
    }
}

/// Goes through everything below a directory, on as many threads as there are, and shows each
/// file once, in no order. Returns how many could not be looked at.
pub fn walk(
    folder: &Folder,
    from: &Path,
    stop: &AtomicBool,
    visit: &(impl Fn(&Found) -> io::Result<()> + Sync),
) -> io::Result<u64> {
    let walk = Walk { folder, stop, visit, unreadable: AtomicU64::new(0) };
    let mut place = Place::root(folder.dir.try_clone()?);
    for name in from {
        place.rules = place.rules_with(&place.entries()?);
        place = place.below(place.dir.open_dir_nofollow(name)?, Path::new(name));
    }
    rayon::scope(|scope| walk.enter(scope, place));
    Ok(walk.unreadable.into_inner())
}

struct Walk<'a, V> {
    folder: &'a Folder,
    stop: &'a AtomicBool,
    visit: &'a V,
    unreadable: AtomicU64,
}

/// A directory on the way.
struct Place {
    dir: Dir,
    path: PathBuf,
    depth: usize,
    rules: Arc<Rules>,
}

impl<V: Fn(&Found) -> io::Result<()> + Sync> Walk<'_, V> {
    fn enter<'scope>(&'scope self, scope: &Scope<'scope>, place: Place) {
        if self.stop.load(Ordering::Relaxed) {
            return;
        }
        let entries = match place.entries() {
            Ok(entries) => entries,
            Err(error) => return self.miss(&error),
        };
        let rules = place.rules_with(&entries);
        let place = Arc::new(Place { rules, ..place });
        let (mut row, mut below) = (Vec::new(), Vec::new());
        for entry in entries {
            let name = entry.file_name();
            match kind(&entry) {
                Kind::Directory if self.folder.permit(&place.path.join(&name)).is_err() => {}
                Kind::Directory if VERSION_CONTROL.iter().any(|it| name == *it) => {}
                Kind::Directory if !place.rules.ignore(&place.path.join(&name), true) => {
                    below.push(name);
                }
                Kind::File => {
                    let path = place.path.join(&name);
                    if !place.rules.ignore(&path, false) {
                        row.push(Found { path, entry });
                    }
                    if row.len() == ROW {
                        let row = std::mem::take(&mut row);
                        scope.spawn(move |_| self.show(&row));
                    }
                }
                Kind::Directory | Kind::Other => {}
            }
        }
        for name in below {
            let place = place.clone();
            scope.spawn(move |scope| self.descend(scope, &place, Path::new(&name)));
        }
        drop(place);
        self.show(&row);
    }

    fn descend<'scope>(&'scope self, scope: &Scope<'scope>, place: &Place, name: &Path) {
        let opened = match place.depth {
            DEEPEST => Err(io::Error::other("it is too deep")),
            _ => place.dir.open_dir_nofollow(name),
        };
        match opened {
            Ok(dir) => self.enter(scope, place.below(dir, name)),
            Err(error) => self.miss(&error),
        }
    }

    fn show(&self, row: &[Found]) {
        for found in row {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            if let Err(error) = (self.visit)(found) {
                self.miss(&error);
            }
        }
    }

    fn miss(&self, error: &io::Error) {
        // What has gone in the meantime is not missed.
        if error.kind() != io::ErrorKind::NotFound {
            self.unreadable.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Place {
    fn root(dir: Dir) -> Self {
        let rules = Arc::new(Rules::of_repository(&dir));
        Self { dir, path: PathBuf::new(), depth: 0, rules }
    }

    fn below(&self, dir: Dir, name: &Path) -> Self {
        let path = self.path.join(name);
        Self { dir, path, depth: self.depth + 1, rules: self.rules.clone() }
    }

    fn entries(&self) -> io::Result<Vec<DirEntry>> {
        self.dir.entries()?.collect()
    }

    fn rules_with(&self, entries: &[DirEntry]) -> Arc<Rules> {
        Rules::below(&self.rules, &self.path, entries)
    }
}

enum Kind {
    Directory,
    File,
    Other,
}

fn kind(entry: &DirEntry) -> Kind {
    match entry.file_type() {
        Ok(kind) if kind.is_dir() => Kind::Directory,
        Ok(kind) if kind.is_file() => Kind::File,
        Ok(kind) if kind.is_symlink() => Kind::Other,
        // Some file systems tell only when asked again.
        Ok(_) | Err(_) => match entry.metadata() {
            Ok(found) if found.is_dir() => Kind::Directory,
            Ok(found) if found.is_file() => Kind::File,
            Ok(_) | Err(_) => Kind::Other,
        },
    }
}

#[cfg(test)]
mod tests;
