//! Windows that change hands, what became of them, and what is taken back, over HTTP.

use std::sync::Arc;

use axum::{
    Json as Reply,
    extract::{Path, State, rejection::PathRejection},
    response::{IntoResponse as _, Response},
};
use kernel::{
    apps::{
        Undoing,
        history::{Came, Commanded, Happened, What, Who},
        protocol::{Answer, Reversal},
        texts,
    },
    windows::{By, Hands, Named},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{OnMonitor, frames::Shown, known, read};
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::{self, Json, Params},
};

/// How much of what a command was given is told.
const PARAMS_CHARS: usize = 2000;

pub fn routes() -> OpenApiRouter<Arc<App>> {
    let hands = OpenApiRouter::new().routes(routes!(hand)).routes(routes!(undo));
    hands.routes(routes!(history))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = WindowHands)]
pub struct Handing {
    #[serde(alias = "sessionId")]
    session: String,
    /// Where the caller is, for an id that several monitors have.
    #[serde(default, deserialize_with = "extract::text")]
    monitor_id: Option<String>,
    /// `agent` hands it back, `person` takes it over.
    #[schema(example = "agent")]
    hands: String,
}

/// Take a window over, or hand it back
///
/// As the person. While a window is in the hands of the person, what agents want done there waits.
#[utoipa::path(post, path = "/api/windows/{id}/hands", tag = "windows", request_body = Handing,
    params(("id" = String, Path, description = "The `windowId`, or with its monitor: `monitor-0%2Fdock`.")),
    responses((status = 200, body = Shown), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub async fn hand(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
    Json(wish): Json<Handing>,
) -> Result<Response, ApiError> {
    let id = known(&wish.session)?;
    let to = match wish.hands.as_str() {
        "agent" => Hands::Agent,
        "person" => Hands::Person,
        other => {
            let message = format!("hands: expected `agent` or `person`, not `{other}`");
            return Err(ApiError::bad_request(message));
        }
    };
    let window = named(&app, id, Named { name: read(name)?, monitor: wish.monitor_id }).await?;
    if let Answer::Refused(text) = app.host.hand(id, window.clone(), to).await? {
        return Err(ApiError::conflict(text));
    }
    let windows = app.host.windows(id).await?;
    Ok(Reply(Shown::of(windows.find(&window.name, None)?)).into_response())
}

/// By its scoped id, or what is wrong with the one that was given.
async fn named(
    app: &App,
    session: kernel::update::SessionId,
    Named { name, monitor }: Named,
) -> Result<Named, ApiError> {
    let windows = app.host.windows(session).await?;
    let key = windows.find(&name, monitor.as_deref())?.window.key();
    Ok(Named::new(key))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = WindowUndo)]
pub struct Undone {
    #[serde(alias = "sessionId")]
    session: String,
    /// Where the caller is, for an id that several monitors have.
    #[serde(default, deserialize_with = "extract::text")]
    monitor_id: Option<String>,
    /// The `request` of a command in the history; the newest that can be undone when absent.
    #[serde(default, deserialize_with = "extract::text")]
    request: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = WindowUndone)]
pub struct Said {
    /// What the app says.
    said: String,
}

/// Undo a command of an app
///
/// As the person. What was undone is done again by undoing that. 409 says why it cannot be.
#[utoipa::path(post, path = "/api/windows/{id}/undo", tag = "windows", request_body = Undone,
    params(("id" = String, Path, description = "The `windowId`, or with its monitor: `monitor-0%2Fdock`.")),
    responses((status = 200, body = Said), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub async fn undo(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
    Json(wish): Json<Undone>,
) -> Result<Reply<Said>, ApiError> {
    let id = known(&wish.session)?;
    let window = named(&app, id, Named { name: read(name)?, monitor: wish.monitor_id }).await?;
    let (request, by, attended, tool_call) = (wish.request, By::Person, true, None);
    let undoing = Undoing { window, request, by, attended, tool_call };
    match app.host.undo_in_app(id, undoing).await? {
        Answer::Said { kind, response, .. } => {
            let said = texts::result(kind, &response).map_err(ApiError::conflict)?;
            Ok(Reply(Said { said }))
        }
        Answer::Free { note } => Ok(Reply(Said { said: note.unwrap_or_default() })),
        Answer::Refused(text) => Err(ApiError::conflict(text)),
        Answer::Open { request } => {
            let text = format!("{} {}", texts::NO_RESPONSE, texts::still_open(&request));
            Err(ApiError::conflict(text))
        }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = WindowHistory)]
pub struct History {
    /// The newest first.
    events: Vec<Event>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WindowEvent)]
