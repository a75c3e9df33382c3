use kernel::update::Failure;

use super::{
    super::testing::{call, calling, check, fails, prompt, said, sent, strange, stream, thought},
    *,
};
use crate::config::Kind::Gemini;

fn chunk(parts: &Value) -> String {
    json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "index": 0 }] })
        .to_string()
}

fn stop(reason: &str) -> String {
    json!({
        "candidates": [{ "content": { "role": "model", "parts": [{ "text": "" }] }, "finishReason": reason }],
        "usageMetadata": {
            "promptTokenCount": 30, "cachedContentTokenCount": 10, "candidatesTokenCount": 4,
            "thoughtsTokenCount": 6, "totalTokenCount": 40,
        },
    })
    .to_string()
}

fn events(data: &[String]) -> String {
    stream(&data.iter().map(String::as_str).collect::<Vec<_>>())
}

fn usage() -> Piece {
    Piece::Usage(Usage {
        input_tokens: 30,
        output_tokens: 10,
        cache_read_tokens: 10,
        reasoning_tokens: 6,
        ..Usage::default()
    })
}

#[test]
fn an_answer_in_words_is_told_as_it_comes() {
    let heard = events(&[
        chunk(&json!([{ "text": "Hm.", "thought": true }])),
        chunk(&json!([{ "text": "Grüß " }, { "text": "Gott", "thoughtSignature": "c2ln" }])),
        stop("STOP"),
    ]);
    let trace = Piece::Trace(json!({ "gemini": { "calls": [], "text": "c2ln" } }));
    let pieces = [thought("Hm."), said("Grüß "), said("Gott"), trace, usage()];
    check(Gemini, &heard, &pieces);
    check(
        Gemini,
        &events(&[chunk(&json!([{ "text": "To be" }])), stop("MAX_TOKENS")]),
        &[said("To be"), usage()],
    );
}

#[test]
fn calls_at_once_are_told_with_their_signatures_kept() {
    let heard = events(&[
        chunk(&json!([
            { "functionCall": { "name": "read", "args": { "path": "ä" } }, "thoughtSignature": "c2ln" },
            { "functionCall": { "id": "short", "name": "list" } },
        ])),
        stop("STOP"),
    ]);
    let pieces = [
        calling(0, "read", "{\"path\":\"ä\"}"),
        call("", "read", json!({ "path": "ä" })),
        calling(1, "list", "{}"),
        call("", "list", json!({})),
        Piece::Trace(json!({ "gemini": { "calls": ["c2ln", null] } })),
        usage(),
    ];
    check(Gemini, &heard, &pieces);
}

#[test]
fn failures_keep_what_was_heard_before() {
    let error = |code: u16, status: &str| {
        json!({ "error": { "code": code, "status": status, "message": "because" } }).to_string()
    };
    let blocked = json!({ "promptFeedback": { "blockReason": "SAFETY" } }).to_string();
    let cases = [
        (Some(error(503, "UNAVAILABLE")), Failure::Overloaded, "because"),
        (Some(error(429, "RESOURCE_EXHAUSTED")), Failure::RateLimited, "because"),
        (Some(stop("SAFETY")), Failure::Refused, "SAFETY"),
        (Some(stop("RECITATION")), Failure::Refused, "RECITATION"),
        (Some(blocked), Failure::Refused, "question was blocked"),
        (Some(stop("MALFORMED_FUNCTION_CALL")), Failure::Protocol, "MALFORMED"),
        (Some("{\"x\":1}".to_owned()), Failure::Protocol, "no candidates"),
        (None, Failure::Network, "ended early"),
    ];
    for (event, failure, message) in cases {
        let begun = [chunk(&json!([{ "text": "So" }]))];
        let heard = events(&begun.into_iter().chain(event).collect::<Vec<_>>());
        fails(Gemini, &heard, &[said("So")], failure, message);
    }
}

#[test]
fn garbage_and_nothing_are_told_apart() {
    fails(Gemini, "", &[], Failure::Network, "ended early");
    fails(Gemini, "data: gibberish\n\n", &[], Failure::Protocol, "gibberish");
    fails(Gemini, "data: {\"candidates\":[{\"content\"", &[], Failure::Network, "ended early");
    fails(Gemini, "[1, 2]", &[], Failure::Protocol, "[1, 2]");
}

#[test]
fn a_conversation_is_sent_with_everything_in_it() {
    let prompt = prompt(json!({ "gemini": { "text": "dGV4dA", "calls": ["Y2FsbA", null] } }));
    let expected = json!({
        "systemInstruction": { "parts": [{ "text": "Be kind." }] },
        "contents": [
            { "role": "user", "parts": [
                { "inlineData": { "mimeType": "image/png", "data": "bWVvdw==" } },
                { "text": "Look\n[picture not found: gone.png]" },
            ] },
            { "role": "model", "parts": [
                { "text": "I see.", "thoughtSignature": "dGV4dA" },
                { "functionCall": { "id": "toolu_1", "name": "read", "args": { "path": "a" } }, "thoughtSignature": "Y2FsbA" },
                { "functionCall": { "id": strange(), "name": "read", "args": { "invalid_arguments": "{\"pa" } } },
            ] },
            { "role": "user", "parts": [
                { "functionResponse": { "id": "toolu_1", "name": "read", "response": { "output": "A" } } },
                { "functionResponse": { "id": strange(), "name": "read", "response": { "error": "bad arguments" } } },
            ] },
            { "role": "model", "parts": [
                { "functionCall": { "id": "call_3", "name": "read", "args": {} }, "thoughtSignature": UNSIGNED },
            ] },
            { "role": "user", "parts": [
                { "functionResponse": { "id": "call_3", "name": "read", "response": { "output": "(no output)" } } },
                { "text": "So?" },
                { "text": "Well?" },
            ] },
        ],
        "tools": [{ "functionDeclarations": [{ "name": "read", "description": "Reads.", "parameters": {
            "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"],
        } }] }],
        "generationConfig": {
            "maxOutputTokens": 99,
            "thinkingConfig": { "includeThoughts": true, "thinkingLevel": "high" },
        },
    });
    let change = |ask: &mut Ask| {
        ask.model = "gemini-3-pro";
        ask.max_tokens = Some(99);
        ask.effort = Some(Effort::Max);
    };
    assert_eq!(sent(&prompt, request, change), expected);
}

#[test]
fn each_generation_is_asked_to_think_in_its_own_way() {
    let asked = |model: &str, effort| thinking(model, effort);
    assert_eq!(asked("gemini-2.0-flash", Some(Effort::High)), None);
    assert_eq!(asked("gemma-3", None), None);
    assert_eq!(asked("gemini-3.5-flash", None), Some(json!({ "includeThoughts": true })));
    let counted = json!({ "includeThoughts": true, "thinkingBudget": 2048 });
    assert_eq!(asked("gemini-2.5-pro", Some(Effort::Low)), Some(counted));
}
