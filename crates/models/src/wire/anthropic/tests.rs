use kernel::update::Failure;

use super::{
    super::testing::{call, calling, check, fails, named, prompt, said, sent, strange, thought},
    *,
};
use crate::config::{Effort, Kind::Anthropic};

fn start() -> Value {
    json!({ "type": "message_start", "message": { "id": "msg_1", "content": [], "usage": {
        "input_tokens": 5, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 100, "output_tokens": 1,
    } } })
}

fn block(index: u64, block: &Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": delta })
}

fn end(index: u64) -> Value {
    json!({ "type": "content_block_stop", "index": index })
}

fn stop(reason: &str) -> [Value; 2] {
    [
        json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 42 } }),
        json!({ "type": "message_stop" }),
    ]
}

/// What it says it has used at the start, and at the end.
fn used(output_tokens: u64) -> Piece {
    Piece::Usage(Usage {
        input_tokens: 135,
        output_tokens,
        cache_read_tokens: 100,
        cache_write_tokens: 30,
        ..Usage::default()
    })
}

fn greeting() -> Vec<Value> {
    vec![
        start(),
        json!({ "type": "ping" }),
        block(0, &json!({ "type": "text", "text": "" })),
        delta(0, &json!({ "type": "text_delta", "text": "Grüß " })),
        delta(0, &json!({ "type": "text_delta", "text": "Gott" })),
    ]
}

#[test]
fn an_answer_in_words_is_told_as_it_comes() {
    let heard = named(&[greeting(), vec![end(0)], stop("end_turn").to_vec()].concat());
    check(Anthropic, &heard, &[used(1), said("Grüß "), said("Gott"), used(42)]);
    let heard = named(&[greeting(), vec![end(0)], stop("max_tokens").to_vec()].concat());
    check(Anthropic, &heard, &[used(1), said("Grüß "), said("Gott"), used(42)]);
}

#[test]
fn thoughts_and_calls_at_once_are_told_and_thoughts_are_kept() {
    let (one, two) = ("toolu_01abcdefghijklmnop", "toolu_02abcdefghijklmnop");
    let redacted = json!({ "type": "redacted_thinking", "data": "c2VhbGVk" });
    let begun = [
        start(),
        block(0, &json!({ "type": "thinking", "thinking": "", "signature": "" })),
        delta(0, &json!({ "type": "thinking_delta", "thinking": "Let me " })),
        delta(0, &json!({ "type": "thinking_delta", "thinking": "see" })),
        delta(0, &json!({ "type": "signature_delta", "signature": "c2ln" })),
        end(0),
        block(1, &redacted),
        end(1),
        block(2, &json!({ "type": "tool_use", "id": one, "name": "read", "input": {} })),
        delta(2, &json!({ "type": "input_json_delta", "partial_json": "" })),
        delta(2, &json!({ "type": "input_json_delta", "partial_json": "{\"path\": \"a" })),
        delta(2, &json!({ "type": "input_json_delta", "partial_json": "\"}" })),
        end(2),
        block(3, &json!({ "type": "tool_use", "id": two, "name": "list", "input": {} })),
        end(3),
    ];
    let heard = named(&[begun.to_vec(), stop("tool_use").to_vec()].concat());
    let kept = json!({ "type": "thinking", "thinking": "Let me see", "signature": "c2ln" });
    let pieces = [
        used(1),
        thought("Let me "),
        thought("see"),
        calling(0, "read", ""),
        calling(0, "read", "{\"path\": \"a"),
        calling(0, "read", "\"}"),
        call(one, "read", json!({ "path": "a" })),
        calling(1, "list", ""),
        call(two, "list", json!({})),
        used(42),
        Piece::Trace(json!({ "anthropic": [kept, redacted] })),
    ];
    check(Anthropic, &heard, &pieces);
}

#[test]
fn failures_keep_what_was_heard_before() {
    let error =
        |kind: &str| json!({ "type": "error", "error": { "type": kind, "message": "because" } });
    let cases = [
        (vec![error("overloaded_error")], Failure::Overloaded, "because"),
        (vec![error("rate_limit_error")], Failure::RateLimited, "because"),
        (vec![error("api_error")], Failure::Overloaded, "because"),
        (stop("refusal").to_vec(), Failure::Refused, "declined"),
        (vec![], Failure::Network, "ended early"),
    ];
    for (rest, failure, message) in cases {
        let heard = named(&[greeting(), rest].concat());
        let mut pieces = vec![used(1), said("Grüß "), said("Gott")];
        // Who refuses has counted, too.
        pieces.extend((failure == Failure::Refused).then(|| used(42)));
        fails(Anthropic, &heard, &pieces, failure, message);
    }
}

#[test]
fn garbage_and_nothing_are_told_apart() {
    fails(Anthropic, "", &[], Failure::Network, "ended early");
    fails(Anthropic, "data: gibberish\n\n", &[], Failure::Protocol, "gibberish");
    fails(Anthropic, "data: {\"x\":1}\n\n", &[], Failure::Protocol, "without a type");
    fails(Anthropic, "It works!", &[], Failure::Protocol, "It works!");
    let torn = format!("{}event: message_stop\ndata: {{\"type\":", named(&[start()]));
    fails(Anthropic, &torn, &[used(1)], Failure::Network, "ended early");
}

