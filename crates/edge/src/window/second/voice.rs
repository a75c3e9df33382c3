//! The second version as the pump of a socket drives it.

use std::sync::Arc;

use kernel::{
    feed::{Draft, Feed},
    ports::StoreError,
    update::{Entry, Seq, Signal},
};
use tokio::{sync::broadcast::error::RecvError, time::Instant};

use super::{Second, frames::Frame, placed};
use crate::{
    App,
    devices::Device,
    window::{
        line::PACE,
        pump::{Out, Sent, Voice},
    },
};

impl Voice for Second {
    fn app(&self) -> &Arc<App> {
        &self.app
    }

    fn device(&self) -> &Arc<Device> {
        &self.device
    }

    fn pongs(&self) -> bool {
        true
    }

    async fn fact(&mut self, entry: &Entry) -> Result<(), StoreError> {
        Second::fact(self, entry).await
    }

    async fn now(&mut self, last: Seq, draft: Option<&Draft>) -> Result<(), StoreError> {
        Second::now(self, last, draft).await
    }

    fn signal(&mut self, signal: &Signal) {
        Second::signal(self, signal);
    }

    fn due(&self) -> Option<Instant> {
        if !self.out.is_empty() {
            return Some(Instant::now());
        }
        let paced = || self.piece_at.map_or_else(Instant::now, |at| at + PACE);
        let piece = self.reply.as_ref().filter(|reply| reply.is_pending()).map(|_| paced());
        piece.into_iter().chain(self.typists.due()).min()
    }

    fn is_quiet(&self) -> bool {
        self.out.is_empty()
    }

    fn next(&mut self) -> Option<Out> {
        if self.out.is_empty() {
            for device in self.typists.stopped() {
                self.push(&Frame::Typing { device: &device, active: false });
            }
            let paced = self.piece_at.is_none_or(|at| at.elapsed() >= PACE);
            if let Some(piece) = paced.then(|| self.piece()).flatten() {
                self.piece_at = Some(Instant::now());
                self.out.push_back(Out::Frame(placed(piece, self.told)));
            }
        }
        self.out.pop_front()
    }

    async fn obey(&mut self, frame: &[u8]) -> Sent {
        super::obey::obey(self, frame).await
    }

    fn sent(&mut self, _: &Out) {}

    async fn ponged(&mut self, _: Seq) -> Result<(), StoreError> {
        Ok(())
    }

    async fn news(&mut self) {
        loop {
            let typing = match self.typing.recv().await {
                Ok(typing) => typing,
                // They can do without what they were too slow for.
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return std::future::pending().await,
            };
            let ours = typing.session == self.session && typing.device != self.device.id;
            if ours && self.typists.note(&typing.device, typing.active) {
                self.push(&Frame::Typing { device: &typing.device, active: typing.active });
                return;
            }
        }
    }

    fn moved(&mut self) -> Option<Feed> {
        self.moved.take()
    }

    fn left(&mut self) {}

    async fn remember(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}
