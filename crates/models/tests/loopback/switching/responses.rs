//! Responses as `OpenAI` takes them, when it keeps nothing.

use models::Kind;
use serde_json::{Value, json};

use super::vendor::{
    Given, Speech, all_there, ensure, list, paired, plain, required, with_word, without_last, word,
};

pub const SPEECH: Speech = Speech {
    name: "responses",
    kind: Kind::OpenaiResponses,
    model: "gpt-5",
    check,
    after_tools: |body| {
        let last = list(body, "input").last();
        last.is_some_and(|item| word(item, "type") == "function_call_output")
    },
    stream,
    spoil,
};

fn check(body: &Value, given: &[Given]) -> Result<(), String> {
    let input = list(body, "input");
    let (mut calls, mut results): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for (at, item) in input.iter().enumerate() {
        match (word(item, "type"), word(item, "role")) {
            ("function_call", _) => {
                let args = serde_json::from_str::<Value>(required(item, "arguments")?);
                ensure(args.is_ok_and(|args| args.is_object()), || format!("arguments of {item}"))?;
                plain(required(item, "call_id")?, 64)?;
                calls.push(word(item, "call_id"));
            }
            ("function_call_output", _) => {
                let id = required(item, "call_id")?;
                ensure(calls.contains(&id), || format!("no call before the result of {id}"))?;
                required(item, "output")?;
                results.push(id);
            }
            ("reasoning", _) => followed(input, at)?,
            ("message", "assistant") => says(item, &["output_text"])?,
            ("", "user") => says(item, &["input_text", "input_image"])?,
            _ => return Err(format!("what is {item}?")),
        }
    }
    paired(&calls, &results)?;
    ensure(body["store"] == json!(false), || "nothing is to be kept".into())?;
    let include = list(body, "include");
    ensure(include.contains(&json!("reasoning.encrypted_content")), || "sealed thoughts".into())?;
    all_there(&own(input, given)?, given)
}

fn says(item: &Value, kinds: &[&str]) -> Result<(), String> {
    let content = list(item, "content");
    let is_one = |part: &Value| kinds.contains(&word(part, "type"));
    ensure(!content.is_empty() && content.iter().all(is_one), || format!("content of {item}"))
}

/// A thought without what was thought of is refused.
fn followed(input: &[Value], at: usize) -> Result<(), String> {
    let next = input.get(at + 1).map(|next| (word(next, "type"), word(next, "role")));
    let is_own = matches!(next, Some(("function_call", _) | ("message", "assistant")));
    ensure(is_own, || format!("a thought is followed by {next:?}"))
}

/// Our answers in order, each with its thought before it and its calls behind it.
fn own<'g>(input: &[Value], given: &'g [Given]) -> Result<Vec<&'g Given>, String> {
    let mut found = Vec::new();
    let mut thoughts = 0;
    for (at, item) in input.iter().enumerate() {
        thoughts += usize::from(word(item, "type") == "reasoning");
        let text = item["content"][0]["text"].as_str().unwrap_or_default();
        let Some(own) = given.iter().find(|given| given.text == text) else { continue };
        let sealed = json!({
            "type": "reasoning",
            "summary": [{ "type": "summary_text", "text": own.thought }],
            "encrypted_content": own.signature,
        });
        let before = at.checked_sub(1).map(|before| &input[before]);
        ensure(before == Some(&sealed), || format!("our thought was changed: {before:?}"))?;
        let is_call = |item: &&Value| word(item, "type") == "function_call";
        let calls = input[at + 1..].iter().take_while(is_call);
        let args = calls.map(|call| serde_json::from_str(word(call, "arguments")).unwrap());
        ensure(own.is(text, &args.collect::<Vec<_>>()), || format!("{text} called other tools"))?;
        found.push(own);
    }
    ensure(thoughts == found.len(), || "a thought that is not ours".into())?;
    Ok(found)
}

fn stream(given: &Given) -> String {
    let summary = json!([{ "type": "summary_text", "text": given.thought }]);
    let mut items = vec![
        json!({
            "type": "reasoning", "id": "rs_1", "summary": summary,
            "encrypted_content": given.signature,
        }),
        json!({
            "type": "message", "id": "msg_1", "role": "assistant",
            "content": [{ "type": "output_text", "text": given.text }],
        }),
    ];
    for (at, call) in given.calls.iter().enumerate() {
        items.push(json!({
            "type": "function_call", "id": format!("fc_{at}"), "name": call.name,
            "call_id": format!("call_00000000{}_{at}", given.text),
            "arguments": call.args.to_string(),
        }));
    }
    let mut events = Vec::new();
    for (at, item) in items.iter().enumerate() {
        events.push(json!({
            "type": "response.output_item.added", "output_index": at, "item": begun(item),
        }));
        events.push(delta(item, at, given));
        events.push(json!({
            "type": "response.output_item.done", "output_index": at, "item": item,
        }));
    }
    let usage = json!({ "input_tokens": 10, "output_tokens": 2 });
    let response = json!({ "status": "completed", "output": items, "usage": usage });
    events.push(json!({ "type": "response.completed", "response": response }));
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", word(event, "type"));
    events.iter().map(event).collect()
}

/// An item before anything of it was said.
fn begun(item: &Value) -> Value {
    let mut item = item.clone();
    let empty = [("arguments", json!("")), ("content", json!([])), ("summary", json!([]))];
    for (field, empty) in empty {
        if item.get(field).is_some() {
            item[field] = empty;
        }
    }
    item
}

fn delta(item: &Value, at: usize, given: &Given) -> Value {
    let (kind, delta) = match word(item, "type") {
        "reasoning" => ("response.reasoning_summary_text.delta", given.thought.as_str()),
        "message" => ("response.output_text.delta", given.text.as_str()),
        _ => ("response.function_call_arguments.delta", word(item, "arguments")),
    };
    json!({ "type": kind, "output_index": at, "item_id": item["id"], "delta": delta })
}

fn spoil(body: &Value) -> Vec<Value> {
    let of = |kind: &'static str| move |item: &Value| word(item, "type") == kind;
    vec![
        without_last(body, "input", of("function_call_output")),
        without_last(body, "input", of("function_call")),
        without_last(body, "input", of("reasoning")),
        without_last(body, "input", of("message")),
        with_word(body, "\"sig-responses-0\"", "\"sig-responses-7\""),
    ]
}
