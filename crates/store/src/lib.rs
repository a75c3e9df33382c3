//! Everything that lasts: the log, the catalog, the ledger and the attic, in one folder by `SQLite`.
//!
//! One thread writes, and commits whatever waits in one transaction; readers have connections of
//! their own, so that nobody who reads waits for one who writes. Times are kept to the microsecond.

mod attic;
mod catalog;
mod drafts;
mod files;
mod ledger;
mod log;
mod open;
mod readers;
mod schema;
mod work;
mod writer;

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};

use kernel::ports::StoreError;
use tokio::sync::oneshot;

pub use open::OpenError;

use readers::Readers;
use work::Work;
use writer::Job;

/// A data directory in use. Reading and writing need a tokio runtime; opening and dropping do not.
///
/// Dropping it finishes what was asked for, and waits for that.
pub struct Store {
    dir: PathBuf,
    readers: Arc<Readers>,
    commits: Arc<AtomicU64>,
    /// Taken on drop: its end is how the writer hears that no more will come.
    jobs: Option<mpsc::Sender<Job>>,
    writer: Option<JoinHandle<()>>,
    /// Let go last, or another process could come in while we still write.
    _lock: File,
}

impl Store {
    /// Opens a data directory, and makes it if it does not exist.
    pub fn open(data_dir: &Path) -> Result<Self, OpenError> {
        open::open(data_dir)
    }

    /// How many transactions have been committed since it was opened.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Lets the database grow to so many pages and no further, as on a full disk.
    #[doc(hidden)]
    pub async fn limit_pages(&self, pages: u32) -> Result<(), StoreError> {
        self.write(Work::LimitPages(pages)).await
    }

    async fn write(&self, work: Work) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Write { work, reply });
        answer.await.unwrap_or_else(|_| {
            Err(StoreError::Unavailable("the thread that writes has ended".into()))
        })
    }

    fn send(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // Without a writer the job's reply is dropped, and whoever waits for it hears of that.
            jobs.send(job).ok();
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.jobs = None;
        self.readers.close();
        if let Some(writer) = self.writer.take() {
            // It has nothing to say; a panic of its own was reported where it happened.
            writer.join().ok();
        }
    }
}

/// Numbers this large are beyond what can be stored, and beyond any log.
fn clamp(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` is given")]
fn unavailable(reason: impl ToString) -> StoreError {
    StoreError::Unavailable(reason.to_string())
}
