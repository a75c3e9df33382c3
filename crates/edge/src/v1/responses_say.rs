//! Responses: what is answered, whole or as events.

use axum::response::sse::Event;
use kernel::{
    ports::{ModelError, Piece},
    update::Usage,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Teller, Whole, error::Failed, named};

pub fn response(id: Uuid, created: i64, model: &str, whole: &Whole) -> Value {
    let mut output = Vec::new();
    if !whole.text.is_empty() {
        output.push(message(&item_id("msg", id, 0), &whole.text, "completed"));
    }
    for (index, (call, name, args)) in whole.calls.iter().enumerate() {
        let item = item_id("fc", id, index + 1);
        output.push(function_call(&item, call, name, &args.to_string(), "completed"));
    }
    body(id, created, model, "completed", &output, Some(whole.usage))
}

fn body(
    id: Uuid,
    created: i64,
    model: &str,
    status: &str,
    output: &[Value],
    used: Option<Usage>,
) -> Value {
    json!({
        "id": format!("resp_{id}"), "object": "response", "created_at": created, "status": status,
        "model": model, "output": output, "error": null, "incomplete_details": null,
        "instructions": null, "metadata": {}, "parallel_tool_calls": true, "tools": [],
        "tool_choice": "auto", "temperature": null, "top_p": null,
        "usage": used.map(usage),
    })
}

fn usage(
    Usage { input_tokens, output_tokens, cache_read_tokens, reasoning_tokens, .. }: Usage,
) -> Value {
    json!({
        "input_tokens": input_tokens,
        "input_tokens_details": { "cached_tokens": cache_read_tokens },
        "output_tokens": output_tokens,
        "output_tokens_details": { "reasoning_tokens": reasoning_tokens },
        "total_tokens": input_tokens.saturating_add(output_tokens),
    })
}

fn item_id(kind: &str, id: Uuid, index: usize) -> String {
    format!("{kind}_{}_{index}", id.simple())
}

fn message(id: &str, text: &str, status: &str) -> Value {
    let content = if status == "completed" { vec![text_part(text)] } else { Vec::new() };
    json!({ "type": "message", "id": id, "role": "assistant", "status": status, "content": content })
}

fn text_part(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [] })
}

fn function_call(id: &str, call: &str, name: &str, arguments: &str, status: &str) -> Value {
    json!({ "type": "function_call", "id": id, "call_id": call, "name": name,
            "arguments": arguments, "status": status })
}

/// The reply as events, each numbered.
pub struct Events {
    id: Uuid,
    created: i64,
    model: String,
    number: u64,
    /// What has been said and is finished.
    output: Vec<Value>,
    /// The text of the message being said, if one is.
    text: Option<String>,
    used: Usage,
}

impl Events {
    pub fn new(id: Uuid, created: i64, model: String) -> Self {
        let (output, used) = (Vec::new(), Usage::default());
        Self { id, created, model, number: 0, output, text: None, used }
    }

    fn event(&mut self, kind: &str, mut data: Value) -> Event {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.number);
        self.number += 1;
        Event::default().event(kind).data(data.to_string())
    }

    fn whole(&self, status: &str, used: Option<Usage>) -> Value {
        json!({ "response": body(self.id, self.created, &self.model, status, &self.output, used) })
    }

    fn message_id(&self) -> String {
        item_id("msg", self.id, self.output.len())
    }

    fn say_text(&mut self, delta: &str) -> Vec<Event> {
        let (index, id) = (self.output.len(), self.message_id());
        let mut events = Vec::new();
        if self.text.is_none() {
            let item = message(&id, "", "in_progress");
            let added = json!({ "output_index": index, "item": item });
            events.push(self.event("response.output_item.added", added));
            let part = json!({ "item_id": id, "output_index": index, "content_index": 0,
                               "part": text_part("") });
            events.push(self.event("response.content_part.added", part));
        }
        self.text.get_or_insert_default().push_str(delta);
        let data = json!({ "item_id": id, "output_index": index, "content_index": 0, "delta": delta,
                           "logprobs": [] });
        events.push(self.event("response.output_text.delta", data));
        events
    }

    /// Ends the message being said, if one is.
    fn end_text(&mut self) -> Vec<Event> {
        let Some(text) = self.text.take() else { return Vec::new() };
        let (index, id) = (self.output.len(), self.message_id());
        let place = |rest: Value| {
            let mut data = json!({ "item_id": id, "output_index": index, "content_index": 0 });
            if let (Value::Object(data), Value::Object(rest)) = (&mut data, rest) {
                data.extend(rest);
            }
            data
        };
        let done = place(json!({ "text": text, "logprobs": [] }));
        let part = place(json!({ "part": text_part(&text) }));
        let item = message(&id, &text, "completed");
        let events = vec![
            self.event("response.output_text.done", done),
            self.event("response.content_part.done", part),
            self.event("response.output_item.done", json!({ "output_index": index, "item": item })),
        ];
        self.output.push(item);
        events
    }

    fn say_call(&mut self, call: &str, name: &str, arguments: &str) -> Vec<Event> {
        let mut events = self.end_text();
        let index = self.output.len();
        let id = item_id("fc", self.id, index);
        let open = function_call(&id, call, name, "", "in_progress");
        let item = function_call(&id, call, name, arguments, "completed");
        let added = json!({ "output_index": index, "item": open });
        events.push(self.event("response.output_item.added", added));
        let delta = json!({ "item_id": id, "output_index": index, "delta": arguments });
        events.push(self.event("response.function_call_arguments.delta", delta));
        let done =
            json!({ "item_id": id, "output_index": index, "name": name, "arguments": arguments });
        events.push(self.event("response.function_call_arguments.done", done));
        let data = json!({ "output_index": index, "item": item });
        events.push(self.event("response.output_item.done", data));
        self.output.push(item);
        events
    }
}

impl Teller for Events {
    fn begin(&mut self) -> Vec<Event> {
        let begun = self.whole("in_progress", None);
        vec![
            self.event("response.created", begun.clone()),
            self.event("response.in_progress", begun),
        ]
    }

    fn say(&mut self, piece: Piece) -> Vec<Event> {
        match piece {
            Piece::Text(text) => self.say_text(&text),
            Piece::Call { id, name, args } => {
                let call = named(id, self.output.len());
                self.say_call(&call, &name, &args.to_string())
            }
            Piece::Usage(usage) => {
                self.used = usage;
                Vec::new()
            }
            Piece::Reasoning(_) | Piece::Calling { .. } | Piece::Trace(_) => Vec::new(),
        }
    }

    fn fail(&mut self, error: &ModelError) -> Vec<Event> {
        let mut events = self.end_text();
        let problem = Failed::from(error.clone()).problem;
        let mut failed = self.whole("failed", None);
        let code = problem.code.unwrap_or("server_error");
        failed["response"]["error"] = json!({ "code": code, "message": problem.message });
        events.push(self.event("response.failed", failed));
        events
    }

    fn end(&mut self) -> Vec<Event> {
        let mut events = self.end_text();
        let whole = self.whole("completed", Some(self.used));
        events.push(self.event("response.completed", whole));
        events
    }
}
