//! The first version as the pump of a socket drives it.

use std::{future::pending, sync::Arc};

use kernel::{
    feed::{Draft, Feed},
    ports::StoreError,
    update::{Entry, Seq, Signal},
};
use tokio::time::Instant;

use super::{CARDS, Line, PACE};
use crate::{
    App,
    devices::Device,
    window::{
        pump::{Out, Sent, Voice},
        send,
    },
};

impl Voice for Line {
    fn app(&self) -> &Arc<App> {
        &self.app
    }

    fn device(&self) -> &Arc<Device> {
        &self.device
    }

    fn pongs(&self) -> bool {
        self.presence.pongs()
    }

    async fn fact(&mut self, entry: &Entry) -> Result<(), StoreError> {
        Line::fact(self, entry).await
    }

    async fn now(&mut self, last: Seq, draft: Option<&Draft>) -> Result<(), StoreError> {
        Line::now(self, last, draft).await
    }

    fn signal(&mut self, signal: &Signal) {
        Line::signal(self, signal);
    }

    fn due(&self) -> Option<Instant> {
        let paced = || self.piece_at.map_or_else(Instant::now, |at| at + PACE);
        if let Some(front) = self.out.front() {
            return Some(match front {
                Out::Delta(..) | Out::Complete(..) => paced(),
                Out::Frame(_) | Out::Ping(_) => Instant::now(),
            });
        }
        let piece = self.reply.as_ref().filter(|reply| reply.is_pending()).map(|_| paced());
        let waiting = self.cards.values().filter(|(_, card)| card.is_some());
        let card = waiting.map(|(at, _)| *at + CARDS).min();
        piece.into_iter().chain(card).min()
    }

    fn is_quiet(&self) -> bool {
        self.out.is_empty()
    }

    fn next(&mut self) -> Option<Out> {
        if self.out.is_empty() {
            self.gather();
        }
        let next = self.out.pop_front()?;
        match &next {
            Out::Delta(_, question) => {
                self.piece_at = Some(Instant::now());
                let question = *question;
                self.presence.change(self.session, |talk| talk.streamed = Some(question));
            }
            Out::Complete(..) | Out::Frame(_) | Out::Ping(_) => (),
        }
        Some(next)
    }

    async fn obey(&mut self, frame: &[u8]) -> Sent {
        send::obey(self, frame).await
    }

    fn sent(&mut self, out: &Out) {
        match out {
            Out::Ping(seq) => self.note(|talk| talk.sent = talk.sent.max(*seq)),
            Out::Complete(_, seq) if *seq > Seq(0) => {
                self.note(|talk| talk.words = Some((*seq, Instant::now())));
            }
            Out::Complete(..) | Out::Frame(_) | Out::Delta(..) => (),
        }
    }

    async fn ponged(&mut self, seq: Seq) -> Result<(), StoreError> {
        // Nobody may acknowledge what was not told.
        let seq = seq.min(self.told);
        let mut news = self.presence.arrived(self.session, seq);
        self.presence.change(self.session, |talk| {
            news |= !talk.ponged;
            talk.ponged = true;
        });
        if news { self.presence.save(self.session).await } else { Ok(()) }
    }

    async fn news(&mut self) {
        pending::<()>().await;
    }

    fn moved(&mut self) -> Option<Feed> {
        None
    }

    fn left(&mut self) {
        self.presence.change(self.session, |talk| talk.mark = talk.resume());
    }

    async fn remember(&mut self) -> Result<(), StoreError> {
        self.presence.save(self.session).await
    }
}
