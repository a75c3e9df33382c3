//! An app that is ready to be put into a folder of apps, and the putting.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use kernel::cabinet::{Card, InstallError, is_id};

use crate::{
    manifest,
    parcel::{ARCHIVE_BYTES, Parcel},
};

/// An app with its files, checked and not yet kept.
#[derive(Debug)]
pub struct Bundle {
    card: Card,
    parcel: Parcel,
}

impl Bundle {
    /// From an archive. `id` wins over what the archive calls itself, `name` is its own name.
    pub fn unpack(
        bytes: &[u8],
        id: Option<&str>,
        name: Option<&str>,
    ) -> Result<Self, InstallError> {
        let parcel = Parcel::unpack(bytes).map_err(InstallError::Refused)?;
        Self::check(parcel, id, name).map_err(InstallError::Refused)
    }

    /// From a folder, or from an archive on disk.
    pub fn read(path: &Path, id: Option<&str>) -> Result<Self, InstallError> {
        let disk = |error: io::Error| InstallError::Refused(format!("it cannot be read: {error}"));
        let about = fs::metadata(path).map_err(disk)?;
        let name = path.canonicalize().map_err(disk)?;
        let name = name.file_name().map(|name| name.to_string_lossy().into_owned());
        if about.is_dir() {
            let parcel = Parcel::gather(path).map_err(InstallError::Refused)?;
            return Self::check(parcel, id, name.as_deref()).map_err(InstallError::Refused);
        }
        if about.len() > ARCHIVE_BYTES as u64 {
            let what = format!("an archive may have {ARCHIVE_BYTES} bytes at most");
            return Err(InstallError::Refused(what));
        }
        Self::unpack(&fs::read(path).map_err(disk)?, id, name.as_deref())
    }

    pub fn card(&self) -> &Card {
        &self.card
    }

    fn check(mut parcel: Parcel, id: Option<&str>, name: Option<&str>) -> Result<Self, String> {
        let top = parcel.strip();
        let Some(description) = parcel.files.get("app.json") else {
            return Err(
                "there is no app.json in it, neither at its top nor in the one folder there".into(),
            );
        };
        if let Some(path) = parcel.is_confused() {
            return Err(format!("`{path}` is both a file and a folder"));
        }
        let description = std::str::from_utf8(description);
        let description = description.map_err(|_| "app.json is not UTF-8".to_owned())?;
        let id = match id {
            Some(id) if is_id(id) => id.to_owned(),
            Some(id) => return Err(format!("`{id}` cannot be the id of an app: {FORM}")),
            None => named(description, top.as_deref(), name)
                .ok_or_else(|| format!("nothing in it gives the app an id: {FORM}; name one"))?,
        };
        let card = manifest::read(&id, description, |path| parcel.files.contains_key(path));
        let fatal = card.problems.iter().find(|it| it.path.is_empty() || it.path == "/entry");
        if let Some(problem) = fatal {
            return Err(manifest::told(problem));
        }
        Ok(Self { card, parcel })
    }

    /// Puts it there, whole or not at all, in the place of whatever had its id.
    pub fn install(mut self, root: &Path) -> Result<Card, InstallError> {
        let folder = root.join(&self.card.id);
        let put = || {
            let staged = Staged::new(root)?;
            for (path, bytes) in &self.parcel.files {
                let path = staged.0.join(path);
                fs::create_dir_all(path.parent().unwrap_or(root))?;
                fs::write(path, bytes)?;
            }
            replace(root, &folder, &staged.0)
        };
        put().map_err(|error: io::Error| InstallError::Disk(error.to_string()))?;
        self.card.folder = Some(folder);
        Ok(self.card)
    }
}

const FORM: &str = "an id is a small letter, then small letters, digits and hyphens, at most 64";

/// What an app is called that nobody has named: by itself, by its folder, by its archive.
fn named(description: &str, top: Option<&str>, name: Option<&str>) -> Option<String> {
    let endings = [".zip", ".tar.gz", ".tgz"];
    let lower = |name: &str| name.to_lowercase();
    let stem = |name: &str| {
        let name = lower(name);
        let ending = endings.iter().find(|ending| name.ends_with(**ending));
        ending.map_or_else(|| name.clone(), |ending| name[..name.len() - ending.len()].to_owned())
    };
    let candidates = [manifest::own_id(description), top.map(lower), name.map(stem)];
    candidates.into_iter().flatten().find(|id| is_id(id))
}

/// Takes an app away; says whether there was one.
pub fn remove(root: &Path, id: &str) -> io::Result<bool> {
    let folder = root.join(id);
    match fs::symlink_metadata(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
        // What a link leads to belongs to somebody else.
        Ok(found) if found.is_symlink() => fs::remove_file(&folder)?,
        Ok(_) => {
            let outgoing = hidden(root);
            fs::rename(&folder, &outgoing)?;
            fs::remove_dir_all(&outgoing)?;
        }
    }
    Ok(true)
}

fn replace(root: &Path, folder: &Path, new: &Path) -> io::Result<()> {
    let old = hidden(root);
    let had = match fs::rename(folder, &old) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        moved => {
            moved?;
            true
        }
    };
    if let Err(error) = fs::rename(new, folder) {
        if had {
            // Back as it was; the first error is the one to tell.
            fs::rename(&old, folder).ok();
        }
        return Err(error);
    }
    if had {
        // Leftovers are ugly but harmless: nobody sees what is hidden.
        let link = fs::symlink_metadata(&old).is_ok_and(|found| found.is_symlink());
        if link {
            fs::remove_file(&old).ok()
        } else {
            fs::remove_dir_all(&old).ok()
        };
    }
    Ok(())
}

/// A folder that nobody sees, for as long as it is filled.
struct Staged(PathBuf);

impl Staged {
    fn new(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        let folder = hidden(root);
        fs::create_dir(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // It is gone already if all went well.
        fs::remove_dir_all(&self.0).ok();
    }
}

/// A name in this folder that is nobody's.
fn hidden(root: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = root.join(format!(".megaron-{}-{number}", process::id()));
        if fs::symlink_metadata(&path).is_err() {
            return path;
        }
    }
}
