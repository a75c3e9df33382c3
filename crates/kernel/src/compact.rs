//! Summing up the past, so that a long conversation goes on in a small window.

use std::ops::RangeInclusive;

use futures::StreamExt as _;
use serde_json::json;

use crate::{
    back::Back,
    ports::{Log, Model, ModelError, Piece, StoreError},
    prompt::{self, Part, Prompt},
    state::State,
    tokens,
    turn::Meter,
    update::{Entry, Fact, Failure, Output, Seq, SessionId},
};

const PAGE: usize = 128;
/// A model that finds even this too long cannot sum up anything.
const LEAST_ROOM: u64 = 256;

/// What the model is told when its task is to sum up.
pub const INSTRUCTION: &str = "Sum up the conversation so far for yourself, because you will not \
    see it again. Keep what is needed to go on: what the person wants, what was decided and why, \
    what was done, names of files and other things, what failed, and what is left to do. Write \
    only the summary.";

/// Why a summary was not made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompactError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// What a model is shown in place of everything up to `upto`.
pub(crate) struct Summary {
    pub text: String,
    pub upto: Seq,
    pub tokens_before: u64,
    pub tokens_after: u64,
}

/// Asks the model for a summary of all but the newest steps, as far as those take up no more than
/// `keep` tokens; tells what it used as soon as that is known. A past that is too long to be shown
/// at once is summed up piece by piece, each with the summary of those before it.
pub(crate) async fn sum_up(
    log: &dyn Log,
    session: SessionId,
    state: &State,
    model: &dyn Model,
    system: String,
    keep: u64,
    meter: &mut Meter<'_>,
) -> Result<Summary, CompactError> {
    let mut after = state.summed_up.map_or(Seq(0), |summed_up| summed_up.upto);
    let mut upto = boundary(log, session, state, keep).await?;
    let taken = taken_back(log, session, after, state.last).await?;
    let past = Past { log, session, taken };
    if past.next_steps(after, upto, 0).await?.0.is_empty() {
        // Everything is new, and still it is too much.
        upto = state.last;
    }
    let mut summary = prompt::summary(log, session, state).await?;
    let mut tokens_before = summary.as_deref().map_or(0, tokens::of_text);
    let mut room = model.window().saturating_sub(model.reserve()) / 10 * 9;
    let mut prompt = Prompt { system, parts: Vec::new(), tools: Vec::new() };
    loop {
        let left = tokens::of_text(&prompt.system) + tokens::of_text(INSTRUCTION);
        let left = left + summary.as_deref().map_or(0, tokens::of_text);
        let left = room.saturating_sub(left).max(LEAST_ROOM);
        let (steps, reached) = past.next_steps(after, upto, left).await?;
        let size = steps.iter().map(tokens::of_part).sum::<u64>();
        prompt.parts = shown(summary.as_deref(), shortened(steps, left));
        match ask(model, &prompt, meter).await {
            Err(error) if error.kind == Failure::ContextTooLong && room / 2 > LEAST_ROOM => {
                // It counts more than we guessed.
                room /= 2;
                continue;
            }
            said => summary = Some(said?),
        }
        tokens_before += size;
        after = reached;
        if after >= upto {
            let text = summary.unwrap_or_default();
            let tokens_after = tokens::of_text(&text);
            return Ok(Summary { text, upto, tokens_before, tokens_after });
        }
    }
}

fn shown(summary: Option<&str>, steps: Vec<Part>) -> Vec<Part> {
    let before = summary.map(prompt::summed_up_to);
    let mut parts = prompt::presentable(before.into_iter().chain(steps).collect());
    parts.push(Part::User { text: INSTRUCTION.to_owned(), images: Vec::new() });
    parts
}

async fn ask(
    model: &dyn Model,
    prompt: &Prompt,
    meter: &mut Meter<'_>,
) -> Result<String, ModelError> {
    meter.go_on();
    let mut text = String::new();
    let mut pieces = model.stream(prompt);
    while let Some(piece) = pieces.next().await {
        match piece? {
            Piece::Text(more) => text.push_str(&more),
            Piece::Usage(usage) => meter.count(usage).await,
            // Only its words are wanted.
            _ => (),
        }
    }
    if text.trim().is_empty() {
        return Err(ModelError::new(Failure::Protocol, "the model gave no summary"));
    }
    Ok(text)
}

