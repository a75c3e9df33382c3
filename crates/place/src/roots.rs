//! The directories somebody may use, and what a path names within them.

use std::{
    io::{self, Write as _},
    path::{Component, Path, PathBuf},
    sync::OnceLock,
};

use cap_fs_ext::{DirExt as _, FollowSymlinks};
use cap_std::{
    ambient_authority,
    fs::{Dir, File, Metadata},
};

use crate::{at_hand, name, opened, regular, stage, twins};

/// Directories that are open to somebody, and those within them that are not.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    open: Vec<Root>,
    shut: Vec<Root>,
}

/// A directory, and its one name since it was first there: who moves another into its place opens
/// nothing with that.
#[derive(Clone, Debug)]
struct Root {
    path: PathBuf,
    real: OnceLock<PathBuf>,
}

impl Root {
    fn new(path: PathBuf) -> Self {
        let root = Self { path, real: OnceLock::new() };
        root.real();
        root
    }

    fn real(&self) -> Option<&Path> {
        // To see that it is still not there is cheaper than to look for its name.
        if self.real.get().is_none() && self.path.exists() {
            self.real.set(self.path.canonicalize().ok()?).ok();
        }
        self.real.get().map(PathBuf::as_path)
    }
}

/// What a path names: a directory that is open, and the way from there. No link is followed any more,
/// so that no race leads elsewhere.
#[derive(Debug)]
pub struct Found {
    root: Dir,
    within: PathBuf,
    /// The same as one path.
    pub real: PathBuf,
    /// Whose files are not given out under another name either.
    shut: Vec<PathBuf>,
}

impl Found {
    /// Opens it as a regular file, and as nothing that would make us wait.
    pub fn file(&self) -> io::Result<(File, Metadata)> {
        let (file, about) = self.in_parent(false, |parent, name| {
            regular(&parent.symlink_metadata(name)?)?;
            opened(parent, name, FollowSymlinks::No)
        })?;
        if twins::lies_in(&about, &self.shut) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok((file, about))
    }

    /// The way from the open directory; `.` for that one itself.
    pub fn within(&self) -> &Path {
        &self.within
    }

    /// What is called `name` in this directory, or would be.
    pub fn child(&self, name: &str) -> io::Result<Self> {
        let within = self.within.join(name);
        let root = self.root.try_clone()?;
        Ok(Self { root, within, real: self.real.join(name), shut: self.shut.clone() })
    }

    pub fn dir(&self) -> io::Result<Dir> {
        descend(&self.root, &self.within, false)?.map_or_else(|| self.root.try_clone(), Ok)
    }

    pub fn is_dir(&self) -> bool {
        self.dir().is_ok()
    }

    /// Whether something is there that is no file: a directory, a link, a device.
    pub fn is_taken(&self) -> bool {
        let found = self.in_parent(false, |parent, name| parent.symlink_metadata(name));
        found.is_ok_and(|found| regular(&found).is_err())
    }

    /// Puts a whole file there, in the place of the one that was; with `make`, also the directories
    /// that are missing.
    pub fn write(&self, bytes: &[u8], make: bool) -> io::Result<()> {
        self.in_parent(make, |parent, name| {
            let was = match parent.symlink_metadata(name) {
                Ok(found) => {
                    regular(&found)?;
                    Some(found.permissions())
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
            stage(parent, was, |file| file.write_all(bytes))?.settle(name.as_os_str())
        })
    }

    /// Takes away the file, or the directory with all that is in it.
    pub fn remove(&self) -> io::Result<()> {
        self.in_parent(false, |parent, name| {
            if parent.symlink_metadata(name)?.is_dir() {
                return parent.remove_dir_all(name);
            }
            parent.remove_file(name)
        })
    }

    fn in_parent<T>(
        &self,
        make: bool,
        work: impl FnOnce(&Dir, &Path) -> io::Result<T>,
    ) -> io::Result<T> {
        // The root itself is no file.
        let Ok(name) = name(&self.within) else { return Err(io::ErrorKind::IsADirectory.into()) };
        let way = self.within.parent().unwrap_or(Path::new(""));
        let deeper = descend(&self.root, way, make)?;
        work(deeper.as_ref().unwrap_or(&self.root), Path::new(name))
    }
}

/// The directory at the end of a way, or nothing where that does not lead anywhere else.
pub fn descend(from: &Dir, way: &Path, make: bool) -> io::Result<Option<Dir>> {
    let mut deeper = None;
    for step in way.components().filter(|it| *it != Component::CurDir) {
        let dir = deeper.as_ref().unwrap_or(from);
        deeper = Some(match dir.open_dir_nofollow(step) {
            Err(error) if make && error.kind() == io::ErrorKind::NotFound => {
                match dir.create_dir(step) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(error);
                    }
                    _ => dir.open_dir_nofollow(step)?,
                }
            }
            opened => opened?,
        });
    }
    Ok(deeper)
}

