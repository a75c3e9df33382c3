//! What a view does in the person's name, and only with their leave: links, messages, downloads.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use kernel::{
    leave::Wish,
    toolbox::{Deed, Detail, Risk},
    update::{Attachment, Message, Origin, WhenBusy},
};
use serde_json::{Map, Value, json};
use std::time::Duration;
use widgets::{Link, Said, Trouble};

use super::context::{House, trouble};

/// So much may be handed to the page at once.
const LARGEST: usize = 16 << 20;
const FILES: usize = 32;

/// Something to be saved by the person.
struct File {
    name: String,
    mime: String,
    bytes: Vec<u8>,
}

impl House {
    /// Returns once the person, or a rule of theirs, has agreed.
    async fn leave(
        &self,
        name: &str,
        doing: &str,
        detail: Detail,
        subjects: Vec<String>,
        patience: Option<Duration>,
    ) -> Result<(), Trouble> {
        self.may_ask().await?;
        let title = format!("The widget of {} ({}) wants to {doing}", self.tool, self.server);
        let deed = Deed { risk: Risk::Reaches, detail, subjects, within: None };
        let wish = Wish { name: name.to_owned(), title, deed };
        let asking = self.host.leave(self.session, self.caller(), wish);
        self.patiently(patience, asking).await?.map(drop).map_err(trouble)
    }

    pub(super) async fn open(&self, Link { url, patience }: Link) -> Result<(), Trouble> {
        let host = url::Url::parse(&url).ok().and_then(|it| it.host_str().map(str::to_owned));
        let detail = Detail::Address { url: url.clone() };
        let subjects = host.into_iter().collect();
        self.leave("widget:link", "open a link", detail, subjects, patience).await?;
        self.have_page(json!({ "kind": "open-link", "url": url })).await.map(drop)
    }

    pub(super) async fn speak(&self, Said { content, patience }: Said) -> Result<(), Trouble> {
        let (text, pictures) = spoken(&content).map_err(Trouble::Failed)?;
        let said = json!({ "text": text, "pictures": pictures.len() });
        let detail = Detail::Arguments { args: said };
        self.leave("widget:message", "say something in your name", detail, vec![], patience)
            .await?;
        let other = |error: &dyn ToString| Trouble::Other(error.to_string());
        let mut attachments = Vec::with_capacity(pictures.len());
        for (index, File { mime, bytes, .. }) in pictures.into_iter().enumerate() {
            let extension = mime.strip_prefix("image/").unwrap_or("img").to_owned();
            let kept = self.host.ports.attic.keep(self.session, &extension, bytes).await;
            let path = kept.map_err(|error| other(&error))?;
            let name = format!("image-{}.{extension}", index + 1);
            attachments.push(Attachment { path, mime, name });
        }
        let origin = Origin::Widget { server: self.server.clone(), tool: self.tool.clone() };
        let message = Message { origin, attachments, ..Message::from_user(text) };
        let posted = self.host.post(self.session, message, WhenBusy::Queue).await;
        posted.map(drop).map_err(|error| other(&error))
    }

    pub(super) async fn hand_out(&self, contents: Vec<Value>) -> Result<(), Trouble> {
        if contents.len() > FILES {
            return Err(Trouble::Failed(format!("{FILES} files at most are saved at once")));
        }
        let mut files = Vec::with_capacity(contents.len());
        for item in &contents {
            files.extend(self.files(item).await?);
        }
        if files.iter().map(|file| file.bytes.len()).sum::<usize>() > LARGEST {
            return Err(Trouble::Failed(format!("{LARGEST} bytes at most are saved at once")));
        }
        let named =
            files.iter().map(|file| json!({ "name": file.name, "bytes": file.bytes.len() }));
        let args = json!({ "files": named.collect::<Vec<_>>() });
        let doing = if files.len() == 1 { "save a file" } else { "save files" };
        self.leave("widget:download", doing, Detail::Arguments { args }, vec![], None).await?;
        let handed = files.into_iter().map(|File { name, mime, bytes }| {
            json!({ "name": name, "mimeType": mime, "base64": BASE64_STANDARD.encode(bytes) })
        });
        let files: Vec<Value> = handed.collect();
        self.have_page(json!({ "kind": "download", "files": files })).await.map(drop)
    }

    /// What is named, fetched from the view's own server where it is only linked.
    async fn files(&self, item: &Value) -> Result<Vec<File>, Trouble> {
        if let Some(resource) = item.get("resource") {
            return Ok(vec![file(resource, None).map_err(Trouble::Failed)?]);
        }
        let uri = item.get("uri").cloned().unwrap_or_default();
        let name = item.get("name").and_then(Value::as_str);
        let params = Map::from_iter([("uri".to_owned(), uri)]);
        let read = widgets::Context::resources(self, "resources/read", params).await?;
        let contents = read.get("contents").and_then(Value::as_array).cloned().unwrap_or_default();
        let files: Result<Vec<File>, String> =
            contents.iter().map(|resource| file(resource, name)).collect();
        files.map_err(Trouble::Failed)
    }
}

fn file(resource: &Value, name: Option<&str>) -> Result<File, String> {
    let text = |key: &str| resource.get(key).and_then(Value::as_str);
    let bytes = match (text("text"), text("blob")) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(blob)) => {
            BASE64_STANDARD.decode(blob).map_err(|_| "a blob is not base64".to_owned())?
        }
        (None, None) => return Err("a resource has neither text nor blob".into()),
    };
    let uri = text("uri").unwrap_or_default();
    let last = uri.split(['?', '#']).next().and_then(|path| path.rsplit('/').next());
    let mime = text("mimeType").unwrap_or("application/octet-stream").to_owned();
    Ok(File { name: safe(name.or(last).unwrap_or_default()), mime, bytes })
}

/// A name that is one and nothing else.
fn safe(name: &str) -> String {
    let odd = |it: char| it.is_control() || "/\\:*?\"<>|".contains(it);
    let name: String = name.chars().map(|it| if odd(it) { '_' } else { it }).take(120).collect();
    let name = name.trim_matches(['.', ' ']).to_owned();
    if name.is_empty() { "download".to_owned() } else { name }
}

/// What a view says: its words, and its pictures.
fn spoken(content: &[Value]) -> Result<(String, Vec<File>), String> {
    let (mut texts, mut pictures) = (Vec::new(), Vec::new());
    for block in content {
        let text = |key: &str| block.get(key).and_then(Value::as_str);
        match text("type") {
            Some("text") => texts.push(text("text").unwrap_or_default().to_owned()),
            Some("image") => {
                let mime = text("mimeType").filter(|mime| widgets::PICTURES.contains(mime));
                let kinds = || format!("a picture is {}", widgets::PICTURES.join(" or "));
                let mime = mime.ok_or_else(kinds)?.to_owned();
                let data = BASE64_STANDARD.decode(text("data").unwrap_or_default());
                let bytes = data.map_err(|_| "the data of a picture is not base64".to_owned())?;
                pictures.push(File { name: String::new(), mime, bytes });
            }
            _ => return Err("only text and pictures can be said".into()),
        }
    }
    let text = texts.join("\n");
    if text.trim().is_empty() {
        return Err("a message without words is not said".into());
    }
    Ok((text, pictures))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_name_that_leads_nowhere() {
        for (name, safe_name) in [
            ("a.csv", "a.csv"),
            ("../../etc/passwd", "_.._etc_passwd"),
            ("C:\\x\n.exe", "C__x_.exe"),
            ("..", "download"),
            ("", "download"),
        ] {
            assert_eq!(safe(name), safe_name);
        }
    }
}
