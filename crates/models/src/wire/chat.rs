//! The Chat Completions, as `OpenAI` made them and many servers imitate them.

use kernel::{
    ports::{ModelError, Piece},
    prompt::{PICTURES, Part},
    update::{Attachment, ToolRequest, Usage},
};
use serde_json::{Value, json};

use super::{
    Ask, Decode, accepted, accepted_within, arguments, marked_outcome, number, one_of_a_kind,
    parse, text,
};
use crate::fault;

const LANGUAGE: &str = "chat";

pub fn request(ask: Ask) -> Value {
    let mut messages = Vec::new();
    if !ask.prompt.system.is_empty() {
        messages.push(json!({ "role": "system", "content": ask.prompt.system }));
    }
    messages.extend(ask.prompt.parts.iter().map(|part| message(&ask, part)));
    let mut body = json!({
        "model": ask.model,
        "messages": messages,
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    let tool = |tool: &kernel::toolbox::ToolSpec| {
        let (name, about) = (&tool.name, &tool.description);
        let function = json!({ "name": name, "description": about, "parameters": tool.schema });
        json!({ "type": "function", "function": function })
    };
    if !ask.prompt.tools.is_empty() {
        body["tools"] = ask.prompt.tools.iter().map(tool).collect();
    }
    if let Some(most) = ask.max_tokens {
        let name = if ask.at_openai { "max_completion_tokens" } else { "max_tokens" };
        body[name] = most.into();
    }
    if let Some(effort) = ask.effort {
        body["reasoning_effort"] = effort.name().into();
    }
    body
}

fn message(ask: &Ask, part: &Part) -> Value {
    match part {
        Part::User { text, images } => user(ask, text, images),
        Part::Pictures { images } => user(ask, PICTURES, images),
        Part::Assistant { text, reasoning, calls, trace } => {
            let content = if text.is_empty() && !calls.is_empty() { None } else { Some(text) };
            let mut message = json!({ "role": "assistant", "content": content });
            if !calls.is_empty() {
                message["tool_calls"] = calls.iter().map(call).collect();
                // Some want to see what they thought before they called.
                let field = ask.own(trace.as_ref(), LANGUAGE).and_then(Value::as_str);
                if let Some(field) = field {
                    message[field] = reasoning.as_str().into();
                }
            }
            message
        }
        Part::Result { call, output } => {
            let content = marked_outcome(output);
            json!({ "role": "tool", "tool_call_id": call_id(call), "content": content })
        }
    }
}

fn user(ask: &Ask, text: &str, images: &[Attachment]) -> Value {
    let (shown, missing) = ask.shown(images);
    let text = [vec![text.to_owned()], missing].concat().join("\n");
    if shown.is_empty() {
        return json!({ "role": "user", "content": text });
    }
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(json!({ "type": "text", "text": text }));
    }
    content.extend(
        shown
            .iter()
            .map(|image| json!({ "type": "image_url", "image_url": { "url": image.data_url() } })),
    );
    json!({ "role": "user", "content": content })
}

fn call(ToolRequest { id, name, args, .. }: &ToolRequest) -> Value {
    let function = json!({ "name": accepted(name), "arguments": super::object(args).to_string() });
    json!({ "id": call_id(id), "type": "function", "function": function })
}

/// `OpenAI` takes no more than 40 characters; other servers give more.
fn call_id(id: &str) -> String {
    accepted_within(40, id)
}

#[derive(Default)]
pub struct Decoder {
    calls: Vec<Calling>,
    /// The field in which reasoning came.
    reasoning: Option<&'static str>,
    usage: Option<Usage>,
    refusal: String,
    filtered: bool,
    stopped: bool,
    done: bool,
}

/// A call whose arguments are still coming.
#[derive(Default)]
struct Calling {
    index: Option<u64>,
    id: String,
    name: String,
    args: String,
}

impl Decode for Decoder {
    fn event(&mut self, _: Option<&str>, data: &str) -> Result<Vec<Piece>, ModelError> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(Vec::new());
        }
        let chunk = parse(data)?;
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(fault::from_error(None, error));
        }
        let usage = chunk.get("usage").or_else(|| chunk.pointer("/x_groq/usage"));
        self.usage = usage.filter(|usage| usage.is_object()).map(count).or(self.usage);
        let Some(choices) = chunk.get("choices").and_then(Value::as_array) else {
            let is_known = usage.is_some() || chunk.get("object").is_some();
            return if is_known { Ok(Vec::new()) } else { Err(fault::garbage("no choices", data)) };
        };
        let Some(choice) = choices.first() else { return Ok(Vec::new()) };
        if let Some(error) = choice.get("error").filter(|error| !error.is_null()) {
            return Err(fault::from_error(None, error));
        }
        let delta = choice.get("delta").or_else(|| choice.get("message"));
        let pieces = delta.map(|delta| self.delta(delta)).unwrap_or_default();
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.stopped = true;
            self.filtered |= reason == "content_filter";
        }
        Ok(pieces)
    }

    fn finish(&mut self) -> Result<Vec<Piece>, ModelError> {
        if !self.refusal.is_empty() {
            return Err(fault::refused(&self.refusal));
        }
        if self.filtered {
            return Err(fault::refused("its filter stopped the answer"));
        }
        if !self.done && !self.stopped {
            return Err(fault::ended_early());
        }
        let calls = self.calls.drain(..).map(|Calling { id, name, args, .. }| Piece::Call {
            id: one_of_a_kind(&id),
            name,
            args: arguments(&args),
        });
        let mut pieces: Vec<Piece> = calls.collect();
        let trace = self.reasoning.filter(|_| !pieces.is_empty());
        pieces.extend(trace.map(|field| Piece::Trace(json!({ LANGUAGE: field }))));
        pieces.extend(self.usage.map(Piece::Usage));
        Ok(pieces)
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

impl Decoder {
    fn delta(&mut self, delta: &Value) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for field in ["reasoning_content", "reasoning"] {
            let thought = text(delta, field);
            if !thought.is_empty() {
                self.reasoning = Some(field);
                pieces.push(Piece::Reasoning(thought.to_owned()));
                // Some servers send the same words in both.
                break;
            }
        }
        match delta.get("content") {
            Some(Value::String(said)) if !said.is_empty() => pieces.push(Piece::Text(said.clone())),
            Some(Value::Array(parts)) => {
                let said = parts.iter().map(|part| text(part, "text")).collect::<String>();
                pieces.extend((!said.is_empty()).then_some(Piece::Text(said)));
            }
            _ => (),
        }
        self.refusal.push_str(text(delta, "refusal"));
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        pieces.extend(calls.into_iter().flatten().map(|call| self.calling(call)));
        pieces
    }

    fn calling(&mut self, call: &Value) -> Piece {
        let index = call.get("index").and_then(Value::as_u64);
        let (id, function) = (text(call, "id"), call.get("function").unwrap_or(&Value::Null));
        let name = text(function, "name");
        let at = self.place(index, id, name);
        let calling = &mut self.calls[at];
        if calling.id.is_empty() {
            id.clone_into(&mut calling.id);
        }
        if calling.name.is_empty() {
            name.clone_into(&mut calling.name);
        }
        let args = match function.get("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(args)) => args.clone(),
            Some(whole) => whole.to_string(),
        };
        calling.args.push_str(&args);
        Piece::Calling { index: at, name: calling.name.clone(), args }
    }

    /// Which call this belongs to. Not everybody counts, and some count every call as the first.
    fn place(&mut self, index: Option<u64>, id: &str, name: &str) -> usize {
        let last = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => {
                let same = self.calls.iter().rposition(|call| call.id == id);
                same.or(self.calls.len().checked_sub(1))
            }
        };
        let is_other = |call: &Calling| {
            let uncounted = index.is_none() && (id.is_empty() || call.id.is_empty());
            let renamed = !id.is_empty() && !call.id.is_empty() && id != call.id;
            !name.is_empty() && (uncounted || renamed)
        };
        if let Some(at) = last.filter(|at| !is_other(&self.calls[*at])) {
            return at;
        }
        self.calls.push(Calling { index, ..Calling::default() });
        self.calls.len() - 1
    }
}

fn count(usage: &Value) -> Usage {
    let cached = number(usage, "/prompt_tokens_details/cached_tokens");
    Usage {
        input_tokens: number(usage, "/prompt_tokens"),
        output_tokens: number(usage, "/completion_tokens"),
        cache_read_tokens: cached.max(number(usage, "/prompt_cache_hit_tokens")),
        cache_write_tokens: number(usage, "/prompt_tokens_details/cache_write_tokens"),
        reasoning_tokens: number(usage, "/completion_tokens_details/reasoning_tokens"),
        // OpenRouter knows what it charges.
        cost: usage.get("cost").and_then(Value::as_f64),
    }
}

#[cfg(test)]
mod tests;
