//! Sessions over HTTP: found, made, changed and removed.

use std::{path::PathBuf, sync::Arc};

use axum::{Json as Reply, extract::State, http::StatusCode};
use kernel::{
    approvals,
    host::OpenError,
    update::{Amendment, ContextChange, SessionId},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::{self, ClientId, Json, Params, SessionPath},
    models::find_model,
};

const NAME_CHARS: usize = 500;
const HINT_CHARS: usize = 10_000;
const SET_CHARS: usize = 64;
const SETS: usize = 50;
const ITEM_CHARS: usize = 4096;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
pub struct Which {
    /// The client's active session when absent.
    session_id: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Current {
    session_id: Option<String>,
    cwd: String,
    is_active: bool,
    has_messages: bool,
}

/// One session, in short
///
/// An unknown id is echoed with the server's own folder.
#[utoipa::path(get, path = "/api/session", tag = "sessions", params(Which, ClientId),
    responses((status = 200, body = Current)))]
pub async fn current(
    State(app): State<Arc<App>>,
    ClientId(client): ClientId,
    Params(Which { session_id }): Params<Which>,
) -> Result<Reply<Current>, ApiError> {
    let named = session_id.filter(|id| !id.is_empty());
    let id = match &named {
        Some(id) => SessionId::parse(id),
        None => app.clients.active(&client).await?,
    };
    let known = id.and_then(|id| Some((id, app.host.roster.get(id)?)));
    Ok(Reply(match known {
        Some((id, state)) => Current {
            session_id: Some(id.to_string()),
            cwd: state.cwd.clone(),
            is_active: app.host.is_live(id),
            has_messages: state.has_messages(),
        },
        None => Current {
            session_id: named,
            cwd: workspace(&app),
            is_active: false,
            has_messages: false,
        },
    }))
}

#[derive(Deserialize, ToSchema)]
pub struct NewSession {
    /// An existing folder; relative ones start from the server's.
    cwd: Option<String>,
    model: Option<String>,
    /// A name for it.
    description: Option<String>,
    /// What it may do without asking: `ask`, `auto-safe` or `full`. What the house says if absent.
    #[schema(example = "ask")]
    mode: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Created {
    #[schema(value_type = String)]
    session_id: SessionId,
    cwd: String,
    model: String,
}

/// Make a session
///
/// It becomes the client's active session; the one before keeps running.
#[utoipa::path(post, path = "/api/sessions", tag = "sessions", request_body = NewSession,
    params(ClientId),
    responses((status = 200, body = Created), (status = 400, body = ErrorBody)))]
pub async fn create(
    State(app): State<Arc<App>>,
    ClientId(client): ClientId,
    Json(NewSession { cwd, model, description, mode }): Json<NewSession>,
) -> Result<Reply<Created>, ApiError> {
    let cwd = match cwd.filter(|cwd| !cwd.is_empty()) {
        Some(cwd) => folder(&app, &cwd)?,
        None => app.host.ports.workspace.clone(),
    };
    let model = match model.filter(|it| !it.is_empty()) {
        Some(model) => model,
        None => app.clients.model().await?,
    };
    known_model(&app, &model).await?;
    let name = description.unwrap_or_default();
    at_most("description", &name, NAME_CHARS)?;
    let mode = mode.as_deref().map(named_mode).transpose()?;
    let session_id = app.host.create(&cwd, &model, &name).await?;
    if mode.is_some() {
        app.host.amend(session_id, Amendment { mode, ..Amendment::default() }).await?;
    }
    app.clients.set_active(&client, session_id).await?;
    let cwd = cwd.to_string_lossy().into_owned();
    let preferred = cwd.clone();
    app.clients.prefer(|preferences| preferences.cwd = preferred).await?;
    Ok(Reply(Created { session_id, cwd, model }))
}

async fn known_model(app: &App, model: &str) -> Result<(), ApiError> {
    let known = find_model(app, model).await.map(drop);
    known.map_err(|it| ApiError::bad_request(format!("Unknown model: {model}{}", it.hint)))
}

fn named_mode(name: &str) -> Result<approvals::Mode, ApiError> {
    use approvals::Mode::{Ask, AutoSafe, Full};
    let mode = [Ask, AutoSafe, Full].into_iter().find(|mode| mode.name() == name);
    mode.ok_or_else(|| {
        ApiError::bad_request(format!("mode must be ask, auto-safe or full, not `{name}`"))
    })
}

pub fn folder(app: &App, text: &str) -> Result<PathBuf, ApiError> {
    let path = app.host.ports.workspace.join(text);
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            path.canonicalize().map_err(|error| ApiError::bad_request(format!("{text}: {error}")))
        }
        Ok(_) => Err(ApiError::bad_request(format!("Path is not a directory: {text}"))),
        Err(_) => Err(ApiError::bad_request(format!("Path does not exist: {text}"))),
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resumed {
    success: bool,
    #[schema(value_type = String)]
    session_id: SessionId,
    cwd: String,
    is_busy: bool,
    /// Its own folder is gone and the server's is used.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cwd_fallback: bool,
}

/// Resume a session
///
/// Makes it the client's active one.
#[utoipa::path(post, path = "/api/sessions/{id}/resume", tag = "sessions",
    params(SessionPath, ClientId),
    responses((status = 200, body = Resumed), (status = 400, body = ErrorBody)))]
