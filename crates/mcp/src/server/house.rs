//! What all clients share: the host, and a session for each to use tools in.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, PoisonError},
};

use kernel::{
    approvals::Mode,
    host::{Host, OpenError},
    state::State,
    update::{Amendment, SessionId},
};
use tokio::sync::Mutex;

use super::shown::Labels;

/// How much of a client's own name makes the name of its session.
const NAME_CHARS: usize = 60;
/// How many clients without a connection are remembered.
const REMEMBERED: usize = 256;

pub struct House {
    pub host: Arc<Host>,
    /// Sessions of clients that come without a connection, by their name.
    rooms: Mutex<HashMap<String, SessionId>>,
    /// What windows are called among those of all sessions.
    pub(super) labels: Labels,
}

/// What a client may say of a session that it wants made.
#[derive(Default)]
pub struct Wish {
    pub name: String,
    pub cwd: Option<String>,
    pub model: Option<String>,
    pub mode: Option<Mode>,
}

impl House {
    pub fn new(host: Arc<Host>) -> Arc<Self> {
        Arc::new(Self { host, rooms: Mutex::default(), labels: Labels::default() })
    }

    /// A new session as the client wants it, or what is wrong with the wish.
    pub async fn create(&self, wish: Wish) -> Result<SessionId, String> {
        let Wish { name, cwd, model, mode } = wish;
        let ports = &self.host.ports;
        let cwd = match cwd {
            Some(cwd) => self.folder(&cwd)?,
            None => ports.workspace.clone(),
        };
        let model = model.unwrap_or_else(|| ports.models.default_id());
        if ports.models.find(&model).is_none() {
            return Err(format!("no model is called `{model}`"));
        }
        let most = self.host.approvals.mode(&State::default());
        if let Some(mode) = mode.filter(|mode| *mode > most) {
            return Err(format!(
                "a session that a client makes may do no more than `{}` without asking; `{}` is \
                 for the person to choose",
                most.name(),
                mode.name()
            ));
        }
        let say = |error: OpenError| error.to_string();
        let id = self.host.create(&cwd, &model, &name).await.map_err(say)?;
        if mode.is_some() {
            let amendment = Amendment { mode, ..Amendment::default() };
            self.host.amend(id, amendment).await.map_err(say)?;
        }
        Ok(id)
    }

    /// The session in which a client without a connection uses tools.
    pub async fn room(&self, client: &str) -> Result<SessionId, String> {
        let mut rooms = self.rooms.lock().await;
        if let Some(id) = rooms.get(client).filter(|id| self.host.roster.get(**id).is_some()) {
            return Ok(*id);
        }
        if rooms.len() >= REMEMBERED {
            rooms.clear();
        }
        let id = self.furnish(client).await?;
        rooms.insert(client.to_owned(), id);
        Ok(id)
    }

    /// A session to use tools in, named after the client.
    pub async fn furnish(&self, client: &str) -> Result<SessionId, String> {
        let client: String = client.chars().filter(|c| !c.is_control()).take(NAME_CHARS).collect();
        let client = if client.trim().is_empty() { "a client" } else { client.trim() };
        self.create(Wish { name: format!("Tools for {client}"), ..Wish::default() }).await
    }

    /// A session by the name a client gives it.
    pub fn session(&self, text: &str) -> Result<(SessionId, Arc<State>), String> {
        let id = SessionId::parse(text);
        let found = id.and_then(|id| Some((id, self.host.roster.get(id)?)));
        found.ok_or_else(|| {
            format!("no session is called `{text}`; `list_sessions` tells which there are")
        })
    }

    fn folder(&self, text: &str) -> Result<PathBuf, String> {
        let path = self.host.ports.workspace.join(text);
        match path.metadata() {
            Ok(it) if it.is_dir() => {
                path.canonicalize().map_err(|error| format!("{text}: {error}"))
            }
            Ok(_) => Err(format!("`{text}` is not a folder")),
            Err(_) => Err(format!("there is no folder `{text}`")),
        }
    }
}

/// Takes a lock whose holder cannot have left it half changed.
pub fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
