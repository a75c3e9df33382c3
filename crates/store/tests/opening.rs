//! Opening a data directory: whose it is, who may read it, and what is said when it cannot be used.

#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::{
    error::Error as _,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process,
};

use jiff::civil::Date;
use kernel::{
    ledger::Sum,
    ports::{Attic as _, Ledger as _, Log as _, StoreError},
    update::Seq,
};
use rusqlite::Connection;
use store::{OpenError, Store};
use testkit::Author;

fn refusal(dir: &Path) -> OpenError {
    Store::open(dir).err().unwrap()
}

fn database(dir: &Path) -> PathBuf {
    dir.join("megaron.db")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn everything_in_it_is_for_its_owner_alone() {
    let above = tempfile::tempdir().unwrap();
    let dir = above.path().join("some/where");
    let store = Store::open(&dir).unwrap();
    let mut author = Author::new(1);
    store.append(author.small(1)).await.unwrap();
    let kept = store.keep(author.session, "png", b"bytes".to_vec()).await.unwrap();
    for folder in [dir.as_path(), &dir.join("attachments"), kept.parent().unwrap()] {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
    for name in ["lock", "megaron.db", "megaron.db-wal", "megaron.db-shm"] {
        assert_eq!(mode(&dir.join(name)), 0o600, "{name}");
    }
    assert_eq!(mode(&kept), 0o600);
    assert_eq!(kept.parent().unwrap(), dir.join("attachments").join(author.session.to_string()));
    assert_eq!(fs::read_dir(kept.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn two_cannot_use_one_directory() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let (shown, pid) = (dir.path().display(), process::id());
    assert_eq!(
        refusal(dir.path()).to_string(),
        format!("another megaron (process {pid}) uses the data directory {shown}")
    );
    fs::write(dir.path().join("lock"), "").unwrap();
    assert_eq!(
        refusal(dir.path()).to_string(),
        format!("another megaron uses the data directory {shown}")
    );
    drop(store);
    Store::open(dir.path()).unwrap();
}

#[test]
fn a_database_of_a_newer_megaron_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path()).unwrap());
    let path = database(dir.path());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(&path).unwrap();
    assert_eq!(
        refusal(dir.path()).to_string(),
        format!(
            "the database {} has version 99, but this megaron knows versions up to 2; use a newer \
             megaron",
            path.display()
        )
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    // Nor is anybody kept from using it.
    assert!(matches!(refusal(dir.path()), OpenError::Newer { found: 99, known: 2, .. }));
}

#[test]
fn a_database_of_something_else_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = database(dir.path());
    let foreign = |make: &dyn Fn()| {
        make();
        let before = fs::read(&path).unwrap();
        assert_eq!(
            refusal(dir.path()).to_string(),
            format!(
                "{} is not a megaron database; move it away or choose another data directory",
                path.display()
            )
        );
        assert_eq!(fs::read(&path).unwrap(), before);
        fs::remove_file(&path).unwrap();
    };
    foreign(&|| {
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE bookmarks (url)").unwrap();
    });
    foreign(&|| {
        let other = Connection::open(&path).unwrap();
        other.pragma_update(None, "application_id", 7).unwrap();
    });
    foreign(&|| fs::write(&path, "not a database at all; ".repeat(100)).unwrap());
    foreign(&|| fs::write(&path, "short").unwrap());
}

#[test]
fn a_start_that_was_cut_short_is_made_good() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(database(dir.path()), "").unwrap();
    drop(Store::open(dir.path()).unwrap());
    fs::remove_file(database(dir.path())).unwrap();
    let begun = Connection::open(database(dir.path())).unwrap();
    begun.pragma_update(None, "journal_mode", "wal").unwrap();
    drop(begun);
    Store::open(dir.path()).unwrap();
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let above = tempfile::tempdir().unwrap();
    let file = above.path().join("file");
    fs::write(&file, "").unwrap();
    let dir = file.join("data");
    let error = refusal(&dir);
    assert_eq!(error.to_string(), format!("cannot make the data directory {}", dir.display()));
    assert!(error.source().unwrap().to_string().contains("Not a directory"));
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    // Permissions do not stop root, who may be running this; a folder in the file's place does.
    for taken in ["lock", "megaron.db"] {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(taken)).unwrap();
        let path = dir.path().join(taken).display().to_string();
        let message = refusal(dir.path()).to_string();
        assert!(message.starts_with("cannot ") && message.ends_with(&path), "{message}");
    }
}

#[tokio::test]
async fn a_fact_that_cannot_be_read_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let mut author = Author::new(1);
    store.append(author.small(3)).await.unwrap();
    let vandal = Connection::open(database(dir.path())).unwrap();
    vandal.execute("UPDATE facts SET fact = '{\"fact\":\"dreamt\"}' WHERE seq = 2", []).unwrap();
    let Err(StoreError::Unavailable(reason)) = store.read(author.session, Seq(0), 9).await else {
        panic!("should be unreadable");
    };
    let named = format!("fact 2 of session {} cannot be read: unknown variant", author.session);
    assert!(reason.starts_with(&named), "{reason}");
    assert_eq!(store.read(author.session, Seq(2), 9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_was_used_before_there_was_a_ledger_is_put_into_it() {
    let dir = tempfile::tempdir().unwrap();
    let old = Connection::open(database(dir.path())).unwrap();
    old.execute_batch(include_str!("../migrations/1.sql")).unwrap();
    old.pragma_update(None, "application_id", 0x6d67_726e).unwrap();
    old.pragma_update(None, "user_version", 1).unwrap();
    old.execute_batch(
        r#"INSERT INTO sessions VALUES
             (1, x'01', 4, '{"model":"a/b"}'), (2, x'02', 1, '{"model":"demo"}');
           INSERT INTO facts VALUES
             (1, 1, 1769940000000000, NULL, '{"fact":"said","text":"hi","usage":"odd"}'),
             (1, 2, 1769940000000000, NULL, '{"fact":"answered","step":1,"text":"\u0000","usage":
                {"input_tokens":7,"output_tokens":2,"reasoning_tokens":1,"cost":0.25}}'),
             (1, 3, 1769940000000000, NULL, '{"fact":"answered","step":1,"text":""}'),
             (1, 4, 1769940000000000, NULL, '{"fact":"answered","step":1,"text":"","usage":
                {"input_tokens":1,"output_tokens":1,"cache_read_tokens":1}}'),
             (2, 1, 1769940000000000, NULL, '{"fact":"answered","step":1,"text":"","usage":
                {"input_tokens":18446744073709551615,"output_tokens":1}}');"#,
    )
    .unwrap();
    drop(old);
    let store = Store::open(dir.path()).unwrap();
    let told = store.spending(Date::MIN..=Date::MAX).await.unwrap();
    let told: Vec<_> = told.into_iter().map(|spending| (spending.model, spending.sum)).collect();
    let known = Sum {
        requests: 2,
        input_tokens: 8,
        output_tokens: 3,
        cache_read_tokens: 1,
        cache_write_tokens: 0,
        reasoning_tokens: 1,
        cost: 0.25,
    };
    let beyond = Sum {
        requests: 1,
        input_tokens: 9_000_000_000_000_000_000,
        output_tokens: 1,
        ..Sum::default()
    };
    assert_eq!(told, [("a/b".to_owned(), known), ("demo".to_owned(), beyond)]);
}
