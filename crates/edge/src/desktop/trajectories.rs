//! What was recorded on desktops over HTTP: begun and ended, listed, renamed, removed, done again.

use std::sync::Arc;

use axum::{
    Json as Reply,
    extract::{Path, State},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use kernel::desktop::{
    Again, By, Crop, DesktopError, Replay, Step, Stopped, Trajectory, TrajectoryError,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{arming::pick, screen::picture};
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::{Json, MaybeJson},
};

#[derive(Deserialize, ToSchema)]
pub struct RecordWish {
    /// Not needed if there is only one.
    device: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct RecordingBegun {
    device: String,
}

/// Record what is done on a device
///
/// Whoever does it, until it is kept by `POST /api/desktop/trajectories`. Secrets are not kept.
#[utoipa::path(post, path = "/api/desktop/record", tag = "desktop", request_body = RecordWish,
    responses((status = 200, body = RecordingBegun), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub async fn record(
    State(app): State<Arc<App>>,
    Json(RecordWish { device }): Json<RecordWish>,
) -> Result<Reply<RecordingBegun>, ApiError> {
    let device = pick(&app, device.as_deref())?;
    let begun = app.hub.devices().record(&device);
    begun.map_err(|error: DesktopError| ApiError::conflict(error.text))?;
    Ok(Reply(RecordingBegun { device }))
}

#[derive(Deserialize, ToSchema)]
pub struct KeepWish {
    device: Option<String>,
    /// Under which name it is kept; it is thrown away if there is none.
    name: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct KeptTrajectory {
    /// Absent if it was thrown away.
    #[serde(skip_serializing_if = "Option::is_none")]
    trajectory: Option<TrajectoryBody>,
}

/// End a recording, and keep it under a name
///
/// It goes on if the name cannot be had.
#[utoipa::path(post, path = "/api/desktop/trajectories", tag = "desktop", request_body = KeepWish,
    responses((status = 200, body = KeptTrajectory), (status = 400, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub async fn keep(
    State(app): State<Arc<App>>,
    Json(KeepWish { device, name }): Json<KeepWish>,
) -> Result<Reply<KeptTrajectory>, ApiError> {
    let device = match device {
        Some(device) => device,
        None => pick(&app, None)?,
    };
    let devices = app.hub.devices();
    let none = || ApiError::conflict("nothing is being recorded there");
    let recording = devices.recording(&device).ok_or_else(none)?;
    let kept = match name {
        Some(name) => {
            let steps = recording.into_steps();
            Some(app.host.trajectories.keep(&name, &device, steps).await?)
        }
        None => None,
    };
    devices.recorded(&device);
    Ok(Reply(KeptTrajectory { trajectory: kept.as_ref().map(body) }))
}

#[derive(Serialize, ToSchema)]
pub struct TrajectoryList {
    trajectories: Vec<TrajectoryBody>,
}

#[derive(Serialize, ToSchema)]
struct TrajectoryBody {
    id: String,
    name: String,
    /// Where it was recorded.
    device: String,
    /// Milliseconds since 1970.
    made: i64,
    steps: Vec<StepBody>,
}

#[derive(Serialize, ToSchema)]
struct StepBody {
    /// What it does, in a line.
    title: String,
    /// Whether it is looked before it that things are as they were.
    looks: bool,
}

fn body(trajectory: &Trajectory) -> TrajectoryBody {
    let step = |step: &Step| StepBody { title: step.motion.title(), looks: step.sight.is_some() };
    TrajectoryBody {
        id: trajectory.id.to_string(),
        name: trajectory.name.clone(),
        device: trajectory.device.clone(),
        made: trajectory.made.as_millisecond(),
        steps: trajectory.steps.iter().map(step).collect(),
    }
}

/// What was recorded, by name
#[utoipa::path(get, path = "/api/desktop/trajectories", tag = "desktop",
    responses((status = 200, body = TrajectoryList)))]
pub async fn list(State(app): State<Arc<App>>) -> Result<Reply<TrajectoryList>, ApiError> {
    let all = app.host.trajectories.list().await?;
    Ok(Reply(TrajectoryList { trajectories: all.iter().map(body).collect() }))
}

#[derive(Deserialize, ToSchema)]
pub struct TrajectoryName {
    name: String,
}

#[derive(Serialize, ToSchema)]
pub struct TrajectoryChanged {
    ok: bool,
}

/// Another name for what was recorded
#[utoipa::path(patch, path = "/api/desktop/trajectories/{id}", tag = "desktop",
    request_body = TrajectoryName, params(("id" = String, Path)),
    responses((status = 200, body = TrajectoryChanged), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub async fn rename(
    State(app): State<Arc<App>>,
    Path(text): Path<String>,
    Json(TrajectoryName { name }): Json<TrajectoryName>,
) -> Result<Reply<TrajectoryChanged>, ApiError> {
    let renamed = app.host.trajectories.rename(id(&text)?, &name).await?;
    renamed.map(|_| Reply(TrajectoryChanged { ok: true })).ok_or_else(|| unknown(&text))
}

/// Remove what was recorded
#[utoipa::path(delete, path = "/api/desktop/trajectories/{id}", tag = "desktop",
    params(("id" = String, Path)),
    responses((status = 200, body = TrajectoryChanged), (status = 404, body = ErrorBody)))]
pub async fn remove(
    State(app): State<Arc<App>>,
    Path(text): Path<String>,
) -> Result<Reply<TrajectoryChanged>, ApiError> {
    let was = app.host.trajectories.remove(id(&text)?).await?;
    was.then_some(Reply(TrajectoryChanged { ok: true })).ok_or_else(|| unknown(&text))
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(default)]
pub struct ReplayWish {
    /// The one where it was recorded, if none is named.
    device: Option<String>,
    /// How many steps are left out.
    from: usize,
    /// The first of the others is done whatever it looks like.
    anyway: bool,
}

#[derive(Serialize, ToSchema)]
pub struct ReplayBody {
    /// So many steps are done, those that were left out included.
    done: usize,
    of: usize,
    /// Why it did not go on: `differs`, `secret` or `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
    /// In a sentence.
    text: String,
    /// How it looked, and how it looks now: pictures as addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
}

/// Do again what was recorded
///
/// By the person's own hands: the device must have been taken over. Before each step it is looked
/// whether things are as they were. Answers when all is done, or with the step that cannot be done or
/// looks different.
#[utoipa::path(post, path = "/api/desktop/trajectories/{id}/replay", tag = "desktop",
    request_body = ReplayWish, params(("id" = String, Path)),
    responses((status = 200, body = ReplayBody), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub async fn replay(
    State(app): State<Arc<App>>,
    Path(text): Path<String>,
    MaybeJson(wish): MaybeJson<ReplayWish>,
) -> Result<Reply<ReplayBody>, ApiError> {
    let found = app.host.trajectories.get(id(&text)?).await?;
    let trajectory = found.ok_or_else(|| unknown(&text))?;
    let device = pick(&app, Some(wish.device.as_deref().unwrap_or(&trajectory.device)))?;
    let again = Again { from: wish.from, anyway: wish.anyway };
    let replay = app.host.replay(By::Hands, &device, &trajectory, again).await;
    Ok(Reply(told(replay)))
}

fn told(replay: Replay) -> ReplayBody {
    let text = replay.summary();
    let (stopped, expected, found) = match replay.stopped {
        None => (None, None, None),
        Some(Stopped::Differs { expected, found, .. }) => {
            (Some("differs"), address(&expected), found.as_ref().and_then(address))
        }
        Some(Stopped::Secret) => (Some("secret"), None, None),
        Some(Stopped::Failed(_)) => (Some("failed"), None, None),
    };
    ReplayBody { done: replay.done, of: replay.of, stopped, text, expected, found }
}

fn address(crop: &Crop) -> Option<String> {
    let png = picture(&crop.colours, crop.w, crop.h).ok()?;
    Some(format!("data:image/png;base64,{}", BASE64_STANDARD.encode(png)))
}

fn id(text: &str) -> Result<Uuid, ApiError> {
    Uuid::parse_str(text).map_err(|_| unknown(text))
}

fn unknown(text: &str) -> ApiError {
    ApiError::not_found(format!("Trajectory not found: {text}"))
}

impl From<TrajectoryError> for ApiError {
    fn from(error: TrajectoryError) -> Self {
        match error {
            TrajectoryError::Name | TrajectoryError::Empty => Self::bad_request(error.to_string()),
            TrajectoryError::Taken(_) => Self::conflict(error.to_string()),
            TrajectoryError::Store(error) => error.into(),
        }
    }
}
