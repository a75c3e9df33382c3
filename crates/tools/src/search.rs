//! What the tools that search have in common.

use std::path::{Path, PathBuf};

use crate::folder::Folder;

/// How many to show.
pub fn limit(wanted: Option<usize>, usual: usize, most: usize) -> Result<usize, String> {
    match wanted.unwrap_or(usual) {
        0 => Err("a limit of 0 would show nothing; leave it out or give a larger one".into()),
        limit => Ok(limit.min(most)),
    }
}

/// The directory to search, by its one name.
pub fn directory(folder: &Folder, given: Option<&str>) -> Result<PathBuf, String> {
    let path = place(folder, given)?;
    match folder.dir.metadata(if path.as_os_str().is_empty() {
        ".".as_ref()
    } else {
        path.as_path()
    }) {
        Ok(found) if found.is_dir() => Ok(path),
        Ok(_) => Err(format!("`{}` is not a directory", given.unwrap_or("."))),
        Err(error) => Err(folder.explain(given.unwrap_or("."), &error)),
    }
}

/// What to search, by its one name; empty for the session's folder itself.
pub fn place(folder: &Folder, given: Option<&str>) -> Result<PathBuf, String> {
    let Some(given) = given.filter(|given| !given.is_empty()) else { return Ok(PathBuf::new()) };
    let real = folder.real(&folder.relative(given)?);
    let real = real.map_err(|error| folder.explain(given, &error))?;
    Ok(if real.as_path() == Path::new(".") { PathBuf::new() } else { real })
}

pub fn missed(unreadable: u64) -> Option<String> {
    (unreadable > 0).then(|| format!("[{unreadable} could not be read]"))
}

/// One line, whatever is in it.
pub fn printable(name: &str) -> String {
    let escape =
        |c: char| if c.is_control() { c.escape_default().collect() } else { c.to_string() };
    name.chars().map(escape).collect()
}
