//! Remembers how the owner's applets looked before, by `git` where there is one. Nothing waits for it.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{process::Command, sync::watch};

/// Changes that follow each other this closely are one.
const QUIET: Duration = Duration::from_secs(2);
/// A git that takes longer is not worth waiting for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tell it of changes; it is idle when this is dropped.
pub struct Historian(watch::Sender<()>);

impl Historian {
    pub fn note(&self) {
        self.0.send_replace(());
    }
}

/// Begins with what is there already.
pub fn begin(folder: PathBuf) -> Historian {
    let (sender, mut noted) = watch::channel(());
    noted.mark_changed();
    tokio::spawn(async move {
        while noted.changed().await.is_ok() {
            while let Ok(Ok(())) = tokio::time::timeout(QUIET, noted.changed()).await {}
            if let Err(what) = remember(&folder).await {
                tracing::debug!(folder = %folder.display(), what, "applets were not remembered");
            }
        }
    });
    Historian(sender)
}

async fn remember(folder: &Path) -> Result<(), String> {
    let keeper = folder.with_extension("git");
    if !folder.is_dir() {
        return Ok(());
    }
    if !keeper.is_dir() {
        if is_empty(folder) {
            return Ok(());
        }
        git(folder, &keeper, &["init", "--quiet"]).await?;
    }
    introduce(folder, &keeper);
    git(folder, &keeper, &["add", "--all", "."]).await?;
    // It fails where nothing is different, which is as well.
    git(folder, &keeper, &["commit", "--quiet", "--no-verify", "--message", "Applets changed"])
        .await
}

/// Lets `git log` work in the folder itself. What is remembered lies beside the folder all the same:
/// in it, whoever may write applets could make git run programs.
fn introduce(folder: &Path, keeper: &Path) {
    let note = folder.join(".git");
    if note.symlink_metadata().is_err() {
        // Only a convenience.
        std::fs::write(note, format!("gitdir: {}\n", keeper.display())).ok();
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

async fn git(folder: &Path, keeper: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("git");
    command
        .arg("--git-dir")
        .arg(keeper)
        .arg("--work-tree")
        .arg(folder)
        .args(["-c", "user.name=Megaron", "-c", "user.email=megaron@localhost"])
        .args(["-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"])
        .args(["-c", "core.fsmonitor=false", "-c", "core.bare=false", "-c", "gc.auto=0"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env_remove("GIT_DIR")
        .env_remove("GIT_INDEX_FILE")
        .env_remove("GIT_WORK_TREE")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    match tokio::time::timeout(PATIENCE, command.status()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("git {}: {status}", arguments.join(" "))),
        Ok(Err(error)) => Err(format!("git: {error}")),
        Err(_) => Err("git took too long".into()),
    }
}
