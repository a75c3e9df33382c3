//! The open internet, as far as apps may be lent it: addresses that everybody can reach and no others.

use std::time::Duration;

use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
};

/// Whoever sends requests for others.
pub trait Web: Send + Sync {
    /// What can be said against an address before anybody is asked about it.
    fn check(&self, url: &str) -> Result<(), WebError>;

    /// Sends one request and takes in the whole answer; goes nowhere else on the way.
    fn send(&self, request: WebRequest) -> BoxFuture<'_, Result<WebAnswer, WebError>>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    /// How much of an answer is taken.
    pub most: usize,
    pub patience: Duration,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebAnswer {
    pub status: u16,
    pub reason: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum WebError {
    #[error("the request cannot be sent: {0}")]
    Bad(String),
    #[error("{0} is not on the open internet")]
    Private(String),
    #[error("the answer is too large")]
    TooLarge,
    #[error("it took too long")]
    TimedOut,
    #[error("{0}")]
    Failed(String),
}

/// A house without a way out.
pub struct NoWeb;

impl Web for NoWeb {
    fn check(&self, _: &str) -> Result<(), WebError> {
        Ok(())
    }

    fn send(&self, _: WebRequest) -> BoxFuture<'_, Result<WebAnswer, WebError>> {
        future::ready(Err(WebError::Failed("there is no way to the internet".into()))).boxed()
    }
}