struct Event {
    seq: u64,
    #[schema(value_type = String)]
    at: String,
    /// `person`, `agent`, `program`, `app` or `house`.
    #[schema(value_type = String, example = "agent")]
    who: &'static str,
    /// Of an agent its model, of an app its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// `opened`, `moved`, `resized`, `titled`, `content`, `minimized`, `maximized`, `restored`, `command`,
    /// `told`, `edited`, `file`, `handsTaken` or `handsBack`.
    #[schema(value_type = String, example = "command")]
    what: &'static str,
    /// The title, the words of an app, the path of a file, state keys, or why a window was handed back.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Command>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WindowCommand)]
struct Command {
    request: String,
    name: String,
    /// JSON, cut if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<String>,
    /// `open`, `done` or `failed`.
    #[schema(value_type = String, example = "done")]
    came: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The request that it took back.
    #[serde(skip_serializing_if = "Option::is_none")]
    undoes: Option<String>,
    /// `can`, `undone`, `covered` by later commands, or `passed` by what the person changed; absent if it
    /// never could be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    undo: Option<&'static str>,
}

/// What became of a window
///
/// The last hundred things that happened to it, each with who did it.
#[utoipa::path(get, path = "/api/windows/{id}/history", tag = "windows",
    params(("id" = String, Path, description = "The `windowId`, or with its monitor: `monitor-0%2Fdock`."),
        OnMonitor),
    responses((status = 200, body = History), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub async fn history(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
    Params(OnMonitor { session, monitor_id }): Params<OnMonitor>,
) -> Result<Reply<History>, ApiError> {
    let window = Named { name: read(name)?, monitor: monitor_id };
    let happened = app.host.window_history(known(&session)?, &window).await?;
    Ok(Reply(History { events: happened.into_iter().map(Event::of).collect() }))
}

impl Event {
    fn of(Happened { seq, at, who, what }: Happened) -> Self {
        let (who, name) = match who {
            Who::Person => ("person", None),
            Who::Agent { model } => ("agent", model),
            Who::Program => ("program", None),
            Who::App { id } => ("app", Some(id)),
            Who::House => ("house", None),
        };
        let (what, text, command) = match what {
            What::Opened { title } => ("opened", Some(title), None),
            What::Moved => ("moved", None, None),
            What::Resized => ("resized", None, None),
            What::Titled { title } => ("titled", Some(title), None),
            What::Content => ("content", None, None),
            What::Minimised => ("minimized", None, None),
            What::Maximised => ("maximized", None, None),
            What::Restored => ("restored", None, None),
            What::Command(commanded) => ("command", None, Some(Command::of(*commanded))),
            What::Told { content } => ("told", Some(content), None),
            What::Edited { keys } => ("edited", Some(keys.join(", ")), None),
            What::File { path } => ("file", Some(path), None),
            What::HandsTaken => ("handsTaken", None, None),
            What::HandsBack { reason } => ("handsBack", Some(reason.name().to_owned()), None),
        };
        Self { seq: seq.0, at: at.to_string(), who, name, what, text, command }
    }
}

impl Command {
    fn of(commanded: Commanded) -> Self {
        let Commanded { request, command: name, params, came, undoes, undo } = commanded;
        let (came, error) = match came {
            Came::Open => ("open", None),
            Came::Done => ("done", None),
            Came::Failed(text) => ("failed", Some(text)),
        };
        let params = params.map(|params: Value| texts::cut(params.to_string(), PARAMS_CHARS));
        let undo = undo.map(|standing| match standing {
            Reversal::Undoable => "can",
            Reversal::Undone => "undone",
            Reversal::Covered => "covered",
            Reversal::Passed => "passed",
        });
        Self { request, name, params, came, error, undoes, undo }
    }
}
