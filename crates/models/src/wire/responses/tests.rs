use kernel::update::Failure;

use super::{
    super::testing::{
        call, calling, check, fails, named, prompt, said, sent, strange, stream, thought,
    },
    *,
};
use crate::config::{Effort, Kind::OpenaiResponses};

fn delta(kind: &str, delta: &str) -> Value {
    json!({ "type": format!("response.{kind}.delta"), "item_id": "item_1", "output_index": 1, "delta": delta })
}

fn end(kind: &str, more: &Value) -> Value {
    let mut response = json!({ "id": "resp_1", "usage": {
        "input_tokens": 50, "input_tokens_details": { "cached_tokens": 40 },
        "output_tokens": 9, "output_tokens_details": { "reasoning_tokens": 4 }, "total_tokens": 59,
    } });
    for (name, value) in more.as_object().unwrap() {
        response[name] = value.clone();
    }
    json!({ "type": format!("response.{kind}"), "response": response })
}

fn usage() -> Piece {
    Piece::Usage(Usage {
        input_tokens: 50,
        output_tokens: 9,
        cache_read_tokens: 40,
        reasoning_tokens: 4,
        ..Usage::default()
    })
}

fn created() -> Value {
    json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress" } })
}

#[test]
fn an_answer_in_words_is_told_as_it_comes() {
    let heard = named(&[
        created(),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "message" } }),
        delta("output_text", "Grüß "),
        delta("output_text", "Gott"),
        json!({ "type": "response.output_text.done", "text": "Grüß Gott" }),
        end("completed", &json!({})),
    ]);
    check(OpenaiResponses, &heard, &[said("Grüß "), said("Gott"), usage()]);
    let long = json!({ "incomplete_details": { "reason": "max_output_tokens" } });
    let heard = named(&[delta("output_text", "To be"), end("incomplete", &long)]);
    check(OpenaiResponses, &heard, &[said("To be"), usage()]);
}

