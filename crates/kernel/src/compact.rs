//! Summing up the past, so that a long conversation goes on in a small window.

use futures::StreamExt as _;

use crate::{
    ports::{Log, Model, ModelError, Piece, StoreError},
    prompt::{self, Part, Prompt},
    state::State,
    tokens,
    turn::Meter,
    update::{Entry, Fact, Failure, Seq, SessionId},
};

const PAGE: usize = 128;

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
/// `keep` tokens; tells what it used as soon as that is known.
pub(crate) async fn sum_up(
    log: &dyn Log,
    session: SessionId,
    state: &State,
    model: &dyn Model,
    system: String,
    keep: u64,
    meter: &mut Meter<'_>,
) -> Result<Summary, CompactError> {
    // What is being summed up must fit as well; the instruction takes little.
    let room = model.window().saturating_sub(model.reserve()) / 10 * 9;
    let past = |upto| State { last: upto, turn: None, ..state.clone() };
    let mut upto = boundary(log, session, state, keep).await?;
    let mut parts = prompt::recall(log, session, &past(upto), room).await?;
    if parts.is_empty() {
        // Everything is new, and still it is too much.
        upto = state.last;
        parts = prompt::recall(log, session, &past(upto), room).await?;
    }
    let tokens_before = parts.iter().map(tokens::of_part).sum();
    parts.push(Part::User { text: INSTRUCTION.to_owned(), images: Vec::new() });
    let prompt = Prompt { system, parts, tools: Vec::new() };
    let mut text = String::new();
    let mut pieces = model.stream(&prompt);
    while let Some(piece) = pieces.next().await {
        match piece? {
            Piece::Text(more) => text.push_str(&more),
            Piece::Usage(usage) => meter.count(usage).await,
            // Only its words are wanted.
            _ => (),
        }
    }
    if text.trim().is_empty() {
        let message = "the model gave no summary";
        return Err(ModelError::new(Failure::Protocol, message).into());
    }
    let tokens_after = tokens::of_text(&text);
    Ok(Summary { text, upto, tokens_before, tokens_after })
}

/// The last fact to sum up: where the newest steps that fit into `keep` tokens begin.
async fn boundary(
    log: &dyn Log,
    session: SessionId,
    state: &State,
    keep: u64,
) -> Result<Seq, StoreError> {
    let done = state.summed_up.map_or(Seq(0), |summed_up| summed_up.upto);
    let (mut before, mut size, mut upto) = (state.last.next(), 0, state.last);
    loop {
        let page = log.read_back(session, before, PAGE).await?;
        let Some(oldest) = page.last() else { return Ok(upto) };
        before = oldest.seq;
        for Entry { seq, fact, .. } in page {
            let begins = matches!(fact, Fact::Said { .. } | Fact::StepStarted { .. });
            size += Part::of(fact).as_ref().map_or(0, tokens::of_part);
            if size > keep || seq <= done {
                return Ok(upto);
            }
            if begins {
                upto = seq.before();
            }
        }
    }
}
