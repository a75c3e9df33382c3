//! Whether a file is one of those that are kept from somebody, under a second name.

use std::path::{Path, PathBuf};

use cap_std::fs::Metadata;

/// How deep below a directory its files are looked for.
const DEPTH: usize = 3;

#[cfg(unix)]
pub fn lies_in(file: &Metadata, shut: &[PathBuf]) -> bool {
    use cap_std::fs::MetadataExt as _;
    // Most files have one name, and cost nothing.
    file.nlink() > 1 && shut.iter().any(|dir| holds(dir, (file.dev(), file.ino()), DEPTH))
}

#[cfg(unix)]
fn holds(dir: &Path, file: (u64, u64), depth: usize) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let entries = dir.read_dir().into_iter().flatten().flatten();
    entries.filter_map(|it| Some((it.path(), it.metadata().ok()?))).any(|(path, about)| {
        let deeper = about.is_dir() && depth > 0 && holds(&path, file, depth - 1);
        deeper || (about.dev(), about.ino()) == file
    })
}

#[cfg(not(unix))]
pub fn lies_in(_: &Metadata, _: &[PathBuf]) -> bool {
    false
}