#[test]
fn thoughts_and_calls_at_once_are_told_and_thoughts_are_kept() {
    let (one, two) = ("call_1abcdefghijklmnopqrs", "call_2abcdefghijklmnopqrs");
    let added = |place: u64, id: &str, name: &str| {
        json!({ "type": "response.output_item.added", "output_index": place, "item": {
            "type": "function_call", "id": id, "call_id": "c", "name": name, "arguments": "",
        } })
    };
    let more = |place: u64, id: &str, args: &str| json!({ "type": "response.function_call_arguments.delta", "output_index": place, "item_id": id, "delta": args });
    let done = |place: u64, item: &Value| json!({ "type": "response.output_item.done", "output_index": place, "item": item });
    let read = json!({ "type": "function_call", "id": "fc_1", "call_id": one, "name": "read", "arguments": "{\"path\":\"ä\"}" });
    let list = json!({ "type": "function_call", "id": "fc_2", "call_id": two, "name": "list", "arguments": "" });
    let summary = json!([{ "type": "summary_text", "text": "First. Then." }]);
    let heard = named(&[
        created(),
        json!({ "type": "response.reasoning_summary_part.added", "summary_index": 0 }),
        delta("reasoning_summary_text", "First."),
        json!({ "type": "response.reasoning_summary_part.added", "summary_index": 1 }),
        delta("reasoning_summary_text", "Then."),
        done(
            0,
            &json!({ "type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "c2VhbGVk" }),
        ),
        added(1, "fc_1", "read"),
        added(2, "fc_2", "list"),
        more(1, "fc_1", "{\"path\":"),
        more(2, "fc_2", "{"),
        more(1, "fc_1", "\"ä\"}"),
        done(1, &read),
        done(2, &list),
        end("completed", &json!({ "output": [{ "type": "reasoning" }, read, list] })),
    ]);
    let kept = json!({ "type": "reasoning", "summary": summary, "encrypted_content": "c2VhbGVk" });
    let pieces = [
        thought("First."),
        thought("\n\n"),
        thought("Then."),
        calling(0, "read", ""),
        calling(1, "list", ""),
        calling(0, "read", "{\"path\":"),
        calling(1, "list", "{"),
        calling(0, "read", "\"ä\"}"),
        call(one, "read", json!({ "path": "ä" })),
        call(two, "list", json!("{")),
        Piece::Trace(json!({ "responses": [kept] })),
        usage(),
    ];
    check(OpenaiResponses, &heard, &pieces);
}

#[test]
fn calls_that_are_told_only_at_the_end_are_heard() {
    let read = json!({ "type": "function_call", "id": "fc_1", "call_id": "x", "name": "read", "arguments": "{}" });
    let heard = named(&[end("completed", &json!({ "output": [read] }))]);
    check(OpenaiResponses, &heard, &[call("", "read", json!({})), usage()]);
}

#[test]
fn servers_that_do_not_count_their_items_are_understood() {
    let item = |id: &str, args: &str| json!({ "type": "function_call", "call_id": id, "name": "read", "arguments": args });
    let added = |id: &str| json!({ "type": "response.output_item.added", "item": item(id, "") });
    let more = |id: &str, args: &str| json!({ "type": "response.function_call_arguments.delta", "item_id": id, "delta": args });
    let done = |id: &str, args: &str| json!({ "type": "response.output_item.done", "item": item(id, args) });
    let (one, two) = ("fc_1abcdefghijklmnopqrs", "fc_2abcdefghijklmnopqrs");
    let heard = named(&[
        added(one),
        more(one, "{}"),
        added(two),
        more(two, "{\"a\":"),
        more(two, "1}"),
        done(one, "{}"),
        done(two, "{\"a\":1}"),
        end(
            "completed",
            &json!({ "output": [{ "type": "message" }, item(one, "{}"), item(two, "{\"a\":1}")] }),
        ),
    ]);
    let pieces = [
        calling(0, "read", ""),
        calling(0, "read", "{}"),
        calling(1, "read", ""),
        calling(1, "read", "{\"a\":"),
        calling(1, "read", "1}"),
        call(one, "read", json!({})),
        call(two, "read", json!({ "a": 1 })),
        usage(),
    ];
    check(OpenaiResponses, &heard, &pieces);
}

#[test]
fn failures_keep_what_was_heard_before() {
    let filtered = json!({ "incomplete_details": { "reason": "content_filter" } });
    let error = |code: &str| json!({ "type": "error", "code": code, "message": "because" });
    let failed =
        json!({ "error": { "code": "rate_limit_exceeded", "message": "try again in 2s." } });
    let cases = [
        (vec![end("failed", &failed)], Failure::RateLimited, "try again"),
        (vec![error("server_error")], Failure::Overloaded, "because"),
        (vec![error("context_length_exceeded")], Failure::ContextTooLong, "because"),
        (
            vec![
                json!({ "type": "error", "error": { "type": "invalid_request_error", "code": "invalid_api_key", "message": "no" } }),
            ],
            Failure::BadKey,
            "no",
        ),
        (vec![end("incomplete", &filtered)], Failure::Refused, "filter"),
        (
            vec![delta("refusal", "I "), delta("refusal", "cannot"), end("completed", &json!({}))],
            Failure::Refused,
            "I cannot",
        ),
        (vec![], Failure::Network, "ended early"),
    ];
    for (rest, failure, message) in cases {
        let heard = named(&[vec![delta("output_text", "So")], rest].concat());
        fails(OpenaiResponses, &heard, &[said("So")], failure, message);
    }
}

#[test]
fn garbage_and_nothing_are_told_apart() {
    fails(OpenaiResponses, "", &[], Failure::Network, "ended early");
    fails(OpenaiResponses, &stream(&["gibberish"]), &[], Failure::Protocol, "gibberish");
    fails(OpenaiResponses, &stream(&["{\"x\":1}"]), &[], Failure::Protocol, "without a type");
    let torn = format!("{}data: {{\"type\":\"resp", named(&[created()]));
    fails(OpenaiResponses, &torn, &[], Failure::Network, "ended early");
}

#[test]
fn a_conversation_is_sent_with_everything_in_it() {
    let kept = json!([{ "type": "reasoning", "summary": [], "encrypted_content": "c2VhbGVk" }]);
    let prompt = prompt(json!({ "responses": kept }));
    let tool = &prompt.tools[0];
    let expected = json!({
        "model": "best",
        "instructions": "Be kind.",
        "input": [
            { "role": "user", "content": [
                { "type": "input_text", "text": "Look\n[picture not found: gone.png]" },
                { "type": "input_image", "image_url": "data:image/png;base64,bWVvdw==" },
            ] },
            { "type": "reasoning", "summary": [], "encrypted_content": "c2VhbGVk" },
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "I see." }] },
            { "type": "function_call", "call_id": "toolu_1", "name": "read", "arguments": "{\"path\":\"a\"}" },
            { "type": "function_call", "call_id": strange(), "name": "read", "arguments": "{\"invalid_arguments\":\"{\\\"pa\"}" },
            { "type": "function_call_output", "call_id": "toolu_1", "output": "A" },
            { "type": "function_call_output", "call_id": strange(), "output": "Error: bad arguments" },
            { "type": "function_call", "call_id": "call_3", "name": "read", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "call_3", "output": "(no output)" },
            { "role": "user", "content": [{ "type": "input_text", "text": "So?" }] },
            { "role": "user", "content": [{ "type": "input_text", "text": "Well?" }] },
        ],
        "stream": true,
        "store": false,
        "tools": [{ "type": "function", "name": "read", "description": "Reads.", "parameters": tool.schema, "strict": false }],
        "max_output_tokens": 99,
        "reasoning": { "effort": "high", "summary": "auto" },
        "include": ["reasoning.encrypted_content"],
    });
    let change = |ask: &mut Ask| {
        ask.max_tokens = Some(99);
        ask.effort = Some(Effort::High);
    };
    assert_eq!(sent(&prompt, request, change), expected);
}

