//! All sessions at once, as the page lists them.

use std::{collections::BTreeMap, sync::Arc};

use axum::{Json as Reply, extract::State};
use jiff::Timestamp;
use kernel::{state::State as SessionState, update::SessionId};
use serde::Serialize;
use utoipa::ToSchema;

use super::{frames::Iso, sessions::workspace};
use crate::{App, error::ApiError, extract::ClientId};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionList {
    #[schema(value_type = Option<String>)]
    active_session_id: Option<SessionId>,
    current_cwd: String,
    unobserved_count: usize,
    /// By folder, the latest first.
    #[schema(value_type = BTreeMap<String, Vec<Item>>)]
    grouped: BTreeMap<Arc<str>, Vec<Item>>,
    models: Vec<ModelItem>,
}

/// Serialised straight from the roster: ten thousand of these are one answer.
struct Item {
    id: SessionId,
    mode: &'static str,
    state: Arc<SessionState>,
    /// The schedule that ran here last, and when it runs next.
    schedule: Option<(String, Option<Timestamp>)>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    #[schema(value_type = String)]
    session_id: SessionId,
    cwd: &'a str,
    model: &'a str,
    /// What it may do without asking: `ask`, `auto-safe` or `full`.
    #[schema(example = "ask")]
    mode: &'a str,
    /// Given by a person; empty if none was.
    name: &'a str,
    summary: Option<&'a str>,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Iso,
    is_busy: bool,
    is_unobserved: bool,
    current_intent: Option<&'a str>,
    schedule_slug: Option<&'a str>,
    #[schema(value_type = Option<String>, format = DateTime)]
    schedule_next_run: Option<Iso>,
}

impl Serialize for Item {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { id, mode, state, schedule } = self;
        let shown = Shown {
            session_id: *id,
            cwd: &state.cwd,
            model: &state.model,
            mode,
            name: &state.name,
            summary: state.summary.as_deref(),
            updated_at: Iso(state.updated_at),
            is_busy: state.is_busy(),
            is_unobserved: state.unobserved,
            current_intent: state.intent.as_deref(),
            schedule_slug: schedule.as_ref().map(|(slug, _)| slug.as_str()),
            schedule_next_run: schedule.as_ref().and_then(|(_, next)| next.map(Iso)),
        };
        shown.serialize(serializer)
    }
}

impl utoipa::PartialSchema for Item {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        Shown::schema()
    }
}

impl ToSchema for Item {
    fn name() -> std::borrow::Cow<'static, str> {
        "Session".into()
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = PricedModel)]
struct ModelItem {
    id: String,
    name: String,
    cost: f64,
}

/// All sessions, and the models there are
#[utoipa::path(get, path = "/api/sessions", tag = "sessions",
    params(ClientId),
    responses((status = 200, body = SessionList)))]
pub async fn list(
    State(app): State<Arc<App>>,
    ClientId(client): ClientId,
) -> Result<Reply<SessionList>, ApiError> {
    let active_session_id = app.clients.active(&client).await?;
    // A provider that is down must not hide the sessions.
    let models = app.host.ports.models.list().await.unwrap_or_default();
    let models = models.into_iter().map(|it| ModelItem { id: it.id, name: it.name, cost: it.cost });
    let mut sessions = app.host.roster.all();
    sessions.sort_unstable_by(|(a, one), (b, other)| {
        other.updated_at.cmp(&one.updated_at).then(b.cmp(a))
    });
    let mut schedules = app.host.schedules.by_session();
    let mut grouped: BTreeMap<Arc<str>, Vec<Item>> = BTreeMap::new();
    for (id, state) in sessions {
        let mode = app.host.approvals.mode(&state).name();
        let cwd = if state.cwd.is_empty() { "(unknown)" } else { state.cwd.as_str() };
        let schedule = schedules.remove(&id);
        match grouped.get_mut(cwd) {
            Some(group) => group.push(Item { id, mode, state, schedule }),
            None => drop(grouped.insert(cwd.into(), vec![Item { id, mode, state, schedule }])),
        }
    }
    Ok(Reply(SessionList {
        active_session_id,
        current_cwd: workspace(&app),
        unobserved_count: app.host.roster.unobserved(),
        grouped,
        models: models.collect(),
    }))
}
