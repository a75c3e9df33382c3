//! The web page and its files, embedded in the binary.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::{
    error::ApiError,
    files::Refused,
    frames::Frames,
    listen::{Peer, Way},
};

#[derive(RustEmbed)]
#[folder = "../../ui/dist"]
#[allow_missing = true]
struct Page;

/// Nothing but our own files; nothing inline; nobody may frame us.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: \
    blob:; font-src 'self' data:; connect-src 'self'; frame-src 'self' \
    https://www.youtube-nocookie.com https://player.vimeo.com https://w.soundcloud.com \
    https://open.spotify.com https://platform.twitter.com; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'; worker-src 'self'";

/// Where the policy says what it may frame.
const OWN_FRAMES: &str = "frame-src 'self'";

/// Diagrams are drawn in a frame apart, as they bring styles of their own. It reaches nothing, and
/// what it draws is shown as a picture.
const DRAWING_ROOM: &str = "diagram.html";
const DRAWING_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

/// What every document in a frame is lent, if it was built.
pub fn sdk() -> Option<bytes::Bytes> {
    Page::get("sdk/megaron-frame.js").map(|file| file.data.into_owned().into())
}

/// What every applet is lent, if it was built.
pub fn applet_runtime() -> Option<bytes::Bytes> {
    Page::get("sdk/applet-runtime.js").map(|file| file.data.into_owned().into())
}

/// Whatever no route answers: a file of the page, or nothing.
pub async fn fallback(request: Request) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    let name = match path {
        "/" => "index.html",
        "/docs" => "docs.html",
        other => other.trim_start_matches('/'),
    };
    let is_read = method == Method::GET || method == Method::HEAD;
    match Page::get(name).filter(|_| is_read && !path.starts_with("/api")) {
        Some(file) => serve(name, file, accepted(request.headers())),
        None if is_read && path == "/" => unbuilt(),
        None => {
            let missing = ApiError::not_found(format!("Not found: {method} {path}"));
            if path.starts_with("/api/mcp/") {
                return Refused::from(missing).into_response();
            }
            missing.into_response()
        }
    }
}

/// How the page's files may be packed, the smallest first, with what their names end in.
const PACKINGS: [(&str, &str); 2] = [("br", "br"), ("gzip", "gz")];

/// The packings that the caller can open.
fn accepted(headers: &HeaderMap) -> Vec<(&'static str, &'static str)> {
    let said = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|it| it.to_str().ok());
    let said: Vec<&str> = said.flat_map(|it| it.split(',')).collect();
    let takes = |packing: &str| said.iter().any(|it| names(it, packing));
    PACKINGS.into_iter().filter(|(packing, _)| takes(packing)).collect()
}

/// Whether one part of the header asks for this packing, and does not rule it out with `q=0`.
fn names(part: &str, packing: &str) -> bool {
    let (name, weight) = part.split_once(';').unwrap_or((part, ""));
    let weight = weight.trim().strip_prefix("q=").and_then(|it| it.trim().parse::<f32>().ok());
    name.trim().eq_ignore_ascii_case(packing) && weight.is_none_or(|it| it > 0.0)
}

fn serve(name: &str, file: EmbeddedFile, packings: Vec<(&'static str, &'static str)>) -> Response {
    let kind = mime_guess::from_path(name).first_or_octet_stream();
    let kind = match kind.type_() {
        mime_guess::mime::TEXT => format!("{kind}; charset=utf-8"),
        _ => kind.to_string(),
    };
    // Built files bear a hash of their content in their names, so they never change.
    let is_hashed = name.starts_with("assets/");
    let cache = if is_hashed { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, cache.to_owned()),
        (header::VARY, "Accept-Encoding".to_owned()),
    ];
    let packed = packings
        .into_iter()
        .find_map(|(packing, end)| Page::get(&format!("{name}.{end}")).map(|file| (packing, file)));
    let mut response = match packed {
        Some((packing, file)) => {
            (headers, [(header::CONTENT_ENCODING, packing)], file.data.into_owned()).into_response()
        }
        None => (headers, file.data.into_owned()).into_response(),
    };
    if name == DRAWING_ROOM {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(DRAWING_POLICY));
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    }
    response
}

fn unbuilt() -> Response {
    let text = "The page is not part of this build. `make build` makes one that has it; the API \
                works without.\n";
    (StatusCode::NOT_FOUND, text).into_response()
}

/// On every answer, whatever it is.
pub async fn harden(
    State(frames): State<Arc<Frames>>,
    request: Request,
    next: axum::middleware::Next,
) -> Response {
    let is_api = request.uri().path().starts_with("/api");
    let policy = policy(&frames, &request);
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    if headers.get(header::CONTENT_TYPE).is_some_and(|it| it == "application/json") {
        let kind = HeaderValue::from_static("application/json; charset=utf-8");
        headers.insert(header::CONTENT_TYPE, kind);
    }
    if is_api {
        let value = HeaderValue::from_static("no-store");
        headers.entry(header::CACHE_CONTROL).or_insert(value);
    }
    response
}

/// The policy of the page: it may frame the other origin, by the name it was itself reached by.
fn policy(frames: &Frames, request: &Request) -> HeaderValue {
    let host = request.headers().get(header::HOST).and_then(|it| it.to_str().ok());
    let way = request.extensions().get::<Peer>().map_or(Way::Plain, |peer| peer.way);
    let origin = host.and_then(|host| frames.origin(host, way));
    let framing =
        origin.map(|origin| POLICY.replace(OWN_FRAMES, &format!("{OWN_FRAMES} {origin}")));
    let framing = framing.and_then(|it| HeaderValue::try_from(it).ok());
    framing.unwrap_or(HeaderValue::from_static(POLICY))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packings(said: &'static str) -> Vec<&'static str> {
        let headers =
            HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(said))]);
        accepted(&headers).into_iter().map(|(packing, _)| packing).collect()
    }

    #[test]
    fn files_are_packed_only_as_the_caller_can_open_them() {
        assert_eq!(packings("gzip, deflate, br, zstd"), ["br", "gzip"]);
        assert_eq!(packings("GZIP;q=0.5"), ["gzip"]);
        assert_eq!(packings("br;q=0, gzip;q=1.0"), ["gzip"]);
        assert_eq!(packings("identity"), Vec::<&str>::new());
        assert_eq!(accepted(&HeaderMap::new()), Vec::new());
    }
}
