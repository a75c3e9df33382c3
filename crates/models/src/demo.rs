//! The model that is built in: it follows fixed rules, needs no network, and says so.
//!
//! It keeps nothing between requests. What the prompt shows after the newest message is what it has
//! done about that message so far, and decides what it does next.

mod request;
mod script;
#[cfg(test)]
mod tests;
mod tour;
mod words;

use std::{collections::HashMap, iter};

use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use kernel::{
    compact,
    ports::{Model, ModelError, Piece},
    prompt::{Part, Prompt},
    update::{Failure, Output, ToolRequest, Usage},
};

use self::{
    request::Request,
    script::{Fail, Order, Script},
};

pub const ID: &str = "demo";

/// Says what it is told to, runs the tools it is told to, and understands nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demo;

/// As if it read as much as the small ones of the trade.
const WINDOW: u64 = 100_000;

impl Model for Demo {
    fn window(&self) -> u64 {
        WINDOW
    }

    fn is_free(&self) -> bool {
        true
    }

    fn sees(&self) -> Option<bool> {
        Some(false)
    }

    fn stream(&self, prompt: &Prompt) -> BoxStream<'static, Result<Piece, ModelError>> {
        let scene = Scene::of(prompt);
        let script = script::parse(scene.message);
        let pause = script.pause;
        let pieces = stream::iter(reply(&scene, script, prompt).pieces(tokens(read(prompt))));
        if pause.is_zero() {
            return pieces.boxed();
        }
        let paced = pieces.then(move |piece| async move {
            if !matches!(piece, Ok(Piece::Usage(_))) {
                tokio::time::sleep(pause).await;
            }
            piece
        });
        paced.boxed()
    }
}

/// The newest message, and what was done about it.
struct Scene<'a> {
    message: &'a str,
    images: usize,
    /// How often tools were called.
    steps: usize,
    calls: Vec<(&'a ToolRequest, &'a Output)>,
}

impl<'a> Scene<'a> {
    fn of(prompt: &'a Prompt) -> Self {
        let newest = prompt.parts.iter().rposition(|part| matches!(part, Part::User { .. }));
        let parts = &prompt.parts[newest.unwrap_or(0)..];
        let (message, images) = match parts.first() {
            Some(Part::User { text, images }) => (text.as_str(), images.len()),
            _ => ("", 0),
        };
        let outputs: HashMap<&str, &Output> = parts.iter().filter_map(result).collect();
        let steps: Vec<&[ToolRequest]> = parts.iter().filter_map(calls).collect();
        let output = |call: &ToolRequest| {
            outputs.get(call.id.as_str()).copied().unwrap_or(&Output::Interrupted)
        };
        let calls = steps.iter().copied().flatten().map(|call| (call, output(call))).collect();
        Self { message, images, steps: steps.len(), calls }
    }
}

fn calls(part: &Part) -> Option<&[ToolRequest]> {
    match part {
        Part::Assistant { calls, .. } if !calls.is_empty() => Some(calls),
        Part::Assistant { .. }
        | Part::User { .. }
        | Part::Result { .. }
        | Part::Pictures { .. } => None,
    }
}

fn result(part: &Part) -> Option<(&str, &Output)> {
    match part {
        Part::Result { call, output } => Some((call, output)),
        Part::User { .. } | Part::Assistant { .. } | Part::Pictures { .. } => None,
    }
}

/// What will be said, in this order.
#[derive(Default)]
struct Reply {
    reasoning: String,
    text: String,
    /// How many words of filler follow the text.
    chunks: u64,
    calls: Vec<Order>,
    failure: Option<Failure>,
}

