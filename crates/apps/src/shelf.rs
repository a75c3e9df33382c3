//! One folder of applets on disk, read through its handle: no link leads out of it.

use std::{
    io,
    path::{Path, PathBuf},
};

use cap_fs_ext::{MetadataExt as _, OpenOptionsSyncExt as _};
use cap_std::{
    ambient_authority,
    fs::{Dir, File, OpenOptions},
};
use jiff::Timestamp;
use kernel::gallery::{Applet, Parts, is_slug};

use crate::{Problem, folder, meta};

/// How many applets a folder may hold.
const MOST: usize = 1000;
const META_BYTES: u64 = 64 << 10;
const PART_BYTES: u64 = 2 << 20;

pub struct Shelf {
    root: PathBuf,
}

impl Shelf {
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The applets here in no order, and what is wrong with others.
    pub fn list(&self) -> (Vec<Applet>, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut problem = |name: &str, what: String| {
            problems.push(Problem { folder: self.root.join(name), what });
        };
        let (dir, names) = match folder::names(&self.root) {
            Ok(Some(found)) => found,
            Ok(None) => return (Vec::new(), problems),
            Err(error) => {
                problem("", format!("the folder cannot be read: {error}"));
                return (Vec::new(), problems);
            }
        };
        if names.len() > MOST {
            problem("", format!("it holds more than {MOST} applets; the others are not shown"));
        }
        let mut applets = Vec::new();
        for name in names.into_iter().take(MOST) {
            match self.read(&dir, &name) {
                Ok((applet, _, remarks)) => {
                    for remark in remarks {
                        problem(&name, remark);
                    }
                    applets.push(applet);
                }
                Err(what) => problem(&name, what),
            }
        }
        (applets, problems)
    }

    /// `None` if there is no applet of this name here. An error is why one that is cannot be read.
    pub fn load(&self, slug: &str) -> Result<Option<Parts>, String> {
        let Ok(dir) = Dir::open_ambient_dir(&self.root, ambient_authority()) else {
            return Ok(None);
        };
        // What would not be listed is not there.
        let Ok((applet, folder, _)) = self.read(&dir, slug) else { return Ok(None) };
        let part = |name: &str| match read(&folder, name, PART_BYTES) {
            Ok((text, _)) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{name}: {error}")),
        };
        let Some(html) = part("content.html")? else { return Ok(None) };
        Ok(Some(Parts { applet, html, script: part("script.js")?, style: part("style.css")? }))
    }

    fn read(&self, dir: &Dir, slug: &str) -> Result<(Applet, Dir, Vec<String>), String> {
        if !is_slug(slug) {
            return Err(
                "its name is not a slug: small letters, digits and hyphens, at most 64".into()
            );
        }
        let folder = dir.open_dir(slug).map_err(|error| explain("the folder", &error))?;
        let meta = read(&folder, "meta.json", META_BYTES);
        let (text, modified) = meta.map_err(|error| explain("meta.json", &error))?;
        let (applet, remarks) = meta::read(slug, &text, modified)?;
        open(&folder, "content.html").map_err(|error| explain("content.html", &error))?;
        let applet = Applet { folder: Some(self.root.join(slug)), ..applet };
        Ok((applet, folder, remarks))
    }
}

fn explain(what: &str, error: &io::Error) -> String {
    folder::explain(what, error, "applets")
}

/// A regular file, and nothing that would make us wait.
fn open(folder: &Dir, name: &str) -> io::Result<File> {
    let regular = |found: &cap_std::fs::Metadata| {
        if found.is_file() { Ok(()) } else { Err(io::Error::other("it is not a regular file")) }
    };
    regular(&folder.metadata(name)?)?;
    let file = folder.open_with(name, OpenOptions::new().read(true).nonblock(true))?;
    let about = file.metadata()?;
    regular(&about)?;
    // It could be one of those that nobody is shown.
    if about.nlink() > 1 {
        return Err(io::Error::other("it has more than one name; make it a copy"));
    }
    Ok(file)
}

fn read(folder: &Dir, name: &str, most: u64) -> io::Result<(String, Timestamp)> {
    let file = open(folder, name)?;
    let modified = file.metadata()?.modified()?.into_std();
    let bytes = folder::whole(file, most)?;
    let text = String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))?;
    Ok((text, Timestamp::try_from(modified).unwrap_or(Timestamp::UNIX_EPOCH)))
}
