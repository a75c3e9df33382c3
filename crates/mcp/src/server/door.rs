//! The way in over HTTP. Knows nothing of keys: whoever mounts it decides who gets here.

use std::{
    convert::Infallible,
    fmt::Display,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures::{FutureExt as _, future::BoxFuture};
use http::{Method, Request, StatusCode};
use http_body::Body;
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService},
};
use tower::Service;

use super::{callers::Callers, guest::Guest, house::House};

/// A service of `http` requests.
pub struct Door<H>(Streamable<H>);

type Streamable<H> = StreamableHttpService<H, Callers>;

impl<H> Clone for Door<H> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<H, B> Service<Request<B>> for Door<H>
where
    H: ServerHandler,
    B: Body<Data: Send, Error: Display> + Send + 'static,
{
    type Response = <Streamable<H> as Service<Request<B>>>::Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<Request<B>>::poll_ready(&mut self.0, context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let leaves = request.method() == Method::DELETE;
        let answering = self.0.call(request);
        async move {
            let mut answer = answering.await?;
            // It is done by now, and some clients take anything less for a failure.
            if leaves && answer.status() == StatusCode::ACCEPTED {
                *answer.status_mut() = StatusCode::NO_CONTENT;
            }
            Ok(answer)
        }
        .boxed()
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many clients may keep a connection.
    pub callers: usize,
    /// After so long without a word, one that does not listen is let go.
    pub silence: Duration,
    /// How large a message may be.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { callers: 256, silence: Duration::from_mins(30), bytes: 16 << 20 }
    }
}

/// The door to this house. Needs a runtime.
pub fn door(house: Arc<House>, limits: Limits) -> Door<Guest> {
    door_to(move || Guest::new(house.clone()), limits)
}

/// The same door, with somebody else behind it.
pub fn door_to<H>(make: impl Fn() -> H + Send + Sync + 'static, limits: Limits) -> Door<H>
where
    H: ServerHandler,
{
    // Host and Origin are looked at by whoever mounts it, by names that only they know.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(limits.bytes);
    Door(StreamableHttpService::new(move || Ok(make()), Callers::new(limits), config))
}
