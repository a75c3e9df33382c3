use kernel::update::Failure;

use super::{
    super::testing::{call, calling, check, fails, prompt, said, sent, strange, stream, thought},
    *,
};
use crate::config::{Effort, Kind::OpenaiChat};

fn delta(delta: &Value) -> String {
    json!({ "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
        .to_string()
}

fn stop(reason: &str) -> String {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }).to_string()
}

fn events(data: &[String]) -> String {
    stream(&data.iter().map(String::as_str).collect::<Vec<_>>())
}

const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":7,"total_tokens":27,"prompt_tokens_details":{"cached_tokens":12},"completion_tokens_details":{"reasoning_tokens":3}}}"#;

#[test]
fn an_answer_in_words_is_told_as_it_comes() {
    let heard = events(&[
        delta(&json!({ "role": "assistant", "content": "" })),
        delta(&json!({ "reasoning_content": "Hm" })),
        delta(&json!({ "content": "Grüß " })),
        delta(&json!({ "content": "Gott 🏛" })),
        stop("stop"),
        USAGE.into(),
        "[DONE]".into(),
    ]);
    let usage = Usage {
        input_tokens: 20,
        output_tokens: 7,
        cache_read_tokens: 12,
        reasoning_tokens: 3,
        ..Usage::default()
    };
    let pieces = [thought("Hm"), said("Grüß "), said("Gott 🏛"), Piece::Usage(usage)];
    check(OpenaiChat, &heard, &pieces);
}

#[test]
fn calls_at_once_are_kept_apart() {
    let id = "call_abcdefghijklmnopqrst";
    let heard = events(&[
        delta(&json!({ "reasoning": "Two files." })),
        delta(
            &json!({ "tool_calls": [{ "index": 0, "id": id, "type": "function", "function": { "name": "read", "arguments": "" } }] }),
        ),
        delta(
            &json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "{\"path\":" } }] }),
        ),
        delta(
            &json!({ "tool_calls": [{ "index": 1, "id": "1", "function": { "name": "list", "arguments": "{" } }] }),
        ),
        delta(
            &json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "\"ä\"}" } }, { "index": 1, "function": { "arguments": "oops" } }] }),
        ),
        stop("tool_calls"),
        "[DONE]".into(),
    ]);
    let pieces = [
        thought("Two files."),
        calling(0, "read", ""),
        calling(0, "read", "{\"path\":"),
        calling(1, "list", "{"),
        calling(0, "read", "\"ä\"}"),
        calling(1, "list", "oops"),
        call(id, "read", json!({ "path": "ä" })),
        call("", "list", json!("{oops")),
        Piece::Trace(json!({ "chat": "reasoning" })),
    ];
    check(OpenaiChat, &heard, &pieces);
}

#[test]
fn servers_that_do_not_count_their_calls_are_understood() {
    let heard = events(&[
        delta(
            &json!({ "tool_calls": [{ "function": { "name": "read", "arguments": { "path": "a" } } }] }),
        ),
        delta(
            &json!({ "tool_calls": [{ "function": { "name": "read", "arguments": { "path": "b" } } }] }),
        ),
        delta(
            &json!({ "tool_calls": [{ "id": "x", "function": { "name": "list", "arguments": "{" } }] }),
        ),
        delta(&json!({ "tool_calls": [{ "id": "x", "function": { "arguments": "}" } }] })),
        stop("tool_calls"),
    ]);
    let pieces = [
        calling(0, "read", "{\"path\":\"a\"}"),
        calling(1, "read", "{\"path\":\"b\"}"),
        calling(2, "list", "{"),
        calling(2, "list", "}"),
        call("", "read", json!({ "path": "a" })),
        call("", "read", json!({ "path": "b" })),
        call("", "list", json!({})),
    ];
    check(OpenaiChat, &heard, &pieces);
}

#[test]
fn servers_that_count_every_call_as_the_first_are_understood() {
    let one = |id: &str| {
        delta(
            &json!({ "tool_calls": [{ "index": 0, "id": id, "function": { "name": "list", "arguments": "{}" } }] }),
        )
    };
    let heard = events(&[one("a"), one("b"), stop("stop"), "[DONE]".into()]);
    let pieces = [
        calling(0, "list", "{}"),
        calling(1, "list", "{}"),
        call("", "list", json!({})),
        call("", "list", json!({})),
    ];
    check(OpenaiChat, &heard, &pieces);
}

