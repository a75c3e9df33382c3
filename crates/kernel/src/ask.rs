//! Questions put to a client, and the answers waited for.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::{sync::oneshot, time::timeout};

/// Correlates a request sent outward with the reply that comes back on another path.
///
/// Answered directly by the edge, never through a session's inbox: the turn that asked is what
/// the session is busy with.
#[derive(Default)]
pub struct Asks {
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
}

impl Asks {
    /// Sends with `send`, then waits for [`Asks::answer`]. `None` means nobody answered in time.
    pub async fn ask(&self, patience: Duration, send: impl AsyncFnOnce(u64)) -> Option<Value> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        self.waiting().insert(id, reply);
        // Also when the asker loses interest in the middle.
        let _forget = Forget { asks: self, id };
        send(id).await;
        timeout(patience, answer).await.ok()?.ok()
    }

    /// Returns whether anyone was still waiting; a second answer to one question is ignored.
    pub fn answer(&self, id: u64, value: Value) -> bool {
        let waiter = self.waiting().remove(&id);
        waiter.is_some_and(|waiter| waiter.send(value).is_ok())
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<Value>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Forget<'a> {
    asks: &'a Asks,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.asks.waiting().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::pending};

    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn only_the_first_answer_counts() {
        let asks = Asks::default();
        let second = Cell::new(true);
        let send = async |id| {
            assert!(asks.answer(id, json!("first")));
            second.set(asks.answer(id, json!("second")));
        };
        assert_eq!(asks.ask(Duration::from_secs(5), send).await, Some(json!("first")));
        assert!(!second.get());
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_when_patience_does() {
        let asks = Asks::default();
        assert_eq!(asks.ask(Duration::from_secs(5), async |_| ()).await, None);
        assert!(asks.waiting().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_whose_asker_left_is_forgotten() {
        let asks = Asks::default();
        let asking = asks.ask(Duration::from_secs(500), async |_| pending().await);
        assert!(timeout(Duration::from_secs(1), asking).await.is_err());
        assert!(!asks.answer(0, json!("too late")));
        assert!(asks.waiting().is_empty());
    }
}
