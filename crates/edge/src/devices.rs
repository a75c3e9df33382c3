//! Devices that were paired: a key of its own for each, with a name and a scope, revoked at once.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use kernel::{
    ports::{Catalog, Clock, Shelf, StoreError},
    update::SessionId,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::watch;
use utoipa::ToSchema;

use crate::keys::secret;

/// How often it is noted that a device was seen.
const SEEN: SignedDuration = SignedDuration::from_mins(1);
/// How long a name may be.
pub const NAME_CHARS: usize = 60;
/// How the ids of devices begin that come with the main key.
const OWNERS: &str = "main-";

/// What a key opens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The Window Protocol, and the one conversation it is about.
    #[default]
    Phone,
    /// All that the main key opens.
    Everything,
}

pub struct Device {
    /// Never a secret.
    pub id: String,
    pub name: String,
    pub scope: Scope,
    /// Its conversation, where it is not the one that all phones share.
    pub session: Option<SessionId>,
    /// Its socket may be plain even where words are to be encrypted: the shipped app knows no other.
    pub plain_ws: bool,
    pub created: Timestamp,
    digest: [u8; 32],
    seen: Mutex<Option<Timestamp>>,
    revoked: watch::Sender<bool>,
}

/// Whose key opens a door.
#[derive(Clone)]
pub enum Holder {
    Owner,
    Device(Arc<Device>),
}

impl Holder {
    pub fn of(device: Option<Arc<Device>>) -> Self {
        device.map_or(Self::Owner, Self::Device)
    }

