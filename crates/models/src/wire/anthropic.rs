//! Anthropic's Messages.

mod ask;

use kernel::{
    ports::{ModelError, Piece},
    update::Usage,
};
use serde_json::{Map, Value, json};

pub use self::ask::request;
use super::{Decode, arguments, number, parse, text};
use crate::fault;

const LANGUAGE: &str = "anthropic";

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
            "message_start" => Ok(self.count(event.pointer("/message/usage"))),
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
                self.refused |= event.pointer("/delta/stop_reason") == Some(&json!("refusal"));
                Ok(self.count(event.get("usage")))
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
        Ok(pieces)
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

impl Decoder {
    /// Later counts replace earlier ones, which are told as well: more may never come.
    fn count(&mut self, usage: Option<&Value>) -> Vec<Piece> {
        let counts = usage.and_then(Value::as_object).into_iter().flatten();
        let counts = counts.filter(|(_, count)| !count.is_null());
        self.usage.extend(counts.map(|(name, count)| (name.clone(), count.clone())));
        let told = usage.filter(|usage| usage.is_object());
        let told = told.map(|_| Piece::Usage(total(&Value::Object(self.usage.clone()))));
        told.into_iter().collect()
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
