//! Counts what is used outside of sessions, also of a reply that nobody hears out.

use std::{mem, sync::Arc};

use futures::{
    Stream, StreamExt as _,
    stream::{self, BoxStream},
};
use kernel::{
    ledger::Spending,
    ports::{Clock, Ledger, ModelError, Piece, Ports},
    update::Usage,
};
use tokio::{runtime::Handle, task::JoinHandle};

type Reply = BoxStream<'static, Result<Piece, ModelError>>;

/// The same reply. Its end comes when what it used is safe.
pub fn metered(
    ports: &Ports,
    model: &str,
    reply: Reply,
) -> impl Stream<Item = Result<Piece, ModelError>> + Send + Unpin + use<> {
    let (ledger, clock) = (ports.ledger.clone(), ports.clock.clone());
    let meter = Meter { ledger, clock, model: model.to_owned(), used: None };
    let counted = stream::unfold((reply, meter), |(mut reply, mut meter)| async move {
        let Some(piece) = reply.next().await else {
            if let Some(settling) = meter.settle() {
                // It has said itself what went wrong.
                settling.await.ok();
            }
            return None;
        };
        if let Ok(Piece::Usage(usage)) = &piece {
            meter.used = Some(*usage);
        }
        Some((piece, (reply, meter)))
    });
    counted.boxed()
}

struct Meter {
    ledger: Arc<dyn Ledger>,
    clock: Arc<dyn Clock>,
    model: String,
    used: Option<Usage>,
}

impl Meter {
    /// In a task of its own, because whoever asked may leave at any time.
    fn settle(&mut self) -> Option<JoinHandle<()>> {
        let usage = self.used.take()?;
        // Absent only where the whole process is being taken down.
        let runtime = Handle::try_current().ok()?;
        let spending = Spending::new(self.clock.today(), mem::take(&mut self.model), usage);
        let ledger = self.ledger.clone();
        Some(runtime.spawn(async move {
            if let Err(error) = ledger.spend(spending.clone()).await {
                tracing::error!(?spending, %error, "cannot put down what was used");
            }
        }))
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.settle();
    }
}
