//! The door for devices and viewers, which look alike until they show what they bring.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::request::Parts,
    response::{IntoResponse as _, Response},
};

use super::{connection::Connection, hub::TAKEN, passes::Bearer, viewer::Viewer};
use crate::{
    App,
    auth::{self, Entered, Entrance},
    caco::upgrade::{self, Upgrade},
    error::ApiError,
};

pub async fn connect(State(app): State<Arc<App>>, upgrade: Upgrade, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let bearer = match bearer(&app, &mut parts).await {
        Ok(bearer) => bearer,
        Err(error) => return error.into_response(),
    };
    let watches = match auth::query(&parts.uri, "device") {
        None | Some("desktop") => false,
        Some("web-viewer") => true,
        Some(_) => {
            let message =
                "device must be desktop, which is also what is meant without it, or web-viewer";
            return ApiError::bad_request(message).into_response();
        }
    };
    let request = Request::from_parts(parts, body);
    match (&bearer, watches) {
        (Bearer::Owner | Bearer::Viewer, true) => {
            upgrade::open(app, upgrade, &request, |app| Viewer::new(app.hub.devices().news()))
        }
        (Bearer::Device(name), false) if app.hub.is_held_by_another(name, &bearer) => {
            ApiError::conflict(TAKEN).into_response()
        }
        (Bearer::Owner | Bearer::Device(_), false) => {
            upgrade::open(app, upgrade, &request, |app| Connection::new(app.hub.clone(), bearer))
        }
        (Bearer::Viewer, false) => {
            ApiError::forbidden("this key is for watching: connect with ?device=web-viewer")
                .into_response()
        }
        (Bearer::Device(_), true) => {
            ApiError::forbidden("this key is for a device, which may not watch").into_response()
        }
    }
}

/// Whoever brings nothing that we know is told no more than that.
async fn bearer(app: &Arc<App>, parts: &mut Parts) -> Result<Bearer, ApiError> {
    app.hub.passes.load().await?;
    let from = auth::from(parts);
    if let Entrance::Open(holder) = app.access.entrance(parts) {
        app.access.lockout.greeted(from);
        // What it opens here ends with its key, as elsewhere.
        if let Some(device) = holder.device() {
            parts.extensions.insert(Entered(device));
        }
        return Ok(Bearer::Owner);
    }
    let presented = auth::bearer(&parts.headers).or_else(|| auth::query(&parts.uri, "token"));
    let known = match presented {
        Some(presented) => app.hub.passes.bearer(presented).await?,
        None => None,
    };
    if known.is_some() {
        app.access.lockout.greeted(from);
    } else if presented.is_some() {
        // One too many is noticed when the next comes.
        app.access.lockout.mistook(from);
    }
    known.ok_or_else(|| ApiError::unauthorized().saying("unauthorized"))
}
