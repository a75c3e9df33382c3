//! Commands that tell what they print while they run, as long as somebody listens.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use serde::Serialize;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::mpsc,
    task::{AbortHandle, JoinSet},
};

use super::{
    Errand, Order,
    plain::Plain,
    run::{CHUNK, Process},
};
use crate::{App, error::ApiError};

/// How many may run at once for one listener.
const MOST: usize = 8;
/// How many pieces wait for a listener before the command does.
const WAITING: usize = 16;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Piece<'a> {
    ShellOutput { id: &'a str, stream: &'static str, data: &'a str },
    ShellExit { id: &'a str, code: Option<i32> },
}

/// What one of them says.
struct Told {
    number: u64,
    piece: Utf8Bytes,
    is_last: bool,
}

struct Running {
    /// Tells it from an earlier one of the same name.
    number: u64,
    id: String,
    task: AbortHandle,
}

/// What runs for one listener; all of it ends with them.
pub struct Shells {
    tasks: JoinSet<()>,
    running: Vec<Running>,
    count: u64,
    told: mpsc::Sender<Told>,
    telling: mpsc::Receiver<Told>,
}

impl Default for Shells {
    fn default() -> Self {
        let (told, telling) = mpsc::channel(WAITING);
        Self { tasks: JoinSet::new(), running: Vec::new(), count: 0, told, telling }
    }
}

impl Shells {
    pub fn start(&mut self, app: &Arc<App>, id: String, order: Order) -> Result<(), ApiError> {
        let errand = app.shell.errand(order)?;
        if self.running.iter().any(|running| running.id == id) {
            return Err(ApiError::conflict(format!("A command with the id {id} is running")));
        }
        if self.running.len() >= MOST {
            let message = format!("{MOST} commands are running already; cancel one or wait");
            return Err(ApiError::conflict(message));
        }
        self.count += 1;
        let voice = Voice { number: self.count, id: id.clone(), told: self.told.clone() };
        let task = self.tasks.spawn(run(errand, voice));
        self.running.push(Running { number: self.count, id, task });
        Ok(())
    }

    /// Ends it, and all that it started. Gives back its last word, if it was running.
    pub fn cancel(&mut self, id: &str) -> Option<Utf8Bytes> {
        let index = self.running.iter().position(|running| running.id == id)?;
        let Running { id, task, .. } = self.running.swap_remove(index);
        task.abort();
        Some(written(&Piece::ShellExit { id: &id, code: None }))
    }

    /// The next piece that one of them has to tell; waits for ever if there is none.
    pub async fn next(&mut self) -> Utf8Bytes {
        loop {
            while self.tasks.try_join_next().is_some() {}
            // We hold an end ourselves, so that it is never closed.
            let Some(Told { number, piece, is_last }) = self.telling.recv().await else {
                return std::future::pending().await;
            };
            let index = self.running.iter().position(|running| running.number == number);
            // Of one that was cancelled nothing is told any more.
            let Some(index) = index else { continue };
            if is_last {
                self.running.swap_remove(index);
            }
            return piece;
        }
    }
}

/// How one of them is heard.
struct Voice {
    number: u64,
    id: String,
    told: mpsc::Sender<Told>,
}

impl Voice {
    /// Whether anybody heard it.
    async fn tell(&self, piece: &Piece<'_>, is_last: bool) -> bool {
        let told = Told { number: self.number, piece: written(piece), is_last };
        self.told.send(told).await.is_ok()
    }
}

async fn run(errand: Errand, voice: Voice) {
    let code = match Process::start(&errand).await {
        Ok((mut process, stdout, stderr)) => {
            tokio::join!(tell(stdout, "stdout", &voice), tell(stderr, "stderr", &voice));
            process.code(&errand).await.ok()
        }
        Err(_) => None,
    };
    voice.tell(&Piece::ShellExit { id: &voice.id, code }, true).await;
}

async fn tell(mut from: impl AsyncRead + Unpin, stream: &'static str, voice: &Voice) {
    let (mut plain, mut bytes) = (Plain::default(), Vec::with_capacity(CHUNK));
    while from.read_buf(&mut bytes).await.is_ok_and(|read| read > 0) {
        let data = plain.take(&bytes);
        bytes.clear();
        let piece = Piece::ShellOutput { id: &voice.id, stream, data: &data };
        if !data.is_empty() && !voice.tell(&piece, false).await {
            return;
        }
    }
}

fn written(piece: &Piece<'_>) -> Utf8Bytes {
    serde_json::to_string(piece).unwrap_or_default().into()
}
