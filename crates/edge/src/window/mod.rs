//! The Window Protocol: a phone asks how things stand, reads what was said, and follows on a socket.

pub mod attachments;
mod bucket;
mod cards;
pub mod door;
mod frames;
mod hear;
mod history;
mod hold;
mod keys;
mod line;
pub mod presence;
mod pump;
mod push;
mod reach;
mod refusal;
mod reply;
mod rows;
mod second;
mod send;
mod story;
mod typing;
mod values;

use std::sync::Arc;

use axum::{
    Extension, Json as Reply,
    extract::{Request, State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::{HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use kernel::{
    ports::{Attic, Shelf, StoreError},
    update::{Seq, SessionId},
};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{
    router::{OpenApiRouter, UtoipaMethodRouterExt as _},
    routes,
};

pub use door::Caller;
pub use refusal::not_let_in;

use crate::{
    App, auth,
    devices::{Device, Scope},
    error::{ApiError, ErrorBody},
    listen::Peer,
    socket::{Manners, READ_BUFFER, WRITE_BUFFER},
};
use frames::Status as Doing;
use line::{AGENT, Line};
use pump::{Pump, Voice};
use rows::{Role, Row};
use second::Second;
use values::{Filling, row_id, time};

/// The record of the conversation that all phones share.
const SHARED: &str = "conversation";
/// What its first client calls its conversation.
const OWN: &str = "ios-default";

type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(status).map(|it| it.fallback(refusal::method)))
        .routes(routes!(messages).map(|it| it.fallback(refusal::method)))
        .route("/window/status", get(status).fallback(refusal::method))
        .route("/window/messages", get(messages).fallback(refusal::method))
        .route("/window/ws", get(socket).fallback(refusal::method))
        .merge(keys::routes())
        .merge(attachments::routes())
        .merge(push::routes())
}

#[derive(Serialize, ToSchema)]
#[schema(as = WindowStatus)]
pub struct Standing {
    agent: &'static str,
    /// `idle` or `busy`.
    #[schema(value_type = String, example = "idle")]
    status: Doing,
    /// From 1, empty, to 0, full.
    #[schema(minimum = 0, maximum = 1)]
    context_remaining: f64,
    /// What fills the context, in tokens.
    tokens_used: i64,
    version: &'static str,
}

/// How the agent stands, for a phone
///
/// Waits a few seconds if the phone's socket was lost and has not come back: see `docs/phone.md`.
#[utoipa::path(get, path = "/status", tag = "phone",
    responses((status = 200, body = Standing), (status = 401, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
async fn status(
    State(app): State<Arc<App>>,
    Extension(Caller(device)): Extension<Caller>,
    uri: Uri,
) -> Response {
    answer(standing(&app, &device, &uri).await)
}

async fn standing(app: &App, device: &Arc<Device>, uri: &Uri) -> Result<Reply<Standing>, ApiError> {
    let session = conversation(app, device, uri).await?;
    let presence = app.phones.of(&device.id);
    presence.talk(session).await?;
    let revoked = device.revocation();
    let closing = app.host.is_closing();
    // Version 2 comes back by itself.
    let waits = version(uri) == 1;
    if closing
        || waits && hold::wait(&presence, app.phones.started, revoked).await == hold::Answer::Busy
    {
        return Err(ApiError::unavailable("come back in a moment"));
    }
    if *device.revocation().borrow() {
        return Err(ApiError::no_device());
    }
    let state = app.host.roster.get(session).unwrap_or_default();
    let filling = Filling::of(&state, app.host.ports.models.as_ref());
    Ok(Reply(Standing {
        agent: AGENT,
        status: Doing::of(state.is_unfinished()),
        context_remaining: filling.remaining,
        tokens_used: filling.used,
        version: env!("CARGO_PKG_VERSION"),
    }))
}

#[derive(Serialize, ToSchema)]
#[schema(as = WindowMessages)]
pub struct Page {
    /// Oldest first.
    messages: Vec<Shown>,
    /// With `v=2`: the end of the log, from where a socket goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_seq: Option<u64>,
    /// With `v=2`: whether there are older ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    has_more: Option<bool>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = WindowMessage)]
struct Shown {
    id: String,
    /// `user` or `agent`.
    #[schema(value_type = String, example = "agent")]
    role: &'static str,
    content: String,
    /// In whole seconds of UTC.
    #[schema(example = "2026-02-07T10:30:00Z")]
    timestamp: String,
    /// With `v=2`: its place in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// With `v=2`: what came with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    attachments: Option<Vec<second::frames::File>>,
}

impl Shown {
    async fn of(
        attic: &dyn Attic,
        session: SessionId,
        version: u8,
        row: Row,
    ) -> Result<Self, StoreError> {
        let role = match row.role {
            Role::User => "user",
            Role::Agent => "agent",
        };
        let (id, timestamp) = (row_id(session, row.seq, row.at), time(row.at));
        if version == 1 {
            let content = attachments::linked(session, &row);
            return Ok(Self { id, role, content, timestamp, seq: None, attachments: None });
        }
        let files = attachments::listed(attic, session, &row.files).await?;
        let attachments = (!files.is_empty()).then_some(files);
        let (content, seq) = (row.content, Some(row.seq.0));
        Ok(Self { id, role, content, timestamp, seq, attachments })
    }
}

/// What was said, for a phone
///
/// The newest `limit` messages (20, at most 200), or the newest before `before`, oldest first. A page
/// never ends within a second, so it may be longer than was asked.
#[utoipa::path(get, path = "/messages", tag = "phone",
    params(("limit" = Option<u32>, Query), ("before" = Option<String>, Query),
        ("v" = Option<u32>, Query, description = "2 for version 2 of the protocol."),
        ("before_seq" = Option<u64>, Query, description = "With `v=2`: the newest before this place."))
    ,
    responses((status = 200, body = Page), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 429, body = ErrorBody)))]
async fn messages(
    State(app): State<Arc<App>>,
    Extension(Caller(device)): Extension<Caller>,
    uri: Uri,
) -> Response {
    answer(page(&app, &device, &uri).await)
}

async fn page(app: &App, device: &Arc<Device>, uri: &Uri) -> Result<Reply<Page>, ApiError> {
    let presence = app.phones.of(&device.id);
    if !presence.may_read() {
        return Err(ApiError::rate_limited("too many pages in a short time"));
    }
    let session = conversation(app, device, uri).await?;
    let before = match text(uri, "before").filter(|before| !before.is_empty()) {
        Some(before) => Some(history::moment(&before).ok_or_else(|| {
            ApiError::bad_request("before must be a time such as 2026-02-07T10:30:00Z")
        })?),
        None => None,
    };
    let limit = text(uri, "limit").and_then(|limit| limit.parse::<i64>().ok());
    let limit = limit.and_then(|limit| usize::try_from(limit.max(1)).ok());
    let limit = limit.unwrap_or(history::LIMIT).min(history::MOST);
    presence.talk(session).await?;
    let last = app.host.roster.get(session).map(|state| state.last).unwrap_or_default();
    let log = app.host.ports.log.as_ref();
    let version = version(uri);
    let rows = match text(uri, "before_seq").filter(|_| version == 2) {
        Some(place) => {
            let place = whole("before_seq", &place)?.clamp(Seq(1), last.next());
            history::page_before(log, session, place, limit).await?
        }
        None => history::page(log, session, last, before, limit).await?,
    };
    if before.is_none() && version == 1 {
        presence.read(session, last);
        presence.save(session).await?;
    }
    let has_more = match rows.first() {
        Some(oldest) if version == 2 => {
            Some(!history::page_before(log, session, oldest.seq, 1).await?.is_empty())
        }
        _ => (version == 2).then_some(false),
    };
    let last_seq = (version == 2).then_some(last.0);
    let mut messages = Vec::with_capacity(rows.len());
    for row in rows {
        let attic = app.host.ports.attic.as_ref();
        messages.push(Shown::of(attic, session, version, row).await?);
    }
    Ok(Reply(Page { messages, last_seq, has_more }))
}

/// The version that is asked for, as far as we know it.
fn version(uri: &Uri) -> u8 {
    let asked = text(uri, "v").and_then(|text| text.parse::<u64>().ok());
    if asked.is_some_and(|asked| asked >= 2) { 2 } else { 1 }
}

/// A place in a log.
fn whole(name: &str, text: &str) -> Result<Seq, ApiError> {
    let number = text.parse::<u64>().map(Seq);
    number.map_err(|_| ApiError::bad_request(format!("{name} must be a whole number from 0 on")))
}

/// A socket of a phone, which has shown its key.
pub async fn socket(
    State(app): State<Arc<App>>,
    Extension(Caller(device)): Extension<Caller>,
    upgrade: Upgrade,
    request: Request,
) -> Response {
    let Ok(upgrade) = upgrade else { return refusal::upgrade() };
    let uri = request.uri().clone();
    let peer = request.extensions().get::<Peer>().cloned();
    match connect(app, device, &uri, upgrade, peer).await {
        Ok(response) => response,
        Err(error) => refusal::dress(error.into_response()),
    }
}

async fn connect(
    app: Arc<App>,
    device: Arc<Device>,
    uri: &Uri,
    upgrade: WebSocketUpgrade,
    peer: Option<Peer>,
) -> Result<Response, ApiError> {
    let session = conversation(&app, &device, uri).await?;
    let presence = app.phones.of(&device.id);
    if version(uri) == 2 {
        let after = text(uri, "after_seq").map(|text| whole("after_seq", &text)).transpose()?;
        let (line, feed) = Second::begin(app.clone(), device, session, after).await?;
        let Some(mut place) = presence.enter() else {
            return Err(ApiError::rate_limited("this device has too many sockets"));
        };
        // Nothing waits for it to come back: it knows how far it has come.
        place.well = true;
        let closing = app.closing.subscribe();
        return Ok(opened(upgrade, Pump { socket: (), line, feed, place, closing, peer }));
    }
    let talk = presence.talk(session).await?;
    let feed = app.host.feed(session, talk.resume()).await?;
    let after = feed.last();
    let line = Line::begin(app.clone(), device.clone(), presence.clone(), session, after).await?;
    // Those it had before may be dead without our knowing.
    presence.doubt();
    let Some(place) = presence.enter() else {
        return Err(ApiError::rate_limited("this device has too many sockets"));
    };
    presence.arrived(session, after);
    presence.save(session).await?;
    let closing = app.closing.subscribe();
    Ok(opened(upgrade, Pump { socket: (), line, feed, place, closing, peer }))
}

fn opened<V: Voice + 'static>(upgrade: WebSocketUpgrade, pump: Pump<V, ()>) -> Response {
    upgrade
        .max_message_size(Manners::USUAL.read_bytes)
        .max_frame_size(Manners::USUAL.read_bytes)
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .on_upgrade(|socket| pump.over(socket).run())
}

