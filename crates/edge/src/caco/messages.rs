//! Speaking to a session over HTTP, stopping it, and looking at what was said.

use std::sync::Arc;

use axum::{Json as Reply, extract::State};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use kernel::{
    ports::StoreError,
    state::State as SessionState,
    update::{Attachment, Fact, Message, Origin, Seq, SessionId, WhenBusy},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{
    hear::{Place, is_slug},
    sessions::{at_most, known},
};
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::{self, ClientId, IdempotencyKey, Json, LARGE, SessionPath},
};

/// How many messages the debug view shows, the newest.
const DEBUG_MESSAGES: usize = 1000;
const PAGE: usize = 256;
const FLOW_CHARS: usize = 255;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewMessage {
    #[schema(min_length = 1)]
    prompt: String,
    /// `data:image/...;base64,...`
    #[serde(default, deserialize_with = "extract::text")]
    image_data: Option<String>,
    /// Merged into the applet's state.
    applet_state: Option<Map<String, Value>>,
    applet_navigation: Option<Map<String, Value>>,
    #[serde(default)]
    source: SourceName,
    #[serde(default, deserialize_with = "extract::text")]
    applet_slug: Option<String>,
    #[serde(default, deserialize_with = "extract::text")]
    from_session: Option<String>,
    #[serde(default, deserialize_with = "extract::text")]
    schedule_slug: Option<String>,
    /// Required for calls between agents.
    #[serde(default, deserialize_with = "extract::text")]
    #[schema(max_length = 255)]
    correlation_id: Option<String>,
    /// Wait for its turn instead of being refused while the session is busy.
    #[serde(default)]
    queue: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
enum SourceName {
    #[default]
    User,
    Applet,
    Agent,
    Scheduler,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    ok: bool,
    #[schema(value_type = String)]
    session_id: SessionId,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    queued: bool,
    /// Its place in the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
}

/// Send a message
///
/// Answered as soon as the message is safe; the reply streams over the WebSocket. With an
/// `Idempotency-Key` header, sending the same message again changes nothing and is answered alike.
#[utoipa::path(post, path = "/api/sessions/{id}/messages", tag = "messages",
    request_body = NewMessage,
    params(SessionPath, ClientId, IdempotencyKey),
    responses((status = 200, body = Accepted), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 413, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub async fn post(
    State(app): State<Arc<App>>,
    ClientId(client): ClientId,
    IdempotencyKey(key): IdempotencyKey,
    SessionPath(text): SessionPath,
    Json(body): Json<Map<String, Value>, LARGE>,
) -> Result<Reply<Accepted>, ApiError> {
    let body = read(body)?;
    if body.from_session.is_some() && body.correlation_id.is_none() {
        let message = "correlationId required for agent-initiated calls";
        return Err(ApiError::bad_request(message));
    }
    let id = known(&text)?;
    let state = app.host.roster.get(id).ok_or_else(|| ApiError::no_session(&text))?;
    if let Some(key) = &key
        && let Some(accepted) = repeated(&app, id, &state, key, &body.prompt).await?
    {
        return Ok(Reply(accepted));
    }
    if state.is_busy() && !body.queue {
        return Err(ApiError::busy());
    }
    if body.source == SourceName::Agent && body.from_session.as_deref() == Some(&text) {
        return Err(ApiError::bad_request("Cannot post to own session"));
    }
    if let Some(flow) = &body.correlation_id {
        at_most("correlationId", flow, FLOW_CHARS)?;
        app.host.may_post(id, flow)?;
    }
    let image = body.image_data.as_deref().map(image).transpose()?;
    if [&body.applet_slug, &body.schedule_slug].into_iter().flatten().any(|it| !is_slug(it)) {
        return Err(ApiError::bad_request("Invalid slug"));
    }
    let origin = body.origin();
    let when_busy = if body.queue { WhenBusy::Queue } else { WhenBusy::Refuse };
    let flow = body.correlation_id.unwrap_or_default();
    let place = Place { session: Some(text), slug: body.applet_slug };
    let applet = app.clients.applet_key(&client, place, None).await?;
    if let Some(state) = body.applet_state {
        app.host.applets.merge(&applet, state).await?;
    }
    if let Some(navigation) = body.applet_navigation {
        app.host.applets.navigate(&applet, &navigation).await?;
    }
    let mut attachments = Vec::new();
    if let Some((kind, bytes)) = image {
        attachments.push(keep(&app, id, &kind, bytes).await?);
    }
    let message = Message { text: body.prompt, origin, attachments, flow, key };
    let receipt = app.host.post(id, message, when_busy).await?;
    let position = receipt.queued;
    Ok(Reply(Accepted { ok: true, session_id: id, queued: position.is_some(), position }))
}

/// What was said counts before how the rest of the request looks.
fn read(body: Map<String, Value>) -> Result<NewMessage, ApiError> {
    match body.get("prompt") {
        Some(Value::String(prompt)) if !prompt.is_empty() => (),
        None | Some(Value::Null | Value::String(_)) => {
            return Err(ApiError::bad_request("prompt is required"));
        }
        Some(_) => return Err(ApiError::bad_request("prompt must be a string")),
    }
    serde_path_to_error::deserialize(Value::Object(body)).map_err(|error| {
        ApiError::bad_request(format!("Invalid JSON body: {}: {}", error.path(), error.inner()))
    })
}

impl NewMessage {
    /// A source without the name of whoever it is counts as the person.
    fn origin(&self) -> Origin {
        let (slug, schedule) = (self.applet_slug.clone(), self.schedule_slug.clone());
        let named = match self.source {
            SourceName::User => None,
            SourceName::Applet => slug.map(|slug| Origin::Applet { slug }),
            SourceName::Agent => self.from_session.clone().map(|session| Origin::Agent { session }),
            SourceName::Scheduler => schedule.map(|slug| Origin::Schedule { slug, errand: None }),
        };
        named.unwrap_or_default()
    }
}

/// The answer given before, if this message was sent before.
async fn repeated(
    app: &App,
    id: SessionId,
    state: &SessionState,
    key: &str,
    prompt: &str,
) -> Result<Option<Accepted>, ApiError> {
    let Some(entry) = app.host.ports.log.keyed(id, key).await? else { return Ok(None) };
    let (said, position) = match entry.fact {
        Fact::Said { message, .. } => (message, None),
        Fact::Queued(message) => {
            let place = state.queue.iter().position(|waiting| *waiting == entry.seq);
            (message, Some(place.unwrap_or_default() + 1))
        }
        _ => return Ok(None),
    };
    if said.text != prompt {
        return Err(ApiError::key_reused());
    }
    Ok(Some(Accepted { ok: true, session_id: id, queued: position.is_some(), position }))
}

/// The kind and the bytes of `data:image/KIND;base64,BYTES`.
fn image(data: &str) -> Result<(String, Vec<u8>), ApiError> {
    let invalid = || ApiError::bad_request("Invalid image data");
    let (kind, encoded) = data
        .strip_prefix("data:image/")
        .and_then(|rest| rest.split_once(";base64,"))
        .ok_or_else(invalid)?;
    let is_word =
        !kind.is_empty() && kind.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    if !is_word || encoded.is_empty() {
        return Err(invalid());
    }
    Ok((kind.to_ascii_lowercase(), STANDARD.decode(encoded).map_err(|_| invalid())?))
}

async fn keep(
    app: &App,
    id: SessionId,
    kind: &str,
    bytes: Vec<u8>,
) -> Result<Attachment, StoreError> {
    let extension = match kind {
        "jpeg" => "jpg",
        "png" | "jpg" | "gif" | "webp" | "bmp" | "avif" => kind,
        _ => "img",
    };
    let path = app.host.ports.attic.keep(id, extension, bytes).await?;
    let (mime, name) = (format!("image/{kind}"), format!("image.{extension}"));
    Ok(Attachment { path, mime, name })
}

#[derive(Serialize, ToSchema)]
pub struct Done {
    ok: bool,
}

/// Stop the running turn
///
/// Always succeeds: what is not running needs no stopping. Messages that wait run next.
#[utoipa::path(post, path = "/api/sessions/{id}/cancel", tag = "messages",
    params(SessionPath),
    responses((status = 200, body = Done)))]
