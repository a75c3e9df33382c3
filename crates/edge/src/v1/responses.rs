//! Responses: what is asked.

use std::sync::Arc;

use axum::{
    Json as Reply,
    extract::State,
    response::{IntoResponse as _, Response},
};
use kernel::{
    prompt::{Part, Prompt},
    toolbox::ToolSpec,
    update::{Output, ToolRequest},
};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    arguments, ask,
    chat::Content,
    error::{Failed, FailureBody},
    find, gather,
    pictures::Pictures,
    prepare,
    responses_say::{Events, response},
    spec, tell,
};
use crate::{
    App,
    extract::{Json, LARGE},
};

#[derive(Deserialize, ToSchema)]
pub struct Question {
    model: String,
    input: Input,
    instructions: Option<String>,
    #[serde(default)]
    tools: Vec<Tool>,
    #[serde(default)]
    stream: bool,
    /// Nothing is kept here, so nothing can be continued.
    previous_response_id: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
enum Input {
    Text(String),
    Items(Vec<Item>),
}

#[derive(Deserialize, ToSchema)]
struct Item {
    /// `message` when absent.
    r#type: Option<String>,
    role: Option<String>,
    content: Option<Content>,
    call_id: Option<String>,
    name: Option<String>,
    arguments: Option<String>,
    output: Option<Content>,
}

#[derive(Deserialize, ToSchema)]
struct Tool {
    /// Only `function` is taken.
    r#type: String,
    #[serde(default)]
    name: String,
    description: Option<String>,
    #[schema(value_type = Option<Object>)]
    parameters: Option<Value>,
}

/// Ask a model, in the newer way
///
/// Responses, for programs that speak it. Knows nothing of sessions and keeps nothing. Pictures come as data URLs.
#[utoipa::path(post, path = "/v1/responses", tag = "v1", request_body = Question,
    responses((status = 200, description = "A response, or the events of one"),
        (status = 400, body = FailureBody), (status = 404, body = FailureBody),
        (status = 429, description = "A budget is spent, or the provider's limit", body = FailureBody)))]
pub async fn create(
    State(app): State<Arc<App>>,
    Json(question): Json<Question, LARGE>,
) -> Result<Response, Failed> {
    let model = find(&app, &question.model).await?;
    if question.previous_response_id.is_some() {
        let message = "previous_response_id: responses are not kept here; send the whole input";
        return Err(Failed::bad_request(message));
    }
    let (stream, name) = (question.stream, question.model.clone());
    let (prompt, pictures) = prepare(|pictures| question.prompt(pictures)).await?;
    let pieces = ask(&app, model.as_ref(), &name, &prompt, pictures).await?;
    let (id, created) = (app.host.ports.clock.id(), app.host.ports.clock.now().as_second());
    if stream {
        return Ok(tell(pieces, Events::new(id, created, name)).into_response());
    }
    Ok(Reply(response(id, created, &name, &gather(pieces).await?)).into_response())
}

impl Question {
    fn prompt(self, pictures: &mut Pictures) -> Result<Prompt, Failed> {
        let mut system: Vec<String> = self.instructions.into_iter().collect();
        let user = |text| Part::User { text, images: Vec::new() };
        let parts = match self.input {
            Input::Text(text) => vec![user(text)],
            Input::Items(items) => {
                let mut parts = Vec::new();
                for item in items {
                    parts.extend(item.part(&mut system, pictures)?);
                }
                parts
            }
        };
        let tools = self.tools.into_iter().map(Tool::spec).collect::<Result<_, _>>()?;
        Ok(Prompt { system: system.join("\n\n"), parts, tools })
    }
}

impl Item {
    fn part(
        self,
        system: &mut Vec<String>,
        pictures: &mut Pictures,
    ) -> Result<Option<Part>, Failed> {
        let missing = |what: &str| Failed::bad_request(format!("an input item lacks `{what}`"));
        match self.r#type.as_deref().unwrap_or("message") {
            "message" => {
                let content = self.content.ok_or_else(|| missing("content"))?;
                match self.role.as_deref() {
                    Some("system" | "developer") => {
                        system.push(content.text()?);
                        Ok(None)
                    }
                    Some("user") => content.user(pictures).map(Some),
                    Some("assistant") => Ok(Some(said(content.text()?, Vec::new()))),
                    other => Err(Failed::bad_request(format!("unknown role {other:?}"))),
                }
            }
            "function_call" => {
                let name = self.name.ok_or_else(|| missing("name"))?;
                let args = arguments(self.arguments.unwrap_or_default());
                let id = self.call_id.ok_or_else(|| missing("call_id"))?;
                let call = ToolRequest { id, title: name.clone(), name, args };
                Ok(Some(said(String::new(), vec![call])))
            }
            "function_call_output" => {
                let call = self.call_id.ok_or_else(|| missing("call_id"))?;
                let text = self.output.ok_or_else(|| missing("output"))?.text()?;
                Ok(Some(Part::Result { call, output: Output::done(text) }))
            }
            // The thoughts of another model mean nothing to this one.
            "reasoning" => Ok(None),
            other => {
                Err(Failed::bad_request(format!("items of type `{other}` are not taken here")))
            }
        }
    }
}

fn said(text: String, calls: Vec<ToolRequest>) -> Part {
    Part::Assistant { text, reasoning: String::new(), calls, trace: None }
}

impl Tool {
    fn spec(self) -> Result<ToolSpec, Failed> {
        if self.r#type != "function" {
            let kind = self.r#type;
            return Err(Failed::bad_request(format!("tools of type `{kind}` are not taken here")));
        }
        Ok(spec(self.name, self.description.unwrap_or_default(), self.parameters))
    }
}
