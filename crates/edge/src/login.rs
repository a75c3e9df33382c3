//! The way in for a browser: a printed one-time address, or the key typed by hand.

use std::{net::IpAddr, sync::Arc};

use axum::{
    Json,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse as _, Response},
};
use http_body_util::{BodyExt as _, Limited};
use kernel::update::SessionId;
use serde_json::json;

use crate::{
    auth::{self, Access},
    codes::Purpose,
    devices::{Device, Scope},
    error::ApiError,
    listen::{Peer, Way},
};

/// A key is short; so is the form that carries it.
const FORM_BYTES: usize = 4096;

pub enum Reason {
    /// Somebody wants to log in.
    Asked,
    /// Somebody came by another door who must log in first.
    Unknown,
    UsedCode,
    WrongKey,
    /// It opens the doors for phones, and no others.
    PhoneKey,
}

/// With a code, logs in; without, shows the form.
pub async fn visit(State(access): State<Arc<Access>>, request: Request) -> Response {
    match auth::query(request.uri(), "code") {
        Some(code) if access.codes.redeem(code, Purpose::Login, access.clock.now()).is_some() => {
            access.lockout.greeted(from(&request));
            // Nothing else of an address is followed: it may have been made up.
            let session = auth::query(request.uri(), "session").and_then(SessionId::parse);
            enter(&access, None, session, way(&request))
        }
        Some(_) => mistaken(&access, from(&request), &Reason::UsedCode),
        None => page(&Reason::Asked),
    }
}

fn from(request: &Request) -> Option<IpAddr> {
    request.extensions().get::<Peer>().map(|peer| peer.address.ip())
}

fn way(request: &Request) -> Way {
    request.extensions().get::<Peer>().map_or(Way::Plain, |peer| peer.way)
}

fn mistaken(access: &Access, from: Option<IpAddr>, reason: &Reason) -> Response {
    match access.lockout.mistook(from) {
        Some(wait) => ApiError::locked_out(wait),
        None => page(reason),
    }
}

pub async fn submit(State(access): State<Arc<Access>>, request: Request) -> Response {
    let (from, way) = (from(&request), way(&request));
    let body = match Limited::new(request.into_body(), FORM_BYTES).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => return ApiError::too_large("Request body too large").into_response(),
    };
    // Keys hold nothing that a form would escape.
    let key = body.strip_prefix(b"key=").and_then(|key| std::str::from_utf8(key).ok());
    let known = key.map(|key| (access.keys.accepts(key), access.devices.find(key.as_bytes())));
    match known {
        Some((true, _)) => {
            access.lockout.greeted(from);
            enter(&access, None, None, way)
        }
        Some((false, Some(device))) if device.scope == Scope::Everything => {
            access.lockout.greeted(from);
            enter(&access, Some(&device), None, way)
        }
        Some((false, Some(_))) => page(&Reason::PhoneKey),
        Some((false, None)) | None => mistaken(&access, from, &Reason::WrongKey),
    }
}

/// This browser is known no more; others stay.
pub async fn leave(State(access): State<Arc<Access>>) -> Response {
    match access.logout_cookie() {
        Ok(cookie) => ([(header::SET_COOKIE, cookie)], Json(json!({ "ok": true }))).into_response(),
        Err(error) => ApiError::internal(error.to_string()).into_response(),
    }
}

/// A page that moves on, not a redirect: a strict cookie would not travel with a redirect that
/// began on somebody else's site.
fn enter(
    access: &Access,
    device: Option<&Device>,
    session: Option<SessionId>,
    way: Way,
) -> Response {
    let cookie = match access.login_cookie(device, way) {
        Ok(Some(cookie)) => cookie,
        Ok(None) => return page(&Reason::WrongKey),
        Err(error) => return ApiError::internal(error.to_string()).into_response(),
    };
    let place = session.map_or_else(|| "/".to_owned(), |session| format!("/?session={session}"));
    let html = format!(
        "{HEAD}<meta http-equiv=\"refresh\" content=\"0;url={place}\"><main><p>Welcome. <a \
         href=\"{place}\">Go to Megaron</a></p></main>"
    );
    let mut response = Html(html).into_response();
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    private(response)
}

pub fn page(reason: &Reason) -> Response {
    let status = match reason {
        Reason::Asked => StatusCode::OK,
        Reason::Unknown | Reason::UsedCode | Reason::WrongKey | Reason::PhoneKey => {
            StatusCode::UNAUTHORIZED
        }
    };
    let notice = match reason {
        Reason::Asked | Reason::Unknown => "",
        Reason::UsedCode => "<p role=\"alert\">This login link has been used or is too old.</p>",
        Reason::WrongKey => "<p role=\"alert\">That is not the key.</p>",
        Reason::PhoneKey => {
            "<p role=\"alert\">This key is for the app. One that opens the page is made with \
             <code>megaron pair --everything</code>.</p>"
        }
    };
    let html = format!(
        "{HEAD}<main><h1>Megaron</h1>{notice}<p>Open the login link that <code>megaron serve</code> \
         printed, or enter the API key. <code>megaron key show</code> prints it.</p><form \
         method=\"post\" action=\"/login\"><label for=\"key\">API key</label><input id=\"key\" \
         name=\"key\" type=\"password\" autocomplete=\"current-password\" required autofocus> \
         <button>Log in</button></form></main>"
    );
    private((status, Html(html)).into_response())
}

fn private(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The stylesheet is a file of its own, because the page's policy allows nothing inline.
const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta \
    name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light \
    dark\"><title>Megaron</title><link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" \
    href=\"/login.css\">";

pub async fn style() -> impl axum::response::IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("login.css"))
}
