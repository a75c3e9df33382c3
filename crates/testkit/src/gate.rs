//! A place where a fake waits until the test lets it go on.

use std::sync::Arc;

use tokio::sync::watch;

/// Closed at first. Clones are the same gate.
#[derive(Clone, Debug)]
pub struct Gate {
    open: Arc<watch::Sender<bool>>,
    waiting: Arc<watch::Sender<usize>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self { open: Arc::new(watch::Sender::new(false)), waiting: Arc::default() }
    }
}

impl Gate {
    /// Lets everybody through, now and from now on.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    pub fn close(&self) {
        self.open.send_replace(false);
    }

    /// Returns when somebody stands before the gate.
    pub async fn reached(&self) {
        self.reached_by(1).await;
    }

    /// Returns when so many stand before the gate at once.
    pub async fn reached_by(&self, count: usize) {
        // Cannot fail: we hold the sender.
        self.waiting.subscribe().wait_for(|waiting| *waiting >= count).await.ok();
    }

    /// Returns when the gate is open.
    pub async fn pass(&self) {
        self.waiting.send_modify(|waiting| *waiting += 1);
        let _leaving = Leaving(self);
        // Cannot fail: we hold the sender.
        self.open.subscribe().wait_for(|open| *open).await.ok();
    }
}

struct Leaving<'a>(&'a Gate);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.waiting.send_modify(|waiting| *waiting -= 1);
    }
}
