//! How one session stands: what it does, what fills its context, and how to empty that.

use std::sync::Arc;

use axum::{Json as Reply, extract::State};
use kernel::{state::State as SessionState, update::SessionId};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    queue::{self, Queued},
    sessions::known,
    usage::Spent,
};
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::SessionPath,
};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    #[schema(value_type = String)]
    session_id: SessionId,
    /// `idle` while it is in memory, else `inactive`.
    #[schema(value_type = String, example = "idle")]
    status: &'static str,
    cwd: String,
    model: Option<String>,
    is_active: bool,
    is_busy: bool,
    /// What it may do without asking: `ask`, `auto-safe` or `full`.
    #[schema(value_type = String, example = "ask")]
    mode: &'static str,
    /// How many messages wait.
    queued: usize,
    /// Those, in their order.
    queued_messages: Vec<Queued>,
    #[serde(flatten)]
    filling: Filling,
    usage: Spent,
    /// What the last turn used, or the one that is running.
    turn_usage: Spent,
}

#[derive(Serialize, ToSchema)]
struct Filling {
    /// How many tokens the last step took up, as its provider counted them; null until it has.
    #[serde(rename = "contextUsed")]
    used: Option<u64>,
    /// How many its model takes; null while there is no such model.
    #[serde(rename = "contextWindow")]
    window: Option<u64>,
    /// From 1, empty, to 0, full; null where either of these is.
    #[serde(rename = "contextRemaining")]
    #[schema(minimum = 0, maximum = 1, example = 0.88)]
    remaining: Option<f64>,
}

impl Filling {
    fn of(state: &SessionState, window: Option<u64>) -> Self {
        let remaining = state.filled.zip(window.filter(|window| *window > 0));
        Self {
            used: state.filled,
            window,
            remaining: remaining.map(|(used, window)| free(used, window)),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share needs no more digits")]
fn free(used: u64, window: u64) -> f64 {
    window.saturating_sub(used) as f64 / window as f64
}

/// How a session stands
#[utoipa::path(get, path = "/api/sessions/{id}/state", tag = "sessions",
    params(SessionPath),
    responses((status = 200, body = Standing), (status = 404, body = ErrorBody)))]
pub async fn state(
    State(app): State<Arc<App>>,
    SessionPath(text): SessionPath,
) -> Result<Reply<Standing>, ApiError> {
    let id = known(&text)?;
    let state = app.host.roster.get(id).ok_or_else(|| ApiError::no_session(&text))?;
    let is_active = app.host.is_live(id);
    let window = app.host.ports.models.find(&state.model).map(|model| model.window());
    Ok(Reply(Standing {
        session_id: id,
        status: if is_active { "idle" } else { "inactive" },
        cwd: state.cwd.clone(),
        model: Some(state.model.clone()).filter(|model| !model.is_empty()),
        is_active,
        is_busy: state.is_busy(),
        mode: app.host.approvals.mode(&state).name(),
        queued: state.queue.len(),
        queued_messages: queue::waiting(&app, id, &state).await?,
        filling: Filling::of(&state, window),
        usage: state.spent.into(),
        turn_usage: state.turn_spent.into(),
    }))
}

#[derive(Serialize, ToSchema)]
pub struct Compacting {
    ok: bool,
    /// False if it was busy or has nothing to sum up.
    started: bool,
}

/// Sum up a session
///
/// From then on the model is shown a summary of what lies further back. Nothing is lost from the
/// log. The socket tells of the start and of the end.
#[utoipa::path(post, path = "/api/sessions/{id}/compact", tag = "sessions",
    params(SessionPath),
    responses((status = 200, body = Compacting), (status = 404, body = ErrorBody)))]
pub async fn compact(
    State(app): State<Arc<App>>,
    SessionPath(text): SessionPath,
) -> Result<Reply<Compacting>, ApiError> {
    let started = app.host.compact(known(&text)?).await?;
    Ok(Reply(Compacting { ok: true, started }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_remains_is_a_share_and_never_less_than_nothing() {
        let remaining = |filled, window| {
            let state = SessionState { filled, ..SessionState::default() };
            Filling::of(&state, window).remaining
        };
        assert_eq!(remaining(Some(25), Some(100)), Some(0.75));
        assert_eq!(remaining(Some(0), Some(100)), Some(1.0));
        assert_eq!(remaining(Some(101), Some(100)), Some(0.0));
        for (filled, window) in [(None, Some(100)), (Some(1), None), (Some(1), Some(0))] {
            assert_eq!(remaining(filled, window), None);
        }
    }
}