/// A log, read forwards.
struct Past<'a> {
    log: &'a dyn Log,
    session: SessionId,
    taken: Vec<RangeInclusive<Seq>>,
}

impl Past<'_> {
    /// The oldest steps after `after` that fit into `room`, but one at least, and how far they reach.
    /// A step is taken as a whole, so that no call is parted from its result.
    async fn next_steps(
        &self,
        after: Seq,
        upto: Seq,
        room: u64,
    ) -> Result<(Vec<Part>, Seq), StoreError> {
        let (mut parts, mut step, mut size, mut reached) = (Vec::new(), Vec::new(), 0, after);
        let mut last = after;
        'pages: loop {
            let page = self.log.read(self.session, last, PAGE).await?;
            let Some(newest) = page.last() else { break };
            last = newest.seq;
            for Entry { seq, fact, .. } in page {
                if seq > upto {
                    break 'pages;
                }
                if self.taken.iter().any(|taken| taken.contains(&seq)) {
                    continue;
                }
                if begins(&fact) && !step.is_empty() {
                    if size > room && !parts.is_empty() {
                        return Ok((parts, reached));
                    }
                    parts.append(&mut step);
                    reached = seq.before();
                }
                let part = Part::of(fact);
                size += part.as_ref().map_or(0, tokens::of_part);
                step.extend(part);
            }
        }
        if size > room && !parts.is_empty() {
            return Ok((parts, reached));
        }
        parts.append(&mut step);
        Ok((parts, upto))
    }
}

/// What is too long even by itself is cut, the longest of it most.
fn shortened(mut parts: Vec<Part>, room: u64) -> Vec<Part> {
    if parts.iter().map(tokens::of_part).sum::<u64>() <= room {
        return parts;
    }
    let share = usize::try_from(room).unwrap_or(usize::MAX) / parts.len().max(1);
    for part in &mut parts {
        match part {
            Part::User { text, images } => {
                cut(text, share);
                images.clear();
            }
            Part::Assistant { text, calls, .. } => {
                let share = share / (calls.len() + 1);
                cut(text, share);
                for call in calls {
                    let mut args = call.args.to_string();
                    if cut(&mut args, share) {
                        call.args = json!({ "beginning": args });
                    }
                }
            }
            Part::Pictures { images } => images.clear(),
            Part::Result { output, .. } => {
                if let Output::Done { text, .. } | Output::Failed { message: text, .. } = output {
                    cut(text, share);
                }
            }
        }
    }
    parts
}

/// Keeps as much of a text as takes up so many tokens; says whether that was less than all.
fn cut(text: &mut String, tokens: usize) -> bool {
    let end = text.floor_char_boundary(tokens.saturating_mul(2));
    let is_long = end < text.len();
    if is_long {
        text.truncate(end);
        text.push_str(" [cut]");
    }
    is_long
}

fn begins(fact: &Fact) -> bool {
    matches!(fact, Fact::Said { .. } | Fact::StepStarted { .. })
}

/// The last fact to sum up: where the newest steps that fit into `keep` tokens begin.
async fn boundary(
    log: &dyn Log,
    session: SessionId,
    state: &State,
    keep: u64,
) -> Result<Seq, StoreError> {
    let done = state.summed_up.map_or(Seq(0), |summed_up| summed_up.upto);
    let (mut size, mut upto) = (0, state.last);
    let mut back = Back::from(log, session, state.last.next());
    while let Some(Entry { seq, fact, .. }) = back.next().await? {
        let is_first = begins(&fact);
        size += Part::of(fact).as_ref().map_or(0, tokens::of_part);
        if size > keep || seq <= done {
            break;
        }
        if is_first {
            upto = seq.before();
        }
    }
    Ok(upto)
}

/// What was taken back since `after`: each from its first fact to its last.
async fn taken_back(
    log: &dyn Log,
    session: SessionId,
    after: Seq,
    last: Seq,
) -> Result<Vec<RangeInclusive<Seq>>, StoreError> {
    let (mut taken, mut back) = (Vec::new(), Back::from(log, session, last.next()));
    while let Some(Entry { seq, fact, .. }) = back.next().await? {
        if seq <= after {
            break;
        }
        if let Fact::Rewound { before, .. } = fact {
            taken.push(before..=seq);
        }
    }
    Ok(taken)
}
