//! The connections that clients keep: how many at a time, and for how long without a word.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, Weak},
    task::{Context, Poll},
    time::Duration,
};

use futures::Stream;
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError, SessionTransport},
    },
};
use tokio::time::Instant;

use super::{door::Limits, house::lock};

pub struct Callers {
    inner: LocalSessionManager,
    limits: Limits,
    known: Arc<Mutex<HashMap<SessionId, Caller>>>,
}

struct Caller {
    /// How many streams it listens to.
    listening: usize,
    /// When it was last heard of.
    since: Instant,
}

impl Callers {
    /// Needs a runtime: those who fall silent are let go in the background.
    pub fn new(limits: Limits) -> Arc<Self> {
        let mut inner = LocalSessionManager::default();
        // Silence is judged here, where it is known whether somebody listens.
        inner.session_config.keep_alive = None;
        let callers = Arc::new(Self { inner, limits, known: Arc::default() });
        tokio::spawn(Self::tidy(Arc::downgrade(&callers), limits.silence));
        callers
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        lock(&self.known).len()
    }

    async fn tidy(callers: Weak<Self>, silence: Duration) {
        let mut ticks = tokio::time::interval(silence / 4);
        loop {
            ticks.tick().await;
            let Some(callers) = callers.upgrade() else { return };
            for id in callers.silent() {
                callers.let_go(&id).await;
            }
        }
    }

    fn silent(&self) -> Vec<SessionId> {
        let known = lock(&self.known);
        let silent = known.iter().filter(|(_, caller)| {
            caller.listening == 0 && caller.since.elapsed() >= self.limits.silence
        });
        silent.map(|(id, _)| id.clone()).collect()
    }

    /// Makes room for one more: whoever was silent for longest has to go.
    async fn make_room(&self) {
        loop {
            let leaving = {
                let known = lock(&self.known);
                if known.len() < self.limits.callers {
                    return;
                }
                let least = known.iter().min_by_key(|(_, it)| (it.listening > 0, it.since));
                least.map(|(id, _)| id.clone())
            };
            let Some(id) = leaving else { return };
            self.let_go(&id).await;
        }
    }

    async fn let_go(&self, id: &SessionId) {
        lock(&self.known).remove(id);
        if let Err(error) = self.inner.close_session(id).await {
            tracing::debug!(%error, "a connection could not be closed well");
        }
    }

    fn heard_of(&self, id: &SessionId) {
        if let Some(caller) = lock(&self.known).get_mut(id) {
            caller.since = Instant::now();
        }
    }

    fn counted<S>(&self, id: &SessionId, stream: S) -> Counted<S> {
        if let Some(caller) = lock(&self.known).get_mut(id) {
            caller.listening += 1;
            caller.since = Instant::now();
        }
        let place = Place { id: id.clone(), known: self.known.clone() };
        Counted { stream: Box::pin(stream), _place: place }
    }
}

impl SessionManager for Callers {
    type Error = LocalSessionManagerError;
    type Transport = SessionTransport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.make_room().await;
        let (id, transport) = self.inner.create_session().await?;
        let caller = Caller { listening: 0, since: Instant::now() };
        lock(&self.known).insert(id.clone(), caller);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.heard_of(id);
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        lock(&self.known).remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.counted(id, self.inner.create_stream(id, message).await?))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.counted(id, self.inner.create_standalone_stream(id).await?))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.counted(id, self.inner.resume(id, last_event_id).await?))
    }
}

/// A stream that counts as listening for as long as it is there.
struct Counted<S> {
    stream: Pin<Box<S>>,
    _place: Place,
}

impl<S: Stream> Stream for Counted<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.stream.as_mut().poll_next(context)
    }
}

struct Place {
    id: SessionId,
    known: Arc<Mutex<HashMap<SessionId, Caller>>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(caller) = lock(&self.known).get_mut(&self.id) {
            caller.listening = caller.listening.saturating_sub(1);
            caller.since = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    fn few(callers: usize) -> Arc<Callers> {
        Callers::new(Limits { callers, silence: HOUR, ..Limits::default() })
    }

    async fn arrive(callers: &Callers) -> (SessionId, SessionTransport) {
        callers.create_session().await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_was_silent_for_longest_makes_room() {
        let callers = few(2);
        let (first, _one) = arrive(&callers).await;
        tokio::time::advance(Duration::from_secs(1)).await;
        let (second, _two) = arrive(&callers).await;
        tokio::time::advance(Duration::from_secs(1)).await;
        callers.heard_of(&first);
        let (third, _three) = arrive(&callers).await;
        let mut there = Vec::new();
        for id in [&first, &second, &third] {
            there.push(callers.has_session(id).await.unwrap());
        }
        assert_eq!((there, callers.count()), (vec![true, false, true], 2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_listener_stays_and_a_silent_one_is_let_go() {
        let callers = few(9);
        let (listening, _one) = arrive(&callers).await;
        let (_silent, _two) = arrive(&callers).await;
        let stream = callers.counted(&listening, futures::stream::pending::<()>());
        while callers.count() > 1 {
            tokio::time::sleep(HOUR / 4).await;
        }
        tokio::time::sleep(HOUR * 3).await;
        assert!(callers.has_session(&listening).await.unwrap());
        drop(stream);
        while callers.count() > 0 {
            tokio::time::sleep(HOUR / 4).await;
        }
    }
}
