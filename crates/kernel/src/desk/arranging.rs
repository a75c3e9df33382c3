//! The windows of a session, as its task keeps them: read from the log when first asked for.

use std::sync::Arc;

use super::Desk;
use crate::{
    apps::AppFact,
    ports::StoreError,
    update::{Fact, Seq},
    views::fact::WidgetFact,
    windows::{By, Decision, Pane, WindowError, Windows, Wish},
};

/// How much of the log is in memory at a time.
const PAGE: usize = 128;

impl Desk {
    pub(super) async fn windows(&self) -> Result<Arc<Windows>, StoreError> {
        match self.seat.windows() {
            Some(windows) => Ok(windows),
            None => Ok(self.seat.keep(self.read_windows().await?)),
        }
    }

    async fn read_windows(&self) -> Result<Windows, StoreError> {
        let mut windows = Windows::default();
        let Some(from) = self.state.windows_from else { return Ok(windows) };
        let mut after = from.before();
        while after < self.state.last {
            let page = self.ports.log.read(self.id, after, PAGE).await?;
            let Some(newest) = page.last() else { break };
            after = newest.seq;
            for entry in &page {
                windows.apply(entry);
            }
        }
        Ok(windows)
    }

    /// The window as it then stands, or stood when it was closed.
    pub(super) async fn arrange(&mut self, wish: Wish, by: &By) -> Result<Pane, WindowError> {
        let windows = self.windows().await?;
        let Decision { window, facts } = windows.decide(wish, by)?;
        let before = windows.get(&window).cloned();
        // Let go, or the change would be made in a copy.
        drop(windows);
        self.record(facts).await?;
        let after = self.windows().await?.get(&window).cloned();
        after.or(before).ok_or(WindowError::Unknown(window))
    }

    /// Keeps on record what happened between the house and an app; says where the last of it is.
    pub(super) async fn note_apps(&mut self, facts: Vec<AppFact>) -> Result<Seq, StoreError> {
        let facts = facts.into_iter().map(|fact| Fact::App(Box::new(fact)));
        self.record(facts.collect()).await?;
        Ok(self.state.last)
    }

    /// The same of what happened in or around a widget.
    pub(super) async fn note_widgets(&mut self, facts: Vec<WidgetFact>) -> Result<Seq, StoreError> {
        let facts = facts.into_iter().map(|fact| Fact::Widget(Box::new(fact)));
        self.record(facts.collect()).await?;
        Ok(self.state.last)
    }
}
