//! Chat Completions: what is asked.

use std::sync::Arc;

use axum::{
    Json as Reply,
    extract::State,
    response::{IntoResponse as _, Response},
};
use kernel::{
    prompt::{Part, Prompt},
    update::{Output, ToolRequest},
};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    arguments, ask,
    chat_say::{Chunks, completion},
    error::{Failed, FailureBody},
    find, gather, spec, tell,
};
use crate::{
    App,
    extract::{Json, LARGE},
};

#[derive(Deserialize, ToSchema)]
pub struct Question {
    model: String,
    messages: Vec<Message>,
    #[serde(default)]
    tools: Vec<Tool>,
    #[serde(default)]
    stream: bool,
    stream_options: Option<StreamOptions>,
}

#[derive(Deserialize, ToSchema)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Deserialize, ToSchema)]
struct Message {
    /// `system`, `developer`, `user`, `assistant` or `tool`.
    role: String,
    content: Option<Content>,
    #[serde(default)]
    tool_calls: Vec<ToolCall>,
    tool_call_id: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Deserialize, ToSchema)]
pub struct ContentPart {
    r#type: String,
    text: Option<String>,
}

#[derive(Deserialize, ToSchema)]
struct ToolCall {
    id: String,
    function: Function,
}

#[derive(Deserialize, ToSchema)]
struct Function {
    name: String,
    /// JSON, as text.
    arguments: String,
}

#[derive(Deserialize, ToSchema)]
struct Tool {
    function: Declared,
}

#[derive(Deserialize, ToSchema)]
struct Declared {
    name: String,
    #[serde(default)]
    description: String,
    #[schema(value_type = Option<Object>)]
    parameters: Option<Value>,
}

/// Ask a model
///
/// Chat Completions, for programs that speak it. Knows nothing of sessions; pictures are not taken.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "v1", request_body = Question,
    responses((status = 200, description = "A completion, or chunks of one as server-sent events"),
        (status = 400, body = FailureBody), (status = 404, body = FailureBody),
        (status = 429, description = "A budget is spent, or the provider's limit", body = FailureBody)))]
pub async fn complete(
    State(app): State<Arc<App>>,
    Json(question): Json<Question, LARGE>,
) -> Result<Response, Failed> {
    let model = find(&app, &question.model)?;
    let (stream, options) = (question.stream, question.stream_options.as_ref());
    let usage = options.is_some_and(|options| options.include_usage);
    let name = question.model.clone();
    let pieces = ask(&app, model.as_ref(), &name, &question.prompt()?).await?;
    let (id, created) = (app.host.ports.clock.id(), app.host.ports.clock.now().as_second());
    if stream {
        return Ok(tell(pieces, Chunks::new(id, created, name, usage)).into_response());
    }
    Ok(Reply(completion(id, created, &name, &gather(pieces).await?)).into_response())
}

impl Question {
    fn prompt(self) -> Result<Prompt, Failed> {
        let (mut system, mut parts) = (Vec::new(), Vec::new());
        for Message { role, content, tool_calls, tool_call_id } in self.messages {
            let text = content.map(Content::text).transpose()?.unwrap_or_default();
            match role.as_str() {
                "system" | "developer" => system.push(text),
                "user" => parts.push(Part::User { text, images: Vec::new() }),
                "assistant" => parts.push(Part::Assistant {
                    text,
                    reasoning: String::new(),
                    calls: tool_calls.into_iter().map(request).collect(),
                    trace: None,
                }),
                "tool" => {
                    let call = tool_call_id
                        .ok_or_else(|| Failed::bad_request("a tool message needs tool_call_id"))?;
                    parts.push(Part::Result { call, output: Output::done(text) });
                }
                other => return Err(Failed::bad_request(format!("unknown role `{other}`"))),
            }
        }
        let tools = self
            .tools
            .into_iter()
            .map(|Tool { function: it }| spec(it.name, it.description, it.parameters))
            .collect();
        Ok(Prompt { system: system.join("\n\n"), parts, tools })
    }
}

impl Content {
    pub fn text(self) -> Result<String, Failed> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Parts(parts) => {
                let text = |part: ContentPart| match (part.r#type.as_str(), part.text) {
                    ("text" | "input_text" | "output_text", Some(text)) => Ok(text),
                    (other, _) => Err(Failed::bad_request(format!(
                        "content of type `{other}` is not taken here"
                    ))),
                };
                parts.into_iter().map(text).collect()
            }
        }
    }
}

fn request(ToolCall { id, function }: ToolCall) -> ToolRequest {
    let Function { name, arguments: args } = function;
    ToolRequest { id, title: name.clone(), name, args: arguments(args) }
}
