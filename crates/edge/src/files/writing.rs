//! A file of the workspace, replaced as a whole.

use std::{io, sync::Arc};

use axum::{
    Json as Reply,
    extract::{Path, Request, State, rejection::PathRejection},
    http::header,
    response::{IntoResponse as _, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Disk, LIMIT, Refused, RefusedBody, apart, is_nonsense, nonsense, serving};
use crate::{App, error::ApiError, extract};

#[derive(Debug, Serialize, ToSchema)]
pub struct Written {
    ok: bool,
    /// Relative to the workspace.
    path: String,
    /// In bytes.
    size: usize,
}

/// Write a file
///
/// The body is what it shall hold, of any type but JSON or a form; at most 10 MB. Missing directories
/// are made. Whoever reads it meanwhile sees the old file or the new one, and never a part. With the
/// `ETag` that it was read with in `If-Match`, a file that somebody else changed is left alone.
#[utoipa::path(put, path = "/api/files/{*path}", tag = "files",
    params(("path" = String, Path, description = "Relative to the workspace, or absolute within it.")),
    request_body(content = Vec<u8>, content_type = "text/plain"),
    responses((status = 200, body = Written), (status = 400, body = RefusedBody),
        (status = 403, body = RefusedBody), (status = 412, body = RefusedBody), (status = 413, body = RefusedBody),
        (status = 500, body = RefusedBody)))]
pub async fn write(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Refused> {
    let unreadable = |_| ApiError::bad_request("Invalid path: it is not UTF-8");
    let Path(path) = path.map_err(unreadable)?;
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let essence = kind.and_then(|it| it.split(';').next()).unwrap_or_default().trim();
    let is_form = essence.eq_ignore_ascii_case("application/x-www-form-urlencoded");
    if essence.is_empty() || is_form || essence.eq_ignore_ascii_case("application/json") {
        return Err(ApiError::bad_request("request body required").into());
    }
    let known = request.headers().get(header::IF_MATCH).map(|it| it.to_str().unwrap_or_default());
    let known = known.map(str::to_owned);
    let body = extract::read(request.into_body(), LIMIT).await?;
    let (written, tag) = apart(app, move |disk| put(disk, &path, known, &body)).await?;
    Ok((tag.map(|tag| [(header::ETAG, tag)]), Reply(written)).into_response())
}

fn put(
    disk: &Disk,
    path: &str,
    known: Option<String>,
    bytes: &[u8],
) -> Result<(Written, Option<String>), ApiError> {
    let failed = |error: io::Error| match error {
        error if is_nonsense(&error) => nonsense(),
        _ => ApiError::internal("Failed to write file"),
    };
    let found = disk.find(&disk.workspace_only, path).map_err(failed)?;
    let found = found.ok_or_else(|| ApiError::forbidden("Path escapes allowed directory"))?;
    let tag = || found.file().map(|(_, about)| serving::tag(&about)).ok();
    if known.is_some_and(|known| !tag().is_some_and(|tag| serving::names(&known, &tag))) {
        return Err(ApiError::changed_meanwhile());
    }
    found.write(bytes, true).map_err(failed)?;
    let path = found.within().to_string_lossy().into_owned();
    Ok((Written { ok: true, path, size: bytes.len() }, tag()))
}
