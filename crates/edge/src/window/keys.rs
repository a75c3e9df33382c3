//! The keys of devices over HTTP: made, listed and revoked by the owner.

use std::{iter, sync::Arc};

use axum::{
    Json as Reply,
    extract::{Path, State},
};
use kernel::{
    ports::StoreError,
    roster::News,
    update::{Fact, SessionId},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{reach::Reach, story::Asker};
use crate::{
    App,
    caco::Iso,
    devices::{Device, NAME_CHARS, PairError, Scope, Wanted},
    error::{ApiError, ErrorBody},
    extract::Json,
};

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, pair)).routes(routes!(revoke))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    id: String,
    name: String,
    scope: Scope,
    /// Its conversation; null for the one that phones share.
    #[schema(value_type = Option<String>)]
    session_id: Option<SessionId>,
    #[schema(value_type = String)]
    created_at: Iso,
    #[schema(value_type = Option<String>)]
    last_seen_at: Option<Iso>,
    /// Whether it is connected now.
    connected: bool,
}

impl Shown {
    fn of(app: &App, device: &Device) -> Self {
        Self {
            id: device.id.clone(),
            name: device.name.clone(),
            scope: device.scope,
            session_id: device.session,
            created_at: Iso(device.created),
            last_seen_at: device.seen().map(Iso),
            connected: app.phones.of(&device.id).is_here(),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct Listed {
    /// Oldest first.
    keys: Vec<Shown>,
    #[serde(flatten)]
    reach: Reach,
}

/// Devices that were paired
#[utoipa::path(get, path = "/api/keys", tag = "phone", responses((status = 200, body = Listed)))]
async fn list(State(app): State<Arc<App>>) -> Reply<Listed> {
    let devices = app.access.devices.list();
    let keys = devices.iter().map(|device| Shown::of(&app, device)).collect();
    let reach = Reach::of(app.access.listen, app.access.fingerprint.clone());
    Reply(Listed { keys, reach })
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewKey {
    /// What the device is called, 60 characters at most; `Phone` if absent, or `Phone 2` and so on.
    name: Option<String>,
    #[serde(default)]
    scope: Scope,
    /// Its conversation; the one that phones share if absent.
    session_id: Option<String>,
    /// Whether its socket may be plain where all else is encrypted.
    #[serde(default)]
    plain_ws: bool,
}

#[derive(Serialize, ToSchema)]
pub struct Paired {
    #[serde(flatten)]
    device: Shown,
    /// Told once and kept nowhere.
    key: String,
    #[serde(flatten)]
    reach: Reach,
}

/// Pair a device
#[utoipa::path(post, path = "/api/keys", tag = "phone", request_body = NewKey,
    responses((status = 200, body = Paired), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
async fn pair(
    State(app): State<Arc<App>>,
    Json(NewKey { name, scope, session_id, plain_ws }): Json<NewKey>,
) -> Result<Reply<Paired>, ApiError> {
    let name = match name {
        Some(name) => name.trim().to_owned(),
        None => free_name(&app),
    };
    let fits = (1..=NAME_CHARS).contains(&name.chars().count());
    if !fits || name.chars().any(char::is_control) {
        let message = format!("name must have 1 to {NAME_CHARS} characters, all of them visible");
        return Err(ApiError::bad_request(message));
    }
    let session = match session_id.filter(|id| !id.is_empty()) {
        Some(text) => {
            let id = SessionId::parse(&text).filter(|id| app.host.roster.get(*id).is_some());
            Some(id.ok_or_else(|| ApiError::no_session(&text))?)
        }
        None => None,
    };
    let (device, key) = app.access.devices.pair(Wanted { name, scope, session, plain_ws }).await?;
    app.host.roster.tell(News::Devices);
    let reach = Reach::of(app.access.listen, app.access.fingerprint.clone());
    Ok(Reply(Paired { device: Shown::of(&app, &device), key, reach }))
}

fn free_name(app: &App) -> String {
    let taken: Vec<Arc<Device>> = app.access.devices.list();
    let is_free = |name: &String| taken.iter().all(|device| device.name != *name);
    let numbered = (2..).map(|number| format!("Phone {number}"));
    let mut names = iter::once("Phone".to_owned()).chain(numbered);
    names.find(is_free).unwrap_or_default()
}

#[derive(Serialize, ToSchema)]
pub struct Revoked {
    ok: bool,
}

/// Revoke the key of a device
///
/// By its id or its name. Its sockets and frames end at once, and what it said and waits is called off.
#[utoipa::path(delete, path = "/api/keys/{id}", tag = "phone",
    params(("id" = String, Path)),
    responses((status = 200, body = Revoked), (status = 404, body = ErrorBody)))]
async fn revoke(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Reply<Revoked>, ApiError> {
    let device = app.access.devices.named(&name);
    let device = device.ok_or_else(|| ApiError::not_found(format!("Device not found: {name}")))?;
    app.access.devices.revoke(&device).await?;
    app.frames.end_of(&device.id);
    app.push.forget_device(&device.id).await?;
    call_off(&app, &device).await?;
    Ok(Reply(Revoked { ok: true }))
}

/// Its messages that wait; what is being answered goes on.
async fn call_off(app: &App, device: &Device) -> Result<(), ApiError> {
    for (session, state) in app.host.roster.all() {
        for place in &state.queue {
            if is_of(app, session, *place, device).await? {
                app.host.unqueue(session, *place).await?;
            }
        }
    }
    Ok(())
}

async fn is_of(
    app: &App,
    session: SessionId,
    place: kernel::update::Seq,
    device: &Device,
) -> Result<bool, StoreError> {
    let found = app.host.ports.log.read(session, place.before(), 1).await?.pop();
    let Some(Fact::Queued(message)) = found.map(|entry| entry.fact) else { return Ok(false) };
    Ok(Asker::of(&message).is_some_and(|asker| asker.device == device.id))
}

impl From<PairError> for ApiError {
    fn from(error: PairError) -> Self {
        match error {
            PairError::Taken(_) => Self::conflict(error.to_string()),
            PairError::Chance(_) => Self::internal(error.to_string()),
            PairError::Store(error) => error.into(),
        }
    }
}
