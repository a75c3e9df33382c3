//! A web of a few addresses, which remembers what was sent to them.

use std::{collections::BTreeMap, sync::Mutex};

use futures::{
    FutureExt as _,
    future::{BoxFuture, ready},
};
use kernel::web::{Web, WebAnswer, WebError, WebRequest};

#[derive(Default)]
pub struct FakeWeb {
    pub answers: Mutex<BTreeMap<String, Result<WebAnswer, WebError>>>,
    pub sent: Mutex<Vec<WebRequest>>,
}

impl FakeWeb {
    pub fn answer(&self, url: &str, answer: Result<WebAnswer, WebError>) {
        self.answers.lock().unwrap().insert(url.to_owned(), answer);
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
        self.sent.lock().unwrap().push(request);
        ready(answer.unwrap_or_else(|| Err(WebError::Failed("nobody is there".into())))).boxed()
    }
}
