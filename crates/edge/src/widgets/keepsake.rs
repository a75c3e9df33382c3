//! What a view keeps for itself: the newest of it is written down, and nothing in between.

use std::{sync::Arc, time::Duration};

use kernel::{ports::Catalog, update::SessionId, views::states::States};
use serde_json::Value;
use tokio::{sync::watch, time::timeout};

/// So long a view that goes waits for what it kept to be safe.
const PARTING: Duration = Duration::from_secs(2);

pub struct Keepsake {
    newest: watch::Sender<(u64, Value)>,
    /// Which of them is safe.
    written: watch::Receiver<u64>,
}

impl Keepsake {
    /// `call` is what the view shows, once that is known.
    pub fn new(
        catalog: Arc<dyn Catalog>,
        session: SessionId,
        call: watch::Receiver<Option<String>>,
    ) -> Self {
        let (newest, seen) = watch::channel((0, Value::Null));
        let (written, safe) = watch::channel(0);
        tokio::spawn(write(States::new(catalog), session, call, seen, written));
        Self { newest, written: safe }
    }

    pub fn keep(&self, state: Value) {
        self.newest.send_modify(|(number, newest)| {
            *number += 1;
            *newest = state;
        });
    }

    /// Returns once all of it is safe, or has taken too long.
    pub async fn settle(&self) {
        let number = self.newest.borrow().0;
        let mut written = self.written.clone();
        // What could not be written was complained about there.
        timeout(PARTING, written.wait_for(|it| *it >= number)).await.ok();
    }
}

async fn write(
    states: States,
    session: SessionId,
    mut call: watch::Receiver<Option<String>>,
    mut seen: watch::Receiver<(u64, Value)>,
    written: watch::Sender<u64>,
) {
    while seen.changed().await.is_ok() {
        let named = call.wait_for(Option::is_some).await.ok().and_then(|call| call.clone());
        // A call that came to nothing has nobody to come back.
        let Some(call) = named else { return };
        let (number, state) = seen.borrow_and_update().clone();
        if let Err(error) = states.keep(session, &call, &state).await {
            tracing::warn!(%error, "cannot keep what a widget wants to be kept");
        }
        written.send_replace(number);
    }
}
