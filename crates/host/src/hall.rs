//! A server that is running, for ever or for as long as one answer takes.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context as _;
use kernel::host::Host;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::wire::Rooms;

/// How long connections may take to close once every session has.
const LINGER: Duration = Duration::from_secs(2);

pub struct Hall {
    pub addr: SocketAddr,
    host: Arc<Host>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<io::Result<()>>,
}

impl Hall {
    pub fn open(rooms: Rooms, listener: TcpListener) -> anyhow::Result<Self> {
        let addr = listener.local_addr().context("cannot tell where it listens")?;
        let host = rooms.host.clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async move {
            // Dropping the other end stops it as well.
            stopped.await.ok();
        };
        let serving = tokio::spawn(rooms.serve(listener, shutdown));
        let recovering = host.clone();
        // Guests need not wait until everything a crash left behind is in order.
        tokio::spawn(async move { recovering.recover().await });
        Ok(Self { addr, host, stop, serving })
    }

    /// Returns only if it stops without being told to.
    pub async fn broken(&mut self) -> anyhow::Error {
        match (&mut self.serving).await {
            Ok(Ok(())) => anyhow::anyhow!("the server stopped by itself"),
            Ok(Err(error)) => anyhow::Error::new(error).context("the server stopped"),
            Err(error) => anyhow::Error::new(error).context("the server broke down"),
        }
    }

    /// Takes no more guests, lets turns end within `patience`, and records the rest as interrupted.
    pub async fn close(self, patience: Duration) {
        let Self { host, stop, serving, .. } = self;
        // An error only means that it has stopped already.
        stop.send(()).ok();
        host.shut(patience).await;
        if tokio::time::timeout(LINGER, serving).await.is_err() {
            tracing::debug!("some connections did not close in time");
        }
    }
}
