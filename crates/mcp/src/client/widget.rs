//! Widgets of a server: what its tools say of them, and reading one.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use kernel::{
    toolbox::Audience,
    widget::{Domains, Feature, NoWidget, Wants, WidgetPage},
};
use rmcp::{
    RoleClient,
    model::{
        ClientRequest, JsonObject, ListResourcesRequest, MetaObject, PaginatedRequestParams,
        ReadResourceRequest, ReadResourceRequestParams, ResourceContents, ServerResult, Tool,
    },
    service::Peer,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::link::Link;

/// What the extension is called, in every place where it is offered.
pub const EXTENSION: &str = "io.modelcontextprotocol/ui";
const FLAT: &str = "ui/resourceUri";
const READING: Duration = Duration::from_secs(30);
const LARGEST: usize = 8 << 20;
const PAGES: usize = 16;

/// What we say that we can show.
pub fn offered() -> JsonObject {
    let types = json!(["text/html;profile=mcp-app"]);
    JsonObject::from_iter([("mimeTypes".to_owned(), types)])
}

/// What a tool says of its widget, in whichever spelling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shows {
    /// As it was written, good or not.
    pub uri: Option<String>,
    pub audience: Audience,
}

impl Shows {
    pub fn of(tool: &Tool) -> Self {
        let Some(MetaObject(meta)) = &tool.meta else { return Self::default() };
        let nested = meta.get("ui").filter(|ui| ui.is_object());
        let uri = nested.and_then(|ui| ui.get("resourceUri")).or_else(|| meta.get(FLAT));
        let uri = uri.map(|uri| uri.as_str().map_or_else(|| uri.to_string(), str::to_owned));
        let visible = nested.and_then(|ui| ui.get("visibility")).and_then(Value::as_array);
        let to = |who: &str| visible.is_none_or(|list| list.iter().any(|it| it == who));
        Self { uri, audience: Audience { models: to("model"), widgets: to("app") } }
    }

    /// Where the widget is, if it can be there.
    pub fn place(&self) -> Result<&str, NoWidget> {
        placed(self.uri.as_deref())
    }
}

/// Where a widget is said to be, if it can be there.
pub fn placed(uri: Option<&str>) -> Result<&str, NoWidget> {
    let uri = uri.ok_or(NoWidget::NoMeta)?;
    let good = uri.strip_prefix("ui://").is_some_and(|rest| !rest.is_empty());
    if good { Ok(uri) } else { Err(NoWidget::BadUri(uri.to_owned())) }
}

/// Reads a widget, whether or not its server lists it.
pub async fn read(link: &Link, uri: &str) -> Result<WidgetPage, NoWidget> {
    inspect(link, uri).await.map(|(_, page)| page)
}

/// The same, with the type that its server gives it.
pub async fn inspect(link: &Link, uri: &str) -> Result<(String, WidgetPage), NoWidget> {
    let reading = async {
        let content = fetch(&link.peer, uri).await?;
        let (mime, html, meta) = opened(content)?;
        check(&mime, &html)?;
        let own = meta.and_then(|MetaObject(mut meta)| meta.remove("ui"));
        let wants = match own {
            Some(own) => wants(&own),
            None => listed(&link.peer, uri).await.map(|ui| wants(&ui)).unwrap_or_default(),
        };
        Ok((mime, WidgetPage { uri: uri.to_owned(), html, wants }))
    };
    let hide = |error| match error {
        NoWidget::ReadFailed(why) => NoWidget::ReadFailed(link.guest.settings.hide(&why)),
        other => other,
    };
    let seconds = READING.as_secs();
    let late = || NoWidget::ReadFailed(format!("its server did not answer for {seconds} seconds"));
    timeout(READING, reading).await.unwrap_or_else(|_| Err(late())).map_err(hide)
}

async fn fetch(peer: &Peer<RoleClient>, uri: &str) -> Result<ResourceContents, NoWidget> {
    let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
    // Not by the method that remembers: a widget is what it is now.
    let answer = peer.send_request(ClientRequest::ReadResourceRequest(request)).await;
    let failed = |why: String| NoWidget::ReadFailed(why);
    match answer.map_err(|error| failed(error.to_string()))? {
        ServerResult::ReadResourceResult(read) => {
            let mut contents = read.contents;
            let named = contents.iter().position(|content| place(content) == uri).unwrap_or(0);
            if contents.is_empty() {
                return Err(failed("its server sent nothing".into()));
            }
            Ok(contents.swap_remove(named))
        }
        ServerResult::InputRequiredResult(_) => {
            Err(failed("its server wants to know something first".into()))
        }
        _ => Err(failed("its server answered with something that is no resource".into())),
    }
}

fn place(content: &ResourceContents) -> &str {
    match content {
        ResourceContents::TextResourceContents { uri, .. }
        | ResourceContents::BlobResourceContents { uri, .. } => uri,
        _ => "",
    }
}

/// Its type, its text, and what is said of it.
fn opened(content: ResourceContents) -> Result<(String, String, Option<MetaObject>), NoWidget> {
    match content {
        ResourceContents::TextResourceContents { mime_type, text, meta, .. } => {
            Ok((mime_type.unwrap_or_default(), text, meta))
        }
        ResourceContents::BlobResourceContents { mime_type, blob, meta, .. } => {
            let wrong = |what: &str| NoWidget::ReadFailed(format!("its blob is not {what}"));
            let bytes = BASE64_STANDARD.decode(blob).map_err(|_| wrong("base64"))?;
            let text = String::from_utf8(bytes).map_err(|_| wrong("UTF-8"))?;
            Ok((mime_type.unwrap_or_default(), text, meta))
        }
        _ => Err(NoWidget::ReadFailed("it is of a kind that is not known here".into())),
    }
}

