//! The windows of a session over HTTP: what is open, and what the person does with it.

mod frames;
mod hands;
mod inspect;

use std::sync::Arc;

use axum::{
    Json as Reply,
    extract::{Path, State},
    response::{IntoResponse as _, Response},
};
use kernel::{
    host::ArrangeError,
    update::SessionId,
    windows::{By, Named, WindowChange, WindowError, Wish},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::{Json, LARGE, Params},
};
use frames::{Change, NewWindow, Shown, Windows};

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, open))
        .routes(routes!(change, close))
        .merge(hands::routes())
        .merge(inspect::routes())
}

#[derive(Deserialize, IntoParams)]
pub struct OfSession {
    /// Whose windows.
    session: String,
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
pub struct OnMonitor {
    /// Whose window.
    session: String,
    /// Where the caller is, for an id that several monitors have.
    monitor_id: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = WindowClosed)]
pub struct Closed {
    ok: bool,
}

/// Windows that are open
///
/// In the order in which they were opened, each with what it shows.
#[utoipa::path(get, path = "/api/windows", tag = "windows", params(OfSession),
    responses((status = 200, body = Windows), (status = 404, body = ErrorBody)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Params(OfSession { session }): Params<OfSession>,
) -> Result<Response, ApiError> {
    let windows = app.host.windows(known(&session)?).await?;
    Ok(Reply(Windows::of(&windows)).into_response())
}

/// Open a window
///
/// As the person. One of the same id is replaced. What may be in `content.data` depends on
/// `content.renderer`: a string for `markdown`, `html` and `text`; `{headers, rows}` for `table`; an
/// address for `iframe` and `image`, which may also be a data URL.
#[utoipa::path(post, path = "/api/windows", tag = "windows", request_body = NewWindow,
    responses((status = 200, body = Shown), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 413, body = ErrorBody)))]
pub async fn open(
    State(app): State<Arc<App>>,
    Json(new): Json<NewWindow, LARGE>,
) -> Result<Response, ApiError> {
    let (session, opening) = new.read(|| format!("window-{}", app.host.ports.clock.id()))?;
    let id = known(&session)?;
    let pane = app.host.arrange(id, Wish::Open(Box::new(opening)), By::Person).await?;
    Ok(Reply(Shown::of(&pane)).into_response())
}

/// Change a window
///
/// As the person. What is absent stays as it is; everything is done, or nothing.
#[utoipa::path(patch, path = "/api/windows/{id}", tag = "windows", request_body = Change,
    params(("id" = String, Path, description = "The `windowId`, or with its monitor: `monitor-0%2Fdock`.")),
    responses((status = 200, body = Shown), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 413, body = ErrorBody)))]
pub async fn change(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, axum::extract::rejection::PathRejection>,
    Json(change): Json<Change, LARGE>,
) -> Result<Response, ApiError> {
    let id = known(&change.session)?;
    let window = Named { name: read(name)?, monitor: change.monitor_id.clone() };
    let windows = app.host.windows(id).await?;
    let bounds = windows.find(&window.name, window.monitor.as_deref())?.window.bounds;
    // Let go, or the change would be made in a copy.
    drop(windows);
    let changes: Vec<WindowChange> = change.read(bounds)?;
    let pane = app.host.arrange(id, Wish::Change { window, changes }, By::Person).await?;
    Ok(Reply(Shown::of(&pane)).into_response())
}

/// Close a window
///
/// As the person.
#[utoipa::path(delete, path = "/api/windows/{id}", tag = "windows",
    params(("id" = String, Path, description = "The `windowId`, or with its monitor: `monitor-0%2Fdock`."),
        OnMonitor),
    responses((status = 200, body = Closed), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub async fn close(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, axum::extract::rejection::PathRejection>,
    Params(OnMonitor { session, monitor_id }): Params<OnMonitor>,
) -> Result<Reply<Closed>, ApiError> {
    let id = known(&session)?;
    let window = Named { name: read(name)?, monitor: monitor_id };
    app.host.arrange(id, Wish::Close { window }, By::Person).await?;
    Ok(Reply(Closed { ok: true }))
}

fn known(session: &str) -> Result<SessionId, ApiError> {
    SessionId::parse(session).ok_or_else(|| ApiError::no_session(session))
}

fn read(
    name: Result<Path<String>, axum::extract::rejection::PathRejection>,
) -> Result<String, ApiError> {
    name.map(|Path(name)| name).map_err(|_| ApiError::bad_request("Invalid window id"))
}

impl From<ArrangeError> for ApiError {
    fn from(error: ArrangeError) -> Self {
        match error {
            ArrangeError::Open(error) => error.into(),
            ArrangeError::Window(error) => error.into(),
        }
    }
}

impl From<WindowError> for ApiError {
    fn from(error: WindowError) -> Self {
        let message = error.to_string();
        match error {
            WindowError::Unknown(_) => Self::not_found(message),
            WindowError::Ambiguous { .. } | WindowError::TooMany => Self::conflict(message),
            WindowError::Bad(_) => Self::bad_request(message),
            WindowError::TooLarge(_) => Self::too_large(message),
            WindowError::Store(error) => error.into(),
        }
    }
}
