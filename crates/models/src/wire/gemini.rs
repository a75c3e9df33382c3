//! Google's `streamGenerateContent`.

mod schema;

use std::collections::HashMap;

use kernel::{
    ports::{ModelError, Piece},
    prompt::{PICTURES, Part},
    update::{Attachment, Usage},
};
use serde_json::{Value, json};

use super::{Ask, Decode, accepted, called, number, one_of_a_kind, outcome, parse, text};
use crate::{config::Effort, fault};

const LANGUAGE: &str = "gemini";
/// What Google accepts as the signature of a call that another model made.
const UNSIGNED: &str = "skip_thought_signature_validator";

pub fn request(ask: Ask) -> Value {
    let mut body = json!({ "contents": contents(&ask) });
    if !ask.prompt.system.is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": ask.prompt.system }] });
    }
    let tool = |tool: &kernel::toolbox::ToolSpec| {
        let mut declared = json!({ "name": tool.name, "description": tool.description });
        if let Some(parameters) = schema::parameters(&tool.schema) {
            declared["parameters"] = parameters;
        }
        declared
    };
    if !ask.prompt.tools.is_empty() {
        let tools: Vec<Value> = ask.prompt.tools.iter().map(tool).collect();
        body["tools"] = json!([{ "functionDeclarations": tools }]);
    }
    let mut config = json!({});
    if let Some(most) = ask.max_tokens {
        config["maxOutputTokens"] = most.into();
    }
    if let Some(thinking) = thinking(ask.model, ask.effort) {
        config["thinkingConfig"] = thinking;
    }
    if config != json!({}) {
        body["generationConfig"] = config;
    }
    body
}

/// The generation of a `gemini-N` model.
fn generation(model: &str) -> Option<u32> {
    model.strip_prefix("gemini-")?.chars().next()?.to_digit(10)
}

/// Those before 2.5 refuse to be asked for thoughts, and those before 3 count them.
fn thinking(model: &str, effort: Option<Effort>) -> Option<Value> {
    let is_new = generation(model).is_some_and(|generation| generation >= 3);
    if !is_new && !model.starts_with("gemini-2.5") {
        return None;
    }
    let mut thinking = json!({ "includeThoughts": true });
    match effort {
        None => (),
        Some(effort) if is_new => {
            thinking["thinkingLevel"] = effort.min(Effort::High).name().into();
        }
        Some(effort) => {
            thinking["thinkingBudget"] = match effort {
                Effort::Minimal => 512,
                Effort::Low => 2_048,
                Effort::Medium => 8_192,
                Effort::High | Effort::XHigh | Effort::Max => 24_576,
            }
            .into();
        }
    }
    Some(thinking)
}

/// Turns that alternate, as they must.
fn contents(ask: &Ask) -> Vec<Value> {
    let names = called(ask.prompt);
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for part in &ask.prompt.parts {
        let (role, parts) = parts(ask, part, &names);
        match turns.last_mut() {
            _ if parts.is_empty() => (),
            Some((last, all)) if *last == role => all.extend(parts),
            _ => turns.push((role, parts)),
        }
    }
    turns.into_iter().map(|(role, parts)| json!({ "role": role, "parts": parts })).collect()
}

fn parts(ask: &Ask, part: &Part, names: &HashMap<&str, &str>) -> (&'static str, Vec<Value>) {
    match part {
        Part::User { text, images } => user(ask, text, images),
        Part::Pictures { images } => user(ask, PICTURES, images),
        Part::Assistant { text, calls, trace, .. } => {
            let trace = ask.own(trace.as_ref(), LANGUAGE);
            let mut parts = Vec::new();
            if !text.is_empty() {
                let mut part = json!({ "text": text });
                if let Some(signature) = trace.and_then(|trace| trace.get("text")) {
                    part["thoughtSignature"] = signature.clone();
                }
                parts.push(part);
            }
            for (at, call) in calls.iter().enumerate() {
                let (id, name) = (accepted(&call.id), accepted(&call.name));
                let args = super::object(&call.args);
                let mut part = json!({ "functionCall": { "id": id, "name": name, "args": args } });
                let signature = trace.and_then(|trace| trace.get("calls")?.get(at)?.as_str());
                let is_foreign = trace.is_none() && at == 0 && generation(ask.model) >= Some(3);
                if let Some(signature) = signature.or(is_foreign.then_some(UNSIGNED)) {
                    part["thoughtSignature"] = signature.into();
                }
                parts.push(part);
            }
            ("model", parts)
        }
        Part::Result { call, output } => {
            let name = accepted(names.get(call.as_str()).copied().unwrap_or("unknown"));
            let (text, failed) = outcome(output);
            let response =
                if failed { json!({ "error": text }) } else { json!({ "output": text }) };
            let answer = json!({ "id": accepted(call), "name": name, "response": response });
            ("user", vec![json!({ "functionResponse": answer })])
        }
    }
}

