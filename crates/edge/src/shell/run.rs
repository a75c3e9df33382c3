//! A command that runs, what it prints, and that nothing of it is left when it is dropped.

use std::{process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::{Child, ChildStderr, ChildStdout, Command},
    time::timeout,
};

use super::{Done, Errand, git, plain::plain};
use crate::error::ApiError;

const PATIENCE: Duration = Duration::from_mins(1);
const MOST: usize = 10 << 20;
pub const CHUNK: usize = 32 << 10;

/// What every command knows of its surroundings, besides where programs are.
const KNOWN: &[&str] = &["HOME", "LANG", "LC_ALL", "USER", "LOGNAME", "TZ", "TMPDIR"];

/// To drop it is to end it, and all that it started.
pub struct Process {
    child: Child,
    group: Option<Pid>,
}

impl Process {
    pub async fn start(errand: &Errand) -> Result<(Self, ChildStdout, ChildStderr), ApiError> {
        let known = KNOWN.iter().filter_map(|it| Some((it, std::env::var_os(it)?)));
        let mut command = Command::new(&errand.program);
        command
            .current_dir(&errand.cwd)
            .env_clear()
            .envs(known)
            .env("PATH", &errand.path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if errand.is_git {
            command.args(git::arguments(&errand.args));
            command.envs(git::environment(&errand.program, &errand.cwd).await);
        } else {
            command.args(&errand.args);
        }
        let mut child = command.spawn().map_err(|_| errand.failed())?;
        let group = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(errand.failed());
        };
        Ok((Self { child, group }, stdout, stderr))
    }

    /// How it ended; an error if a signal did that.
    pub async fn code(&mut self, errand: &Errand) -> Result<i32, ApiError> {
        let status = self.child.wait().await.ok().and_then(|status| status.code());
        status.ok_or_else(|| errand.failed())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // In most cases none is left, which is no error.
        self.group.map(|group| kill_process_group(group, Signal::KILL));
    }
}

/// Runs it to its end and gives back what it printed.
pub async fn whole(errand: &Errand) -> Result<Done, ApiError> {
    let work = async {
        let (mut process, stdout, stderr) = Process::start(errand).await?;
        let (stdout, stderr) = tokio::try_join!(drain(stdout, "stdout"), drain(stderr, "stderr"))?;
        let code = process.code(errand).await?;
        Ok(Done { stdout: plain(&stdout), stderr: plain(&stderr), code })
    };
    timeout(PATIENCE, work).await.unwrap_or_else(|_| Err(ApiError::timeout("Command timed out")))
}

async fn drain(mut from: impl AsyncRead + Unpin, name: &str) -> Result<Vec<u8>, ApiError> {
    let mut all = Vec::new();
    loop {
        all.reserve(CHUNK);
        match from.read_buf(&mut all).await {
            Ok(0) | Err(_) => return Ok(all),
            Ok(_) if all.len() > MOST => {
                return Err(ApiError::internal(format!("{name} maxBuffer length exceeded")));
            }
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errand(line: &[&str]) -> Errand {
        let args: Vec<_> = line[1..].iter().map(|it| (*it).to_owned()).collect();
        Errand {
            program: line[0].into(),
            line: line.join(" "),
            args,
            cwd: "/".into(),
            path: "/usr/bin:/bin".into(),
            is_git: false,
        }
    }

    async fn refused(line: &[&str]) -> (u16, &'static str, String) {
        let (status, code, text) = whole(&errand(line)).await.unwrap_err().told();
        (status.as_u16(), code, text)
    }

    #[tokio::test(start_paused = true)]
    async fn a_command_that_takes_too_long_is_ended() {
        let timed_out = (408, "TIMEOUT", "Command timed out".to_owned());
        assert_eq!(refused(&["/bin/sh", "-c", "sleep 1000 & wait"]).await, timed_out);
    }

    #[tokio::test]
    async fn what_ends_badly_is_told_so() {
        let failed = |text: &str| (500, "INTERNAL_ERROR", text.to_owned());
        let much = "head -c 10485761 /dev/zero";
        let error = refused(&["/bin/sh", "-c", much]).await;
        assert_eq!(error, failed("stdout maxBuffer length exceeded"));
        let error = refused(&["/bin/sh", "-c", &format!("{much} >&2")]).await;
        assert_eq!(error, failed("stderr maxBuffer length exceeded"));
        let error = refused(&["/bin/sh", "-c", "kill -9 $$"]).await;
        assert_eq!(error, failed("Command failed: /bin/sh -c kill -9 $$\n"));
    }
}
