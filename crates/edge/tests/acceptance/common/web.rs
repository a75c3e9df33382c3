//! A web of a few addresses, which remembers what was sent to them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
    time::Duration,
};

use futures::{
    FutureExt as _,
    future::{BoxFuture, pending, ready},
};
use kernel::web::{Web, WebAnswer, WebError, WebRequest};
use tokio::{sync::watch, time::timeout};

const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Default)]
pub struct FakeWeb {
    pub answers: Mutex<BTreeMap<String, Result<WebAnswer, WebError>>>,
    pub sent: Mutex<Vec<WebRequest>>,
    /// Where nobody ever answers.
    hanging: Mutex<BTreeSet<String>>,
    /// How much was sent.
    count: watch::Sender<usize>,
}

impl FakeWeb {
    pub fn answer(&self, url: &str, answer: Result<WebAnswer, WebError>) {
        self.hanging.lock().unwrap().remove(url);
        self.answers.lock().unwrap().insert(url.to_owned(), answer);
    }

    /// Whatever is sent there waits for ever.
    pub fn hang(&self, url: &str) {
        self.hanging.lock().unwrap().insert(url.to_owned());
    }

    pub async fn until_sent(&self, count: usize) -> Vec<WebRequest> {
        let mut sent = self.count.subscribe();
        let all = sent.wait_for(|sent| *sent >= count);
        timeout(PATIENCE, all).await.unwrap().unwrap();
        self.sent.lock().unwrap().clone()
    }

    pub fn sent(&self) -> Vec<String> {
        let sent = self.sent.lock().unwrap();
        sent.iter().map(|it| format!("{} {}", it.method, it.url)).collect()
    }
}

impl Web for FakeWeb {
    fn check(&self, url: &str) -> Result<(), WebError> {
        if url.contains("127.0.0.1") { Err(WebError::Private("127.0.0.1".into())) } else { Ok(()) }
    }

    fn send(&self, request: WebRequest) -> BoxFuture<'_, Result<WebAnswer, WebError>> {
        let answer = self.answers.lock().unwrap().get(&request.url).cloned();
        let hangs = self.hanging.lock().unwrap().contains(&request.url);
        self.sent.lock().unwrap().push(request);
        self.count.send_modify(|count| *count += 1);
        if hangs {
            return pending().boxed();
        }
        ready(answer.unwrap_or_else(|| Err(WebError::Failed("nobody is there".into())))).boxed()
    }
}
