//! The store keeps the contracts of the ports it stands for.

#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs;

use store::Store;
use tempfile::TempDir;
use testkit::contract;

/// In a folder of its own, which goes with `dir`.
fn store(dir: &TempDir) -> Store {
    let dir = tempfile::tempdir_in(dir.path()).unwrap().keep();
    Store::open(&dir).unwrap()
}

#[tokio::test]
async fn it_is_a_log() {
    let dir = tempfile::tempdir().unwrap();
    contract::log(async || store(&dir)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_a_log_for_many_threads() {
    let dir = tempfile::tempdir().unwrap();
    contract::log(async || store(&dir)).await;
}

#[tokio::test]
async fn it_is_a_catalog() {
    let dir = tempfile::tempdir().unwrap();
    contract::catalog(async || store(&dir)).await;
}

#[tokio::test]
async fn it_is_a_ledger() {
    let dir = tempfile::tempdir().unwrap();
    contract::ledger(async || store(&dir)).await;
}

#[tokio::test]
async fn it_is_an_attic() {
    let dir = tempfile::tempdir().unwrap();
    contract::attic(&store(&dir), |path| fs::read(path).ok()).await;
}
