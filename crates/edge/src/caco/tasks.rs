//! What agents mean to do, and how far they have come, as this API shows it.

use std::sync::Arc;

use axum::{
    Json as Reply,
    extract::State,
    response::{IntoResponse as _, Response},
};
use kernel::{
    tasks::{self, Close, Progress, Visibility},
    update::SessionId,
};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::approvals::OfSession;
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::Params,
};

#[derive(Serialize, ToSchema)]
pub struct Task<'a> {
    #[schema(value_type = String)]
    id: Uuid,
    title: &'a str,
    steps: Vec<Step<'a>>,
    /// `show` or `hide`, where the agent has decided it.
    #[serde(skip_serializing_if = "Option::is_none")]
    visibility: Option<&'static str>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = TaskStep)]
struct Step<'a> {
    text: &'a str,
    /// `pending`, `active`, `done`, `failed` or `skipped`.
    #[schema(value_type = String, example = "active")]
    status: &'static str,
}

impl<'a> From<&'a tasks::Task> for Task<'a> {
    fn from(tasks::Task { id, title, steps, visibility, .. }: &'a tasks::Task) -> Self {
        let step = |it: &'a tasks::Step| Step { text: &it.text, status: status(it.progress) };
        let visibility = (*visibility != Visibility::Auto).then(|| visibility.name());
        Self { id: *id, title, steps: steps.iter().map(step).collect(), visibility }
    }
}

fn status(progress: Progress) -> &'static str {
    match progress {
        Progress::Pending => "pending",
        Progress::Active => "active",
        Progress::Done => "done",
        Progress::Failed => "failed",
        Progress::Skipped => "skipped",
    }
}

pub fn closed(close: Close) -> &'static str {
    match close {
        Close::Done => "done",
        Close::Failed => "failed",
        Close::Cancelled => "cancelled",
    }
}

#[derive(Serialize, ToSchema)]
pub struct Tasks<'a> {
    /// Oldest first.
    tasks: Vec<OpenTask<'a>>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct OpenTask<'a> {
    #[schema(value_type = String)]
    session_id: SessionId,
    #[serde(flatten)]
    task: Task<'a>,
}

/// Tasks that are open
#[utoipa::path(get, path = "/api/tasks", tag = "approvals", params(OfSession),
    responses((status = 200, body = Tasks), (status = 404, body = ErrorBody)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Params(which): Params<OfSession>,
) -> Result<Response, ApiError> {
    let only = which.read(&app)?;
    let sessions = app.host.roster.all();
    let open = sessions.iter().filter(|(id, _)| only.is_none_or(|only| only == *id));
    let shown = open.filter_map(|(id, state)| {
        let task = Task::from(state.task.as_ref()?);
        Some(OpenTask { session_id: *id, task })
    });
    let mut tasks: Vec<OpenTask<'_>> = shown.collect();
    tasks.sort_unstable_by_key(|open| open.task.id);
    Ok(Reply(Tasks { tasks }).into_response())
}
