//! What this machine can do to lock a command in: found out by trying.

use std::{ffi::OsString, path::PathBuf, process::Stdio};

use tempfile::TempDir;
use tokio::{process::Command, sync::OnceCell};

use super::{Lock, Orders};

/// The program that is the helper, and what it must be told to be that.
#[derive(Clone, Debug)]
pub struct Helper {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
}

impl Helper {
    /// This very program, with these words before the orders.
    pub fn ourselves(arguments: &[&str]) -> Self {
        // By this name it is found even after the file has been replaced by a newer one.
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe().unwrap_or_else(|_| PathBuf::from("megaron"))
        };
        Self { program, arguments: arguments.iter().map(OsString::from).collect() }
    }

    /// A process of its own that is dropped with its handle, with nothing of our environment.
    pub fn command(&self, orders: &Orders) -> Result<Command, String> {
        let orders = serde_json::to_string(orders)
            .map_err(|error| format!("the folder cannot be named: {error}"))?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(orders).env_clear().kill_on_drop(true);
        Ok(command)
    }
}

/// The best lock there is, found once; or why there is none.
#[derive(Default)]
pub struct Ability(OnceCell<Result<Lock, String>>);

impl Ability {
    pub async fn lock(&self, helper: &Helper) -> &Result<Lock, String> {
        self.0.get_or_init(|| find(helper)).await
    }

    /// As if this had been found.
    pub fn given(found: Result<Lock, String>) -> Self {
        Self(OnceCell::new_with(Some(found)))
    }
}

async fn find(helper: &Helper) -> Result<Lock, String> {
    if !cfg!(target_os = "linux") {
        return Err("there is no sandbox for this system".into());
    }
    let mut reasons = Vec::new();
    for lock in [Lock::Namespaces, Lock::Landlock] {
        match attempt(helper, lock).await {
            Ok(()) => return Ok(lock),
            Err(reason) => reasons.push(reason),
        }
    }
    let reason = reasons.join("; ");
    tracing::warn!(reason, "commands cannot be locked in on this machine");
    Err(reason)
}

/// Whether a command can be locked in like this, or why not.
pub async fn attempt(helper: &Helper, lock: Lock) -> Result<(), String> {
    let words = |error: std::io::Error| error.to_string();
    let [folder, temporary] = [TempDir::new(), TempDir::new()];
    let (folder, temporary) = (folder.map_err(words)?, temporary.map_err(words)?);
    let orders = Orders {
        lock,
        folder: folder.path().canonicalize().map_err(words)?,
        temporary: temporary.path().canonicalize().map_err(words)?,
        home: None,
        hidden: Vec::new(),
        tty: false,
        processes: 512,
        inner: false,
    };
    let mut command = helper.command(&orders)?;
    command.args(["/bin/sh", "-c", ":"]).stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("the helper cannot be started: {error}"))?;
    // Open until it has ended: it would take the end for ours.
    let lifeline = child.stdin.take();
    let output = child.wait_with_output().await.map_err(words)?;
    drop(lifeline);
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().trim_start_matches("cannot run this: ");
    Err(if said.is_empty() { output.status.to_string() } else { said.to_owned() })
}
