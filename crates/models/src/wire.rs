//! What the four languages have in common.

pub mod anthropic;
pub mod chat;
pub mod computer;
pub mod gemini;
pub mod responses;
#[cfg(test)]
pub mod testing;

use std::collections::HashMap;

use kernel::{
    ports::{ModelError, Piece},
    prompt::Prompt,
    update::{Attachment, Output, Trace},
};
use serde_json::Value;

use crate::{
    config::{Effort, Kind},
    pictures::Pictures,
};

/// All that a request is made of.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    pub prompt: &'a Prompt,
    pub pictures: &'a Pictures,
    /// The provider's own name for the model.
    pub model: &'a str,
    /// The names under which this model has left traces.
    pub known_as: [&'a str; 2],
    pub max_tokens: Option<u64>,
    pub effort: Option<Effort>,
    /// Whether it is `OpenAI` itself, which has moved on from what the compatible servers copy.
    pub at_openai: bool,
    /// Whether desktops are driven by the vendor's own tool, where the model knows it.
    pub computer: bool,
}

/// Turns events into pieces. Knows nothing of sockets.
pub trait Decode: Send {
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<Vec<Piece>, ModelError>;

    /// What is left to say when no more events come, or that they should have.
    fn finish(&mut self) -> Result<Vec<Piece>, ModelError>;

    /// Whether the last event has been heard.
    fn is_done(&self) -> bool;
}

pub fn request(kind: Kind, ask: Ask) -> Value {
    match kind {
        Kind::Anthropic => anthropic::request(ask),
        Kind::OpenaiResponses => responses::request(ask),
        Kind::OpenaiChat => chat::request(ask),
        Kind::Gemini => gemini::request(ask),
    }
}

/// What must be said on the envelope, if anything.
pub fn beta(kind: Kind, ask: &Ask) -> Option<&'static str> {
    (kind == Kind::Anthropic).then(|| computer::beta(ask)).flatten()
}

pub fn decoder(kind: Kind) -> Box<dyn Decode> {
    match kind {
        Kind::Anthropic => Box::new(anthropic::Decoder::default()),
        Kind::OpenaiResponses => Box::new(responses::Decoder::default()),
        Kind::OpenaiChat => Box::new(chat::Decoder::default()),
        Kind::Gemini => Box::new(gemini::Decoder::default()),
    }
}

impl<'a> Ask<'a> {
    /// What this very model left behind in this language, if the trace is one of its own.
    fn own<'t>(&self, trace: Option<&'t Trace>, language: &str) -> Option<&'t Value> {
        let trace = trace.filter(|trace| self.known_as.contains(&trace.model.as_str()))?;
        trace.data.get(language)
    }

    /// The pictures that are still there, and a word for each that is not.
    fn shown(&self, images: &'a [Attachment]) -> (Vec<Picture<'a>>, Vec<String>) {
        let (mut shown, mut missing) = (Vec::new(), Vec::new());
        for image in images {
            match self.pictures.get(&image.path) {
                Some(base64) => shown.push(Picture { mime: &image.mime, base64 }),
                None => missing.push(format!("[picture not found: {}]", image.name)),
            }
        }
        (shown, missing)
    }
}

pub struct Picture<'a> {
    mime: &'a str,
    base64: &'a str,
}

impl Picture<'_> {
    fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime, self.base64)
    }
}

/// What a model wrote as arguments. What is no JSON stays as it is, for the tool to complain of.
pub fn arguments(raw: &str) -> Value {
    if raw.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(raw).unwrap_or_else(|_| Value::String(raw.to_owned()))
}

/// Arguments as an object, which is all that the wire accepts in a history.
fn object(args: &Value) -> Value {
    match args {
        Value::Object(_) => args.clone(),
        other => serde_json::json!({ "invalid_arguments": other }),
    }
}

/// A name that every provider accepts: unchanged where it can be.
pub fn accepted(id: &str) -> String {
    accepted_within(64, id)
}

/// The same for those who take less, but at least 17 characters.
fn accepted_within(longest: usize, id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !id.is_empty() && id.len() <= longest && id.chars().all(is_plain) {
        return id.to_owned();
    }
    let plain = id.chars().map(|c| if is_plain(c) { c } else { '_' });
    let plain: String = plain.take(longest.saturating_sub(17)).collect();
    format!("{plain}_{:016x}", fingerprint(id))
}

/// FNV-1a: what was told apart before must be told apart after, and the same each time.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// An id that will not come again. Small servers count from zero in every answer.
fn one_of_a_kind(id: &str) -> String {
    const SHORTEST: usize = 20;
    let unique = id.len() >= SHORTEST && !id.contains(':');
    if unique { id.to_owned() } else { String::new() }
}

/// What a tool gave, as text that is never empty, and whether it failed.
fn outcome(output: &Output) -> (&str, bool) {
    let failed = !matches!(output, Output::Done { .. });
    match output.text() {
        "" => ("(no output)", failed),
        text => (text, failed),
    }
}

/// The same for those who have no other way to mark a failure.
fn marked_outcome(output: &Output) -> String {
    match outcome(output) {
        (text, true) => format!("Error: {text}"),
        (text, false) => text.to_owned(),
    }
}

/// The names of the functions behind the calls of a conversation.
fn called(prompt: &Prompt) -> HashMap<&str, &str> {
    let calls = prompt.parts.iter().filter_map(|part| match part {
        kernel::prompt::Part::Assistant { calls, .. } => Some(calls),
        kernel::prompt::Part::User { .. }
        | kernel::prompt::Part::Result { .. }
        | kernel::prompt::Part::Pictures { .. } => None,
    });
    calls.flatten().map(|call| (call.id.as_str(), call.name.as_str())).collect()
}

/// An event's data, which is JSON or garbage.
fn parse(data: &str) -> Result<Value, ModelError> {
    serde_json::from_str(data).map_err(|_| crate::fault::garbage("an event is not JSON", data))
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_other_providers_are_made_acceptable_and_stay_distinct() {
        assert_eq!(accepted("toolu_01-A"), "toolu_01-A");
        let strange = accepted("functions.read:0");
        assert!(strange.starts_with("functions_read_0_"), "{strange}");
        assert_ne!(strange, accepted("functions_read.0"));
        let long = accepted(&"x".repeat(200));
        assert_eq!(long.len(), 64);
        assert_ne!(long, accepted(&"x".repeat(201)));
        assert_eq!(accepted("").len(), 17);
        assert_eq!(accepted_within(40, &"x".repeat(41)).len(), 40);
        assert_eq!(accepted_within(40, &"x".repeat(40)), "x".repeat(40));
    }

    #[test]
    fn arguments_that_are_no_json_stay_text() {
        assert_eq!(arguments(" "), serde_json::json!({}));
        assert_eq!(arguments(r#"{"a":1}"#), serde_json::json!({"a": 1}));
        assert_eq!(arguments(r#"{"a":"#), Value::String(r#"{"a":"#.into()));
    }

    #[test]
    fn only_ids_that_will_not_come_again_are_kept() {
        assert_eq!(one_of_a_kind("call_0"), "");
        assert_eq!(one_of_a_kind("functions.read_the_file:0"), "");
        assert_eq!(one_of_a_kind("toolu_01A09q90qw90lq917835lq9"), "toolu_01A09q90qw90lq917835lq9");
    }
}