pub async fn cancel(
    State(app): State<Arc<App>>,
    SessionPath(text): SessionPath,
) -> Result<Reply<Done>, ApiError> {
    if let Some(id) = SessionId::parse(&text) {
        app.host.cancel(id).await?;
    }
    Ok(Reply(Done { ok: true }))
}

#[derive(Serialize, ToSchema)]
pub struct DebugMessages {
    count: usize,
    messages: Vec<DebugMessage>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DebugMessage {
    #[schema(value_type = String, example = "user.message")]
    r#type: &'static str,
    content: String,
    has_tool_requests: bool,
}

/// What was said in the client's active session
///
/// The newest thousand messages.
#[utoipa::path(get, path = "/api/debug/messages", tag = "messages",
    params(ClientId),
    responses((status = 200, body = DebugMessages)))]
pub async fn debug(
    State(app): State<Arc<App>>,
    ClientId(client): ClientId,
) -> Result<Reply<DebugMessages>, ApiError> {
    let mut messages = Vec::new();
    if let Some(id) = app.clients.active(&client).await? {
        let mut before = Seq(u64::MAX >> 1);
        while messages.len() < DEBUG_MESSAGES {
            let page = app.host.ports.log.read_back(id, before, PAGE).await?;
            let Some(oldest) = page.last() else { break };
            before = oldest.seq;
            messages.extend(page.into_iter().filter_map(|entry| debug_message(entry.fact)));
        }
        messages.truncate(DEBUG_MESSAGES);
        messages.reverse();
    }
    Ok(Reply(DebugMessages { count: messages.len(), messages }))
}

fn debug_message(fact: Fact) -> Option<DebugMessage> {
    let (r#type, content, has_tool_requests) = match fact {
        Fact::Said { message, .. } => ("user.message", message.text, false),
        Fact::Answered(answer) => ("assistant.message", answer.text, !answer.calls.is_empty()),
        _ => return None,
    };
    Some(DebugMessage { r#type, content, has_tool_requests })
}
