//! The session's folder, and nothing outside of it: no `..`, link or race leads out of the handle.

use std::{
    io::{self, Read as _},
    path::{Component, Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use cap_std::{
    ambient_authority,
    fs::{Dir, File},
};

use crate::workshop::Workshop;

/// Everything the file tools touch, they touch through this.
pub struct Folder {
    pub dir: Dir,
    root: PathBuf,
    shut: Option<Shut>,
}

/// The house's own directory, where it and the folder overlap, by real names.
struct Shut {
    root: PathBuf,
    house: PathBuf,
    /// Open all the same.
    workshop: Option<PathBuf>,
}

impl Shut {
    fn between(root: &Path, workshop: &Workshop) -> Option<Self> {
        let (root, house) =
            (root.canonicalize().ok()?, workshop.house.as_ref()?.canonicalize().ok()?);
        let overlap = house.starts_with(&root) || root.starts_with(&house);
        let workshop = workshop.applets.as_ref().and_then(|it| it.canonicalize().ok());
        overlap.then_some(Self { root, house, workshop })
    }
}

/// Tells work on another thread to stop once whoever waits for it is gone.
#[derive(Default)]
pub struct Watch(Arc<AtomicBool>);

impl Watch {
    pub fn stop(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Folder {
    pub fn open(root: PathBuf, workshop: &Workshop) -> Result<Self, String> {
        match Dir::open_ambient_dir(&root, ambient_authority()) {
            Ok(dir) => Ok(Self { shut: Shut::between(&root, workshop), dir, root }),
            Err(error) => {
                Err(format!("the session's folder {} cannot be opened: {error}", root.display()))
            }
        }
    }

    /// The path relative to the folder. Says nothing yet about where its links lead.
    pub fn relative(&self, path: &str) -> Result<PathBuf, String> {
        if path.is_empty() {
            return Err("the path is empty".into());
        }
        if path.contains('\0') {
            return Err("a path cannot contain a NUL character".into());
        }
        let given = Path::new(path);
        if !given.has_root() {
            return Ok(given.to_owned());
        }
        let real = self.root.canonicalize().ok();
        let roots = [Some(&self.root), real.as_ref()];
        let inside = roots.into_iter().flatten().find_map(|root| given.strip_prefix(root).ok());
        match inside {
            Some(inside) if inside == Path::new("") => Ok(".".into()),
            Some(inside) => Ok(inside.to_owned()),
            None => Err(self.outside(path)),
        }
    }

    /// The one name of a file that is, or may be made: no `..` and no links. What a link names is
    /// written, and not the link; and a grant for a path is a grant for no other.
    pub fn settle(&self, path: &str) -> Result<PathBuf, String> {
        let relative = self.relative(path)?;
        if path.ends_with('/') {
            return Err(format!("`{path}` names a directory; name a file in it"));
        }
        let (mut there, mut missing) = (relative.as_path(), Vec::new());
        let real = loop {
            let here = if there == Path::new("") { Path::new(".") } else { there };
            match self.dir.canonicalize(here) {
                Ok(real) => break real,
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(self.explain(path, &error));
                }
                Err(_) if self.dir.symlink_metadata(here).is_ok_and(|it| it.is_symlink()) => {
                    return Err(format!("`{path}` is a link to something that does not exist"));
                }
                Err(error) => match (there.parent(), there.components().next_back()) {
                    (Some(parent), Some(Component::Normal(name))) => {
                        missing.push(name);
                        there = parent;
                    }
                    _ => return Err(self.explain(path, &error)),
                },
            }
        };
        let settled: PathBuf = real.components().filter(|it| *it != Component::CurDir).collect();
        let settled = missing.into_iter().rev().fold(settled, |path, name| path.join(name));
        if settled.file_name().is_none() {
            return Err(format!("`{path}` does not name a file"));
        }
        self.permit(&settled).map_err(|error| self.explain(path, &error))?;
        Ok(settled)
    }

    /// What the house keeps for itself is no tool's, whatever folder a session has. The path has no
    /// links.
    pub fn permit(&self, real: &Path) -> io::Result<()> {
        let Some(Shut { root, house, workshop }) = &self.shut else { return Ok(()) };
        let meant: PathBuf =
            root.join(real).components().filter(|it| *it != Component::CurDir).collect();
        let is_open = workshop.as_ref().is_some_and(|it| meant.starts_with(it));
        if !is_open && meant.starts_with(house) {
            return Err(io::Error::other("Megaron keeps its own files to itself"));
        }
        Ok(())
    }

    /// The one name of something that is.
    pub fn real(&self, path: &Path) -> io::Result<PathBuf> {
        let real = self.dir.canonicalize(path)?;
        self.permit(&real)?;
        Ok(real)
    }

    /// Opens a regular file, and nothing that would make us wait.
    pub fn open_file(&self, path: &Path) -> io::Result<File> {
        if self.shut.is_none() {
            return place::open_file(&self.dir, path);
        }
        place::open_real(&self.dir, &self.real(path)?)
    }

    /// All of a text file that is not too large to work on.
    pub fn read_text(&self, path: &Path, most: u64) -> io::Result<String> {
        let (mut file, mut text) = (self.open_file(path)?.take(most + 1), Vec::new());
        file.read_to_end(&mut text)?;
        if text.len() as u64 > most {
            return Err(io::Error::other(format!("it has more than {most} bytes")));
        }
        String::from_utf8(text).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            io::Error::other(format!("it is not text: it is not UTF-8 at byte {at}"))
        })
    }

    /// What went wrong, in words that help the caller.
    pub fn explain(&self, path: &str, error: &io::Error) -> String {
        match error.kind() {
            // The system's own refusals carry a code.
            io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => self.outside(path),
            io::ErrorKind::NotFound => format!("`{path}` does not exist"),
            io::ErrorKind::IsADirectory => format!("`{path}` is a directory"),
            io::ErrorKind::NotADirectory => format!("`{path}` is not, or is not in, a directory"),
            _ => format!("`{path}` cannot be used: {error}"),
        }
    }

    fn outside(&self, path: &str) -> String {
        format!(
            "`{path}` leads outside the session's folder; only paths inside {} are allowed, \
             relative to it or absolute",
            self.root.display()
        )
    }
}

#[cfg(test)]
pub mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    /// A folder with a neighbour that holds a secret.
    pub struct House {
        temp: TempDir,
        pub folder: Folder,
    }

    pub fn house() -> House {
        let temp = TempDir::new().unwrap();
        fs::create_dir(temp.path().join("room")).unwrap();
        fs::create_dir(temp.path().join("next")).unwrap();
        fs::write(temp.path().join("next/secret"), "secret").unwrap();
        let folder = Folder::open(temp.path().join("room"), &Workshop::default()).unwrap();
        House { temp, folder }
    }

    impl House {
        pub fn room(&self) -> PathBuf {
            self.temp.path().join("room")
        }

        pub fn next(&self) -> PathBuf {
            self.temp.path().join("next")
        }

        /// Ways out of the room, each of which must be refused.
        pub fn ways_out(&self) -> Vec<String> {
            let mut ways = vec![
                "../next/secret".to_owned(),
                "a/../../next/secret".to_owned(),
                "..".to_owned(),
                "/".to_owned(),
                "/etc/hostname".to_owned(),
                self.next().join("secret").display().to_string(),
                format!("{}/../next/secret", self.room().display()),
            ];
            fs::create_dir_all(self.room().join("a")).unwrap();
            #[cfg(unix)]
            {
                use std::os::unix::fs::symlink;
                symlink(self.next().join("secret"), self.room().join("absolute")).unwrap();
                symlink("../next/secret", self.room().join("link")).unwrap();
                symlink("../next", self.room().join("door")).unwrap();
                symlink("../next/nothing", self.room().join("dangling")).unwrap();
                let links = ["absolute", "link", "door/secret", "door", "dangling"];
                ways.extend(links.map(str::to_owned));
            }
            ways
        }

        pub fn outside(&self, path: &str) -> String {
            self.folder.outside(path)
        }
    }

    #[test]
    fn an_absolute_path_inside_is_as_good_as_a_relative_one() {
        let house = house();
        let relative = |path: &Path| house.folder.relative(&path.display().to_string());
        assert_eq!(relative(&house.room().join("a/b")), Ok("a/b".into()));
        assert_eq!(relative(&house.room()), Ok(".".into()));
        assert_eq!(relative(Path::new("a/b")), Ok("a/b".into()));
        let beside = format!("{}er", house.room().display());
        assert_eq!(house.folder.relative(&beside), Err(house.outside(&beside)));
        assert_eq!(
            house.outside("x"),
            format!(
                "`x` leads outside the session's folder; only paths inside {} are allowed, \
                 relative to it or absolute",
                house.room().display()
            )
        );
    }

    #[test]
    fn paths_that_name_nothing_are_refused() {
        let house = house();
        assert_eq!(house.folder.relative(""), Err("the path is empty".into()));
        let nul = Err("a path cannot contain a NUL character".into());
        assert_eq!(house.folder.relative("a\0b"), nul);
        let missing = Folder::open(house.room().join("missing"), &Workshop::default()).err();
        assert!(missing.unwrap().contains("cannot be opened"));
    }

    #[test]
    fn work_that_nobody_waits_for_is_told_to_stop() {
        let watch = Watch::default();
        let stop = watch.stop();
        assert!(!stop.load(Ordering::Relaxed));
        drop(watch);
        assert!(stop.load(Ordering::Relaxed));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_has_one_name() {
        use std::os::unix::fs::symlink;
        let house = house();
        fs::create_dir_all(house.room().join("a/b")).unwrap();
        fs::write(house.room().join("a/file"), "").unwrap();
        symlink("a/b", house.room().join("short")).unwrap();
        symlink("../a/file", house.room().join("a/link")).unwrap();
        let absolute = house.room().join("a/../a/new").display().to_string();
        for (path, settled) in [
            ("a/file", "a/file"),
            ("./a//b/../file", "a/file"),
            ("a/link", "a/file"),
            ("short/new", "a/b/new"),
            ("short/../new", "a/new"),
            ("x/y/z", "x/y/z"),
            ("./x", "x"),
            (absolute.as_str(), "a/new"),
        ] {
            assert_eq!(house.folder.settle(path), Ok(settled.into()), "{path}");
        }
        let gone = "`gone/../x` does not exist".to_owned();
        assert_eq!(house.folder.settle("gone/../x"), Err(gone));
    }

    #[test]
    fn in_the_house_only_the_workshop_is_open() {
        let house = house();
        let keep = |path: &str| {
            let path = house.room().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "kept").unwrap();
        };
        keep(".house/key");
        keep(".house/applets/tally/script.js");
        let workshop = Workshop {
            applets: Some(house.room().join(".house/applets")),
            house: Some(house.room().join(".house")),
        };
        let open = |root: &str| Folder::open(house.room().join(root), &workshop).unwrap();
        let read = |folder: &Folder, path: &str| folder.read_text(Path::new(path), 10).ok();
        let kept = Some("kept".to_owned());
        assert_eq!(read(&open("."), ".house/applets/tally/script.js"), kept);
        assert_eq!(read(&open("."), ".house/key"), None);
        assert_eq!(read(&open(".house"), "key"), None);
        assert_eq!(read(&open(".house/applets"), "tally/script.js"), kept);
        assert!(open(".").settle(".house/applets/tally/new.js").is_ok());
        assert!(open(".").settle(".house/new").is_err());
    }
}