    pub fn device(self) -> Option<Arc<Device>> {
        match self {
            Self::Owner => None,
            Self::Device(device) => Some(device),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Record {
    name: String,
    digest: String,
    #[serde(default)]
    scope: Scope,
    #[serde(default)]
    session: Option<SessionId>,
    #[serde(default)]
    plain_ws: bool,
    created: Timestamp,
    #[serde(default)]
    seen: Option<Timestamp>,
}

/// What is wished of a new device.
pub struct Wanted {
    pub name: String,
    pub scope: Scope,
    pub session: Option<SessionId>,
    pub plain_ws: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum PairError {
    #[error("a device named `{0}` is paired already; revoke it first, or choose another name")]
    Taken(String),
    #[error("no key can be made: {0}")]
    Chance(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub struct Devices {
    catalog: Arc<dyn Catalog>,
    clock: Arc<dyn Clock>,
    known: Mutex<Vec<Arc<Device>>>,
    /// Held while a record is written or taken away, lest one that was revoked come back.
    storing: tokio::sync::Mutex<()>,
}

impl Devices {
    pub fn new(catalog: Arc<dyn Catalog>, clock: Arc<dyn Clock>) -> Self {
        let (known, storing) = (Mutex::default(), tokio::sync::Mutex::default());
        Self { catalog, clock, known, storing }
    }

    pub async fn load(&self) -> Result<(), StoreError> {
        let records = self.catalog.list(Shelf::Devices, "key/").await?;
        let devices = records.into_iter().filter_map(|(name, text)| {
            let record: Record = serde_json::from_str(&text).ok()?;
            Device::read(name.strip_prefix("key/")?, record).map(Arc::new)
        });
        *self.known() = devices.collect();
        Ok(())
    }

    /// The key comes once and is kept nowhere.
    pub async fn pair(&self, wanted: Wanted) -> Result<(Arc<Device>, String), PairError> {
        let Wanted { name, scope, session, plain_ws } = wanted;
        let _storing = self.storing.lock().await;
        if self.named(&name).is_some() {
            return Err(PairError::Taken(name));
        }
        let (key, id) = (secret()?, self.clock.id().to_string());
        let device = Arc::new(Device {
            id,
            name,
            scope,
            session,
            plain_ws,
            created: self.clock.now(),
            digest: Sha256::digest(key.as_bytes()).into(),
            seen: Mutex::default(),
            revoked: watch::Sender::new(false),
        });
        self.save(&device).await?;
        self.known().push(device.clone());
        Ok((device, key))
    }

    /// From now on its key opens nothing, and its sockets end.
    pub async fn revoke(&self, device: &Device) -> Result<(), StoreError> {
        let _storing = self.storing.lock().await;
        self.catalog.discard(Shelf::Devices, &format!("key/{}", device.id)).await?;
        self.known().retain(|it| it.id != device.id);
        device.revoked.send_replace(true);
        for (name, _) in self.catalog.list(Shelf::Devices, &format!("place/{}/", device.id)).await?
        {
            self.catalog.discard(Shelf::Devices, &name).await?;
        }
        Ok(())
    }

    /// By id, or else by name.
    pub fn named(&self, name: &str) -> Option<Arc<Device>> {
        let known = self.known();
        let by_id = known.iter().find(|it| it.id == name);
        by_id.or_else(|| known.iter().find(|it| it.name == name)).cloned()
    }

    /// Whether there is a device of this id: those that come with the main key are as good as it is.
    pub fn has(&self, id: &str) -> bool {
        id.starts_with(OWNERS) || self.known().iter().any(|it| it.id == id)
    }

    pub fn list(&self) -> Vec<Arc<Device>> {
        self.known().clone()
    }

    /// Whose key this is. Takes the same time whatever is presented.
    pub fn find(&self, key: &[u8]) -> Option<Arc<Device>> {
        let digest: [u8; 32] = Sha256::digest(key).into();
        let mut found = None;
        for device in self.known().iter() {
            if bool::from(device.digest.ct_eq(&digest)) {
                found = Some(device.clone());
            }
        }
        found
    }

    /// Notes that it came; says so on disk once a minute at most.
    pub fn saw(self: &Arc<Self>, device: &Arc<Device>) {
        let now = self.clock.now();
        let mut seen = device.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let lately = seen.is_some_and(|seen| now.duration_since(seen) < SEEN);
        if lately {
            return;
        }
        *seen = Some(now);
        drop(seen);
        let (devices, device) = (self.clone(), device.clone());
        tokio::spawn(async move {
            let _storing = devices.storing.lock().await;
            if *device.revoked.borrow() {
                return;
            }
            if let Err(error) = devices.save(&device).await {
                tracing::warn!(%error, "cannot note when a device was seen");
            }
        });
    }

    async fn save(&self, device: &Device) -> Result<(), StoreError> {
        let record = Record {
            name: device.name.clone(),
            digest: URL_SAFE_NO_PAD.encode(device.digest),
            scope: device.scope,
            session: device.session,
            plain_ws: device.plain_ws,
            created: device.created,
            seen: device.seen(),
        };
        self.catalog.save(Shelf::Devices, &format!("key/{}", device.id), &record).await
    }

    fn known(&self) -> MutexGuard<'_, Vec<Arc<Device>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Device {
    fn read(id: &str, record: Record) -> Option<Self> {
        let digest = URL_SAFE_NO_PAD.decode(record.digest).ok()?.try_into().ok()?;
        Some(Self {
            id: id.to_owned(),
            name: record.name,
            scope: record.scope,
            session: record.session,
            plain_ws: record.plain_ws,
            created: record.created,
            digest,
            seen: Mutex::new(record.seen),
            revoked: watch::Sender::new(false),
        })
    }

    /// One that comes with the main key: told from others by where it is and what it is.
    pub fn of_owner(address: &str, agent: &str, now: Timestamp) -> Self {
        let digest: [u8; 32] = Sha256::digest(format!("{address}\n{agent}")).into();
        Self {
            id: format!("{OWNERS}{}", URL_SAFE_NO_PAD.encode(&digest[..9])),
            name: "Phone".to_owned(),
            scope: Scope::Everything,
            session: None,
            plain_ws: false,
            created: now,
            digest,
            seen: Mutex::default(),
            revoked: watch::Sender::new(false),
        }
    }

    pub fn seen(&self) -> Option<Timestamp> {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says when its key opens nothing any more.
    pub fn revocation(&self) -> watch::Receiver<bool> {
        self.revoked.subscribe()
    }
}
