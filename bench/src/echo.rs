//! Another reference: an axum server that answers at once, with as many bytes as were asked for.

use std::{
    env,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use anyhow::Context as _;
use axum::{
    Router,
    extract::{Path, WebSocketUpgrade},
    routing::any,
};

pub const COMMAND: &str = "bare-echo";

/// The reference in a process of its own, as Megaron is.
pub struct Echo {
    child: Child,
    pub address: String,
}

impl Echo {
    pub fn start() -> anyhow::Result<Self> {
        let mut child =
            Command::new(env::current_exe()?).arg(COMMAND).stdout(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        let address = lines.next().context("the reference said nothing")??;
        Ok(Self { child, address })
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub fn serve() -> anyhow::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let bytes = |Path(size): Path<usize>| async move { "x".repeat(size) };
        let echo = |upgrade: WebSocketUpgrade| async {
            upgrade.on_upgrade(async |mut socket| {
                while let Some(Ok(message)) = socket.recv().await {
                    if socket.send(message).await.is_err() {
                        return;
                    }
                }
            })
        };
        let router = Router::new().route("/bytes/{size}", any(bytes)).route("/ws", any(echo));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        axum::serve(listener, router).await?;
        Ok(())
    })
}
