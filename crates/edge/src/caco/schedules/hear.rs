//! What is asked of a schedule, read as leniently as clients are, and checked in their order.

use kernel::schedule::{Definition, Missed, OnNewNeed, Timing};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::leave::{Leave, check};
use crate::{
    App,
    caco::sessions::{at_most, folder},
    error::ApiError,
    extract,
};

const PROMPT_CHARS: usize = 100_000;
const WORD_CHARS: usize = 500;

/// How a timing is asked for.
#[derive(ToSchema)]
#[schema(as = ScheduleTimingWish)]
#[expect(dead_code, reason = "it describes what is read by hand")]
pub struct TimingWish {
    /// `cron` or `interval`.
    #[schema(example = "cron")]
    r#type: String,
    /// With `cron`: five fields, or six with seconds first; names and `@daily` and the like.
    #[schema(example = "0 8 * * MON-FRI")]
    expression: Option<String>,
    /// With `interval`: a whole number, at least 1.
    interval_minutes: Option<u32>,
    /// With `cron`: an IANA name; the server's own when absent.
    #[schema(example = "Europe/Berlin")]
    timezone: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ScheduleWish)]
pub struct Wish {
    #[serde(default, deserialize_with = "extract::text")]
    #[schema(required = true)]
    prompt: Option<String>,
    /// True when absent.
    enabled: Option<bool>,
    #[schema(value_type = TimingWish)]
    schedule: Option<Value>,
    #[serde(default, deserialize_with = "extract::object")]
    session_config: Option<SessionWish>,
    /// `once` when absent.
    missed: Option<MissedWish>,
    /// `deny-and-continue` when absent.
    on_new_need: Option<OnNewNeedWish>,
    /// Find out first what it would need.
    #[serde(default)]
    pub rehearse: bool,
    /// What it may do, besides what it was allowed before.
    #[serde(default)]
    grants: Vec<Leave>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ScheduleSessionWish)]
struct SessionWish {
    #[serde(default, deserialize_with = "extract::text")]
    model: Option<String>,
    /// Whether every run goes on where the last one ended; true when absent.
    persist_session: Option<bool>,
    /// An existing folder; relative ones start from the server's.
    #[serde(default, deserialize_with = "extract::text")]
    cwd: Option<String>,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = ScheduleMissed)]
enum MissedWish {
    Skip,
    Once,
    All,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = ScheduleOnNewNeed)]
enum OnNewNeedWish {
    DenyAndContinue,
    End,
}

/// What is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ScheduleChanges)]
pub struct Changes {
    enabled: Option<bool>,
    prompt: Option<String>,
    #[schema(value_type = Option<TimingWish>)]
    schedule: Option<Value>,
    #[serde(default, deserialize_with = "extract::object")]
    session_config: Option<SessionWish>,
    missed: Option<MissedWish>,
    on_new_need: Option<OnNewNeedWish>,
}

impl Wish {
    pub fn grants(&self) -> Result<Vec<Leave>, ApiError> {
        check(self.grants.clone())
    }

    pub fn read(self, app: &App) -> Result<Definition, ApiError> {
        let prompt = self.prompt.ok_or_else(|| ApiError::bad_request("prompt is required"))?;
        at_most("prompt", &prompt, PROMPT_CHARS)?;
        let timing = timing(self.schedule)?;
        plannable(app, &timing)?;
        let definition = Definition {
            prompt,
            enabled: self.enabled.unwrap_or(true),
            timing,
            model: None,
            cwd: None,
            persist: true,
            missed: self.missed.map(Into::into).unwrap_or_default(),
            on_new_need: self.on_new_need.map(Into::into).unwrap_or_default(),
        };
        match self.session_config {
            Some(config) => config.apply(app, definition),
            None => Ok(definition),
        }
    }
}

impl Changes {
    /// Whether what is planned is to be planned again from now.
    pub fn begins_anew(&self) -> bool {
        self.schedule.is_some() || self.enabled == Some(true)
    }

