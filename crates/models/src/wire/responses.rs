//! The Responses of `OpenAI`, without anything kept at their side.

use std::collections::HashMap;

use kernel::{
    ports::{ModelError, Piece},
    prompt::{PICTURES, Part},
    update::{Attachment, Usage},
};
use serde_json::{Value, json};

use super::{
    Ask, Decode, accepted, arguments, computer, marked_outcome, number, one_of_a_kind, parse, text,
};
use crate::fault;

const LANGUAGE: &str = "responses";

pub fn request(ask: Ask) -> Value {
    let natives = natives(&ask);
    let input = ask.prompt.parts.iter().flat_map(|part| items(&ask, &natives, part));
    let input: Vec<Value> = input.collect();
    let mut body = json!({
        "model": ask.model,
        "input": input,
        "stream": true,
        "store": false,
    });
    if !ask.prompt.system.is_empty() {
        body["instructions"] = ask.prompt.system.as_str().into();
    }
    // What is not strict may leave out what is optional.
    let tool = |tool: &kernel::toolbox::ToolSpec| {
        if let Some(own) = computer::for_openai(&ask, tool) {
            return own;
        }
        json!({
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
            "strict": false,
        })
    };
    if !ask.prompt.tools.is_empty() {
        body["tools"] = ask.prompt.tools.iter().map(tool).collect();
    }
    if ask.computer && computer::is_preview(ask.model) {
        // Refused otherwise.
        body["truncation"] = "auto".into();
    }
    if let Some(most) = ask.max_tokens {
        body["max_output_tokens"] = most.into();
    }
    if let Some(effort) = ask.effort {
        body["reasoning"] = json!({ "effort": effort.name(), "summary": "auto" });
    }
    // The others refuse to be asked for it.
    if ask.effort.is_some() || reasons(ask.model) {
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    body
}

fn reasons(model: &str) -> bool {
    let model = model.rsplit('/').next().unwrap_or(model);
    let version = |prefix: &str| {
        let rest = model.strip_prefix(prefix)?;
        rest.chars().next()?.to_digit(10)
    };
    version("o").is_some() || version("gpt-").is_some_and(|version| version >= 5)
}

/// Calls of the vendor's own tool that this model has made and that can be shown to it as such: an
/// answer to one is a picture and nothing else, and old ones are not kept.
fn natives<'a>(ask: &Ask<'a>) -> HashMap<&'a str, Native<'a>> {
    if !ask.computer {
        return HashMap::new();
    }
    let mut pictures = HashMap::new();
    for part in &ask.prompt.parts {
        if let Part::Result { call, output } = part
            && let Some(image) = output.images().last()
            && ask.pictures.get(&image.path).is_some()
        {
            pictures.insert(call.as_str(), image);
        }
    }
    let mut natives = HashMap::new();
    for part in &ask.prompt.parts {
        let Part::Assistant { trace, .. } = part else { continue };
        let kept = ask.own(trace.as_ref(), LANGUAGE).and_then(Value::as_array);
        for item in kept.into_iter().flatten().filter(|item| is_native(item)) {
            let call = text(item, "call_id");
            if let Some(image) = pictures.get(call).copied() {
                natives.insert(call, Native { item, image });
            }
        }
    }
    natives
}

struct Native<'a> {
    item: &'a Value,
    image: &'a Attachment,
}

impl Native<'_> {
    /// The person has seen what they were warned of, or it would not have been done.
    fn output(&self, ask: &Ask, call: &str) -> Value {
        let (shown, _) = ask.shown(std::slice::from_ref(self.image));
        let url = shown.first().map(super::Picture::data_url);
        let mut output = json!({
            "type": "computer_call_output", "call_id": call,
            "output": { "type": "computer_screenshot", "image_url": url },
        });
        let checks = computer::checks(self.item);
        if !checks.is_empty() {
            output["acknowledged_safety_checks"] = checks.into();
        }
        output
    }
}

fn is_native(item: &Value) -> bool {
    text(item, "type") == "computer_call"
}

