//! Our models for other programs: the two model APIs that most of them speak.
//!
//! Nothing here touches a session. A question goes to a model and its answer comes back.

mod chat;
mod chat_say;
mod error;
mod meter;
mod pictures;
mod responses;
mod responses_say;

use std::sync::Arc;

use axum::{
    Json as Reply,
    extract::State,
    response::{
        Sse,
        sse::{Event, KeepAlive},
    },
};
use futures::{Stream, StreamExt as _, stream};
use kernel::{
    ports::{Model, ModelError, Piece},
    prompt::Prompt,
    toolbox::ToolSpec,
};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    App,
    models::{Unknown, find_model},
};
use error::Failed;
use pictures::Pictures;

pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(models))
        .routes(routes!(chat::complete))
        .routes(routes!(responses::create))
}

#[derive(Serialize, ToSchema)]
struct ModelList {
    #[schema(value_type = String, example = "list")]
    object: &'static str,
    data: Vec<ModelEntry>,
}

#[derive(Serialize, ToSchema)]
struct ModelEntry {
    id: String,
    #[schema(value_type = String, example = "model")]
    object: &'static str,
    created: i64,
    #[schema(value_type = String)]
    owned_by: &'static str,
}

/// The models, as other programs list them
#[utoipa::path(get, path = "/v1/models", tag = "v1", responses((status = 200, body = ModelList)))]
async fn models(State(app): State<Arc<App>>) -> Result<Reply<ModelList>, Failed> {
    let models = app.host.ports.models.list().await?;
    let entry = |model: kernel::ports::ModelInfo| ModelEntry {
        id: model.id,
        object: "model",
        created: 0,
        owned_by: "megaron",
    };
    // Agents answer in sessions alone.
    let models = models.into_iter().filter(|model| !kernel::visit::names_agent(&model.id));
    Ok(Reply(ModelList { object: "list", data: models.map(entry).collect() }))
}

/// A model by the name the caller gave it.
async fn find(app: &App, id: &str) -> Result<Arc<dyn Model>, Failed> {
    let found = find_model(app, id).await;
    found.map_err(|Unknown { hint }| Failed::no_model(id, &hint))
}

/// What to ask, made from a question on a thread that nobody waits for, and the pictures in it.
async fn prepare(
    read: impl FnOnce(&mut Pictures) -> Result<Prompt, Failed> + Send + 'static,
) -> Result<(Prompt, Pictures), Failed> {
    let prepared = tokio::task::spawn_blocking(move || {
        let mut pictures = Pictures::default();
        Ok((read(&mut pictures)?, pictures))
    });
    prepared.await.map_err(|_| Failed::internal("the question could not be read"))?
}

/// What the model replies, if it can be paid; what it uses goes into the ledger. The pictures are
/// kept for as long as that lasts.
async fn ask(
    app: &App,
    model: &dyn Model,
    id: &str,
    prompt: &Prompt,
    pictures: Pictures,
) -> Result<impl Stream<Item = Result<Piece, ModelError>> + Send + Unpin + use<>, Failed> {
    app.host.purse.check(None, model).await?;
    let reply = meter::metered(&app.host.ports, id, model.stream(prompt));
    Ok(reply.inspect(move |_| {
        let _kept = &pictures;
    }))
}

/// Says a model's reply in one API's words.
trait Teller: Send + 'static {
    /// What is said before anything is heard.
    fn begin(&mut self) -> Vec<Event>;
    fn say(&mut self, piece: Piece) -> Vec<Event>;
    fn fail(&mut self, error: &ModelError) -> Vec<Event>;
    fn end(&mut self) -> Vec<Event>;
}

/// Tells the reply as it is given. Whoever hangs up stops the model.
fn tell(
    pieces: impl Stream<Item = Result<Piece, ModelError>> + Send + 'static,
    mut teller: impl Teller,
) -> Sse<impl Stream<Item = Result<Event, std::convert::Infallible>>> {
    let begun = teller.begin();
    let pieces = pieces.map(Some).chain(stream::iter([None]));
    let told = pieces.scan(false, move |failed, piece| {
        let events = match piece {
            _ if *failed => None,
            Some(Ok(piece)) => Some(teller.say(piece)),
            Some(Err(error)) => {
                *failed = true;
                Some(teller.fail(&error))
            }
            None => Some(teller.end()),
        };
        std::future::ready(events)
    });
    let events = stream::iter([begun]).chain(told).flat_map(stream::iter).map(Ok);
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// A whole reply, for those who do not want it piece by piece.
#[derive(Default)]
struct Whole {
    text: String,
    reasoning: String,
    calls: Vec<(String, String, serde_json::Value)>,
    usage: kernel::update::Usage,
}

async fn gather(
    mut pieces: impl Stream<Item = Result<Piece, ModelError>> + Unpin,
) -> Result<Whole, ModelError> {
    let mut whole = Whole::default();
    while let Some(piece) = pieces.next().await {
        match piece? {
            Piece::Text(text) => whole.text.push_str(&text),
            Piece::Reasoning(text) => whole.reasoning.push_str(&text),
            Piece::Call { id, name, args } => {
                let id = named(id, whole.calls.len());
                whole.calls.push((id, name, args));
            }
            Piece::Usage(usage) => whole.usage = usage,
            Piece::Calling { .. } | Piece::Trace(_) => (),
        }
    }
    Ok(whole)
}

/// A call needs a name for its result to come back to.
fn named(id: String, index: usize) -> String {
    if id.is_empty() { format!("call_{index}") } else { id }
}

/// A call's arguments. What is not JSON is shown to the model as the text it is.
fn arguments(text: String) -> serde_json::Value {
    serde_json::from_str(&text).unwrap_or(serde_json::Value::String(text))
}

/// A tool as it was declared; one that says nothing of its parameters takes any.
fn spec(name: String, description: String, parameters: Option<serde_json::Value>) -> ToolSpec {
    let schema = parameters.unwrap_or_else(|| serde_json::json!({ "type": "object" }));
    ToolSpec { name, description, schema }
}
