//! Arguments of any type, and the words in which clients of the App Protocol are told of wrong ones.

use serde_json::{Map, Value, json};

/// What is wrong so far.
#[derive(Default)]
pub struct Arguments(Vec<Value>);

impl Arguments {
    /// An empty text is as good as none.
    pub fn text(&mut self, name: &str, value: Option<Value>) -> Option<String> {
        match value? {
            Value::String(text) => Some(text).filter(|text| !text.is_empty()),
            other => self.wrong(name, "string", &other),
        }
    }

    pub fn object(&mut self, name: &str, value: Option<Value>) -> Option<Map<String, Value>> {
        match value? {
            Value::Object(object) => Some(object),
            other => self.wrong(name, "object", &other),
        }
    }

    pub fn check(self, tool: &str) -> Result<(), String> {
        if self.0.is_empty() {
            return Ok(());
        }
        let issues = Value::Array(self.0);
        Err(format!(
            "MCP error -32602: Input validation error: Invalid arguments for tool {tool}: {issues:#}"
        ))
    }

    fn wrong<T>(&mut self, name: &str, expected: &str, value: &Value) -> Option<T> {
        let received = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        self.0.push(json!({
            "code": "invalid_type",
            "expected": expected,
            "path": [name],
            "message": format!("Invalid input: expected {expected}, received {received}"),
        }));
        None
    }
}
