//! An app in a window, looked at from outside: how it stands, what was said to it and by it, and asking it by hand.

use std::sync::Arc;

use axum::{
    Json as Reply,
    extract::{Path, State, rejection::PathRejection},
    response::{IntoResponse as _, Response},
};
use kernel::{
    apps::{
        Observed,
        protocol::{Loaded, Readiness, Standing},
    },
    inbox::CallError,
    toolbox::{Caller, ToolError},
    update::{Seq, SessionId},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{OnMonitor, known, read};
use crate::{
    App,
    apps::traffic::Trace,
    error::{ApiError, ErrorBody},
    extract::{self, Json, LARGE, Params},
};

/// How much of the past is told at once.
const USUAL: usize = 200;
const MOST: usize = 1000;

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(look)).routes(routes!(past)).routes(routes!(ask))
}

/// How things stand with the app in a window.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InspectedApp)]
struct Inspected {
    #[schema(example = "monitor-0/sheet")]
    window_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<String>,
    /// `none`, `loading`, `catching-up`, `ready` or `lost`.
    #[schema(value_type = String, example = "ready")]
    readiness: &'static str,
    /// The connection that is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// Every connection that has the app ready, the latest last.
    loads: Vec<LoadedApp>,
    /// What the app says that it can do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    manifest: Option<Value>,
    /// How many show the windows of the session.
    connections: usize,
    /// How many commands would be played again if the app loaded anew.
    journal: usize,
    waiting: usize,
    open: usize,
}

#[derive(Serialize, ToSchema)]
struct LoadedApp {
    connection: String,
    generation: u64,
    /// What tells its document from others.
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// Whose window.
    session: String,
    /// Where the caller is, for an id that several monitors have.
    monitor_id: Option<String>,
    /// Only what was before this, as an earlier answer says.
    before: Option<u64>,
    /// How many entries, 1000 at most; 200 if absent.
    limit: Option<usize>,
}

/// What was said to and by an app, oldest first.
#[derive(Serialize, ToSchema)]
#[schema(as = AppTraffic)]
struct Told<'a> {
    /// What is on record.
    #[schema(value_type = Vec<Object>)]
    entries: Vec<Trace<'a>>,
    /// What was told lately and is not on record; only where `before` is absent.
    #[schema(value_type = Vec<Object>)]
    news: Vec<Trace<'a>>,
    /// Where to look for what was before; absent if there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<u64>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = AskApp)]
pub struct ToAsk {
    /// Whose window.
    session: String,
    /// What to read; `manifest` for what the app can do.
    #[serde(default, deserialize_with = "extract::text")]
    state_key: Option<String>,
    /// What to have done instead.
    #[serde(default, deserialize_with = "extract::text")]
    command: Option<String>,
    /// What the command takes.
    params: Option<Map<String, Value>>,
    /// A name of your own for a command, which is then carried out once.
    #[serde(default, deserialize_with = "extract::text")]
    idempotency_key: Option<String>,
}

/// What an agent would be told.
#[derive(Serialize, ToSchema)]
#[schema(as = AppAnswer)]
pub struct Said {
    text: String,
    failed: bool,
}

/// How an app stands
///
/// Whether it is ready, who is asked, and what it says that it can do.
#[utoipa::path(get, path = "/api/windows/{id}/app", tag = "windows",
    params(("id" = String, Path, description = "The `windowId`, or with its monitor: `monitor-0%2Fdock`."),
        OnMonitor),
    responses((status = 200, body = Inspected), (status = 404, body = ErrorBody)))]
pub async fn look(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
    Params(OnMonitor { session, monitor_id }): Params<OnMonitor>,
) -> Result<Response, ApiError> {
    let seen = observed(&app, known(&session)?, read(name)?, monitor_id).await?;
    Ok(Reply(Inspected::from(seen.standing)).into_response())
}

/// What was said to an app and by it
///
/// From the log of the session, and of what is in no log what was told lately.
#[utoipa::path(get, path = "/api/windows/{id}/traffic", tag = "windows",
    params(("id" = String, Path, description = "The `windowId`, or with its monitor: `monitor-0%2Fdock`."),
        Span),
    responses((status = 200, body = Told), (status = 404, body = ErrorBody)))]
