//! Where a session lives while it is open, and the door that one comes and goes by.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

use crate::{ports::StoreError, session::Session};

/// Where a session lives while it is open.
#[derive(Default)]
pub struct Room {
    /// Held while the session is opened, or shown out.
    pub door: Arc<tokio::sync::Mutex<()>>,
    session: Mutex<Option<Session>>,
}

impl Room {
    /// Opens a session behind the closed door, and lets it live here.
    pub async fn move_in(
        self: Arc<Self>,
        door: OwnedMutexGuard<()>,
        opening: impl Future<Output = Result<Session, StoreError>> + Send + 'static,
    ) -> Result<Session, StoreError> {
        carry_out(async move {
            let _door = door;
            let session = opening.await?;
            *self.session() = Some(session.clone());
            Ok(session)
        })
        .await
    }

    pub fn session(&self) -> MutexGuard<'_, Option<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn live(&self) -> Option<Session> {
        self.session().as_ref().filter(|session| !session.is_closed()).cloned()
    }

    /// Whether nobody lives here, not even someone with a last word to write.
    pub fn is_left(&self) -> bool {
        self.session().as_ref().is_none_or(Session::is_gone)
    }
}

/// Runs to its end even if the caller loses interest: what the store has done, the house must know.
pub async fn carry_out<T: Send + 'static>(
    work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, StoreError> {
    let broken = |_| StoreError::Unavailable("the work broke down".into());
    tokio::spawn(work).await.map_err(broken)?
}
