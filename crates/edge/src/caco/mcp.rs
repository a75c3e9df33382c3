//! Servers of tools: how they stand, what they say, and changing that.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Json as Reply,
    extract::{Path, RawQuery, State},
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use kernel::servers::{ServerChange, ServerError, ServerInfo, ServerTool, Standing};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::Json,
};

/// Where browsers come back to after signing in at a server. The only address under /api that needs
/// no key: they bring a secret of their own.
pub const CALLBACK: &str = "/api/mcp/callback";

#[derive(Serialize, ToSchema)]
pub struct Listed {
    servers: Vec<Item>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    name: String,
    #[schema(example = "stdio")]
    kind: &'static str,
    /// Its command or its address, without secrets.
    place: String,
    #[schema(example = "ready")]
    state: &'static str,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// When it is tried again by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_at: Option<String>,
    /// Where to sign in, if that is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    sign_in_url: Option<String>,
    since: String,
    starts: u32,
    trusted: bool,
    /// It is in config.toml, and cannot be removed from here.
    configured: bool,
    /// The version of the protocol that was agreed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<String>,
    /// What it calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    tools: Vec<ToolItem>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ToolItem {
    /// As its server calls it.
    name: String,
    /// As it is called here, if it can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    offered_as: Option<String>,
    description: String,
    enabled: bool,
    /// Where the widget is that shows its results.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "ui://get-time/mcp-app.html")]
    widget: Option<String>,
    /// Whether its server means it for models; what it means for its widgets alone they are not shown.
    for_model: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

impl From<ServerInfo> for Item {
    fn from(info: ServerInfo) -> Self {
        let state = info.standing.name();
        let (reason, retry_at, sign_in_url) = match info.standing {
            Standing::Failed { reason, retry } => {
                (Some(reason), retry.map(|at| at.to_string()), None)
            }
            Standing::NeedsSignIn { url } => (None, None, Some(url)),
            Standing::Disabled | Standing::Resting | Standing::Starting | Standing::Ready => {
                (None, None, None)
            }
        };
        Self {
            name: info.name,
            kind: info.kind,
            place: info.place,
            state,
            reason,
            retry_at,
            sign_in_url,
            since: info.since.to_string(),
            starts: info.starts,
            trusted: info.trusted,
            configured: info.configured,
            protocol: info.protocol,
            title: info.title,
            tools: info.tools.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<ServerTool> for ToolItem {
    fn from(tool: ServerTool) -> Self {
        let ServerTool { name, offered, description, enabled, widget, audience, warning } = tool;
        let for_model = audience.models;
        Self { name, offered_as: offered, description, enabled, widget, for_model, warning }
    }
}

/// Servers of tools
#[utoipa::path(get, path = "/api/mcp/servers", tag = "mcp",
    responses((status = 200, body = Listed)))]
pub async fn list(State(app): State<Arc<App>>) -> Reply<Listed> {
    Reply(Listed { servers: app.servers.list().into_iter().map(Into::into).collect() })
}

/// A name, and what a `[mcp.servers.NAME]` table would say.
#[derive(Deserialize, ToSchema)]
pub struct Added {
    name: String,
    #[serde(flatten)]
    #[schema(value_type = Object, example = json!({ "command": "npx", "args": ["-y", "some-server"] }))]
    settings: Map<String, Value>,
}

#[derive(Serialize, ToSchema)]
pub struct Done {
    ok: bool,
}

const DONE: Reply<Done> = Reply(Done { ok: true });

/// Add a server
///
/// It is kept, and started at once. Values of `env` and `headers` are kept apart, and never shown.
#[utoipa::path(post, path = "/api/mcp/servers", tag = "mcp", request_body = Added,
    responses((status = 200, body = Done), (status = 400, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub async fn add(
    State(app): State<Arc<App>>,
    Json(Added { name, settings }): Json<Added>,
) -> Result<Reply<Done>, ApiError> {
    app.servers.add(name, Value::Object(settings)).await?;
    Ok(DONE)
}

/// Remove a server
///
/// With all that was kept for it. One of config.toml can only be disabled.
#[utoipa::path(delete, path = "/api/mcp/servers/{name}", tag = "mcp", params(("name" = String, Path)),
    responses((status = 200, body = Done), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub async fn remove(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Reply<Done>, ApiError> {
    app.servers.remove(name).await?;
    Ok(DONE)
}

/// Whatever is absent stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    enabled: Option<bool>,
    /// Of tools, by the names their server gives them.
    #[serde(default)]
    tools: BTreeMap<String, bool>,
}

/// Enable or disable a server, or some of its tools
#[utoipa::path(patch, path = "/api/mcp/servers/{name}", tag = "mcp", params(("name" = String, Path)),
    request_body = Changed,
    responses((status = 200, body = Done), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub async fn change(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Json(Changed { enabled, tools }): Json<Changed>,
) -> Result<Reply<Done>, ApiError> {
    app.servers.change(name, ServerChange { enabled, tools }).await?;
    Ok(DONE)
}

/// Restart a server
#[utoipa::path(post, path = "/api/mcp/servers/{name}/restart", tag = "mcp",
    params(("name" = String, Path)),
    responses((status = 200, body = Done), (status = 404, body = ErrorBody)))]
pub async fn restart(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Reply<Done>, ApiError> {
    app.servers.restart(name).await?;
    Ok(DONE)
}

/// Read the servers of config.toml again
///
/// Those that are new or different there are started, and those that are gone are ended; the others
/// go on as they are.
#[utoipa::path(post, path = "/api/mcp/reload", tag = "mcp",
    responses((status = 200, body = Done), (status = 400, body = ErrorBody)))]
pub async fn reload(State(app): State<Arc<App>>) -> Result<Reply<Done>, ApiError> {
    app.servers.reload().await?;
    Ok(DONE)
}

#[derive(Serialize, ToSchema)]
pub struct Log {
    lines: Vec<Line>,
}

#[derive(Serialize, ToSchema)]
struct Line {
    at: String,
    text: String,
}

/// What a server said beside its answers
///
/// The last 500 lines of its stderr and its log messages, oldest first.
#[utoipa::path(get, path = "/api/mcp/servers/{name}/logs", tag = "mcp",
    params(("name" = String, Path)),
    responses((status = 200, body = Log), (status = 404, body = ErrorBody)))]
pub async fn logs(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Reply<Log>, ApiError> {
    let lines = app.servers.logs(&name).ok_or(ServerError::Unknown(name))?;
    let line = |it: kernel::servers::LogLine| Line { at: it.at.to_string(), text: it.text };
    Ok(Reply(Log { lines: lines.into_iter().map(line).collect() }))
}

/// The end of a sign-in, for the person whose browser came back.
pub async fn callback(State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> Response {
    match app.servers.signed_in(query.unwrap_or_default()).await {
        Ok(server) => format!("Signed in to {server}. You can close this page.\n").into_response(),
        Err(error) => {
            let text = format!("Signing in did not work: {error}\n");
            (StatusCode::BAD_REQUEST, text).into_response()
        }
    }
}

impl From<ServerError> for ApiError {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Unknown(_) => Self::not_found(error.to_string()),
            ServerError::Taken(_) | ServerError::Configured(_) => Self::conflict(error.to_string()),
            ServerError::Wrong(message) => Self::bad_request(message),
            ServerError::Store(error) => error.into(),
        }
    }
}
