//! A command as a device reads it: strictly, with an answer to everything that is not one.

mod frames;

use kernel::desktop::{DesktopError, Order};
use serde_json::{Map, Value};

use self::frames::{AfterFrame, Command};
use crate::{fields::SEED, hello::Lent};

/// What is put before everything that is wrong with a frame.
pub const PREFIX: &str = "Invalid command format: ";

/// A frame from a hub.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// Goes back with the answer, if it is a text.
    pub id: Option<String>,
    pub result: Result<Request, DesktopError>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Not for us to answer; whether the hub showed that it knows more than the seed.
    Acknowledged {
        extended: bool,
        device: Option<String>,
        /// Whether somebody may drive us now, as far as the hub says.
        lent: Lent,
    },
    Nothing,
    Do(Box<Order>),
    Cancel {
        target: Option<String>,
    },
    HandBack,
}

pub fn parse(frame: &str) -> Parsed {
    let frame = match serde_json::from_str::<Value>(frame) {
        Ok(frame) => frame,
        Err(error) => return Parsed { id: None, result: Err(unreadable(&error)) },
    };
    let Value::Object(mut frame) = frame else {
        // Left to itself, a list would be read as the fields of a command in their order.
        let error = match frame {
            Value::Array(_) => "invalid type: sequence, expected internally tagged enum Command",
            _ => return Parsed { id: None, result: read(frame) },
        };
        return Parsed { id: None, result: Err(malformed(error)) };
    };
    match frame.get("type").and_then(Value::as_str) {
        Some("handshake_ack") => {
            let text = |name: &str| frame.get(name).and_then(Value::as_str).map(str::to_owned);
            let extended = text("protocol").is_some();
            let (device, lent) = (text("device"), Lent::read(&frame));
            let request = Request::Acknowledged { extended, device, lent };
            return Parsed { id: None, result: Ok(request) };
        }
        Some("pong") => return Parsed { id: None, result: Ok(Request::Nothing) },
        _ => (),
    }
    let id = match frame.remove("commandId") {
        Some(Value::String(id)) => Some(id),
        _ => None,
    };
    // A hub has the seed's commands followed by a picture itself, and no others know of it.
    if frame.get("type").and_then(Value::as_str).is_some_and(|it| SEED.contains(&it)) {
        frame.remove("after");
    }
    let mut result = order(frame);
    if let (Ok(Request::Do(order)), Some(id)) = (&mut result, &id) {
        order.id.clone_from(id);
    }
    Parsed { id, result }
}

/// One action with its fields, as it stands in a batch or in a command without an envelope.
pub fn action(kind: &str, mut fields: Map<String, Value>) -> Result<Request, DesktopError> {
    fields.insert("type".to_owned(), kind.into());
    order(fields)
}

/// A command without its envelope.
pub fn order(mut frame: Map<String, Value>) -> Result<Request, DesktopError> {
    let after = frame.remove("after");
    let mut request = read(Value::Object(frame))?;
    if let (Request::Do(order), Some(after)) = (&mut request, after) {
        let after: AfterFrame =
            serde_json::from_value(after).map_err(|error| unreadable(&error))?;
        order.after = after.translated()?;
    }
    Ok(request)
}

fn read(frame: Value) -> Result<Request, DesktopError> {
    let command: Command = serde_json::from_value(frame).map_err(|error| unreadable(&error))?;
    let request = command.translated()?;
    if let Request::Do(order) = &request {
        order.action.check()?;
    }
    Ok(request)
}

fn unreadable(error: &serde_json::Error) -> DesktopError {
    malformed(&error.to_string())
}

fn malformed(what: &str) -> DesktopError {
    DesktopError::bad(format!("{PREFIX}{what}"))
}

#[cfg(test)]
mod tests;
