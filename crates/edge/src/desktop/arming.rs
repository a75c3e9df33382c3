//! The person decides for how long a device may be driven, stops it, and gives it back.

use std::{sync::Arc, time::Duration};

use axum::{Json as Reply, extract::State};
use kernel::{
    desktop::{Arming, Class, Code, DesktopError, Pause, Rect},
    update::SessionId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::Json,
};

/// How long a device is armed if nothing is said.
const USUAL: u64 = 15 * 60;
const LONGEST: u64 = 8 * 60 * 60;

#[derive(Deserialize, ToSchema)]
pub struct ArmWish {
    /// Not needed if there is only one.
    device: Option<String>,
    /// For one session alone; all of them and the owner, if none is named.
    session: Option<String>,
    /// From 1 to 28800; 900 if absent.
    seconds: Option<u64>,
    /// `look`, `point`, `type`, `act`, `clipboard`; the first three if absent.
    classes: Option<Vec<String>>,
    /// The part of the screen that may be touched; all of it if absent. Pictures show everything.
    #[schema(value_type = Option<Region>)]
    region: Option<Map<String, Value>>,
}

/// A part of a screen, in its pixels.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub struct Region {
    x: u32,
    y: u32,
    #[schema(minimum = 1)]
    w: u32,
    #[schema(minimum = 1)]
    h: u32,
}

impl From<Rect> for Region {
    fn from(Rect { x, y, w, h }: Rect) -> Self {
        Self { x, y, w, h }
    }
}

