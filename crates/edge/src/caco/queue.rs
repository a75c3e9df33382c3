//! Messages that wait for their turn: what they are, and calling one off.

use std::sync::Arc;

use axum::{
    Json as Reply,
    extract::{Path, State},
};
use kernel::{
    ports::StoreError,
    state::State as SessionState,
    update::{Fact, Seq, SessionId},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::sessions::{Success, known};
use crate::{
    App,
    error::{ApiError, ErrorBody},
};

#[derive(Serialize, ToSchema)]
#[schema(as = QueuedMessage)]
pub struct Queued {
    #[schema(value_type = u64)]
    seq: Seq,
    text: String,
    /// The `Idempotency-Key` it was sent with.
    key: Option<String>,
}

/// What waits in a session, in its order.
pub async fn waiting(
    app: &App,
    session: SessionId,
    state: &SessionState,
) -> Result<Vec<Queued>, StoreError> {
    let mut waiting = Vec::with_capacity(state.queue.len());
    for seq in state.queue.iter().copied() {
        let found = app.host.ports.log.read(session, seq.before(), 1).await?.pop();
        if let Some(Fact::Queued(message)) = found.map(|entry| entry.fact) {
            waiting.push(Queued { seq, text: message.text, key: message.key });
        }
    }
    Ok(waiting)
}

/// Call off a message that waits
///
/// By its `seq`, or by the `Idempotency-Key` it was sent with. One that was said by then is not
/// called off any more.
#[utoipa::path(delete, path = "/api/sessions/{id}/queue/{which}", tag = "messages",
    params(("id" = String, Path), ("which" = String, Path)),
    responses((status = 200, body = Success), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub async fn call_off(
    State(app): State<Arc<App>>,
    Path((text, which)): Path<(String, String)>,
) -> Result<Reply<Success>, ApiError> {
    let id = known(&text)?;
    let state = app.host.roster.get(id).ok_or_else(|| ApiError::no_session(&text))?;
    let absent = || ApiError::not_found(format!("no message waits, or has waited, as {which}"));
    let place = place(&app, id, &state, &which).await?.ok_or_else(absent)?;
    if app.host.unqueue(id, place).await? {
        return Ok(Reply(Success { success: true }));
    }
    Err(ApiError::conflict("this message waits no longer: it was said, or called off already"))
}

/// Where a message waits or has waited.
async fn place(
    app: &App,
    id: SessionId,
    state: &SessionState,
    which: &str,
) -> Result<Option<Seq>, StoreError> {
    let log = &app.host.ports.log;
    let seq = which.parse().ok().filter(|seq| *seq > 0).map(Seq);
    if let Some(seq) = seq.filter(|seq| *seq <= state.last) {
        let found = log.read(id, seq.before(), 1).await?.pop();
        if matches!(found.map(|entry| entry.fact), Some(Fact::Queued(_))) {
            return Ok(Some(seq));
        }
    }
    let found = log.keyed(id, which).await?;
    Ok(found.filter(|entry| matches!(entry.fact, Fact::Queued(_))).map(|entry| entry.seq))
}
