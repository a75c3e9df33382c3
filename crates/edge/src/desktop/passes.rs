//! Keys that open one door for one name: a device may connect, a viewer may watch, and neither may do anything else.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use kernel::ports::{Catalog, Clock, Shelf, StoreError};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::OnceCell;

use crate::keys::secret;

/// A key is recognisable wherever it turns up by accident.
const PREFIX: &str = "mgd_";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Device,
    Viewer,
}

/// Who comes, by what they brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bearer {
    Owner,
    /// The device of this name.
    Device(String),
    Viewer,
}

impl Bearer {
    /// What they are called, if it is not theirs to say.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Device(name) => Some(name),
            Self::Owner | Self::Viewer => None,
        }
    }
}

/// What is kept of a key, which is not the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    digest: Vec<u8>,
    pub scope: Scope,
    pub made: Timestamp,
}

#[derive(Debug, thiserror::Error)]
pub enum PassError {
    #[error("there is a key for that name already; forget it first")]
    Taken,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("no key could be made: {0}")]
    Chance(#[from] io::Error),
}

pub struct Passes {
    clock: Arc<dyn Clock>,
    catalog: Arc<dyn Catalog>,
    loaded: OnceCell<()>,
    /// Those that are kept, at hand for every connection.
    known: Mutex<BTreeMap<String, Pass>>,
    /// Held while one is made or taken away.
    changing: tokio::sync::Mutex<()>,
}

impl Passes {
    pub fn new(clock: Arc<dyn Clock>, catalog: Arc<dyn Catalog>) -> Self {
        let (loaded, known) = (OnceCell::new(), Mutex::default());
        Self { clock, catalog, loaded, known, changing: tokio::sync::Mutex::default() }
    }

    /// Whose key this is.
    pub async fn bearer(&self, presented: &str) -> Result<Option<Bearer>, StoreError> {
        self.load().await?;
        let digest = Sha256::digest(presented.as_bytes());
        let known = self.known();
        let found = known.iter().find(|(_, pass)| bool::from(pass.digest.ct_eq(&digest)));
        Ok(found.map(|(name, pass)| match pass.scope {
            Scope::Device => Bearer::Device(name.clone()),
            Scope::Viewer => Bearer::Viewer,
        }))
    }

    /// Everything that was made and not forgotten, by name.
    pub async fn list(&self) -> Result<Vec<(String, Pass)>, StoreError> {
        self.load().await?;
        Ok(self.known().iter().map(|(name, pass)| (name.clone(), pass.clone())).collect())
    }

    /// Whether a device has a key of this name, as far as is known yet.
    pub fn is_taken(&self, name: &str) -> bool {
        self.known().contains_key(name)
    }

    /// A key for a new name. It is told once, and kept nowhere.
    pub async fn make(&self, name: &str, scope: Scope) -> Result<String, PassError> {
        self.load().await?;
        let _changing = self.changing.lock().await;
        if self.is_taken(name) {
            return Err(PassError::Taken);
        }
        let key = format!("{PREFIX}{}", secret()?);
        let digest = Sha256::digest(key.as_bytes()).to_vec();
        let pass = Pass { digest, scope, made: self.clock.now() };
        self.catalog.save(Shelf::Desktops, name, &pass).await?;
        self.known().insert(name.to_owned(), pass);
        Ok(key)
    }

    /// From now on it goes by another name, with the same key. Says whether there is such a one.
    pub async fn rename(&self, name: &str, to: &str) -> Result<bool, PassError> {
        self.load().await?;
        let _changing = self.changing.lock().await;
        let Some(pass) = self.known().get(name).cloned() else { return Ok(false) };
        if name == to {
            return Ok(true);
        }
        if self.is_taken(to) {
            return Err(PassError::Taken);
        }
        // Should it end in between, the key is good for both names, and either can be forgotten.
        self.catalog.save(Shelf::Desktops, to, &pass).await?;
        self.catalog.discard(Shelf::Desktops, name).await?;
        let mut known = self.known();
        known.remove(name);
        known.insert(to.to_owned(), pass);
        Ok(true)
    }

    /// The key is void. Says whether there was one.
    pub async fn forget(&self, name: &str) -> Result<bool, StoreError> {
        self.load().await?;
        let _changing = self.changing.lock().await;
        let was = self.is_taken(name);
        if was {
            self.catalog.discard(Shelf::Desktops, name).await?;
            self.known().remove(name);
        }
        Ok(was)
    }

    /// Reads what is kept, the first time.
    pub async fn load(&self) -> Result<(), StoreError> {
        let load = async {
            let kept = self.catalog.list(Shelf::Desktops, "").await?;
            // One that cannot be read opens nothing.
            let read =
                |(name, text): (String, String)| Some((name, serde_json::from_str(&text).ok()?));
            let kept = kept.into_iter().filter_map(read);
            self.known().extend(kept);
            Ok(())
        };
        self.loaded.get_or_try_init(|| load).await.copied()
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Pass>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
