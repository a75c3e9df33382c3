//! A file of the workspace, replaced as a whole.

use std::{io, path::Path as FilePath, sync::Arc};

use axum::{
    Json as Reply,
    extract::{Path, Request, State, rejection::PathRejection},
    http::header,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Disk, LIMIT, Refused, RefusedBody, apart, is_nonsense, nonsense};
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
/// are made. Whoever reads it meanwhile sees the old file or the new one, and never a part.
#[utoipa::path(put, path = "/api/files/{*path}", tag = "files",
    params(("path" = String, Path, description = "Relative to the workspace, or absolute within it.")),
    request_body(content = Vec<u8>, content_type = "text/plain"),
    responses((status = 200, body = Written), (status = 400, body = RefusedBody),
        (status = 403, body = RefusedBody), (status = 413, body = RefusedBody),
        (status = 500, body = RefusedBody)))]
pub async fn write(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Reply<Written>, Refused> {
    let unreadable = |_| ApiError::bad_request("Invalid path: it is not UTF-8");
    let Path(path) = path.map_err(unreadable)?;
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let essence = kind.and_then(|it| it.split(';').next()).unwrap_or_default().trim();
    let is_form = essence.eq_ignore_ascii_case("application/x-www-form-urlencoded");
    if essence.is_empty() || is_form || essence.eq_ignore_ascii_case("application/json") {
        return Err(ApiError::bad_request("request body required").into());
    }
    let body = extract::read(request.into_body(), LIMIT).await?;
    apart(app, move |disk| put(disk, &path, &body)).await.map(Reply)
}

fn put(disk: &Disk, path: &str, bytes: &[u8]) -> Result<Written, ApiError> {
    let failed = |error: io::Error| match error {
        error if is_nonsense(&error) => nonsense(),
        _ => ApiError::internal("Failed to write file"),
    };
    let found = disk.find(&disk.workspace_only, path).map_err(failed)?;
    let found = found.ok_or_else(|| ApiError::forbidden("Path escapes allowed directory"))?;
    found.write(bytes, true).map_err(failed)?;
    let workspace = disk.workspace.canonicalize().map_err(failed)?;
    let path = found.real.strip_prefix(workspace).unwrap_or(FilePath::new(path));
    Ok(Written { ok: true, path: path.to_string_lossy().into_owned(), size: bytes.len() })
}