#[test]
fn a_conversation_is_sent_with_everything_in_it() {
    let thoughts = json!([{ "type": "thinking", "thinking": "Hm.", "signature": "c2ln" }]);
    let prompt = prompt(json!({ "anthropic": thoughts }));
    let tool = &prompt.tools[0];
    let cache = json!({ "type": "ephemeral" });
    let expected = json!({
        "model": "best",
        "max_tokens": 16000,
        "system": [{ "type": "text", "text": "Be kind.", "cache_control": cache }],
        "messages": [
            { "role": "user", "content": [
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "bWVvdw==" } },
                { "type": "text", "text": "Look\n[picture not found: gone.png]" },
            ] },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "Hm.", "signature": "c2ln" },
                { "type": "text", "text": "I see." },
                { "type": "tool_use", "id": "toolu_1", "name": "read", "input": { "path": "a" } },
                { "type": "tool_use", "id": strange(), "name": "read", "input": { "invalid_arguments": "{\"pa" } },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "toolu_1", "content": "A" },
                { "type": "tool_result", "tool_use_id": strange(), "content": "bad arguments", "is_error": true, "cache_control": cache },
            ] },
            { "role": "assistant", "content": [
                { "type": "tool_use", "id": "call_3", "name": "read", "input": {} },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "call_3", "content": "(no output)" },
                { "type": "text", "text": "So?" },
                { "type": "text", "text": "Well?", "cache_control": cache },
            ] },
        ],
        "stream": true,
        "tools": [{ "name": "read", "description": "Reads.", "input_schema": tool.schema, "cache_control": cache }],
    });
    assert_eq!(sent(&prompt, request, |_| ()), expected);
}

#[test]
fn thoughts_of_another_model_are_not_shown() {
    let prompt = prompt(json!({ "anthropic": [{ "type": "thinking" }] }));
    let body = sent(&prompt, request, |ask| ask.known_as = ["house/other", "other"]);
    assert!(!body.to_string().contains("thinking"), "{body}");
}

#[test]
fn older_models_are_told_how_many_tokens_to_think() {
    let asked = |model: &'static str, effort: Effort| {
        let mut prompt = prompt(json!({ "anthropic": [] }));
        prompt.parts.truncate(4);
        let body = sent(&prompt, request, |ask| {
            ask.model = model;
            ask.effort = Some(effort);
        });
        (body["thinking"].clone(), body["output_config"].clone())
    };
    let adaptive = json!({ "type": "adaptive", "display": "summarized" });
    assert_eq!(asked("claude-opus-5-5", Effort::Minimal), (adaptive, json!({ "effort": "low" })));
    let counted = json!({ "type": "enabled", "budget_tokens": 8000 });
    assert_eq!(asked("claude-sonnet-4-5-20250929", Effort::High), (counted, Value::Null));
    let counted = json!({ "type": "enabled", "budget_tokens": 2048 });
    assert_eq!(asked("claude-opus-4-20250514", Effort::Low), (counted, Value::Null));
}

#[test]
fn an_older_model_does_not_think_about_the_call_of_another() {
    let body = sent(&prompt(json!({})), request, |ask| {
        ask.model = "claude-sonnet-4-5";
        ask.effort = Some(Effort::High);
    });
    assert_eq!(body["thinking"], Value::Null);
}

#[test]
fn calls_of_the_past_have_tools_behind_them() {
    let mut prompt = prompt(json!({}));
    prompt.tools.clear();
    let body = sent(&prompt, request, |_| ());
    assert_eq!(body["tools"], json!([{ "name": "read", "input_schema": { "type": "object" } }]));
    assert_eq!(body["tool_choice"], json!({ "type": "none" }));
    prompt.parts.truncate(1);
    assert_eq!(sent(&prompt, request, |_| ()).get("tools"), None);
}

#[test]
fn a_desktop_is_driven_by_the_tool_that_they_made_for_it() {
    let mut prompt = prompt(json!({}));
    let schema = json!({ "type": "object", "x-screen": { "width": 1568, "height": 882 } });
    let (name, description) = ("computer".to_owned(), "Drives.".to_owned());
    prompt.tools = vec![kernel::toolbox::ToolSpec { name, description, schema }];
    let tool = |model: &'static str| {
        let asked = |ask: &mut crate::wire::Ask| (ask.computer, ask.model) = (true, model);
        let mut tool = sent(&prompt, request, asked)["tools"][0].clone();
        tool.as_object_mut().unwrap().remove("cache_control");
        tool
    };
    let older = json!({
        "type": "computer_20250124", "name": "computer",
        "display_width_px": 1568, "display_height_px": 882,
    });
    assert_eq!(tool("claude-sonnet-4-5"), older);
    let newer = json!({
        "type": "computer_20251124", "name": "computer",
        "display_width_px": 1568, "display_height_px": 882, "enable_zoom": true,
    });
    assert_eq!(tool("claude-opus-4-5"), newer);
    assert_eq!(tool("claude-3-5-sonnet")["description"], "Drives.");
}