/// The conversation that is meant: the device's own, or one it names and may see.
async fn conversation(app: &App, device: &Device, uri: &Uri) -> Result<SessionId, ApiError> {
    let own = own(app, device).await?;
    match text(uri, "chat_id").filter(|name| !name.is_empty() && name != OWN) {
        None => Ok(own),
        Some(name) => {
            let absent = || ApiError::no_session(&name);
            let id = SessionId::parse(&name).ok_or_else(absent)?;
            if sees(app, device, id).await? { Ok(id) } else { Err(absent()) }
        }
    }
}

/// Whether a device may take part in a conversation, which must exist.
async fn sees(app: &App, device: &Device, id: SessionId) -> Result<bool, ApiError> {
    let exists = app.host.roster.get(id).is_some();
    Ok(exists && (device.scope == Scope::Everything || own(app, device).await? == id))
}

/// Whether a device is told of what happens there.
pub async fn hears(app: &App, device: &Device, session: SessionId) -> Result<bool, StoreError> {
    Ok(device.scope == Scope::Everything || made(app, device).await? == Some(session))
}

/// The conversation of a device, as far as it was made already.
async fn made(app: &App, device: &Device) -> Result<Option<SessionId>, StoreError> {
    let exists = |id: &SessionId| app.host.roster.get(*id).is_some();
    match device.session.filter(exists) {
        Some(id) => Ok(Some(id)),
        None => Ok(shared(app).await?.filter(exists)),
    }
}

