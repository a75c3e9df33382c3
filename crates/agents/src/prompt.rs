//! What an agent is asked, in its own terms.

use agent_client_protocol::v1::schema::{ContentBlock, ImageContent, ResourceLink, TextContent};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use kernel::update::Attachment;

/// A larger picture is only pointed to, in bytes.
const PICTURE: u64 = 4 * 1024 * 1024;

/// What was said and what came with it; before that, what the agent has not heard.
pub async fn blocks(
    text: &str,
    unheard: &str,
    attached: Vec<Attachment>,
    sees: bool,
) -> Vec<ContentBlock> {
    let mut blocks = Vec::new();
    if !unheard.is_empty() {
        let told = format!(
            "[What was said in this session before, by others or before you were here; it is for \
             you to know, not to answer]\n{unheard}\n[The message to answer follows]"
        );
        blocks.push(ContentBlock::Text(TextContent::new(told)));
    }
    blocks.push(ContentBlock::Text(TextContent::new(text)));
    let shown = tokio::task::spawn_blocking(move || {
        attached.into_iter().map(|it| show(it, sees)).collect::<Vec<_>>()
    });
    blocks.extend(shown.await.unwrap_or_default());
    blocks
}

fn show(Attachment { path, mime, name }: Attachment, sees: bool) -> ContentBlock {
    let small = std::fs::metadata(&path).is_ok_and(|it| it.len() <= PICTURE);
    if sees
        && small
        && mime.starts_with("image/")
        && let Ok(bytes) = std::fs::read(&path)
    {
        return ContentBlock::Image(ImageContent::new(BASE64_STANDARD.encode(bytes), mime));
    }
    let uri = format!("file://{}", path.display());
    ContentBlock::ResourceLink(ResourceLink::new(name, uri).mime_type(mime))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn pictures_are_shown_to_those_who_see_and_pointed_to_otherwise() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.png");
        std::fs::write(&path, "png").unwrap();
        let attached =
            vec![Attachment { path: path.clone(), mime: "image/png".into(), name: "a".into() }];
        let seen = blocks("look", "", attached.clone(), true).await;
        let expected = json!([
            { "type": "text", "text": "look" },
            { "type": "image", "data": "cG5n", "mimeType": "image/png" },
        ]);
        assert_eq!(serde_json::to_value(seen).unwrap(), expected);
        let blind = blocks("look", "User: hi", attached, false).await;
        let blind = serde_json::to_value(blind).unwrap();
        assert!(blind[0]["text"].as_str().unwrap().contains("User: hi"));
        let uri = format!("file://{}", path.display());
        let link = json!({ "type": "resource_link", "name": "a", "mimeType": "image/png",
            "uri": uri });
        assert_eq!(blind[2], link);
    }
}
