//! What somebody is asked about, as it looks now: the place on a screen that would be touched.

use std::sync::Arc;

use axum::{
    extract::State,
    http::header::{CACHE_CONTROL, CONTENT_TYPE},
    response::{IntoResponse as _, Response},
};
use kernel::desktop::{Action, Desktop, Outcome, Point, Rect};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{arming::pick, screen::picture};
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::Params,
};

/// How far around a point it is worth looking.
const NEAR: u32 = 160;
/// And around the middle of a window, at most.
const FAR: u32 = 480;

#[derive(Deserialize, IntoParams)]
pub struct Where {
    /// The only one, if it is left out.
    device: Option<String>,
    /// In pixels of the screen; without a point it is the window in focus.
    x: Option<u32>,
    y: Option<u32>,
}

/// The place that a command would touch
///
/// A picture of the surroundings of a point, or of the window in focus, as they look now.
#[utoipa::path(get, path = "/api/desktop/target", tag = "desktop", params(Where),
    responses((status = 200, description = "a picture", content_type = "image/png"),
        (status = 400, body = ErrorBody), (status = 404, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub async fn target(
    State(app): State<Arc<App>>,
    Params(Where { device, x, y }): Params<Where>,
) -> Result<Response, ApiError> {
    let device = pick(&app, device.as_deref())?;
    let unknown = || ApiError::not_found(format!("Device not found: {device}"));
    let desktop = app.hub.devices().get(&device).ok_or_else(unknown)?;
    let pixels = desktop.glance(true).await.map_err(|error| ApiError::unavailable(error.text))?;
    let crop = if let Some((x, y)) = x.zip(y) {
        let outside = || ApiError::bad_request(format!("({x}, {y}) is not on the screen"));
        pixels.around(Point { x, y }, NEAR).ok_or_else(outside)?
    } else {
        let focus = in_focus(&*desktop).await.and_then(|(at, reach)| pixels.around(at, reach));
        let nothing = || ApiError::unavailable("the device shows nothing");
        let Rect { x, y, w, h } = pixels.mapping().screen;
        let middle = || pixels.around(Point { x: x + w / 2, y: y + h / 2 }, FAR);
        focus.or_else(middle).ok_or_else(nothing)?
    };
    let drawn = tokio::task::spawn_blocking(move || picture(&crop.colours, crop.w, crop.h)).await;
    let png = drawn.map_err(|error| ApiError::internal(error.to_string()))?;
    let png = png.map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(([(CONTENT_TYPE, "image/png"), (CACHE_CONTROL, "no-store")], png).into_response())
}

/// The middle of the window that gets what is typed, and how far it reaches.
async fn in_focus(desktop: &dyn Desktop) -> Option<(Point, u32)> {
    let Ok(Outcome::Windows(windows)) = desktop.act(Action::WindowList.into()).await else {
        return None;
    };
    let pane = windows.into_iter().find(|pane| pane.focused)?;
    let from = |corner: i32| u32::try_from(corner).unwrap_or(0);
    let at = Point { x: from(pane.x) + pane.w / 2, y: from(pane.y) + pane.h / 2 };
    Some((at, (pane.w.max(pane.h) / 2).clamp(NEAR, FAR)))
}
