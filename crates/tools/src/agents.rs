//! Tools by which an agent makes others, talks to them, and waits for what they say.

mod create;
mod models;
mod send;
mod standing;
#[cfg(test)]
pub mod tests;
mod wait;

use std::{
    path::{Component, Path, PathBuf},
    sync::{Arc, Weak},
};

use kernel::{
    approvals::Mode,
    host::Host,
    state::State,
    toolbox::{Call, Deed, Detail, Risk},
    update::SessionId,
};

pub use create::CreateAgentSession;
pub use models::ListModels;
pub use send::SendAgentMessage;
pub use standing::GetSessionState;
pub use wait::WaitForAgent;

/// The house, from within: weak, or its tools would keep it standing.
#[derive(Clone)]
pub struct House(pub Weak<Host>);

impl House {
    pub fn host(&self) -> Result<Arc<Host>, String> {
        self.0.upgrade().ok_or_else(|| "the server is shutting down".to_owned())
    }
}

fn find(host: &Host, text: &str) -> Option<(SessionId, Arc<State>)> {
    let id = SessionId::parse(text)?;
    Some((id, host.roster.get(id)?))
}

/// How much it matters that an agent is set to work. One that may do no more than its caller does
/// nothing of which the caller could not have done the same, as a program that is locked in; it
/// costs money, so that it is not nothing. Any other lends the caller what it may not do itself.
fn deed(call: &Call, subject: String, bounded: bool) -> Deed {
    let risk = if bounded { Risk::RunsBoxed } else { Risk::Acts };
    let detail = Detail::Arguments { args: call.args.clone() };
    Deed { risk, detail, subjects: vec![subject], within: None }
}

/// Whether whoever works there, in this mode, may do no more than the caller.
fn is_bounded(call: &Call, mode: Mode, cwd: &Path) -> bool {
    mode <= call.mode && cwd.starts_with(real(&call.cwd))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// A path without `.` and `..`, as it is spelt: links are not followed.
fn spelt(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => (),
            Component::ParentDir => drop(plain.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                plain.push(component);
            }
        }
    }
    plain
}
