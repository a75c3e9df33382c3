//! The helper process between the server and a command: it locks the command in, and dies with the server.

mod ability;
#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod inner;
#[cfg(target_os = "linux")]
mod loopback;
#[cfg(target_os = "linux")]
mod mounts;
mod outer;
#[cfg(target_os = "linux")]
mod rules;

use std::{
    ffi::OsString,
    io,
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::{ExitCode, ExitStatus},
};

use serde::{Deserialize, Serialize};

pub use ability::{Ability, Helper, attempt};

/// How the helper says that it could not do its work; the command was not run then.
pub const FAILED: u8 = 125;

/// How a command is kept from the rest of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lock {
    /// In namespaces of its own, where all but its folder is read-only, and under Landlock.
    Namespaces,
    /// Under Landlock alone, with a filter for the system calls that Landlock does not know.
    Landlock,
    /// Not at all.
    Open,
}

/// What the helper is told, as its first argument. The command follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Orders {
    pub lock: Lock,
    /// Where the command may write. It begins there.
    pub folder: PathBuf,
    /// A folder for what it throws away.
    pub temporary: PathBuf,
    pub home: Option<PathBuf>,
    /// What it must not see, even in its folder.
    pub hidden: Vec<PathBuf>,
    /// Whether our standard output is a terminal that is to be the command's.
    pub tty: bool,
    /// How many processes there may be at once.
    pub processes: u64,
    /// Whether this is the second of the two helpers, inside.
    #[serde(default)]
    pub inner: bool,
}

impl Orders {
    /// What of the hidden lies in the folder, where only a mount can hide it.
    pub fn hidden_inside<'a>(
        folder: &'a Path,
        hidden: &'a [PathBuf],
    ) -> impl Iterator<Item = &'a Path> {
        hidden.iter().map(PathBuf::as_path).filter(move |path| path.starts_with(folder))
    }
}

/// What `megaron sandbox-exec ORDERS COMMAND...` does: runs the command, and ends as it ends.
pub fn execute(arguments: &[OsString]) -> ExitCode {
    #[cfg(target_os = "linux")]
    inner::close_what_was_left_open();
    match try_execute(arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("cannot run this: {error}");
            ExitCode::from(FAILED)
        }
    }
}

fn try_execute(arguments: &[OsString]) -> Result<ExitCode, Trouble> {
    let [orders, command @ ..] = arguments else {
        return Err(Trouble::Usage("the orders are missing".into()));
    };
    if command.is_empty() {
        return Err(Trouble::Usage("the command is missing".into()));
    }
    let orders: Orders = serde_json::from_slice(orders.as_encoded_bytes())
        .map_err(|error| Trouble::Usage(format!("the orders cannot be read: {error}")))?;
    #[cfg(target_os = "linux")]
    if orders.inner {
        return inner::run(&orders, command);
    }
    outer::run(orders, arguments)
}

/// Why the command was not run.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("{0}; this is started by the server, not by hand")]
    Usage(String),
    #[error("{what}: {error}")]
    System { what: &'static str, error: io::Error },
    #[cfg(not(target_os = "linux"))]
    #[error("commands cannot be locked in on this system")]
    Unsupported,
}

/// Says what was tried when the system refused.
trait Tried<T> {
    fn tried(self, what: &'static str) -> Result<T, Trouble>;
}

impl<T, E: Into<io::Error>> Tried<T> for Result<T, E> {
    fn tried(self, what: &'static str) -> Result<T, Trouble> {
        self.map_err(|error| Trouble::System { what, error: error.into() })
    }
}

/// As a shell would say it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    u8::try_from(code).unwrap_or(FAILED)
}
