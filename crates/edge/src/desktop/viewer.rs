//! Somebody who watches what is done to desktops, and can do nothing to them.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use kernel::{
    desktop::{Code, Deed, DesktopError, News, Outcome},
    toolbox::Caller,
};
use remote::reply::{self, Envelope};
use serde_json::{Value, json};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::socket::Dialect;

pub struct Viewer {
    news: Receiver<News>,
}

impl Viewer {
    pub fn new(news: Receiver<News>) -> Self {
        Self { news }
    }
}

impl Dialect for Viewer {
    /// It cannot drive, whatever it says.
    async fn hear(&mut self, _: &[u8]) {}

    async fn say(&mut self, out: &mut Vec<Utf8Bytes>) {
        loop {
            match self.news.recv().await {
                Ok(News::Acted(noted)) => {
                    out.push(told(&noted.deed).to_string().into());
                    return;
                }
                // What was missed is in the log; from here on it is whole again.
                Ok(_) | Err(RecvError::Lagged(_)) => (),
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

/// The three words of the seed, and beside them whose they are.
pub fn told(deed: &Arc<Deed>) -> Value {
    let Deed { device, command, who, kind, arguments, result, leave: _, at, ms: _ } = &**deed;
    let mut frame = json!({
        "tool": kind, "arguments": arguments, "commandId": command, "device": device,
        "session": who.session.map(|session| session.to_string()),
        "ts": at.as_millisecond(), "caller": caller(&who.caller),
    });
    match result {
        Err(error) if is_unanswered(error.code) => frame["error"] = error.text.as_str().into(),
        result => frame["result"] = shown(result),
    }
    frame
}

/// What came of it in the words of the seed, without what is only for whoever asked: pictures, and
/// what was on a clipboard.
fn shown(result: &Result<Outcome, DesktopError>) -> Value {
    match result {
        Ok(Outcome::Picture(_)) => json!({ "type": "screenshot" }),
        Ok(Outcome::Clipboard { .. }) => json!({ "type": "clipboard" }),
        Ok(Outcome::Batch(results)) => {
            let completed = results.iter().filter(|result| result.is_ok()).count();
            let results: Vec<Value> = results.iter().map(shown).collect();
            json!({ "type": "batch", "results": results, "completed": completed })
        }
        result => Value::Object(reply::written(result, Envelope::PLAIN)),
    }
}

/// Whether it never came to the device, or nothing came back.
pub fn is_unanswered(code: Code) -> bool {
    match code {
        Code::NotArmed
        | Code::Denied
        | Code::RateLimited
        | Code::QueueFull
        | Code::Timeout
        | Code::Disconnected => true,
        Code::BadRequest
        | Code::UnknownKey
        | Code::OutOfBounds
        | Code::TextUnsupported
        | Code::Unsupported
        | Code::NoDisplay
        | Code::Permission
        | Code::Paused
        | Code::Cancelled
        | Code::Failed => false,
    }
}

pub fn caller(caller: &Caller) -> &'static str {
    match caller {
        Caller::Model => "model",
        Caller::Owner => "owner",
        Caller::Widget { .. } => "widget",
        Caller::Applet { .. } => "applet",
        Caller::App { .. } => "app",
        Caller::Client => "client",
        Caller::Agent { .. } => "agent",
    }
}
