//! What Anthropic is asked.

use std::collections::BTreeSet;

use kernel::{
    prompt::{PICTURES, Part},
    update::Attachment,
};
use serde_json::{Value, json};

use super::{
    super::{Ask, Picture, accepted, called, computer, object, outcome},
    LANGUAGE,
};
use crate::config::Effort;

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
        if let Some(own) = computer::for_anthropic(&ask, tool) {
            return own;
        }
        let (name, about) = (&tool.name, &tool.description);
        json!({ "name": name, "description": about, "input_schema": tool.schema })
    };
    let mut tools: Vec<Value> = ask.prompt.tools.iter().map(tool).collect();
    if let Some(last) = tools.pop() {
        tools.push(cached(last));
        body["tools"] = tools.into();
    } else if let Some(tools) = past_tools(&ask) {
        body["tools"] = tools;
        body["tool_choice"] = json!({ "type": "none" });
    }
    if let Some(effort) = ask.effort {
        think(&mut body, &ask, effort, most);
    }
    body
}

/// Calls of the past must have tools behind them, even where none is offered any more.
fn past_tools(ask: &Ask) -> Option<Value> {
    let names: BTreeSet<String> = called(ask.prompt).into_values().map(accepted).collect();
    let tool = |name| json!({ "name": name, "input_schema": { "type": "object" } });
    (!names.is_empty()).then(|| names.into_iter().map(tool).collect())
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
fn think(body: &mut Value, ask: &Ask, effort: Effort, most: u64) {
    const OLDER: &[&str] =
        &["claude-3", "claude-opus-4-2", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-5"];
    const OLDER_STILL: &[&str] =
        &["claude-sonnet-4-2", "claude-sonnet-4-0", "claude-sonnet-4-5", "claude-haiku-4"];
    let is_older = OLDER.iter().chain(OLDER_STILL).any(|name| ask.model.starts_with(name));
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
    if budget < most && !calls_without_thought(ask) {
        body["thinking"] = json!({ "type": "enabled", "budget_tokens": budget });
    }
}

/// Whether the last step is a call without the thoughts that led to it. Who is asked to think
/// aloud takes offence.
fn calls_without_thought(ask: &Ask) -> bool {
    let last = ask.prompt.parts.iter().rev().find_map(|part| match part {
        Part::Assistant { calls, trace, .. } => Some((calls, trace)),
        Part::User { .. } | Part::Result { .. } | Part::Pictures { .. } => None,
    });
    last.is_some_and(|(calls, trace)| {
        !calls.is_empty() && ask.own(trace.as_ref(), LANGUAGE).is_none()
    })
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
        Part::User { text, images } => user(ask, text, images),
        Part::Pictures { images } => user(ask, PICTURES, images),
        Part::Assistant { text, calls, trace, .. } => {
            let thoughts = ask.own(trace.as_ref(), LANGUAGE).and_then(Value::as_array);
            let mut blocks = thoughts.cloned().unwrap_or_default();
            if !text.trim().is_empty() {
                blocks.push(json!({ "type": "text", "text": text }));
            }
            blocks.extend(calls.iter().map(|call| {
                let (id, name) = (accepted(&call.id), accepted(&call.name));
                let input = object(&call.args);
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

fn user(ask: &Ask, text: &str, images: &[Attachment]) -> (&'static str, Vec<Value>) {
    let (shown, missing) = ask.shown(images);
    let image = |image: &Picture| {
        let source = json!({
            "type": "base64", "media_type": image.mime, "data": image.base64,
        });
        json!({ "type": "image", "source": source })
    };
    let mut blocks: Vec<Value> = shown.iter().map(image).collect();
    let text = [vec![text.to_owned()], missing].concat().join("\n");
    if !text.trim().is_empty() {
        blocks.push(json!({ "type": "text", "text": text }));
    } else if blocks.is_empty() {
        blocks.push(json!({ "type": "text", "text": "(empty message)" }));
    }
    ("user", blocks)
}
