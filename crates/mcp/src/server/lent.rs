//! The tools of the toolbox, lent to clients: the same rules hold as for everybody.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use kernel::{
    feed::{Feed, Heard},
    host::Host,
    inbox::CallError,
    question::{Question, Verdict},
    toolbox::{Caller, Picture, Reply, Risk, ToolError, ToolSpec},
    update::{Fact, SessionId, Update},
};
use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations},
};
use serde_json::Value;

use super::{
    errands::{Visit, fault},
    guest::Guest,
    hearing,
};

/// What there is to lend.
pub fn tools(host: &Host) -> Vec<Tool> {
    let tools = &host.ports.tools;
    let describe = |ToolSpec { name, description, schema }: ToolSpec| {
        let annotations = tools.risk(&name).and_then(annotations);
        let schema = match schema {
            Value::Object(schema) => schema,
            _ => JsonObject::from_iter([("type".to_owned(), "object".into())]),
        };
        let mut tool = Tool::new(name, description, schema);
        tool.annotations = annotations;
        tool
    };
    tools.specs(&Caller::Client).into_iter().map(describe).collect()
}

/// What may be said of a tool from its risk.
pub fn annotations(risk: Risk) -> Option<ToolAnnotations> {
    let (reads, reaches) = match risk {
        Risk::Reads => (true, false),
        Risk::Shows | Risk::Edits | Risk::RunsBoxed => (false, false),
        Risk::Runs | Risk::Reaches => (false, true),
        Risk::Acts => return None,
    };
    let annotations = ToolAnnotations::new().read_only(reads).open_world(reaches);
    Some(if reads { annotations.idempotent(true) } else { annotations.destructive(true) })
}

/// One call, in a session that is the client's own.
pub async fn call(
    guest: &Guest,
    name: &str,
    args: Value,
    visit: &mut Visit<'_>,
) -> Result<CallToolResult, ErrorData> {
    let host = &visit.house.host;
    if !host.ports.tools.specs(&Caller::Client).iter().any(|spec| spec.name == name) {
        return Err(unknown(name));
    }
    let room = guest.room(visit.context).await;
    let room = room.map_err(|error| ErrorData::internal_error(error, None))?;
    run(guest, room, name, args, visit).await
}

/// One call in a session, of a tool that is there.
pub async fn run(
    guest: &Guest,
    room: SessionId,
    name: &str,
    args: Value,
    visit: &mut Visit<'_>,
) -> Result<CallToolResult, ErrorData> {
    let host = &visit.house.host;
    let internal = |error: String| ErrorData::internal_error(error, None);
    let feed = host.feed(room, None).await;
    let mut feed = feed.map_err(|error| internal(error.to_string()))?;
    let title = host.ports.tools.title(room, name, &args);
    let is_ours = |it: &Question| {
        it.caller == Caller::Client && it.tool == name && it.title == title && it.call.is_none()
    };
    let mut asked = Vec::new();
    let mut calling = std::pin::pin!(host.call(room, Caller::Client, name, args));
    let called = loop {
        tokio::select! {
            called = &mut calling => break called,
            heard = hearing::next(host, &mut feed) => {
                for question in questions(heard.map_err(internal)?).filter(is_ours) {
                    let text = format!("Waiting for the person to allow this: {}", question.title);
                    visit.progress.say(&text).await;
                    guest.remark(visit.context, &text).await;
                    asked.push(question);
                }
            }
            () = visit.context.ct.cancelled() => {
                asked.extend(missed(&mut feed).filter(is_ours));
                withdraw(host, room, &asked).await;
                return Ok(fault("This was cancelled."));
            }
        }
    };
    match called {
        Ok(reply) => Ok(told(reply)),
        Err(CallError::Tool(ToolError::Unknown(_))) => Err(unknown(name)),
        Err(CallError::Tool(error)) => Ok(fault(error.to_string())),
        Err(CallError::Open(error)) => Err(internal(error.to_string())),
    }
}

fn unknown(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("Unknown tool: {name}"), None)
}

fn questions(heard: Heard) -> impl Iterator<Item = Question> {
    hearing::pieces(heard).into_iter().filter_map(|piece| match piece {
        Update::Fact(entry) => match &entry.fact {
            Fact::Asked(question) => Some(Question::clone(question)),
            _ => None,
        },
        Update::Signal { .. } => None,
    })
}

/// What was asked and has not been heard yet.
fn missed(feed: &mut Feed) -> impl Iterator<Item = Question> {
    let heard: Vec<Heard> = std::iter::from_fn(|| feed.next_now()).collect();
    heard.into_iter().flat_map(questions)
}

/// Nobody waits for the answer any more, so nobody should be asked.
async fn withdraw(host: &Host, room: SessionId, asked: &[Question]) {
    let Ok(session) = host.open(room).await else { return };
    for question in asked {
        // Unsettled, it would only expire.
        session.settle(question.id, Verdict::Withdrawn, "the client gave up").await.ok();
    }
}

fn told(Reply { text, pictures, data, .. }: Reply) -> CallToolResult {
    let picture =
        |Picture { mime, bytes }: Picture| ContentBlock::image(BASE64_STANDARD.encode(bytes), mime);
    let text = (!text.is_empty() || pictures.is_empty()).then(|| ContentBlock::text(text));
    let content = text.into_iter().chain(pictures.into_iter().map(picture)).collect();
    let mut result = CallToolResult::success(content);
    // Older clients take nothing but objects here.
    result.structured_content = data.filter(Value::is_object);
    result
}
