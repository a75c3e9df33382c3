//! The way to the web as it is lent to apps: any method, behind the same guard.

use std::error::Error as _;

use futures::{FutureExt as _, future::BoxFuture};
use kernel::web::{Web, WebAnswer, WebError, WebRequest};
use reqwest::{Method, RequestBuilder, Response, Url, header::HeaderMap};

use super::{Fetcher, explain, resolver::Private};

impl Web for Fetcher {
    fn check(&self, url: &str) -> Result<(), WebError> {
        self.meant(url).map(drop)
    }

    fn send(&self, request: WebRequest) -> BoxFuture<'_, Result<WebAnswer, WebError>> {
        async move {
            let patience = request.patience;
            let sent = tokio::time::timeout(patience, self.lend(request)).await;
            sent.unwrap_or(Err(WebError::TimedOut))
        }
        .boxed()
    }
}

impl Fetcher {
    fn meant(&self, url: &str) -> Result<Url, WebError> {
        let url = Url::parse(url).map_err(|error| WebError::Bad(error.to_string()))?;
        if self.guard.is_private(&url) {
            return Err(WebError::Private(url.host_str().unwrap_or_default().to_owned()));
        }
        self.guard.check(&url).map_err(WebError::Bad)?;
        Ok(url)
    }

    async fn lend(&self, request: WebRequest) -> Result<WebAnswer, WebError> {
        let url = self.meant(&request.url)?;
        let bad = |_| WebError::Bad(format!("no method is called `{}`", request.method));
        let method = Method::from_bytes(request.method.as_bytes()).map_err(bad)?;
        let client = self.client().map_err(WebError::Failed)?;
        let sending = client.request(method, url.clone());
        let sending = headed(sending, &request.headers);
        let sending = request.body.into_iter().fold(sending, RequestBuilder::body);
        let answer = sending.send().await.map_err(|error| failed(&url, error))?;
        receive(&url, answer, request.most).await
    }
}

fn headed(sending: RequestBuilder, headers: &[(String, String)]) -> RequestBuilder {
    headers.iter().fold(sending, |sending, (name, value)| sending.header(name, value))
}

async fn receive(url: &Url, mut answer: Response, most: usize) -> Result<WebAnswer, WebError> {
    if answer.content_length().is_some_and(|length| length > most as u64) {
        return Err(WebError::TooLarge);
    }
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| failed(url, error))? {
        if body.len() + chunk.len() > most {
            return Err(WebError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    let status = answer.status();
    let reason = status.canonical_reason().unwrap_or_default().to_owned();
    Ok(WebAnswer { status: status.as_u16(), reason, headers: told(answer.headers()), body })
}

fn told(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    headers.iter().filter_map(text).collect()
}

fn failed(url: &Url, error: reqwest::Error) -> WebError {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(Private(host)) = inner.downcast_ref() {
            return WebError::Private(host.clone());
        }
        cause = inner.source();
    }
    if error.is_builder() {
        return WebError::Bad(error.without_url().to_string());
    }
    WebError::Failed(explain(url, error))
}
