//! The one thread that writes: whatever waits is committed together, then answered.

use std::{
    fs, iter,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use kernel::{ports::StoreError, update::SessionId};
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{
    drafts::Drafts,
    unavailable,
    work::{self, Work},
};

/// How many jobs share a transaction at most.
const GROUP: usize = 256;
/// How long to wait after purging has failed.
const RETRY: Duration = Duration::from_secs(1);
/// After so many commits the log beside the database is looked at.
const LOOK: u64 = 256;
/// How large that log may grow before it is cut. Readers who never pause can bring it there.
const WAL_BYTES: u64 = 32 << 20;
/// How long everybody may be kept waiting for readers, to cut it.
const CUT: Duration = Duration::from_millis(50);
/// How long to wait for a process that writes to our database behind our back.
pub const BUSY: Duration = Duration::from_secs(5);

type Reply = oneshot::Sender<Result<(), StoreError>>;

pub enum Job {
    Write { work: Work, reply: Reply },
    Draft { session: SessionId, text: String },
}

impl Job {
    /// What a transaction must be worth if this is not to wait; a draft may.
    fn worth(&self) -> Option<Worth> {
        match self {
            Self::Draft { .. } => None,
            Self::Write { work: Work::Settle, .. } => Some(Worth::Normal),
            Self::Write { .. } => Some(Worth::Full),
        }
    }
}

/// What a transaction is worth: a draft outlives the process, a fact also a power cut.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Normal,
    Full,
}

pub struct Writer {
    connection: Connection,
    queue: Receiver<Job>,
    drafts: Drafts,
    /// When to purge a little more of what removed sessions left.
    purge: Option<Instant>,
    worth: Worth,
    commits: Arc<AtomicU64>,
    wal: PathBuf,
    /// The number of commits at which to look at it next.
    look_at: u64,
}

impl Writer {
    pub fn new(connection: Connection, wal: PathBuf, queue: Receiver<Job>) -> Self {
        Self {
            connection,
            queue,
            drafts: Drafts::default(),
            // At once: a crash may have come before the end of it.
            purge: Some(Instant::now()),
            worth: Worth::Full,
            commits: Arc::default(),
            wal,
            look_at: LOOK,
        }
    }

    pub fn commits(&self) -> Arc<AtomicU64> {
        self.commits.clone()
    }

    pub fn run(mut self) {
        while let Some(group) = self.next() {
            let due = |when: Option<Instant>| when.is_some_and(|when| when <= Instant::now());
            if let Some(worth) = group.iter().filter_map(Job::worth).max() {
                self.write(group, worth);
            } else if due(self.drafts.due()) {
                self.write(group, Worth::Normal);
            } else {
                self.note(group);
            }
            if due(self.purge) {
                self.purge();
            }
            self.keep_log_short();
        }
        self.close();
    }

