//! Which session a client of the App Protocol comes to: the one it names, or the one that is open.

use axum::http::Uri;
use kernel::{ports::Shelf, update::SessionId};
use percent_encoding::percent_decode_str;

use crate::{App, auth, error::ApiError};

/// How long a name may be that somebody else has given to a session.
const NAME_BYTES: usize = 200;

/// Whether whoever comes to the shared socket wants this dialect alone.
pub fn is_wanted(uri: &Uri) -> bool {
    auth::query(uri, "sessionId").is_some()
}

/// The session that is asked for. Others name sessions themselves: under a name that nothing goes by
/// a session is made, and found again.
pub async fn arrive(app: &App, uri: &Uri, client: &str) -> Result<SessionId, ApiError> {
    let name = auth::query(uri, "sessionId").unwrap_or_default();
    let name = percent_decode_str(name).decode_utf8_lossy();
    if name.is_empty() {
        return usual(app, client).await;
    }
    if name.len() > NAME_BYTES {
        return Err(ApiError::bad_request(format!("sessionId: at most {NAME_BYTES} bytes")));
    }
    let known = |id: &SessionId| app.host.roster.get(*id).is_some();
    if let Some(id) = SessionId::parse(&name).filter(known) {
        return Ok(id);
    }
    let record = format!("session/{name}");
    let catalog = &app.host.ports.catalog;
    if let Some(id) = catalog.load(Shelf::Apps, &record).await?.filter(known) {
        return Ok(id);
    }
    let id = make(app).await?;
    catalog.save(Shelf::Apps, &record, &id).await?;
    Ok(id)
}

async fn usual(app: &App, client: &str) -> Result<SessionId, ApiError> {
    if let Some(id) = app.clients.active(client).await? {
        return Ok(id);
    }
    if let Some(id) = app.clients.preferences().await?.session {
        return Ok(id);
    }
    let id = make(app).await?;
    app.clients.set_active(client, id).await?;
    Ok(id)
}

async fn make(app: &App) -> Result<SessionId, ApiError> {
    let model = app.clients.model().await?;
    Ok(app.host.create(&app.host.ports.workspace, &model, "").await?)
}
