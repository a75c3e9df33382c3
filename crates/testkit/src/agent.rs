//! An agent that does what the test does in its place.

use std::sync::{Arc, Mutex, PoisonError};

use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use kernel::{
    ports::{Agent, Agents, Known, ModelError, ModelInfo},
    update::SessionId,
    visit::{Doing, Visit, model_of},
};
use tokio::sync::mpsc;

/// How much it can do before anybody takes notice.
const AHEAD: usize = 16;

/// Each visit goes to whoever waits in [`TestAgent::visited`]. Clones are the same agent.
#[derive(Clone)]
pub struct TestAgent {
    visits: mpsc::UnboundedSender<Visited>,
    waiting: Arc<Mutex<Option<mpsc::UnboundedReceiver<Visited>>>>,
}

/// A visit, to be played by the test. Dropping it ends the answer.
pub struct Visited {
    pub visit: Visit,
    doings: mpsc::Sender<Result<Doing, ModelError>>,
}

impl Default for TestAgent {
    fn default() -> Self {
        let (visits, waiting) = mpsc::unbounded_channel();
        Self { visits, waiting: Arc::new(Mutex::new(Some(waiting))) }
    }
}

impl TestAgent {
    pub const NAME: &str = "guest";
    /// What a session's model is called that it answers in.
    pub const MODEL: &str = "agent/guest";

    /// The next visit, as soon as there is one. Not for two at once.
    pub async fn visited(&self) -> Visited {
        let take = || self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut waiting = take().unwrap();
        let visited = waiting.recv().await.unwrap();
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(waiting);
        visited
    }
}

impl Visited {
    pub async fn does(&self, doing: Doing) {
        // One that was dismissed may go on all the same.
        self.doings.send(Ok(doing)).await.ok();
    }

    pub async fn says(&self, text: &str) {
        self.does(Doing::Text(text.to_owned())).await;
    }

    pub async fn fails(self, error: ModelError) {
        self.doings.send(Err(error)).await.ok();
    }

    /// Returns when nobody listens to it any more.
    pub async fn dismissed(&self) {
        self.doings.closed().await;
    }
}

impl Agent for TestAgent {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn visit(&self, visit: Visit) -> BoxStream<'static, Result<Doing, ModelError>> {
        let (doings, heard) = mpsc::channel(AHEAD);
        self.visits.send(Visited { visit, doings }).ok();
        let next = |mut heard: mpsc::Receiver<_>| async { Some((heard.recv().await?, heard)) };
        stream::unfold(heard, next).boxed()
    }
}

impl Agents for TestAgent {
    fn list(&self) -> Vec<ModelInfo> {
        vec![ModelInfo {
            id: model_of(Self::NAME),
            name: Self::NAME.to_owned(),
            cost: 0.0,
            payer: "its own sign-in".to_owned(),
            known: Known::default(),
        }]
    }

    fn find(&self, id: &str) -> Option<Arc<dyn Agent>> {
        (id == Self::MODEL).then(|| Arc::new(self.clone()) as Arc<dyn Agent>)
    }

    fn dismiss(&self, _: SessionId) {}
}
