//! What the fixtures contain, as the suite describes it.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use rmcp::model::{
    ContentBlock, PromptMessage, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    Role,
};

/// A picture of one red point.
pub const PIXEL: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0,
    1, 0, 0, 0, 1, 8, 2, 0, 0, 0, 0x90, 0x77, 0x53, 0xde, 0, 0, 0, 0x0c, 0x49, 0x44, 0x41, 0x54, 8,
    0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0, 0, 3, 1, 1, 0, 0x18, 0xdd, 0x8d, 0xb0, 0, 0, 0, 0, 0x49, 0x45,
    0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];
/// No sound at all.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// What a tool without arguments returns.
pub fn content(tool: &str) -> Option<Vec<ContentBlock>> {
    let picture = || ContentBlock::image(BASE64_STANDARD.encode(PIXEL), "image/png");
    Some(match tool {
        "test_audio_content" => {
            let audio =
                serde_json::json!({ "type": "audio", "data": SILENCE, "mimeType": "audio/wav" });
            vec![serde_json::from_value(audio).unwrap()]
        }
        "test_embedded_resource" => {
            let text = "This is an embedded resource content.";
            vec![ContentBlock::embedded_text("test://embedded-resource", text)]
        }
        "test_multiple_content_types" => {
            let (uri, text) = ("test://mixed-content-resource", r#"{"test":"data","value":123}"#);
            let resource = ResourceContents::text(text, uri).with_mime_type("application/json");
            let resource = serde_json::json!({ "type": "resource", "resource": resource });
            let text = ContentBlock::text("Multiple content types test:");
            vec![text, picture(), serde_json::from_value(resource).unwrap()]
        }
        _ => return None,
    })
}

pub fn resources() -> Vec<Resource> {
    let named = [("test://static-text", "text/plain"), ("test://static-binary", "image/png")];
    let resource = |(uri, mime): (&str, &str)| {
        Resource::new(uri, uri).with_description("A fixture.").with_mime_type(mime)
    };
    named.into_iter().map(resource).collect()
}

pub fn template() -> ResourceTemplate {
    ResourceTemplate::new("test://template/{id}/data", "data").with_mime_type("application/json")
}

pub fn read(uri: &str) -> Option<ReadResourceResult> {
    let contents = match uri {
        "test://static-text" => {
            ResourceContents::text("This is the content of the static text resource.", uri)
        }
        "test://static-binary" => {
            ResourceContents::blob(BASE64_STANDARD.encode(PIXEL), uri).with_mime_type("image/png")
        }
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data = format!("Data for ID: {id}");
            let text = serde_json::json!({ "id": id, "templateTest": true, "data": data });
            ResourceContents::text(text.to_string(), uri).with_mime_type("application/json")
        }
    };
    Some(ReadResourceResult::new(vec![contents]))
}

/// The messages of a prompt.
pub fn messages(prompt: &str, argument: impl Fn(&str) -> String) -> Option<Vec<PromptMessage>> {
    let text = |text: &str| PromptMessage::new_text(Role::User, text);
    Some(match prompt {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1"), argument("arg2"));
            vec![text(&format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let content = "Embedded resource content for testing.";
            let resource = ContentBlock::embedded_text(argument("resourceUri"), content);
            let resource = PromptMessage::new(Role::User, resource);
            vec![resource, text("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => {
            let picture = ContentBlock::image(BASE64_STANDARD.encode(PIXEL), "image/png");
            let picture = PromptMessage::new(Role::User, picture);
            vec![picture, text("Please analyze the image above.")]
        }
        _ => return None,
    })
}