fn user(ask: &Ask, text: &str, images: &[Attachment]) -> (&'static str, Vec<Value>) {
    let (shown, missing) = ask.shown(images);
    let text = [vec![text.to_owned()], missing].concat().join("\n");
    let image = |image: &super::Picture| json!({ "inlineData": { "mimeType": image.mime, "data": image.base64 } });
    let mut parts: Vec<Value> = shown.iter().map(image).collect();
    if !text.is_empty() || parts.is_empty() {
        parts.push(json!({ "text": text }));
    }
    ("user", parts)
}

#[derive(Default)]
pub struct Decoder {
    /// The signatures of the calls, in order.
    calls: Vec<Option<String>>,
    signature: Option<String>,
    usage: Option<Usage>,
    refused: Option<String>,
    malformed: Option<String>,
    stopped: bool,
}

impl Decode for Decoder {
    fn event(&mut self, _: Option<&str>, data: &str) -> Result<Vec<Piece>, ModelError> {
        let chunk = parse(data)?;
        if let Some(error) = chunk.get("error") {
            return Err(fault::from_error(None, error));
        }
        let usage = chunk.get("usageMetadata").filter(|usage| usage.is_object());
        self.usage = usage.map(count).or(self.usage);
        if let Some(reason) = chunk.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            self.refused = Some(format!("the question was blocked ({reason})"));
        }
        let candidate = match chunk.get("candidates") {
            Some(candidates) => candidates.get(0),
            None if usage.is_some() || self.refused.is_some() => None,
            None => return Err(fault::garbage("no candidates", data)),
        };
        let Some(candidate) = candidate else { return Ok(Vec::new()) };
        let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
        let pieces = parts.into_iter().flatten().flat_map(|part| self.part(part)).collect();
        if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
            self.stop(reason, text(candidate, "finishMessage"));
        }
        Ok(pieces)
    }

    fn finish(&mut self) -> Result<Vec<Piece>, ModelError> {
        if let Some(reason) = self.refused.take() {
            return Err(fault::refused(&reason));
        }
        if let Some(reason) = self.malformed.take() {
            return Err(fault::garbage("the model called a tool in a wrong way", &reason));
        }
        if !self.stopped {
            return Err(fault::ended_early());
        }
        let mut pieces = Vec::new();
        let is_signed = self.signature.is_some() || self.calls.iter().any(Option::is_some);
        if is_signed {
            let mut trace = json!({ "calls": self.calls });
            if let Some(signature) = &self.signature {
                trace["text"] = signature.as_str().into();
            }
            pieces.push(Piece::Trace(json!({ LANGUAGE: trace })));
        }
        pieces.extend(self.usage.map(Piece::Usage));
        Ok(pieces)
    }

    /// Nothing marks the last event.
    fn is_done(&self) -> bool {
        false
    }
}

impl Decoder {
    fn part(&mut self, part: &Value) -> Vec<Piece> {
        let signature = part.get("thoughtSignature").and_then(Value::as_str).map(str::to_owned);
        if let Some(call) = part.get("functionCall") {
            let (index, name) = (self.calls.len(), text(call, "name").to_owned());
            self.calls.push(signature);
            let args = call.get("args").filter(|args| !args.is_null()).cloned();
            let args = args.unwrap_or_else(|| json!({}));
            let written = args.to_string();
            let id = one_of_a_kind(text(call, "id"));
            let calling = Piece::Calling { index, name: name.clone(), args: written };
            return vec![calling, Piece::Call { id, name, args }];
        }
        let said = text(part, "text");
        let is_thought = part.get("thought") == Some(&Value::Bool(true));
        if !is_thought {
            self.signature = signature.or(self.signature.take());
        }
        match (said, is_thought) {
            ("", _) => Vec::new(),
            (said, true) => vec![Piece::Reasoning(said.to_owned())],
            (said, false) => vec![Piece::Text(said.to_owned())],
        }
    }

    fn stop(&mut self, reason: &str, message: &str) {
        self.stopped = true;
        match reason {
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "IMAGE_SAFETY" => {
                self.refused = Some(format!("the answer was stopped ({reason}) {message}"));
            }
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "MALFORMED_RESPONSE"
            | "MISSING_THOUGHT_SIGNATURE" => {
                self.malformed = Some(format!("{reason} {message}"));
            }
            _ => (),
        }
    }
}

fn count(usage: &Value) -> Usage {
    let thoughts = number(usage, "/thoughtsTokenCount");
    let tools = number(usage, "/toolUsePromptTokenCount");
    Usage {
        input_tokens: number(usage, "/promptTokenCount").saturating_add(tools),
        output_tokens: number(usage, "/candidatesTokenCount").saturating_add(thoughts),
        cache_read_tokens: number(usage, "/cachedContentTokenCount"),
        reasoning_tokens: thoughts,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
