//! The program of an agent: started in a group of its own, and ended with everything it started.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::Settings;

/// How much of what it complains of is kept, in bytes.
const LOG: u64 = 256 * 1024;
/// How long one that has gone silent may take to be gone.
const LEAVING: Duration = Duration::from_secs(1);

/// Dropping it ends the program.
pub struct Process {
    child: Child,
    group: Option<Pid>,
}

impl Process {
    pub fn start(
        settings: &Settings,
        cwd: &Path,
        log: Option<PathBuf>,
    ) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let mut command = Command::new(&settings.command);
        command.args(&settings.args).envs(&settings.env).current_dir(cwd);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).kill_on_drop(true).spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let taken = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Self { child, group };
        let (Some(stdin), Some(stdout), Some(stderr)) = taken else {
            return Err(io::Error::other("it has no standard streams"));
        };
        tokio::spawn(keep(stderr, log));
        Ok((process, stdin, stdout))
    }

    /// How it ended, if it did.
    pub async fn ended(&mut self) -> Option<ExitStatus> {
        tokio::time::timeout(LEAVING, self.child.wait()).await.ok()?.ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // Nobody may be left of it.
            kill_process_group(group, Signal::KILL).ok();
        }
    }
}

/// Keeps the last of what is complained of, and reads the rest so that nobody waits to be read.
async fn keep(mut stderr: impl AsyncRead + Unpin, log: Option<PathBuf>) {
    let mut log = log.and_then(|path| open(&path).ok());
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(size @ 1..) = stderr.read(&mut buffer).await {
        let Some((file, room)) = &mut log else { continue };
        let taken = usize::try_from(*room).unwrap_or(size).min(size);
        *room -= taken as u64;
        // What cannot be kept is not worth failing for.
        file.write_all(buffer.get(..taken).unwrap_or_default()).ok();
    }
}

/// For the owner's eyes alone, and begun anew when it has grown long; with the room that is left.
fn open(path: &Path) -> io::Result<(File, u64)> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let size = fs::metadata(path).map_or(0, |it| it.len());
    let full = size > LOG / 2;
    let mut options = OpenOptions::new();
    options.create(true).mode(0o600).write(true).append(!full).truncate(full);
    Ok((options.open(path)?, if full { LOG } else { LOG - size }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_an_agent_complains_of_is_kept_within_bounds() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs/agent.log");
        for _ in 0..3 {
            keep(&vec![b'x'; 1024 * 1024][..], Some(path.clone())).await;
            assert_eq!(fs::metadata(&path).unwrap().len(), LOG);
        }
        keep(&b"new"[..], Some(path.clone())).await;
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        keep(&b"er"[..], Some(path.clone())).await;
        assert_eq!(fs::read_to_string(&path).unwrap(), "newer");
    }
}
