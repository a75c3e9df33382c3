//! Applets over HTTP: which there are, what they consist of, and what they say of themselves.

use std::{path::Path, sync::Arc};

use axum::{Json as Reply, extract::State};
use kernel::{applets::AppletKey, gallery::Applet};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::{
    frames::Iso,
    hear::{Place, is_slug},
    sessions::known,
};
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::{self, ClientId, Json, MaybeJson, Params, SlugPath},
};

#[derive(Serialize, ToSchema)]
pub struct Listed {
    /// The one that changed last first.
    applets: Vec<Shown>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Applet)]
struct Shown {
    slug: String,
    name: String,
    description: Option<String>,
    /// What may stand in its address, by name.
    #[schema(value_type = Object)]
    params: Map<String, Value>,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Iso,
    paths: Paths,
    /// What it may ask the person for.
    permissions: Vec<&'static str>,
    /// Whether it came with the program, and so has no paths.
    bundled: bool,
}

#[derive(Default, Serialize, ToSchema)]
#[schema(as = AppletPaths)]
struct Paths {
    root: Option<String>,
    meta: Option<String>,
    html: Option<String>,
    js: Option<String>,
    css: Option<String>,
}

impl From<&Applet> for Shown {
    fn from(applet: &Applet) -> Self {
        Self {
            slug: applet.slug.clone(),
            name: applet.name.clone(),
            description: applet.description.clone(),
            params: applet.params.clone(),
            updated_at: Iso(applet.updated),
            paths: applet.folder.as_deref().map(paths).unwrap_or_default(),
            permissions: applet.needs.permissions.iter().map(|it| it.name()).collect(),
            bundled: applet.folder.is_none(),
        }
    }
}

fn paths(folder: &Path) -> Paths {
    let text = |path: &Path| Some(path.to_string_lossy().into_owned());
    let part = |name: &str| text(&folder.join(name));
    Paths {
        root: text(folder),
        meta: part("meta.json"),
        html: part("content.html"),
        js: part("script.js"),
        css: part("style.css"),
    }
}

/// Which applets there are
#[utoipa::path(get, path = "/api/applets", tag = "applets",
    responses((status = 200, body = Listed)))]
pub async fn list(State(app): State<Arc<App>>) -> Reply<Listed> {
    let list = app.host.ports.gallery.list().await;
    Reply(Listed { applets: list.iter().map(Shown::from).collect() })
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Loading {
    /// Leaves what the applet said of itself before.
    keep_state: bool,
    /// The session it is opened in; the client's active one when absent.
    #[serde(deserialize_with = "extract::text")]
    session_id: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct Loaded {
    ok: bool,
    slug: String,
    title: String,
    html: String,
    js: Option<String>,
    css: Option<String>,
}

/// Load an applet
///
/// Forgets what it said of itself in this session before, unless `keepState`, and makes it the applet
/// that the client has open.
#[utoipa::path(post, path = "/api/applets/{slug}/load", tag = "applets", request_body = Option<Loading>,
    params(SlugPath, ClientId),
    responses((status = 200, body = Loaded), (status = 404, body = ErrorBody),
        (status = 500, body = ErrorBody)))]
pub async fn load(
    State(app): State<Arc<App>>,
    ClientId(client): ClientId,
    SlugPath(slug): SlugPath,
    MaybeJson(Loading { keep_state, session_id }): MaybeJson<Loading>,
) -> Result<Reply<Loaded>, ApiError> {
    let loaded = read(&app, &slug).await?;
    let key = key(&app, &client, session_id, Some(slug)).await?;
    open(&app, &client, &key, keep_state).await?;
    Ok(Reply(loaded))
}

/// An applet with its parts, for whoever may see it.
pub async fn read(app: &App, slug: &str) -> Result<Loaded, ApiError> {
    if !is_slug(slug) {
        return Err(ApiError::internal("Failed to load applet"));
    }
    let parts = app.host.ports.gallery.load(slug).await.map_err(|why| {
        tracing::warn!(slug, why, "an applet cannot be read");
        ApiError::internal("Failed to load applet")
    })?;
    let absent = || ApiError::not_found(format!("Applet \"{slug}\" not found"));
    let parts = parts.ok_or_else(absent)?;
    let (html, js, css) = (parts.html, parts.script, parts.style);
    Ok(Loaded { ok: true, slug: slug.to_owned(), title: parts.applet.name, html, js, css })
}

/// Notes that a client opened an applet.
async fn open(app: &App, client: &str, key: &AppletKey, keep_state: bool) -> Result<(), ApiError> {
    let AppletKey { session, slug: Some(slug) } = key else { return Ok(()) };
    if !keep_state {
        app.host.applets.clear(key).await?;
    }
    app.clients.set_applet(client, slug).await?;
    if let Some(session) = session {
        app.host.applets.set_current(*session, slug).await?;
    }
    Ok(())
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
pub struct Whose {
    /// The client's active session when absent.
    session_id: Option<String>,
    /// The applet the client has open when absent.
    slug: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct AppletState {
    #[schema(value_type = Object)]
    state: Map<String, Value>,
}

#[derive(Serialize, ToSchema)]
pub struct Merged {
    ok: bool,
}

/// What an applet says of itself
#[utoipa::path(get, path = "/api/applet/state", tag = "applets", params(Whose, ClientId),
    responses((status = 200, body = AppletState), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub async fn state(
    State(app): State<Arc<App>>,
    ClientId(client): ClientId,
    Params(Whose { session_id, slug }): Params<Whose>,
) -> Result<Reply<AppletState>, ApiError> {
    let key = key(&app, &client, session_id, slug).await?;
    Ok(Reply(AppletState { state: app.host.applets.state(&key).await? }))
}

/// Say something of an applet
///
/// Sets the keys given and leaves the others. Nobody is told; the socket's `setState` does that.
#[utoipa::path(post, path = "/api/applet/state", tag = "applets", params(Whose, ClientId),
    request_body = Object,
    responses((status = 200, body = Merged), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 413, body = ErrorBody)))]
pub async fn merge(
    State(app): State<Arc<App>>,
    ClientId(client): ClientId,
    Params(Whose { session_id, slug }): Params<Whose>,
    Json(data): Json<Value>,
) -> Result<Reply<Merged>, ApiError> {
    let Value::Object(data) = data else {
        return Err(ApiError::bad_request("Invalid state object"));
    };
    let key = key(&app, &client, session_id, slug).await?;
    app.host.applets.merge(&key, data).await?;
    Ok(Reply(Merged { ok: true }))
}

async fn key(
    app: &App,
    client: &str,
    session: Option<String>,
    slug: Option<String>,
) -> Result<AppletKey, ApiError> {
    let (session, slug) = (session.filter(|it| !it.is_empty()), slug.filter(|it| !it.is_empty()));
    if slug.as_deref().is_some_and(|slug| !is_slug(slug)) {
        return Err(ApiError::bad_request("Invalid slug"));
    }
    if let Some(text) = &session {
        app.host.roster.get(known(text)?).ok_or_else(|| ApiError::no_session(text))?;
    }
    Ok(app.clients.applet_key(client, Place { session, slug }, None).await?)
}
