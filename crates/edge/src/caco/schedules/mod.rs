//! Schedules over HTTP: found, made, changed, run and removed.

mod hear;
pub mod leave;
pub mod runs;
mod say;

use std::sync::Arc;

use axum::{
    Json as Reply,
    extract::{FromRequestParts, Path, State},
    http::request::Parts,
};
use jiff::Timestamp;
use kernel::schedule::{RunError, Schedule, is_slug};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::{frames::Iso, sessions::Success};
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::Json,
};
use hear::{Changes, Wish};
use leave::{NeedShown, bind};
use say::Item;

/// The name of a schedule as the caller wrote it, which is how errors quote it.
#[derive(IntoParams)]
#[into_params(names("slug"), parameter_in = Path)]
pub struct SlugPath(pub String);

impl<S: Send + Sync> FromRequestParts<S> for SlugPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(slug)| Self(slug)).map_err(|_| ApiError::bad_request("Invalid slug"))
    }
}

fn absent(slug: &str) -> ApiError {
    ApiError::not_found(format!("Schedule not found: {slug}"))
}

fn found(app: &App, slug: &str) -> Result<(Arc<Schedule>, Option<Timestamp>), ApiError> {
    app.host.schedules.get(slug).ok_or_else(|| absent(slug))
}

#[derive(Serialize, ToSchema)]
pub struct ScheduleList {
    /// By name.
    schedules: Vec<Item>,
}

/// All schedules
///
/// Every client hears `schedule.changed` when one of them changes or comes a step further.
#[utoipa::path(get, path = "/api/schedule", tag = "schedules",
    responses((status = 200, body = ScheduleList)))]
pub async fn list(State(app): State<Arc<App>>) -> Reply<ScheduleList> {
    let schedules = app.host.schedules.all().into_iter();
    let schedules = schedules.map(|(schedule, next)| Item::new(&schedule, next)).collect();
    Reply(ScheduleList { schedules })
}

/// A schedule
#[utoipa::path(get, path = "/api/schedule/{slug}", tag = "schedules", params(SlugPath),
    responses((status = 200, body = Item), (status = 404, body = ErrorBody)))]
pub async fn show(
    State(app): State<Arc<App>>,
    SlugPath(slug): SlugPath,
) -> Result<Reply<Item>, ApiError> {
    let (schedule, next) = found(&app, &slug)?;
    Ok(Reply(Item::new(&schedule, next)))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Put {
    slug: String,
    #[schema(value_type = Option<String>, format = DateTime)]
    next_run: Option<Iso>,
    created: bool,
    /// With `rehearse`: what it would need and has no leave for.
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<Vec<NeedShown>>,
    /// With `rehearse`: what went wrong, so that there may be more needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
}

/// Make or replace a schedule
///
/// A name is small letters, digits and hyphens, at most 64; `preview` is taken. What it did so far stays.
#[utoipa::path(put, path = "/api/schedule/{slug}", tag = "schedules", params(SlugPath),
    request_body = Wish,
    responses((status = 200, body = Put), (status = 400, body = ErrorBody)))]
pub async fn put(
    State(app): State<Arc<App>>,
    SlugPath(slug): SlugPath,
    Json(wish): Json<Wish>,
) -> Result<Reply<Put>, ApiError> {
    if !is_slug(&slug) {
        return Err(ApiError::bad_request("Invalid slug"));
    }
    let grants = wish.grants()?;
    let rehearse = wish.rehearse;
    let definition = wish.read(&app)?;
    let rehearsed =
        if rehearse { Some(app.host.rehearse(&slug, &definition).await?) } else { None };
    let model = definition.model.clone();
    let (next, created) = app.host.schedules.put(&slug, definition).await?;
    bind(&app, &slug, model.as_deref(), grants).await?;
    let trouble = rehearsed.as_ref().and_then(|it| it.trouble.clone());
    let needs = rehearsed.map(|it| it.needs.iter().map(NeedShown::from).collect());
    Ok(Reply(Put { slug, next_run: next.map(Iso), created, needs, trouble }))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    slug: String,
    enabled: bool,
    #[schema(value_type = Option<String>, format = DateTime)]
    next_run: Option<Iso>,
}

/// Change a schedule
///
/// What is absent stays as it is. With `enabled` true it begins anew from now.
#[utoipa::path(patch, path = "/api/schedule/{slug}", tag = "schedules", params(SlugPath),
    request_body = Changes,
    responses((status = 200, body = Changed), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub async fn change(
    State(app): State<Arc<App>>,
    SlugPath(slug): SlugPath,
    Json(changes): Json<Changes>,
) -> Result<Reply<Changed>, ApiError> {
    let (schedule, _) = found(&app, &slug)?;
    let anew = changes.begins_anew();
    let definition = changes.apply(&app, schedule.definition.clone())?;
    if anew || definition != schedule.definition {
        app.host.schedules.revise(&slug, definition, anew).await?;
    }
    let (schedule, next) = found(&app, &slug)?;
    let enabled = schedule.definition.enabled;
    Ok(Reply(Changed { slug, enabled, next_run: next.map(Iso) }))
}

/// Remove a schedule
///
/// Its ledger and what it was allowed go with it; the sessions it ran in stay.
#[utoipa::path(delete, path = "/api/schedule/{slug}", tag = "schedules", params(SlugPath),
    responses((status = 200, body = Success), (status = 404, body = ErrorBody)))]
pub async fn remove(
    State(app): State<Arc<App>>,
    SlugPath(slug): SlugPath,
) -> Result<Reply<Success>, ApiError> {
    if !app.host.remove_schedule(&slug).await? {
        return Err(absent(&slug));
    }
    Ok(Reply(Success { success: true }))
}

impl From<RunError> for ApiError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Unknown(slug) => absent(&slug),
            RunError::Running(_) => Self::conflict(error.to_string()),
            RunError::Open(error) => error.into(),
            RunError::Post(error) => error.into(),
        }
    }
}
