//! Anthropic's Messages.

use kernel::{
    ports::{ModelError, Piece},
    prompt::Part,
    update::Usage,
};
use serde_json::{Map, Value, json};

use super::{Ask, Decode, accepted, arguments, number, outcome, parse, text};
use crate::{config::Effort, fault};

const LANGUAGE: &str = "anthropic";
/// What they allow at most, and what is cached of a conversation: two turns, so that the one
/// before still finds what was written.
const CACHED_TURNS: usize = 2;

pub fn request(ask: Ask) -> Value {
    let most = ask.max_tokens.unwrap_or_else(|| usual_most(ask.model));
    let mut body = json!({
        "model": ask.model,
        "max_tokens": most,
        "messages": messages(&ask),
        "stream": true,
    });
    if !ask.prompt.system.trim().is_empty() {
        let system = json!({ "type": "text", "text": ask.prompt.system });
        body["system"] = json!([cached(system)]);
    }
    let tool = |tool: &kernel::toolbox::ToolSpec| {
        let (name, about) = (&tool.name, &tool.description);
        json!({ "name": name, "description": about, "input_schema": tool.schema })
    };
    let mut tools: Vec<Value> = ask.prompt.tools.iter().map(tool).collect();
    if let Some(last) = tools.pop() {
        tools.push(cached(last));
        body["tools"] = tools.into();
    }
    if let Some(effort) = ask.effort {
        think(&mut body, ask.model, effort, most);
    }
    body
}

fn cached(mut block: Value) -> Value {
    block["cache_control"] = json!({ "type": "ephemeral" });
    block
}

fn usual_most(model: &str) -> u64 {
    match model {
        model if model.starts_with("claude-3-5") => 8_192,
        model if model.starts_with("claude-3-7") => 16_000,
        model if model.starts_with("claude-3") => 4_096,
        _ => 16_000,
    }
}

