//! What the person has allowed for longer, and how they take it back.

use std::sync::Arc;

use axum::{Json as Reply, extract::State};
use kernel::{approvals::Grant, update::SessionId};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{asked::caller_name, frames::Iso, sessions::Success};
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::SessionPath,
};

#[derive(Serialize, ToSchema)]
pub struct Grants {
    /// Those that hold, oldest first.
    grants: Vec<Shown>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Grant)]
pub struct Shown {
    #[schema(value_type = String)]
    id: Uuid,
    tool: String,
    /// For calls by such a caller alone.
    #[schema(example = "model")]
    caller: String,
    /// For one widget alone, while it is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    for_view: bool,
    /// In this session alone; in every one when absent.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<SessionId>,
    /// In runs of this schedule alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule_slug: Option<String>,
    /// For what is like this alone; `*` stands for anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Iso>,
    #[schema(value_type = String, format = DateTime)]
    granted_at: Iso,
}

impl From<Grant> for Shown {
    fn from(grant: Grant) -> Self {
        let Grant { id, tool, caller, session, schedule, pattern, expires, given } = grant;
        Self {
            id,
            tool,
            caller: caller_name(&caller),
            for_view: caller.view().is_some(),
            session_id: session,
            schedule_slug: schedule,
            pattern,
            expires_at: expires.map(Iso),
            granted_at: Iso(given),
        }
    }
}

/// What is allowed without asking
#[utoipa::path(get, path = "/api/grants", tag = "approvals",
    responses((status = 200, body = Grants)))]
pub async fn list(State(app): State<Arc<App>>) -> Reply<Grants> {
    let grants = app.host.approvals.all().into_iter().map(Shown::from).collect();
    Reply(Grants { grants })
}

/// Take back what was allowed
#[utoipa::path(delete, path = "/api/grants/{id}", tag = "approvals", params(SessionPath),
    responses((status = 200, body = Success), (status = 404, body = ErrorBody)))]
pub async fn revoke(
    State(app): State<Arc<App>>,
    SessionPath(text): SessionPath,
) -> Result<Reply<Success>, ApiError> {
    let absent = || ApiError::not_found(format!("Grant not found: {text}"));
    let id = Uuid::try_parse(&text).map_err(|_| absent())?;
    if !app.host.approvals.revoke(id).await? {
        return Err(absent());
    }
    Ok(Reply(Success { success: true }))
}
