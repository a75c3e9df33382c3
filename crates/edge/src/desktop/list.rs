//! The devices there are and those there could be: names, keys, and how each stands.

use std::sync::Arc;

use axum::{
    Json as Reply,
    extract::{Path, State},
};
use jiff::Timestamp;
use kernel::desktop::{Armed, Devices, Info, Pause};
use remote::hello::is_name;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    arming::Region,
    passes::{PassError, Scope},
};
use crate::{
    App,
    caco::Iso,
    error::{ApiError, ErrorBody},
    extract::Json,
};

#[derive(Serialize, ToSchema)]
pub struct Status {
    /// Whether anything can be driven.
    connected: bool,
    sessions: Vec<Connected>,
    devices: Vec<Standing>,
}

/// A connection of a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the seed's names")]
struct Connected {
    client_id: String,
    #[schema(value_type = String)]
    connected_at: Iso,
    /// Milliseconds.
    uptime: i64,
}

/// A device that can be driven, and how it stands.
#[derive(Serialize, ToSchema)]
pub struct Standing {
    name: String,
    /// What drives it: `x11`, `wayland`, `native`. Empty if it does not say.
    backend: String,
    platform: String,
    armed: bool,
    /// Until when, in milliseconds since 1970.
    until: Option<i64>,
    /// What it is armed for: `look`, `point`, `type`, `act`, `clipboard`.
    classes: Vec<&'static str>,
    /// The parts of its screen that it is armed for; empty if something is lent for all of it.
    regions: Vec<Region>,
    /// Why it does nothing until it is handed back: `human`, `corner`, `panic` or `owner`.
    paused: Option<&'static str>,
    /// How many commands wait.
    queue: usize,
    screen: Option<Size>,
    commands: Vec<String>,
}

#[derive(Serialize, ToSchema)]
struct Size {
    w: u32,
    h: u32,
}

/// How the desktops stand
///
/// In the words of the protocol, with more beside them.
#[utoipa::path(get, path = "/api/status", tag = "desktop", responses((status = 200, body = Status)))]
pub async fn status(State(app): State<Arc<App>>) -> Reply<Status> {
    let now = app.hub.now();
    let session = |guest: super::hub::Guest| Connected {
        client_id: guest.client.to_string(),
        connected_at: Iso(guest.since),
        uptime: (now.as_millisecond() - guest.since.as_millisecond()).max(0),
    };
    let sessions = app.hub.guests().into_iter().map(session).collect();
    let devices = standings(&app).await;
    Reply(Status { connected: !devices.is_empty(), sessions, devices })
}

async fn standings(app: &App) -> Vec<Standing> {
    let devices = app.hub.devices();
    let mut standings = Vec::new();
    for (name, _) in devices.list() {
        standings.extend(standing(app, devices, name).await);
    }
    standings
}

pub async fn standing(app: &App, devices: &Devices, name: String) -> Option<Standing> {
    let desktop = devices.get(&name)?;
    let info = desktop.info().await.unwrap_or_else(|_| Info {
        platform: String::new(),
        backend: String::new(),
        screen: None,
        commands: Vec::new(),
        hears: false,
    });
    let guests = app.hub.guests();
    let here =
        guests.iter().find(|guest| guest.name == name).map_or(0, |guest| guest.remote.queue());
    let armed = devices.armed(&name, None);
    let (until, classes) = match armed {
        Armed::Until(until, classes) => (Some(until.as_millisecond()), classes),
        Armed::Never | Armed::Expired(_) => (None, Vec::new()),
    };
    Some(Standing {
        armed: until.is_some(),
        until,
        classes: classes.into_iter().map(kernel::desktop::Class::name).collect(),
        regions: devices.parts(&name, None).into_iter().map(Region::from).collect(),
        paused: devices.paused(&name).map(Pause::name),
        queue: here + desktop.states().borrow().queue,
        backend: info.backend,
        platform: info.platform,
        screen: info.screen.map(|(w, h)| Size { w, h }),
        commands: info.commands,
        name,
    })
}

#[derive(Serialize, ToSchema)]
pub struct DeviceList {
    devices: Vec<Listed>,
}

/// A device that is connected, or has a key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Listed {
    name: String,
    /// What its key is for; absent if it came with the owner's, or is the machine of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope>,
    /// When its key was made.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    made_at: Option<Iso>,
    connected: bool,
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    connected_at: Option<Iso>,
    /// How it stands, while it is connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<Standing>,
}