fn items(ask: &Ask, natives: &HashMap<&str, Native>, part: &Part) -> Vec<Value> {
    match part {
        Part::User { text, images } => user(ask, text, images),
        Part::Pictures { images } => {
            let is_told = |image: &Attachment| natives.values().any(|it| it.image == image);
            let images: Vec<Attachment> =
                images.iter().filter(|it| !is_told(it)).cloned().collect();
            if images.is_empty() { Vec::new() } else { user(ask, PICTURES, &images) }
        }
        Part::Assistant { text, calls, trace, .. } => {
            let kept = ask.own(trace.as_ref(), LANGUAGE).and_then(Value::as_array);
            let is_known = |item: &&Value| {
                !is_native(item) || natives.contains_key(super::text(item, "call_id"))
            };
            let mut items: Vec<Value> =
                kept.into_iter().flatten().filter(is_known).cloned().collect();
            let calls: Vec<_> =
                calls.iter().filter(|call| !natives.contains_key(call.id.as_str())).collect();
            let is_native = items.iter().any(is_native);
            if !text.is_empty() {
                let content = json!([{ "type": "output_text", "text": text }]);
                items.push(json!({ "type": "message", "role": "assistant", "content": content }));
            }
            items.extend(calls.iter().map(|call| {
                let (id, name) = (accepted(&call.id), accepted(&call.name));
                let args = super::object(&call.args).to_string();
                json!({ "type": "function_call", "call_id": id, "name": name, "arguments": args })
            }));
            // Thoughts alone are no answer.
            let is_empty = text.is_empty() && calls.is_empty() && !is_native;
            if is_empty { Vec::new() } else { items }
        }
        Part::Result { call, .. } if natives.contains_key(call.as_str()) => {
            natives.get(call.as_str()).map(|native| native.output(ask, call)).into_iter().collect()
        }
        Part::Result { call, output } => {
            let (id, output) = (accepted(call), marked_outcome(output));
            vec![json!({ "type": "function_call_output", "call_id": id, "output": output })]
        }
    }
}

fn user(ask: &Ask, text: &str, images: &[Attachment]) -> Vec<Value> {
    let (shown, missing) = ask.shown(images);
    let text = [vec![text.to_owned()], missing].concat().join("\n");
    let mut content = Vec::new();
    if !text.is_empty() || shown.is_empty() {
        content.push(json!({ "type": "input_text", "text": text }));
    }
    content.extend(
        shown.iter().map(|image| json!({ "type": "input_image", "image_url": image.data_url() })),
    );
    vec![json!({ "role": "user", "content": content })]
}

#[derive(Default)]
pub struct Decoder {
    calls: Vec<Calling>,
    thoughts: Vec<Value>,
    usage: Option<Usage>,
    /// Anything was thought aloud.
    reasoned: bool,
    refusal: String,
    filtered: bool,
    done: bool,
}

/// A call whose arguments are still coming.
struct Calling {
    place: Option<u64>,
    /// The names of the item and of the call. Not every server gives both.
    names: [String; 2],
    name: String,
    args: String,
    told: bool,
}

