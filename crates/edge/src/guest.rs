//! A protocol that lives in another room, mounted behind our own door.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use axum::{
    body::{Body, HttpBody},
    extract::Request,
    http::{Response, header},
};
use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture};
use tower::{BoxError, Service, ServiceExt as _, util::BoxCloneSyncService};

use crate::socket::Closing;

/// A service of HTTP requests, for those whom we have let in.
#[derive(Clone)]
pub struct Guest(BoxCloneSyncService<Request, Response<Body>, Infallible>);

impl Guest {
    pub fn new<S, B>(service: S) -> Self
    where
        S: Service<Request, Response = Response<B>, Error = Infallible>,
        S: Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self(BoxCloneSyncService::new(service.map_response(|answer| answer.map(Body::new))))
    }

    pub(crate) fn until(self, closing: Closing) -> Mounted {
        Mounted { guest: self, closing }
    }
}

/// It hears no secrets, and its answers end when the house closes.
#[derive(Clone)]
pub struct Mounted {
    guest: Guest,
    closing: Closing,
}

impl Service<Request> for Mounted {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.guest.0.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        for secret in [header::AUTHORIZATION, header::COOKIE] {
            request.headers_mut().remove(secret);
        }
        let mut closing = self.closing.subscribe();
        let closed = async move {
            // An error means that the house is gone.
            closing.wait_for(|closing| *closing).await.ok();
        };
        let answering = self.guest.0.call(request);
        async move {
            let answer = answering.await?;
            let until = |body: Body| {
                let pieces = body.into_data_stream().take_until(closed);
                Body::from_stream(pieces)
            };
            // What is whole already keeps its length.
            Ok(if answer.body().is_end_stream() || answer.body().size_hint().exact().is_some() {
                answer
            } else {
                answer.map(until)
            })
        }
        .boxed()
    }
}
