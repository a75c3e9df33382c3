//! Opening an app, and a file in an app, as the person does it.

use std::{io::Read as _, sync::Arc};

use axum::{Json as Reply, extract::State};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use kernel::{
    cabinet::{
        launch::{Handed, LaunchError, Opener, Taken},
        opening::{LARGEST, OpeningError},
    },
    update::SessionId,
    windows::By,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::{self, Json, Params},
    files::{self, Reach},
};

/// A file travels as base64, with a little around it.
const BODY: usize = LARGEST / 3 * 4 + (64 << 10);

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(open)).routes(routes!(openers))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToOpen {
    /// In which session.
    session: String,
    /// The app; for a file, the best one if it is absent.
    #[serde(default, deserialize_with = "extract::text")]
    app_id: Option<String>,
    /// A name for the window, where no file is opened.
    #[serde(default, deserialize_with = "extract::text")]
    window_id: Option<String>,
    /// A file on the server's machine: absolute, or relative to the workspace.
    #[serde(default, deserialize_with = "extract::text")]
    path: Option<String>,
    /// A file that is sent along.
    file: Option<SentFile>,
    /// Answers with `choices` where several apps could open it and none is preferred.
    #[serde(default)]
    ask: bool,
    /// From now on `appId` opens such files.
    #[serde(default)]
    remember: bool,
}

#[derive(Deserialize, ToSchema)]
pub struct SentFile {
    #[schema(example = "sales.csv")]
    name: String,
    base64: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhatOpened {
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_id: Option<String>,
    /// What the app said to the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<String>,
    /// Apps to choose from: nothing was opened yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choices: Vec<Possible>,
}

#[derive(Serialize, ToSchema)]
struct Possible {
    id: String,
    name: String,
    /// The person has chosen it for such files.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    preferred: bool,
}

#[derive(Deserialize, IntoParams)]
pub struct OfFile {
    /// A file, by its name alone or with its path; it need not be there.
    path: String,
}

#[derive(Serialize, ToSchema)]
pub struct Openers {
    /// The first is the one that opens such a file unless another is asked for.
    apps: Vec<Possible>,
}

/// Apps that open a file
///
/// By its name. The best first; none if no app opens such files.
#[utoipa::path(get, path = "/api/apps/openers", tag = "apps", params(OfFile),
    responses((status = 200, body = Openers)))]
pub async fn openers(
    State(app): State<Arc<App>>,
    Params(OfFile { path }): Params<OfFile>,
) -> Result<Reply<Openers>, ApiError> {
    let (openers, _) = app.host.openers(&path).await?;
    Ok(Reply(Openers { apps: openers.into_iter().map(Possible::from).collect() }))
}

/// Open an app, or a file in one
///
/// With `path` or `file` the app that opens such files is opened and handed the file; the answer comes
/// when it has taken it. With `appId` alone the app is opened.
#[utoipa::path(post, path = "/api/apps/open", tag = "apps", request_body = ToOpen,
    responses((status = 200, body = WhatOpened), (status = 400, body = ErrorBody),
        (status = 403, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 413, body = ErrorBody)))]
pub async fn open(
    State(app): State<Arc<App>>,
    reach: Reach,
    Json(wish): Json<ToOpen, BODY>,
) -> Result<Reply<WhatOpened>, ApiError> {
    let session = SessionId::parse(&wish.session).filter(|id| app.host.roster.get(*id).is_some());
    let session = session.ok_or_else(|| ApiError::no_session(&wish.session))?;
    let (path, bytes) = match (wish.path, wish.file) {
        (Some(path), None) => {
            let bytes = read(&app, reach, path.clone()).await?;
            (path, bytes)
        }
        (None, Some(SentFile { name, base64 })) => {
            let bytes = STANDARD.decode(base64);
            let bad = |_| ApiError::bad_request("file.base64: it is not base64");
            (name, bytes.map_err(bad)?)
        }
        (None, None) => {
            let id = wish
                .app_id
                .ok_or_else(|| ApiError::bad_request("one of appId, path and file is needed"))?;
            let pane =
                app.host.open_app(session, &id, wish.window_id.as_deref(), By::Person).await?;
            return Ok(Reply(opened(id, pane.window.key(), None)));
        }
        (Some(_), Some(_)) => {
            return Err(ApiError::bad_request("path or file is needed, and not both"));
        }
    };
    if wish.ask && wish.app_id.is_none() {
        let (openers, is_open) = app.host.openers(&path).await?;
        if is_open {
            let choices = openers.into_iter().map(Possible::from).collect();
            return Ok(Reply(WhatOpened { app_id: None, window_id: None, said: None, choices }));
        }
    }
    if let Some(id) = wish.app_id.as_deref().filter(|_| wish.remember) {
        app.host.prefer_app(&path, id).await?;
    }
    let file = Handed { path, bytes, app: wish.app_id, tool_call: None };
    let Taken { app, window, said } = app.host.open_file(session, file, By::Person).await?;
    Ok(Reply(opened(app, window, Some(said))))
}

async fn read(app: &Arc<App>, reach: Reach, path: String) -> Result<Vec<u8>, ApiError> {
    let app = app.clone();
    let read = move || {
        let mut bytes = Vec::new();
        let mut file = files::named(&app.disk, reach, &path)?.take(LARGEST as u64 + 1);
        file.read_to_end(&mut bytes).map_err(|error| ApiError::bad_request(error.to_string()))?;
        Ok(bytes)
    };
    let read = tokio::task::spawn_blocking(read).await;
    read.unwrap_or_else(|_| Err(ApiError::internal("reading the file broke down")))
}

fn opened(app: String, window: String, said: Option<String>) -> WhatOpened {
    WhatOpened { app_id: Some(app), window_id: Some(window), said, choices: Vec::new() }
}

impl From<Opener> for Possible {
    fn from(Opener { id, name, preferred }: Opener) -> Self {
        Self { id, name, preferred }
    }
}

impl From<LaunchError> for ApiError {
    fn from(error: LaunchError) -> Self {
        let message = error.to_string();
        match error {
            LaunchError::Opening(OpeningError::UnknownApp(_) | OpeningError::Nobody(_)) => {
                Self::not_found(message)
            }
            LaunchError::Opening(OpeningError::TooLarge { .. }) => Self::too_large(message),
            LaunchError::Opening(_) => Self::bad_request(message),
            LaunchError::Window(error) => error.into(),
            LaunchError::Session(error) => error.into(),
            LaunchError::App(_) => Self::conflict(message),
        }
    }
}
