//! What applets told the server about themselves: an object per session and applet, kept for ever.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::{
    ports::{Catalog, Shelf, StoreError},
    recent::Recent,
    roster::{News, Roster},
    update::SessionId,
};

/// How large one applet's state may grow, as JSON.
pub const STATE_BYTES: usize = 1 << 20;
/// How many states are at hand without the store, and how large each of them may be.
const RECENT: usize = 64;
const RECENT_BYTES: usize = 64 << 10;

/// Whose state it is. Either may be missing: an applet without a session, a session without an applet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppletKey {
    pub session: Option<SessionId>,
    pub slug: Option<String>,
}

/// Who says something, and need not hear it again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Teller {
    /// The connection.
    pub from: Option<u64>,
    pub frame: Option<Uuid>,
}

#[derive(Debug, thiserror::Error)]
pub enum AppletError {
    #[error("applet state would be larger than 1 MB")]
    TooLarge,
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub struct Applets {
    catalog: Arc<dyn Catalog>,
    roster: Arc<Roster>,
    /// Held from reading to writing, so that no merge is lost to another.
    merging: Mutex<()>,
    /// What the store holds, changed only by whoever holds `merging`.
    recent: Recent<Arc<Map<String, Value>>>,
    /// Shared with every connection on which an applet may listen.
    audience: Arc<()>,
}

/// Held by a connection for as long as applets may listen on it.
pub struct Seat {
    _audience: Arc<()>,
}

impl Applets {
    pub fn new(catalog: Arc<dyn Catalog>, roster: Arc<Roster>) -> Self {
        let (merging, recent) = (Mutex::default(), Recent::new(RECENT));
        Self { catalog, roster, merging, recent, audience: Arc::default() }
    }

    pub async fn state(&self, key: &AppletKey) -> Result<Map<String, Value>, StoreError> {
        let name = name(key);
        if let Some(state) = self.recent.get(&name) {
            return Ok(Map::clone(&state));
        }
        let _merging = self.merging.lock().await;
        self.fetch(&name).await
    }

    /// For whoever holds `merging`.
    async fn fetch(&self, name: &str) -> Result<Map<String, Value>, StoreError> {
        if let Some(state) = self.recent.get(name) {
            return Ok(Map::clone(&state));
        }
        let text = self.catalog.get(Shelf::AppletState, name).await?.unwrap_or_default();
        // What is no object was never written here.
        let state: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
        self.note(name, &state, text.len());
        Ok(state)
    }

    fn note(&self, name: &str, state: &Map<String, Value>, bytes: usize) {
        if bytes <= RECENT_BYTES {
            self.recent.keep(name, Arc::new(state.clone()));
        } else {
            self.recent.forget(|it| it == name);
        }
    }

    /// Sets the top-level keys given and leaves the others.
    pub async fn merge(
        &self,
        key: &AppletKey,
        data: Map<String, Value>,
    ) -> Result<(), AppletError> {
        let _merging = self.merging.lock().await;
        let name = name(key);
        let mut state = self.fetch(&name).await?;
        state.extend(data);
        let state = Value::Object(state);
        let text = state.to_string();
        if text.len() > STATE_BYTES {
            return Err(AppletError::TooLarge);
        }
        let bytes = text.len();
        // Until it is known what the store holds, nothing is.
        self.recent.forget(|it| it == name);
        self.catalog.put(Shelf::AppletState, &name, text).await?;
        if let Value::Object(state) = state {
            self.note(&name, &state, bytes);
        }
        Ok(())
    }

    /// Forgets all that an applet has said here.
    pub async fn clear(&self, key: &AppletKey) -> Result<(), StoreError> {
        let _merging = self.merging.lock().await;
        let name = name(key);
        self.recent.forget(|it| it == name);
        self.catalog.discard(Shelf::AppletState, &name).await
    }

    /// Merges, and lets the other connections know that watch `session`, or none if there is none.
    pub async fn push(
        &self,
        key: &AppletKey,
        data: Map<String, Value>,
        session: Option<SessionId>,
        Teller { from, frame }: Teller,
    ) -> Result<(), AppletError> {
        self.merge(key, data.clone()).await?;
        let (slug, data) = (key.slug.clone(), Arc::new(Value::Object(data)));
        self.roster.tell(News::AppletState { session, slug, data, from, frame });
        Ok(())
    }

    /// Shows something to the applets of a session, or of all, and keeps nothing of it. Says whether
    /// anybody could have seen it.
    pub fn show(&self, session: Option<SessionId>, data: Map<String, Value>) -> bool {
        let data = Arc::new(Value::Object(data));
        self.roster.tell(News::AppletState { session, slug: None, data, from: None, frame: None });
        Arc::strong_count(&self.audience) > 1
    }

    pub fn seat(&self) -> Seat {
        Seat { _audience: self.audience.clone() }
    }

    /// The applet that was opened last in a session.
    pub async fn current(&self, session: SessionId) -> Result<Option<String>, StoreError> {
        self.catalog.load(Shelf::AppletState, &open(session)).await
    }

    pub async fn set_current(&self, session: SessionId, slug: &str) -> Result<(), StoreError> {
        self.catalog.save(Shelf::AppletState, &open(session), &slug).await
    }

    /// Where the person has been in the applet, as the page last told it.
    pub async fn navigation(&self, key: &AppletKey) -> Result<Map<String, Value>, StoreError> {
        Ok(self.catalog.load(Shelf::AppletState, &trail(key)).await?.unwrap_or_default())
    }

    pub async fn navigate(
        &self,
        key: &AppletKey,
        navigation: &Map<String, Value>,
    ) -> Result<(), StoreError> {
        self.catalog.save(Shelf::AppletState, &trail(key), navigation).await
    }

    pub(crate) async fn forget(&self, session: SessionId) -> Result<(), StoreError> {
        let _merging = self.merging.lock().await;
        let of = format!("{session}/");
        self.recent.forget(|name| name.starts_with(&of));
        for (name, _) in self.catalog.list(Shelf::AppletState, &of).await? {
            self.catalog.discard(Shelf::AppletState, &name).await?;
        }
        Ok(())
    }
}

/// Slugs have no number sign either.
fn trail(key: &AppletKey) -> String {
    format!("{}#navigation", name(key))
}

fn open(session: SessionId) -> String {
    format!("{session}/#open")
}

/// Slugs have no slash, so no two keys share a name.
fn name(AppletKey { session, slug }: &AppletKey) -> String {
    let session = session.map(|session| session.to_string()).unwrap_or_default();
    format!("{session}/{}", slug.as_deref().unwrap_or_default())
}
