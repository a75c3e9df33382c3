//! What an app may ask of us under its ticket: what it keeps, and the web. Nothing else.

use std::sync::Arc;

use axum::{
    extract::Request,
    http::{HeaderMap, Method},
    response::Response,
};

use super::{fetch, keeping, lease::Lease};
use crate::{App, error::ApiError};

/// `path` is what was asked for, as it was written.
pub async fn find(
    app: &Arc<App>,
    lease: &Arc<Lease>,
    path: &str,
    request: Request,
) -> Result<Response, ApiError> {
    let query = request.uri().query().unwrap_or_default().to_owned();
    let token = token(request.headers());
    let bearer = || lease.bearer(token.as_deref(), value(&query, "token").as_deref());
    if let Some(place) = path.strip_prefix("/api/storage/") {
        let lists = value(&query, "list").is_some_and(|it| it == "true" || it == "1");
        return keeping::answer(app, lease, bearer()?, keeping::Asked { place, lists }, request)
            .await;
    }
    if path == "/api/fetch" && request.method() == Method::POST {
        bearer()?;
        return fetch::answer(lease, request).await;
    }
    let line = format!("{} {path}", request.method());
    Err(ApiError::forbidden(format!("An app may not use {line}")))
}

fn token(headers: &HeaderMap) -> Option<String> {
    let token = headers.get("x-iframe-token")?;
    // What cannot be read is a token all the same, and a wrong one.
    Some(token.to_str().unwrap_or_default().to_owned())
}

/// What stands in the address under this name, which is only ever plain.
fn value(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
}
