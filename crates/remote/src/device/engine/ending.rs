//! How what a hub asked for ends before it is done: cancelled, taken over, out of time, or forgotten.

use std::collections::VecDeque;

use futures::stream::FuturesUnordered;
use kernel::desktop::{Action, Desktop, DesktopError, Outcome};

use super::{Asked, Engine, Lent, Waiting};

impl Engine {
    pub(super) fn cancel(&mut self, asked: &Asked, target: Option<&str>) {
        let is_meant = |asked: &Asked| target.is_none_or(|id| asked.id.as_deref() == Some(id));
        let mut cancelled = Vec::new();
        cancelled
            .extend(self.running.take_if(|running| is_meant(&running.asked)).map(|it| it.asked));
        let (ended, kept) = self.waiting.drain(..).partition(|waiting| is_meant(waiting.asked()));
        let ended: VecDeque<Waiting> = ended;
        self.waiting = kept;
        cancelled.extend(ended.iter().map(|waiting| waiting.asked().clone()));
        for asked in &cancelled {
            self.answer(asked, &Err(DesktopError::cancelled()));
        }
        let count = cancelled.len();
        let commands = if count == 1 { "command" } else { "commands" };
        self.answer(asked, &Ok(Outcome::said(format!("Cancelled {count} {commands}"))));
    }

    /// When the person takes over, nothing that waits is done any more.
    pub(super) fn stopped(&mut self) {
        if self.states.borrow().paused.is_none() {
            return;
        }
        for waiting in std::mem::take(&mut self.waiting) {
            match waiting {
                Waiting::Ready(asked, result) => self.answer(&asked, &result),
                Waiting::Order(asked, _) => self.answer(&asked, &Err(DesktopError::stopped())),
            }
        }
    }

    /// What the person at this machine allowed is over: nothing goes on, and nothing stays pressed.
    pub(super) async fn expire(&mut self) {
        if self.ends.is_none_or(|at| self.clock.now() < at) {
            // The clock was set back meanwhile.
            return;
        }
        let running = self.running.take().map(|running| running.asked);
        let waiting = std::mem::take(&mut self.waiting);
        let ended = running.into_iter().chain(waiting.iter().map(|it| it.asked().clone()));
        let refusal = Err(self.leave.refusal());
        for asked in ended.collect::<Vec<_>>() {
            self.answer(&asked, &refusal);
        }
        self.indicate();
        release(self.desktop.as_ref()).await;
        self.ends = None;
    }

    /// The hub is gone: nothing it asked for is done any more, and nothing stays pressed.
    pub async fn disconnected(&mut self) {
        self.waiting.clear();
        // It may have been half done: should it be asked for again, it is not begun again.
        if let Some(running) = self.running.take() {
            self.answer(&running.asked, &Err(DesktopError::cancelled()));
        }
        self.looks = FuturesUnordered::new();
        self.out.clear();
        (self.greeted, self.extended, self.lent) = (false, false, Lent::No);
        self.indicate();
        (self.name, self.stood) = (None, None);
        release(self.desktop.as_ref()).await;
    }
}

async fn release(desktop: &dyn Desktop) {
    if let Err(error) = desktop.act(Action::ReleaseAll.into()).await {
        tracing::warn!(%error, "cannot release what is held");
    }
}
