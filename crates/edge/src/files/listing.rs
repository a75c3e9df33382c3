//! What is in a directory of the workspace.

use std::{io, sync::Arc};

use axum::{Json as Reply, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Disk, Refused, RefusedBody, apart, is_nonsense, nonsense};
use crate::{App, error::ApiError, extract::Params};

#[derive(Deserialize, IntoParams)]
pub struct Which {
    /// Relative to the workspace, or absolute within it.
    #[serde(default)]
    path: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Listing {
    /// Relative to the workspace; `.` is the workspace itself.
    path: String,
    cwd: String,
    files: Vec<Item>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Item {
    name: String,
    r#type: Kind,
    /// In bytes; 0 for directories.
    size: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Directory,
    File,
}

/// List a directory
///
/// Directories come first; what begins with a dot is left out.
#[utoipa::path(get, path = "/api/files", tag = "files", params(Which),
    responses((status = 200, body = Listing), (status = 403, body = RefusedBody),
        (status = 500, body = RefusedBody)))]
pub async fn list(
    State(app): State<Arc<App>>,
    which: Result<Params<Which>, ApiError>,
) -> Result<Reply<Listing>, Refused> {
    let Params(Which { path }) = which?;
    apart(app, move |disk| read(disk, &path)).await.map(Reply)
}

fn read(disk: &Disk, path: &str) -> Result<Listing, ApiError> {
    let failed = |error: io::Error| match error {
        error if is_nonsense(&error) => nonsense(),
        _ => ApiError::internal("Failed to list directory"),
    };
    let found = disk.find(&disk.workspace_only, path).map_err(failed)?;
    let found = found.ok_or_else(|| ApiError::forbidden("Path escapes allowed directory"))?;
    let mut files = Vec::new();
    for entry in found.dir().and_then(|dir| dir.entries()).map_err(failed)? {
        let Ok(entry) = entry else { continue };
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        // What goes away meanwhile is not there.
        let Ok(kind) = entry.file_type() else { continue };
        let (kind, size) = match kind {
            it if it.is_dir() => (Kind::Directory, 0),
            it if it.is_symlink() => {
                match Disk::aimed(&disk.workspace_only, &found.real.join(&name)) {
                    Some(it) if it.is_dir() => (Kind::Directory, 0),
                    Some(it) => (Kind::File, it.len()),
                    None => (Kind::File, 0),
                }
            }
            _ => (Kind::File, entry.metadata().map_or(0, |it| it.len())),
        };
        files.push(Item { name, r#type: kind, size });
    }
    files.sort_by_cached_key(|it| (it.r#type, it.name.to_lowercase(), it.name.clone()));
    let path = found.within().to_string_lossy().into_owned();
    Ok(Listing { path, cwd: disk.workspace.to_string_lossy().into_owned(), files })
}
