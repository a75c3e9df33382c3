//! The memory store keeps the contracts that it is a fake for.

use testkit::{MemoryStore, contract};

#[tokio::test]
async fn it_is_a_log() {
    contract::log(async || MemoryStore::default()).await;
}

#[tokio::test]
async fn it_is_a_catalog() {
    contract::catalog(async || MemoryStore::default()).await;
}

#[tokio::test]
async fn it_is_a_ledger() {
    contract::ledger(async || MemoryStore::default()).await;
}

#[tokio::test]
async fn it_is_an_attic() {
    let store = MemoryStore::default();
    contract::attic(&store, |path| store.file(path)).await;
}
