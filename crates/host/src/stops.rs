//! Wishes to stop, one after the other: Ctrl-C and SIGTERM.

use std::io;

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

pub struct Stops(mpsc::Receiver<()>);

impl Stops {
    /// From now on, these signals no longer end the process by themselves.
    pub fn listen() -> io::Result<Self> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let (sender, stops) = Self::by_hand();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => (),
                    _ = terminate.recv() => (),
                }
                if sender.send(()).await.is_err() {
                    return;
                }
            }
        });
        Ok(stops)
    }

    pub fn by_hand() -> (mpsc::Sender<()>, Self) {
        let (sender, stops) = mpsc::channel(8);
        (sender, Self(stops))
    }

    /// Cancel safe. Waits for ever if nobody is left who could stop us.
    pub async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}
