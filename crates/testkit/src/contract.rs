//! What every implementation of a port must do. Each contract is told to fresh, empty stores.

mod attic;
mod catalog;
mod desktop;
mod ledger;
mod log;

use std::collections::BTreeMap;

use kernel::{
    ports::{Batch, Catalog, Log, StoreError},
    state::State,
    update::{Entry, Seq, SessionId},
};

pub use attic::attic;
pub use catalog::catalog;
pub use desktop::desktop;
pub use ledger::ledger;
pub use log::log;

async fn all(log: &impl Log, session: SessionId) -> Vec<Entry> {
    log.read(session, Seq(0), usize::MAX).await.unwrap()
}

async fn states(catalog: &impl Catalog) -> BTreeMap<SessionId, State> {
    catalog.sessions().await.unwrap().into_iter().collect()
}

fn entries(batch: &Batch) -> Vec<Entry> {
    batch.entries.iter().map(|entry| Entry::clone(entry)).collect()
}

#[track_caller]
fn assert_conflict(answer: &Result<(), StoreError>, session: SessionId) {
    match answer {
        Err(StoreError::Conflict(named)) if *named == session => (),
        other => panic!("should be a conflict: {other:?}"),
    }
}
