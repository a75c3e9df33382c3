//! What apps keep, on disk: whole files by directory handle, as much as each may.

use std::{
    collections::HashMap,
    fs,
    io::{self, Read as _},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use cap_std::fs::Dir;
use jiff::Timestamp;
use place::{Found, Roots};

/// How many files one app may keep.
const FILES: u64 = 10_000;
/// How deep folders may lie within each other.
const DEPTH: usize = 64;

pub struct Cellar {
    root: PathBuf,
    roots: Roots,
    /// How much is kept in each part, once it was counted. Held while something is written there.
    used: Mutex<HashMap<String, Arc<Mutex<Option<Used>>>>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Used {
    bytes: u64,
    files: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Kept {
    File(Vec<u8>),
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// From the top of all that is kept.
    pub path: String,
    pub is_directory: bool,
    pub size: u64,
    pub modified: Timestamp,
}

#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    #[error("there is no room for so many bytes")]
    Full,
    #[error("there is no room for so many files")]
    Many,
    #[error(transparent)]
    Disk(#[from] io::Error),
}

impl Cellar {
    pub fn new(root: PathBuf) -> Self {
        Self { roots: Roots::new(vec![root.clone()], Vec::new()), root, used: Mutex::default() }
    }

    pub fn read(&self, path: &str) -> io::Result<Kept> {
        let Some(found) = self.find(path)? else { return Ok(Kept::Nothing) };
        let mut bytes = Vec::new();
        match found.file() {
            Ok((mut file, _)) => file.read_to_end(&mut bytes)?,
            Err(error) if is_nothing(&error) => return Ok(Kept::Nothing),
            Err(error) => return Err(error),
        };
        Ok(Kept::File(bytes))
    }

    /// What is in a folder, folders first; nothing if there is none.
    pub fn list(&self, path: &str) -> io::Result<Vec<Item>> {
        let Some(found) = self.find(path)? else { return Ok(Vec::new()) };
        let dir = match found.dir() {
            Ok(dir) => dir,
            Err(error) if is_nothing(&error) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut items = Vec::new();
        for entry in dir.entries()? {
            // What goes away meanwhile is not there.
            let Ok((name, about)) = entry.and_then(|it| Ok((it.file_name(), it.metadata()?)))
            else {
                continue;
            };
            let Some(name) = name.to_str().filter(|name| !name.starts_with(".megaron-")) else {
                continue;
            };
            if !about.is_dir() && !about.is_file() {
                continue;
            }
            let modified = about.modified().ok().map(cap_std::time::SystemTime::into_std);
            items.push(Item {
                path: if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") },
                is_directory: about.is_dir(),
                size: if about.is_file() { about.len() } else { 0 },
                modified: modified.and_then(|it| it.try_into().ok()).unwrap_or_default(),
            });
        }
        items.sort_by(|a, b| (b.is_directory, &a.path).cmp(&(a.is_directory, &b.path)));
        Ok(items)
    }

    /// Keeps a whole file in the place of the one that was, if there is room for it.
    pub fn save(&self, path: &str, bytes: &[u8], quota: u64) -> Result<(), SaveError> {
        fs::create_dir_all(&self.root)?;
        let part = part(path);
        let used = self.used(&part);
        let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
        let outside = || io::Error::from(io::ErrorKind::PermissionDenied);
        let found = self.find(path)?.ok_or_else(outside)?;
        let old = found.file().ok().map(|(_, about)| about.len());
        let after = |used: Used| Used {
            bytes: used.bytes.saturating_sub(old.unwrap_or_default()) + bytes.len() as u64,
            files: used.files + u64::from(old.is_none()),
        };
        let fits = |after: Used| after.bytes <= quota && after.files <= FILES;
        let known = used.map(after).filter(|after| fits(*after));
        // Before anybody is sent away it is counted again: the person may have made room.
        let after = match known {
            Some(after) => after,
            None => after(self.count(&part)?),
        };
        if after.bytes > quota {
            return Err(SaveError::Full);
        }
        if after.files > FILES {
            return Err(SaveError::Many);
        }
        found.write(bytes, true)?;
        *used = Some(after);
        Ok(())
    }

    /// Says whether there was something.
    pub fn remove(&self, path: &str) -> io::Result<bool> {
        let used = self.used(&part(path));
        let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(found) = self.find(path)? else { return Ok(false) };
        *used = None;
        match found.remove() {
            Ok(()) => Ok(true),
            Err(error) if is_nothing(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn find(&self, path: &str) -> io::Result<Option<Found>> {
        match self.roots.find(&self.root.join(path)) {
            Ok(None) if self.root.exists() => Err(io::ErrorKind::PermissionDenied.into()),
            Err(error) if is_nothing(&error) => Ok(None),
            found => found,
        }
    }

    fn count(&self, part: &str) -> io::Result<Used> {
        let Some(found) = self.find(part)? else { return Ok(Used::default()) };
        let mut used = Used::default();
        if let Ok(dir) = found.dir() {
            add(&dir, &mut used, 0)?;
        }
        Ok(used)
    }

    fn used(&self, part: &str) -> Arc<Mutex<Option<Used>>> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.entry(part.to_owned()).or_default().clone()
    }
}

/// What is counted together: all that an app keeps, or a folder that several share.
fn part(path: &str) -> String {
    let names: Vec<&str> = path.split('/').collect();
    match names.as_slice() {
        ["apps", id, ..] => format!("apps/{id}"),
        [first, ..] => (*first).to_owned(),
        [] => String::new(),
    }
}

fn add(dir: &Dir, used: &mut Used, depth: usize) -> io::Result<()> {
    for entry in dir.entries()? {
        let entry = entry?;
        let about = entry.metadata()?;
        if about.is_dir() && depth < DEPTH {
            add(&entry.open_dir()?, used, depth + 1)?;
        } else if about.is_file() {
            used.bytes += about.len();
            used.files += 1;
        }
    }
    Ok(())
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn cellar() -> (tempfile::TempDir, Cellar) {
        let temp = tempfile::tempdir().unwrap();
        let cellar = Cellar::new(temp.path().join("storage"));
        (temp, cellar)
    }

    #[test]
    fn what_was_kept_is_found_again_also_by_another_server() {
        let (temp, cellar) = cellar();
        assert_eq!(cellar.read("apps/a/x").unwrap(), Kept::Nothing);
        assert_eq!(cellar.list("apps/a").unwrap(), []);
        assert!(!cellar.remove("apps/a/x").unwrap());
        assert!(!temp.path().join("storage").exists(), "looking makes nothing");
        cellar.save("apps/a/d/x", b"one", 10).unwrap();
        cellar.save("apps/a/d/x", b"two", 10).unwrap();
        cellar.save("apps/a/b", b"", 10).unwrap();
        let again = Cellar::new(temp.path().join("storage"));
        assert_eq!(again.read("apps/a/d/x").unwrap(), Kept::File(b"two".to_vec()));
        let listed = again.list("apps/a").unwrap();
        let listed: Vec<_> =
            listed.iter().map(|it| (it.path.as_str(), it.is_directory, it.size)).collect();
        assert_eq!(listed, [("apps/a/d", true, 0), ("apps/a/b", false, 0)]);
        assert_eq!(again.read("apps/a/d").unwrap(), Kept::Nothing, "a folder is no file");
        assert_eq!(again.read("apps/a/b/c").unwrap(), Kept::Nothing);
        assert_eq!(again.list("apps/a/b").unwrap(), []);
        assert!(again.remove("apps/a/d").unwrap());
        assert_eq!(again.read("apps/a/d/x").unwrap(), Kept::Nothing);
    }

    #[test]
    fn an_app_keeps_as_much_as_it_may_and_no_more() {
        let (temp, cellar) = cellar();
        cellar.save("apps/a/x", b"12345", 10).unwrap();
        cellar.save("apps/a/y", b"12345", 10).unwrap();
        assert!(matches!(cellar.save("apps/a/z", b"1", 10), Err(SaveError::Full)));
        cellar.save("apps/a/y", b"1234", 10).unwrap();
        cellar.save("apps/a/z", b"1", 10).unwrap();
        cellar.save("apps/b/z", b"1234567890", 10).unwrap();
        assert!(cellar.remove("apps/a/x").unwrap());
        cellar.save("apps/a/w", b"12345", 10).unwrap();
        assert!(matches!(cellar.save("apps/a/v", b"1", 10), Err(SaveError::Full)));
        fs::remove_file(temp.path().join("storage/apps/a/w")).unwrap();
        cellar.save("apps/a/v", b"1", 10).unwrap();
        let again = Cellar::new(temp.path().join("storage"));
        assert!(
            matches!(again.save("apps/a/u", b"123456", 10), Err(SaveError::Full)),
            "counted anew"
        );
    }

    #[test]
    fn no_link_leads_out_of_what_is_kept() {
        let (temp, cellar) = cellar();
        cellar.save("apps/a/x", b"x", 10).unwrap();
        fs::write(temp.path().join("key"), "secret").unwrap();
        let own = temp.path().join("storage/apps/a");
        symlink("../../../key", own.join("key")).unwrap();
        symlink("../../..", own.join("up")).unwrap();
        for path in ["apps/a/key", "apps/a/up/key", "apps/a/up"] {
            let denied = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
            assert!(denied(cellar.read(path).unwrap_err()), "{path}");
            assert!(denied(cellar.list(path).unwrap_err()), "{path}");
            assert!(denied(cellar.remove(path).unwrap_err()), "{path}");
            assert!(cellar.save(path, b"mine", 10).is_err(), "{path}");
        }
        assert_eq!(fs::read(temp.path().join("key")).unwrap(), b"secret");
        let names = cellar.list("apps/a").unwrap();
        assert_eq!(names.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["apps/a/x"]);
    }
}
