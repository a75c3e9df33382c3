//! Tools by which an agent asks the apps in windows, and has them do something.

mod address;
mod arguments;
mod command;
mod each;
mod query;
#[cfg(test)]
mod tests;
mod undo;

use std::sync::Arc;

use kernel::{
    apps::{AppCall, Asked, Kind, Response, protocol::Answer, texts},
    host::Host,
    toolbox::Call,
};
use serde_json::Value;

pub use command::AppCommand;
pub use each::Each;
pub use query::AppQuery;
pub use undo::AppUndo;

use self::address::Address;
use crate::{typed::shorten, windows::by};

/// Who is asked, and what.
struct Question {
    window: String,
    asked: Asked,
    key: Option<String>,
    /// How it was named, if by an address: then a manifest is told with addresses.
    address: Option<Address>,
}

/// What a call does, for a person: `Looking at cells of dock`.
fn told_as(
    doing: &str,
    uri: Option<&Value>,
    what: Option<&Value>,
    window: Option<&Value>,
) -> String {
    let text = |value: Option<&Value>| {
        value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(|text| shorten(text, 40))
    };
    match (text(uri), text(what), text(window)) {
        (Some(uri), _, _) => format!("{doing} {uri}"),
        (None, Some(what), Some(window)) => format!("{doing} {what} of {window}"),
        _ => format!("{doing} something of an app"),
    }
}

/// Asks in the session of the call.
async fn ask(host: &Arc<Host>, call: &Call, question: Question) -> Result<String, String> {
    let Question { window, asked, key, address } = question;
    let (tool_call, by, attended) = (call.id.clone(), by(&call.caller), call.attended);
    let wanted = AppCall { key, tool_call, by, attended, ..AppCall::new(window, asked) };
    let answer = host.ask_app(call.session.id(), wanted).await;
    read(answer.map_err(|error| error.to_string())?, address.as_ref())
}

fn read(answer: Answer, address: Option<&Address>) -> Result<String, String> {
    match answer {
        Answer::Said { kind, response, note, .. } => {
            let more = |text: String| match &note {
                Some(note) => format!("{text}\n\n{note}"),
                None => text,
            };
            told(kind, response, address).map(more).map_err(more)
        }
        Answer::Free { note } => Ok(note.unwrap_or_default()),
        Answer::Refused(text) => Err(text),
        Answer::Open { request } => {
            Err(format!("{}\n{}", texts::NO_RESPONSE, texts::still_open(&request)))
        }
    }
}

fn told(kind: Kind, mut response: Response, address: Option<&Address>) -> Result<String, String> {
    if let (Kind::Manifest, Some(address), Some(manifest)) = (kind, address, &mut response.value) {
        address.note(manifest);
    }
    texts::result(kind, &response)
}