async fn own(app: &App, device: &Device) -> Result<SessionId, ApiError> {
    if let Some(id) = made(app, device).await? {
        return Ok(id);
    }
    // Two phones that come at once get one conversation.
    let _making = app.phones.making.lock().await;
    if let Some(id) = made(app, device).await? {
        return Ok(id);
    }
    let model = app.clients.model().await?;
    let id = app.host.create(&app.host.ports.workspace, &model, "phone").await?;
    app.host.ports.catalog.save(Shelf::Devices, SHARED, &id).await?;
    app.phones.share(id);
    Ok(id)
}

async fn shared(app: &App) -> Result<Option<SessionId>, StoreError> {
    if let Some(id) = app.phones.shared() {
        return Ok(Some(id));
    }
    let id = app.host.ports.catalog.load(Shelf::Devices, SHARED).await?;
    if let Some(id) = id {
        app.phones.share(id);
    }
    Ok(id)
}

fn text(uri: &Uri, name: &str) -> Option<String> {
    let value = auth::query(uri, name)?;
    Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
}

/// Nothing of this is kept by anybody on the way.
fn answer<T: Serialize>(answer: Result<Reply<T>, ApiError>) -> Response {
    let mut response = match answer {
        Ok(body) => body.into_response(),
        Err(error) => error.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if response.status() == StatusCode::OK {
        return response;
    }
    refusal::dress(response)
}
