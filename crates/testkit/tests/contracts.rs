//! The fakes keep the contracts of what they are fakes for.

use testkit::{FakeDesktop, MemoryStore, contract};

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

#[tokio::test]
async fn it_is_a_desktop() {
    contract::desktop(&FakeDesktop::default()).await;
}
