//! A command that runs, what it prints, and that nothing of it is left when it is dropped.

use std::{process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::{Child, ChildStderr, ChildStdout, Command},
    time::timeout,
};

use super::{Done, Errand};
use crate::error::ApiError;

const PATIENCE: Duration = Duration::from_mins(1);
const MOST: usize = 10 << 20;
const CHUNK: usize = 32 << 10;

/// What git must not do on the word of a folder that somebody else may have filled.
const GIT_CONFIG: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("protocol.ext.allow", "never"),
];

/// To drop it is to end it, and all that it started.
pub struct Process {
    child: Child,
    group: Option<Pid>,
}

impl Process {
    pub fn start(errand: &Errand) -> Result<(Self, ChildStdout, ChildStderr), ApiError> {
        let failed = || ApiError::internal(format!("Command failed: {}\n", errand.line));
        let mut command = Command::new(&errand.program);
        command
            .args(&errand.args)
            .current_dir(&errand.cwd)
            .env_clear()
            .envs(
                ["HOME", "LANG", "USER", "TZ"]
                    .iter()
                    .filter_map(|it| Some((it, std::env::var_os(it)?))),
            )
            .env("PATH", &errand.path)
            .env("GIT_PAGER", "cat")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_CONFIG_COUNT", GIT_CONFIG.len().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        for (index, (name, value)) in GIT_CONFIG.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{index}"), name);
            command.env(format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        let mut child = command.spawn().map_err(|_| failed())?;
        let group = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(failed());
        };
        Ok((Self { child, group }, stdout, stderr))
    }

    /// How it ended; an error if a signal did that.
    pub async fn code(&mut self, errand: &Errand) -> Result<i32, ApiError> {
        let status = self.child.wait().await.ok().and_then(|status| status.code());
        status.ok_or_else(|| ApiError::internal(format!("Command failed: {}\n", errand.line)))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // None are left, in most cases.
        self.group.map(|group| kill_process_group(group, Signal::KILL));
    }
}

/// Runs it to its end and gives back what it printed.
pub async fn whole(errand: &Errand) -> Result<Done, ApiError> {
    let (mut process, stdout, stderr) = Process::start(errand)?;
    let work = async {
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

/// Without colours and the like, and with one kind of line end.
pub fn plain(bytes: &[u8]) -> String {
    // Tabs would be stripped with the rest.
    let cells: Vec<_> = bytes.split(|it| *it == b'\t').map(strip_ansi_escapes::strip).collect();
    let text = cells.join(&b'\t');
    let text = String::from_utf8_lossy(&text);
    text.replace("\r\n", "\n").replace('\r', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_keeps_its_tabs_and_loses_its_colours() {
        let printed = b"\x1b[31m1\t2\x1b[0m\tname\r\nnext\rline\n";
        assert_eq!(plain(printed), "1\t2\tname\nnextline\n");
    }
}