/// Newer models decide themselves how long to think; older ones want a number of tokens.
fn think(body: &mut Value, model: &str, effort: Effort, most: u64) {
    const OLDER: &[&str] =
        &["claude-3", "claude-opus-4-2", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-5"];
    const OLDER_STILL: &[&str] =
        &["claude-sonnet-4-2", "claude-sonnet-4-0", "claude-sonnet-4-5", "claude-haiku-4"];
    let is_older = OLDER.iter().chain(OLDER_STILL).any(|name| model.starts_with(name));
    if !is_older {
        let effort = effort.max(Effort::Low).name();
        body["thinking"] = json!({ "type": "adaptive", "display": "summarized" });
        body["output_config"] = json!({ "effort": effort });
        return;
    }
    let budget: u64 = match effort {
        Effort::Minimal | Effort::Low => 2_048,
        Effort::Medium => 8_192,
        Effort::High | Effort::XHigh | Effort::Max => 24_000,
    };
    // They count as part of the answer, which must have room for more.
    let budget = budget.min(most / 2).max(1024);
    if budget < most {
        body["thinking"] = json!({ "type": "enabled", "budget_tokens": budget });
    }
}

/// Turns that alternate, as they must.
fn messages(ask: &Ask) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for part in &ask.prompt.parts {
        let (role, blocks) = blocks(ask, part);
        match turns.last_mut() {
            _ if blocks.is_empty() => (),
            Some((last, all)) if *last == role => all.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    let users = turns.iter_mut().rev().filter(|(role, _)| *role == "user");
    for (_, blocks) in users.take(CACHED_TURNS) {
        if let Some(last) = blocks.pop() {
            blocks.push(cached(last));
        }
    }
    turns.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

fn blocks(ask: &Ask, part: &Part) -> (&'static str, Vec<Value>) {
    match part {
        Part::User { text, images } => {
            let (shown, missing) = ask.shown(images);
            let image = |image: &super::Picture| {
                let source = json!({
                    "type": "base64", "media_type": image.mime, "data": image.base64,
                });
                json!({ "type": "image", "source": source })
            };
            let mut blocks: Vec<Value> = shown.iter().map(image).collect();
            let text = [vec![text.clone()], missing].concat().join("\n");
            if !text.trim().is_empty() {
                blocks.push(json!({ "type": "text", "text": text }));
            } else if blocks.is_empty() {
                blocks.push(json!({ "type": "text", "text": "(empty message)" }));
            }
            ("user", blocks)
        }
        Part::Assistant { text, calls, trace, .. } => {
            let thoughts = ask.own(trace.as_ref(), LANGUAGE).and_then(Value::as_array);
            let mut blocks = thoughts.cloned().unwrap_or_default();
            if !text.trim().is_empty() {
                blocks.push(json!({ "type": "text", "text": text }));
            }
            blocks.extend(calls.iter().map(|call| {
                let (id, name) = (accepted(&call.id), accepted(&call.name));
                let input = super::object(&call.args);
                json!({ "type": "tool_use", "id": id, "name": name, "input": input })
            }));
            // Thoughts alone are no answer.
            let is_empty = text.trim().is_empty() && calls.is_empty();
            ("assistant", if is_empty { Vec::new() } else { blocks })
        }
        Part::Result { call, output } => {
            let (content, failed) = outcome(output);
            let id = accepted(call);
            let mut block = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
            if failed {
                block["is_error"] = true.into();
            }
            ("user", vec![block])
        }
    }
}

#[derive(Default)]
pub struct Decoder {
    block: Option<Block>,
    /// How many calls there were.
    calls: usize,
    thoughts: Vec<Value>,
    usage: Map<String, Value>,
    refused: bool,
    done: bool,
}

/// The part of the answer that is being written.
enum Block {
    Text,
    Thinking { text: String, signature: String },
    Redacted(Value),
    Call { id: String, name: String, args: String },
    Other,
}

impl Decode for Decoder {
    fn event(&mut self, _: Option<&str>, data: &str) -> Result<Vec<Piece>, ModelError> {
        let event = parse(data)?;
        match text(&event, "type") {
            "error" => Err(fault::from_error(None, event.get("error").unwrap_or(&event))),
            "message_start" => {
                self.count(event.pointer("/message/usage"));
                Ok(Vec::new())
            }
            "content_block_start" => {
                let pieces = self.end_block();
                let started = event.get("content_block").map(|block| self.start(block));
                Ok(pieces.into_iter().chain(started.into_iter().flatten()).collect())
            }
            "content_block_delta" => {
                Ok(event.get("delta").and_then(|delta| self.delta(delta)).into_iter().collect())
            }
            "content_block_stop" => Ok(self.end_block()),
            "message_delta" => {
                self.count(event.get("usage"));
                self.refused |= event.pointer("/delta/stop_reason") == Some(&json!("refusal"));
                Ok(Vec::new())
            }
            "message_stop" => {
                self.done = true;
                Ok(self.end_block())
            }
            // They promise to add more kinds; `ping` is one of those that say nothing.
            "" => Err(fault::garbage("an event without a type", data)),
            _ => Ok(Vec::new()),
        }
    }

    fn finish(&mut self) -> Result<Vec<Piece>, ModelError> {
        if self.refused {
            return Err(fault::refused("the model declined to go on"));
        }
        if !self.done {
            return Err(fault::ended_early());
        }
        let mut pieces = Vec::new();
        if !self.thoughts.is_empty() {
            let thoughts = std::mem::take(&mut self.thoughts);
            pieces.push(Piece::Trace(json!({ LANGUAGE: thoughts })));
        }
        if !self.usage.is_empty() {
            pieces.push(Piece::Usage(total(&Value::Object(std::mem::take(&mut self.usage)))));
        }
        Ok(pieces)
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

impl Decoder {
    /// Later counts replace earlier ones.
    fn count(&mut self, usage: Option<&Value>) {
        let counts = usage.and_then(Value::as_object).into_iter().flatten();
        let counts = counts.filter(|(_, count)| !count.is_null());
        self.usage.extend(counts.map(|(name, count)| (name.clone(), count.clone())));
    }

    fn start(&mut self, block: &Value) -> Vec<Piece> {
        let (block, piece) = match text(block, "type") {
            "text" => (Block::Text, Piece::Text(text(block, "text").to_owned())),
            "thinking" => {
                let thought = text(block, "thinking").to_owned();
                let signature = text(block, "signature").to_owned();
                (Block::Thinking { text: thought.clone(), signature }, Piece::Reasoning(thought))
            }
            "redacted_thinking" => {
                self.block = Some(Block::Redacted(block.clone()));
                return Vec::new();
            }
            "tool_use" => {
                let (id, name) = (text(block, "id").to_owned(), text(block, "name").to_owned());
                let whole = block.get("input").filter(|input| **input != json!({}));
                let args = whole.map(Value::to_string).unwrap_or_default();
                let piece =
                    Piece::Calling { index: self.calls, name: name.clone(), args: args.clone() };
                (Block::Call { id, name, args }, piece)
            }
            _ => {
                self.block = Some(Block::Other);
                return Vec::new();
            }
        };
        self.block = Some(block);
        match piece {
            Piece::Text(text) | Piece::Reasoning(text) if text.is_empty() => Vec::new(),
            piece => vec![piece],
        }
    }

    fn delta(&mut self, delta: &Value) -> Option<Piece> {
        match (text(delta, "type"), &mut self.block) {
            ("text_delta", _) => {
                let said = text(delta, "text");
                (!said.is_empty()).then(|| Piece::Text(said.to_owned()))
            }
            ("thinking_delta", Some(Block::Thinking { text: all, .. })) => {
                let thought = text(delta, "thinking");
                all.push_str(thought);
                (!thought.is_empty()).then(|| Piece::Reasoning(thought.to_owned()))
            }
            ("signature_delta", Some(Block::Thinking { signature, .. })) => {
                signature.push_str(text(delta, "signature"));
                None
            }
            ("input_json_delta", Some(Block::Call { name, args, .. })) => {
                let more = text(delta, "partial_json");
                args.push_str(more);
                let (index, name, args) = (self.calls, name.clone(), more.to_owned());
                (!more.is_empty()).then_some(Piece::Calling { index, name, args })
            }
            _ => None,
        }
    }

    fn end_block(&mut self) -> Vec<Piece> {
        match self.block.take() {
            Some(Block::Call { id, name, args }) => {
                self.calls += 1;
                let id = super::one_of_a_kind(&id);
                return vec![Piece::Call { id, name, args: arguments(&args) }];
            }
            // Unsigned, it would not be accepted again.
            Some(Block::Thinking { text, signature }) if !signature.is_empty() => {
                let thought =
                    json!({ "type": "thinking", "thinking": text, "signature": signature });
                self.thoughts.push(thought);
            }
            Some(Block::Redacted(block)) => self.thoughts.push(block),
            Some(Block::Thinking { .. } | Block::Text | Block::Other) | None => (),
        }
        Vec::new()
    }
}

/// They count what is cached apart from the rest.
fn total(usage: &Value) -> Usage {
    let read = number(usage, "/cache_read_input_tokens");
    let written = number(usage, "/cache_creation_input_tokens");
    Usage {
        input_tokens: number(usage, "/input_tokens").saturating_add(read).saturating_add(written),
        output_tokens: number(usage, "/output_tokens"),
        cache_read_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: number(usage, "/output_tokens_details/thinking_tokens"),
        cost: None,
    }
}

#[cfg(test)]
mod tests;
