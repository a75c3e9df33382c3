//! What an agent is told before the conversation: to be looked at, and the person's part to be changed.

use std::sync::Arc;

use axum::{Json as Reply, extract::State};
use kernel::{ports::Brief, prompt, toolbox::ToolSpec, visit::names_agent};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::{Json, SessionPath},
};

/// More than this would not be told.
const WORDS_BYTES: usize = 32 * 1024;

#[derive(Serialize, ToSchema)]
pub struct SystemPrompt {
    /// In the order in which they are told.
    parts: Vec<PromptPart>,
    tools: Vec<PromptTool>,
}

#[derive(Serialize, ToSchema)]
struct PromptPart {
    title: String,
    text: String,
}

#[derive(Serialize, ToSchema)]
struct PromptTool {
    name: String,
    description: String,
    #[schema(value_type = Object)]
    parameters: serde_json::Value,
}

/// What the agent of a session is told
#[utoipa::path(get, path = "/api/sessions/{id}/prompt", tag = "sessions", params(SessionPath),
    responses((status = 200, body = SystemPrompt), (status = 404, body = ErrorBody)))]
pub async fn show(
    State(app): State<Arc<App>>,
    SessionPath(text): SessionPath,
) -> Result<Reply<SystemPrompt>, ApiError> {
    let id = kernel::update::SessionId::parse(&text);
    let state = id.and_then(|id| app.host.roster.get(id));
    let state = state.ok_or_else(|| ApiError::no_session(&text))?;
    let ports = &app.host.ports;
    let briefs = match id.filter(|_| names_agent(&state.model)) {
        Some(id) => of_agent(&state.model, ports.agents.about(&state.model, id)),
        None => prompt::briefs(&state, ports.briefing.parts(ports.cwd(&state.cwd)).await),
    };
    let tools = id.map(|id| ports.tools.specs_in(id)).unwrap_or_default();
    let part = |Brief { title, text }| PromptPart { title, text };
    let tool = |ToolSpec { name, description, schema: parameters }| PromptTool {
        name,
        description,
        parameters,
    };
    Ok(Reply(SystemPrompt {
        parts: briefs.into_iter().map(part).collect(),
        tools: tools.into_iter().map(tool).collect(),
    }))
}

/// An agent with a mind of its own has instructions of its own, and tells what it likes of itself.
fn of_agent(name: &str, told: Vec<Brief>) -> Vec<Brief> {
    let text = if told.is_empty() {
        "It brings its own instructions. What can be chosen about it is known while it answers here."
    } else {
        "It brings its own instructions. What it tells of itself follows; `options` in config.toml \
         chooses for every session."
    };
    let first = Brief { title: name.to_owned(), text: text.to_owned() };
    std::iter::once(first).chain(told).collect()
}

#[derive(Deserialize, ToSchema)]
pub struct Instructions {
    /// Empty to say nothing.
    text: String,
}

#[derive(Serialize, ToSchema)]
pub struct Changed {
    ok: bool,
}

/// What the person tells every agent
///
/// Heeded from the next turn on, in every session.
#[utoipa::path(put, path = "/api/instructions", tag = "preferences", request_body = Instructions,
    responses((status = 200, body = Changed), (status = 400, body = ErrorBody)))]
pub async fn change(
    State(app): State<Arc<App>>,
    Json(Instructions { text }): Json<Instructions>,
) -> Result<Reply<Changed>, ApiError> {
    if text.len() > WORDS_BYTES {
        return Err(ApiError::bad_request(format!("text is longer than {WORDS_BYTES} bytes")));
    }
    app.host.ports.briefing.rewrite(text).await?;
    Ok(Reply(Changed { ok: true }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_named_before_what_it_tells_of_itself() {
        let modes = Brief { title: "Its modes (mode)".into(), text: "- `plan`\n".into() };
        let titles = |told| {
            let briefs = of_agent("agent/mine", told).into_iter();
            briefs.map(|it| it.title).collect::<Vec<_>>()
        };
        assert_eq!(titles(vec![modes]), ["agent/mine", "Its modes (mode)"]);
        assert_eq!(titles(Vec::new()), ["agent/mine"]);
    }
}
