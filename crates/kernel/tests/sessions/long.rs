//! Conversations that are many times longer than what their model can be shown.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::{
    FutureExt as _, StreamExt as _,
    future::{self, BoxFuture},
    stream::{self, BoxStream},
};
use kernel::{
    compact::INSTRUCTION,
    feed::Feed,
    host::{Host, Settings},
    ports::{Model, ModelError, Piece, Ports},
    prompt::{Part, Prompt},
    toolbox::{Call, Deed, Reply, Tool, ToolSpec, Toolbox},
    update::{Answer, Compaction, Entry, Fact, Failure, Output, SessionId, Usage},
};
use serde_json::json;
use testkit::{OneModel, World};

use crate::support::*;

const WINDOW: u64 = 8_000;

/// A model that counts as a provider would, refuses what is too long, and knows nothing but what
/// it is shown.
struct Strict {
    /// How many bytes make a token.
    bytes: usize,
    window: AtomicU64,
    /// The size of each prompt that it answered, with its answer.
    filled: Mutex<Vec<u64>>,
    refused: AtomicU64,
}

impl Strict {
    fn new(bytes: usize, window: u64) -> Arc<Self> {
        let (filled, refused) = (Mutex::default(), AtomicU64::new(0));
        Arc::new(Self { bytes, window: AtomicU64::new(window), filled, refused })
    }

    fn count(&self, text: &str) -> u64 {
        text.len().div_ceil(self.bytes) as u64
    }

    fn count_prompt(&self, prompt: &Prompt) -> u64 {
        let tools = prompt.tools.iter().map(|tool| self.count(&tool.schema.to_string()));
        let parts = prompt.parts.iter().map(|part| self.count(&words(part)));
        self.count(&prompt.system) + tools.sum::<u64>() + parts.sum::<u64>()
    }
}

impl Model for Strict {
    fn window(&self) -> u64 {
        self.window.load(Ordering::Relaxed)
    }

    fn stream(&self, prompt: &Prompt) -> BoxStream<'static, Result<Piece, ModelError>> {
        let input_tokens = self.count_prompt(prompt);
        let mut pieces = reply(prompt);
        let said = |piece: &Piece| match piece {
            Piece::Text(text) => self.count(text),
            Piece::Call { args, .. } => self.count(&args.to_string()),
            _ => 0,
        };
        let output_tokens = pieces.iter().map(said).sum();
        if input_tokens + output_tokens > self.window() {
            self.refused.fetch_add(1, Ordering::Relaxed);
            let error = ModelError::new(Failure::ContextTooLong, "the prompt is too long");
            return stream::iter([Err(error)]).boxed();
        }
        self.filled.lock().unwrap().push(input_tokens + output_tokens);
        pieces.push(Piece::Usage(Usage { input_tokens, output_tokens, ..Usage::default() }));
        stream::iter(pieces.into_iter().map(Ok)).boxed()
    }
}

/// All that a part says.
fn words(part: &Part) -> String {
    match part {
        Part::User { text, .. } => text.clone(),
        Part::Assistant { text, calls, .. } => {
            let args = calls.iter().map(|call| call.args.to_string());
            [text.clone()].into_iter().chain(args).collect()
        }
        Part::Result { output, .. } => output.text().to_owned(),
        Part::Pictures { .. } => String::new(),
    }
}

/// Sums up what it was told to remember, answers what it is asked, and calls two tools first.
fn reply(prompt: &Prompt) -> Vec<Piece> {
    let last = prompt.parts.last();
    match last {
        Some(Part::User { text, .. }) if text == INSTRUCTION => {
            let words = [remembered(prompt), looked_up(prompt), "and so on ".repeat(60)];
            vec![Piece::Text(words.join("\n"))]
        }
        Some(Part::User { text, .. }) if text == "What do you remember?" => {
            vec![Piece::Text(remembered(prompt))]
        }
        Some(Part::User { text, .. }) => {
            let number = text.split_whitespace().nth(1).unwrap_or_default();
            let known = format!("Looked up call-{number}-b.");
            if prompt.parts.iter().any(|part| words(part).contains(&known)) {
                return vec![Piece::Text(answer(number))];
            }
            ["a", "b"].map(|call| tool_call(number, call)).to_vec()
        }
        _ => {
            let asked = prompt.parts.iter().rev().find_map(|part| match part {
                Part::User { text, .. } => text.split_whitespace().nth(1),
                _ => None,
            });
            vec![Piece::Text(answer(asked.unwrap_or_default()))]
        }
    }
}

