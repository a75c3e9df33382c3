//! Something that is kept for a while, as a file that an agent can look at.

use std::{
    fs, io,
    path::{Component, PathBuf},
    sync::Arc,
};

use axum::{Json as Reply, extract::State};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Disk, apart};
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::{self, Json, LARGE},
    files::Refused,
};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewFile {
    /// A data URL, or base64 alone.
    #[serde(default, deserialize_with = "extract::text")]
    data: Option<String>,
    /// Of base64 alone; `application/octet-stream` otherwise.
    #[serde(default, deserialize_with = "extract::text")]
    mime_type: Option<String>,
    /// One name, without a path.
    #[serde(default, deserialize_with = "extract::text")]
    filename: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Kept {
    ok: bool,
    path: String,
    filename: String,
    size: usize,
    mime_type: String,
}

/// Keep a temporary file
#[utoipa::path(post, path = "/api/tmpfile", tag = "files", request_body = NewFile,
    responses((status = 200, body = Kept), (status = 400, body = ErrorBody),
        (status = 413, body = ErrorBody)))]
pub async fn keep(
    State(app): State<Arc<App>>,
    Json(file): Json<NewFile, LARGE>,
) -> Result<Reply<Kept>, ApiError> {
    let data = file.data.ok_or_else(|| ApiError::bad_request("data is required"))?;
    let (mime, encoded) = if let Some(rest) = data.strip_prefix("data:") {
        let parts = rest.split_once(";base64,").filter(|(mime, _)| !mime.is_empty());
        let invalid = || ApiError::bad_request("Invalid data URL format");
        let (mime, encoded) = parts.ok_or_else(invalid)?;
        (mime.to_owned(), encoded)
    } else {
        let mime = file.mime_type.unwrap_or_else(|| "application/octet-stream".into());
        (mime, data.as_str())
    };
    let bytes = STANDARD.decode(encoded.trim());
    let bytes = bytes.map_err(|error| ApiError::bad_request(format!("Invalid base64: {error}")))?;
    let filename = match file.filename {
        Some(name) => plain(name)?,
        None => format!("{}.{}", app.host.ports.clock.id(), extension(&mime)),
    };
    let kept = apart(app, move |disk| put(disk, filename, mime, &bytes)).await;
    kept.map(Reply).map_err(|Refused(error)| error)
}

fn put(disk: &Disk, filename: String, mime: String, bytes: &[u8]) -> Result<Kept, ApiError> {
    let path = lay(disk, &filename, bytes)?.to_string_lossy().into_owned();
    Ok(Kept { ok: true, path, filename, size: bytes.len(), mime_type: mime })
}

/// Where it is from now on.
pub fn lay(disk: &Disk, filename: &str, bytes: &[u8]) -> Result<PathBuf, ApiError> {
    let failed = |error: io::Error| ApiError::internal(format!("Failed to write file: {error}"));
    fs::create_dir_all(&disk.temporary).map_err(failed)?;
    let folder = disk.shared.find(&disk.temporary).map_err(failed)?;
    let folder = folder.ok_or_else(|| ApiError::internal("Failed to write file"))?;
    let place = folder.child(filename).map_err(failed)?;
    if place.is_taken() {
        return Err(ApiError::bad_request("Invalid filename"));
    }
    place.write(bytes, false).map_err(failed)?;
    Ok(disk.temporary.join(filename))
}

/// One part of a path, on any system.
fn plain(name: String) -> Result<String, ApiError> {
    let mut parts = std::path::Path::new(&name).components();
    let is_one = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    if is_one && name.len() <= 255 && !name.contains(['/', '\\', '\0', ':']) {
        return Ok(name);
    }
    Err(ApiError::bad_request("Invalid filename"))
}

fn extension(mime: &str) -> &'static str {
    match mime.split(';').next().unwrap_or_default().trim() {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "application/pdf" => "pdf",
        "text/plain" => "txt",
        "application/json" => "json",
        _ => "bin",
    }
}
