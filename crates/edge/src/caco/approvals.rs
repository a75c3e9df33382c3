//! The person's inbox over HTTP: what waits for them, and their answers.

use std::{sync::Arc, time::Duration};

use axum::{
    Json as Reply,
    extract::State,
    response::{IntoResponse as _, Response},
};
use kernel::{
    inbox::{DecideError, Waiting},
    question::{Decision, Scope},
    update::SessionId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    asked::Approval,
    sessions::{at_most, known},
};
use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::{self, ClientId, Json, Params, SessionPath},
};

const PATTERN_CHARS: usize = 4096;
const REASON_CHARS: usize = 10_000;
/// How long a grant that ends may hold: a year.
const LONGEST: u64 = 365 * 24 * 60 * 60;

#[derive(Deserialize, IntoParams)]
pub struct OfSession {
    /// Those of this session alone; of all when absent.
    session: Option<String>,
}

impl OfSession {
    /// The session that is meant, if one is; it must exist.
    pub fn read(self, app: &App) -> Result<Option<SessionId>, ApiError> {
        let Some(text) = self.session.filter(|text| !text.is_empty()) else { return Ok(None) };
        let id = known(&text)?;
        app.host.roster.get(id).ok_or_else(|| ApiError::no_session(&text))?;
        Ok(Some(id))
    }
}

#[derive(Serialize, ToSchema)]
pub struct Approvals<'a> {
    /// Oldest first.
    approvals: Vec<Approval<'a>>,
}

/// What waits for the person
///
/// Tools that need leave, and questions of agents. The socket tells of each as
/// `permission.requested`, and every client hears `approvals.changed`.
#[utoipa::path(get, path = "/api/approvals", tag = "approvals", params(OfSession),
    responses((status = 200, body = Approvals), (status = 404, body = ErrorBody)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Params(which): Params<OfSession>,
) -> Result<Response, ApiError> {
    let only = which.read(&app)?;
    let name = |session| app.host.roster.get(session).map(|state| state.name.clone());
    let waiting = app.host.questions().await?.into_iter();
    let waiting = waiting.filter(|it| only.is_none_or(|only| it.session == only));
    let named = |it: Waiting| (name(it.session).unwrap_or_default(), it);
    let waiting: Vec<(String, Waiting)> = waiting.map(named).collect();
    let approvals = waiting.iter().map(|(name, it)| Approval::waiting(it, name)).collect();
    Ok(Reply(Approvals { approvals }).into_response())
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApprovalAnswer)]
pub struct Ruling {
    decision: Choice,
    /// With `pattern`, which needs it, `view`, `session` and `always`: what is allowed beyond this once.
    /// `*` stands for anything. All that the tool does when absent.
    #[serde(default, deserialize_with = "extract::text")]
    pattern: Option<String>,
    /// With `pattern`: where it holds; in this session when absent.
    scope: Option<Reach>,
    /// With `pattern`, `view`, `session` and `always`: how long it holds; until it is revoked when absent.
    #[schema(minimum = 1, maximum = 31_536_000)]
    expires_in_seconds: Option<u64>,
    /// With `deny`: why, for the agent.
    #[serde(default, deserialize_with = "extract::text")]
    reason: Option<String>,
    /// With `answer`: a text for a question, an object for a form.
    #[schema(value_type = Option<Object>)]
    answer: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApprovalDecision)]
enum Choice {
    Once,
    /// To the widget that asks, for as long as it is shown.
    View,
    Session,
    Pattern,
    Always,
    Deny,
    Answer,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApprovalScope)]
enum Reach {
    View,
    Session,
    Always,
}

impl Ruling {
    fn read(self) -> Result<Decision, ApiError> {
        let Self { decision, pattern, scope, expires_in_seconds, reason, answer } = self;
        let lasting = !matches!(decision, Choice::Once | Choice::Deny | Choice::Answer);
        let those = "pattern, view, session and always";
        for (misplaced, field, with) in [
            (pattern.is_some() && !lasting, "pattern", those),
            (expires_in_seconds.is_some() && !lasting, "expiresInSeconds", those),
            (scope.is_some() && decision != Choice::Pattern, "scope", "pattern"),
            (reason.is_some() && decision != Choice::Deny, "reason", "deny"),
            (answer.is_some() && decision != Choice::Answer, "answer", "answer"),
        ] {
            if misplaced {
                let message = format!("{field} goes only with the decision {with}");
                return Err(ApiError::bad_request(message));
            }
        }
        if decision == Choice::Pattern && pattern.is_none() {
            return Err(ApiError::bad_request("pattern is required"));
        }
        at_most("pattern", pattern.as_deref().unwrap_or_default(), PATTERN_CHARS)?;
        at_most("reason", reason.as_deref().unwrap_or_default(), REASON_CHARS)?;
        if expires_in_seconds.is_some_and(|it| !(1..=LONGEST).contains(&it)) {
            let message = format!("expiresInSeconds must be from 1 to {LONGEST}");
            return Err(ApiError::bad_request(message));
        }
        let lasts = expires_in_seconds.map(Duration::from_secs);
        let allow = |scope| Decision::Allow { scope, pattern, lasts };
        Ok(match (decision, scope) {
            (Choice::Once, _) => allow(Scope::Once),
            (Choice::Always, _) | (Choice::Pattern, Some(Reach::Always)) => allow(Scope::Always),
            (Choice::View, _) | (Choice::Pattern, Some(Reach::View)) => allow(Scope::View),
            (Choice::Session | Choice::Pattern, _) => allow(Scope::Session),
            (Choice::Deny, _) => Decision::Deny { reason },
            (Choice::Answer, _) => Decision::Answer(answer.unwrap_or_default()),
        })
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    #[schema(value_type = String, example = "allowed")]
    verdict: &'static str,
    #[schema(value_type = String)]
    approval_id: Uuid,
}

/// Answer what waits
///
/// For good: the first answer counts, whoever gives it, and a later one is told so with 409.
#[utoipa::path(post, path = "/api/approvals/{id}", tag = "approvals", request_body = Ruling,
    params(SessionPath, ClientId),
    responses((status = 200, body = Resolved), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub async fn decide(
    State(app): State<Arc<App>>,
    ClientId(client): ClientId,
    SessionPath(text): SessionPath,
    Json(ruling): Json<Ruling>,
) -> Result<Reply<Resolved>, ApiError> {
    let absent = || ApiError::not_found(format!("Approval not found: {text}"));
    let approval_id = Uuid::try_parse(&text).map_err(|_| absent())?;
    let by = if client == "default" { "the owner" } else { &client };
    match app.host.decide(approval_id, ruling.read()?, by).await {
        Err(DecideError::Unknown(_)) => Err(absent()),
        Err(DecideError::Settled) => Err(ApiError::already_resolved()),
        Err(DecideError::Wrong(problem)) => Err(ApiError::bad_request(problem)),
        Err(DecideError::Open(error)) => Err(error.into()),
        Ok(verdict) => Ok(Reply(Resolved { verdict: verdict.name(), approval_id })),
    }
}