#[test]
fn only_models_that_reason_are_asked_for_what_they_seal() {
    for (model, asked) in [("gpt-5.4", true), ("o3-mini", true), ("gpt-4.1", false), ("ox", false)]
    {
        let body = sent(&prompt(json!({})), request, |ask| ask.model = model);
        assert_eq!(body.get("include").is_some(), asked, "{model}");
    }
}

fn desktop() -> kernel::toolbox::ToolSpec {
    let screen = json!({ "width": 1568, "height": 882 });
    let schema = json!({ "type": "object", "x-screen": screen });
    kernel::toolbox::ToolSpec { name: "computer".into(), description: "Drives.".into(), schema }
}

#[test]
fn a_desktop_is_driven_by_the_tool_that_they_made_for_it() {
    let id = "call_1abcdefghijklmnopqrs";
    let check_ = json!({ "id": "cu_1", "code": "irrelevant_domain", "message": "Look first." });
    let item = json!({
        "type": "computer_call", "id": "cu_item", "call_id": id, "status": "completed",
        "actions": [{ "type": "click", "button": "left", "x": 3, "y": 4 }],
        "pending_safety_checks": [check_],
    });
    let heard = named(&[
        created(),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        end("completed", &json!({})),
    ]);
    let args = json!({
        "action": "click", "button": "left", "x": 3, "y": 4, "show": true,
        "warnings": ["Look first."],
    });
    let mut kept = item.clone();
    kept.as_object_mut().unwrap().remove("status");
    let trace = json!({ "responses": [kept] });
    let pieces = [call(id, "computer", args.clone()), Piece::Trace(trace.clone()), usage()];
    check(OpenaiResponses, &heard, &pieces);

    let image = kernel::update::Attachment {
        path: "/attic/cat.png".into(),
        mime: "image/webp".into(),
        name: "screen".into(),
    };
    let request = kernel::update::ToolRequest {
        id: id.into(),
        name: "computer".into(),
        args: args.clone(),
        title: "Clicking".into(),
    };
    let mut prompt = prompt(json!({}));
    let trace = kernel::update::Trace { model: "house/best".into(), data: trace };
    let output = kernel::update::Output::Done {
        text: "Clicked".into(),
        images: vec![image.clone()],
        data: None,
    };
    prompt.parts = vec![
        Part::User { text: "Go".into(), images: vec![] },
        Part::Assistant {
            text: String::new(),
            reasoning: String::new(),
            calls: vec![request],
            trace: Some(trace),
        },
        Part::Result { call: id.into(), output },
        Part::Pictures { images: vec![image] },
    ];
    prompt.tools = vec![desktop()];
    let body = sent(&prompt, super::request, |ask| ask.computer = true);
    assert_eq!(body["tools"], json!([{ "type": "computer" }]));
    let said = json!({ "role": "user", "content": [{ "type": "input_text", "text": "Go" }] });
    let output = json!({
        "type": "computer_call_output", "call_id": id,
        "output": { "type": "computer_screenshot", "image_url": "data:image/webp;base64,bWVvdw==" },
        "acknowledged_safety_checks": [check_],
    });
    assert_eq!(body["input"], json!([said, kept, output]));
    let preview = |ask: &mut Ask| (ask.computer, ask.model) = (true, "computer-use-preview");
    let body = sent(&prompt, super::request, preview);
    let tool = json!({
        "type": "computer_use_preview", "environment": "linux",
        "display_width": 1568, "display_height": 882,
    });
    assert_eq!((&body["tools"][0], &body["truncation"]), (&tool, &json!("auto")));
    // Whoever does not know it has a tool like any other, and a past of such calls.
    let body = sent(&prompt, super::request, |_| ());
    assert_eq!(body["tools"][0]["type"], "function");
    let kinds: Vec<&str> =
        body["input"].as_array().unwrap().iter().map(|it| text(it, "type")).collect();
    assert_eq!(kinds, ["", "function_call", "function_call_output", ""]);
}
