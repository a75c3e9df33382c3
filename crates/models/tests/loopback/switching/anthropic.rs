//! Messages as Anthropic takes them.

use models::Kind;
use serde_json::{Value, json};

use super::vendor::{
    Given, Speech, all_there, ensure, list, paired, plain, required, with_word, without_last, word,
};

pub const SPEECH: Speech = Speech {
    name: "anthropic",
    kind: Kind::Anthropic,
    model: "claude-sonnet-4-5",
    check,
    after_tools: |body| list(body, "messages").last().is_some_and(|it| !results(it).is_empty()),
    stream,
    spoil,
};

fn blocks<'v>(message: &'v Value, kind: &str) -> Vec<&'v Value> {
    list(message, "content").iter().filter(|block| word(block, "type") == kind).collect()
}

fn results(message: &Value) -> Vec<&str> {
    blocks(message, "tool_result").iter().map(|it| word(it, "tool_use_id")).collect()
}

fn check(body: &Value, given: &[Given]) -> Result<(), String> {
    let messages = list(body, "messages");
    let mut found = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        ensure(word(message, "role") == role, || format!("message {at} is not of the {role}"))?;
        ensure(!list(message, "content").is_empty(), || format!("message {at} is empty"))?;
        for block in blocks(message, "text") {
            ensure(!word(block, "text").trim().is_empty(), || "an empty text".into())?;
        }
        if role == "user" {
            paired(&open, &results(message))?;
            let count = open.len();
            let first = list(message, "content").iter().take(count);
            ensure(first.into_iter().all(|it| word(it, "type") == "tool_result"), || {
                "results come before anything else".into()
            })?;
            open.clear();
            continue;
        }
        let calls = blocks(message, "tool_use");
        for call in &calls {
            plain(required(call, "id")?, 64)?;
            ensure(call["input"].is_object(), || "input is no object".into())?;
            let is_known = list(body, "tools").iter().any(|tool| tool["name"] == call["name"]);
            ensure(is_known, || format!("no tool behind {call}"))?;
        }
        open = calls.iter().map(|call| word(call, "id")).collect();
        found.extend(own(message, given)?);
    }
    ensure(open.is_empty() && messages.len() % 2 == 1, || "it does not end with the user".into())?;
    all_there(&found, given)?;
    think(body, messages)?;
    cached(body)
}

/// The answer of ours that a message is, with the thought that it began with.
fn own<'g>(message: &Value, given: &'g [Given]) -> Result<Option<&'g Given>, String> {
    let text: String = blocks(message, "text").iter().map(|it| word(it, "text")).collect();
    let args: Vec<Value> =
        blocks(message, "tool_use").iter().map(|it| it["input"].clone()).collect();
    let own = given.iter().find(|given| given.is(&text, &args));
    let thoughts = blocks(message, "thinking");
    let Some(own) = own else {
        return ensure(thoughts.is_empty(), || format!("not our thought: {message}"))
            .map(|()| None);
    };
    let thought = json!({
        "type": "thinking", "thinking": own.thought, "signature": own.signature,
    });
    ensure(thoughts == [&thought], || format!("our thought was changed: {thoughts:?}"))?;
    ensure(list(message, "content")[0] == thought, || "a thought comes first".into())?;
    Ok(Some(own))
}

/// Who thinks aloud must have thought before the calls whose results it gets.
fn think(body: &Value, messages: &[Value]) -> Result<(), String> {
    let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or(0);
    ensure(body["max_tokens"].as_u64() > Some(budget), || "no room to answer".into())?;
    let [.., said, last] = messages else { return Ok(()) };
    let is_asked = budget > 0 && !results(last).is_empty();
    let first = list(said, "content").first().map(|block| word(block, "type"));
    ensure(!is_asked || first == Some("thinking"), || format!("expected thinking, found {first:?}"))
}

fn cached(body: &Value) -> Result<(), String> {
    let count = body.to_string().matches("cache_control").count();
    ensure(count <= 4, || format!("{count} blocks are cached, 4 may be"))
}

fn stream(given: &Given) -> String {
    let mut blocks = vec![
        (
            json!({ "type": "thinking", "thinking": "", "signature": "" }),
            vec![
                json!({ "type": "thinking_delta", "thinking": given.thought }),
                json!({ "type": "signature_delta", "signature": given.signature }),
            ],
        ),
        (
            json!({ "type": "text", "text": "" }),
            vec![json!({ "type": "text_delta", "text": given.text })],
        ),
    ];
    for (at, call) in given.calls.iter().enumerate() {
        let id = format!("toolu_00000000{}_{at}", given.text);
        blocks.push((
            json!({ "type": "tool_use", "id": id, "name": call.name, "input": {} }),
            vec![json!({ "type": "input_json_delta", "partial_json": call.args.to_string() })],
        ));
    }
    let usage = json!({ "input_tokens": 10, "output_tokens": 2 });
    let mut events = vec![json!({ "type": "message_start", "message": { "usage": usage } })];
    for (index, (block, deltas)) in blocks.into_iter().enumerate() {
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        let delta =
            |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta });
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let reason = if given.calls.is_empty() { "end_turn" } else { "tool_use" };
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": reason } }));
    events.push(json!({ "type": "message_stop" }));
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", word(event, "type"));
    events.iter().map(event).collect()
}

fn spoil(body: &Value) -> Vec<Value> {
    let mut thoughtless = body.clone();
    for message in thoughtless["messages"].as_array_mut().unwrap() {
        let content = message["content"].as_array_mut().unwrap();
        content.retain(|block| word(block, "type") != "thinking");
    }
    vec![
        without_last(body, "messages", |message| !results(message).is_empty()),
        without_last(body, "messages", |message| word(message, "role") == "assistant"),
        with_word(body, "sig-anthropic-0", "sig-anthropic-7"),
        with_word(body, "\"tool_use_id\":\"toolu_", "\"tool_use_id\":\"tool_"),
        thoughtless,
    ]
}
