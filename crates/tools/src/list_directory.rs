//! Lists a directory.

use std::{collections::BTreeSet, ffi::OsString, io};

use cap_std::fs::{Dir, DirEntry};
use kernel::toolbox::{Call, Risk};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    folder::Folder,
    search::printable,
    typed::{Typed, shorten},
    workshop::Workshop,
};

const MOST: usize = 1000;

/// Lists what is in a directory of the session's folder: directories first, with a `/` behind
/// their names, then files with their sizes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The directory, relative to the session's folder, or absolute inside it. The session's folder
    /// itself if absent.
    path: Option<String>,
}

pub struct ListDirectory {
    pub workshop: Workshop,
}

impl Typed for ListDirectory {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "list_directory";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, input: &Input) -> String {
        match input.place() {
            "." => "Listing the session's folder".into(),
            path => format!("Listing {}", shorten(path, 80)),
        }
    }

    async fn run(&self, input: Input, call: Call) -> Result<String, String> {
        let root = self.workshop.root(input.place(), &call);
        self.workshop.within(root, move |folder| list(folder, input.place())).await
    }
}

impl Input {
    fn place(&self) -> &str {
        self.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".")
    }
}

/// Directories come first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Directory,
    Other,
}

fn list(folder: &Folder, path: &str) -> Result<String, String> {
    let explain = |error: io::Error| folder.explain(path, &error);
    let real = folder.real(&folder.relative(path)?).map_err(explain)?;
    let dir = folder.dir.open_dir(real).map_err(explain)?;
    let (mut entries, mut left_out, mut unreadable) = (BTreeSet::new(), 0_u64, 0_u64);
    for entry in dir.entries().map_err(explain)? {
        match entry.and_then(|entry| known(&entry)) {
            Ok(entry) => {
                entries.insert(entry);
            }
            Err(_) => unreadable += 1,
        }
        // However many there are, only so many are held.
        if entries.len() > MOST {
            entries.pop_last();
            left_out += 1;
        }
    }
    let mut lines: Vec<String> = entries.iter().map(|entry| line(&dir, entry)).collect();
    if entries.is_empty() {
        lines.push("(empty)".into());
    }
    if left_out > 0 {
        lines.push(format!("[{left_out} more are not shown]"));
    }
    if unreadable > 0 {
        lines.push(format!("[{unreadable} could not be read]"));
    }
    Ok(lines.join("\n"))
}

fn known(entry: &DirEntry) -> io::Result<(Kind, OsString)> {
    let kind = if entry.file_type()?.is_dir() { Kind::Directory } else { Kind::Other };
    Ok((kind, entry.file_name()))
}

fn line(dir: &Dir, (kind, name): &(Kind, OsString)) -> String {
    let shown = printable(&name.to_string_lossy());
    if *kind == Kind::Directory {
        return format!("{shown}/");
    }
    match dir.symlink_metadata(name) {
        Ok(found) if found.is_symlink() => match dir.read_link_contents(name) {
            Ok(to) => format!("{shown} -> {}", printable(&to.to_string_lossy())),
            Err(_) => format!("{shown} (link)"),
        },
        Ok(found) if found.is_file() => format!("{shown} ({} bytes)", found.len()),
        Ok(_) => format!("{shown} (not a regular file)"),
        Err(error) => format!("{shown} (cannot be read: {error})"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::folder::tests::{House, house};

    fn put(house: &House, name: &str, content: &str) {
        fs::write(house.room().join(name), content).unwrap();
    }

    fn shown(house: &House, path: Option<&str>) -> Result<String, String> {
        list(&house.folder, Input { path: path.map(str::to_owned) }.place())
    }

    #[test]
    fn directories_come_first_and_files_have_sizes() {
        let house = house();
        fs::create_dir(house.room().join("src")).unwrap();
        fs::create_dir(house.room().join(".git")).unwrap();
        put(&house, "b", "12345");
        put(&house, "a b", "");
        put(&house, "grüße 👋", "é");
        put(&house, "two\nlines", "");
        let listing =
            ".git/\nsrc/\na b (0 bytes)\nb (5 bytes)\ngrüße 👋 (2 bytes)\ntwo\\nlines (0 bytes)";
        let room = house.room().display().to_string();
        for path in [None, Some(""), Some("."), Some("src/.."), Some(room.as_str())] {
            assert_eq!(shown(&house, path).as_deref(), Ok(listing), "{path:?}");
        }
        assert_eq!(shown(&house, Some("src")).as_deref(), Ok("(empty)"));
    }

    #[test]
    fn a_full_directory_is_cut() {
        let house = house();
        for n in 0..1003 {
            put(&house, &format!("{n:04}"), "");
        }
        let listing = shown(&house, None).unwrap();
        let lines: Vec<&str> = listing.lines().collect();
        assert_eq!(lines.len(), 1001);
        assert_eq!(lines[0], "0000 (0 bytes)");
        assert_eq!(lines[999..], ["0999 (0 bytes)", "[3 more are not shown]"]);
    }

    /// Other systems refuse names that are not text.
    #[cfg(target_os = "linux")]
    #[test]
    fn odd_entries_are_shown_too() {
        use std::os::unix::{ffi::OsStringExt as _, fs::symlink, net::UnixListener};
        let house = house();
        symlink("gone", house.room().join("dangling")).unwrap();
        symlink("/etc", house.room().join("out")).unwrap();
        fs::write(house.room().join(OsString::from_vec(b"x\xff".to_vec())), "").unwrap();
        let _socket = UnixListener::bind(house.room().join("socket")).unwrap();
        let listing =
            "dangling -> gone\nout -> /etc\nsocket (not a regular file)\nx\u{fffd} (0 bytes)";
        assert_eq!(shown(&house, None).as_deref(), Ok(listing));
    }

    #[test]
    fn an_entry_that_has_gone_does_not_spoil_the_list() {
        let house = house();
        let gone = (Kind::Other, OsString::from("gone"));
        let line = line(&house.folder.dir, &gone);
        assert_eq!(line, "gone (cannot be read: No such file or directory (os error 2))");
    }

    #[test]
    fn nothing_outside_the_folder_can_be_listed() {
        let house = house();
        for way in house.ways_out() {
            assert_eq!(shown(&house, Some(&way)), Err(house.outside(&way)), "{way}");
        }
    }

    #[test]
    fn what_is_no_directory_is_explained() {
        let house = house();
        put(&house, "a", "");
        for (path, message) in [
            ("a", "`a` is not, or is not in, a directory"),
            ("gone", "`gone` does not exist"),
            ("\0", "a path cannot contain a NUL character"),
        ] {
            assert_eq!(shown(&house, Some(path)), Err(message.to_owned()));
        }
    }
}
