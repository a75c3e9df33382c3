//! Files by directory handle: opened without waiting, written whole or not at all, and never beside
//! the directory that was meant.

mod at_hand;
mod roots;
mod staged;
mod twins;

use std::{ffi::OsStr, io, path::Path};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

pub use roots::{Found, Roots};
pub use staged::{Staged, stage};

/// Opens a regular file, and nothing that would make us wait.
pub fn open_file(dir: &Dir, path: &Path) -> io::Result<File> {
    // Opening a device may already do something, so it is looked at first.
    regular(&dir.metadata(path)?)?;
    opened(dir, path, FollowSymlinks::Yes).map(|(file, _)| file)
}

/// The same by a path that has no links: none that comes in between is followed.
pub fn open_real(dir: &Dir, path: &Path) -> io::Result<File> {
    let name = Path::new(name(path)?);
    let deeper = roots::descend(dir, path.parent().unwrap_or(Path::new("")), false)?;
    let parent = deeper.as_ref().unwrap_or(dir);
    regular(&parent.symlink_metadata(name)?)?;
    opened(parent, name, FollowSymlinks::No).map(|(file, _)| file)
}

fn opened(dir: &Dir, path: &Path, links: FollowSymlinks) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(links);
    let file = dir.open_with(path, &options)?;
    let about = file.metadata()?;
    regular(&about)?;
    Ok((file, about))
}

fn regular(found: &Metadata) -> io::Result<()> {
    match found {
        it if it.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        it if !it.is_file() => Err(io::Error::other("it is not a regular file")),
        _ => Ok(()),
    }
}

/// The directory a path lies in, and its name there.
pub fn parent<'path>(dir: &Dir, path: &'path Path) -> io::Result<(Dir, &'path OsStr)> {
    let name = name(path)?;
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => dir.open_dir(parent)?,
        _ => dir.try_clone()?,
    };
    Ok((parent, name))
}

pub fn name(path: &Path) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| io::Error::other("it does not name a file"))
}
