//! One folder of apps on disk, read through its handle: no link leads out of an app.

use std::{
    io,
    path::{Path, PathBuf},
};

use cap_std::{ambient_authority, fs::Dir};
use kernel::cabinet::{Card, Problem, is_id};

use crate::{folder, manifest};

/// How many apps a folder may hold.
const MOST: usize = 1000;
const MANIFEST_BYTES: u64 = 256 << 10;
const FILE_BYTES: u64 = 64 << 20;
const ICON_BYTES: u64 = 1 << 20;
/// The endings of the picture that stands for an app, the first that is there.
pub const ICONS: [&str; 6] = ["png", "webp", "jpg", "jpeg", "gif", "svg"];

/// What of an app is never shown: how it was made.
const UNSHOWN: [&str; 2] = ["src", "node_modules"];

pub struct Drawer {
    root: PathBuf,
}

impl Drawer {
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The apps here in no order, and what is wrong with folders that are none.
    pub fn list(&self) -> (Vec<Card>, Vec<(PathBuf, String)>) {
        let names = match folder::names(&self.root) {
            Ok(found) => found.map(|(_, names)| names).unwrap_or_default(),
            Err(error) => {
                let what = format!("the folder cannot be read: {error}");
                return (Vec::new(), vec![(self.root.clone(), what)]);
            }
        };
        let (mut cards, mut problems) = (Vec::new(), Vec::new());
        if names.len() > MOST {
            let what = format!("it holds more than {MOST} apps; the others are not shown");
            problems.push((self.root.clone(), what));
        }
        for name in names.into_iter().take(MOST) {
            match self.card(&name) {
                Ok(card) => cards.push(card),
                Err(what) => problems.push((self.root.join(name), what)),
            }
        }
        (cards, problems)
    }

    /// One app; an error is why this is none.
    pub fn card(&self, id: &str) -> Result<Card, String> {
        if !is_id(id) {
            return Err(
                "its name is not an id: a small letter, then small letters, digits and hyphens, at most 64"
                    .into(),
            );
        }
        let folder = self.open(id).map_err(|error| explain("the folder", &error))?;
        let bytes = read(&folder, "app.json", MANIFEST_BYTES);
        let bytes = bytes.map_err(|error| explain("app.json", &error))?;
        let has = |path: &str| place::open_file(&folder, Path::new(path)).is_ok();
        let mut card = if let Ok(text) = String::from_utf8(bytes) {
            manifest::read(id, &text, has)
        } else {
            let mut card = manifest::read(id, "{}", has);
            let what = "expected text in UTF-8".to_owned();
            card.problems.push(Problem { path: String::new(), what });
            card
        };
        card.folder = Some(self.root.join(id));
        Ok(card)
    }

    /// Whether there is an app of this id.
    pub fn has(&self, id: &str) -> bool {
        is_id(id)
            && self.open(id).is_ok_and(|dir| place::open_file(&dir, Path::new("app.json")).is_ok())
    }

    pub fn file(&self, id: &str, path: &str) -> Option<Vec<u8>> {
        let folder = self.open(id).ok()?;
        candidates(path).find_map(|path| read(&folder, path, FILE_BYTES).ok())
    }

    pub fn icon(&self, id: &str) -> Option<(&'static str, Vec<u8>)> {
        let folder = self.open(id).ok()?;
        let picture = |ending| read(&folder, &format!("icon.{ending}"), ICON_BYTES).ok();
        ICONS.into_iter().find_map(|ending| Some((ending, picture(ending)?)))
    }

    fn open(&self, id: &str) -> io::Result<Dir> {
        Dir::open_ambient_dir(&self.root, ambient_authority())?.open_dir(id)
    }
}

/// Where a file may be that is asked for by this path: as written, and then without the name of the
/// folder that is left out by some. Nothing for what is never shown.
pub fn candidates(path: &str) -> impl Iterator<Item = &str> {
    let stripped = ["static/", "dist/"].iter().find_map(|folder| path.strip_prefix(folder));
    [Some(path), stripped].into_iter().flatten().filter(|path| is_shown(path))
}

fn is_shown(path: &str) -> bool {
    let mut names = path.split('/');
    let first = path.split('/').next().unwrap_or_default();
    let plain = |name: &str| {
        let odd = |it: char| it.is_control() || it == '\\';
        !name.is_empty() && !name.starts_with('.') && !name.contains(odd)
    };
    !UNSHOWN.contains(&first) && names.all(plain)
}

fn explain(what: &str, error: &io::Error) -> String {
    folder::explain(what, error, "apps")
}

fn read(folder: &Dir, path: &str, most: u64) -> io::Result<Vec<u8>> {
    folder::whole(place::open_file(folder, Path::new(path))?, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_looked_for_as_written_and_then_without_its_folder() {
        let found = |path: &str| candidates(path).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(found("index.html"), ["index.html"]);
        assert_eq!(found("dist/index.html"), ["dist/index.html", "index.html"]);
        assert_eq!(found("static/a/b.js"), ["static/a/b.js", "a/b.js"]);
        assert_eq!(found("lib/src/a.js"), ["lib/src/a.js"]);
        for hidden in [
            "",
            ".",
            "..",
            "../a",
            "a/../b",
            ".env",
            "a/.git/config",
            "src/main.ts",
            "src",
            "node_modules/x/y.js",
            "a//b",
            "/a",
            "a/",
            "a\\b",
            "a\0",
        ] {
            assert_eq!(found(hidden), [""; 0], "{hidden:?}");
        }
        for half in ["static/src/main.ts", "dist/.env"] {
            assert!(
                !found(half).iter().any(|it| it.starts_with("src") || it.contains(".env")),
                "{half}"
            );
        }
    }
}
