//! The budgets of the house: what they are, how they stand, and how they are changed.

use std::sync::Arc;

use axum::{Json as Reply, extract::State};
use kernel::{
    budget::{self, Amount, ChangeError, Level, Purse},
    update::SessionId,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::Json,
};

/// The budgets in force, by the names that they have in `config.toml`. Null is without limit.
#[derive(Serialize, ToSchema)]
pub struct Budgets {
    /// US dollars that one session may cost.
    session_usd: Option<f64>,
    /// US dollars that a day may cost, whoever asked.
    day_usd: Option<f64>,
    month_usd: Option<f64>,
    /// Tokens that one session may use, read and written together.
    session_tokens: Option<u64>,
    day_tokens: Option<u64>,
    month_tokens: Option<u64>,
    /// From which share of a budget on those present are told.
    #[schema(example = 0.8)]
    warn_at: f64,
    /// `config` while they are what `config.toml` says, `api` once they were changed here.
    #[schema(value_type = String, example = "config")]
    source: &'static str,
}

impl Budgets {
    fn of(purse: &Purse) -> Self {
        let budget::Budgets {
            session_usd,
            day_usd,
            month_usd,
            session_tokens,
            day_tokens,
            month_tokens,
            warn_at,
        } = purse.budgets();
        let source = if purse.is_set() { "api" } else { "config" };
        Self {
            session_usd,
            day_usd,
            month_usd,
            session_tokens,
            day_tokens,
            month_tokens,
            warn_at,
            source,
        }
    }
}

/// What is absent stays as it is; null takes a limit away.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    #[serde(default)]
    #[schema(value_type = Option<f64>)]
    session_usd: Said<f64>,
    #[serde(default)]
    #[schema(value_type = Option<f64>)]
    day_usd: Said<f64>,
    #[serde(default)]
    #[schema(value_type = Option<f64>)]
    month_usd: Said<f64>,
    #[serde(default)]
    #[schema(value_type = Option<u64>)]
    session_tokens: Said<u64>,
    #[serde(default)]
    #[schema(value_type = Option<u64>)]
    day_tokens: Said<u64>,
    #[serde(default)]
    #[schema(value_type = Option<u64>)]
    month_tokens: Said<u64>,
    warn_at: Option<f64>,
}

/// What is said of a limit.
#[derive(Default, Deserialize)]
#[serde(from = "Option<T>", bound = "T: Deserialize<'de>")]
enum Said<T> {
    #[default]
    Nothing,
    Limit(Option<T>),
}

impl<T> From<Option<T>> for Said<T> {
    fn from(limit: Option<T>) -> Self {
        Self::Limit(limit)
    }
}

impl Change {
    fn apply(self, budgets: &mut budget::Budgets) {
        fn set<T>(limit: &mut Option<T>, said: Said<T>) {
            if let Said::Limit(said) = said {
                *limit = said;
            }
        }
        set(&mut budgets.session_usd, self.session_usd);
        set(&mut budgets.day_usd, self.day_usd);
        set(&mut budgets.month_usd, self.month_usd);
        set(&mut budgets.session_tokens, self.session_tokens);
        set(&mut budgets.day_tokens, self.day_tokens);
        set(&mut budgets.month_tokens, self.month_tokens);
        budgets.warn_at = self.warn_at.unwrap_or(budgets.warn_at);
    }
}

/// Budgets
///
/// `GET /api/usage` tells how much of each is used.
#[utoipa::path(get, path = "/api/budgets", tag = "models",
    responses((status = 200, body = Budgets)))]
pub async fn show(State(app): State<Arc<App>>) -> Reply<Budgets> {
    Reply(Budgets::of(&app.host.purse))
}

/// Change budgets
///
/// They hold at once and win over `config.toml`, also after a restart, until they are reset.
#[utoipa::path(put, path = "/api/budgets", tag = "models", request_body = Change,
    responses((status = 200, body = Budgets), (status = 400, body = ErrorBody)))]
pub async fn change(
    State(app): State<Arc<App>>,
    Json(change): Json<Change>,
) -> Result<Reply<Budgets>, ApiError> {
    app.host.purse.change(|budgets| change.apply(budgets)).await?;
    Ok(Reply(Budgets::of(&app.host.purse)))
}

/// Reset budgets
///
/// What `config.toml` says holds again.
#[utoipa::path(delete, path = "/api/budgets", tag = "models",
    responses((status = 200, body = Budgets)))]
pub async fn reset(State(app): State<Arc<App>>) -> Result<Reply<Budgets>, ApiError> {
    app.host.purse.reset().await?;
    Ok(Reply(Budgets::of(&app.host.purse)))
}

impl From<ChangeError> for ApiError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Bad(error) => Self::bad_request(error.to_string()),
            ChangeError::Store(error) => error.into(),
        }
    }
}

/// How one budget stands.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    #[schema(value_type = String, example = "day_usd")]
    name: &'static str,
    /// In US dollars, or in tokens.
    #[schema(value_type = f64)]
    limit: Number,
    #[schema(value_type = f64)]
    spent: Number,
    /// `ok`; `warned` once `warn_at` is reached; `spent` when no model is asked any more.
    #[schema(value_type = String, example = "ok")]
    state: &'static str,
    /// For a budget of each session: the one that has used most.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    session_id: Option<SessionId>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Number {
    Dollars(f64),
    Tokens(u64),
}

impl From<Amount> for Number {
    fn from(amount: Amount) -> Self {
        match amount {
            Amount::Dollars(dollars) => Self::Dollars(dollars),
            Amount::Tokens(tokens) => Self::Tokens(tokens),
        }
    }
}

impl From<budget::Standing> for Standing {
    fn from(budget::Standing { limit, used, level, session }: budget::Standing) -> Self {
        let state = match level {
            Level::Fine => "ok",
            Level::Near => "warned",
            Level::Spent => "spent",
        };
        let (limit, name) = (limit.amount.into(), limit.name);
        Self { name, limit, spent: used.into(), state, session_id: session }
    }
}
