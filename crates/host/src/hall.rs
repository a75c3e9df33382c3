//! A server that is running, for ever or for as long as one answer takes.

use std::{io, net::SocketAddr};

use tokio::{sync::oneshot, task::JoinHandle};

use crate::wire::Rooms;

pub struct Hall {
    pub addr: SocketAddr,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<io::Result<()>>,
}

impl Hall {
    pub fn open(rooms: Rooms) -> Self {
        let (addr, host) = (rooms.address(), rooms.host.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async {
            // Dropping the other end stops it as well.
            stopped.await.ok();
        };
        let serving = tokio::spawn(rooms.serve(shutdown));
        // Guests need not wait until everything a crash left behind is in order.
        tokio::spawn(async move {
            host.recover().await;
            host.keep_schedules();
        });
        Self { addr, stop, serving }
    }

    /// Returns only if it stops without being told to.
    pub async fn broken(&mut self) -> anyhow::Error {
        match (&mut self.serving).await {
            Ok(Ok(())) => anyhow::anyhow!("the server stopped by itself"),
            Ok(Err(error)) => anyhow::Error::new(error).context("the server stopped"),
            Err(error) => anyhow::Error::new(error).context("the server broke down"),
        }
    }

    /// Takes no more guests, lets turns end as planned, and records the rest as interrupted.
    pub async fn close(self) {
        // An error only means that it has stopped already.
        self.stop.send(()).ok();
        match self.serving.await {
            Ok(Ok(())) => (),
            Ok(Err(error)) => tracing::error!(%error, "the server did not end well"),
            Err(error) => tracing::error!(%error, "the server broke down at its end"),
        }
    }
}