pub async fn past(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
    Params(Span { session, monitor_id, before, limit }): Params<Span>,
) -> Result<Response, ApiError> {
    let session = known(&session)?;
    let Observed { standing, news } = observed(&app, session, read(name)?, monitor_id).await?;
    let limit = limit.unwrap_or(USUAL).clamp(1, MOST);
    let traffic = app.host.app_traffic(session, &standing.window, before.map(Seq), limit).await?;
    let news = if before.is_none() { news } else { Vec::new() };
    let told = Told {
        entries: traffic.entries.iter().filter_map(Trace::of_fact).collect(),
        news: news.iter().map(|news| Trace::of_news(news)).collect(),
        before: traffic.before.map(|seq| seq.0),
    };
    Ok(Reply(told).into_response())
}

/// Ask an app by hand
///
/// As the person, by the same way as the tools `app_query` and `app_command`: with a `stateKey` its
/// state is read, with a `command` it does something. The answer is what an agent would be told.
#[utoipa::path(post, path = "/api/windows/{id}/ask", tag = "windows", request_body = ToAsk,
    params(("id" = String, Path, description = "The `windowId`, or with its monitor: `monitor-0%2Fdock`.")),
    responses((status = 200, body = Said), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub async fn ask(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
    Json(wish): Json<ToAsk, LARGE>,
) -> Result<Reply<Said>, ApiError> {
    let (session, window) = (known(&wish.session)?, read(name)?);
    let (tool, args) = tool(wish, &window)?;
    match app.host.call(session, Caller::Owner, tool, args).await {
        Ok(reply) => Ok(Reply(Said { text: reply.text, failed: false })),
        Err(CallError::Tool(ToolError::Failed(text) | ToolError::Denied(text))) => {
            Ok(Reply(Said { text, failed: true }))
        }
        Err(CallError::Tool(error)) => Err(ApiError::conflict(error.to_string())),
        Err(CallError::Open(error)) => Err(error.into()),
    }
}

fn tool(wish: ToAsk, window: &str) -> Result<(&'static str, Value), ApiError> {
    let ToAsk { state_key, command, params, idempotency_key, .. } = wish;
    match (state_key, command) {
        (Some(key), None) if params.is_none() && idempotency_key.is_none() => {
            Ok(("app_query", json!({ "windowId": window, "stateKey": key })))
        }
        (None, Some(command)) => {
            let mut args = json!({ "windowId": window, "command": command });
            if let Some(params) = params {
                args["params"] = params.into();
            }
            if let Some(key) = idempotency_key {
                args["idempotencyKey"] = key.into();
            }
            Ok(("app_command", args))
        }
        (Some(_), None) => {
            Err(ApiError::bad_request("params and idempotencyKey belong to a command"))
        }
        _ => Err(ApiError::bad_request("one of stateKey and command is needed, and not both")),
    }
}

async fn observed(
    app: &App,
    session: SessionId,
    window: String,
    monitor: Option<String>,
) -> Result<Observed, ApiError> {
    app.host.observe_app(session, window, monitor).await?.map_err(ApiError::not_found)
}

impl From<Standing> for Inspected {
    fn from(standing: Standing) -> Self {
        let load = |Loaded { connection, generation, instance }| LoadedApp {
            connection,
            generation,
            instance,
        };
        Self {
            window_id: standing.window,
            app_id: standing.app,
            readiness: match standing.readiness {
                Readiness::None => "none",
                Readiness::Loading => "loading",
                Readiness::CatchingUp => "catching-up",
                Readiness::Ready => "ready",
                Readiness::Lost => "lost",
            },
            owner: standing.owner,
            loads: standing.loads.into_iter().map(load).collect(),
            manifest: standing.manifest,
            connections: standing.connections,
            journal: standing.journal,
            waiting: standing.waiting,
            open: standing.open,
        }
    }
}