impl Decode for Decoder {
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<Vec<Piece>, ModelError> {
        if data.trim() == "[DONE]" {
            return Ok(Vec::new());
        }
        let event = parse(data)?;
        let kind = match text(&event, "type") {
            "" => name.unwrap_or_default(),
            kind => kind,
        };
        let delta = text(&event, "delta");
        match kind {
            "response.output_text.delta" if !delta.is_empty() => {
                Ok(vec![Piece::Text(delta.to_owned())])
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta"
                if !delta.is_empty() =>
            {
                self.reasoned = true;
                Ok(vec![Piece::Reasoning(delta.to_owned())])
            }
            // Each part is a paragraph of its own.
            "response.reasoning_summary_part.added" if self.reasoned => {
                Ok(vec![Piece::Reasoning("\n\n".into())])
            }
            "response.refusal.delta" => {
                self.refusal.push_str(delta);
                Ok(Vec::new())
            }
            "response.output_item.added" => Ok(self.item_added(&event)),
            "response.function_call_arguments.delta" => Ok(self.more(&event, delta)),
            "response.output_item.done" => {
                let item = event.get("item").unwrap_or(&Value::Null);
                Ok(self.item_done(item, event.get("output_index").and_then(Value::as_u64)))
            }
            "response.completed" | "response.incomplete" => {
                Ok(self.end(event.get("response").unwrap_or(&Value::Null)))
            }
            "response.failed" => {
                let error = event.pointer("/response/error").unwrap_or(&event);
                Err(fault::from_error(None, error))
            }
            "error" => {
                let nested = event.get("error").filter(|error| error.is_object());
                Err(fault::from_error(None, nested.unwrap_or(&event)))
            }
            "" => match event.get("error") {
                Some(error) => Err(fault::from_error(None, error)),
                None => Err(fault::garbage("an event without a type", data)),
            },
            _ => Ok(Vec::new()),
        }
    }

    fn finish(&mut self) -> Result<Vec<Piece>, ModelError> {
        if !self.refusal.is_empty() {
            return Err(fault::refused(&self.refusal));
        }
        if self.filtered {
            return Err(fault::refused("its filter stopped the answer"));
        }
        if !self.done {
            return Err(fault::ended_early());
        }
        let mut pieces = Vec::new();
        if !self.thoughts.is_empty() {
            let thoughts = std::mem::take(&mut self.thoughts);
            pieces.push(Piece::Trace(json!({ LANGUAGE: thoughts })));
        }
        pieces.extend(self.usage.map(Piece::Usage));
        Ok(pieces)
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

impl Decoder {
    fn item_added(&mut self, event: &Value) -> Vec<Piece> {
        let item = event.get("item").unwrap_or(&Value::Null);
        if text(item, "type") != "function_call" {
            return Vec::new();
        }
        let (name, args) = (text(item, "name").to_owned(), text(item, "arguments").to_owned());
        let place = event.get("output_index").and_then(Value::as_u64);
        let index = self.calls.len();
        let (names, told) = (names(item), false);
        self.calls.push(Calling { place, names, name: name.clone(), args: args.clone(), told });
        vec![Piece::Calling { index, name, args }]
    }

    fn more(&mut self, event: &Value, delta: &str) -> Vec<Piece> {
        let place = event.get("output_index").and_then(Value::as_u64);
        let Some(index) = self.find(place, &[text(event, "item_id")]) else { return Vec::new() };
        let call = &mut self.calls[index];
        call.args.push_str(delta);
        vec![Piece::Calling { index, name: call.name.clone(), args: delta.to_owned() }]
    }

    /// A call by its place in the answer or, where that is not told, by any of its names.
    fn find(&self, place: Option<u64>, names: &[&str]) -> Option<usize> {
        self.calls.iter().position(|call| match (place, call.place) {
            (Some(place), Some(known)) => place == known,
            _ => call.names.iter().any(|it| !it.is_empty() && names.contains(&it.as_str())),
        })
    }

    fn item_done(&mut self, item: &Value, place: Option<u64>) -> Vec<Piece> {
        match text(item, "type") {
            "function_call" => {
                let known = self.find(place, &[text(item, "id"), text(item, "call_id")]);
                let name = text(item, "name").to_owned();
                let streamed = known.map(|at| self.calls[at].args.clone()).unwrap_or_default();
                let args = match text(item, "arguments") {
                    "" => streamed,
                    whole => whole.to_owned(),
                };
                match known {
                    Some(at) => self.calls[at].told = true,
                    None => self.calls.push(Calling {
                        place,
                        names: names(item),
                        name: name.clone(),
                        args: String::new(),
                        told: true,
                    }),
                }
                let id = one_of_a_kind(text(item, "call_id"));
                vec![Piece::Call { id, name, args: arguments(&args) }]
            }
            "computer_call" => self.native(item),
            "reasoning" => {
                // Without its name, which only means something where things are kept.
                if let Some(sealed) = item.get("encrypted_content").filter(|it| it.is_string()) {
                    let summary = item.get("summary").cloned().unwrap_or_else(|| json!([]));
                    self.thoughts.push(json!({
                        "type": "reasoning", "summary": summary, "encrypted_content": sealed,
                    }));
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Kept as it is as well, for only so is it understood again.
    fn native(&mut self, item: &Value) -> Vec<Piece> {
        let id = one_of_a_kind(text(item, "call_id"));
        let mut kept = item.clone();
        if let Some(kept) = kept.as_object_mut() {
            kept.remove("status");
        }
        self.thoughts.push(kept);
        vec![Piece::Call { id, name: computer::NAME.to_owned(), args: computer::arguments(item) }]
    }

    fn end(&mut self, response: &Value) -> Vec<Piece> {
        self.done = true;
        let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        self.filtered |= reason == Some("content_filter");
        self.usage = response.get("usage").filter(|usage| usage.is_object()).map(count);
        // Some servers tell of calls only here.
        let output = response.get("output").and_then(Value::as_array);
        let mut pieces = Vec::new();
        for (place, item) in (0..).zip(output.into_iter().flatten()) {
            let known = self.find(Some(place), &[text(item, "id"), text(item, "call_id")]);
            let is_told = known.is_some_and(|at| self.calls[at].told);
            if text(item, "type") == "function_call" && !is_told {
                pieces.extend(self.item_done(item, Some(place)));
            }
        }
        pieces
    }
}

fn names(item: &Value) -> [String; 2] {
    [text(item, "id").to_owned(), text(item, "call_id").to_owned()]
}

fn count(usage: &Value) -> Usage {
    Usage {
        input_tokens: number(usage, "/input_tokens"),
        output_tokens: number(usage, "/output_tokens"),
        cache_read_tokens: number(usage, "/input_tokens_details/cached_tokens"),
        cache_write_tokens: number(usage, "/input_tokens_details/cache_write_tokens"),
        reasoning_tokens: number(usage, "/output_tokens_details/reasoning_tokens"),
        cost: usage.get("cost").and_then(Value::as_f64),
    }
}

#[cfg(test)]
mod tests;
