//! What was acknowledged is kept, whatever happens afterwards.

#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::{
    collections::HashMap,
    env,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
};

use futures::future::join_all;
use jiff::civil::{Date, date};
use kernel::{
    ledger::Spending,
    ports::{Catalog as _, Ledger as _, Log as _, StoreError},
    update::{Fact, Seq, SessionId, Usage},
};
use store::Store;
use testkit::Author;

const DIR: &str = "MEGARON_TEST_DATA_DIR";
const SESSIONS: u64 = 8;

#[tokio::test]
async fn a_killed_process_loses_nothing_it_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let mut acknowledged: HashMap<SessionId, u64> = HashMap::new();
    for lines in [1, 10, 100, 400, 37, 1200] {
        let mut child = start_writing(dir.path());
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut heard = 0;
        // What it had said before it died is in the pipe still.
        for line in output.lines() {
            // The test runner has something to say as well.
            let line = line.unwrap();
            let Some((id, seq)) = line.strip_prefix("stored ").and_then(|it| it.split_once(' '))
            else {
                continue;
            };
            acknowledged.insert(SessionId::parse(id).unwrap(), seq.parse().unwrap());
            heard += 1;
            if heard == lines {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(heard >= lines);

        let store = Store::open(dir.path()).unwrap();
        let states: HashMap<_, _> = store.sessions().await.unwrap().into_iter().collect();
        for (session, last) in &acknowledged {
            let entries = store.read(*session, Seq(0), usize::MAX).await.unwrap();
            let seqs: Vec<_> = entries.iter().map(|entry| entry.seq.0).collect();
            assert_eq!(seqs, (1..=states[session].last.0).collect::<Vec<_>>());
            assert!(states[session].last.0 >= *last);
        }
        let facts: u64 = states.values().map(|state| state.last.0).sum();
        let spending = store.spending(Date::MIN..=Date::MAX).await.unwrap();
        let used: u64 = spending.iter().map(|it| it.sum.input_tokens).sum();
        assert_eq!(used, facts, "what was used is kept with its facts, and once");
    }
}

fn start_writing(dir: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "write_until_killed", "--ignored", "--nocapture"])
        .env(DIR, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
#[ignore = "this is the process that is killed"]
async fn write_until_killed() {
    let Some(dir) = env::var_os(DIR) else { return };
    let store = Store::open(dir.as_ref()).unwrap();
    let states: HashMap<_, _> = store.sessions().await.unwrap().into_iter().collect();
    let write = async |number| {
        let mut author = Author::new(number);
        if let Some(state) = states.get(&author.session) {
            author.state = state.clone().into();
        }
        loop {
            store.draft(author.session, "half a sentence");
            let mut batch = author.small(3);
            let usage = Usage { input_tokens: 3, ..Usage::default() };
            batch.spent.push(Spending::new(date(2026, 2, 1), "m", usage));
            store.append(batch).await.unwrap();
            let mut stdout = std::io::stdout().lock();
            writeln!(stdout, "stored {} {}", author.session, author.state.last.0).unwrap();
        }
    };
    join_all((1..=SESSIONS).map(write)).await;
}

#[tokio::test]
async fn on_a_full_disk_nothing_is_acknowledged_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let (mut author, mut other) = (Author::new(1), Author::new(2));
    store.append(author.small(10)).await.unwrap();
    store.append(other.small(10)).await.unwrap();
    store.limit_pages(1).await.unwrap();

    let kept = author.state.last;
    let mut full = author.clone();
    let large = full.batch([Fact::Renamed { name: "x".repeat(1 << 20) }]);
    let mut other_full = other.clone();
    let also_large = other_full.batch([Fact::Renamed { name: "y".repeat(1 << 20) }]);
    let answers = join_all([store.append(large.clone()), store.append(also_large)]).await;
    for answer in answers {
        let Err(StoreError::Unavailable(reason)) = answer else { panic!("{answer:?}") };
        assert!(reason.contains("full"), "{reason}");
    }
    store.draft(author.session, "half a sen");
    assert_eq!(store.read(author.session, kept, 9).await.unwrap(), []);
    assert_eq!(store.read(other.session, Seq(0), 99).await.unwrap().len(), 10);

    store.limit_pages(u32::MAX - 1).await.unwrap();
    assert_eq!(store.drafted(author.session).await.unwrap(), "half a sen");
    store.append(large.clone()).await.unwrap();
    store.append(other.small(1)).await.unwrap();
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    let entries = store.read(author.session, kept, 9).await.unwrap();
    assert_eq!(entries, [(*large.entries[0]).clone()]);
    assert_eq!(store.read(other.session, Seq(0), 99).await.unwrap().len(), 11);
}

#[tokio::test]
async fn a_draft_outlives_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let mut author = Author::new(1);
    store.append(author.small(1)).await.unwrap();
    store.draft(author.session, "half a ");
    store.draft(author.session, "sen");
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.drafted(author.session).await.unwrap(), "half a sen");
}

#[tokio::test]
async fn work_that_was_asked_for_is_finished_before_closing() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let mut author = Author::new(1);
    for _ in 0..50 {
        // Polled once, then given up: nobody waits, but it was asked for.
        let append = store.append(author.small(1));
        assert!(futures::poll!(append).is_pending());
    }
    drop(store);
    assert!(!dir.path().join("megaron.db-wal").exists());
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.read(author.session, Seq(0), 99).await.unwrap().len(), 50);
}
