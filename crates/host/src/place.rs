//! The note `<data-dir>/server.json`, by which other commands find the running server.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use rustix::{io::Errno, process::Pid};
use serde::{Deserialize, Serialize};

const NAME: &str = "server.json";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub url: String,
    pub pid: u32,
}

/// The note while it lies there; dropping this takes it away.
pub struct Posted {
    path: PathBuf,
    note: Note,
}

/// Leaves word of a server of this process.
pub fn post(data_dir: &Path, addr: SocketAddr) -> anyhow::Result<Posted> {
    let path = data_dir.join(NAME);
    let note = Note { url: format!("http://{}", reachable(addr)), pid: std::process::id() };
    let text = serde_json::to_vec(&note)?;
    write_private(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Posted { path, note })
}

impl Drop for Posted {
    fn drop(&mut self) {
        // Another server may have replaced it; its word is not ours to take away.
        if read(&self.path).as_ref() == Some(&self.note) {
            // A note left behind is found to be stale by its reader.
            fs::remove_file(&self.path).ok();
        }
    }
}

/// Where a server is said to run, if its process still exists.
///
/// Without that, another program might have taken over the port since, and be shown our key.
pub fn find(data_dir: &Path) -> Option<Note> {
    read(&data_dir.join(NAME)).filter(|note| is_alive(note.pid))
}

/// The address under which a server that listens on `addr` is reached from this machine.
pub fn reachable(addr: SocketAddr) -> SocketAddr {
    let ip = match addr.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, addr.port())
}

/// Makes the data directory, which is nobody else's business.
pub fn prepare(data_dir: &Path) -> anyhow::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data_dir)
        .with_context(|| format!("cannot make the data directory {}", data_dir.display()))
}

fn read(path: &Path) -> Option<Note> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    matches!(rustix::process::test_kill_process(pid), Ok(()) | Err(Errno::PERM))
}

/// All of it or nothing, and for the owner alone.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(bytes)?;
    // Else a power cut could leave the new name without its content.
    file.sync_all()?;
    fs::rename(draft, path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_server_is_found_while_its_note_lies_there() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(find(dir.path()), None);
        let posted = post(dir.path(), "0.0.0.0:5300".parse().unwrap()).unwrap();
        let note = Note { url: "http://127.0.0.1:5300".into(), pid: std::process::id() };
        assert_eq!(find(dir.path()), Some(note));
        let mode = fs::metadata(dir.path().join(NAME)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(posted);
        assert_eq!(find(dir.path()), None);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_note_of_a_server_that_died_is_not_believed() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let text = format!(r#"{{"url":"http://127.0.0.1:1","pid":{}}}"#, child.id());
        fs::write(dir.path().join(NAME), text).unwrap();
        assert_eq!(find(dir.path()), None);
    }

    #[test]
    fn a_note_of_another_server_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let posted = post(dir.path(), "127.0.0.1:1".parse().unwrap()).unwrap();
        let other = post(dir.path(), "127.0.0.1:2".parse().unwrap()).unwrap();
        drop(posted);
        assert_eq!(find(dir.path()).map(|note| note.url), Some("http://127.0.0.1:2".into()));
        drop(other);
    }

    #[test]
    fn a_new_data_directory_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a/b");
        prepare(&inner).unwrap();
        prepare(&inner).unwrap();
        assert_eq!(fs::metadata(inner).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
