//! Three of the four languages against a server we did not write, where `MEGARON_LIVE_URL` says.

#![expect(clippy::unwrap_used, reason = "all of it is a test")]

use std::{collections::BTreeMap, env, time::Duration};

use futures::StreamExt as _;
use kernel::{
    ports::{ModelError, Models as _, Piece},
    prompt::{Part, Prompt},
    toolbox::ToolSpec,
    update::{Failure, Output, ToolRequest, Usage},
};
use models::{Kind, Lineup, ProviderSettings};
use serde_json::json;

const KINDS: [(&str, Kind); 3] = [
    ("anthropic", Kind::Anthropic),
    ("chat", Kind::OpenaiChat),
    ("responses", Kind::OpenaiResponses),
];

fn lineup() -> Lineup {
    let url = env::var("MEGARON_LIVE_URL").unwrap();
    let settings = |kind| {
        let mut settings = ProviderSettings::new(kind);
        settings.base_url = Some(url.clone());
        settings.max_tokens = Some(48);
        settings
    };
    let providers: BTreeMap<String, ProviderSettings> =
        KINDS.into_iter().map(|(name, kind)| (name.to_owned(), settings(kind))).collect();
    Lineup::build("demo", providers, |_| None).unwrap()
}

/// The first model the server offers.
async fn model(lineup: &Lineup) -> String {
    let listed = lineup.ask("chat").await.unwrap().unwrap();
    listed.first().unwrap().clone()
}

fn user(text: &str) -> Part {
    Part::User { text: text.into(), images: Vec::new() }
}

fn prompt(parts: Vec<Part>) -> Prompt {
    Prompt { system: "You are kind and short.".into(), parts, tools: Vec::new() }
}

#[derive(Debug, Default)]
struct Heard {
    text: String,
    portions: usize,
    usage: Option<Usage>,
}

async fn hear(lineup: &Lineup, id: &str, prompt: &Prompt) -> Result<Heard, ModelError> {
    let mut stream = lineup.find(id).unwrap().stream(prompt);
    let mut heard = Heard::default();
    let patience = Duration::from_mins(2);
    while let Some(piece) = tokio::time::timeout(patience, stream.next()).await.unwrap() {
        match piece? {
            Piece::Text(text) | Piece::Reasoning(text) => {
                heard.text += &text;
                heard.portions += 1;
            }
            Piece::Usage(usage) => heard.usage = Some(usage),
            Piece::Calling { .. } | Piece::Call { .. } | Piece::Trace(_) => (),
        }
    }
    Ok(heard)
}

#[tokio::test]
#[ignore = "needs a server: make test-live"]
async fn words_are_streamed_and_counted_in_every_language() {
    let lineup = lineup();
    let model = model(&lineup).await;
    for (name, _) in KINDS {
        let asked = prompt(vec![user("What is the capital of France?")]);
        let heard = hear(&lineup, &format!("{name}/{model}"), &asked).await.unwrap();
        assert!(!heard.text.is_empty() && heard.portions > 1, "{name}: {heard:?}");
        let usage = heard.usage.unwrap();
        assert!(usage.input_tokens > 5 && usage.output_tokens > 1, "{name}: {usage:?}");
    }
}

#[tokio::test]
#[ignore = "needs a server: make test-live"]
async fn a_history_with_calls_is_accepted_in_every_language() {
    let lineup = lineup();
    let model = model(&lineup).await;
    for (name, _) in KINDS {
        let call = ToolRequest {
            id: "functions.read:0".into(),
            name: "read".into(),
            args: json!({ "path": "notes.md" }),
            title: "Reading".into(),
        };
        let mut asked = prompt(vec![
            user("Read my notes."),
            Part::Assistant {
                text: "I will.".into(),
                reasoning: "Hm.".into(),
                calls: vec![call],
                trace: None,
            },
            Part::Result { call: "functions.read:0".into(), output: Output::done("Buy milk.") },
            user("What do they say?"),
        ]);
        for tools in [false, true] {
            asked.tools = Vec::new();
            if tools {
                asked.tools.push(ToolSpec {
                    name: "read".into(),
                    description: "Reads a file.".into(),
                    schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
                });
            }
            let heard = hear(&lineup, &format!("{name}/{model}"), &asked).await;
            assert!(heard.is_ok(), "{name}, tools {tools}: {heard:?}");
        }
    }
}

#[tokio::test]
#[ignore = "needs a server: make test-live"]
async fn too_long_a_conversation_is_told_in_every_language() {
    let lineup = lineup();
    let model = model(&lineup).await;
    for (name, _) in KINDS {
        let asked = prompt(vec![user(&"again and ".repeat(40_000))]);
        let error = hear(&lineup, &format!("{name}/{model}"), &asked).await.unwrap_err();
        assert_eq!(error.kind, Failure::ContextTooLong, "{name}: {error}");
    }
}
