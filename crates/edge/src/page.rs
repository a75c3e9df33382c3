//! The web page and its files, embedded in the binary.

use axum::{
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::{error::ApiError, files::Refused};

#[derive(RustEmbed)]
#[folder = "../../ui/dist"]
#[allow_missing = true]
struct Page;

/// Nothing but our own files; nothing inline; nobody may frame us.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: \
    blob:; font-src 'self' data:; connect-src 'self'; frame-src \
    https://www.youtube-nocookie.com https://player.vimeo.com https://w.soundcloud.com \
    https://open.spotify.com https://platform.twitter.com; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'; manifest-src 'self'";

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
        Some(file) => serve(name, file),
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

fn serve(name: &str, file: EmbeddedFile) -> Response {
    let kind = mime_guess::from_path(name).first_or_octet_stream();
    let kind = match kind.type_() {
        mime_guess::mime::TEXT => format!("{kind}; charset=utf-8"),
        _ => kind.to_string(),
    };
    // Built files bear a hash of their content in their names, so they never change.
    let is_hashed = name.starts_with("assets/");
    let cache = if is_hashed { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, cache.to_owned())];
    (headers, file.data.into_owned()).into_response()
}

fn unbuilt() -> Response {
    let text = "The page is not part of this build. `make build` makes one that has it; the API \
                works without.\n";
    (StatusCode::NOT_FOUND, text).into_response()
}

/// On every answer, whatever it is.
pub async fn harden(request: Request, next: axum::middleware::Next) -> Response {
    let is_api = request.uri().path().starts_with("/api");
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
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