fn check(mime: &str, html: &str) -> Result<(), NoWidget> {
    if !is_widget(mime) {
        return Err(NoWidget::WrongMime(mime.to_owned()));
    }
    if html.trim().is_empty() {
        return Err(NoWidget::EmptyHtml);
    }
    if html.len() > LARGEST {
        return Err(NoWidget::TooLarge { size: html.len(), most: LARGEST });
    }
    Ok(())
}

/// The official type and the older one, however they are written.
fn is_widget(mime: &str) -> bool {
    let plain = mime.chars().filter(|it| !it.is_whitespace() && *it != '"');
    let plain: String = plain.map(|it| it.to_ascii_lowercase()).collect();
    let mut parts = plain.split(';');
    match parts.next() {
        Some("text/html+mcp") => true,
        Some("text/html") => parts.any(|part| part == "profile=mcp-app"),
        _ => false,
    }
}

/// What the list of resources says of one, should the resource itself say nothing.
async fn listed(peer: &Peer<RoleClient>, uri: &str) -> Option<Value> {
    let mut cursor = None;
    for _ in 0..PAGES {
        let mut params = PaginatedRequestParams::default();
        params.cursor = cursor;
        let request = ListResourcesRequest::with_param(params);
        // Servers need not list their widgets, nor anything at all.
        let answer = peer.send_request(ClientRequest::ListResourcesRequest(request)).await.ok()?;
        let ServerResult::ListResourcesResult(page) = answer else { return None };
        let found = page.resources.into_iter().find(|it| it.uri == uri);
        if let Some(found) = found {
            return found.meta.and_then(|MetaObject(mut meta)| meta.remove("ui"));
        }
        cursor = Some(page.next_cursor?);
    }
    None
}

fn wants(ui: &Value) -> Wants {
    let csp = ui.get("csp").filter(|csp| csp.is_object());
    let list = |csp: &Value, name: &str| -> Vec<String> {
        let named = csp.get(name).and_then(Value::as_array).into_iter().flatten();
        named.filter_map(|it| it.as_str().map(str::to_owned)).collect()
    };
    let features = [
        ("camera", Feature::Camera),
        ("microphone", Feature::Microphone),
        ("geolocation", Feature::Geolocation),
        ("clipboardWrite", Feature::ClipboardWrite),
    ];
    let asked =
        |name: &str| ui.pointer(&format!("/permissions/{name}")).is_some_and(Value::is_object);
    Wants {
        domains: csp.map(|csp| Domains {
            connect: list(csp, "connectDomains"),
            resource: list(csp, "resourceDomains"),
            frame: list(csp, "frameDomains"),
            base_uri: list(csp, "baseUriDomains"),
        }),
        features: features.into_iter().filter(|(name, _)| asked(name)).map(|it| it.1).collect(),
        domain: ui.get("domain").and_then(Value::as_str).map(str::to_owned),
        border: ui.get("prefersBorder").and_then(Value::as_bool),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "shorter where it is called")]
    fn shows(meta: Value) -> Shows {
        let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "_meta": meta });
        Shows::of(&serde_json::from_value(tool).unwrap())
    }

    #[test]
    fn a_tool_may_say_where_its_widget_is_in_either_spelling_and_the_nested_one_counts() {
        let uri = |meta: Value| shows(meta).uri;
        assert_eq!(uri(json!({})), None);
        assert_eq!(uri(json!({ "ui/resourceUri": "ui://flat" })).as_deref(), Some("ui://flat"));
        let both = json!({ "ui": { "resourceUri": "ui://nested" }, "ui/resourceUri": "ui://flat" });
        assert_eq!(uri(both).as_deref(), Some("ui://nested"));
        let beside = json!({ "ui": { "visibility": ["app"] }, "ui/resourceUri": "ui://flat" });
        assert_eq!(uri(beside).as_deref(), Some("ui://flat"));
        for bad in ["https://a.example/", "ui://", "UI://a", ""] {
            let wrong = Err(NoWidget::BadUri(bad.into()));
            assert_eq!(shows(json!({ "ui": { "resourceUri": bad } })).place(), wrong);
        }
        assert_eq!(shows(json!({ "ui": 3 })).place(), Err(NoWidget::NoMeta));
    }

    #[test]
    fn a_tool_is_for_everybody_unless_it_says_for_whom() {
        let audience = |visibility: Value| {
            let Audience { models, widgets } =
                shows(json!({ "ui": { "visibility": visibility } })).audience;
            (models, widgets)
        };
        assert_eq!(audience(json!(["model", "app"])), (true, true));
        assert_eq!(audience(json!(["model"])), (true, false));
        assert_eq!(audience(json!(["app"])), (false, true));
        assert_eq!(audience(json!([])), (false, false));
        assert_eq!(audience(json!("app")), (true, true));
        assert_eq!(shows(json!({})).audience, Audience::default());
    }

    #[test]
    fn a_widget_is_known_by_its_type_however_that_is_written() {
        for good in [
            "text/html;profile=mcp-app",
            "text/html; profile=\"mcp-app\"",
            "Text/HTML ; charset=utf-8; Profile=mcp-app",
            "text/html+mcp",
        ] {
            assert!(is_widget(good), "{good}");
        }
        for bad in
            ["", "text/html", "text/plain", "text/html;profile=other", "text/plain;profile=mcp-app"]
        {
            assert!(!is_widget(bad), "{bad}");
        }
    }
}
