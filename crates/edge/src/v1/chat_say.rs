//! Chat Completions: what is answered, whole or in chunks.

use axum::response::sse::Event;
use kernel::{
    ports::{ModelError, Piece},
    update::Usage,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Teller, Whole, error::Failed, named};

pub fn completion(id: Uuid, created: i64, model: &str, whole: &Whole) -> Value {
    let Whole { text, reasoning, calls, usage: used } = whole;
    let mut message = json!({ "role": "assistant", "content": text });
    if !reasoning.is_empty() {
        message["reasoning_content"] = json!(reasoning);
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.iter().map(|(id, name, args)| call(id, name, args)).collect();
    }
    json!({
        "id": format!("chatcmpl-{id}"), "object": "chat.completion", "created": created,
        "model": model,
        "choices": [{ "index": 0, "message": message, "finish_reason": reason(calls.len()) }],
        "usage": usage(*used),
    })
}

fn call(id: &str, name: &str, args: &Value) -> Value {
    json!({ "id": id, "type": "function",
            "function": { "name": name, "arguments": args.to_string() } })
}

fn reason(calls: usize) -> &'static str {
    if calls > 0 { "tool_calls" } else { "stop" }
}

fn usage(
    Usage { input_tokens, output_tokens, cache_read_tokens, reasoning_tokens, .. }: Usage,
) -> Value {
    json!({
        "prompt_tokens": input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": input_tokens.saturating_add(output_tokens),
        "prompt_tokens_details": { "cached_tokens": cache_read_tokens },
        "completion_tokens_details": { "reasoning_tokens": reasoning_tokens },
    })
}

/// The reply in chunks.
pub struct Chunks {
    id: Uuid,
    created: i64,
    model: String,
    /// Whether the caller wants to know what it took.
    wants_usage: bool,
    used: Usage,
    calls: usize,
}

impl Chunks {
    pub fn new(id: Uuid, created: i64, model: String, wants_usage: bool) -> Self {
        Self { id, created, model, wants_usage, used: Usage::default(), calls: 0 }
    }

    fn chunk(&self, delta: &Value, finish_reason: Option<&str>) -> Event {
        self.event(&json!([{ "index": 0, "delta": delta, "finish_reason": finish_reason }]), None)
    }

    fn event(&self, choices: &Value, usage: Option<Value>) -> Event {
        let (id, created, model) = (format!("chatcmpl-{}", self.id), self.created, &self.model);
        let mut chunk = json!({
            "id": id, "object": "chat.completion.chunk", "created": created, "model": model,
            "choices": choices,
        });
        if let Some(usage) = usage {
            chunk["usage"] = usage;
        }
        Event::default().data(chunk.to_string())
    }
}

impl Teller for Chunks {
    fn begin(&mut self) -> Vec<Event> {
        vec![self.chunk(&json!({ "role": "assistant", "content": "" }), None)]
    }

    fn say(&mut self, piece: Piece) -> Vec<Event> {
        let delta = match piece {
            Piece::Text(text) => json!({ "content": text }),
            Piece::Reasoning(text) => json!({ "reasoning_content": text }),
            Piece::Call { id, name, args } => {
                let index = self.calls;
                self.calls += 1;
                let mut call = call(&named(id, index), &name, &args);
                call["index"] = json!(index);
                json!({ "tool_calls": [call] })
            }
            Piece::Usage(usage) => {
                self.used = usage;
                return Vec::new();
            }
            Piece::Calling { .. } | Piece::Trace(_) => return Vec::new(),
        };
        vec![self.chunk(&delta, None)]
    }

    fn fail(&mut self, error: &ModelError) -> Vec<Event> {
        let problem = Failed::from(error.clone()).problem;
        vec![Event::default().data(json!({ "error": problem }).to_string())]
    }

    fn end(&mut self) -> Vec<Event> {
        let mut events = vec![self.chunk(&json!({}), Some(reason(self.calls)))];
        if self.wants_usage {
            events.push(self.event(&json!([]), Some(usage(self.used))));
        }
        events.push(Event::default().data("[DONE]"));
        events
    }
}
