//! Which models there are, who pays for them, and what was used.

use std::{cmp::Reverse, sync::Arc};

use axum::{Json as Reply, extract::State, response::IntoResponse as _, response::Response};
use kernel::update::SessionId;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::{App, error::ErrorBody};

/// How many sessions are named one by one.
const NAMED: usize = 50;

#[derive(Serialize, ToSchema)]
pub struct Models {
    models: Vec<ModelItem>,
}

#[derive(Serialize, ToSchema)]
struct ModelItem {
    id: String,
    name: String,
    /// What a request costs, relative to others.
    multiplier: f64,
    /// Who pays for it, for a person.
    #[schema(example = "nobody: it is built in")]
    payer: String,
}

/// Models
#[utoipa::path(get, path = "/api/models", tag = "models",
    responses((status = 200, body = Models), (status = 500, body = ErrorBody)))]
pub async fn models(State(app): State<Arc<App>>) -> Response {
    match app.host.ports.models.list().await {
        Ok(models) => {
            let item = |it: kernel::ports::ModelInfo| ModelItem {
                id: it.id,
                name: it.name,
                multiplier: it.cost,
                payer: it.payer,
            };
            Reply(Models { models: models.into_iter().map(item).collect() }).into_response()
        }
        Err(error) => {
            let body =
                json!({ "error": error.to_string(), "code": "INTERNAL_ERROR", "models": [] });
            (axum::http::StatusCode::INTERNAL_SERVER_ERROR, Reply(body)).into_response()
        }
    }
}

#[derive(Clone, Copy, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    input_tokens: u64,
    output_tokens: u64,
    /// In US dollars, as far as prices are known.
    cost: f64,
}

impl From<kernel::state::Spent> for Spent {
    fn from(spent: kernel::state::Spent) -> Self {
        let kernel::state::Spent { input_tokens, output_tokens, cost } = spent;
        Self { input_tokens, output_tokens, cost }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Null until a provider reports a quota.
    #[serde(rename = "usage")]
    #[schema(value_type = Option<Object>)]
    quota: Option<()>,
    /// Of all sessions that there are.
    total: Spent,
    /// The dearest fifty, then those that used most.
    by_session: Vec<SessionUsage>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SessionUsage {
    #[schema(value_type = String)]
    session_id: SessionId,
    /// Who answers there now.
    model: String,
    #[serde(flatten)]
    spent: Spent,
}

/// Usage
#[utoipa::path(get, path = "/api/usage", tag = "models", responses((status = 200, body = Usage)))]
pub async fn usage(State(app): State<Arc<App>>) -> Reply<Usage> {
    let item = |(session_id, state): (SessionId, Arc<kernel::state::State>)| SessionUsage {
        session_id,
        model: state.model.clone(),
        spent: state.spent.into(),
    };
    let mut by_session: Vec<_> = app.host.roster.all().into_iter().map(item).collect();
    by_session.retain(|it| it.spent.tokens() > 0);
    let total = by_session.iter().fold(Spent::default(), |sum, it| sum.plus(it.spent));
    by_session.sort_unstable_by(|a, b| {
        let rest = |it: &SessionUsage| Reverse((it.spent.tokens(), it.session_id));
        b.spent.cost.total_cmp(&a.spent.cost).then_with(|| rest(a).cmp(&rest(b)))
    });
    by_session.truncate(NAMED);
    Reply(Usage { quota: None, total, by_session })
}

impl Spent {
    fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost: self.cost + other.cost,
        }
    }
}
