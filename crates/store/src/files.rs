//! Files and folders that are nobody else's business.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    path::Path,
};

/// Makes a folder and those above it, for the owner alone. One that exists is left as it is.
pub fn create_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens a file to read and write, made for the owner alone if it does not exist.
pub fn open_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes sure that what was made or renamed in a folder is found there after a power cut.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened as a file, and its entries need no care of ours.
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}
