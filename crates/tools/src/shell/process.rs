//! A command that runs: what it prints, how it ends, and that nothing of it is left when it is dropped.

use std::{
    io,
    os::fd::OwnedFd,
    path::PathBuf,
    process::{ExitStatus, Stdio},
};

use rustix::{
    fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open},
    io::Errno,
    process::{Pid, Signal, kill_process_group},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use tempfile::TempDir;
use tokio::{
    net::unix::pipe::{Receiver, Sender},
    process::{Child, ChildStdin},
    runtime::Handle,
};

use crate::sandbox::{Helper, Lock, Orders};

use super::environment::Variables;

const CHUNK: usize = 64 << 10;
const SIZE: Winsize = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };

pub struct Launch<'a> {
    pub helper: &'a Helper,
    pub command: &'a str,
    /// Without links.
    pub folder: PathBuf,
    pub lock: Lock,
    pub tty: bool,
    pub environment: &'a Variables,
    pub home: Option<PathBuf>,
    pub hidden: Vec<PathBuf>,
    pub processes: u64,
}

/// To drop it is to end it, and all that it started.
pub struct Process {
    child: Child,
    group: Option<Pid>,
    lock: Lock,
    /// The helper ends everything when this is closed.
    lifeline: Option<ChildStdin>,
    output: Receiver,
    /// Nobody will print any more.
    silent: bool,
    ended: Option<ExitStatus>,
    temporary: Option<TempDir>,
}

impl Process {
    /// With what is typed to it, if it has a terminal.
    pub fn start(launch: Launch<'_>) -> Result<(Self, Option<Sender>), String> {
        begin(launch).map_err(|error| format!("the command cannot be started: {error}"))
    }

    /// More of what it prints; `None` when it has ended. May be dropped without loss.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        let mut buffer = vec![0; CHUNK];
        while self.ended.is_none() {
            tokio::select! {
                ready = self.output.readable(), if !self.silent => {
                    match ready.and_then(|()| self.output.try_read(&mut buffer)) {
                        Ok(read) if read > 0 => {
                            buffer.truncate(read);
                            return Some(buffer);
                        }
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        // A terminal that everybody has left is an error, too.
                        Ok(_) | Err(_) => self.silent = true,
                    }
                }
                status = self.child.wait() => {
                    self.ended = Some(status.unwrap_or_default());
                    self.end_the_rest();
                }
            }
        }
        // What it has left may keep the pipe open for ever: read only what is there. Not by
        // `try_read`, which may not have heard yet that there is something.
        match rustix::io::read(&self.output, &mut buffer) {
            Ok(read) if read > 0 => {
                buffer.truncate(read);
                Some(buffer)
            }
            _ => None,
        }
    }

    /// How it ended, if it has.
    pub fn status(&self) -> Option<ExitStatus> {
        self.ended
    }

    fn end_the_rest(&self) {
        // None are left, in most cases.
        self.group.map(|group| kill_process_group(group, Signal::KILL));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        // Under Landlock alone it is the helper who knows what has left the group.
        if self.ended.is_none() && self.lock != Lock::Landlock {
            self.end_the_rest();
            // It may not lead its group yet; ended already is as good.
            self.child.start_kill().ok();
        }
        let Some(temporary) = self.temporary.take() else { return };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn_blocking(move || drop(temporary));
        }
    }
}

fn begin(launch: Launch<'_>) -> io::Result<(Process, Option<Sender>)> {
    let Launch { helper, command, folder, lock, tty, environment, home, hidden, processes } =
        launch;
    let temporary = tempfile::Builder::new().prefix("megaron-").tempdir()?;
    let place = temporary.path().canonicalize()?;
    let orders = Orders {
        lock,
        folder: folder.clone(),
        temporary: place.clone(),
        home,
        hidden,
        tty,
        processes,
        inner: false,
    };
    let mut process = helper.command(&orders).map_err(io::Error::other)?;
    process.args([shell(), "-c", command]).current_dir(&folder);
    process.envs(environment.iter().map(|(name, value)| (name, value)));
    process.env("TERM", if tty { "xterm-256color" } else { "dumb" });
    if lock != Lock::Open {
        process.env("TMPDIR", &place).env("XDG_CACHE_HOME", place.join("cache"));
    }
    let (output, printed, typed) = if tty { terminal()? } else { pipe()? };
    process.stdout(Stdio::from(printed.try_clone()?)).stderr(Stdio::from(printed));
    process.stdin(Stdio::piped()).kill_on_drop(lock != Lock::Landlock);
    let mut child = process.spawn()?;
    // Our copy of the end that it writes to would keep it open.
    drop(process);
    let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let lifeline = child.stdin.take();
    let temporary = Some(temporary);
    let (silent, ended) = (false, None);
    Ok((Process { child, group, lock, lifeline, output, silent, ended, temporary }, typed))
}

/// Ours to read, theirs to write, and what we type.
type Ends = (Receiver, OwnedFd, Option<Sender>);

fn pipe() -> io::Result<Ends> {
    let (read, write) = io::pipe()?;
    Ok((Receiver::from_owned_fd(read.into())?, write.into(), None))
}

fn terminal() -> io::Result<Ends> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    tcsetwinsize(&ours, SIZE)?;
    let name = ptsname(&ours, Vec::new())?.into_string().map_err(|_| Errno::ILSEQ)?;
    let theirs = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    fcntl_setfl(&ours, fcntl_getfl(&ours)? | OFlags::NONBLOCK)?;
    let typed = Sender::from_owned_fd_unchecked(ours.try_clone()?)?;
    Ok((Receiver::from_owned_fd_unchecked(ours)?, theirs, Some(typed)))
}

fn shell() -> &'static str {
    let found = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
    found.into_iter().find(|path| std::path::Path::new(path).exists()).unwrap_or("/bin/sh")
}