pub async fn resume(
    State(app): State<Arc<App>>,
    ClientId(client): ClientId,
    SessionPath(text): SessionPath,
) -> Result<Reply<Resumed>, ApiError> {
    let absent = || {
        ApiError::not_found(format!("Session {text} not found"))
            .with_status(StatusCode::BAD_REQUEST)
    };
    let id = SessionId::parse(&text).ok_or_else(absent)?;
    match app.host.open(id).await {
        Err(OpenError::Unknown(_)) => return Err(absent()),
        opened => opened?,
    };
    let state = app.host.roster.get(id).ok_or_else(absent)?;
    if state.cwd.is_empty() {
        return Err(ApiError::bad_request(format!("Session {text} has no cwd recorded")));
    }
    app.clients.set_active(&client, id).await?;
    let cwd = app.host.ports.cwd(&state.cwd).to_string_lossy().into_owned();
    let cwd_fallback = cwd != state.cwd;
    Ok(Reply(Resumed {
        success: true,
        session_id: id,
        cwd,
        is_busy: state.is_busy(),
        cwd_fallback,
    }))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    success: bool,
    was_unobserved: bool,
    unobserved_count: usize,
}

/// Mark a session as seen
#[utoipa::path(post, path = "/api/sessions/{id}/observe", tag = "sessions",
    params(SessionPath),
    responses((status = 200, body = Observed), (status = 404, body = ErrorBody)))]
pub async fn observe(
    State(app): State<Arc<App>>,
    SessionPath(text): SessionPath,
) -> Result<Reply<Observed>, ApiError> {
    let id = known(&text)?;
    app.push.saw(id);
    let was_unobserved = app.host.observe(id).await?;
    let unobserved_count = app.host.roster.unobserved();
    Ok(Reply(Observed { success: true, was_unobserved, unobserved_count }))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Changes {
    /// Empty to clear.
    name: Option<String>,
    /// How to set up the environment, for the agent.
    env_hint: Option<String>,
    #[serde(default, deserialize_with = "extract::object")]
    set_context: Option<SetContext>,
    /// Who answers from now on.
    model: Option<String>,
    /// What it may do without asking from now on: `ask`, `auto-safe` or `full`.
    #[schema(example = "ask")]
    mode: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SetContext {
    #[schema(example = "files")]
    set_name: String,
    /// Ten are kept.
    items: Vec<String>,
    #[serde(default)]
    mode: Mode,
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
enum Mode {
    #[default]
    Replace,
    Merge,
}

#[derive(Serialize, ToSchema)]
pub struct Success {
    pub success: bool,
}

/// Change what is known about a session
#[utoipa::path(patch, path = "/api/sessions/{id}", tag = "sessions", request_body = Changes,
    params(SessionPath),
    responses((status = 200, body = Success), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub async fn amend(
    State(app): State<Arc<App>>,
    SessionPath(text): SessionPath,
    Json(Changes { name, env_hint, set_context, model, mode }): Json<Changes>,
) -> Result<Reply<Success>, ApiError> {
    let id = known(&text)?;
    let state = app.host.roster.get(id).ok_or_else(|| ApiError::no_session(&text))?;
    if let Some(model) = &model {
        known_model(&app, model).await?;
    }
    let mode = mode.as_deref().map(named_mode).transpose()?;
    at_most("name", name.as_deref().unwrap_or_default(), NAME_CHARS)?;
    at_most("envHint", env_hint.as_deref().unwrap_or_default(), HINT_CHARS)?;
    if let Some(SetContext { set_name, items, .. }) = &set_context {
        if set_name.is_empty() {
            return Err(ApiError::bad_request("setContext.setName is required"));
        }
        at_most("setContext.setName", set_name, SET_CHARS)?;
        for item in items {
            at_most("setContext.items", item, ITEM_CHARS)?;
        }
        if state.context.len() >= SETS && !state.context.contains_key(set_name) {
            return Err(ApiError::bad_request(format!("a session holds at most {SETS} sets")));
        }
    }
    let context = set_context.map(|it| ContextChange {
        set: it.set_name,
        items: it.items,
        merge: matches!(it.mode, Mode::Merge),
        forget_empty: false,
    });
    // To choose what is chosen changes nothing.
    let model = model.filter(|model| *model != state.model);
    let mode = mode.filter(|mode| Some(*mode) != state.mode);
    app.host.amend(id, Amendment { name, env_hint, context, model, mode }).await?;
    Ok(Reply(Success { success: true }))
}

pub fn at_most(field: &str, text: &str, limit: usize) -> Result<(), ApiError> {
    if text.chars().nth(limit).is_none() {
        return Ok(());
    }
    Err(ApiError::bad_request(format!("{field} is longer than {limit} characters")))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deleted {
    success: bool,
    was_active: bool,
}

/// Delete a session
#[utoipa::path(delete, path = "/api/sessions/{id}", tag = "sessions",
    params(SessionPath, ClientId),
    responses((status = 200, body = Deleted), (status = 400, body = ErrorBody)))]
pub async fn delete(
    State(app): State<Arc<App>>,
    ClientId(client): ClientId,
    SessionPath(text): SessionPath,
) -> Result<Reply<Deleted>, ApiError> {
    let absent = || {
        let message = format!("Failed to delete session {text}: Session file not found for {text}");
        ApiError::not_found(message).with_status(StatusCode::BAD_REQUEST)
    };
    let id = SessionId::parse(&text).ok_or_else(absent)?;
    let was_active = app.clients.active(&client).await? == Some(id);
    match app.host.delete(id).await {
        Err(kernel::host::DeleteError::Open(OpenError::Unknown(_))) => Err(absent()),
        deleted => {
            deleted?;
            Ok(Reply(Deleted { success: true, was_active }))
        }
    }
}

/// Something that may be the name of a session.
pub fn known(text: &str) -> Result<SessionId, ApiError> {
    SessionId::parse(text).ok_or_else(|| ApiError::no_session(text))
}

pub fn workspace(app: &App) -> String {
    app.host.ports.workspace.to_string_lossy().into_owned()
}