    pub fn apply(self, app: &App, mut definition: Definition) -> Result<Definition, ApiError> {
        if let Some(prompt) = self.prompt {
            if prompt.is_empty() {
                return Err(ApiError::bad_request("prompt is required"));
            }
            at_most("prompt", &prompt, PROMPT_CHARS)?;
            definition.prompt = prompt;
        }
        if self.schedule.is_some() {
            definition.timing = timing(self.schedule)?;
            plannable(app, &definition.timing)?;
        }
        definition.enabled = self.enabled.unwrap_or(definition.enabled);
        definition.missed = self.missed.map_or(definition.missed, Into::into);
        definition.on_new_need = self.on_new_need.map_or(definition.on_new_need, Into::into);
        match self.session_config {
            Some(config) => config.apply(app, definition),
            None => Ok(definition),
        }
    }
}

impl SessionWish {
    fn apply(self, app: &App, definition: Definition) -> Result<Definition, ApiError> {
        let Self { model, persist_session, cwd } = self;
        at_most("sessionConfig.model", model.as_deref().unwrap_or_default(), WORD_CHARS)?;
        let cwd = cwd.map(|cwd| folder(app, &cwd)).transpose()?;
        let persist = persist_session.unwrap_or(definition.persist);
        Ok(Definition {
            model: model.or(definition.model),
            cwd: cwd.or(definition.cwd),
            persist,
            ..definition
        })
    }
}

/// Reads how a timing is asked for; whether it can be is another question.
pub fn timing(wish: Option<Value>) -> Result<Timing, ApiError> {
    let lacking = || {
        let message = "schedule with type and expression/intervalMinutes is required";
        ApiError::bad_request(message)
    };
    let Some(Value::Object(wish)) = wish else { return Err(lacking()) };
    let Some(Value::String(kind)) = wish.get("type").filter(|kind| *kind != "") else {
        return Err(lacking());
    };
    match (kind.as_str(), wish.get("expression"), wish.get("intervalMinutes")) {
        ("cron", Some(Value::String(expression)), _) => {
            at_most("schedule.expression", expression, WORD_CHARS)?;
            Ok(Timing::Cron { expression: expression.clone(), zone: named_zone(&wish)? })
        }
        ("interval", _, Some(Value::Number(minutes))) => {
            if minutes.as_f64().is_some_and(|minutes| minutes < 1.0) {
                return Ok(Timing::Interval { minutes: 0 });
            }
            let Some(minutes) = minutes.as_u64() else {
                let message = "schedule.intervalMinutes must be a whole number";
                return Err(ApiError::bad_request(message));
            };
            Ok(Timing::Interval { minutes: u32::try_from(minutes).unwrap_or(u32::MAX) })
        }
        ("cron" | "interval", ..) => Err(lacking()),
        (other, ..) => {
            let message = format!("Unknown schedule type: {other}. Use cron or interval");
            Err(ApiError::bad_request(message))
        }
    }
}

pub fn zone(timing: &Timing) -> Option<&str> {
    match timing {
        Timing::Cron { zone, .. } => zone.as_deref(),
        Timing::Interval { .. } => None,
    }
}

fn named_zone(wish: &Map<String, Value>) -> Result<Option<String>, ApiError> {
    match wish.get("timezone") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name.clone()).filter(|name| !name.is_empty())),
        Some(_) => Err(ApiError::bad_request("schedule.timezone must be a text")),
    }
}

fn plannable(app: &App, timing: &Timing) -> Result<(), ApiError> {
    let planned = app.host.schedules.preview(timing, 0).map(drop);
    planned.map_err(|error| ApiError::bad_request(error.to_string()))
}

impl From<MissedWish> for Missed {
    fn from(wish: MissedWish) -> Self {
        match wish {
            MissedWish::Skip => Self::Skip,
            MissedWish::Once => Self::Once,
            MissedWish::All => Self::All,
        }
    }
}

impl From<OnNewNeedWish> for OnNewNeed {
    fn from(wish: OnNewNeedWish) -> Self {
        match wish {
            OnNewNeedWish::DenyAndContinue => Self::DenyAndContinue,
            OnNewNeedWish::End => Self::End,
        }
    }
}
