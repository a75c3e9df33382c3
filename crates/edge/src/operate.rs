//! For whoever runs the server: is it well, what does it count, what does the log say.

use std::sync::Arc;

use axum::{
    Json as Reply,
    extract::{MatchedPath, Request, State},
    http::header,
    middleware::Next,
    response::{IntoResponse, Response},
};
use kernel::update::{Entry, Seq, SessionId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::Params,
};

const PAGE: usize = 1000;

/// Open to all, and says nothing but that it is there.
pub async fn health() -> impl IntoResponse {
    Reply(serde_json::json!({ "status": "ok" }))
}

pub async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    metrics::gauge!("megaron_sessions").set(count(app.host.roster.len()));
    metrics::gauge!("megaron_unobserved_sessions").set(count(app.host.roster.unobserved()));
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], (app.metrics)())
}

/// Counts requests by route, never by what the caller wrote.
pub async fn count(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or_else(|| "other".to_owned(), |route| route.as_str().to_owned());
    let method = request.method().as_str().to_owned();
    let started = std::time::Instant::now();
    let response = next.run(request).await;
    let status = response.status().as_u16().to_string();
    let labels = [("method", method), ("route", route), ("status", status)];
    metrics::counter!("megaron_requests_total", &labels).increment(1);
    metrics::histogram!("megaron_request_seconds").record(started.elapsed().as_secs_f64());
    response
}

#[derive(Deserialize, IntoParams)]
pub struct Which {
    session: String,
    /// Only what came after this; 0 when absent.
    #[serde(default)]
    after: u64,
    /// At most 1000, which is also what is meant when absent.
    limit: Option<usize>,
}

#[derive(Serialize, ToSchema)]
pub struct LogPage {
    /// As they are kept.
    #[schema(value_type = Vec<Object>)]
    facts: Vec<Entry>,
    /// Where to read on, as `after`; absent at the end.
    #[schema(value_type = Option<u64>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Seq>,
    /// The end of the log.
    #[schema(value_type = u64)]
    last: Seq,
}

/// The log of a session as it is kept
///
/// For inspection. This is the one place where facts leave the house as they are: their shape is
/// that of the log, and it may grow. Programs that should last use the events of the socket.
#[utoipa::path(get, path = "/api/log", tag = "log", params(Which),
    responses((status = 200, body = LogPage), (status = 404, body = ErrorBody)))]
pub async fn log(
    State(app): State<Arc<App>>,
    Params(Which { session, after, limit }): Params<Which>,
) -> Result<Reply<LogPage>, ApiError> {
    let id = SessionId::parse(&session);
    let known = id.and_then(|id| Some((id, app.host.roster.get(id)?)));
    let (id, state) = known.ok_or_else(|| ApiError::no_session(&session))?;
    let limit = limit.unwrap_or(PAGE).clamp(1, PAGE);
    let facts = app.host.ports.log.read(id, Seq(after), limit).await?;
    let next = facts.last().map(|entry| entry.seq).filter(|read| *read < state.last);
    Ok(Reply(LogPage { facts, next, last: state.last }))
}
