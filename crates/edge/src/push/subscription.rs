//! Browsers that want to be told, each with its own wishes: kept with the devices.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use kernel::ports::{Catalog, Shelf, StoreError};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{cipher::Recipient, settings::Settings};

const PREFIX: &str = "push/browser/";
/// How many browsers may want to be told.
pub const MOST: usize = 32;
const ID_BYTES: usize = 12;

/// Its address and keys let anybody who has them write to it, so they are shown to nobody.
#[derive(Clone, Serialize, Deserialize)]
pub struct Subscription {
    pub id: String,
    pub name: String,
    /// The device whose key it came with; none for the owner's own browsers.
    pub device: Option<String>,
    pub endpoint: String,
    pub point: String,
    pub secret: String,
    pub created: Timestamp,
    #[serde(default)]
    pub settings: Settings,
    #[serde(default)]
    pub last_success: Option<Timestamp>,
    #[serde(default)]
    pub trouble: Option<Trouble>,
}

/// Why the last message did not get there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    pub at: Timestamp,
    pub what: String,
}

impl Subscription {
    /// The same browser comes back by the same name.
    pub fn id_of(endpoint: &str) -> String {
        URL_SAFE_NO_PAD.encode(&Sha256::digest(endpoint)[..ID_BYTES])
    }

    /// They were looked at when it came.
    pub fn recipient(&self) -> Option<Recipient> {
        Recipient::read(&self.point, &self.secret).ok()
    }

    /// A name that tells its carrier nothing of the conversation.
    pub fn topic(&self, about: &str) -> String {
        let digest = Sha256::digest(format!("{}\n{about}", self.secret));
        URL_SAFE_NO_PAD.encode(&digest[..ID_BYTES * 2])
    }
}

pub struct Subscriptions {
    catalog: Arc<dyn Catalog>,
    known: Mutex<Vec<Arc<Subscription>>>,
    /// Held while one is changed, lest one that was removed come back.
    storing: tokio::sync::Mutex<()>,
}

#[derive(Debug, thiserror::Error)]
pub enum SubscribeError {
    #[error("{MOST} browsers are told already; remove one first")]
    Full,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Subscriptions {
    pub fn new(catalog: Arc<dyn Catalog>) -> Self {
        Self { catalog, known: Mutex::default(), storing: tokio::sync::Mutex::default() }
    }

    pub async fn load(&self) -> Result<(), StoreError> {
        let records = self.catalog.list(Shelf::Devices, PREFIX).await?;
        let read = |(_, text): (String, String)| serde_json::from_str(&text).ok().map(Arc::new);
        let mut found: Vec<Arc<Subscription>> = records.into_iter().filter_map(read).collect();
        found.sort_by_key(|it| it.created);
        *self.known() = found;
        Ok(())
    }

    /// Oldest first.
    pub fn list(&self) -> Vec<Arc<Subscription>> {
        self.known().clone()
    }

    pub fn is_empty(&self) -> bool {
        self.known().is_empty()
    }

    pub fn get(&self, id: &str) -> Option<Arc<Subscription>> {
        self.known().iter().find(|it| it.id == id).cloned()
    }

    /// Takes in a browser, or what has changed of one that is known.
    pub async fn put(
        &self,
        mut new: Subscription,
        keep_settings: bool,
    ) -> Result<Arc<Subscription>, SubscribeError> {
        let _storing = self.storing.lock().await;
        match self.get(&new.id) {
            Some(known) => {
                new.created = known.created;
                new.last_success = known.last_success;
                new.trouble.clone_from(&known.trouble);
                if keep_settings {
                    let time_zone = new.settings.time_zone.take();
                    new.settings = known.settings.clone();
                    new.settings.time_zone = time_zone.or(new.settings.time_zone);
                    new.name.clone_from(&known.name);
                }
            }
            None if self.known().len() >= MOST => return Err(SubscribeError::Full),
            None => (),
        }
        Ok(self.save(new).await?)
    }

    /// Changes one; none if it is gone.
    pub async fn change(
        &self,
        id: &str,
        change: impl FnOnce(&mut Subscription),
    ) -> Result<Option<Arc<Subscription>>, StoreError> {
        let _storing = self.storing.lock().await;
        let Some(known) = self.get(id) else { return Ok(None) };
        let mut changed = Subscription::clone(&known);
        change(&mut changed);
        self.save(changed).await.map(Some)
    }

    /// Says whether there was such a one.
    pub async fn remove(&self, id: &str) -> Result<bool, StoreError> {
        let _storing = self.storing.lock().await;
        if self.get(id).is_none() {
            return Ok(false);
        }
        self.catalog.discard(Shelf::Devices, &format!("{PREFIX}{id}")).await?;
        self.known().retain(|it| it.id != id);
        Ok(true)
    }

    async fn save(&self, subscription: Subscription) -> Result<Arc<Subscription>, StoreError> {
        let name = format!("{PREFIX}{}", subscription.id);
        self.catalog.save(Shelf::Devices, &name, &subscription).await?;
        let subscription = Arc::new(subscription);
        let mut known = self.known();
        match known.iter_mut().find(|it| it.id == subscription.id) {
            Some(place) => *place = subscription.clone(),
            None => known.push(subscription.clone()),
        }
        Ok(subscription)
    }

    fn known(&self) -> MutexGuard<'_, Vec<Arc<Subscription>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
