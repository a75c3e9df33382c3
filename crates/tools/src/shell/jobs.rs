//! Commands that run in the background, each known to its session alone.

use std::{
    collections::{BTreeMap, HashMap},
    process::ExitStatus,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kernel::update::SessionId;
use tokio::{
    io::AsyncWriteExt as _,
    net::unix::pipe::Sender,
    sync::{mpsc, watch},
    task::JoinHandle,
};

use super::{output::Tail, process::Process, said};
use crate::sandbox::Lock;

/// To drop it is to end them all.
pub struct Jobs {
    /// How many may run in one session.
    most: usize,
    rooms: Mutex<HashMap<SessionId, Room>>,
}

#[derive(Default)]
struct Room {
    last: u32,
    jobs: BTreeMap<u32, Arc<Job>>,
}

pub struct Job {
    pub command: String,
    pub lock: Lock,
    progress: watch::Receiver<Progress>,
    /// How much of the output has been read.
    seen: Mutex<usize>,
    /// What is typed, where there is a terminal.
    input: Option<mpsc::Sender<Vec<u8>>>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Progress {
    output: Tail,
    ended: Option<Ended>,
}

#[derive(Clone, Copy)]
enum Ended {
    ByItself(ExitStatus),
    Killed,
}

impl Jobs {
    pub fn new(most: usize) -> Self {
        Self { most, rooms: Mutex::default() }
    }

    /// Whether another may be started.
    pub fn has_room(&self, session: SessionId) -> Result<(), String> {
        let rooms = self.rooms();
        let jobs = rooms.get(&session).into_iter().flat_map(|room| room.jobs.values());
        if jobs.filter(|job| job.is_running()).count() < self.most {
            return Ok(());
        }
        Err(format!("{} jobs are running already; end one with shell_kill", self.most))
    }

    /// Takes a process in; its number is how it is called from now on.
    pub fn add(
        &self,
        session: SessionId,
        command: String,
        lock: Lock,
        limit: Option<Duration>,
        (process, typed): (Process, Option<Sender>),
    ) -> u32 {
        let job = Job::new(command, lock, limit, process, typed);
        let mut rooms = self.rooms();
        let room = rooms.entry(session).or_default();
        // Of those that have ended only the newest are remembered.
        while room.jobs.len() >= self.most.saturating_mul(2).max(1) {
            let Some(old) = room.jobs.iter().find(|(_, job)| !job.is_running()) else { break };
            let old = *old.0;
            room.jobs.remove(&old);
        }
        room.last += 1;
        room.jobs.insert(room.last, Arc::new(job));
        room.last
    }

    pub fn get(&self, session: SessionId, number: u32) -> Result<Arc<Job>, String> {
        let rooms = self.rooms();
        let jobs = rooms.get(&session).map(|room| &room.jobs);
        if let Some(job) = jobs.and_then(|jobs| jobs.get(&number)) {
            return Ok(job.clone());
        }
        let known = jobs.into_iter().flat_map(BTreeMap::keys).map(u32::to_string);
        let known = known.collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "there are none".into() } else { known };
        Err(format!("this session has no job {number}; those it has: {known}"))
    }

    /// Ends all that a session had running.
    pub fn forget(&self, session: SessionId) {
        self.rooms().remove(&session);
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<SessionId, Room>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Job {
    fn new(
        command: String,
        lock: Lock,
        limit: Option<Duration>,
        process: Process,
        typed: Option<Sender>,
    ) -> Self {
        let (news, progress) = watch::channel(Progress::default());
        let (input, keys) = typed.map(|typed| (mpsc::channel(8), typed)).map_or_else(
            || (None, None),
            |((input, keys), typed)| (Some(input), Some((keys, typed))),
        );
        // Made here, and not by the task, which may be ended before it begins.
        let news = News(news);
        let task = tokio::spawn(async move {
            let typing = async {
                if let Some((keys, typed)) = keys {
                    type_in(keys, typed).await;
                }
                std::future::pending::<()>().await;
            };
            let late = async {
                match limit {
                    Some(limit) => tokio::time::sleep(limit).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = follow(process, &news) => (),
                () = typing => (),
                () = late => (),
            }
        });
        Self { command, lock, progress, seen: Mutex::default(), input, task }
    }

    fn is_running(&self) -> bool {
        self.progress.borrow().ended.is_none()
    }

    /// What it printed since this was last asked, and how it stands; waits for either to change.
    pub async fn read(&self, wait: Duration) -> String {
        let mut progress = self.progress.clone();
        let seen = *self.seen();
        let news = progress.wait_for(|it| it.output.size() > seen || it.ended.is_some());
        // Nothing new is an answer, too; and the end of the task is in what it told last.
        tokio::time::timeout(wait, news).await.ok();
        let progress = progress.borrow();
        let mut seen = self.seen();
        let text = progress.output.since(*seen);
        *seen = progress.output.size();
        let state = match progress.ended {
            None => "running".to_owned(),
            Some(Ended::ByItself(status)) => format!("ended: {}", said(status)),
            Some(Ended::Killed) => "killed".to_owned(),
        };
        if text.is_empty() { state } else { format!("{state}\n{text}") }
    }

    pub async fn type_in(&self, text: String) -> Result<(), String> {
        let Some(input) = &self.input else {
            return Err("this job has no terminal; start it with `tty: true` to type to it".into());
        };
        let over = "this job has ended".to_owned();
        if !self.is_running() {
            return Err(over);
        }
        input.send(text.into_bytes()).await.map_err(|_| over)
    }

    /// Returns when it has been told to end, and nobody reads it any more.
    pub async fn kill(&self) -> &'static str {
        if !self.is_running() {
            return "it had ended already";
        }
        self.task.abort();
        // An error means that nobody is left to tell of the end.
        self.progress.clone().wait_for(|it| it.ended.is_some()).await.ok();
        "killed"
    }

    fn seen(&self) -> MutexGuard<'_, usize> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Tells of the end in any case.
struct News(watch::Sender<Progress>);

impl Drop for News {
    fn drop(&mut self) {
        self.0.send_modify(|it| it.ended = it.ended.or(Some(Ended::Killed)));
    }
}

async fn follow(mut process: Process, news: &News) {
    while let Some(bytes) = process.next().await {
        news.0.send_modify(|it| it.output.add(&bytes));
    }
    if let Some(status) = process.status() {
        news.0.send_modify(|it| it.ended = Some(Ended::ByItself(status)));
    }
}

async fn type_in(mut keys: mpsc::Receiver<Vec<u8>>, mut typed: Sender) {
    while let Some(text) = keys.recv().await {
        if typed.write_all(&text).await.is_err() {
            return;
        }
    }
}
