//! What a schedule may do: found out by a rehearsal, and allowed to it alone.

use std::sync::Arc;

use axum::{Json as Reply, extract::State};
use kernel::schedule::{Need, RehearseError, is_slug};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{SlugPath, found, hear::Wish};
use crate::{
    App,
    caco::{
        asked::{Detail, caller_name, detailed, risk_name},
        grants::Shown,
        patterns,
        sessions::at_most,
    },
    error::{ApiError, ErrorBody},
    extract::{self, Json},
};

const TOOL_CHARS: usize = 256;
const PATTERN_CHARS: usize = 4096;
/// How much can be allowed at once.
const GRANTS: usize = 100;

/// Something that a schedule wants to do and has no leave for.
#[derive(Serialize, ToSchema)]
#[schema(as = ScheduleNeed)]
pub struct NeedShown {
    tool: String,
    #[schema(example = "Writing notes.md")]
    title: String,
    #[schema(example = "model")]
    caller: String,
    /// `shows`, `edits`, `runs_boxed`, `runs`, `reaches` or `acts`.
    #[schema(value_type = String, example = "runs")]
    risk: &'static str,
    #[schema(value_type = Detail)]
    detail: serde_json::Value,
    /// What it is about; each must be covered. Only the whole tool can be allowed where there is nothing.
    subjects: Vec<String>,
    /// What could be allowed that covers all of it, from narrow to wide.
    patterns: Vec<String>,
}

impl From<&Need> for NeedShown {
    fn from(Need { tool, title, caller, deed }: &Need) -> Self {
        Self {
            tool: tool.clone(),
            title: title.clone(),
            caller: caller_name(caller),
            risk: risk_name(deed.risk),
            // Our own frames have string keys and no failing parts, so this cannot fail.
            detail: serde_json::to_value(detailed(&deed.detail)).unwrap_or_default(),
            subjects: deed.subjects.clone(),
            patterns: patterns::suggest(&deed.detail, &deed.subjects),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct Rehearsal {
    /// What it would do and has no leave for. Empty if it has leave for all it wants.
    needs: Vec<NeedShown>,
    /// What went wrong, so that there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
}

/// Rehearse a schedule
///
/// The prompt is answered once, in a session that is gone afterwards. Tools look, and change
/// nothing. Nothing is kept. Takes as long as the model does.
#[utoipa::path(post, path = "/api/schedule/{slug}/rehearse", tag = "schedules", params(SlugPath),
    request_body = Wish,
    responses((status = 200, body = Rehearsal), (status = 400, body = ErrorBody)))]
pub async fn rehearse(
    State(app): State<Arc<App>>,
    SlugPath(slug): SlugPath,
    Json(wish): Json<Wish>,
) -> Result<Reply<Rehearsal>, ApiError> {
    if !is_slug(&slug) {
        return Err(ApiError::bad_request("Invalid slug"));
    }
    let definition = wish.read(&app)?;
    let rehearsed = app.host.rehearse(&slug, &definition).await?;
    let needs = rehearsed.needs.iter().map(NeedShown::from).collect();
    Ok(Reply(Rehearsal { needs, trouble: rehearsed.trouble }))
}

/// Something that a schedule may do.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[schema(as = ScheduleLeave)]
pub struct Leave {
    tool: String,
    /// For what is like this alone; `*` stands for anything. All that the tool does when absent.
    #[serde(default, deserialize_with = "extract::text")]
    pattern: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[schema(as = ScheduleLeaves)]
pub struct Leaves {
    grants: Vec<Leave>,
}

#[derive(Serialize, ToSchema)]
pub struct Granted {
    grants: Vec<Shown>,
}

/// Allow a schedule something
///
/// In its own runs, and nowhere else, until it is taken back with `DELETE /api/grants/{id}`.
#[utoipa::path(post, path = "/api/schedule/{slug}/grants", tag = "schedules", params(SlugPath),
    request_body = Leaves,
    responses((status = 200, body = Granted), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub async fn grant(
    State(app): State<Arc<App>>,
    SlugPath(slug): SlugPath,
    Json(Leaves { grants }): Json<Leaves>,
) -> Result<Reply<Granted>, ApiError> {
    let (schedule, _) = found(&app, &slug)?;
    let grants = check(grants)?;
    let grants = bind(&app, &slug, schedule.definition.model.as_deref(), grants).await?;
    Ok(Reply(Granted { grants }))
}

pub fn check(grants: Vec<Leave>) -> Result<Vec<Leave>, ApiError> {
    if grants.len() > GRANTS {
        return Err(ApiError::bad_request(format!("grants are at most {GRANTS} at once")));
    }
    for Leave { tool, pattern } in &grants {
        if tool.is_empty() {
            return Err(ApiError::bad_request("grants.tool is required"));
        }
        at_most("grants.tool", tool, TOOL_CHARS)?;
        at_most("grants.pattern", pattern.as_deref().unwrap_or_default(), PATTERN_CHARS)?;
    }
    Ok(grants)
}

pub async fn bind(
    app: &App,
    slug: &str,
    model: Option<&str>,
    grants: Vec<Leave>,
) -> Result<Vec<Shown>, ApiError> {
    let mut given = Vec::with_capacity(grants.len());
    for Leave { tool, pattern } in grants {
        given.push(app.host.grant_schedule(slug, model, tool, pattern).await?.into());
    }
    Ok(given)
}

impl From<RehearseError> for ApiError {
    fn from(error: RehearseError) -> Self {
        match error {
            RehearseError::Agent(_) => Self::bad_request(error.to_string()),
            RehearseError::Open(error) => error.into(),
            RehearseError::Post(error) => error.into(),
        }
    }
}
