//! The other origin: what is shown in frames is served here, to whoever has a ticket, and nothing else is.

pub mod inject;
pub mod policy;
pub mod site;

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, Uri, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use serde_json::Value;

use crate::{
    applet::gate::Gate,
    auth,
    frames::{Frames, Looked, origin::FrameOrigin},
    listen::{Peer, Way},
    page,
};
use site::Served;

/// Where a document of a frame finds what we lend it; no site has a file of this name.
const SDK: &str = "__megaron/sdk.js";

const AWAY: &str = "<!doctype html><title>Megaron</title><script src=\"/away.js\"></script>";
const AWAY_SCRIPT: &str =
    "parent.postMessage({ type: 'megaron:open', search: location.search }, '*');\n";

/// What the listener needs to know to answer.
pub struct Sandbox {
    pub frames: Arc<Frames>,
    pub listen: SocketAddr,
    /// Names we answer to besides our address and `localhost`.
    pub names: Vec<String>,
    /// What applets may ask of us.
    pub api: Gate,
}

pub fn router(sandbox: Sandbox) -> Router {
    Router::new()
        .fallback(serve)
        .with_state(Arc::new(sandbox))
        .layer(axum::middleware::from_fn(harden))
}

/// Cookies and keys are not looked at: a ticket is all that counts.
async fn serve(State(sandbox): State<Arc<Sandbox>>, request: Request) -> Response {
    let peer = request.extensions().get::<Peer>();
    if peer.is_some_and(|peer| peer.way == Way::Exposed) {
        return refuse(StatusCode::FORBIDDEN, "This is reached by https:// from other machines.");
    }
    let Some(host) = sandbox.host(&request) else {
        return refuse(StatusCode::FORBIDDEN, "Host not allowed");
    };
    if let Some(answer) = away(request.uri()) {
        return answer;
    }
    let Some((ticket, path)) = split(request.uri()) else { return nothing() };
    let Some(frame) = sandbox.frames.look(ticket) else { return nothing() };
    if let Some(capability) = frame.capability.as_ref().filter(|_| path.starts_with("api/")) {
        let (capability, at) = (capability.clone(), format!("/{path}"));
        return sandbox.api.answer(&capability, &at, request).await;
    }
    let method = request.method();
    if method != Method::GET && method != Method::HEAD {
        let mut answer = refuse(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD work here");
        answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return answer;
    }
    let Some(path) = clean(path) else { return nothing() };
    if path == SDK {
        return script(&frame);
    }
    let Some(served) = frame.site.file(&path).await else { return nothing() };
    let host = sandbox.frames.named().map_or(host, FrameOrigin::authority);
    show(&frame, host, ticket, served)
}

impl Sandbox {
    fn host<'a>(&self, request: &'a Request) -> Option<&'a str> {
        let mut hosts = request.headers().get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return None };
        let host = host.to_str().ok()?;
        let named = request.uri().authority().map(Authority::as_str);
        let ours = |name: &str| auth::answers_to(name, self.listen.ip(), &self.names);
        [Some(host), named].into_iter().flatten().all(ours).then_some(host)
    }
}

fn show(frame: &Looked, host: &str, ticket: &str, Served { mime, bytes }: Served) -> Response {
    let is_document = mime.starts_with("text/html");
    let bytes = if is_document {
        let tag = format!("<script src=\"/f/{ticket}/{SDK}\"></script>");
        Bytes::from(inject::inject(&bytes, &tag))
    } else {
        bytes
    };
    let own = format!("{host}/f/{ticket}/");
    let policy = frame.site.policy(&own, &frame.ancestor);
    let cache = frame.site.cache().to_owned();
    let headers = [(header::CONTENT_TYPE, mime), (header::CACHE_CONTROL, cache)];
    let mut answer = (headers, bytes).into_response();
    match HeaderValue::try_from(policy) {
        Ok(policy) => drop(answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy)),
        // Without its policy nothing is shown.
        Err(_) => return nothing(),
    }
    answer
}

/// What every document is lent, and the word by which the page knows it for ours.
fn script(frame: &Looked) -> Response {
    let rest = page::sdk().unwrap_or_else(|| {
        Bytes::from_static(b"console.error('The page is not part of this build of Megaron.');\n")
    });
    let mut told = frame.told.clone();
    told.insert("nonce".to_owned(), frame.nonce.clone().into());
    let mut text = format!("globalThis.__megaron={};\n", Value::Object(told)).into_bytes();
    text.extend_from_slice(&rest);
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], text).into_response()
}

/// A frame that went to the front door of the page, as links in applets do, ends up at ours. Who is
/// there tells the page around it where it meant to go.
fn away(uri: &Uri) -> Option<Response> {
    let (kind, text) = match uri.path() {
        "/" if uri.query().is_some_and(|query| query.contains("applet=")) => {
            ("text/html; charset=utf-8", AWAY)
        }
        "/away.js" => ("text/javascript; charset=utf-8", AWAY_SCRIPT),
        _ => return None,
    };
    let mut answer = ([(header::CONTENT_TYPE, kind)], text).into_response();
    let policy = "default-src 'none'; script-src 'self'; sandbox allow-scripts";
    answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    Some(answer)
}

fn nothing() -> Response {
    refuse(StatusCode::NOT_FOUND, "There is nothing here, or no longer.")
}

fn refuse(status: StatusCode, text: &'static str) -> Response {
    let mut answer = (status, text).into_response();
    let policy = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");
    answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    answer
}

/// On every answer, whatever it is. Frames have an origin that equals no other, not even itself, so
/// that what they load of their own is loaded across origins.
async fn harden(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("access-control-allow-origin", "*"),
        ("cross-origin-resource-policy", "cross-origin"),
        ("x-dns-prefetch-control", "off"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The ticket and what is asked for with it, as it was written.
fn split(uri: &Uri) -> Option<(&str, &str)> {
    uri.path().strip_prefix("/f/")?.split_once('/')
}

/// A path as sites know it: decoded once, of plain names only. A folder stands for its index.
fn clean(path: &str) -> Option<String> {
    let decoded = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
    let named = match decoded.as_ref() {
        folder if folder.is_empty() || folder.ends_with('/') => format!("{folder}index.html"),
        file => file.to_owned(),
    };
    let plain = |name: &str| {
        let odd = |it: char| it.is_control() || matches!(it, '\\' | ':' | '%');
        !name.is_empty() && !name.starts_with('.') && !name.contains(odd)
    };
    named.split('/').all(plain).then_some(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_reach_a_site() {
        for (path, expected) in [
            ("", Some("index.html")),
            ("board.js", Some("board.js")),
            ("a/b%20c.txt", Some("a/b c.txt")),
            ("pictures/", Some("pictures/index.html")),
            ("..", None),
            ("../key", None),
            ("a/../../key", None),
            ("%2e%2e/key", None),
            ("%2E%2E%2Fkey", None),
            ("..%5ckey", None),
            ("%252e%252e/key", None),
            ("a//b", None),
            ("/etc/passwd", None),
            ("//etc/passwd", None),
            (".env", None),
            ("a/.git/config", None),
            ("C:/key", None),
            ("a%00.js", None),
            ("a%0a", None),
            ("%ff", None),
            ("a\\b", None),
        ] {
            assert_eq!(clean(path).as_deref(), expected, "{path}");
        }
    }
}
