//! Writes a file, whole or not at all.

use std::{
    ffi::OsStr,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use cap_std::fs::{Dir, File, OpenOptions};
use kernel::toolbox::{Call, Risk};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    folder::{Folder, within},
    typed::{Typed, shorten},
};

/// Writes a text file in the session's folder, in place of any that is there. Missing directories
/// are made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file, relative to the session's folder, or absolute inside it.
    path: String,
    /// All that the file shall contain.
    content: String,
}

pub struct WriteFile;

impl Typed for WriteFile {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "write_file";
    const RISK: Risk = Risk::Edits;

    fn title(&self, input: &Input) -> String {
        format!("Writing {}", shorten(&input.path, 80))
    }

    async fn run(&self, input: Input, call: Call) -> Result<String, String> {
        within(call.cwd, move |folder| write(folder, &input)).await
    }
}

fn write(folder: &Folder, Input { path, content }: &Input) -> Result<String, String> {
    let explain = |error: io::Error| folder.explain(path, &error);
    let target = target(folder, path)?;
    let Some(name) = target.file_name() else {
        return Err(format!("`{path}` does not name a file"));
    };
    let parent = match target.parent() {
        Some(parent) if parent != Path::new("") => {
            folder.dir.create_dir_all(parent).map_err(explain)?;
            folder.dir.open_dir(parent).map_err(explain)?
        }
        _ => folder.dir.try_clone().map_err(explain)?,
    };
    let replaced = replace(&parent, name, |file| file.write_all(content.as_bytes()));
    let done = if replaced.map_err(explain)? { "replaced" } else { "created" };
    Ok(format!("{done} `{path}` ({} bytes)", content.len()))
}

/// Where to write. What a link names is written, and not the link.
fn target(folder: &Folder, path: &str) -> Result<PathBuf, String> {
    let relative = folder.relative(path)?;
    if path.ends_with('/') {
        return Err(format!("`{path}` names a directory; name a file in it"));
    }
    match folder.dir.symlink_metadata(&relative) {
        Ok(found) if found.is_symlink() => match folder.dir.canonicalize(&relative) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(format!("`{path}` is a link to something that does not exist"))
            }
            target => target.map_err(|error| folder.explain(path, &error)),
        },
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(folder.explain(path, &error)),
        Ok(_) | Err(_) => Ok(relative),
    }
}

/// Puts a new file in the place of that name, and says whether there was one. When it fails,
/// whatever was there is still there.
fn replace(
    dir: &Dir,
    name: &OsStr,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<bool> {
    let old = match dir.metadata(name) {
        Ok(old) if old.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(old) if !old.is_file() => {
            return Err(io::Error::other("it is not a regular file"));
        }
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let (temporary, mut file) = temporary(dir)?;
    let written = write(&mut file).and_then(|()| {
        if let Some(old) = &old {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        dir.rename(&temporary, dir, name)
    });
    if let Err(error) = written {
        // Leftovers are ugly but harmless; the first error is the one to tell.
        dir.remove_file(&temporary).ok();
        return Err(error);
    }
    Ok(old.is_some())
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
    use std::fs;

    use super::*;
    use crate::folder::tests::{House, house};

    fn put(house: &House, path: &str, content: &str) -> Result<String, String> {
        write(&house.folder, &Input { path: path.into(), content: content.into() })
    }

    fn read(house: &House, path: &str) -> String {
        fs::read_to_string(house.room().join(path)).unwrap()
    }

    /// What is in the folder, by name.
    fn names(house: &House) -> Vec<String> {
        let entries = fs::read_dir(house.room()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_created_and_then_replaced() {
        let house = house();
        assert_eq!(put(&house, "a", "one").as_deref(), Ok("created `a` (3 bytes)"));
        assert_eq!(put(&house, "a", "é").as_deref(), Ok("replaced `a` (2 bytes)"));
        assert_eq!(read(&house, "a"), "é");
        let absolute = house.room().join("x/y/grüße 👋").display().to_string();
        assert_eq!(put(&house, &absolute, ""), Ok(format!("created `{absolute}` (0 bytes)")));
        assert_eq!(read(&house, "x/y/grüße 👋"), "");
        assert_eq!(names(&house), ["a", "x"]);
        let longest = "n".repeat(255);
        assert_eq!(put(&house, &longest, ""), Ok(format!("created `{longest}` (0 bytes)")));
    }

    #[test]
    fn when_it_fails_the_old_file_is_still_there() {
        let house = house();
        put(&house, "a", "old").unwrap();
        let failed = replace(&house.folder.dir, OsStr::new("a"), |file| {
            file.write_all(b"half of the n")?;
            Err(io::Error::other("the disk is full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "the disk is full");
        assert_eq!(read(&house, "a"), "old");
        assert_eq!(names(&house), ["a"]);
    }

    #[test]
    fn nothing_outside_the_folder_can_be_written() {
        let house = house();
        for way in house.ways_out() {
            assert_eq!(put(&house, &way, "x"), Err(house.outside(&way)), "{way}");
            let new = format!("{way}/new");
            assert!(put(&house, &new, "x").is_err(), "{new}");
        }
        assert_eq!(fs::read_to_string(house.next().join("secret")).unwrap(), "secret");
        assert_eq!(fs::read_dir(house.next()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_a_file_is_explained() {
        let house = house();
        fs::create_dir(house.room().join("dir")).unwrap();
        put(&house, "a", "").unwrap();
        for (path, message) in [
            ("", "the path is empty"),
            ("a\0", "a path cannot contain a NUL character"),
            (".", "`.` does not name a file"),
            ("dir/..", "`dir/..` does not name a file"),
            ("dir", "`dir` is a directory"),
            ("new/", "`new/` names a directory; name a file in it"),
            ("a/b", "`a/b` is not, or is not in, a directory"),
        ] {
            assert_eq!(put(&house, path, "x"), Err(message.to_owned()));
        }
        assert_eq!(names(&house), ["a", "dir"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_a_script_stays_executable() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let house = house();
        put(&house, "script", "old").unwrap();
        let script = house.room().join("script");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).unwrap();
        symlink("script", house.room().join("link")).unwrap();
        assert_eq!(put(&house, "link", "new").as_deref(), Ok("replaced `link` (3 bytes)"));
        assert_eq!(read(&house, "script"), "new");
        assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o750);
        assert!(house.room().join("link").is_symlink());
        symlink("gone", house.room().join("dangling")).unwrap();
        let nowhere = "`dangling` is a link to something that does not exist";
        assert_eq!(put(&house, "dangling", ""), Err(nowhere.into()));
    }
}
