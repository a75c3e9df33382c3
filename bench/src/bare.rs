//! The reference: an axum server that does nothing but broadcast ready-made frames.

use std::{
    env,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use axum::{
    Router,
    extract::{
        WebSocketUpgrade,
        ws::{Message, Utf8Bytes, WebSocket},
    },
    routing::any,
};
use futures::SinkExt as _;
use tokio::sync::broadcast;

use crate::server::resident;

pub const COMMAND: &str = "bare-broadcaster";

/// The reference in a process of its own, as Megaron is.
pub struct Bare {
    child: Child,
    pub address: String,
}

impl Bare {
    /// As fast as it can.
    pub fn start(readers: usize, deltas: usize, size: usize) -> anyhow::Result<Self> {
        Self::paced(readers, deltas, size, 0)
    }

    /// With so many milliseconds between two frames.
    pub fn paced(readers: usize, deltas: usize, size: usize, pause: usize) -> anyhow::Result<Self> {
        let mut child = Command::new(env::current_exe()?)
            .arg(COMMAND)
            .args([readers, deltas, size, pause].map(|number| number.to_string()))
            .stdout(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        let address = lines.next().context("the reference said nothing")??;
        Ok(Self { child, address })
    }

    /// Memory in use now, in MB.
    pub fn resident(&self) -> anyhow::Result<f64> {
        resident(self.child.id())
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Waits for so many readers, then sends each so many frames of that size.
pub fn serve(numbers: &[String]) -> anyhow::Result<()> {
    let numbers: Vec<usize> = numbers.iter().map(|it| it.parse()).collect::<Result<_, _>>()?;
    let [readers, deltas, size, pause] = numbers[..] else {
        anyhow::bail!("four numbers are needed")
    };
    let pause = Duration::from_millis(u64::try_from(pause)?);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async move {
        let sender = broadcast::Sender::new(deltas.next_power_of_two());
        let present = Arc::new(AtomicUsize::new(0));
        let handler = move |upgrade: WebSocketUpgrade| {
            let (sender, present) = (sender.clone(), present.clone());
            async move {
                upgrade.write_buffer_size(8 * 1024).on_upgrade(async move |socket| {
                    let frames = sender.subscribe();
                    if present.fetch_add(1, Ordering::SeqCst) + 1 == readers {
                        tokio::spawn(async move {
                            for _ in 0..deltas {
                                // Readers cannot all be gone before the end.
                                sender.send(Utf8Bytes::from("x".repeat(size))).ok();
                                if !pause.is_zero() {
                                    tokio::time::sleep(pause).await;
                                }
                            }
                        });
                    }
                    pass_on(socket, frames).await;
                })
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        axum::serve(listener, Router::new().route("/", any(handler))).await?;
        Ok(())
    })
}

/// Everything that waits goes into one write, as ours does.
async fn pass_on(mut socket: WebSocket, mut frames: broadcast::Receiver<Utf8Bytes>) {
    while let Ok(frame) = frames.recv().await {
        if socket.feed(Message::Text(frame)).await.is_err() {
            return;
        }
        while let Ok(frame) = frames.try_recv() {
            if socket.feed(Message::Text(frame)).await.is_err() {
                return;
            }
        }
        if socket.flush().await.is_err() {
            return;
        }
    }
}
