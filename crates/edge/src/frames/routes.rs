//! Asking for a frame, and being done with it.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Extension, Json as Reply,
    extract::{Path, State},
    http::{HeaderMap, header},
};
use kernel::update::SessionId;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{Kept, OpenError, Opened, Page, tenant::Tenant, window};
use crate::{
    App, applet,
    auth::Entered,
    cabinet,
    error::{ApiError, ErrorBody},
    extract::{self, ClientId, Json},
    listen::{Peer, Way},
    widgets,
};

#[derive(Serialize, ToSchema)]
pub struct Offers {
    offers: Vec<Offered>,
}

/// What can be opened in a frame.
#[derive(Serialize, ToSchema)]
struct Offered {
    #[schema(example = "app")]
    kind: &'static str,
    #[schema(example = "demo")]
    id: String,
    title: String,
    description: String,
    /// It belongs in a window of a session, where agents can ask it something.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    window: bool,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewFrame {
    #[schema(example = "app")]
    kind: String,
    #[schema(example = "demo")]
    #[serde(alias = "slug")]
    id: String,
    /// The session it speaks in.
    #[serde(default, deserialize_with = "extract::text")]
    session_id: Option<String>,
    /// What stands in the address of an applet; for a widget, the `theme`, `locale` and `timeZone` of the page,
    /// and as JSON in `context` whatever else is around it.
    #[serde(default)]
    params: BTreeMap<String, String>,
    /// Leaves what an applet said of itself before.
    #[serde(default)]
    keep_state: bool,
    /// Of a window that is on show: what it was given before the server was started anew.
    keep: Option<KeptTicket>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct KeptTicket {
    #[schema(value_type = String)]
    frame_id: Uuid,
    url: String,
    nonce: String,
}

impl KeptTicket {
    fn read(self) -> Result<Kept, ApiError> {
        let plain = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
        let secret = |text: &str| text.len() >= 43 && text.len() <= 64 && text.bytes().all(plain);
        let ticket = self.url.split_once("/f/").and_then(|(_, rest)| rest.split('/').next());
        let ticket = ticket.filter(|ticket| secret(ticket) && secret(&self.nonce));
        let ticket = ticket.map(str::to_owned);
        let ticket = ticket.ok_or_else(|| ApiError::bad_request("keep: no ticket of ours"))?;
        Ok(Kept { id: self.frame_id, ticket, nonce: self.nonce })
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewTicket {
    #[schema(value_type = String)]
    frame_id: Uuid,
    /// On another origin, and good for as long as the frame is.
    url: String,
    /// For the attribute `sandbox` of the iframe.
    #[schema(example = "allow-scripts allow-forms")]
    sandbox: String,
    /// For its attribute `allow`.
    allow: String,
    title: String,
    /// The word by which its documents are known: `{"type":"megaron:hello","nonce":…}`.
    nonce: String,
}

#[derive(Serialize, ToSchema)]
pub struct Ended {
    ok: bool,
}

/// What can be opened in a frame
#[utoipa::path(get, path = "/api/frames", tag = "frames",
    responses((status = 200, body = Offers)))]
pub async fn offers(State(app): State<Arc<App>>) -> Reply<Offers> {
    let offered = |offer: &super::tenant::Offer| Offered {
        kind: offer.kind,
        id: offer.id.clone(),
        title: offer.title.clone(),
        description: offer.description.clone(),
        window: false,
    };
    let mut offers = Vec::new();
    if app.frames.is_served() {
        offers.extend(app.frames.tenants().iter().map(|it| offered(it.offer())));
        let applets = app.host.ports.gallery.list().await;
        offers.extend(applets.iter().map(|it| offered(&applet::offer(it))));
        let apps = app.host.ports.cabinet.list().await;
        let shown = apps.iter().filter(|card| !card.hidden);
        let in_window = |card| Offered { window: true, ..offered(&cabinet::offer(card)) };
        offers.extend(shown.map(in_window));
    }
    Reply(Offers { offers })
}

/// Open a frame
///
/// Its content is at `url`, on another origin, where neither cookies nor keys count. It ends with
/// the server, or when there are more than 256: then the one goes that nobody shows and that was
/// not looked at for longest.
#[utoipa::path(post, path = "/api/frames", tag = "frames", request_body = NewFrame,
    responses((status = 200, body = NewTicket), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub async fn open(
    State(app): State<Arc<App>>,
    peer: Option<Extension<Peer>>,
    entered: Option<Extension<Entered>>,
    headers: HeaderMap,
    ClientId(client): ClientId,
    Json(NewFrame { kind, id, session_id, params, keep_state, keep }): Json<NewFrame>,
) -> Result<Reply<NewTicket>, ApiError> {
    if !app.frames.is_served() {
        return Err(ApiError::not_found("this server shows no frames"));
    }
    let host = headers.get(header::HOST).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let way = peer.map_or(Way::Plain, |peer| peer.way);
    let origin = app.frames.origin(host, way).ok_or_else(ApiError::no_frame_origin)?;
    let session = session_id.as_deref().map(|text| session(&app, text)).transpose()?;
    let given = match keep.filter(|_| kind == window::KIND) {
        Some(kept) => kept.read()?,
        None => app.frames.fresh()?,
    };
    let tenant: Arc<dyn Tenant> = if kind == applet::KIND {
        let open = applet::Opening { slug: &id, session, params: &params, client: &client };
        Arc::new(applet::open(&app, open, keep_state).await?)
    } else if kind == widgets::KIND {
        Arc::new(widgets::open(&app, &id, session, &params).await?)
    } else if kind == window::KIND {
        window::open(&app, &id, session, &given).await?
    } else if let Some(tenant) = app.frames.tenant(&kind, &id) {
        tenant
    } else if kind == cabinet::KIND {
        Arc::new(cabinet::open(&app, &id, session, None, &given).await?)
    } else {
        return Err(unknown(&kind));
    };
    let entry = tenant.entry().map(|entry| path(&entry)).unwrap_or_default();
    let query = tenant.query().map(|query| format!("?{query}")).unwrap_or_default();
    // Whoever is reached by a proxy that speaks TLS is reached under the same name.
    let ancestor = format!("http://{host} https://{host}");
    let device = entered.map(|Extension(Entered(device))| device.id.clone());
    let opened = app.frames.open(tenant, session, Page { ancestor, device }, given)?;
    let Opened { id, ticket, nonce, site } = opened;
    let face = site.face();
    Ok(Reply(NewTicket {
        frame_id: id,
        url: format!("{origin}/f/{ticket}/{entry}{query}"),
        sandbox: face.sandbox(),
        allow: face.allow(),
        title: face.title.clone(),
        nonce,
    }))
}

/// End a frame
#[utoipa::path(delete, path = "/api/frames/{id}", tag = "frames",
    params(("id" = String, Path, description = "The `frameId`.")),
    responses((status = 200, body = Ended), (status = 404, body = ErrorBody)))]
pub async fn end(
    State(app): State<Arc<App>>,
    Path(text): Path<String>,
) -> Result<Reply<Ended>, ApiError> {
    let id = Uuid::try_parse(&text).ok();
    if let Some(tenant) = id.and_then(|id| app.frames.behind(id)) {
        tenant.part().await;
    }
    let ended = id.is_some_and(|id| app.frames.end(id));
    if !ended {
        return Err(ApiError::not_found(format!("Frame not found: {text}")));
    }
    Ok(Reply(Ended { ok: true }))
}

fn session(app: &App, text: &str) -> Result<SessionId, ApiError> {
    let known = SessionId::parse(text).filter(|id| app.host.roster.get(*id).is_some());
    known.ok_or_else(|| ApiError::no_session(text))
}

const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// As it stands in an address.
fn path(text: &str) -> String {
    utf8_percent_encode(text, PATH).to_string()
}

fn unknown(kind: &str) -> ApiError {
    ApiError::bad_request(format!(
        "no kind of frame is called `{kind}`; there are `app`, `applet`, `widget` and `window`"
    ))
}

impl From<OpenError> for ApiError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::TooMany => Self::conflict(error.to_string()),
            OpenError::Chance(_) => Self::internal(error.to_string()),
        }
    }
}
