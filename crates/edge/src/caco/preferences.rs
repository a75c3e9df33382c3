//! What the person prefers.

use std::sync::Arc;

use axum::{Json as Reply, extract::State};
use kernel::update::SessionId;
use serde::Deserialize;
use utoipa::ToSchema;

use super::clients::Preferences;
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::Json,
};

/// Preferences
#[utoipa::path(get, path = "/api/preferences", tag = "preferences",
    responses((status = 200, body = Preferences)))]
pub async fn get(State(app): State<Arc<App>>) -> Result<Reply<Preferences>, ApiError> {
    Ok(Reply(app.clients.preferences().await?))
}

/// Whatever is absent stays; unknown names are dropped.
#[derive(Deserialize, ToSchema)]
pub struct Preferred {
    #[serde(rename = "lastCwd")]
    cwd: Option<String>,
    /// From then on it answers in new sessions that name none.
    #[serde(rename = "lastModel")]
    model: Option<String>,
    /// Null clears it.
    #[serde(default, rename = "lastSessionId")]
    #[schema(value_type = Option<String>)]
    session: Choice,
}

#[derive(Default, Deserialize)]
#[serde(from = "Option<String>")]
enum Choice {
    #[default]
    Keep,
    Clear,
    Take(String),
}

impl From<Option<String>> for Choice {
    fn from(said: Option<String>) -> Self {
        said.map_or(Self::Clear, Self::Take)
    }
}

/// Change preferences
///
/// Empty strings and unknown names are ignored; the answer holds what is in force.
#[utoipa::path(post, path = "/api/preferences", tag = "preferences", request_body = Preferred,
    responses((status = 200, body = Preferences), (status = 400, body = ErrorBody)))]
pub async fn set(
    State(app): State<Arc<App>>,
    Json(Preferred { cwd, model, session }): Json<Preferred>,
) -> Result<Reply<Preferences>, ApiError> {
    let known = |text: &str| SessionId::parse(text).filter(|id| app.host.roster.get(*id).is_some());
    if let Choice::Take(text) = &session
        && known(text).is_none()
    {
        return Err(ApiError::bad_request(format!("lastSessionId names no session: {text}")));
    }
    let model = model.filter(|model| !model.is_empty());
    if let Some(model) = &model {
        app.clients.choose_model(model).await?;
    }
    let changed = app.clients.prefer(|preferences| {
        if let Some(cwd) = cwd.filter(|cwd| !cwd.is_empty()) {
            preferences.cwd = cwd;
        }
        if let Some(model) = model {
            preferences.model = model;
        }
        match session {
            Choice::Keep => (),
            Choice::Clear => preferences.session = None,
            Choice::Take(text) => preferences.session = known(&text),
        }
    });
    Ok(Reply(changed.await?))
}