impl Region {
    fn read(mut wish: Map<String, Value>) -> Result<Rect, ApiError> {
        let mut side = |name: &str, least: u32| {
            let said = wish.remove(name).unwrap_or_default();
            let side = said.as_u64().and_then(|it| u32::try_from(it).ok());
            side.filter(|it| *it >= least).ok_or_else(|| {
                let most = u32::MAX;
                let expected = format!("a whole number from {least} to {most}");
                ApiError::bad_request(format!("region.{name} must be {expected}, not {said}"))
            })
        };
        let rect = Rect { x: side("x", 0)?, y: side("y", 0)?, w: side("w", 1)?, h: side("h", 1)? };
        match wish.keys().next() {
            None => Ok(rect),
            Some(name) => {
                let text = format!("region holds `{name}`; expected x, y, w and h alone");
                Err(ApiError::bad_request(text))
            }
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct ArmState {
    device: String,
    armed: bool,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<i64>,
    classes: Vec<&'static str>,
    /// The parts of the screen that may be touched; empty if something is lent for all of it.
    regions: Vec<Region>,
    /// Why it does nothing until it is handed back.
    paused: Option<&'static str>,
    /// What is different on this device from what one would expect, told when it is armed.
    #[serde(skip_serializing_if = "Option::is_none")]
    caution: Option<&'static str>,
}

#[derive(Deserialize, ToSchema)]
pub struct Which {
    device: Option<String>,
}

/// Let a device be driven for a while
///
/// Nothing is driven before. A later wish takes the place of an earlier one.
#[utoipa::path(post, path = "/api/desktop/arm", tag = "desktop", request_body = ArmWish,
    responses((status = 200, body = ArmState), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub async fn arm(
    State(app): State<Arc<App>>,
    Json(wish): Json<ArmWish>,
) -> Result<Reply<ArmState>, ApiError> {
    let device = pick(&app, wish.device.as_deref())?;
    let seconds = wish.seconds.unwrap_or(USUAL);
    if !(1..=LONGEST).contains(&seconds) {
        return Err(ApiError::bad_request(format!("seconds must be between 1 and {LONGEST}")));
    }
    let classes =
        wish.classes.map_or_else(|| Ok(vec![Class::Look, Class::Point, Class::Type]), read)?;
    let area = wish.region.map(Region::read).transpose()?;
    let session = wish.session.as_deref().map(|text| {
        let id = SessionId::parse(text).filter(|id| app.host.roster.get(*id).is_some());
        id.ok_or_else(|| ApiError::no_session(text))
    });
    let until = app.hub.now() + Duration::from_secs(seconds);
    let session = session.transpose()?;
    app.host.arm(Arming { device: device.clone(), session, classes, until, area }).await?;
    let caution = caution(&app, &device).await;
    Ok(Reply(ArmState { caution, ..state(&app, device, session) }))
}

/// A device that does not say what drives it has none.
async fn caution(app: &App, device: &str) -> Option<&'static str> {
    let info = app.hub.devices().get(device)?.info().await;
    info.ok().and_then(|info| info.caution())
}

fn read(names: Vec<String>) -> Result<Vec<Class>, ApiError> {
    let read = |name: String| {
        Class::parse(&name).ok_or_else(|| {
            let known: Vec<&str> = Class::ALL.into_iter().map(Class::name).collect();
            let known = known.join(", ");
            ApiError::bad_request(format!("classes holds `{name}`; expected some of {known}"))
        })
    };
    names.into_iter().map(read).collect()
}

/// Let nobody drive a device any more
#[utoipa::path(post, path = "/api/desktop/disarm", tag = "desktop", request_body = Which,
    responses((status = 200, body = ArmState), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub async fn disarm(
    State(app): State<Arc<App>>,
    Json(Which { device }): Json<Which>,
) -> Result<Reply<ArmState>, ApiError> {
    let device = pick(&app, device.as_deref())?;
    app.host.disarm(&device, None, "the owner").await;
    Ok(Reply(state(&app, device, None)))
}

/// Stop a device
///
/// Whatever is done there ends, and nothing is done until it is handed back.
#[utoipa::path(post, path = "/api/desktop/stop", tag = "desktop", request_body = Which,
    responses((status = 200, body = ArmState), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub async fn stop(
    State(app): State<Arc<App>>,
    Json(Which { device }): Json<Which>,
) -> Result<Reply<ArmState>, ApiError> {
    let device = pick(&app, device.as_deref())?;
    // It is stopped on our side whatever the device says; what it could not do is worth a line.
    if let Err(error) = app.host.stop_desktop(&device, Pause::Owner).await {
        tracing::warn!(device, %error, "a device did not stop as it should");
    }
    Ok(Reply(state(&app, device, None)))
}

/// Take a device into your own hands
///
/// As with stopping it, nothing else is done there until it is handed back; what you do over its
/// screen's socket is.
#[utoipa::path(post, path = "/api/desktop/take_over", tag = "desktop", request_body = Which,
    responses((status = 200, body = ArmState), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub async fn take_over(
    State(app): State<Arc<App>>,
    Json(Which { device }): Json<Which>,
) -> Result<Reply<ArmState>, ApiError> {
    let device = pick(&app, device.as_deref())?;
    let taken = app.host.take_over(&device).await;
    taken.map_err(|error| ApiError::conflict(error.text))?;
    Ok(Reply(state(&app, device, None)))
}

/// Hand a device back to the agents
#[utoipa::path(post, path = "/api/desktop/hand_back", tag = "desktop", request_body = Which,
    responses((status = 200, body = ArmState), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub async fn hand_back(
    State(app): State<Arc<App>>,
    Json(Which { device }): Json<Which>,
) -> Result<Reply<ArmState>, ApiError> {
    let device = pick(&app, device.as_deref())?;
    let handed = app.host.hand_back(&device).await;
    handed.map_err(|error| ApiError::conflict(error.text))?;
    Ok(Reply(state(&app, device, None)))
}

pub fn pick(app: &App, named: Option<&str>) -> Result<String, ApiError> {
    app.hub.devices().pick(named, None).map_err(|error: DesktopError| match error.code {
        Code::Disconnected | Code::NoDisplay => ApiError::not_found(error.text),
        _ => ApiError::bad_request(error.text),
    })
}

fn state(app: &App, device: String, session: Option<SessionId>) -> ArmState {
    use kernel::desktop::Armed;
    let devices = app.hub.devices();
    let (until, classes) = match devices.armed(&device, session) {
        Armed::Until(until, classes) => (Some(until.as_millisecond()), classes),
        Armed::Never | Armed::Expired(_) => (None, Vec::new()),
    };
    ArmState {
        armed: until.is_some(),
        until,
        classes: classes.into_iter().map(Class::name).collect(),
        regions: devices.parts(&device, session).into_iter().map(Region::from).collect(),
        paused: devices.paused(&device).map(Pause::name),
        caution: None,
        device,
    }
}
