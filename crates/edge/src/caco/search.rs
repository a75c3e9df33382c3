//! Looking for words in what happened in a session, the newest first, a stretch of the log at a time.

mod excerpt;

use std::sync::Arc;

use axum::{Json as Reply, extract::State};
use kernel::{
    back::Back,
    update::{Entry, Fact, Seq, SessionId},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Iso, sessions::known};
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::{Params, SessionPath},
};
use excerpt::Sought;

const FEW: usize = 20;
const MANY: usize = 100;
/// How many facts are looked at before it is for the caller to ask on.
const STRETCH: usize = 5_000;
const LONGEST: usize = 200;

#[derive(Deserialize, IntoParams)]
pub struct Which {
    /// All of these words must occur, in any case.
    #[param(min_length = 1, max_length = 200, example = "budget rust")]
    q: Option<String>,
    /// Only what came before this; all when absent.
    before: Option<u64>,
    /// How many, 20 when absent.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<usize>,
}

#[derive(Serialize, ToSchema)]
pub struct Findings {
    /// Newest first.
    found: Vec<Finding>,
    /// What to pass to look further back; null at the beginning of the session. There may be
    /// more even where nothing was found in this stretch.
    #[schema(value_type = Option<u64>)]
    before: Option<Seq>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Finding {
    /// Its place in the log, as events have it.
    #[schema(value_type = u64)]
    seq: Seq,
    /// `message`, `answer` or `tool`: its call or its result.
    #[schema(value_type = String, example = "answer")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    /// What stands around the first of the words, on one line.
    excerpt: String,
    #[schema(value_type = String)]
    timestamp: Iso,
}

/// Look for words in a session
///
/// In messages, answers, and calls of tools with their results. What was taken back is not found.
/// Each request looks at a stretch of the session; ask on with `before` until that is null.
#[utoipa::path(get, path = "/api/sessions/{id}/search", tag = "sessions",
    params(SessionPath, Which),
    responses((status = 200, body = Findings), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub async fn search(
    State(app): State<Arc<App>>,
    SessionPath(text): SessionPath,
    Params(Which { q, before, limit }): Params<Which>,
) -> Result<Reply<Findings>, ApiError> {
    let id = known(&text)?;
    let state = app.host.roster.get(id).ok_or_else(|| ApiError::no_session(&text))?;
    let sought = sought(q.as_deref().unwrap_or_default())?;
    let limit = limit.unwrap_or(FEW);
    if !(1..=MANY).contains(&limit) {
        let message = format!("limit must be from 1 to {MANY}, not {limit}");
        return Err(ApiError::bad_request(message));
    }
    let end = state.last.next();
    let before = before.map_or(end, |before| Seq(before).min(end));
    Ok(Reply(look(&app, id, before, &sought, limit).await?))
}

fn sought(text: &str) -> Result<Sought, ApiError> {
    if text.chars().count() > LONGEST {
        return Err(ApiError::bad_request(format!("q may have {LONGEST} characters at most")));
    }
    Sought::read(text).ok_or_else(|| ApiError::bad_request("q is required: what to look for"))
}

async fn look(
    app: &App,
    session: SessionId,
    before: Seq,
    sought: &Sought,
    limit: usize,
) -> Result<Findings, ApiError> {
    let mut back = Back::from(app.host.ports.log.as_ref(), session, before);
    let mut found = Vec::new();
    for _ in 0..STRETCH {
        let Some(entry) = back.next().await? else {
            return Ok(Findings { found, before: None });
        };
        found.extend(findings(&entry, sought));
        if found.len() >= limit {
            break;
        }
    }
    Ok(Findings { found, before: Some(back.place()) })
}

/// All in one fact, so that none is lost between two pages.
fn findings(Entry { seq, at, fact }: &Entry, sought: &Sought) -> Vec<Finding> {
    let finding = |kind, tool_call_id, excerpt| Finding {
        seq: *seq,
        kind,
        tool_call_id,
        excerpt,
        timestamp: Iso(*at),
    };
    match fact {
        Fact::Said { message, .. } => {
            let said = sought.within(&message.text);
            said.map(|text| finding("message", None, text)).into_iter().collect()
        }
        Fact::Answered(answer) => {
            let spoken = sought.within(&answer.text).map(|text| finding("answer", None, text));
            let called = answer.calls.iter().filter_map(|call| {
                let told = format!("{} {} {}", call.name, call.title, call.args);
                Some(finding("tool", Some(call.id.clone()), sought.within(&told)?))
            });
            spoken.into_iter().chain(called).collect()
        }
        Fact::ToolReturned { call, output } => {
            let returned = sought.within(output.text());
            let tool = |text| finding("tool", Some(call.clone()), text);
            returned.map(tool).into_iter().collect()
        }
        Fact::Opened { .. }
        | Fact::Renamed { .. }
        | Fact::EnvHinted { .. }
        | Fact::ModelChanged { .. }
        | Fact::ModeChanged { .. }
        | Fact::ContextChanged { .. }
        | Fact::Observed
        | Fact::Queued(_)
        | Fact::Unqueued { .. }
        | Fact::StepStarted { .. }
        | Fact::ToolStarted { .. }
        | Fact::Embedded(_)
        | Fact::WindowOpened(_)
        | Fact::WindowChanged { .. }
        | Fact::WindowClosed { .. }
        | Fact::App(_)
        | Fact::Desktop(_)
        | Fact::Widget(_)
        | Fact::CompactionStarted
        | Fact::CompactionEnded(_)
        | Fact::ModelLent { .. }
        | Fact::Asked(_)
        | Fact::Settled { .. }
        | Fact::TaskOpened(_)
        | Fact::TaskMoved(_)
        | Fact::TaskClosed { .. }
        | Fact::TurnEnded(_)
        | Fact::Rewound { .. } => Vec::new(),
    }
}
