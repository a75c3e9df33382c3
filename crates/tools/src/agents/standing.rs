//! Tells how a session stands.

use kernel::toolbox::{Call, Risk};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{House, find};
use crate::typed::{Typed, shorten};

/// Tells how a session stands: whether it is busy, with what, and what it may do.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// The session.
    session_id: String,
}

pub struct GetSessionState {
    pub house: House,
}

impl Typed for GetSessionState {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "get_session_state";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, input: &Input) -> String {
        format!("Looking at session {}", shorten(&input.session_id, 40))
    }

    async fn run(&self, input: Input, _: Call) -> Result<String, String> {
        let host = self.house.host()?;
        let found = find(&host, &input.session_id);
        let (id, state) = found.ok_or_else(|| format!("Session {} not found", input.session_id))?;
        let is_active = host.is_live(id);
        let state = json!({
            "sessionId": id,
            "status": if is_active { "idle" } else { "inactive" },
            "name": state.name,
            "cwd": state.cwd,
            "model": state.model,
            "mode": host.approvals.mode(&state).name(),
            "isActive": is_active,
            "isBusy": state.is_busy(),
            "currentIntent": state.intent,
            "queued": state.queue.len(),
            "waitsForPerson": state.awaits_person(),
            "usage": {
                "inputTokens": state.spent.input_tokens,
                "outputTokens": state.spent.output_tokens,
                "cost": state.spent.cost,
            },
        });
        Ok(format!("{state:#}"))
    }
}
