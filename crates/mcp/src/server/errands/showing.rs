//! Windows of sessions, for hosts that show widgets: a tool with a page of ours, and one for that page alone.

use kernel::windows::Windows;
use rmcp::model::{ClientCapabilities, MetaObject, Resource, ResourceContents};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use widgets::Bridge;

use super::{Done, Errand, Visit};

/// Where the page is.
pub const PAGE: &str = "ui://megaron/window.html";
const HTML: &str = include_str!("../window.html");
const OFFICIAL: &str = "text/html;profile=mcp-app";
const SEED: &str = "text/html+mcp";
const EXTENSION: &str = "io.modelcontextprotocol/ui";

pub struct ShowWindow;
pub struct LookAtWindow;

/// Show a window of a session to the person: what is in it, beside your answer where the host can
/// do that, and as data in any case.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Which {
    /// The session.
    session_id: String,
    /// The window, by its id: `dock`, or with its monitor `monitor-0/dock`.
    window_id: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    session_id: String,
    window_id: String,
    title: String,
    /// How it is shown: text, markdown, html, table, image or iframe.
    renderer: &'static str,
    /// What is shown.
    data: Value,
}

impl Errand for ShowWindow {
    type Input = Which;
    type Output = Seen;
    const NAME: &'static str = "show_window";
    const TITLE: &'static str = "Show a window";
    const READS: bool = true;

    async fn run(input: Which, visit: &mut Visit<'_>) -> Result<Done<Seen>, String> {
        look(input, visit).await
    }
}

impl Errand for LookAtWindow {
    type Input = Which;
    type Output = Seen;
    const NAME: &'static str = "look_at_window";
    const TITLE: &'static str = "Look at a window again";
    const READS: bool = true;

    async fn run(input: Which, visit: &mut Visit<'_>) -> Result<Done<Seen>, String> {
        look(input, visit).await
    }
}

async fn look(
    Which { session_id, window_id }: Which,
    visit: &mut Visit<'_>,
) -> Result<Done<Seen>, String> {
    let (id, _) = visit.house.session(&session_id)?;
    let session = visit.house.host.open(id).await.map_err(|error| error.to_string())?;
    let windows = session.windows().await.map_err(|error| error.to_string())?;
    let windows = windows.map_err(|error| error.to_string())?;
    let found = named(&windows, &window_id);
    let pane = found.ok_or_else(|| format!("no window `{window_id}` is open in this session"))?;
    let window = &pane.window;
    let data = Seen {
        session_id,
        window_id: window.key(),
        title: window.title.clone(),
        renderer: window.content.renderer.name(),
        data: window.content.data.clone(),
    };
    let shown = match &data.data {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let text = Some(format!("{}\n\n{shown}", data.title));
    Ok(Done { text, data, failed: false })
}

fn named<'a>(windows: &'a Windows, id: &str) -> Option<&'a kernel::windows::Pane> {
    let key = kernel::windows::key(kernel::windows::MONITOR, id);
    windows.get(id).or_else(|| windows.get(&key))
}

/// What hosts are told of a tool and its page, in both spellings.
pub fn meta(visibility: &[&str]) -> MetaObject {
    let mut meta = MetaObject::default();
    let ui = json!({ "resourceUri": PAGE, "visibility": visibility });
    meta.0.insert("ui".into(), ui);
    meta.0.insert("ui/resourceUri".into(), PAGE.into());
    meta
}

pub fn resource() -> Resource {
    Resource::new(PAGE, "window")
        .with_title("A window of a session")
        .with_description("The page that shows what show_window gives back.")
        .with_mime_type(OFFICIAL)
}

/// The page, under the type that this client says it takes.
pub fn page(client: Option<&ClientCapabilities>) -> ResourceContents {
    let html = HTML.replacen("__BRIDGE__", &Bridge::default().script(), 1);
    ResourceContents::text(html, PAGE).with_mime_type(taken(client))
}

/// The older type is for those alone who know no other.
fn taken(client: Option<&ClientCapabilities>) -> &'static str {
    let slots = client.map(|client| {
        let new = client.extensions.as_ref().and_then(|all| all.get(EXTENSION));
        let old = client.experimental.as_ref().and_then(|all| all.get(EXTENSION));
        new.or(old).and_then(|it| it.get("mimeTypes")).and_then(Value::as_array).cloned()
    });
    let types = slots.flatten().unwrap_or_default();
    let takes = |mime: &str| types.iter().any(|it| it == mime);
    if takes(SEED) && !takes(OFFICIAL) { SEED } else { OFFICIAL }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(types: &[&str]) -> ClientCapabilities {
        let slot = json!({ "experimental": { EXTENSION: { "mimeTypes": types } } });
        serde_json::from_value(slot).unwrap()
    }

    #[test]
    fn the_page_has_the_type_that_the_client_takes() {
        assert_eq!(taken(None), OFFICIAL);
        assert_eq!(taken(Some(&client(&[]))), OFFICIAL);
        assert_eq!(taken(Some(&client(&[SEED, OFFICIAL]))), OFFICIAL);
        assert_eq!(taken(Some(&client(&[SEED]))), SEED);
    }
}