fn remembered(prompt: &Prompt) -> String {
    let lines: BTreeSet<String> = prompt
        .parts
        .iter()
        .flat_map(|part| words(part).lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| line.starts_with("Remember: "))
        .collect();
    lines.into_iter().collect::<Vec<_>>().join("\n")
}

/// The last call of which it saw the result.
fn looked_up(prompt: &Prompt) -> String {
    let last = prompt.parts.iter().rev().find_map(|part| match part {
        Part::Result { call, .. } => Some(format!("Looked up {call}.")),
        _ => None,
    });
    last.unwrap_or_default()
}

fn question(turn: usize) -> String {
    let words = long(&format!("asked{turn}"), 150);
    match turn % 25 {
        0 => format!("Turn {turn} {words}\nRemember: guest {turn:03} sits at table {}.", turn * 7),
        _ => format!("Turn {turn} {words}"),
    }
}

fn tool_call(turn: &str, call: &str) -> Piece {
    let args = json!({ "words": long(&format!("tool{call}{turn}"), 60) });
    Piece::Call { id: format!("call-{turn}-{call}"), name: "echo".into(), args }
}

fn answer(turn: &str) -> String {
    long(&format!("answered{turn}"), 180)
}

/// Words that tell where they belong, so that none could stand for another.
fn long(word: &str, count: usize) -> String {
    let words: Vec<String> = (0..count).map(|at| format!("{word}.{at}")).collect();
    words.join(" ")
}

/// Everything that was said, called, returned and answered, in order, and nothing else.
fn told(log: &[Entry]) -> Vec<String> {
    let told = log.iter().flat_map(|entry| match &entry.fact {
        Fact::Said { message, .. } => vec![message.text.clone()],
        Fact::Answered(Answer { text, calls, .. }) if calls.is_empty() => vec![text.clone()],
        Fact::Answered(Answer { calls, .. }) => {
            calls.iter().map(|call| format!("{} {}", call.id, call.args)).collect()
        }
        Fact::ToolReturned { call, output: Output::Done { text, .. } } => {
            vec![format!("{call} {text}")]
        }
        Fact::ToolReturned { call, output } => vec![format!("{call} {output:?}")],
        _ => Vec::new(),
    });
    told.collect()
}

fn expected(turn: usize) -> Vec<String> {
    let calls = ["a", "b"].map(|call| match tool_call(&turn.to_string(), call) {
        Piece::Call { id, args, .. } => format!("{id} {args}"),
        other => format!("{other:?}"),
    });
    let [a, b] = calls;
    vec![question(turn), a.clone(), b.clone(), a, b, answer(&turn.to_string())]
}

/// Compares all of it, and shows no more than where it differs first.
fn same(told: &[String], expected: &[String]) {
    let differs = told.iter().zip(expected).find(|(told, expected)| told != expected);
    assert_eq!(differs, None, "the log keeps every word");
    assert_eq!(told.len(), expected.len(), "and nothing more");
}

async fn house_of(world: &World, model: &Arc<Strict>) -> (Arc<Host>, SessionId) {
    let models = Arc::new(OneModel::new("test", model.clone()));
    let ports = Ports { models, ..world.ports() };
    let host = Host::start(ports, Settings::default()).await.unwrap();
    let id = host.create("/".as_ref(), "test", "").await.unwrap();
    (host, id)
}

fn compactions(log: &[Entry]) -> Vec<&Compaction> {
    let made = log.iter().filter_map(|entry| match &entry.fact {
        Fact::CompactionEnded(compaction) => Some(compaction),
        _ => None,
    });
    made.collect()
}

/// Talks for so many turns; returns the whole of what must be on record.
async fn talk(
    host: &Host,
    id: SessionId,
    feed: &mut Feed,
    model: &Strict,
    turns: usize,
) -> Vec<String> {
    for turn in 0..turns {
        say(host, id, &question(turn)).await;
        assert_eq!(until_turn_ends(feed).await.last().unwrap(), "ended Finished", "turn {turn}");
        let counted = model.filled.lock().unwrap().last().copied();
        assert_eq!(host.roster.get(id).unwrap().filled, counted, "how full it is, is true");
    }
    (0..turns).flat_map(expected).collect()
}

