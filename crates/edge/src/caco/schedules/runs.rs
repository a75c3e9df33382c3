//! Runs of a schedule: set going by hand, looked up, and foretold.

use std::sync::Arc;

use axum::{Json as Reply, extract::State};
use kernel::update::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{SlugPath, found, hear, hear::TimingWish, say::RunShown};
use crate::{
    App,
    caco::frames::Iso,
    error::{ApiError, ErrorBody},
    extract::{Json, Params},
};

const LIMIT: usize = 1000;
/// How many runs are foretold.
const FORETOLD: usize = 5;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Started {
    slug: String,
    #[schema(value_type = String, example = "executed")]
    status: &'static str,
    #[schema(value_type = String)]
    session_id: SessionId,
}

/// Run a schedule now
///
/// Also one that is off. Answers once the prompt is taken; in a busy session it waits its turn.
#[utoipa::path(post, path = "/api/schedule/{slug}/run", tag = "schedules", params(SlugPath),
    responses((status = 200, body = Started), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub async fn run(
    State(app): State<Arc<App>>,
    SlugPath(slug): SlugPath,
) -> Result<Reply<Started>, ApiError> {
    let session_id = app.host.run_schedule(&slug).await?;
    Ok(Reply(Started { slug, status: "executed", session_id }))
}

#[derive(Deserialize, IntoParams)]
pub struct HowMany {
    /// 50 when absent, at most 1000.
    limit: Option<usize>,
}

#[derive(Serialize, ToSchema)]
pub struct Ledger {
    /// Newest first.
    runs: Vec<RunShown>,
}

/// What came of a schedule
#[utoipa::path(get, path = "/api/schedule/{slug}/runs", tag = "schedules",
    params(SlugPath, HowMany),
    responses((status = 200, body = Ledger), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub async fn ledger(
    State(app): State<Arc<App>>,
    SlugPath(slug): SlugPath,
    Params(HowMany { limit }): Params<HowMany>,
) -> Result<Reply<Ledger>, ApiError> {
    found(&app, &slug)?;
    let limit = limit.unwrap_or(50);
    if !(1..=LIMIT).contains(&limit) {
        return Err(ApiError::bad_request(format!("limit must be from 1 to {LIMIT}")));
    }
    let runs = app.host.schedules.runs(&slug, limit).await?;
    Ok(Reply(Ledger { runs: runs.iter().map(RunShown::from).collect() }))
}

#[derive(Deserialize, ToSchema)]
pub struct Question {
    #[schema(value_type = TimingWish)]
    schedule: Option<Value>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Foretold {
    /// The next five, if there are so many.
    #[schema(value_type = Vec<String>, format = DateTime)]
    next_runs: Vec<Iso>,
    /// Where the clock hangs that it goes by.
    #[schema(example = "Europe/Berlin")]
    timezone: String,
}

/// When a schedule would run
///
/// Nothing is kept. What is wrong with the expression is explained.
#[utoipa::path(post, path = "/api/schedule/preview", tag = "schedules", request_body = Question,
    responses((status = 200, body = Foretold), (status = 400, body = ErrorBody)))]
pub async fn preview(
    State(app): State<Arc<App>>,
    Json(Question { schedule }): Json<Question>,
) -> Result<Reply<Foretold>, ApiError> {
    let timing = hear::timing(schedule)?;
    let next = app.host.schedules.preview(&timing, FORETOLD);
    let next = next.map_err(|error| ApiError::bad_request(error.explained()))?;
    let home = || app.host.ports.clock.zone().iana_name().unwrap_or("UTC").to_owned();
    let timezone = hear::zone(&timing).map_or_else(home, str::to_owned);
    Ok(Reply(Foretold { next_runs: next.into_iter().map(Iso).collect(), timezone }))
}
