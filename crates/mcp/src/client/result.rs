//! From what a server answered to what a caller is given, within bounds.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use kernel::toolbox::{Picture, Reply};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value};

use super::logbook::cut;

/// The reply, or what the tool says went wrong. At most `most` bytes of text, and as many of pictures.
pub fn read(result: CallToolResult, most: usize) -> Result<Reply, String> {
    let reply = told(result, most);
    if reply.failed { Err(reply.text) } else { Ok(reply) }
}

fn told(result: CallToolResult, most: usize) -> Reply {
    let CallToolResult { content, structured_content, is_error, meta, .. } = result;
    let mut paper = Paper { text: String::new(), pictures: Vec::new(), left: most };
    for block in content {
        paper.take(block);
    }
    let size = structured_content.as_ref().map_or(0, |it| it.to_string().len());
    let structured = structured_content.filter(|_| size <= most);
    if size > most {
        paper.write(&format!("[{size} bytes of structured content were left out]"));
    }
    let Paper { mut text, pictures, .. } = paper;
    let mut data = Map::new();
    if text.is_empty()
        && pictures.is_empty()
        && let Some(structured) = &structured
    {
        text = structured.to_string();
    }
    data.extend(structured.map(|it| ("structuredContent".to_owned(), it)));
    let meta = meta.map(|it| Value::Object(it.0)).filter(|it| it.to_string().len() <= most);
    data.extend(meta.map(|it| ("_meta".to_owned(), it)));
    if text.len() > most {
        let end = cut(&text, most).len();
        let size = text.len();
        text = format!("{}\n[cut after {end} of {size} bytes]", &text[..end]);
    }
    let failed = is_error == Some(true);
    if failed && text.is_empty() {
        text = "the tool failed and did not say why".into();
    }
    Reply { text, pictures, data: (!data.is_empty()).then_some(Value::Object(data)), failed }
}

/// The whole result, as it came: for widgets, which make of it what they like.
pub fn whole(result: &CallToolResult, most: usize) -> Result<Reply, String> {
    let whole = serde_json::to_value(result).map_err(|error| error.to_string())?;
    let size = whole.to_string().len();
    if size > most {
        return Err(format!("the result has {size} bytes, and {most} at most are taken"));
    }
    Ok(Reply { data: Some(whole), ..Reply::default() })
}

/// The same as [`read`], with what was said word for word beside it, for the widget that shows it,
/// even if the tool failed.
pub fn read_for_widget(result: CallToolResult, most: usize) -> Reply {
    let said = serde_json::to_value(&result.content).unwrap_or_default();
    let mut reply = told(result, most);
    if said.to_string().len() <= most {
        let data = reply.data.get_or_insert_with(|| Value::Object(Map::new()));
        data["content"] = said;
    }
    reply
}

struct Paper {
    text: String,
    pictures: Vec<Picture>,
    /// How many bytes of pictures still fit.
    left: usize,
}

