//! What each client looks at, and what the person prefers: small records that outlive connections.

use std::sync::Arc;

use kernel::{
    applets::AppletKey,
    host::Host,
    ports::{Shelf, StoreError},
    recent::Recent,
    update::SessionId,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use utoipa::ToSchema;

use super::hear::Place;

/// The name of their record.
pub const PREFERENCES: &str = "default";
const CHOSEN: &str = "chosen-model";

pub struct Clients {
    host: Arc<Host>,
    /// Held from reading to writing.
    changing: Mutex<()>,
    /// What is on record of clients, changed only by whoever holds `changing`.
    recent: Recent<Slot>,
}

/// How many clients are known without the store.
const RECENT: usize = 64;

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Slot {
    active: Option<SessionId>,
    applet: Option<String>,
}

/// What the person used last.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct Preferences {
    #[serde(rename = "lastCwd")]
    pub cwd: String,
    #[serde(rename = "lastModel")]
    pub model: String,
    #[serde(rename = "lastSessionId")]
    #[schema(value_type = Option<String>)]
    pub session: Option<SessionId>,
}

impl Clients {
    pub fn new(host: Arc<Host>) -> Self {
        Self { host, changing: Mutex::default(), recent: Recent::new(RECENT) }
    }

    /// The session this client has open, if it still exists.
    pub async fn active(&self, client: &str) -> Result<Option<SessionId>, StoreError> {
        let active = self.slot(client).await?.active;
        Ok(active.filter(|session| self.host.roster.get(*session).is_some()))
    }

    pub async fn set_active(&self, client: &str, session: SessionId) -> Result<(), StoreError> {
        {
            let _changing = self.changing.lock().await;
            let slot = Slot { active: Some(session), ..self.fetch(client).await? };
            self.put(client, slot).await?;
        }
        self.prefer(|preferences| preferences.session = Some(session)).await?;
        Ok(())
    }

    /// Notes which applet the client has open.
    pub async fn set_applet(&self, client: &str, slug: &str) -> Result<(), StoreError> {
        let _changing = self.changing.lock().await;
        let slot = Slot { applet: Some(slug.to_owned()), ..self.fetch(client).await? };
        self.put(client, slot).await
    }

    /// Whose applet state is meant: what was said, else what the client is looking at.
    pub async fn applet_key(
        &self,
        client: &str,
        place: Place,
        watching: Option<SessionId>,
    ) -> Result<AppletKey, StoreError> {
        let said = place.session.as_deref().and_then(SessionId::parse);
        let session = match said.or(watching) {
            Some(session) => Some(session),
            None => self.active(client).await?,
        };
        let slug = match place.slug {
            Some(slug) => Some(slug),
            None => self.slot(client).await?.applet,
        };
        Ok(AppletKey { session, slug })
    }

    pub async fn preferences(&self) -> Result<Preferences, StoreError> {
        let stored = self.host.ports.catalog.load(Shelf::Preferences, PREFERENCES).await?;
        let mut preferences: Preferences = stored.unwrap_or_else(|| Preferences {
            cwd: self.host.ports.workspace.to_string_lossy().into_owned(),
            model: self.host.ports.models.default_id(),
            session: None,
        });
        let exists = |session: &SessionId| self.host.roster.get(*session).is_some();
        preferences.session = preferences.session.filter(exists);
        Ok(preferences)
    }

    /// What answers in new sessions: what the person chose, while there is such a model.
    pub async fn model(&self) -> Result<String, StoreError> {
        let models = &self.host.ports.models;
        let chosen: Option<String> =
            self.host.ports.catalog.load(Shelf::Preferences, CHOSEN).await?;
        let chosen = chosen.filter(|model| models.find(model).is_some());
        Ok(chosen.unwrap_or_else(|| models.default_id()))
    }

    /// Apart from what was last used: that is no choice.
    pub async fn choose_model(&self, model: &str) -> Result<(), StoreError> {
        self.host.ports.catalog.save(Shelf::Preferences, CHOSEN, &model).await
    }

    pub async fn prefer(
        &self,
        change: impl FnOnce(&mut Preferences),
    ) -> Result<Preferences, StoreError> {
        let _changing = self.changing.lock().await;
        let mut preferences = self.preferences().await?;
        change(&mut preferences);
        self.host.ports.catalog.save(Shelf::Preferences, PREFERENCES, &preferences).await?;
        Ok(preferences)
    }

    async fn slot(&self, client: &str) -> Result<Slot, StoreError> {
        if let Some(slot) = self.recent.get(client) {
            return Ok(slot);
        }
        let _changing = self.changing.lock().await;
        self.fetch(client).await
    }

    /// For whoever holds `changing`, as is the next.
    async fn fetch(&self, client: &str) -> Result<Slot, StoreError> {
        let slot = self.host.ports.catalog.load(Shelf::Clients, client).await?;
        let slot: Slot = slot.unwrap_or_default();
        self.recent.keep(client, slot.clone());
        Ok(slot)
    }

    async fn put(&self, client: &str, slot: Slot) -> Result<(), StoreError> {
        self.recent.forget(|it| it == client);
        self.host.ports.catalog.save(Shelf::Clients, client, &slot).await?;
        self.recent.keep(client, slot);
        Ok(())
    }
}
