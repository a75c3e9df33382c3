//! The three tools for files that applets call over HTTP.

use std::{
    io::{self, Read as _},
    sync::Arc,
};

use axum::{Json as Reply, extract::State};
use jiff::Timestamp;
use place::Found;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{Disk, LIMIT, Refused, RefusedBody, apart, is_nonsense, nonsense};
use crate::{
    App,
    caco::Iso,
    error::ApiError,
    extract::{self, Json, LARGE},
};

/// List the tools for files
#[utoipa::path(get, path = "/api/mcp/tools", tag = "files", responses((status = 200, body = Value)))]
pub async fn tools(State(app): State<Arc<App>>) -> Reply<Value> {
    let directories: Vec<_> = app.disk.allowed.iter().map(|it| it.to_string_lossy()).collect();
    let tool = |name, description, parameters| json!({"name": name, "description": description, "parameters": parameters});
    let path = |what| json!({"path": format!("string - {what}")});
    let write = json!({
        "path": "string - Path of the file to write",
        "content": "string - What it shall hold",
    });
    Reply(json!({
        "tools": [
            tool("read_file", "Read file contents", path("Path of the file to read")),
            tool("write_file", "Write file contents", write),
            tool("list_directory", "List directory contents", path("Path of the directory")),
        ],
        "allowedDirectories": directories,
    }))
}

#[derive(Deserialize, ToSchema)]
pub struct Which {
    #[serde(default, deserialize_with = "extract::text")]
    path: Option<String>,
}

#[derive(Deserialize, ToSchema)]
pub struct Content {
    #[serde(default, deserialize_with = "extract::text")]
    path: Option<String>,
    content: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Read {
    ok: bool,
    content: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Written {
    ok: bool,
    path: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Listing {
    ok: bool,
    files: Vec<Item>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    name: String,
    path: String,
    is_directory: bool,
    size: u64,
    #[schema(value_type = String, format = DateTime)]
    modified: Iso,
}

/// Read a file of the allowed directories
#[utoipa::path(post, path = "/api/mcp/read_file", tag = "files", request_body = Which,
    responses((status = 200, body = Read), (status = 400, body = RefusedBody),
        (status = 403, body = RefusedBody)))]
pub async fn read_file(
    State(app): State<Arc<App>>,
    body: Result<Json<Which>, ApiError>,
) -> Result<Reply<Read>, Refused> {
    let path = named(body?.0)?;
    let read = |bytes| Reply(Read { ok: true, content: text(bytes) });
    if let Some(bytes) = app.disk.at_hand(&app.disk.shared, &path) {
        return Ok(read(bytes));
    }
    apart(app, move |disk| {
        let found = allowed(disk, &path, "read")?;
        Ok(read(whole(&found).map_err(|error| system(&error, "read", &path))?))
    })
    .await
}

/// Write a file of the allowed directories
#[utoipa::path(post, path = "/api/mcp/write_file", tag = "files", request_body = Content,
    responses((status = 200, body = Written), (status = 400, body = RefusedBody),
        (status = 403, body = RefusedBody)))]
pub async fn write_file(
    State(app): State<Arc<App>>,
    body: Result<Json<Content, LARGE>, ApiError>,
) -> Result<Reply<Written>, Refused> {
    let Json(Content { path: Some(path), content: Some(content) }) = body? else {
        return Err(ApiError::bad_request("path and content required").into());
    };
    apart(app, move |disk| {
        let found = allowed(disk, &path, "open")?;
        let written = found.write(content.as_bytes(), false);
        written.map_err(|error| system(&error, "open", &path))?;
        Ok(Reply(Written { ok: true, path: found.real.to_string_lossy().into_owned() }))
    })
    .await
}

/// List a directory of the allowed ones
#[utoipa::path(post, path = "/api/mcp/list_directory", tag = "files", request_body = Which,
    responses((status = 200, body = Listing), (status = 400, body = RefusedBody),
        (status = 403, body = RefusedBody)))]
pub async fn list_directory(
    State(app): State<Arc<App>>,
    body: Result<Json<Which>, ApiError>,
) -> Result<Reply<Listing>, Refused> {
    let path = named(body?.0)?;
    apart(app, move |disk| {
        let found = allowed(disk, &path, "scandir")?;
        let files = items(disk, &found).map_err(|error| system(&error, "scandir", &path))?;
        Ok(Reply(Listing { ok: true, files }))
    })
    .await
}

fn named(Which { path }: Which) -> Result<String, ApiError> {
    path.ok_or_else(|| ApiError::bad_request("path required"))
}

fn allowed(disk: &Disk, path: &str, call: &str) -> Result<Found, ApiError> {
    let found = disk.find(&disk.shared, path).map_err(|error| system(&error, call, path))?;
    found.ok_or_else(|| ApiError::forbidden("Access denied: path not in allowed directories"))
}

fn text(bytes: Vec<u8>) -> String {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    String::from_utf8(bytes).unwrap_or_else(|error| lossy(error.as_bytes()))
}

fn whole(found: &Found) -> io::Result<Vec<u8>> {
    let (file, about) = found.file()?;
    // Room for all of it and its end, or it would be read in many small pieces.
    let size = usize::try_from(about.len()).unwrap_or(LIMIT).min(LIMIT);
    let mut bytes = Vec::with_capacity(size + 1);
    file.take(LIMIT as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > LIMIT {
        return Err(io::Error::other("EFBIG: file too large (max 10MB)"));
    }
    Ok(bytes)
}

fn items(disk: &Disk, found: &Found) -> io::Result<Vec<Item>> {
    let mut items = Vec::new();
    for entry in found.dir()?.entries()? {
        // What goes away meanwhile is not there.
        let Ok((name, about)) = entry.and_then(|it| Ok((it.file_name(), it.metadata()?))) else {
            continue;
        };
        let path = found.real.join(&name);
        let aimed = about.is_symlink().then(|| Disk::aimed(&disk.shared, &path)).flatten();
        let about = aimed.unwrap_or(about);
        let modified = about.modified().ok().map(cap_std::time::SystemTime::into_std);
        let modified = modified.and_then(|it| Timestamp::try_from(it).ok()).unwrap_or_default();
        items.push(Item {
            path: path.to_string_lossy().into_owned(),
            name: name.to_string_lossy().into_owned(),
            is_directory: about.is_dir(),
            size: about.len(),
            modified: Iso(modified),
        });
    }
    items.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(items)
}

/// The words that programs written for Node know.
fn system(error: &io::Error, call: &str, path: &str) -> ApiError {
    let known = match error.kind() {
        io::ErrorKind::NotFound => "ENOENT: no such file or directory",
        io::ErrorKind::PermissionDenied => "EACCES: permission denied",
        io::ErrorKind::NotADirectory => "ENOTDIR: not a directory",
        io::ErrorKind::InvalidFilename => "ENAMETOOLONG: name too long",
        io::ErrorKind::ReadOnlyFilesystem => "EROFS: read-only file system",
        io::ErrorKind::StorageFull => "ENOSPC: no space left on device",
        _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            "ELOOP: too many symbolic links encountered"
        }
        io::ErrorKind::IsADirectory if call == "read" => {
            return ApiError::bad_request("EISDIR: illegal operation on a directory, read");
        }
        io::ErrorKind::IsADirectory => "EISDIR: illegal operation on a directory",
        _ if is_nonsense(error) => return nonsense(),
        _ => return ApiError::bad_request(error.to_string()),
    };
    let call = if call == "read" { "open" } else { call };
    ApiError::bad_request(format!("{known}, {call} '{path}'"))
}