impl Roots {
    /// What is below `shut` is refused, unless it is also below one of `open` that lies deeper.
    pub fn new(open: Vec<PathBuf>, shut: Vec<PathBuf>) -> Self {
        let roots = |paths: Vec<PathBuf>| paths.into_iter().map(Root::new).collect();
        Self { open: roots(open), shut: roots(shut) }
    }

    /// Resolves an absolute path that is, or whose last parts may be made. `None` means that it lies
    /// outside.
    pub fn find(&self, path: &Path) -> io::Result<Option<Found>> {
        let real = real(path)?;
        let Some(root) = self.root(&real, Root::real) else { return Ok(None) };
        let within = match real.strip_prefix(root) {
            Ok(rest) if rest != Path::new("") => rest.to_owned(),
            _ => ".".into(),
        };
        let root = Dir::open_ambient_dir(root, ambient_authority())?;
        let shut = self.shut.iter().filter_map(Root::real).map(Path::to_owned).collect();
        Ok(Some(Found { root, within, real, shut }))
    }

    /// The whole of a small file that is in memory, for those who must not wait. Nothing means that
    /// it has to be looked for as any other.
    pub fn at_hand(&self, path: &Path) -> Option<Vec<u8>> {
        let known = |root: &'_ Root| root.real.get().is_some();
        let plain = |it: Component<'_>| matches!(it, Component::RootDir | Component::Normal(_));
        // Without links the path is its own real name.
        if !path.is_absolute() || !path.components().all(plain) || !self.shut.iter().all(known) {
            return None;
        }
        self.root(path, |root| root.real.get().map(PathBuf::as_path))?;
        at_hand::read(path)
    }

    /// The deepest open directory that holds something, unless one that is shut lies deeper.
    fn root<'roots>(
        &'roots self,
        real: &Path,
        named: impl Fn(&'roots Root) -> Option<&'roots Path>,
    ) -> Option<&'roots Path> {
        let deepest = |roots: &'roots [Root]| {
            let roots = roots.iter().filter_map(&named).filter(|root| real.starts_with(root));
            roots.max_by_key(|root| root.as_os_str().len())
        };
        let root = deepest(&self.open)?;
        let shut = deepest(&self.shut);
        let is_shut = shut.is_some_and(|shut| shut.as_os_str().len() >= root.as_os_str().len());
        (!is_shut).then_some(root)
    }
}

