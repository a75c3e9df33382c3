//! What a client can have done with sessions: tools of our own, besides those of the toolbox.

mod asking;
mod keeping;
pub mod showing;

use rmcp::{
    RoleServer,
    model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations},
    service::RequestContext,
};
use schemars::{
    JsonSchema, Schema,
    generate::SchemaSettings,
    transform::{RecursiveTransform, Transform as _},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use self::{
    asking::{AskSession, SendMessage, WaitForSession},
    keeping::{CancelSession, CreateSession, GetSession, ListSessions},
    showing::{LookAtWindow, ShowWindow},
};
use super::{house::House, progress::Progress};

pub use keeping::{Card, cards};

/// What an errand is run with.
pub struct Visit<'a> {
    pub house: &'a House,
    pub context: &'a RequestContext<RoleServer>,
    pub progress: Progress,
}

/// One of our tools: an input whose doc comments are what the model reads, and `run`.
trait Errand {
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Serialize + JsonSchema + Send;

    const NAME: &'static str;
    const TITLE: &'static str;
    /// Whether it only looks.
    const READS: bool;

    /// What it gets wrong is text for the caller to read.
    fn run(
        input: Self::Input,
        visit: &mut Visit<'_>,
    ) -> impl Future<Output = Result<Done<Self::Output>, String>> + Send;
}

struct Done<T> {
    /// In words, where the data do not say it as well.
    text: Option<String>,
    data: T,
    failed: bool,
}

impl<T> From<T> for Done<T> {
    fn from(data: T) -> Self {
        Self { text: None, data, failed: false }
    }
}

pub fn tools() -> Vec<Tool> {
    vec![
        tool::<AskSession>(),
        tool::<SendMessage>(),
        tool::<WaitForSession>(),
        tool::<ListSessions>(),
        tool::<CreateSession>(),
        tool::<GetSession>(),
        tool::<CancelSession>(),
        tool::<ShowWindow>().with_meta(showing::meta(&["model", "app"])),
        tool::<LookAtWindow>().with_meta(showing::meta(&["app"])),
    ]
}

/// What came of it; `None` if we have no tool of this name.
pub async fn run(name: &str, args: Value, visit: &mut Visit<'_>) -> Option<CallToolResult> {
    Some(match name {
        AskSession::NAME => carry_out::<AskSession>(args, visit).await,
        SendMessage::NAME => carry_out::<SendMessage>(args, visit).await,
        WaitForSession::NAME => carry_out::<WaitForSession>(args, visit).await,
        ListSessions::NAME => carry_out::<ListSessions>(args, visit).await,
        CreateSession::NAME => carry_out::<CreateSession>(args, visit).await,
        GetSession::NAME => carry_out::<GetSession>(args, visit).await,
        CancelSession::NAME => carry_out::<CancelSession>(args, visit).await,
        ShowWindow::NAME => carry_out::<ShowWindow>(args, visit).await,
        LookAtWindow::NAME => carry_out::<LookAtWindow>(args, visit).await,
        _ => return None,
    })
}

/// What the caller is told when a tool got something wrong.
pub fn fault(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text.into())])
}

async fn carry_out<E: Errand>(args: Value, visit: &mut Visit<'_>) -> CallToolResult {
    let input = serde_path_to_error::deserialize(args)
        .map_err(|error| format!("bad arguments for {}: {error}", E::NAME));
    let done = match input {
        Ok(input) => E::run(input, visit).await,
        Err(error) => Err(error),
    };
    let Done { text, data, failed } = match done {
        Ok(done) => done,
        Err(error) => return fault(error),
    };
    let data = match serde_json::to_value(data) {
        Ok(data) => data,
        Err(error) => return fault(format!("the outcome cannot be told: {error}")),
    };
    let mut result = CallToolResult::default();
    result.content = vec![ContentBlock::text(text.unwrap_or_else(|| data.to_string()))];
    result.structured_content = Some(data);
    result.is_error = Some(failed);
    result
}

fn tool<E: Errand>() -> Tool {
    let mut input = schema::<E::Input>(SchemaSettings::draft2020_12());
    let description = match input.remove("description") {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let output = schema::<E::Output>(SchemaSettings::draft2020_12().for_serialize());
    let annotations = ToolAnnotations::with_title(E::TITLE).read_only(E::READS).open_world(false);
    let annotations = if E::READS { annotations } else { annotations.destructive(false) };
    Tool::new(E::NAME, description, input)
        .with_title(E::TITLE)
        .with_raw_output_schema(output.into())
        .annotate(annotations)
}

fn schema<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let settings = settings.with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(simplify).transform(&mut schema);
    match schema.to_value() {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// Leaves out what only Rust means by it, and how comments were wrapped.
fn simplify(schema: &mut Schema) {
    schema.remove("title");
    schema.remove("format");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
        *text = paragraphs.collect::<Vec<_>>().join("\n\n");
    }
}
