//! A schedule and its runs as this API shows them.

use jiff::Timestamp;
use kernel::{
    schedule::{Definition, Missed, OnNewNeed, Run, RunOutcome, Schedule, Timing},
    update::SessionId,
};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::leave::NeedShown;
use crate::caco::frames::Iso;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Schedule)]
pub struct Item {
    slug: String,
    prompt: String,
    enabled: bool,
    schedule: TimingShown,
    session_config: SessionConfig,
    /// When the run began that ended last.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_run: Option<Iso>,
    /// `success` or `error`.
    #[schema(value_type = Option<String>, example = "success")]
    last_result: Option<&'static str>,
    last_error: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    next_run: Option<Iso>,
    /// Where it ran last.
    #[schema(value_type = Option<String>)]
    session_id: Option<SessionId>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Iso,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Iso,
    running: bool,
    /// What becomes of times that passed while nothing could run: `skip`, `once` or `all`.
    #[schema(value_type = String, example = "once")]
    missed: &'static str,
    /// What becomes of a run that wants what it has no leave for: `deny-and-continue` or `end`.
    #[schema(value_type = String, example = "deny-and-continue")]
    on_new_need: &'static str,
}

#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[schema(as = ScheduleTiming)]
enum TimingShown {
    Cron {
        expression: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        timezone: Option<String>,
    },
    Interval {
        interval_minutes: u32,
    },
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ScheduleSessionConfig)]
struct SessionConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    persist_session: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
}

impl Item {
    pub fn new(schedule: &Schedule, next: Option<Timestamp>) -> Self {
        let Schedule { slug, definition, created, updated, session, last, running, .. } = schedule;
        let Definition { prompt, enabled, timing, model, cwd, persist, missed, on_new_need } =
            definition.clone();
        let last = last.as_ref();
        Self {
            slug: slug.clone(),
            prompt,
            enabled,
            schedule: timing.into(),
            session_config: SessionConfig {
                model,
                persist_session: persist,
                cwd: cwd.map(|cwd| cwd.to_string_lossy().into_owned()),
            },
            last_run: last.map(|run| Iso(run.started.unwrap_or(run.due))),
            last_result: last.and_then(|run| run.outcome).map(|outcome| match outcome {
                RunOutcome::Success => "success",
                RunOutcome::Error | RunOutcome::Cancelled | RunOutcome::Skipped => "error",
            }),
            last_error: last.and_then(|run| match run.outcome {
                Some(RunOutcome::Cancelled) => Some("cancelled".to_owned()),
                _ => run.error.clone(),
            }),
            next_run: next.map(Iso),
            session_id: *session,
            created_at: Iso(*created),
            updated_at: Iso(*updated),
            running: running.is_some(),
            missed: match missed {
                Missed::Skip => "skip",
                Missed::Once => "once",
                Missed::All => "all",
            },
            on_new_need: match on_new_need {
                OnNewNeed::DenyAndContinue => "deny-and-continue",
                OnNewNeed::End => "end",
            },
        }
    }
}

impl From<Timing> for TimingShown {
    fn from(timing: Timing) -> Self {
        match timing {
            Timing::Cron { expression, zone } => Self::Cron { expression, timezone: zone },
            Timing::Interval { minutes } => Self::Interval { interval_minutes: minutes },
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ScheduleRun)]
pub struct RunShown {
    #[schema(value_type = String)]
    id: Uuid,
    #[schema(value_type = String, format = DateTime)]
    due: Iso,
    #[schema(value_type = Option<String>, format = DateTime)]
    started: Option<Iso>,
    #[schema(value_type = Option<String>, format = DateTime)]
    finished: Option<Iso>,
    /// `success`, `error`, `cancelled` or `skipped`; null while it runs.
    #[schema(value_type = Option<String>, example = "success")]
    outcome: Option<&'static str>,
    error: Option<String>,
    /// Why it is not as planned.
    reason: Option<String>,
    #[schema(value_type = Option<String>)]
    session_id: Option<SessionId>,
    manual: bool,
    /// What it wanted and had no leave for.
    needed: Vec<NeedShown>,
}

impl From<&Run> for RunShown {
    fn from(run: &Run) -> Self {
        Self {
            id: run.id,
            due: Iso(run.due),
            started: run.started.map(Iso),
            finished: run.finished.map(Iso),
            outcome: run.outcome.map(|outcome| match outcome {
                RunOutcome::Success => "success",
                RunOutcome::Error => "error",
                RunOutcome::Cancelled => "cancelled",
                RunOutcome::Skipped => "skipped",
            }),
            error: run.error.clone(),
            reason: run.reason.clone(),
            session_id: run.session,
            manual: run.manual,
            needed: run.needed.iter().map(NeedShown::from).collect(),
        }
    }
}
