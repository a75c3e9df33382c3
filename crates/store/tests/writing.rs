//! How the writer goes about it: in small bites, and without leaving much behind.

#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use kernel::{
    ports::{Catalog as _, Log as _},
    update::{Fact, Seq},
};
use rusqlite::Connection;
use store::Store;
use testkit::Author;

/// Looks from outside, as another process would.
fn count(dir: &Path, sql: &str) -> i64 {
    let connection = Connection::open(dir.join("megaron.db")).unwrap();
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < patience, "waited in vain for: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_draft_is_stored_soon_though_nothing_follows() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let mut author = Author::new(1);
    store.append(author.small(1)).await.unwrap();
    let before = store.commits();
    for _ in 0..100 {
        store.draft(author.session, "word ");
    }
    let stored = "SELECT coalesce(sum(length(text)), 0) FROM drafts";
    until("the draft", || count(dir.path(), stored) == 500).await;
    assert!(store.commits() - before < 20, "{} commits", store.commits() - before);
}

#[tokio::test]
async fn a_removed_session_is_purged_in_small_bites() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let (mut old, mut other) = (Author::new(1), Author::new(2));
    store.append(old.small(20_000)).await.unwrap();
    let before = store.commits();
    store.remove(old.session).await.unwrap();
    assert_eq!(store.sessions().await.unwrap(), []);
    assert_eq!(store.read(old.session, Seq(0), 9).await.unwrap(), []);
    store.append(other.small(1)).await.unwrap();
    until("the purge", || count(dir.path(), "SELECT count(*) FROM facts") == 1).await;
    until("its end", || count(dir.path(), "SELECT count(*) FROM removed") == 0).await;
    assert!(store.commits() - before > 100, "{} commits", store.commits() - before);
}

#[tokio::test]
async fn what_a_crash_left_to_purge_is_purged_later() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path()).unwrap());
    let left_behind = "INSERT INTO removed VALUES (70), (71);
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 1000)
         INSERT INTO facts SELECT 71, n, 0, 'key ' || n, '{}' FROM numbers;";
    let database = Connection::open(dir.path().join("megaron.db")).unwrap();
    database.execute_batch(left_behind).unwrap();
    let store = Store::open(dir.path()).unwrap();
    let mut author = Author::new(1);
    store.append(author.small(3)).await.unwrap();
    until("the purge", || count(dir.path(), "SELECT count(*) FROM facts") == 3).await;
    until("its end", || count(dir.path(), "SELECT count(*) FROM removed") == 0).await;
    assert_eq!(store.read(author.session, Seq(0), 9).await.unwrap().len(), 3);
}

#[tokio::test]
async fn the_log_beside_the_database_shrinks_when_a_long_reader_leaves() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let mut author = Author::new(1);
    let wal = || fs::metadata(dir.path().join("megaron.db-wal")).unwrap().len();
    let mut write = async |times| {
        for _ in 0..times {
            let fact = Fact::Renamed { name: "x".repeat(1 << 20) };
            store.append(author.batch([fact])).await.unwrap();
        }
    };
    write(1).await;
    let reader = Connection::open(dir.path().join("megaron.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM facts").unwrap();
    write(20).await;
    assert!(wal() > 16 << 20);
    drop(reader);
    write(6).await;
    assert!(wal() <= 12 << 20, "{} bytes", wal());
}