impl Paper {
    fn take(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.write(&text.text),
            ContentBlock::Image(image) => self.paste(image.mime_type, &image.data),
            ContentBlock::Audio(audio) => {
                self.write(&format!("[sound of type {}, which is not kept]", audio.mime_type));
            }
            ContentBlock::Resource(embedded) => self.embed(embedded.resource),
            ContentBlock::ResourceLink(link) => {
                self.write(&format!("[{}: {}]", link.title.unwrap_or(link.name), link.uri));
            }
            _ => self.write("[something of a kind that is not known here]"),
        }
    }

    fn embed(&mut self, resource: ResourceContents) {
        match resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                self.write(&format!("[{uri}]\n{text}"));
            }
            ResourceContents::BlobResourceContents { mime_type: Some(mime), blob, .. }
                if mime.starts_with("image/") =>
            {
                self.paste(mime, &blob);
            }
            ResourceContents::BlobResourceContents { uri, mime_type, .. } => {
                let mime = mime_type.unwrap_or_else(|| "unknown type".into());
                self.write(&format!("[{uri}, {mime}, which is not text]"));
            }
            _ => self.write("[something of a kind that is not known here]"),
        }
    }

    fn write(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    fn paste(&mut self, mime: String, data: &str) {
        match BASE64_STANDARD.decode(data) {
            Ok(bytes) if bytes.len() <= self.left => {
                self.left -= bytes.len();
                self.pictures.push(Picture { mime, bytes });
            }
            Ok(bytes) => {
                self.write(&format!(
                    "[a picture of {} bytes was left out: too large]",
                    bytes.len()
                ));
            }
            Err(_) => self.write("[a picture that cannot be read]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(answer: Value, most: usize) -> Result<Reply, String> {
        read(serde_json::from_value(answer).unwrap(), most)
    }

    #[test]
    fn every_kind_of_content_becomes_text_or_a_picture() {
        let answer = json!({
            "content": [
                { "type": "text", "text": "one" },
                { "type": "image", "mimeType": "image/png", "data": "AQID" },
                { "type": "image", "mimeType": "image/png", "data": "?" },
                { "type": "audio", "mimeType": "audio/wav", "data": "AQID" },
                { "type": "resource", "resource": { "uri": "a:b", "text": "two" } },
                { "type": "resource",
                  "resource": { "uri": "a:c", "mimeType": "image/gif", "blob": "BAU=" } },
                { "type": "resource", "resource": { "uri": "a:d", "blob": "BAU=" } },
                { "type": "resource_link", "uri": "a:e", "name": "three" },
            ],
            "structuredContent": { "n": 1 },
            "_meta": { "who": "me" },
        });
        let text = "one\n[a picture that cannot be read]\n[sound of type audio/wav, which is not kept]\n\
                    [a:b]\ntwo\n[a:d, unknown type, which is not text]\n[three: a:e]";
        let picture = |mime: &str, bytes: &[u8]| Picture { mime: mime.into(), bytes: bytes.into() };
        let expected = Reply {
            text: text.into(),
            pictures: vec![picture("image/png", &[1, 2, 3]), picture("image/gif", &[4, 5])],
            data: Some(json!({ "structuredContent": { "n": 1 }, "_meta": { "who": "me" } })),
            failed: false,
        };
        assert_eq!(given(answer, 1000), Ok(expected));
    }

    #[test]
    fn a_widget_is_given_all_that_was_said_and_all_of_a_failure_too() {
        let content = json!([
            { "type": "text", "text": "one" },
            { "type": "image", "mimeType": "image/png", "data": "AQID" },
            { "type": "audio", "mimeType": "audio/wav", "data": "AQID" },
        ]);
        for failed in [false, true] {
            let answer = json!({
                "content": content, "structuredContent": null, "_meta": { "who": "me" },
                "isError": failed,
            });
            let result: CallToolResult = serde_json::from_value(answer.clone()).unwrap();
            assert_eq!(whole(&result, 1000).unwrap().data, Some(answer));
            let reply = read_for_widget(result, 1000);
            let expected =
                json!({ "content": content, "structuredContent": null, "_meta": { "who": "me" } });
            assert_eq!((reply.failed, reply.data), (failed, Some(expected)));
        }
    }

    #[test]
    fn structured_content_alone_is_also_the_text() {
        let reply = given(json!({ "content": [], "structuredContent": { "n": 1 } }), 1000).unwrap();
        assert_eq!(reply.text, r#"{"n":1}"#);
    }

    #[test]
    fn what_is_too_much_is_cut_and_said_to_be() {
        let picture = json!({ "type": "image", "mimeType": "image/png", "data": "AQIDBA==" });
        let answer = json!({
            "content": [{ "type": "text", "text": "ä".repeat(10) }, picture],
            "structuredContent": { "n": "x".repeat(10) },
        });
        let reply = given(answer, 3).unwrap();
        let text = "ä\n[cut after 2 of 114 bytes]";
        assert_eq!(reply, Reply { text: text.into(), ..Reply::default() });
    }

    #[test]
    fn a_failure_is_told_in_the_words_of_the_tool() {
        let content = json!([{ "type": "text", "text": "no such file" }]);
        let answer = json!({ "content": content, "isError": true });
        assert_eq!(given(answer, 1000), Err("no such file".into()));
        let silent = json!({ "content": [], "isError": true });
        assert_eq!(given(silent, 1000), Err("the tool failed and did not say why".into()));
    }
}
