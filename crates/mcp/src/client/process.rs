//! A server's own process: what it may know of us, and how it ends with all that it started.

use std::{io, path::Path, process::Stdio, sync::Arc, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use super::{logbook::Logbook, settings::Settings};

/// Variables that tell a program where it is and nothing about anybody's keys.
const HARMLESS: &[&str] = &[
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "SystemRoot",
];
const HARMLESS_BEGINNINGS: &[&str] = &["LC_", "XDG_"];
/// How long it may take to end by itself, and again after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
const LONGEST_LINE: u64 = 8 * 1024;

/// Its whole group dies with it.
pub struct Process {
    child: Child,
    group: Option<Pid>,
}

impl Process {
    pub fn start(
        settings: &Settings,
        command: &str,
        folder: &Path,
        log: &Arc<Logbook>,
    ) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let mut child = Command::new(command)
            .args(&settings.args)
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| {
                name.to_str().is_some_and(|name| is_harmless(name) || is_passed(settings, name))
            }))
            .envs(&settings.env)
            .current_dir(settings.cwd.as_deref().unwrap_or(folder))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let missing = || io::Error::other("the process has no pipes");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(keep_lines(stderr, log.clone()));
        }
        Ok((Self { child, group }, stdin, stdout))
    }

    /// How it ended, for a person, if it does so soon.
    pub async fn ended(&mut self) -> Option<String> {
        let status = timeout(GRACE, self.child.wait()).await.ok()?.ok()?;
        Some(status.to_string())
    }

    /// Ends it: by itself now that nobody speaks to it, else when asked, else at once.
    pub async fn end(&mut self) {
        if timeout(GRACE, self.child.wait()).await.is_err() {
            self.signal(Signal::TERM);
            // Whoever does not listen is ended below.
            timeout(GRACE, self.child.wait()).await.ok();
        }
        self.signal(Signal::KILL);
        self.child.wait().await.ok();
        self.group = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // Nobody may be left.
            kill_process_group(group, signal).ok();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || HARMLESS_BEGINNINGS.iter().any(|it| name.starts_with(it))
}

fn is_passed(settings: &Settings, name: &str) -> bool {
    settings.pass_env.iter().any(|passed| passed == name)
}

/// Reads to the end, whatever comes: a server whose pipe is full would stop.
async fn keep_lines(stderr: impl AsyncRead + Unpin, log: Arc<Logbook>) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => log.note(&String::from_utf8_lossy(&line)),
        }
    }
}
