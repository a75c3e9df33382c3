//! Transcripts: a prompt in, pieces out.

use std::time::Duration;

use futures::StreamExt as _;
use kernel::{toolbox::ToolSpec, update::Attachment};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;

fn said(text: &str) -> Prompt {
    let spec = |name: &&str| ToolSpec {
        name: (*name).into(),
        description: String::new(),
        schema: json!({ "type": "object" }),
    };
    let tools = ["current_time", "list_directory", "read_file"].iter().map(spec).collect();
    let parts = vec![Part::User { text: text.into(), images: Vec::new() }];
    Prompt { system: String::new(), parts, tools }
}

async fn pieces(prompt: &Prompt) -> Vec<Piece> {
    let (pieces, failed) = attempt(prompt).await;
    assert_eq!(failed, None);
    pieces
}

async fn attempt(prompt: &Prompt) -> (Vec<Piece>, Option<ModelError>) {
    let (mut pieces, mut failed) = (Vec::new(), None);
    let mut stream = Demo.stream(prompt);
    while let Some(piece) = stream.next().await {
        assert_eq!(failed, None, "a failure is the end");
        match piece {
            Ok(piece) => pieces.push(piece),
            Err(error) => failed = Some(error),
        }
    }
    (pieces, failed)
}

/// What is said in all, with no regard to how it is cut.
async fn text(prompt: &Prompt) -> String {
    let said = pieces(prompt).await.into_iter().map(|piece| match piece {
        Piece::Text(text) => text,
        Piece::Usage(_) => String::new(),
        other => panic!("unexpected {other:?}"),
    });
    said.collect()
}

/// Adds a step in which the model asked for these, and what came of it.
fn step(mut prompt: Prompt, calls: &[(&str, Output)]) -> Prompt {
    let id = |n: usize| format!("{}-{n}", prompt.parts.len());
    let request = |(n, (name, _)): (usize, &(&str, Output))| ToolRequest {
        id: id(n),
        name: (*name).into(),
        args: json!({}),
        title: String::new(),
    };
    let asked = calls.iter().enumerate().map(request).collect();
    let result = |(n, (_, output)): (usize, &(&str, Output))| Part::Result {
        call: id(n),
        output: output.clone(),
    };
    // Results come in the order in which the tools get done.
    let results: Vec<Part> = calls.iter().enumerate().map(result).rev().collect();
    prompt.parts.push(Part::Assistant {
        text: String::new(),
        reasoning: String::new(),
        calls: asked,
        trace: None,
    });
    prompt.parts.extend(results);
    prompt
}

fn done(text: &str) -> Output {
    Output::done(text)
}

fn call(name: &str, args: Value) -> Piece {
    Piece::Call { id: String::new(), name: name.into(), args }
}

fn words(text: &str) -> Vec<Piece> {
    text.split_inclusive(char::is_whitespace).map(chunk).collect()
}

fn chunk(text: &str) -> Piece {
    Piece::Text(text.into())
}

fn usage(input_tokens: u64, output_tokens: u64) -> Piece {
    Piece::Usage(Usage { input_tokens, output_tokens, ..Usage::default() })
}

fn error(kind: Failure, message: &str) -> ModelError {
    ModelError::new(kind, format!("{message} (the demo model was told to fail)"))
}

#[tokio::test]
async fn tools_are_called_one_after_the_other_and_then_summed_up() {
    let prompt = said("/tool first {\"a\": 1}\n/tool second");
    assert_eq!(pieces(&prompt).await, [call("first", json!({ "a": 1 })), usage(9, 3)]);
    let prompt = step(prompt, &[("first", done("fine"))]);
    assert_eq!(pieces(&prompt).await, [call("second", json!({})), usage(11, 2)]);
    let failed = Output::failed("Tool 'second' does not exist.");
    let prompt = step(prompt, &[("second", failed)]);
    let mut expected = words("`first` ok: fine\n`second` failed: Tool 'second' does not exist.");
    expected.push(usage(21, 16));
    assert_eq!(pieces(&prompt).await, expected);
}

#[tokio::test]
async fn tools_after_par_are_called_together() {
    let prompt = said("[applet:x] /par\n/tool a\n/tool b");
    let called = [call("a", json!({})), call("b", json!({})), usage(8, 2)];
    assert_eq!(pieces(&prompt).await, called);
    let prompt = step(prompt, &[("a", done("1")), ("b", Output::Interrupted)]);
    assert_eq!(text(&prompt).await, "`a` ok: 1\n`b` was interrupted");
}

