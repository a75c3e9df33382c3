//! Opening a data directory, and saying plainly why that cannot be done.

use std::{
    fs::{File, TryLockError},
    io::{self, Read as _, Write as _},
    path::{self, Path, PathBuf},
    process,
    sync::{Arc, mpsc},
    thread,
};

use rusqlite::Connection;

use crate::{
    Store, files,
    readers::Readers,
    schema::{self, Kind},
    writer::{BUSY, Writer},
};

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot make the data directory {}", dir.display())]
    Create { dir: PathBuf, source: io::Error },
    #[error("cannot write to {}", path.display())]
    NotWritable { path: PathBuf, source: io::Error },
    #[error("another megaron{} uses the data directory {}", process(*pid), dir.display())]
    InUse { dir: PathBuf, pid: Option<u32> },
    #[error(
        "the database {} has version {found}, but this megaron knows versions up to {known}; use a \
         newer megaron",
        path.display()
    )]
    Newer { path: PathBuf, found: usize, known: usize },
    #[error(
        "{} is not a megaron database; move it away or choose another data directory",
        path.display()
    )]
    Foreign { path: PathBuf },
    #[error("cannot use the database {}", path.display())]
    Database { path: PathBuf, source: rusqlite::Error },
}

fn process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

pub fn open(dir: &Path) -> Result<Store, OpenError> {
    // Or what is kept there would be lost by a change of folder.
    let dir =
        path::absolute(dir).map_err(|source| OpenError::Create { dir: dir.to_owned(), source })?;
    let dir = dir.as_path();
    files::create_dir(dir).map_err(|source| OpenError::Create { dir: dir.to_owned(), source })?;
    let lock = lock(dir)?;
    let path = dir.join("megaron.db");
    let connection = connect(&path)?;
    let (jobs, queue) = mpsc::channel();
    let writer = Writer::new(connection, dir.join("megaron.db-wal"), queue);
    let readers = Arc::new(Readers::new(path));
    let commits = writer.commits();
    let writer = thread::Builder::new()
        .name("store".into())
        .spawn(|| writer.run())
        .map_err(|source| OpenError::NotWritable { path: dir.to_owned(), source })?;
    Ok(Store {
        dir: dir.to_owned(),
        readers,
        commits,
        jobs: Some(jobs),
        writer: Some(writer),
        _lock: lock,
    })
}

/// The system lets go of the lock when the process ends, however it ends; the file stays.
fn lock(dir: &Path) -> Result<File, OpenError> {
    let path = dir.join("lock");
    let not_writable = |source| OpenError::NotWritable { path: path.clone(), source };
    let mut file = files::open_file(&path).map_err(not_writable)?;
    match file.try_lock() {
        Ok(()) => (),
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            // Only a courtesy: the message does without.
            file.read_to_string(&mut pid).ok();
            return Err(OpenError::InUse { dir: dir.to_owned(), pid: pid.trim().parse().ok() });
        }
        Err(TryLockError::Error(source)) => return Err(not_writable(source)),
    }
    let note = file.set_len(0).and_then(|()| writeln!(file, "{}", process::id()));
    note.map_err(not_writable)?;
    Ok(file)
}

pub fn connect(path: &Path) -> Result<Connection, OpenError> {
    let database = |source| OpenError::Database { path: path.to_owned(), source };
    let version = match schema::inspect(path).map_err(database)? {
        Kind::New => 0,
        Kind::Ours { version } if version <= schema::VERSION => version,
        Kind::Ours { version: found } => {
            let known = schema::VERSION;
            return Err(OpenError::Newer { path: path.to_owned(), found, known });
        }
        Kind::Foreign => return Err(OpenError::Foreign { path: path.to_owned() }),
    };
    // Made by us, so that it and the files beside it are for the owner alone.
    let not_writable = |source| OpenError::NotWritable { path: path.to_owned(), source };
    drop(files::open_file(path).map_err(not_writable)?);
    prepare(path, version).map_err(database)
}

fn prepare(path: &Path, version: usize) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA wal_autocheckpoint = 1000;
         PRAGMA journal_size_limit = 8388608;
         PRAGMA cache_size = -2048;
         PRAGMA temp_store = MEMORY;",
    )?;
    schema::migrate(&mut connection, version)?;
    Ok(connection)
}
