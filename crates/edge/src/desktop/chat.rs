//! A message to the agent by the door of the desktop protocol, and its whole answer at once.

use std::{collections::HashMap, sync::Arc};

use axum::{
    Json as Reply,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use kernel::{
    feed::Heard,
    host::{Host, OpenError},
    update::{Entry, Fact, Message, Outcome, Output, Seq, SessionId, ToolRequest, WhenBusy},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    App,
    error::{ApiError, ErrorBody},
    extract::Json,
};

/// What is answered when nothing was said.
const NOTHING_SAID: &str = "Command executed";

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatQuestion {
    message: String,
    /// Read by others. The session of this door remembers what was said.
    #[schema(value_type = Option<Vec<Object>>)]
    #[expect(dead_code, reason = "it must be a list, and is not needed")]
    conversation_history: Option<Vec<Value>>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatAnswer {
    response: String,
    /// What the agent wanted done, in its order.
    tool_calls: Vec<ChatCall>,
    executed_tools: Vec<ChatExecuted>,
    /// Always null.
    #[schema(value_type = Option<String>)]
    thinking: (),
    /// Where it is kept.
    #[schema(value_type = String)]
    session: SessionId,
}

#[derive(Serialize, ToSchema)]
struct ChatCall {
    name: String,
    #[schema(value_type = Object)]
    arguments: Value,
}

#[derive(Serialize, ToSchema)]
struct ChatExecuted {
    tool: String,
    #[schema(value_type = Object)]
    arguments: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<ChatResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct ChatResult {
    #[schema(value_type = String, example = "success")]
    r#type: &'static str,
    message: String,
}

#[derive(Serialize, ToSchema)]
pub struct ChatFailure {
    error: &'static str,
    details: String,
}

/// Ask the agent to do something on a desktop
///
/// One turn of a session that is kept for this door, named `Desktop` at first. Answers when the turn
/// is over; what needs a yes waits for it in the page. While another turn is running there it waits
/// its turn.
#[utoipa::path(post, path = "/api/chat", tag = "desktop", request_body = ChatQuestion,
    responses((status = 200, body = ChatAnswer), (status = 400, body = ErrorBody),
        (status = 429, body = ErrorBody),
        (status = 500, body = ChatFailure, description = "The turn did not come to its end")))]
pub async fn chat(
    State(app): State<Arc<App>>,
    Json(ChatQuestion { message, .. }): Json<ChatQuestion>,
) -> Result<Response, ApiError> {
    if message.trim().is_empty() {
        return Err(ApiError::bad_request("message must not be empty"));
    }
    let model = app.clients.model().await?;
    let session = app.host.desktop_session(Some(model)).await?;
    let receipt = app.host.post(session, Message::from_user(message), WhenBusy::Queue).await?;
    let mut turn = Turn::answering(receipt.seq);
    Ok(match turn.hear_out(&app.host, session).await? {
        Outcome::Finished => Reply(turn.answer(session)).into_response(),
        Outcome::Cancelled => failure("it was stopped".to_owned()),
        Outcome::Interrupted => failure("the server was stopped meanwhile".to_owned()),
        Outcome::Failed { reason, .. } => failure(reason),
    })
}

fn failure(details: String) -> Response {
    let body = ChatFailure { error: "The agent did not answer", details };
    (StatusCode::INTERNAL_SERVER_ERROR, Reply(body)).into_response()
}

/// What is heard of the turn that answers a message.
struct Turn {
    said: Seq,
    is_ours: bool,
    text: String,
    calls: Vec<ToolRequest>,
    outputs: HashMap<String, Output>,
}

impl Turn {
    fn answering(said: Seq) -> Self {
        let (text, calls, outputs) = (String::new(), Vec::new(), HashMap::new());
        Self { said, is_ours: false, text, calls, outputs }
    }

    async fn hear_out(&mut self, host: &Host, session: SessionId) -> Result<Outcome, OpenError> {
        let mut after = self.said.before();
        loop {
            let mut feed = host.feed(session, Some(after)).await?;
            while let Some(heard) = feed.next().await {
                let ended = match heard {
                    Heard::Past(entry) => self.hear(&entry),
                    Heard::Live(told) => told.facts().find_map(|entry| self.hear(entry)),
                    Heard::Now { .. } => None,
                };
                if let Some(outcome) = ended {
                    return Ok(outcome);
                }
                after = feed.last();
            }
            if host.is_closing() {
                return Ok(Outcome::Interrupted);
            }
        }
    }

    fn hear(&mut self, Entry { seq, fact, .. }: &Entry) -> Option<Outcome> {
        match fact {
            Fact::Said { queued, .. } => {
                self.is_ours = *seq == self.said || *queued == Some(self.said);
            }
            Fact::Answered(answer) if self.is_ours => {
                if !answer.text.is_empty() {
                    self.text.clone_from(&answer.text);
                }
                self.calls.extend(answer.calls.iter().cloned());
            }
            Fact::ToolReturned { call, output } if self.is_ours => {
                self.outputs.insert(call.clone(), output.clone());
            }
            Fact::TurnEnded(outcome) if self.is_ours => return Some(outcome.clone()),
            _ => (),
        }
        None
    }

    fn answer(mut self, session: SessionId) -> ChatAnswer {
        let call = |ToolRequest { name, args, .. }: &ToolRequest| ChatCall {
            name: name.clone(),
            arguments: args.clone(),
        };
        let tool_calls = self.calls.iter().map(call).collect();
        let executed_tools = self.calls.into_iter().filter_map(|call| {
            let output = self.outputs.remove(&call.id)?;
            Some(executed(call, &output))
        });
        let executed_tools = executed_tools.collect();
        let response = if self.text.is_empty() { NOTHING_SAID.to_owned() } else { self.text };
        ChatAnswer { response, tool_calls, executed_tools, thinking: (), session }
    }
}

fn executed(ToolRequest { name, args, .. }: ToolRequest, output: &Output) -> ChatExecuted {
    let text = output.text().to_owned();
    let (result, error) = match output {
        Output::Done { .. } => (Some(ChatResult { r#type: "success", message: text }), None),
        Output::Failed { .. } | Output::Interrupted => (None, Some(text)),
    };
    ChatExecuted { tool: name, arguments: args, result, error }
}
