//! What becomes of trouble: an error or a result that says so, as the view's dialect has it.

use serde_json::{Value, json};

use crate::{
    context::Trouble,
    dialect::Dialect,
    fault::{Fault, codes},
};

/// A result that says nothing.
pub fn nothing() -> Value {
    json!({})
}

pub fn response(id: &Value, outcome: &Result<Value, Fault>) -> Value {
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(fault) => json!({ "jsonrpc": "2.0", "id": id, "error": fault.to_value() }),
    }
}

/// A call of a tool that gave no result.
pub fn no_result(style: Dialect, tool: &str, trouble: Trouble) -> Result<Value, Fault> {
    Err(match (style, trouble) {
        (Dialect::Seed, Trouble::NotFound | Trouble::NotAvailable) => {
            Fault::new(codes::TOOL_NOT_FOUND, format!("Tool not found: {tool}"))
        }
        (Dialect::Seed, Trouble::Denied(why) | Trouble::Cancelled(why)) => {
            Fault::new(codes::CANCELLED, why)
        }
        (Dialect::Seed, Trouble::Failed(why) | Trouble::Server { message: why, .. }) => {
            Fault::new(codes::TOOL_EXECUTION_FAILED, format!("Tool execution failed: {why}"))
        }
        (Dialect::Official, Trouble::NotFound) => {
            Fault::new(codes::INTERNAL_ERROR, format!("Tool {tool} not found"))
        }
        (Dialect::Official, Trouble::NotAvailable) => {
            Fault::new(codes::REFUSED, format!("Tool not available to this view: {tool}"))
        }
        (Dialect::Official, Trouble::Denied(why)) => {
            return Ok(json!({ "content": [{ "type": "text", "text": why }], "isError": true }));
        }
        (Dialect::Official, Trouble::Cancelled(why)) => Fault::new(codes::REFUSED, why),
        (Dialect::Official, Trouble::Server { code, message, data }) => {
            Fault { code, message, data }
        }
        (Dialect::Official, Trouble::Failed(why)) | (_, Trouble::Other(why)) => {
            Fault::new(codes::INTERNAL_ERROR, why)
        }
    })
}

/// Something that was to be done for the person, and was not.
pub fn not_done(style: Dialect, trouble: Trouble) -> Result<Value, Fault> {
    match (style, trouble) {
        (Dialect::Official, Trouble::Denied(_) | Trouble::Cancelled(_) | Trouble::Failed(_)) => {
            Ok(json!({ "isError": true }))
        }
        (Dialect::Seed, Trouble::Denied(why) | Trouble::Cancelled(why)) => {
            Err(Fault::new(codes::CANCELLED, why))
        }
        (_, trouble) => Err(plain(trouble)),
    }
}

/// Something that was not remembered.
pub fn not_remembered(style: Dialect, trouble: Trouble) -> Fault {
    match (style, trouble) {
        (Dialect::Official, Trouble::Denied(_) | Trouble::Cancelled(_)) => {
            Fault::new(codes::REFUSED, "Context update denied")
        }
        (Dialect::Seed, Trouble::Denied(why) | Trouble::Cancelled(why)) => {
            Fault::new(codes::CANCELLED, why)
        }
        (_, trouble) => plain(trouble),
    }
}

/// As the server said it, or with the words there are.
pub fn plain(trouble: Trouble) -> Fault {
    match trouble {
        Trouble::Server { code, message, data } => Fault { code, message, data },
        Trouble::Denied(why) | Trouble::Cancelled(why) => Fault::new(codes::REFUSED, why),
        Trouble::Failed(why) | Trouble::Other(why) => Fault::new(codes::INTERNAL_ERROR, why),
        Trouble::NotFound | Trouble::NotAvailable => {
            Fault::new(codes::INTERNAL_ERROR, "nothing of that name is there")
        }
    }
}
