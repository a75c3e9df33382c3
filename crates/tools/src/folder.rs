//! The session's folder, and nothing outside of it: no `..`, link or race leads out of the handle.

use std::{
    io,
    path::{Path, PathBuf},
};

use cap_std::{ambient_authority, fs::Dir};

/// Everything the file tools touch, they touch through this.
pub struct Folder {
    pub dir: Dir,
    root: PathBuf,
}

/// Does blocking work in the folder, away from the tasks that must not wait.
pub async fn within<F>(root: PathBuf, work: F) -> Result<String, String>
where
    F: FnOnce(&Folder) -> Result<String, String> + Send + 'static,
{
    let work = tokio::task::spawn_blocking(move || work(&Folder::open(root)?));
    work.await.unwrap_or_else(|_| Err("the tool broke down".into()))
}

impl Folder {
    pub fn open(root: PathBuf) -> Result<Self, String> {
        match Dir::open_ambient_dir(&root, ambient_authority()) {
            Ok(dir) => Ok(Self { dir, root }),
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
        let folder = Folder::open(temp.path().join("room")).unwrap();
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
        let missing = Folder::open(house.room().join("missing")).err();
        assert!(missing.unwrap().contains("cannot be opened"));
    }
}
