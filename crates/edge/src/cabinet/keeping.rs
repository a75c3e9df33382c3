//! What apps keep, over HTTP: read, listed, written and removed under a ticket.

use std::{io, sync::Arc};

use axum::{
    extract::Request,
    http::{Method, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::{
    cellar::{Cellar, Item, Kept, SaveError},
    lease::{Bearer, Lease},
};
use crate::{App, caco::Iso, error::ApiError, extract, sandbox::site::mime};

/// The largest file that is kept.
const BYTES: usize = 50 << 20;
/// What an app may keep that asks for nothing else.
const QUOTA: u64 = 256 << 20;

pub struct Asked<'a> {
    /// As it was written.
    pub place: &'a str,
    pub lists: bool,
}

pub async fn answer(
    app: &Arc<App>,
    lease: &Lease,
    bearer: Bearer,
    Asked { place, lists }: Asked<'_>,
    request: Request,
) -> Result<Response, ApiError> {
    let path = place_of(place, &lease.id).ok_or_else(|| ApiError::forbidden("Access denied"))?;
    let method = request.method().clone();
    let reads = method == Method::GET || method == Method::HEAD;
    if bearer == Bearer::Reader && (!reads || lists) {
        return Err(ApiError::forbidden("This token is good for reading files only"));
    }
    if !reads && method != Method::POST && method != Method::DELETE {
        return Err(ApiError::forbidden(format!("An app may not use {method} on what it keeps")));
    }
    lease.enter(&path, !reads).await?;
    match method {
        Method::POST => save(app, lease, path, request).await,
        Method::DELETE => {
            let gone =
                apart(app, path.clone(), Cellar::remove).await?.map_err(|error| failed(&error))?;
            if gone { Ok(done(&path)) } else { Err(missing()) }
        }
        _ if lists => {
            let items = apart(app, path, Cellar::list).await?.map_err(|error| failed(&error))?;
            Ok(axum::Json(items.into_iter().map(told).collect::<Vec<_>>()).into_response())
        }
        _ => {
            let kept =
                apart(app, path.clone(), Cellar::read).await?.map_err(|error| failed(&error))?;
            let Kept::File(bytes) = kept else { return Err(missing()) };
            let headers =
                [(header::CONTENT_TYPE, mime(&path)), (header::CACHE_CONTROL, "no-cache".into())];
            Ok((headers, bytes).into_response())
        }
    }
}

async fn save(
    app: &Arc<App>,
    lease: &Lease,
    path: String,
    request: Request,
) -> Result<Response, ApiError> {
    let body = extract::read(request.into_body(), BYTES).await.map_err(|error| {
        let (status, _, message) = error.told();
        match status {
            StatusCode::PAYLOAD_TOO_LARGE => {
                ApiError::too_large(format!("Request body too large (max {BYTES} bytes)"))
            }
            _ => ApiError::bad_request(message),
        }
    })?;
    let asked = lease.card().await.and_then(|card| card.asks.storage);
    let quota = asked.unwrap_or(QUOTA);
    let saved = apart(app, path.clone(), move |cellar, path| cellar.save(path, &body, quota));
    match saved.await? {
        Ok(()) => Ok(done(&path)),
        Err(SaveError::Full) => {
            let message = format!("The app keeps as much as it may ({quota} bytes)");
            Err(ApiError::full(message))
        }
        Err(SaveError::Many) => {
            Err(ApiError::full("The app keeps as many files as it may (10000)"))
        }
        Err(SaveError::Disk(error)) => Err(failed(&error)),
    }
}

/// Where something is kept: plain names without a way out, in which `apps/self` is the app's own.
fn place_of(written: &str, id: &str) -> Option<String> {
    let decoded = percent_decode_str(written).decode_utf8().ok()?;
    let names: Vec<&str> =
        decoded.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    let plain = |name: &&str| {
        let odd = |it: char| it.is_control() || it == '\\';
        // What begins like this is ours, for as long as a file is written.
        *name != ".." && name.len() <= 200 && !name.contains(odd) && !name.starts_with(".megaron-")
    };
    if names.len() > 32 || !names.iter().all(plain) {
        return None;
    }
    Some(match names.as_slice() {
        ["apps", "self", rest @ ..] => [&["apps", id], rest].concat().join("/"),
        names => names.join("/"),
    })
}

fn told(Item { path, is_directory, size, modified }: Item) -> Value {
    json!({ "path": path, "isDirectory": is_directory, "size": size, "modifiedAt": Iso(modified) })
}

fn done(path: &str) -> Response {
    axum::Json(json!({ "ok": true, "path": path })).into_response()
}

fn missing() -> ApiError {
    ApiError::not_found("File not found")
}

fn failed(error: &io::Error) -> ApiError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::IsADirectory => missing(),
        // A link that leads out.
        io::ErrorKind::PermissionDenied => ApiError::forbidden("Access denied"),
        _ => ApiError::internal(format!("what the app keeps cannot be used: {error}")),
    }
}

/// Waits for the disk away from the tasks that must not.
async fn apart<T: Send + 'static>(
    app: &Arc<App>,
    path: String,
    work: impl FnOnce(&Cellar, &str) -> T + Send + 'static,
) -> Result<T, ApiError> {
    let app = app.clone();
    let done = tokio::task::spawn_blocking(move || work(&app.cellar, &path)).await;
    done.map_err(|_| ApiError::internal("reading or writing broke down"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spelling_of_a_place_leads_out_of_it() {
        for (written, expected) in [
            ("apps/self/a.txt", Some("apps/own/a.txt")),
            ("apps/self", Some("apps/own")),
            ("apps/own/a%20b.txt", Some("apps/own/a b.txt")),
            ("apps//self/./a", Some("apps/own/a")),
            ("", Some("")),
            ("apps/self/%25", Some("apps/own/%")),
            ("apps/selfish/a", Some("apps/selfish/a")),
            ("apps/self/self/a", Some("apps/own/self/a")),
            ("apps/self/%2e%2e/other/a", None),
            ("apps/self/../other/a", None),
            ("apps/self/%2E%2E%2Fother", None),
            ("..", None),
            ("%2e%2e", None),
            ("apps/self/..%5cother", None),
            ("apps/self/a%00", None),
            ("apps/self/a%0a", None),
            ("apps/self/%ff", None),
            ("apps/self/.megaron-1-2.tmp", None),
        ] {
            assert_eq!(place_of(written, "own").as_deref(), expected, "{written}");
        }
        assert_eq!(place_of(&"a/".repeat(40), "own"), None);
        assert_eq!(place_of(&"a".repeat(201), "own"), None);
        // Decoded once: what comes out is a name like any other.
        assert_eq!(place_of("apps/self/%252e%252e/x", "own").as_deref(), Some("apps/own/%2e%2e/x"));
    }
}
