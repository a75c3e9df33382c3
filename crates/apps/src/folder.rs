//! A folder of applets or of apps on disk, each in a folder of its own.

use std::{
    io::{self, Read},
    path::Path,
};

use cap_std::{ambient_authority, fs::Dir};

/// Its handle, and the names of what may be in it, sorted; nothing where there is no such folder.
pub fn names(root: &Path) -> io::Result<Option<(Dir, Vec<String>)>> {
    let dir = match Dir::open_ambient_dir(root, ambient_authority()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut names = Vec::new();
    for entry in dir.entries()? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !name.starts_with(['.', '_']) && !is_file {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(Some((dir, names)))
}

/// Why something in it cannot be used; `held` is what it holds.
pub fn explain(what: &str, error: &io::Error, held: &str) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("{what} is missing"),
        // The system's own refusals carry a code.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
            format!("{what} is a link that leads out of the folder of {held}")
        }
        _ => format!("{what} cannot be read: {error}"),
    }
}

/// All of a file that is not too large.
pub fn whole(file: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}