/// The one name of what is there; what is not there yet is named below its nearest ancestor that is.
fn real(path: &Path) -> io::Result<PathBuf> {
    let (mut there, mut missing) = (path, Vec::new());
    loop {
        match there.canonicalize() {
            Ok(real) => return Ok(missing.into_iter().rev().fold(real, |path, it| path.join(it))),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            // What a dangling link names may be anywhere.
            Err(error) if there.is_symlink() => return Err(error),
            Err(error) => match (there.parent(), there.components().next_back()) {
                (Some(parent), Some(Component::Normal(name))) => {
                    missing.push(name);
                    there = parent;
                }
                _ => return Err(error),
            },
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn only_what_lies_in_an_open_directory_is_found() {
        let temp = tempfile::tempdir().unwrap();
        let house = temp.path().canonicalize().unwrap();
        for dir in ["room", "roomer", "data/tmp", "room/keys/open"] {
            fs::create_dir_all(house.join(dir)).unwrap();
        }
        fs::write(house.join("room/file"), "").unwrap();
        symlink("../roomer", house.join("room/door")).unwrap();
        symlink("nothing", house.join("room/dangling")).unwrap();
        symlink("room", house.join("alias")).unwrap();
        let open = ["room", "data/tmp", "room/keys/open"].map(|it| house.join(it));
        let roots = Roots::new(open.to_vec(), vec![house.join("data"), house.join("room/keys")]);
        let found = |path: &str| {
            let found = roots.find(&house.join(path)).map_err(|it| it.kind())?;
            Ok(found.map(|it| it.within.display().to_string()))
        };
        for (path, within) in [
            ("room/file", Some("file")),
            ("room", Some(".")),
            ("alias/file", Some("file")),
            ("room/a/b/new", Some("a/b/new")),
            ("room/../room/file", Some("file")),
            ("data/tmp/x", Some("x")),
            ("room/keys/open/x", Some("x")),
            ("room/keys/secret", None),
            ("room/keys", None),
            ("data/secret", None),
            ("roomer/x", None),
            ("room/door/x", None),
            ("room/../roomer/x", None),
            ("", None),
        ] {
            assert_eq!(found(path), Ok(within.map(str::to_owned)), "{path}");
        }
        assert_eq!(found("room/dangling"), Err(io::ErrorKind::NotFound));
        assert_eq!(found("room/gone/../file"), Err(io::ErrorKind::NotFound));
        assert_eq!(found("room/file/x"), Err(io::ErrorKind::NotADirectory));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_at_hand_is_what_would_be_found() {
        let temp = tempfile::tempdir().unwrap();
        let house = temp.path().canonicalize().unwrap();
        for dir in ["room/keys/open", "roomer"] {
            fs::create_dir_all(house.join(dir)).unwrap();
        }
        for file in ["room/file", "room/keys/key", "room/keys/open/door", "roomer/file"] {
            fs::write(house.join(file), file).unwrap();
        }
        fs::write(house.join("room/empty"), "").unwrap();
        fs::write(house.join("room/long"), vec![b'x'; 70_000]).unwrap();
        fs::hard_link(house.join("room/keys/key"), house.join("room/twin")).unwrap();
        symlink("file", house.join("room/link")).unwrap();
        symlink("room", house.join("alias")).unwrap();
        let open = ["room", "room/keys/open"].map(|it| house.join(it));
        let roots = Roots::new(open.to_vec(), vec![house.join("room/keys")]);
        let at_hand = |path: &str| {
            let bytes = roots.at_hand(&house.join(path));
            bytes.map(|it| String::from_utf8(it).unwrap())
        };
        // Not every file system can say that it would not wait.
        for path in ["room/file", "room/./file", "room/keys/open/door"] {
            let found = roots.find(&house.join(path)).unwrap().unwrap().file().unwrap().0;
            let found = std::io::read_to_string(found).unwrap();
            assert!(at_hand(path).is_none_or(|it| it == found), "{path}");
        }
        for path in [
            "room/keys/key",
            "room/twin",
            "room/link",
            "alias/file",
            "room/../room/file",
            "roomer/file",
            "room/empty",
            "room/long",
            "room/gone",
            "room",
            "room/\0",
        ] {
            assert_eq!(at_hand(path), None, "{path}");
        }
        assert_eq!(roots.at_hand(Path::new("room/file")), None);
    }

    #[test]
    fn a_link_that_appears_after_the_check_is_not_followed() {
        let temp = tempfile::tempdir().unwrap();
        let house = temp.path().canonicalize().unwrap();
        fs::create_dir_all(house.join("room/a")).unwrap();
        fs::create_dir_all(house.join("next")).unwrap();
        fs::write(house.join("next/file"), "secret").unwrap();
        fs::write(house.join("room/a/file"), "ours").unwrap();
        let roots = Roots::new(vec![house.clone()], vec![house.join("next")]);
        let found = roots.find(&house.join("room/a/file")).unwrap().unwrap();
        let read = || std::io::read_to_string(found.file()?.0);
        assert_eq!(read().unwrap(), "ours");
        fs::remove_dir_all(house.join("room/a")).unwrap();
        symlink("../next", house.join("room/a")).unwrap();
        assert!(read().is_err());
        assert!(found.write(b"theirs", true).is_err());
        assert_eq!(fs::read_to_string(house.join("next/file")).unwrap(), "secret");
    }

    #[test]
    fn a_second_name_opens_nothing_that_is_shut() {
        let temp = tempfile::tempdir().unwrap();
        let house = temp.path().canonicalize().unwrap();
        fs::create_dir_all(house.join("room")).unwrap();
        fs::create_dir_all(house.join("keys/more")).unwrap();
        for key in ["keys/one", "keys/more/two", "room/own"] {
            fs::write(house.join(key), key).unwrap();
        }
        fs::hard_link(house.join("keys/one"), house.join("room/one")).unwrap();
        fs::hard_link(house.join("keys/more/two"), house.join("room/two")).unwrap();
        fs::hard_link(house.join("room/own"), house.join("room/other")).unwrap();
        let roots = Roots::new(vec![house.join("room")], vec![house.join("keys")]);
        let read = |name: &str| {
            let found = roots.find(&house.join("room").join(name)).unwrap().unwrap();
            found
                .file()
                .and_then(|(file, _)| std::io::read_to_string(file))
                .map_err(|error| error.kind())
        };
        assert_eq!(read("one"), Err(io::ErrorKind::PermissionDenied));
        assert_eq!(read("two"), Err(io::ErrorKind::PermissionDenied));
        assert_eq!(read("other"), Ok("room/own".to_owned()));
        let found = roots.find(&house.join("room/one")).unwrap().unwrap();
        found.write(b"new", false).unwrap();
        assert_eq!(fs::read_to_string(house.join("keys/one")).unwrap(), "keys/one");
    }

    #[test]
    fn a_file_is_written_with_its_directories_and_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt as _;
        let temp = tempfile::tempdir().unwrap();
        let house = temp.path().canonicalize().unwrap();
        let roots = Roots::new(vec![house.clone()], vec![]);
        let find = |path: &str| roots.find(&house.join(path)).unwrap().unwrap();
        let file = house.join("a/b/c");
        assert_eq!(find("a/b/c").write(b"one", false).unwrap_err().kind(), io::ErrorKind::NotFound);
        find("a/b/c").write(b"one", true).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        find("a/b/c").write(b"two", false).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(find("a/b").write(b"x", true).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(find("").write(b"x", true).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert!(find("a").is_dir() && !find("a/b/c").is_dir());
    }
}
