//! A house to visit, and clients that visit it.

mod browser;
mod client;
mod deaf;
mod guest;
mod house;
mod mounted;
mod newer;
mod phone;
mod socket;
mod web;

use serde_json::{Value, json};

pub use browser::{Browser, header};
pub use client::{Ask, Reply, exchange};
pub use deaf::Deaf;
pub use house::House;
pub use newer::Newer;
pub use phone::Phone;
pub use socket::{Socket, ids, persisted, shorts};

/// How every error looks.
pub fn error(code: &str, text: &str) -> Value {
    json!({ "error": text, "code": code })
}

pub fn bad(text: &str) -> (u16, Value) {
    (400, error("BAD_REQUEST", text))
}

/// How the endpoints for files and commands say it.
pub fn refused(status: u16, code: &str, text: &str) -> (u16, Value) {
    (status, json!({ "ok": false, "error": text, "code": code }))
}

pub fn no_session(id: &str) -> (u16, Value) {
    (404, error("NOT_FOUND", &format!("Session not found: {id}")))
}
