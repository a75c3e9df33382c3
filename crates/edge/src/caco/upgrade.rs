//! From an HTTP request to a socket, and to the dialect that is spoken there.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::{Request, State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    response::{IntoResponse as _, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::socket::Connection;
use crate::{
    App,
    apps::{self, Beside, Interest, Party, arrive},
    auth::Entered,
    codes::Purpose,
    devices::Holder,
    error::{ApiError, ErrorBody},
    extract::ClientId,
    listen::Peer,
    socket::{Dialect, Ends, READ_BUFFER, WRITE_BUFFER, pump},
    window::{self, Caller},
};

pub type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

/// Shared with the App Protocol, whose clients name a session or write in capitals, and with the
/// Window Protocol, whose clients bring a token.
pub async fn shared(
    State(app): State<Arc<App>>,
    client: ClientId,
    upgrade: Upgrade,
    request: Request,
) -> Response {
    if apps::is_wanted(request.uri()) {
        return visit(app, client, upgrade, request).await;
    }
    if let Some(phone) = request.extensions().get::<Caller>().cloned() {
        return window::socket(State(app), Extension(phone), upgrade, request).await;
    }
    open(app, upgrade, &request, |app| {
        let party = Party::new(app.clone(), Interest::Windows);
        Beside::new(Connection::new(app, client.0), party)
    })
}

pub async fn own(
    State(app): State<Arc<App>>,
    client: ClientId,
    upgrade: Upgrade,
    request: Request,
) -> Response {
    open(app, upgrade, &request, |app| Connection::new(app, client.0))
}

/// The App Protocol alone.
pub async fn apps(
    State(app): State<Arc<App>>,
    client: ClientId,
    upgrade: Upgrade,
    request: Request,
) -> Response {
    visit(app, client, upgrade, request).await
}

async fn visit(
    app: Arc<App>,
    ClientId(client): ClientId,
    upgrade: Upgrade,
    request: Request,
) -> Response {
    if upgrade.is_err() {
        // Nothing is made for whoever does not stay.
        return open(app, upgrade, &request, |app| Party::new(app, Interest::Everything));
    }
    let session = match arrive(&app, request.uri(), &client).await {
        Ok(session) => session,
        Err(error) => return error.into_response(),
    };
    let mut party = Party::new(app.clone(), Interest::Everything);
    party.join(Some(session)).await;
    open(app, upgrade, &request, |_| party)
}

/// Serves a dialect to whoever asks for a socket, and explains to others what is expected.
pub fn open<D: Dialect + 'static>(
    app: Arc<App>,
    upgrade: Upgrade,
    request: &Request,
    dialect: impl FnOnce(Arc<App>) -> D,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(error) => {
            let message = format!("a WebSocket upgrade is expected here: {}", error.body_text());
            return ApiError::bad_request(message).with_status(error.status()).into_response();
        }
    };
    let (peer, closing) = (request.extensions().get::<Peer>().cloned(), app.closing.subscribe());
    let device = request.extensions().get::<Entered>().map(|Entered(device)| device.clone());
    let dialect = dialect(app);
    upgrade
        .max_message_size(D::MANNERS.read_bytes)
        .max_frame_size(D::MANNERS.read_bytes)
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .on_upgrade(|socket| pump(socket, dialect, Ends { closing, device }, peer))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SocketToken {
    token: String,
    /// Seconds until it is worthless.
    expires_in: u32,
}

/// A token for one WebSocket
///
/// For `/caco/ws?token=`, where a client cannot send headers. It opens one socket, within a minute.
#[utoipa::path(post, path = "/api/socket-token", tag = "access",
    responses((status = 200, body = SocketToken), (status = 401, body = ErrorBody)))]
pub async fn token(
    State(app): State<Arc<App>>,
    entered: Option<Extension<Entered>>,
) -> Result<Json<SocketToken>, ApiError> {
    let holder = Holder::of(entered.map(|Extension(Entered(device))| device));
    let issued = app.access.codes.issue(Purpose::Socket, holder, app.host.ports.clock.now());
    let token = issued.map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(Json(SocketToken { token, expires_in: 60 }))
}
