//! For one who is here for the first time: what could answer, and at whose expense.

use std::sync::Arc;

use axum::{Json as Reply, extract::State};
use futures::future::BoxFuture;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{App, error::ApiError};

/// Looks around on this machine for what could answer.
pub type Lookout = Arc<dyn Fn() -> BoxFuture<'static, Vec<Found>> + Send + Sync>;

/// One thing that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// What it is, for a person: `Ollama at 127.0.0.1:11434`.
    pub what: String,
    /// Who pays when it answers.
    pub payer: String,
    /// What its models' names begin with, before a slash, if it is a provider.
    pub provider: Option<String>,
    /// Other names under which it answers.
    pub models: Vec<String>,
    /// What to do should it not be usable.
    pub hint: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Welcome {
    /// Whether there is no session yet.
    first_run: bool,
    /// What answers in new sessions.
    #[schema(example = "demo")]
    default_model: String,
    found: Vec<Shown>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = FoundMind)]
struct Shown {
    #[schema(example = "Ollama at 127.0.0.1:11434")]
    what: String,
    #[schema(example = "nobody: it runs on this machine")]
    payer: String,
    /// Names that can be chosen as a model at once.
    models: Vec<String>,
    usable: bool,
    /// What to do where it is not usable.
    hint: Option<String>,
}

/// What could answer
///
/// Looks for keys, servers of models and agents on this machine, and for nothing elsewhere.
#[utoipa::path(get, path = "/api/welcome", tag = "models",
    responses((status = 200, body = Welcome)))]
pub async fn welcome(State(app): State<Arc<App>>) -> Result<Reply<Welcome>, ApiError> {
    let found = match app.lookout.get() {
        Some(look) => look().await,
        None => Vec::new(),
    };
    let models = &app.host.ports.models;
    // What cannot be listed is not offered.
    let listed = models.list().await.unwrap_or_default();
    let show = |Found { what, payer, provider, models: named, hint }: Found| {
        let prefix = provider.map(|provider| format!("{provider}/"));
        let own = |id: &&str| prefix.as_ref().is_some_and(|prefix| id.starts_with(prefix));
        let listed = listed.iter().map(|model| model.id.as_str()).filter(own).map(str::to_owned);
        let named = named.into_iter().filter(|id| models.find(id).is_some());
        let models: Vec<String> = named.chain(listed).collect();
        let usable = !models.is_empty();
        let hint = Some(hint).filter(|hint| !usable && !hint.is_empty());
        Shown { what, payer, models, usable, hint }
    };
    Ok(Reply(Welcome {
        first_run: app.host.roster.is_empty(),
        default_model: app.clients.model().await?,
        found: found.into_iter().map(show).collect(),
    }))
}