fn reply(scene: &Scene, script: Script, prompt: &Prompt) -> Reply {
    if scene.message == compact::INSTRUCTION {
        return Reply { text: words::digest(&prompt.parts), ..Reply::default() };
    }
    if !script.problems.is_empty() {
        return Reply { text: words::complaint(&script.problems), ..Reply::default() };
    }
    let is_free = script.steps.is_empty() && script.chunks.is_none() && script.fail.is_none();
    let has = |order: &Order| prompt.tools.iter().any(|tool| tool.name == order.name);
    let offered = |request: &Request| request.steps().iter().flatten().all(has);
    let request = is_free.then(|| Request::parse(&script.plain)).flatten().filter(offered);
    let steps = match &request {
        Some(request) => request.steps(),
        None => script.steps,
    };
    let reasoning = match scene.steps {
        0 if script.reason => words::thoughts(scene.message, steps.len()),
        _ => String::new(),
    };
    if let Some(calls) = steps.into_iter().nth(scene.steps) {
        return Reply { reasoning, calls, ..Reply::default() };
    }
    if let Some(Fail::With(failure)) = script.fail {
        return Reply { reasoning, failure: Some(failure), ..Reply::default() };
    }
    let mut text = match (request, scene.calls.first()) {
        (Some(Request::Show), _) => tour::SHOW.into(),
        (Some(Request::Plan), _) => words::carried_out(&scene.calls),
        (Some(request), Some((_, output))) => words::outcome(&request, output),
        (None, Some(_)) => words::summary(&scene.calls),
        (_, None) if is_free => words::answer(&script.plain, scene.images),
        (_, None) => String::new(),
    };
    let failure = script.fail.map(|_| Failure::Network);
    let chunks = script.chunks.unwrap_or_default();
    if failure.is_some() && text.is_empty() && chunks == 0 {
        text = "This answer was going so well until".into();
    } else if !text.is_empty() && chunks > 0 {
        text += "\n\n";
    }
    Reply { reasoning, text, chunks, calls: Vec::new(), failure }
}

impl Reply {
    /// Word by word, and lazily: a long answer is never held whole.
    fn pieces(self, input_tokens: u64) -> impl Iterator<Item = Result<Piece, ModelError>> + Send {
        let filler = (1..=self.chunks).map(|n| match n {
            1 => "word1".to_owned(),
            n => format!(" word{n}"),
        });
        let reasoning = in_words(&self.reasoning).into_iter().map(Piece::Reasoning);
        let text = in_words(&self.text).into_iter().chain(filler).map(Piece::Text);
        // Nameless: the kernel gives each call a name that is new to the conversation, of which we
        // may not see the beginning.
        let calls = self.calls.into_iter();
        let calls = calls.map(|Order { name, args }| Piece::Call { id: String::new(), name, args });
        let mut pieces = reasoning.chain(text).chain(calls);
        let mut bytes = 0;
        let mut ended = false;
        iter::from_fn(move || {
            if let Some(piece) = pieces.next() {
                bytes += written(&piece);
                return Some(Ok(piece));
            }
            if ended {
                return None;
            }
            ended = true;
            let usage = Usage { input_tokens, output_tokens: tokens(bytes), ..Usage::default() };
            Some(self.failure.map_or(Ok(Piece::Usage(usage)), |kind| Err(words::failure(kind))))
        })
    }
}

fn in_words(text: &str) -> Vec<String> {
    text.split_inclusive(char::is_whitespace).map(str::to_owned).collect()
}

fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

fn written(piece: &Piece) -> usize {
    match piece {
        Piece::Text(text) | Piece::Reasoning(text) => text.len(),
        Piece::Call { name, args, .. } => name.len() + args.to_string().len(),
        Piece::Calling { .. } | Piece::Trace(_) | Piece::Usage(_) => 0,
    }
}

fn read(prompt: &Prompt) -> usize {
    let part = |part: &Part| match part {
        Part::User { text, .. } | Part::Result { output: Output::Done { text, .. }, .. } => {
            text.len()
        }
        Part::Assistant { text, calls, .. } => {
            let call = |call: &ToolRequest| call.name.len() + call.args.to_string().len();
            text.len() + calls.iter().map(call).sum::<usize>()
        }
        Part::Result { output: Output::Failed { message, .. }, .. } => message.len(),
        Part::Result { output: Output::Interrupted, .. } | Part::Pictures { .. } => 0,
    };
    prompt.system.len() + prompt.parts.iter().map(part).sum::<usize>()
}
