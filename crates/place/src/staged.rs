//! A file that is complete before anybody sees it.

use std::{
    ffi::OsStr,
    io, process,
    sync::atomic::{AtomicU64, Ordering},
};

use cap_std::fs::{Dir, File, OpenOptions, Permissions};

/// A file that is complete, and not yet where it belongs.
pub struct Staged {
    pub dir: Dir,
    temporary: String,
    pub settled: bool,
}

impl Staged {
    /// Puts it there, in the place of whatever was.
    pub fn settle(&mut self, name: &OsStr) -> io::Result<()> {
        self.dir.rename(&self.temporary, &self.dir, name)?;
        self.settled = true;
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.settled {
            // Leftovers are ugly but harmless.
            self.dir.remove_file(&self.temporary).ok();
        }
    }
}

/// Writes a file under a name of its own, safe on the disk.
pub fn stage(
    dir: &Dir,
    permissions: Option<Permissions>,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<Staged> {
    let (temporary, mut file) = temporary(dir)?;
    let staged = Staged { dir: dir.try_clone()?, temporary, settled: false };
    write(&mut file)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()?;
    Ok(staged)
}

fn temporary(dir: &Dir) -> io::Result<(String, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".megaron-{}-{number}.tmp", process::id());
        match dir.open_with(&name, &options) {
            // Left over from a process that died.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return Ok((name, opened?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use cap_std::ambient_authority;

    use super::*;

    #[test]
    fn when_writing_fails_nothing_is_left_behind() {
        let temp = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(temp.path(), ambient_authority()).unwrap();
        let failed = stage(&dir, None, |file| {
            file.write_all(b"half of the n")?;
            Err(io::Error::other("the disk is full"))
        });
        assert_eq!(failed.err().unwrap().to_string(), "the disk is full");
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
    }
}