/// Asks at the end; returns what must have been said if nothing was forgotten.
async fn ask_what_is_remembered(
    host: &Host,
    id: SessionId,
    feed: &mut Feed,
    turns: usize,
) -> [String; 2] {
    say(host, id, "What do you remember?").await;
    assert_eq!(until_turn_ends(feed).await.last().unwrap(), "ended Finished");
    let facts =
        (0..turns).step_by(25).map(|turn| question(turn).lines().last().unwrap().to_owned());
    ["What do you remember?".to_owned(), facts.collect::<Vec<_>>().join("\n")]
}

/// How many tokens were spoken in all, and how many prompts were refused.
async fn long_conversation(bytes: usize) -> (u64, u64) {
    let (world, model, turns) = (World::new([]), Strict::new(bytes, WINDOW), 140);
    let (host, id) = house_of(&world, &model).await;
    let mut feed = feed(&host, id).await;
    let mut expected = talk(&host, id, &mut feed, &model, turns).await;
    expected.extend(ask_what_is_remembered(&host, id, &mut feed, turns).await);
    let log = log(&world, id).await;
    same(&told(&log), &expected);
    let made = compactions(&log);
    assert!(made.len() > 10, "{} times", made.len());
    assert!(made.iter().all(|it| matches!(it, Compaction::Done { .. })), "{made:?}");
    let length = expected.iter().map(|text| model.count(text)).sum();
    (length, model.refused.load(Ordering::Relaxed))
}

#[tokio::test]
async fn two_hundred_thousand_tokens_are_spoken_in_a_window_of_eight_thousand() {
    let (length, refused) = long_conversation(4).await;
    assert!(length > 200_000, "{length} tokens");
    assert_eq!(refused, 0, "every prompt was within the window");
}

#[tokio::test]
async fn a_model_that_counts_more_than_we_guess_is_asked_again_and_forgets_nothing() {
    let (length, refused) = long_conversation(2).await;
    assert!(length > 400_000, "{length} tokens");
    assert!(refused > 0, "we guessed too little at times");
}

#[tokio::test]
async fn a_long_past_is_summed_up_piece_by_piece_for_a_model_with_a_much_smaller_window() {
    let (world, model, turns) = (World::new([]), Strict::new(4, 1 << 20), 60);
    let (host, id) = house_of(&world, &model).await;
    let mut feed = feed(&host, id).await;
    let mut expected = talk(&host, id, &mut feed, &model, turns).await;
    model.window.store(WINDOW, Ordering::Relaxed);
    expected.extend(ask_what_is_remembered(&host, id, &mut feed, turns).await);
    let log = log(&world, id).await;
    same(&told(&log), &expected);
    assert!(matches!(compactions(&log)[..], [Compaction::Done { .. }]), "in one go");
    assert_eq!(model.refused.load(Ordering::Relaxed), 0, "nothing too long was tried");
}

/// Returns more than its caller can be shown.
struct Library(ToolSpec);

impl Tool for Library {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn foresee<'a>(&'a self, _: &'a Call) -> BoxFuture<'a, Result<Deed, String>> {
        future::ready(Ok(Deed::reads())).boxed()
    }

    fn run(&self, _: Call) -> BoxFuture<'_, Result<Reply, String>> {
        future::ready(Ok(long("book", 3_000).into())).boxed()
    }
}

#[tokio::test]
async fn a_result_that_is_longer_than_the_window_does_not_end_the_turn() {
    let (world, model) = (World::new([]), Strict::new(3, WINDOW));
    let tools = Toolbox::default();
    let schema = json!({ "type": "object" });
    let description = "A tool for tests.".into();
    tools.add(Library(ToolSpec { name: "echo".into(), description, schema }));
    let models = Arc::new(OneModel::new("test", model.clone()));
    let ports = Ports { models, tools: Arc::new(tools), ..world.ports() };
    let host = Host::start(ports, Settings::default()).await.unwrap();
    let id = host.create("/".as_ref(), "test", "").await.unwrap();
    let mut feed = feed(&host, id).await;
    say(&host, id, &question(0)).await;
    assert_eq!(until_turn_ends(&mut feed).await.last().unwrap(), "ended Finished");
    let log = log(&world, id).await;
    let results = log.iter().filter_map(|entry| match &entry.fact {
        Fact::ToolReturned { output, .. } => Some(output.text().to_owned()),
        _ => None,
    });
    assert_eq!(results.collect::<Vec<_>>(), vec![long("book", 3_000); 2], "all of it is kept");
    assert!(matches!(compactions(&log)[..], [Compaction::Done { .. }]));
    assert_eq!(model.refused.load(Ordering::Relaxed), 0, "nothing too long was tried");
}
