//! Contents as Google's third generation takes them.

use models::Kind;
use serde_json::{Value, json};

use super::vendor::{
    Given, Speech, all_there, ensure, list, paired, plain, required, with_word, without_last, word,
};

pub const SPEECH: Speech = Speech {
    name: "gemini",
    kind: Kind::Gemini,
    model: "gemini-3-pro",
    check,
    after_tools: |body| {
        list(body, "contents").last().is_some_and(|it| !parts(it, "functionResponse").is_empty())
    },
    stream,
    spoil,
};

/// What Google takes for the signature of somebody else's call.
const ANYBODY: &str = "skip_thought_signature_validator";

fn parts<'v>(content: &'v Value, kind: &str) -> Vec<&'v Value> {
    list(content, "parts").iter().filter_map(|part| part.get(kind)).collect()
}

fn ids<'v>(parts: &[&'v Value]) -> Vec<&'v str> {
    parts.iter().map(|part| word(part, "id")).collect()
}

fn check(body: &Value, given: &[Given]) -> Result<(), String> {
    let contents = list(body, "contents");
    let (mut found, mut open): (_, Vec<&Value>) = (Vec::new(), Vec::new());
    for (at, content) in contents.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "model" };
        ensure(word(content, "role") == role, || format!("content {at} is not of the {role}"))?;
        ensure(!list(content, "parts").is_empty(), || format!("content {at} is empty"))?;
        let (calls, results) = (parts(content, "functionCall"), parts(content, "functionResponse"));
        if role == "user" {
            ensure(calls.is_empty(), || "a user who calls".into())?;
            paired(&ids(&open), &ids(&results))?;
            named(&open, &results)?;
            open.clear();
            continue;
        }
        ensure(results.is_empty(), || "a model that returns".into())?;
        for call in &calls {
            plain(required(call, "id")?, 64)?;
            ensure(call["args"].is_object(), || "args is no object".into())?;
        }
        found.extend(own(content, given)?);
        open = calls;
    }
    ensure(open.is_empty() && contents.len() % 2 == 1, || "it does not end with the user".into())?;
    all_there(&found, given)
}

/// Each result bears the name of what was called, and is an object.
fn named(calls: &[&Value], results: &[&Value]) -> Result<(), String> {
    for result in results {
        let call = calls.iter().find(|call| call["id"] == result["id"]);
        let is_same = call.is_some_and(|call| call["name"] == result["name"]);
        ensure(is_same && result["response"].is_object(), || format!("what returned {result}?"))?;
    }
    Ok(())
}

/// The answer of ours that a content is, with its signatures where they were. Of others, the first
/// call says that it has none.
fn own<'g>(content: &Value, given: &'g [Given]) -> Result<Option<&'g Given>, String> {
    let text: String =
        parts(content, "text").iter().map(|text| text.as_str().unwrap_or_default()).collect();
    let args: Vec<Value> =
        parts(content, "functionCall").iter().map(|call| call["args"].clone()).collect();
    let own = given.iter().find(|given| given.is(&text, &args));
    let signatures: Vec<Option<&str>> =
        list(content, "parts").iter().map(|part| part["thoughtSignature"].as_str()).collect();
    let mut expected = vec![None; signatures.len()];
    // Behind the text comes the first call, if there are any.
    let signed = expected.get_mut(usize::from(!args.is_empty()));
    let signature = own.map(|own| own.signature.as_str());
    let signature = signature.or((!args.is_empty()).then_some(ANYBODY));
    *signed.ok_or("too few parts")? = signature;
    ensure(signatures == expected, || format!("signed {signatures:?}, not {expected:?}"))?;
    Ok(own)
}

fn stream(given: &Given) -> String {
    let mut text = json!({ "text": given.text });
    if given.calls.is_empty() {
        text["thoughtSignature"] = given.signature.as_str().into();
    }
    let mut parts = vec![json!({ "text": given.thought, "thought": true }), text];
    for (at, call) in given.calls.iter().enumerate() {
        let mut part = json!({ "functionCall": { "name": call.name, "args": call.args } });
        if at == 0 {
            part["thoughtSignature"] = given.signature.as_str().into();
        }
        parts.push(part);
    }
    let chunk =
        |part| json!({ "candidates": [{ "content": { "role": "model", "parts": [part] } }] });
    let mut chunks: Vec<Value> = parts.into_iter().map(chunk).collect();
    let usage = json!({ "promptTokenCount": 10, "candidatesTokenCount": 2 });
    chunks.push(json!({ "candidates": [{ "finishReason": "STOP" }], "usageMetadata": usage }));
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect::<Vec<_>>().concat()
}

fn spoil(body: &Value) -> Vec<Value> {
    let returns = |content: &Value| !parts(content, "functionResponse").is_empty();
    let calls = |content: &Value| !parts(content, "functionCall").is_empty();
    vec![
        without_last(body, "contents", returns),
        without_last(body, "contents", calls),
        with_word(body, "sig-gemini-0", "sig-gemini-7"),
        with_word(body, ANYBODY, "sig-gemini-0"),
        with_word(body, "\"name\":\"fail\",\"response\"", "\"name\":\"other\",\"response\""),
    ]
}
