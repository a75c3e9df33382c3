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
    find, gather,
    pictures::{ImageUrl, Pictures},
    prepare, spec, tell,
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
    /// A picture, in messages of the user.
    image_url: Option<ImageUrl>,
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
/// Chat Completions, for programs that speak it. Knows nothing of sessions. Pictures come as data URLs.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "v1", request_body = Question,
    responses((status = 200, description = "A completion, or chunks of one as server-sent events"),
        (status = 400, body = FailureBody), (status = 404, body = FailureBody),
        (status = 429, description = "A budget is spent, or the provider's limit", body = FailureBody)))]
pub async fn complete(
    State(app): State<Arc<App>>,
    Json(question): Json<Question, LARGE>,
) -> Result<Response, Failed> {
    let model = find(&app, &question.model).await?;
    let (stream, options) = (question.stream, question.stream_options.as_ref());
    let usage = options.is_some_and(|options| options.include_usage);
    let name = question.model.clone();
    let (prompt, pictures) = prepare(|pictures| question.prompt(pictures)).await?;
    let pieces = ask(&app, model.as_ref(), &name, &prompt, pictures).await?;
    let (id, created) = (app.host.ports.clock.id(), app.host.ports.clock.now().as_second());
    if stream {
        return Ok(tell(pieces, Chunks::new(id, created, name, usage)).into_response());
    }
    Ok(Reply(completion(id, created, &name, &gather(pieces).await?)).into_response())
}

impl Question {
    fn prompt(self, pictures: &mut Pictures) -> Result<Prompt, Failed> {
        let (mut system, mut parts) = (Vec::new(), Vec::new());
        for Message { role, content, tool_calls, tool_call_id } in self.messages {
            let content = content.unwrap_or_else(|| Content::Text(String::new()));
            if role == "user" {
                parts.push(content.user(pictures)?);
                continue;
            }
            let text = content.text()?;
            match role.as_str() {
                "system" | "developer" => system.push(text),
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
    /// What the user says and shows.
    pub fn user(self, pictures: &mut Pictures) -> Result<Part, Failed> {
        let parts = match self {
            Self::Text(text) => return Ok(Part::User { text, images: Vec::new() }),
            Self::Parts(parts) => parts,
        };
        let (mut text, mut images) = (String::new(), Vec::new());
        for part in parts {
            match (part.is_picture(), &part.image_url) {
                (true, Some(url)) => images.push(pictures.take(url)?),
                (true, None) => {
                    let message = format!("content of type `{}` lacks `image_url`", part.r#type);
                    return Err(Failed::bad_request(message));
                }
                (false, _) => text += &part.text()?,
            }
        }
        Ok(Part::User { text, images })
    }

    /// What anybody else says.
    pub fn text(self) -> Result<String, Failed> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Parts(parts) => parts.into_iter().map(ContentPart::text).collect(),
        }
    }
}

impl ContentPart {
    fn is_picture(&self) -> bool {
        matches!(self.r#type.as_str(), "image_url" | "input_image")
    }

    fn text(self) -> Result<String, Failed> {
        if self.is_picture() {
            let message = "pictures are taken in messages of the user only";
            return Err(Failed::bad_request(message));
        }
        match (self.r#type.as_str(), self.text) {
            ("text" | "input_text" | "output_text", Some(text)) => Ok(text),
            (other, _) => {
                let message = format!("content of type `{other}` is not taken here");
                Err(Failed::bad_request(message))
            }
        }
    }
}

fn request(ToolCall { id, function }: ToolCall) -> ToolRequest {
    let Function { name, arguments: args } = function;
    ToolRequest { id, title: name.clone(), name, args: arguments(args) }
}
