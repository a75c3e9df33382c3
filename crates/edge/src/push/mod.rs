//! Web Push: browsers are told of what happens while nobody looks at the page.

mod cipher;
mod keeper;
mod notice;
mod owed;
mod post;
pub mod routes;
pub mod settings;
pub mod subscription;
mod vapid;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::Timestamp;
use kernel::{host::Host, ports::StoreError, roster::News, update::SessionId};
use tokio::sync::Notify;

pub use keeper::keep;
use subscription::Subscriptions;
use vapid::Vapid;

pub struct Push {
    host: Arc<Host>,
    vapid: Vapid,
    pub subscriptions: Subscriptions,
    /// When a page in the foreground last showed each session.
    seen: Mutex<HashMap<SessionId, Timestamp>>,
    /// Somebody else wants to be told, or something else.
    changed: Notify,
}

impl Push {
    /// Whoever carries our messages may write to `contact` about them.
    pub fn new(host: Arc<Host>, data_dir: &Path, contact: Option<String>) -> Self {
        Self {
            vapid: Vapid::new(data_dir, contact),
            subscriptions: Subscriptions::new(host.ports.catalog.clone()),
            seen: Mutex::default(),
            changed: Notify::new(),
            host,
        }
    }

    /// What is known from before, without the browsers of devices that are gone.
    pub async fn load(&self, is_known: impl Fn(&str) -> bool) -> Result<(), StoreError> {
        self.subscriptions.load().await?;
        for subscription in self.subscriptions.list() {
            if !subscription.device.as_deref().is_none_or(&is_known) {
                self.subscriptions.remove(&subscription.id).await?;
            }
        }
        Ok(())
    }

    /// A person is looking at this session.
    pub fn saw(&self, session: SessionId) {
        if self.subscriptions.is_empty() {
            return;
        }
        let now = self.host.ports.clock.now();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|session, _| self.host.roster.get(*session).is_some());
        seen.insert(session, now);
    }

    fn seen_since(&self, session: SessionId, at: Timestamp) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(&session).is_some_and(|seen| *seen >= at)
    }

    /// It is told nothing more. Says whether there was such a one.
    pub async fn forget(&self, id: &str) -> Result<bool, StoreError> {
        let known = self.subscriptions.remove(id).await?;
        if known {
            self.tell();
        }
        Ok(known)
    }

    /// The key of this device opens nothing any more, and it is told nothing more.
    pub async fn forget_device(&self, device: &str) -> Result<(), StoreError> {
        for subscription in self.subscriptions.list() {
            if subscription.device.as_deref() == Some(device) {
                self.subscriptions.remove(&subscription.id).await?;
            }
        }
        self.tell();
        Ok(())
    }

    /// Every page hears that something about devices is new.
    fn tell(&self) {
        self.host.roster.tell(News::Devices);
        self.changed.notify_one();
    }
}