    /// The jobs that wait, none if something else is to be done first; `None` at the end.
    fn next(&self) -> Option<Vec<Job>> {
        let due = iter::chain(self.drafts.due(), self.purge).min();
        let first = match due {
            None => self.queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => self.queue.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        match first {
            Ok(first) => Some(iter::once(first).chain(self.queue.try_iter()).take(GROUP).collect()),
            Err(RecvTimeoutError::Timeout) => Some(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    fn note(&mut self, group: Vec<Job>) {
        for job in group {
            if let Job::Draft { session, text } = job {
                self.drafts.add(session, &text);
            }
        }
    }

    /// Does the whole group or nothing of it, then answers.
    fn write(&mut self, group: Vec<Job>, worth: Worth) {
        let mut answers = Vec::with_capacity(group.len());
        let mut done = self.begin(worth);
        for job in group {
            match job {
                Job::Draft { session, text } => self.drafts.add(session, &text),
                Job::Write { work, reply } => {
                    if matches!(work, Work::Remove(_)) {
                        self.purge = Some(Instant::now());
                    }
                    let outcome = done.and_then(|()| work.run(&self.connection, &mut self.drafts));
                    let (answer, so_far) = match outcome {
                        Ok(answer) => (answer, Ok(())),
                        Err(error) => (Ok(()), Err(error)),
                    };
                    answers.push((reply, answer));
                    done = so_far;
                }
            }
        }
        let done = done.and_then(|()| self.drafts.flush(&self.connection));
        match done.and_then(|()| self.commit()) {
            Ok(()) => self.drafts.committed(),
            Err(error) => {
                self.roll_back(&error);
                self.drafts.rolled_back();
                for (_, answer) in &mut answers {
                    *answer = Err(unavailable(&error));
                }
            }
        }
        for (reply, answer) in answers {
            // Whoever asked may have left meanwhile.
            reply.send(answer).ok();
        }
    }

    fn purge(&mut self) {
        let purged = self.begin(Worth::Normal).and_then(|()| work::purge(&self.connection));
        self.purge = match purged.and_then(|more| self.commit().map(|()| more)) {
            Ok(true) => Some(Instant::now()),
            Ok(false) => None,
            Err(error) => {
                self.roll_back(&error);
                Some(Instant::now() + RETRY)
            }
        };
    }

    /// Checkpoints that come by themselves wait for no reader; here one is waited for.
    fn keep_log_short(&mut self) {
        let commits = self.commits.load(Ordering::Relaxed);
        if commits < self.look_at {
            return;
        }
        self.look_at = commits + LOOK;
        if fs::metadata(&self.wal).is_ok_and(|wal| wal.len() > WAL_BYTES) {
            let cut = self.connection.busy_timeout(CUT).and_then(|()| self.cut_log());
            if let Err(error) = cut.and_then(|()| self.connection.busy_timeout(BUSY)) {
                tracing::warn!(%error, "cannot cut the log beside the database");
            }
        }
    }

    fn cut_log(&self) -> rusqlite::Result<()> {
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }

    fn begin(&mut self, worth: Worth) -> rusqlite::Result<()> {
        if self.worth != worth {
            let pragma = match worth {
                Worth::Full => "PRAGMA synchronous = FULL",
                Worth::Normal => "PRAGMA synchronous = NORMAL",
            };
            self.connection.execute_batch(pragma)?;
            self.worth = worth;
        }
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(())
    }

    fn commit(&self) -> rusqlite::Result<()> {
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        self.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn roll_back(&self, error: &rusqlite::Error) {
        tracing::error!(%error, "cannot write to the database");
        // SQLite has done so itself after some errors.
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "cannot roll back");
        }
    }

    fn close(mut self) {
        if self.drafts.due().is_some() {
            self.write(Vec::new(), Worth::Full);
        }
        if let Err(error) = self.cut_log() {
            // Nothing is lost by it: the log beside the database is read when it is opened next.
            tracing::warn!(%error, "cannot tidy up the database");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use testkit::Author;

    use super::*;
    use crate::{open, work::Append};

    #[test]
    fn those_who_wait_together_are_committed_together() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("megaron.db");
        let (jobs, queue) = mpsc::channel();
        let connection = open::connect(&path).unwrap();
        let writer = Writer::new(connection, dir.path().join("megaron.db-wal"), queue);
        let commits = writer.commits();
        let authors: Vec<_> = (1..=200).map(Author::new).collect();
        let mut batches: Vec<_> = authors.iter().map(|author| author.clone().small(1)).collect();
        // Two write the same log; only one of them can be right.
        batches.push(authors[7].clone().small(2));
        let ask = |batch| {
            let (reply, answer) = oneshot::channel();
            let work = Work::Append(Append::new(batch).unwrap());
            jobs.send(Job::Write { work, reply }).unwrap();
            answer
        };
        let answers: Vec<_> = batches.iter().map(ask).collect();
        drop(jobs);
        writer.run();
        let answers = answers.into_iter().map(|answer| answer.blocking_recv().unwrap());
        let refused: Vec<_> = answers.filter_map(Result::err).collect();
        assert!(
            matches!(refused[..], [StoreError::Conflict(id)] if id == authors[7].session),
            "{refused:?}"
        );
        let stored = Connection::open(path).unwrap();
        let facts = stored.query_row("SELECT count(*) FROM facts", [], |row| row.get::<_, i64>(0));
        assert_eq!(facts.unwrap(), 200);
        assert_eq!(
            commits.load(Ordering::Relaxed),
            2,
            "one for all of them, one for the look at what a crash had left"
        );
    }
}
