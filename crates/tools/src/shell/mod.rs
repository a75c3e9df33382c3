//! Runs a line of shell in the session's folder, locked in there if that is wanted and can be done.

mod environment;
mod jobs;
mod launch;
mod output;
mod plain;
mod process;
mod shell_input;
mod shell_kill;
mod shell_output;

use std::{
    future::pending, os::unix::process::ExitStatusExt as _, process::ExitStatus, sync::Arc,
    time::Duration,
};

use kernel::{
    toolbox::{Call, Deed, Detail, Reply, Risk, Toolbox},
    update::{SessionId, Signal},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, sleep};

pub use environment::{Variables, clean};
use launch::{Decision, Shell};
pub use launch::{Sandboxing, Settings};
use output::{Letters, Output};
use process::Process;

use crate::{
    sandbox::Lock,
    typed::{Adapter, Typed, shorten},
};

/// How much of the output is passed on while it is printed.
const SHOWN: usize = 1 << 20;

/// Puts the tools that run commands into the box.
pub fn add(toolbox: &Toolbox, settings: Settings) {
    let shell = Arc::new(Shell::new(settings));
    toolbox.add(Adapter::new(RunShell { shell: shell.clone() }));
    toolbox.add(Adapter::new(shell_output::ShellOutput { shell: shell.clone() }));
    toolbox.add(Adapter::new(shell_input::ShellInput { shell: shell.clone() }));
    toolbox.add(Adapter::new(shell_kill::ShellKill { shell }));
}

/// Runs a command line with bash in the session's folder and returns its exit code and what it
/// printed, stdout and stderr together. There is no stdin. Each call is a new shell.
///
/// The command may be sandboxed: it can then write to the session's folder and to $TMPDIR only,
/// read the system but not the person's files, and has no network. The first line of the result
/// says so.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The command line.
    command: String,
    /// After so long it is ended. 120 if absent; a background job has no limit if absent.
    timeout_seconds: Option<u64>,
    /// Whether to give it a terminal.
    #[serde(default)]
    tty: bool,
    /// Whether to return at once with the number of a job, for `shell_output`, `shell_input`
    /// and `shell_kill`.
    #[serde(default)]
    background: bool,
    /// Whether to sandbox it. By default that depends on what the person allows; to ask for
    /// `false` may mean that they are asked.
    sandbox: Option<bool>,
}

struct RunShell {
    shell: Arc<Shell>,
}

impl Typed for RunShell {
    type Input = Input;
    type Output = Reply;
    const NAME: &'static str = "shell";
    const RISK: Risk = Risk::Runs;

    fn title(&self, input: &Input) -> String {
        format!("Running `{}`", shorten(&input.command, 80))
    }

    async fn foresee(&self, input: Input, call: &Call) -> Result<Deed, String> {
        Shell::check(&input.command)?;
        self.shell.limit(input.timeout_seconds)?;
        let decision = self.shell.decide(input.sandbox, call).await?;
        let subjects = plain::subjects(&input.command);
        Ok(deed(subjects, input.command, call, decision.lock, decision.why_not))
    }

    async fn run(&self, input: Input, call: Call) -> Result<Reply, String> {
        let Input { command, timeout_seconds, tty, background, sandbox } = input;
        Shell::check(&command)?;
        let limit = self.shell.limit(timeout_seconds)?;
        let decision = self.shell.decide(sandbox, &call).await?;
        if !background {
            let (process, _) = self.shell.start(&command, tty, &call, &decision)?;
            let limit = limit.unwrap_or_else(|| self.shell.usual(&call));
            return Ok(accompany(process, limit, &decision, &call).await);
        }
        let session = call.session.id();
        self.shell.jobs.has_room(session)?;
        let process = self.shell.start(&command, tty, &call, &decision)?;
        let number = self.shell.jobs.add(session, command, decision.lock, limit, process);
        Ok(Reply {
            text: format!("{}\njob {number} is running", decision.note),
            data: Some(json!({ "job": number, "sandboxed": decision.lock != Lock::Open })),
            ..Reply::default()
        })
    }

    fn forget(&self, session: SessionId) {
        self.shell.jobs.forget(session);
    }
}

/// What it would mean to run this.
fn deed(
    subjects: Vec<String>,
    command: String,
    call: &Call,
    lock: Lock,
    why_not: Option<String>,
) -> Deed {
    let sandboxed = lock != Lock::Open;
    let cwd = call.cwd.display().to_string();
    let risk = if sandboxed { Risk::RunsBoxed } else { Risk::Runs };
    Deed {
        risk,
        detail: Detail::Command { command, cwd, sandboxed, why_not },
        subjects,
        within: None,
    }
}

/// Follows a process to its end, or to the end of our patience.
async fn accompany(
    mut process: Process,
    limit: Duration,
    decision: &Decision,
    call: &Call,
) -> Reply {
    let start = Instant::now();
    let mut output = Output::default();
    let follow = async {
        let (mut letters, mut size) = (Letters::default(), 0);
        while let Some(bytes) = process.next().await {
            output.add(&bytes);
            let text = letters.read(&bytes);
            if let Some(companion) = &call.companion {
                companion.printed(&text);
            }
            if size < SHOWN {
                size += bytes.len();
                show(call, text, size).await;
            }
        }
    };
    let stopped = async {
        match &call.companion {
            Some(companion) => companion.stopped().await,
            None => pending().await,
        }
    };
    let cut = tokio::select! {
        () = follow => None,
        () = stopped => Some("ended at the wish of whoever started it".to_owned()),
        () = sleep(limit) => {
            Some(format!("ended because it took longer than {} s", limit.as_secs_f64()))
        }
    };
    let took = start.elapsed();
    let status = process.status().filter(|_| cut.is_none());
    drop(process);
    let timed_out = cut.is_some() && took >= limit;
    let end = cut.or(status.map(said)).unwrap_or_default();
    let text =
        format!("{}\n{end}, after {:.1} s\n{}", decision.note, took.as_secs_f64(), output.text());
    let data = json!({
        "exit_code": status.map(exit_code),
        "timed_out": timed_out,
        "duration_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "sandboxed": decision.lock != Lock::Open,
    });
    Reply { text, data: Some(data), ..Reply::default() }
}

async fn show(call: &Call, delta: String, size: usize) {
    if let Some(id) = &call.id
        && !delta.is_empty()
    {
        // A session that is closed has nobody to show it to.
        call.session.tell(Signal::Printed { call: id.clone(), delta, size }).await.ok();
    }
}

fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

fn said(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("ended by signal {signal}"),
        None => format!("exit code {}", exit_code(status)),
    }
}
