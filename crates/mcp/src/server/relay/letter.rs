//! A message of a client, as far as one must understand it to carry it.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

/// The first version whose requests say of themselves what they are.
const SELF_CONTAINED: &str = "2026-07-28";

#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    pub kind: Kind,
    pub message: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Initialize,
    Initialized,
    /// The id as it is written.
    Request {
        id: String,
    },
    /// Of the request with this id.
    Cancel {
        request: String,
    },
    Other,
}

impl Letter {
    pub fn read(message: Value) -> Self {
        let id = message.get("id").map(Value::to_string);
        let kind = match (message.get("method").and_then(Value::as_str), id) {
            (Some("initialize"), Some(_)) => Kind::Initialize,
            (Some("notifications/initialized"), None) => Kind::Initialized,
            (Some("notifications/cancelled"), None) => {
                let request = message.pointer("/params/requestId").map(Value::to_string);
                Kind::Cancel { request: request.unwrap_or_default() }
            }
            (Some(_), Some(id)) => Kind::Request { id },
            _ => Kind::Other,
        };
        Self { kind, message }
    }

    /// The id of the request it is.
    pub fn id(&self) -> Option<&Value> {
        self.message.get("method")?;
        self.message.get("id")
    }

    /// Whether this is what it waits for.
    pub fn is_answered_by(&self, message: &Value) -> bool {
        self.id().is_some() && message.get("id") == self.id() && message.get("method").is_none()
    }

    /// Whether it asks to be told things until it is cancelled.
    pub fn is_endless(&self) -> bool {
        self.message.get("method").and_then(Value::as_str) == Some("subscriptions/listen")
    }

    /// The version that it says of itself.
    pub fn version(&self) -> Option<&str> {
        self.message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion")?.as_str()
    }

    /// What must also be said in headers, for those who do not open letters.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let method = self.message.get("method").and_then(Value::as_str);
        let (Some(version), Some(method)) = (self.version(), method) else { return Vec::new() };
        let mut headers = vec![("mcp-protocol-version", version.to_owned())];
        if version < SELF_CONTAINED {
            return headers;
        }
        headers.push(("mcp-method", method.to_owned()));
        let named_by = match method {
            "tools/call" | "prompts/get" => "/params/name",
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "/params/uri",
            "tasks/get" | "tasks/update" | "tasks/cancel" => "/params/taskId",
            _ => return headers,
        };
        if let Some(name) = self.message.pointer(named_by).and_then(Value::as_str) {
            headers.push(("mcp-name", encoded(name)));
        }
        headers
    }
}

/// As it can stand in a header.
fn encoded(text: &str) -> String {
    let plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if plain && text.trim() == text && !text.starts_with("=?base64?") {
        return text.to_owned();
    }
    format!("=?base64?{}?=", BASE64_STANDARD.encode(text))
}

/// What a client is told in place of an answer.
pub fn fault(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_told_apart() {
        let kind = |message| Letter::read(message).kind;
        assert_eq!(kind(json!({ "id": 1, "method": "initialize" })), Kind::Initialize);
        assert_eq!(kind(json!({ "method": "notifications/initialized" })), Kind::Initialized);
        assert_eq!(kind(json!({ "id": "a", "method": "x" })), Kind::Request { id: "\"a\"".into() });
        let cancel = json!({ "method": "notifications/cancelled", "params": { "requestId": 7 } });
        assert_eq!(kind(cancel), Kind::Cancel { request: "7".into() });
        assert_eq!(kind(json!({ "id": 1, "result": {} })), Kind::Other);
        assert_eq!(kind(json!("nonsense")), Kind::Other);
    }

    #[test]
    fn a_letter_that_says_its_version_says_the_rest_in_headers() {
        let headers = |version: &str, name: &str| {
            let meta = json!({ "io.modelcontextprotocol/protocolVersion": version });
            let params = json!({ "name": name, "_meta": meta });
            Letter::read(json!({ "id": 1, "method": "tools/call", "params": params })).headers()
        };
        let version = |version: &str| ("mcp-protocol-version", version.to_owned());
        let method = ("mcp-method", "tools/call".to_owned());
        let name = |name: &str| ("mcp-name", name.to_owned());
        assert_eq!(headers("2025-11-25", "a"), [version("2025-11-25")]);
        let new = || version("2026-07-28");
        assert_eq!(headers("2026-07-28", "a b"), [new(), method.clone(), name("a b")]);
        assert_eq!(headers("2026-07-28", "ä"), [new(), method, name("=?base64?w6Q=?=")]);
        assert_eq!(Letter::read(json!({ "id": 1, "method": "tools/list" })).headers(), []);
    }
}
