//! Says something to the agent of another session.

use std::path::Path;

use kernel::{
    toolbox::{Call, Deed, Risk},
    update::{Message, Origin, WhenBusy},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{House, deed, find, is_bounded, real};
use crate::typed::{Typed, shorten};

/// Says something to the agent of another session and returns at once. `wait_for_agent` returns
/// what it answers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// The session.
    session_id: String,
    /// What to say.
    message: String,
}

pub struct SendAgentMessage {
    pub house: House,
}

impl Typed for SendAgentMessage {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "send_agent_message";
    const RISK: Risk = Risk::RunsBoxed;

    fn title(&self, input: &Input) -> String {
        format!("Telling an agent: {}", shorten(&input.message, 80))
    }

    async fn foresee(&self, input: Input, call: &Call) -> Result<Deed, String> {
        let host = self.house.host()?;
        let Some((id, state)) = find(&host, &input.session_id) else {
            return Err(failed(&format!("Session not found: {}", input.session_id)));
        };
        if id == call.session.id() {
            return Err(failed("Cannot post to own session"));
        }
        let (mode, cwd) = (host.approvals.mode(&state), real(Path::new(&state.cwd)));
        Ok(deed(call, id.to_string(), is_bounded(call, mode, &cwd)))
    }

    async fn run(&self, input: Input, call: Call) -> Result<String, String> {
        let host = self.house.host()?;
        let Some((id, _)) = find(&host, &input.session_id) else {
            return Err(failed(&format!("Session not found: {}", input.session_id)));
        };
        if input.message.is_empty() {
            return Err(failed("message is required"));
        }
        let message = Message {
            origin: Origin::Agent { session: call.session.id().to_string() },
            flow: call.flow,
            ..Message::from_user(input.message)
        };
        match host.post(id, message, WhenBusy::Refuse).await {
            Ok(_) => Ok(format!("Message sent to session {id}.")),
            Err(error) => Err(failed(&error.to_string())),
        }
    }
}

fn failed(problem: &str) -> String {
    format!("Failed to send message: {problem}")
}