#[test]
fn an_answer_cut_by_its_length_is_an_answer() {
    let heard = events(&[delta(&json!({ "content": "To be" })), stop("length"), "[DONE]".into()]);
    check(OpenaiChat, &heard, &[said("To be")]);
}

#[test]
fn failures_keep_what_was_heard_before() {
    let begun = delta(&json!({ "content": "So" }));
    let cases = [
        (
            r#"{"error":{"message":"upstream","code":502}}"#.to_owned(),
            Failure::Overloaded,
            "upstream",
        ),
        (
            r#"{"error":{"message":"later","type":"rate_limit_error"}}"#.to_owned(),
            Failure::RateLimited,
            "later",
        ),
        (stop("content_filter"), Failure::Refused, "filter"),
        (delta(&json!({ "refusal": "I cannot" })), Failure::Refused, "I cannot"),
        ("{\"choices\": nonsense}".to_owned(), Failure::Protocol, "nonsense"),
        ("{\"hello\":1}".to_owned(), Failure::Protocol, "hello"),
    ];
    for (event, failure, message) in cases {
        let heard = events(&[begun.clone(), event]);
        fails(OpenaiChat, &heard, &[said("So")], failure, message);
    }
}

#[test]
fn an_answer_without_an_end_has_ended_early() {
    let begun = events(&[delta(&json!({ "content": "So" }))]);
    fails(OpenaiChat, &begun, &[said("So")], Failure::Network, "ended early");
    let torn = format!("{begun}data: {{\"choices\":[{{\"del");
    fails(OpenaiChat, &torn, &[said("So")], Failure::Network, "ended early");
    fails(OpenaiChat, "", &[], Failure::Network, "ended early");
    fails(OpenaiChat, ": still here\n\n", &[], Failure::Network, "ended early");
}

#[test]
fn what_is_no_stream_is_shown() {
    fails(OpenaiChat, "<html>Hi</html>", &[], Failure::Protocol, "<html>Hi");
    let error = r#"{"error":{"message":"no such model","code":"model_not_found"}}"#;
    fails(OpenaiChat, error, &[], Failure::NoModel, "no such model");
}

#[test]
fn a_conversation_is_sent_with_everything_in_it() {
    let prompt = prompt(json!({ "chat": "reasoning_content" }));
    let tool = &prompt.tools[0];
    let expected = json!({
        "model": "best",
        "messages": [
            { "role": "system", "content": "Be kind." },
            { "role": "user", "content": [
                { "type": "text", "text": "Look\n[picture not found: gone.png]" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,bWVvdw==" } },
            ] },
            { "role": "assistant", "content": "I see.", "reasoning_content": "Hm.", "tool_calls": [
                { "id": "toolu_1", "type": "function", "function": { "name": "read", "arguments": "{\"path\":\"a\"}" } },
                { "id": strange(), "type": "function", "function": { "name": "read", "arguments": "{\"invalid_arguments\":\"{\\\"pa\"}" } },
            ] },
            { "role": "tool", "tool_call_id": "toolu_1", "content": "A" },
            { "role": "tool", "tool_call_id": strange(), "content": "Error: bad arguments" },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "call_3", "type": "function", "function": { "name": "read", "arguments": "{}" } },
            ] },
            { "role": "tool", "tool_call_id": "call_3", "content": "(no output)" },
            { "role": "user", "content": "So?" },
            { "role": "user", "content": "Well?" },
        ],
        "stream": true,
        "stream_options": { "include_usage": true },
        "tools": [{ "type": "function", "function": { "name": "read", "description": "Reads.", "parameters": tool.schema } }],
        "max_tokens": 99,
        "reasoning_effort": "low",
    });
    let change = |ask: &mut Ask| {
        ask.max_tokens = Some(99);
        ask.effort = Some(Effort::Low);
    };
    assert_eq!(sent(&prompt, request, change), expected);
    let at_openai = sent(&prompt, request, |ask| {
        ask.max_tokens = Some(99);
        ask.at_openai = true;
    });
    assert_eq!(
        (&at_openai["max_tokens"], &at_openai["max_completion_tokens"]),
        (&Value::Null, &json!(99))
    );
}