#[tokio::test]
async fn a_conversation_is_summed_up_as_far_as_counting_goes() {
    let mut prompt = step(said("/tool a"), &[("a", done("1"))]);
    let instruction = kernel::compact::INSTRUCTION;
    prompt.parts.push(Part::User { text: instruction.into(), images: Vec::new() });
    let expected = "1 messages came and 1 answers were given. The last was \"/tool a\".";
    assert_eq!(text(&prompt).await, expected);
}

#[tokio::test]
async fn an_earlier_message_is_over() {
    let mut prompt = step(said("/tool a\n/tool b"), &[("a", done("1"))]);
    prompt.parts.push(Part::User { text: "/tool c".into(), images: Vec::new() });
    assert_eq!(pieces(&prompt).await[0], call("c", json!({})));
}

#[tokio::test]
async fn a_result_of_many_lines_is_fenced_and_a_long_one_cut() {
    let prompt = step(said("/tool a"), &[("a", done("x\n```\ny\n"))]);
    assert_eq!(text(&prompt).await, "`a` ok:\n````\nx\n```\ny\n````");
    let prompt = step(said("/tool a"), &[("a", done(&"ä".repeat(201)))]);
    assert_eq!(text(&prompt).await, format!("`a` ok: {}…", "ä".repeat(200)));
    let prompt = step(said("/tool a"), &[("a", done(""))]);
    assert_eq!(text(&prompt).await, "`a` ok, with nothing to show");
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_in_words_and_nothing_is_called() {
    let expected = "I could not read that, so I have done nothing.\n\nThe arguments of `b` are not \
                    JSON: EOF while parsing an object at line 1 column 1. Write them on the same \
                    line, as in `/tool b {\"key\": \"value\"}`.";
    assert_eq!(text(&said("/tool a\n/tool b {")).await, expected);
}

#[tokio::test]
async fn a_long_answer_has_as_many_chunks_as_asked_for() {
    let long = [chunk("word1"), chunk(" word2"), chunk(" word3"), usage(2, 5)];
    assert_eq!(pieces(&said("/long 3")).await, long);
    assert_eq!(pieces(&said("/long 0")).await, [usage(2, 0)]);
    assert_eq!(Demo.stream(&said("/long 9999999")).count().await, 1_000_001);
    let prompt = step(said("/long 2\n/tool a"), &[("a", done("1"))]);
    assert_eq!(text(&prompt).await, "`a` ok: 1\n\nword1 word2");
}

#[tokio::test(start_paused = true)]
async fn slow_waits_before_each_piece() {
    let started = Instant::now();
    let prompt = said("/slow 250\n/long 4");
    let mut stream = Demo.stream(&prompt);
    stream.next().await;
    assert_eq!(started.elapsed(), Duration::from_millis(250));
    assert_eq!(stream.count().await, 4);
    assert_eq!(started.elapsed(), Duration::from_secs(1), "the usage is not waited for");
    pieces(&said("/slow 1000000\n/tool a")).await;
    assert_eq!(started.elapsed(), Duration::from_secs(61));
}

#[tokio::test]
async fn it_reasons_aloud_first_and_only_once() {
    let reasoned = |pieces: Vec<Piece>| {
        let reasoning = pieces.into_iter().map_while(|piece| match piece {
            Piece::Reasoning(text) => Some(text),
            _ => None,
        });
        reasoning.collect::<String>()
    };
    let thoughts = "Let me think. The message is 15 bytes long and has 2 lines. No tool is needed \
                    for this, so I can answer right away.";
    let spoken = pieces(&said("/reason\n/long 1")).await;
    assert_eq!(spoken.len(), 25 + 2);
    assert_eq!(spoken[25..], [chunk("word1"), usage(4, 30)]);
    assert_eq!(reasoned(spoken), thoughts);
    let prompt = said("/reason\n/tool a");
    assert!(
        reasoned(pieces(&prompt).await)
            .ends_with("One step with tools is needed, then I can answer.")
    );
    assert_eq!(reasoned(pieces(&step(prompt, &[("a", done("1"))])).await), "");
}

#[tokio::test]
async fn it_fails_as_told() {
    for (name, kind, message) in [
        ("bad_key", Failure::BadKey, "the key was not accepted"),
        ("no_quota", Failure::NoQuota, "the account has no quota left"),
        ("rate_limited", Failure::RateLimited, "too many requests in too short a time"),
        ("overloaded", Failure::Overloaded, "the model is overloaded"),
        ("context_too_long", Failure::ContextTooLong, "the conversation is too long for the model"),
        ("refused", Failure::Refused, "the model refuses to answer"),
        ("network", Failure::Network, "the connection broke"),
        ("protocol", Failure::Protocol, "the answer could not be read"),
    ] {
        let failed = attempt(&said(&format!("/fail {name}"))).await;
        assert_eq!(failed, (vec![], Some(error(kind, message))));
    }
    let prompt = said("/fail overloaded\n/tool a");
    assert_eq!(pieces(&prompt).await[0], call("a", json!({})), "tools come first");
    let failed = attempt(&step(prompt, &[("a", done("1"))])).await;
    assert_eq!(failed, (vec![], Some(error(Failure::Overloaded, "the model is overloaded"))));
}

#[tokio::test]
async fn it_breaks_off_in_the_middle_as_told() {
    let broken = Some(error(Failure::Network, "the connection broke"));
    let midway = words("This answer was going so well until");
    assert_eq!(attempt(&said("/fail mid")).await, (midway, broken.clone()));
    let long = vec![chunk("word1"), chunk(" word2")];
    assert_eq!(attempt(&said("/fail mid\n/long 2")).await, (long, broken));
}

#[tokio::test]
async fn a_request_in_plain_words_is_answered_with_a_tool() {
    let prompt = said("What time is it?");
    assert_eq!(pieces(&prompt).await, [call("current_time", json!({})), usage(4, 4)]);
    let prompt = step(prompt, &[("current_time", done("noon (Monday, UTC)"))]);
    assert_eq!(text(&prompt).await, "It is noon (Monday, UTC).");

    let prompt = said("/slow 1\nlist files in src");
    let listing = call("list_directory", json!({ "path": "src" }));
    assert_eq!(pieces(&prompt).await[0], listing);
    let prompt = step(prompt, &[("list_directory", done("a/\nb  1 B"))]);
    assert_eq!(text(&prompt).await, "Here is what `src` holds:\n```\na/\nb  1 B\n```");

    let prompt = said("read notes.md");
    assert_eq!(pieces(&prompt).await[0], call("read_file", json!({ "path": "notes.md" })));
    let failed = Output::failed("`notes.md` does not exist");
    let prompt = step(prompt, &[("read_file", failed)]);
    assert_eq!(text(&prompt).await, "That did not work: `notes.md` does not exist");
}

#[tokio::test]
async fn without_the_tool_a_request_is_only_talk() {
    let prompt = Prompt { tools: Vec::new(), ..said("read notes.md") };
    assert!(text(&prompt).await.starts_with("You said \"read notes.md\". I am the demo model"));
}

#[tokio::test]
async fn otherwise_it_says_what_it_is() {
    let mut prompt = said("What is love?");
    let talk = text(&prompt).await;
    assert!(talk.starts_with("You said \"What is love?\". I am the demo model that is built into"));
    for told in ["/tool NAME", "/par", "/long", "/slow", "/reason", "/fail", "[providers.NAME]"] {
        assert!(talk.contains(told), "{told}");
    }
    let image = Attachment { path: "a".into(), mime: "image/png".into(), name: "a".into() };
    prompt.parts = vec![Part::User { text: String::new(), images: vec![image] }];
    assert!(
        text(&prompt).await.starts_with("Your file arrived, though I cannot look into it. I am")
    );
    prompt.parts.clear();
    assert!(text(&prompt).await.starts_with("I am the demo model"));
    for greeting in ["hi", "Hello!", "hey there, Megaron"] {
        assert!(
            text(&said(greeting)).await.starts_with("Hello! I am the demo model"),
            "{greeting}"
        );
    }
    assert!(pieces(&said("hi")).await.len() > 20, "it comes word by word");
}

#[tokio::test]
async fn a_plan_is_told_carried_out_and_told_again() {
    let mut prompt = said("Make a plan and carry it out");
    let spec = prompt.tools[0].clone();
    prompt.tools.push(ToolSpec { name: "plan".into(), ..spec });
    let mut called = Vec::new();
    loop {
        let calls = pieces(&prompt).await.into_iter().filter_map(|piece| match piece {
            Piece::Call { name, .. } => Some(name),
            _ => None,
        });
        let names: Vec<String> = calls.collect();
        let [name] = names.as_slice() else { break };
        prompt = step(prompt, &[(name, done("found"))]);
        called.push(name.clone());
    }
    assert_eq!(called, ["plan", "list_directory", "plan", "current_time", "plan", "plan"]);
    let told = "The plan is carried out. This is what I found:\n\n`list_directory` ok: found\n\
                `current_time` ok: found";
    assert_eq!(text(&prompt).await, told);
}

#[tokio::test]
async fn answers_show_all_they_can_hold() {
    let shown = text(&said("Show a table, a formula and a diagram")).await;
    for part in ["\n|---|---|\n", "$$\\sum", "```mermaid\n", "```rust\n"] {
        assert!(shown.contains(part), "{part}");
    }
}
