//! What is wrong with a request, as JSON-RPC says it.

use serde_json::{Value, json};

use crate::dialect::Dialect;

/// The numbers by which faults are known.
pub mod codes {
    pub const PARSE_ERROR: i64 = -32700;
    pub const INVALID_REQUEST: i64 = -32600;
    pub const METHOD_NOT_FOUND: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const INTERNAL_ERROR: i64 = -32603;
    pub const TOOL_NOT_FOUND: i64 = -32001;
    pub const TOOL_EXECUTION_FAILED: i64 = -32002;
    pub const NOT_SUPPORTED: i64 = -32003;
    pub const CANCELLED: i64 = -32004;
    /// The host does not let it be: a limit, a refusal.
    pub const REFUSED: i64 = -32000;
}

#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

impl Fault {
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub fn params(message: impl Into<String>) -> Self {
        Self::new(codes::INVALID_PARAMS, message)
    }

    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(codes::NOT_SUPPORTED, message)
    }

    /// A name that nobody here answers to.
    pub fn method(dialect: Dialect, method: &str) -> Self {
        let message = match dialect {
            Dialect::Seed => format!("Unknown ext-apps method: {method}"),
            Dialect::Official => "Method not found".to_owned(),
        };
        Self::new(codes::METHOD_NOT_FOUND, message)
    }

    /// More than a view may have of something.
    pub fn limit(name: &str, max: usize) -> Self {
        let message = format!("Limit exceeded: {name} may be {max} at most");
        Self {
            data: Some(json!({ "limit": name, "max": max })),
            ..Self::new(codes::REFUSED, message)
        }
    }

    pub fn to_value(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        error
    }
}

/// Says of a parameter what was expected and what came, as the published host does.
pub fn expected(method: &str, path: &str, kind: &str, value: Option<&Value>) -> Fault {
    let received = received(value);
    Fault::params(format!(
        "Invalid params for {method}: {path}: Invalid input: expected {kind}, received {received}"
    ))
}

fn received(value: Option<&Value>) -> &'static str {
    match value {
        None => "undefined",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(_)) => "number",
        Some(Value::String(_)) => "string",
        Some(Value::Array(_)) => "array",
        Some(Value::Object(_)) => "object",
    }
}
