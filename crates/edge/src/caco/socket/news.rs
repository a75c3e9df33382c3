//! News of the whole house, told where it belongs: after the facts that led to it.

use std::mem;

use kernel::roster::{Change, News};
use tokio::sync::broadcast::error::TryRecvError;

use super::{Connection, Watching, say};

impl Connection {
    pub(super) fn spread(&mut self, news: News) {
        if let News::Session { session, change: Change::Created, .. } = news
            && let Some((awaited, arrived)) = &mut self.awaited
        {
            *arrived |= *awaited == session;
        }
        if self.is_early(&news) {
            self.held.push(news);
        } else if self.concerns(&news) {
            self.out.push(say::news(&news).text);
        }
    }

    /// Whether the watched session must first tell of what led to it.
    fn is_early(&self, news: &News) -> bool {
        match (news, &self.watching) {
            (News::Session { session, after, .. }, Some(Watching { feed, told, .. })) => {
                *session == feed.session().id() && *told < *after
            }
            _ => false,
        }
    }

    fn concerns(&self, news: &News) -> bool {
        match news {
            News::Session { .. }
            | News::Schedules
            | News::Devices
            | News::AppletChanged { .. }
            | News::AppChanged { .. } => true,
            News::AppletState { session, from, .. } => {
                *from != Some(self.number) && (from.is_none() || *session == self.watched())
            }
        }
    }

    /// Tells the news that waited for its facts.
    pub(super) fn release(&mut self) {
        if self.held.is_empty() {
            return;
        }
        for news in mem::take(&mut self.held) {
            if self.is_early(&news) {
                self.held.push(news);
            } else {
                self.out.push(say::news(&news).text);
            }
        }
    }

    pub(super) fn release_all(&mut self) {
        let held = mem::take(&mut self.held);
        self.out.extend(held.iter().map(|news| say::news(news).text));
    }

    /// News is out before the facts it belongs to: whoever tells facts looks here first.
    pub(super) fn spread_waiting(&mut self) {
        loop {
            match self.news.try_recv() {
                Ok(news) => self.spread(news),
                Err(TryRecvError::Lagged(_)) => self.out.push(say::missed_news().text),
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }
}
