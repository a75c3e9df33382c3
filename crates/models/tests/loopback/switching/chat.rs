//! Chat Completions as the strictest of those who offer them take them.

use models::Kind;
use serde_json::{Value, json};

use super::vendor::{
    Given, Speech, all_there, ensure, list, paired, plain, required, with_word, without_last, word,
};

pub const SPEECH: Speech = Speech {
    name: "chat",
    kind: Kind::OpenaiChat,
    model: "deep",
    check,
    after_tools: |body| {
        list(body, "messages").last().is_some_and(|message| word(message, "role") == "tool")
    },
    stream,
    spoil,
};

/// As many characters as `OpenAI` takes in the id of a call.
const LONGEST: usize = 40;

fn check(body: &Value, given: &[Given]) -> Result<(), String> {
    let messages = list(body, "messages");
    let mut found = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let calls = list(message, "tool_calls");
        let results: Vec<&str> = messages[at + 1..]
            .iter()
            .take_while(|next| word(next, "role") == "tool")
            .map(|next| word(next, "tool_call_id"))
            .collect();
        match word(message, "role") {
            "system" => ensure(at == 0, || "the system speaks first".into())?,
            "user" => says(message)?,
            "tool" => {
                required(message, "content")?;
                let before = at.checked_sub(1).map_or("", |at| word(&messages[at], "role"));
                ensure(matches!(before, "assistant" | "tool"), || "a result without call".into())?;
                continue;
            }
            "assistant" => {
                ensure(!calls.is_empty() || message["content"].is_string(), || {
                    "neither words nor calls".into()
                })?;
                found.extend(own(message, given)?);
            }
            role => return Err(format!("who is {role}?")),
        }
        for call in calls {
            plain(required(call, "id")?, LONGEST)?;
            arguments(call)?;
        }
        let ids: Vec<&str> = calls.iter().map(|call| word(call, "id")).collect();
        paired(&ids, &results)?;
    }
    let last = messages.last().map(|message| word(message, "role"));
    ensure(matches!(last, Some("user" | "tool")), || format!("it ends with {last:?}"))?;
    all_there(&found, given)
}

fn says(message: &Value) -> Result<(), String> {
    let is_one = |part: &Value| match word(part, "type") {
        "text" => part["text"].is_string(),
        "image_url" => part["image_url"]["url"].is_string(),
        _ => false,
    };
    let content = &message["content"];
    let parts = content.as_array().is_some_and(|parts| parts.iter().all(is_one));
    ensure(content.is_string() || parts, || format!("content of {message}"))
}

fn arguments(call: &Value) -> Result<Value, String> {
    let text = required(&call["function"], "arguments")?;
    let args: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    ensure(args.is_object(), || format!("arguments of {call}"))?;
    Ok(args)
}

/// The answer of ours that a message is. What was thought before calls comes back with them.
fn own<'g>(message: &Value, given: &'g [Given]) -> Result<Option<&'g Given>, String> {
    let calls = list(message, "tool_calls").iter().map(arguments);
    let args = calls.collect::<Result<Vec<_>, _>>()?;
    let own = given.iter().find(|given| given.is(word(message, "content"), &args));
    let expected = own.filter(|own| !own.calls.is_empty()).map(|own| own.thought.as_str());
    let thought = message["reasoning_content"].as_str();
    ensure(thought == expected, || format!("thought {thought:?} rather than {expected:?}"))?;
    Ok(own)
}

fn stream(given: &Given) -> String {
    let delta = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta }] });
    let mut events = vec![
        delta(json!({ "role": "assistant", "reasoning_content": given.thought })),
        delta(json!({ "content": given.text })),
    ];
    for (index, call) in given.calls.iter().enumerate() {
        // As long as vLLM makes them.
        let id = format!("chatcmpl-tool-{:0>32}", format!("{}-{index}", given.text));
        let args = call.args.to_string();
        let (begin, end) = args.split_at(args.len() / 2);
        let function = json!({ "name": call.name, "arguments": begin });
        let first = json!({ "index": index, "id": id, "type": "function", "function": function });
        let rest = json!({ "index": index, "function": { "arguments": end } });
        events.extend([first, rest].map(|call| delta(json!({ "tool_calls": [call] }))));
    }
    let reason = if given.calls.is_empty() { "stop" } else { "tool_calls" };
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 2 });
    events.push(json!({
        "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }], "usage": usage,
    }));
    let events: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    format!("{}data: [DONE]\n\n", events.concat())
}

fn spoil(body: &Value) -> Vec<Value> {
    let of = |role: &'static str| move |message: &Value| word(message, "role") == role;
    let calls = |message: &Value| !list(message, "tool_calls").is_empty();
    vec![
        without_last(body, "messages", of("tool")),
        without_last(body, "messages", calls),
        with_word(body, "thought-chat-0", "thought-chat-7"),
        with_word(body, "reasoning_content", "reasoning"),
        with_word(body, "\"tool_call_id\":\"", "\"tool_call_id\":\"x"),
    ]
}
