//! Which models there are, who pays for them, and what was used.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use axum::{Json as Reply, extract::State, response::IntoResponse as _, response::Response};
use jiff::{ToSpan as _, civil::Date};
use kernel::{
    ledger::{Spending, Sum},
    update::SessionId,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::{budgets::Standing, model::Traits};
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::Params,
};

/// How many sessions are named one by one.
const NAMED: usize = 50;
/// How many days are told one by one.
const DAYS: u16 = 31;
const MOST_DAYS: u16 = 366;

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
    #[serde(flatten)]
    traits: Traits,
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
                traits: Traits::new(it.payer, it.known),
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

impl Spent {
    fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// What some requests used together.
#[derive(Clone, Copy, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Total {
    /// Answers and summaries, each asked for once.
    requests: u64,
    /// All that models were shown, cached or not.
    input_tokens: u64,
    /// All that they said, reasoning included.
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    reasoning_tokens: u64,
    /// In US dollars, as far as prices are known.
    cost: f64,
}

impl From<Sum> for Total {
    fn from(sum: Sum) -> Self {
        Self {
            requests: sum.requests,
            input_tokens: sum.input_tokens,
            output_tokens: sum.output_tokens,
            cache_read_tokens: sum.cache_read_tokens,
            cache_write_tokens: sum.cache_write_tokens,
            reasoning_tokens: sum.reasoning_tokens,
            cost: sum.cost,
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Null until a provider reports a quota.
    #[serde(rename = "usage")]
    #[schema(value_type = Option<Object>)]
    quota: Option<()>,
    /// Of all time: every session, deleted or not, and what other programs used over `/v1`.
    total: Total,
    /// The dearest fifty of the sessions that there are, then those that used most.
    by_session: Vec<SessionUsage>,
    /// Of all time, the dearest first, then those used most.
    by_model: Vec<ModelUsage>,
    /// The last days on which something was used, oldest first.
    by_day: Vec<DayUsage>,
    /// Every budget that is set.
    budgets: Vec<Standing>,
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

#[derive(Serialize, ToSchema)]
struct ModelUsage {
    model: String,
    #[serde(flatten)]
    total: Total,
}

#[derive(Serialize, ToSchema)]
struct DayUsage {
    /// Where the owner lives.
    #[schema(value_type = String, format = Date)]
    day: Date,
    #[serde(flatten)]
    total: Total,
    /// The same for each model, as above.
    models: Vec<ModelUsage>,
}

#[derive(Deserialize, IntoParams)]
pub struct Past {
    /// How many days `byDay` goes back, today included: 31 if absent, 366 at most.
    #[param(minimum = 1, maximum = 366)]
    days: Option<u16>,
}

/// Usage
#[utoipa::path(get, path = "/api/usage", tag = "models", params(Past),
    responses((status = 200, body = Usage), (status = 400, body = ErrorBody)))]
pub async fn usage(
    State(app): State<Arc<App>>,
    Params(Past { days }): Params<Past>,
) -> Result<Reply<Usage>, ApiError> {
    let days = days.unwrap_or(DAYS);
    if !(1..=MOST_DAYS).contains(&days) {
        let message = format!("days must be from 1 to {MOST_DAYS}");
        return Err(ApiError::bad_request(message));
    }
    let spending = app.host.ports.ledger.spending(Date::MIN..=Date::MAX).await?;
    let first = app.host.ports.clock.today().saturating_sub(i32::from(days - 1).days());
    let recent = spending.iter().filter(|it| it.day >= first);
    Ok(Reply(Usage {
        quota: None,
        total: spending.iter().fold(Sum::default(), |sum, it| sum.plus(it.sum)).into(),
        by_session: by_session(&app),
        by_model: by_model(&spending),
        by_day: by_day(recent),
        budgets: app.host.purse.all().await?.into_iter().map(Standing::from).collect(),
    }))
}

fn by_session(app: &App) -> Vec<SessionUsage> {
    let item = |(session_id, state): (SessionId, Arc<kernel::state::State>)| SessionUsage {
        session_id,
        model: state.model.clone(),
        spent: state.spent.into(),
    };
    let mut sessions: Vec<_> = app.host.roster.all().into_iter().map(item).collect();
    sessions.retain(|it| it.spent.tokens() > 0);
    sessions.sort_unstable_by(|a, b| {
        let rest = |it: &SessionUsage| Reverse((it.spent.tokens(), it.session_id));
        b.spent.cost.total_cmp(&a.spent.cost).then_with(|| rest(a).cmp(&rest(b)))
    });
    sessions.truncate(NAMED);
    sessions
}

fn by_model<'a>(spending: impl IntoIterator<Item = &'a Spending>) -> Vec<ModelUsage> {
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for Spending { model, sum, .. } in spending {
        let known = sums.entry(model).or_default();
        *known = known.plus(*sum);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    let tokens = |sum: &Sum| Reverse(sum.tokens());
    sums.sort_by(|(_, a), (_, b)| {
        b.cost.total_cmp(&a.cost).then_with(|| tokens(a).cmp(&tokens(b)))
    });
    let item = |(model, sum): (&str, Sum)| ModelUsage { model: model.into(), total: sum.into() };
    sums.into_iter().map(item).collect()
}

/// Of spending in the order of its days.
fn by_day<'a>(spending: impl Iterator<Item = &'a Spending>) -> Vec<DayUsage> {
    let spending: Vec<_> = spending.collect();
    let item = |day: &[&Spending]| DayUsage {
        day: day[0].day,
        total: day.iter().fold(Sum::default(), |sum, it| sum.plus(it.sum)).into(),
        models: by_model(day.iter().copied()),
    };
    spending.chunk_by(|one, next| one.day == next.day).map(item).collect()
}
