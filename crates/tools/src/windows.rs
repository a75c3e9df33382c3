//! Tools by which an agent opens windows beside the conversation, changes, closes and lists them.

mod close;
mod create;
mod list;
#[cfg(test)]
mod tests;
mod update;

use std::borrow::Cow;

use kernel::{
    apps::protocol::Answer,
    toolbox::{Call, Caller},
    windows::{self, By, Content, Pane, Wish},
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::agents::House;

pub use close::WindowClose;
pub use create::WindowCreate;
pub use list::WindowList;
pub use update::WindowUpdate;

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Renderer {
    Markdown,
    Html,
    Text,
    Table,
    Image,
    Iframe,
}

impl From<Renderer> for windows::Renderer {
    fn from(renderer: Renderer) -> Self {
        match renderer {
            Renderer::Markdown => Self::Markdown,
            Renderer::Html => Self::Html,
            Renderer::Text => Self::Text,
            Renderer::Table => Self::Table,
            Renderer::Image => Self::Image,
            Renderer::Iframe => Self::Iframe,
        }
    }
}

/// In pixels.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bounds {
    x: i32,
    y: i32,
    w: u32,
    h: u32,
}

impl From<Bounds> for windows::Bounds {
    fn from(Bounds { x, y, w, h }: Bounds) -> Self {
        Self { x, y, w, h }
    }
}

/// What a window shows, in whatever shape.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Data(Value);

impl JsonSchema for Data {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Data".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "object", "array"], "items": {} })
    }
}

/// What a model means that writes the JSON of a table as a text.
fn meant(renderer: windows::Renderer, Data(data): Data) -> Value {
    let Value::String(text) = &data else { return data };
    if renderer != windows::Renderer::Table {
        return data;
    }
    serde_json::from_str(text).unwrap_or(data)
}

fn content(renderer: windows::Renderer, data: Data) -> Content {
    Content { renderer, data: meant(renderer, data) }
}

/// Who does it, as the log has it.
pub fn by(caller: &Caller) -> By {
    match caller {
        Caller::Model | Caller::Agent { .. } => By::Agent,
        Caller::Owner => By::Person,
        Caller::Client | Caller::Widget { .. } | Caller::Applet { .. } | Caller::App { .. } => {
            By::Program
        }
    }
}

/// A window as it was arranged, and what the person did there meanwhile.
struct Arranged {
    pane: Pane,
    note: Option<String>,
}

impl Arranged {
    fn told(&self, text: String) -> String {
        match &self.note {
            Some(note) => format!("{text}\n\n{note}"),
            None => text,
        }
    }
}

/// Does it in the session of the call, as soon as the person does not have the window in their hands.
async fn arrange(house: &House, call: &Call, wish: Wish) -> Result<Arranged, String> {
    let by = by(&call.caller);
    let note = if by == By::Person { None } else { free(house, call, &wish).await? };
    match call.session.arrange(wish, by).await {
        Ok(Ok(pane)) => Ok(Arranged { pane, note }),
        Ok(Err(error)) => Err(error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

async fn free(house: &House, call: &Call, wish: &Wish) -> Result<Option<String>, String> {
    let window = match wish {
        Wish::Open(opening) => &opening.id,
        Wish::Change { window, .. } | Wish::Close { window } => &window.name,
        // It changes nothing in the window.
        Wish::Show { .. } => return Ok(None),
    };
    let waited = house.host()?.await_hands(call.session.id(), window, call.attended).await;
    match waited.map_err(|error| error.to_string())? {
        Answer::Free { note } => Ok(note),
        Answer::Refused(text) => Err(text),
        Answer::Said { .. } | Answer::Open { .. } => Ok(None),
    }
}

/// What programs and models are told of a window.
fn told(Pane { window, .. }: &Pane) -> Map<String, Value> {
    let windows::Bounds { x, y, w, h } = window.bounds;
    let told = json!({
        "windowId": window.id,
        "monitorId": window.monitor,
        "title": window.title,
        "renderer": window.content.renderer.name(),
        "bounds": { "x": x, "y": y, "w": w, "h": h },
        "state": window.stance.name(),
        "bytes": window.content.bytes(),
    });
    let Value::Object(mut told) = told else { return Map::new() };
    if let Some(app) = &window.app {
        told.insert("appId".into(), json!(app));
    }
    told
}
