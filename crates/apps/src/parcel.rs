//! What an archive or a folder holds, as far as it may be an app: plain files and nothing else.

mod tar;
mod zip;

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read},
    path::Path,
};

/// The largest archive, and what it may become.
pub const ARCHIVE_BYTES: usize = 32 << 20;
const BYTES: u64 = 128 << 20;
const FILES: usize = 2000;
/// How long a path may be, and how deep.
const PATH_BYTES: usize = 400;
const DEPTH: usize = 16;

/// Files by their plain paths.
#[derive(Debug, Default)]
pub struct Parcel {
    pub files: BTreeMap<String, Vec<u8>>,
    bytes: u64,
}

impl Parcel {
    /// Opens an archive, whatever kind it is by its first bytes.
    pub fn unpack(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > ARCHIVE_BYTES {
            return Err(format!("an archive may have {ARCHIVE_BYTES} bytes at most"));
        }
        match bytes {
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => zip::unpack(bytes),
            [0x1f, 0x8b, ..] => tar::unpack(bytes),
            _ => Err("expected a .zip or a .tar.gz archive".into()),
        }
    }

    /// Reads a folder as if it had been packed.
    pub fn gather(folder: &Path) -> Result<Self, String> {
        let mut parcel = Self::default();
        parcel.walk(folder, "", 0).map_err(|error| error.to_string())?;
        Ok(parcel)
    }

    /// Takes in one file. What is hidden is left out; what leads elsewhere makes all of it unusable.
    fn take(&mut self, path: &str, from: &mut dyn Read) -> Result<(), String> {
        let Some(path) = plain(path)? else { return Ok(()) };
        if self.files.len() >= FILES {
            return Err(format!("it holds more than {FILES} files"));
        }
        let mut bytes = Vec::new();
        let room = BYTES - self.bytes;
        let read = from.take(room + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("`{path}` cannot be read: {error}"))?;
        if bytes.len() as u64 > room {
            return Err(format!("unpacked it has more than {BYTES} bytes"));
        }
        self.bytes += bytes.len() as u64;
        if self.files.insert(path.clone(), bytes).is_some() {
            return Err(format!("it holds `{path}` twice"));
        }
        Ok(())
    }

    fn walk(&mut self, folder: &Path, within: &str, depth: usize) -> io::Result<()> {
        if depth > DEPTH {
            return Err(io::Error::other(format!("`{within}` lies too deep")));
        }
        let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let Ok(name) = entry.file_name().into_string() else {
                return Err(io::Error::other(format!("`{within}` holds a name that is not UTF-8")));
            };
            let path = if within.is_empty() { name.clone() } else { format!("{within}/{name}") };
            let kind = entry.file_type()?;
            if name.starts_with('.') || name == "node_modules" {
                continue;
            }
            if kind.is_dir() {
                self.walk(&entry.path(), &path, depth + 1)?;
            } else if kind.is_file() {
                let mut file = fs::File::open(entry.path())?;
                self.take(&path, &mut file).map_err(io::Error::other)?;
            } else {
                return Err(io::Error::other(odd(&path)));
            }
        }
        Ok(())
    }

    /// Without the one folder that everything lies in, if that is where the app is. Returns its name.
    pub fn strip(&mut self) -> Option<String> {
        let first = self.files.keys().next()?;
        let top = first.split_once('/')?.0.to_owned();
        let prefix = format!("{top}/");
        let all_in = self.files.keys().all(|path| path.starts_with(&prefix));
        if !all_in || !self.files.contains_key(&format!("{prefix}app.json")) {
            return None;
        }
        let files = std::mem::take(&mut self.files).into_iter();
        self.files = files.map(|(path, bytes)| (path[prefix.len()..].to_owned(), bytes)).collect();
        Some(top)
    }

    /// Whether some file is also the folder of another.
    pub fn is_confused(&self) -> Option<&str> {
        let is_folder = |path: &str| {
            let prefix = format!("{path}/");
            let next = self.files.range(prefix.clone()..).next();
            next.is_some_and(|(other, _)| other.starts_with(&prefix))
        };
        self.files.keys().map(String::as_str).find(|path| is_folder(path))
    }
}

/// What a link, a device or anything else of the kind is answered with.
fn odd(path: &str) -> String {
    format!("`{}` is a link or something else that is not a file", shown(path))
}

/// The path as it is kept. `None` if it is to be left out, as hidden files are; an error if it leads
/// out, or anywhere that a path should not.
fn plain(path: &str) -> Result<Option<String>, String> {
    let refuse = |why: &str| Err(format!("the path `{}` {why}", shown(path)));
    let path = path.trim_start_matches("./");
    if path.len() > PATH_BYTES || path.split('/').count() > DEPTH {
        return refuse("is too long");
    }
    if path.starts_with('/') || path.split('/').any(|name| name == ".." || name == ".") {
        return refuse("leads out of the app");
    }
    if path.contains(|it: char| it.is_control() || matches!(it, '\\' | ':')) {
        return refuse("holds a character that no path of an app may");
    }
    if path.split('/').any(str::is_empty) {
        return refuse("has a name that is empty");
    }
    let hidden = |name: &str| name.starts_with('.') || name == "__MACOSX" || name == "node_modules";
    Ok((!path.split('/').any(hidden)).then(|| path.to_owned()))
}

/// As it may stand in a sentence.
fn shown(path: &str) -> String {
    path.chars().map(|it| if it.is_control() { '\u{fffd}' } else { it }).take(100).collect()
}

#[cfg(test)]
mod tests;