/// The devices there are
///
/// Those that are connected, and those that have a key.
#[utoipa::path(get, path = "/api/devices", tag = "desktop", responses((status = 200, body = DeviceList)))]
pub async fn list(State(app): State<Arc<App>>) -> Result<Reply<DeviceList>, ApiError> {
    let hub = &app.hub;
    let (passes, here) = (hub.passes.list().await?, hub.devices().list());
    let mut names: Vec<String> = passes.iter().map(|(name, _)| name.clone()).collect();
    names.extend(here.iter().map(|(name, _)| name.clone()));
    names.sort_unstable();
    names.dedup();
    let mut devices = Vec::new();
    for name in names {
        let pass = passes.iter().find(|(it, _)| *it == name).map(|(_, pass)| pass);
        let since: Option<Timestamp> =
            here.iter().find(|(it, _)| *it == name).map(|(_, since)| *since);
        let standing = standing(&app, hub.devices(), name.clone()).await;
        devices.push(Listed {
            scope: pass.map(|pass| pass.scope),
            made_at: pass.map(|pass| Iso(pass.made)),
            connected: standing.is_some(),
            connected_at: since.map(Iso),
            standing,
            name,
        });
    }
    Ok(Reply(DeviceList { devices }))
}

#[derive(Deserialize, ToSchema)]
pub struct NewDevice {
    /// 1 to 64 letters, digits, dots, dashes and underscores.
    #[schema(example = "studio")]
    name: String,
    /// What its key shall be good for; a device, if nothing is said.
    #[serde(default = "device")]
    scope: Scope,
}

fn device() -> Scope {
    Scope::Device
}

#[derive(Serialize, ToSchema)]
pub struct MadeKey {
    name: String,
    scope: Scope,
    /// It is told this once, and kept nowhere.
    key: String,
}

/// A key for a new device
///
/// With it `megaron desktop --connect` connects under this name, and does nothing else here. A key of
/// the scope `viewer` watches at `/connect?device=web-viewer`, and does nothing else either.
#[utoipa::path(post, path = "/api/devices", tag = "desktop", request_body = NewDevice,
    responses((status = 200, body = MadeKey), (status = 400, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub async fn add(
    State(app): State<Arc<App>>,
    Json(NewDevice { name, scope }): Json<NewDevice>,
) -> Result<Reply<MadeKey>, ApiError> {
    check(&name)?;
    let key = app.hub.passes.make(&name, scope).await?;
    Ok(Reply(MadeKey { name, scope, key }))
}

#[derive(Deserialize, ToSchema)]
pub struct NewName {
    name: String,
}

#[derive(Serialize, ToSchema)]
pub struct Renamed {
    ok: bool,
}

/// Another name for a device
///
/// Its key stays good. If it is connected, it comes back under its new name by itself.
#[utoipa::path(patch, path = "/api/devices/{name}", tag = "desktop", request_body = NewName,
    params(("name" = String, Path)),
    responses((status = 200, body = Renamed), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub async fn rename(
    State(app): State<Arc<App>>,
    Path(old): Path<String>,
    Json(NewName { name }): Json<NewName>,
) -> Result<Reply<Renamed>, ApiError> {
    check(&name)?;
    if !app.hub.passes.rename(&old, &name).await? {
        return Err(unknown(&old));
    }
    if old != name {
        app.hub.dismiss(&old, true);
    }
    Ok(Reply(Renamed { ok: true }))
}

/// Forget a device
///
/// Its key is void, and if it is connected it is sent away.
#[utoipa::path(delete, path = "/api/devices/{name}", tag = "desktop", params(("name" = String, Path)),
    responses((status = 200, body = Renamed), (status = 404, body = ErrorBody)))]
pub async fn forget(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Reply<Renamed>, ApiError> {
    let had_key = app.hub.passes.forget(&name).await?;
    let was_here = app.hub.dismiss(&name, false);
    app.hub.devices().disarm(&name, None);
    if had_key || was_here { Ok(Reply(Renamed { ok: true })) } else { Err(unknown(&name)) }
}

fn check(name: &str) -> Result<(), ApiError> {
    if !is_name(name) {
        let rule = "name must be 1 to 64 letters, digits, dots, dashes and underscores, and begin with a \
                    letter or a digit";
        return Err(ApiError::bad_request(rule));
    }
    if name == Devices::LOCAL {
        return Err(ApiError::bad_request("local is the machine of the server itself"));
    }
    Ok(())
}

fn unknown(name: &str) -> ApiError {
    ApiError::not_found(format!("Device not found: {name}"))
}

impl From<PassError> for ApiError {
    fn from(error: PassError) -> Self {
        match error {
            PassError::Taken => Self::conflict(error.to_string()),
            PassError::Store(error) => error.into(),
            PassError::Chance(_) => Self::internal(error.to_string()),
        }
    }
}
