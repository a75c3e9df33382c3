//! Files over HTTP, in the words of the Caco API: listed, read and written by whoever may.

pub mod clearing;
mod listing;
mod proxy;
mod serving;
mod temporary;
mod writing;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{
    Json as Reply,
    extract::FromRequestParts,
    http::request::Parts,
    response::{IntoResponse, Response},
};
use cap_std::fs::Metadata;
use place::{Found, Roots};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{App, error::ApiError};

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(listing::list))
        .routes(routes!(writing::write))
        .routes(routes!(serving::serve))
        .routes(routes!(temporary::keep))
        .routes(routes!(proxy::tools))
        .routes(routes!(proxy::read_file))
        .routes(routes!(proxy::write_file))
        .routes(routes!(proxy::list_directory))
}

/// Files up to this size are served and written.
pub const LIMIT: usize = 10 << 20;

/// Where files are, and who may reach which.
pub struct Disk {
    workspace: PathBuf,
    temporary: PathBuf,
    /// What everybody with a yes may use.
    allowed: Vec<PathBuf>,
    shared: Roots,
    workspace_only: Roots,
    everything: Roots,
}

impl Disk {
    pub fn new(workspace: &Path, data_dir: &Path) -> Self {
        let ours = [data_dir.join("applets"), data_dir.join("tmp")];
        let home = std::env::home_dir().map(|home| home.join(".caco"));
        let mut allowed = vec![workspace.to_owned()];
        allowed.extend(home);
        allowed.push("/tmp".into());
        allowed.extend(ours.clone());
        // They hold the key, and what the server was started with.
        let shut = vec![data_dir.to_owned(), "/proc/self".into()];
        let mut everything = vec![PathBuf::from("/"), workspace.to_owned()];
        everything.extend(ours.clone());
        let [_, temporary] = ours;
        Self {
            workspace: workspace.to_owned(),
            temporary,
            shared: Roots::new(allowed.clone(), shut.clone()),
            workspace_only: Roots::new(vec![workspace.to_owned()], shut.clone()),
            everything: Roots::new(everything, shut),
            allowed,
        }
    }

    fn find(&self, roots: &Roots, path: &str) -> io::Result<Option<Found>> {
        roots.find(&self.workspace.join(path))
    }

    /// A file that is in memory, without waiting for anything.
    fn at_hand(&self, roots: &Roots, path: &str) -> Option<Vec<u8>> {
        roots.at_hand(&self.workspace.join(path))
    }

    /// What a link leads to, as far as one may go there.
    fn aimed(roots: &Roots, link: &Path) -> Option<Metadata> {
        let found = roots.find(link).ok()??;
        match found.file() {
            Ok((_, file)) => Some(file),
            Err(_) => found.dir().and_then(|dir| dir.dir_metadata()).ok(),
        }
    }
}

/// A file that somebody names, within what they may read.
pub fn named(disk: &Disk, reach: Reach, path: &str) -> Result<cap_std::fs::File, ApiError> {
    let roots = if reach == Reach::Everything { &disk.everything } else { &disk.shared };
    let found = disk.find(roots, path).map_err(|error| serving::explain(&error))?;
    let outside = || ApiError::forbidden("Access denied: path not in allowed directories");
    let opened = found.ok_or_else(outside)?.file();
    opened.map(|(file, _)| file).map_err(|error| serving::explain(&error))
}

/// Who asks, which decides how far they reach.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Reach {
    /// The person, who may read everything but our own secrets.
    #[default]
    Everything,
    /// Somebody whom they let in, who may use the allowed directories.
    Allowed,
}

impl<S: Sync> FromRequestParts<S> for Reach {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.extensions.get().copied().unwrap_or_default())
    }
}

/// Like every error, with the `ok: false` that these endpoints say first.
#[derive(Debug)]
pub struct Refused(ApiError);

/// How an error of these endpoints looks.
#[derive(Serialize, ToSchema)]
pub struct RefusedBody {
    ok: bool,
    /// What was wrong, for a person.
    error: String,
    /// What was wrong, for a program.
    #[schema(example = "FORBIDDEN")]
    code: &'static str,
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Self(error)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let (status, code, error) = self.0.told();
        (status, Reply(RefusedBody { ok: false, error, code })).into_response()
    }
}

/// Whether a path cannot name anything, which is no matter of what is there.
fn is_nonsense(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidInput
}

fn nonsense() -> ApiError {
    ApiError::bad_request("Invalid path: it holds a NUL character")
}

/// Does work that waits for the disk, away from the tasks that must not.
/// Keeps a file for a while where an agent can look at it; tells where.
pub async fn keep_apart(
    app: Arc<App>,
    name: String,
    bytes: bytes::Bytes,
) -> Result<PathBuf, ApiError> {
    let put = move |disk: &Disk| temporary::lay(disk, &name, &bytes);
    apart(app, put).await.map_err(|Refused(error)| error)
}

async fn apart<T: Send + 'static>(
    app: Arc<App>,
    work: impl FnOnce(&Disk) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, Refused> {
    let done = tokio::task::spawn_blocking(move || work(&app.disk)).await;
    let broken = |_| Err(ApiError::internal("reading or writing the file broke down"));
    Ok(done.unwrap_or_else(broken)?)
}
