//! What is said and not kept: signals, the message that is being written, the context as it stands.

use jiff::Timestamp;
use kernel::{
    feed::Draft,
    update::{Context, Seq, SessionId, Signal},
};
use uuid::Uuid;

use super::{Deltas, Line, write};
use crate::caco::{
    frames::{Body, Event, Frame, Iso},
    names::{
        BUDGET, CONTEXT, INTENT, PRINTED, PROGRESS, REASONING, RELOAD, RETRY, TEXT, UNRECORDED,
        WIDGET, derive, event_id, hash, message_id, reasoning_id,
    },
};

pub fn passing(session: SessionId, after: Seq, at: Timestamp, signal: &Signal) -> Vec<Line> {
    let ephemeral = |id, body| ephemeral(session, after, at, id, body);
    match signal {
        Signal::Text { step, delta, size } => {
            let piece = Piece { text: delta, size: *size, replace: false };
            text(session, after, at, *step, &piece).into()
        }
        Signal::Reasoning { step, delta, size } => {
            let reasoning_id = reasoning_id(session, *step);
            let body = Body::ReasoningDelta { reasoning_id, delta_content: delta, replace: false };
            [write(&ephemeral(derive(session, *step, REASONING + *size as u64), body))].into()
        }
        Signal::Intent { text } => {
            [write(&ephemeral(derive(session, after, INTENT), Body::Intent { intent: text }))]
                .into()
        }
        // This socket's clients see a call when it is whole, and what apps say in the dialect of apps.
        Signal::Calling { .. } | Signal::App(_) => Vec::new(),
        Signal::Retrying { reason, attempt, attempts, wait } => {
            let seconds = wait.as_secs_f64();
            let message =
                format!("{reason}; trying again in {seconds:.0} s ({attempt} of {attempts})");
            let body = Body::Info { info_type: "retry", message: &message };
            let id = derive(session, after, RETRY + u64::from(*attempt));
            vec![write(&ephemeral(id, body))]
        }
        Signal::Printed { call, delta, size } => {
            let body = Body::ToolPrinted { tool_call_id: call, partial_output: delta };
            let id = derive(session, after, PRINTED + hash(&(call, size)));
            vec![write(&ephemeral(id, body))]
        }
        Signal::Progress { call, message, done, total } => {
            let body = Body::ToolProgress {
                tool_call_id: call,
                progress_message: message,
                progress: *done,
                total: *total,
            };
            let id = derive(session, after, PROGRESS + hash(&(call, message, done.to_bits())));
            vec![write(&ephemeral(id, body))]
        }
        Signal::WidgetTools { call } => {
            let id = derive(session, after, WIDGET + hash(&(call, at.as_nanosecond())));
            vec![write(&ephemeral(id, Body::WidgetTools { tool_call_id: call }))]
        }
        Signal::Writing { step, index, name } => {
            let id = derive(session, *step, WIDGET + *index as u64);
            let body = Body::WidgetWriting { id: format!("{}:{index}", step.0), tool_name: name };
            vec![write(&ephemeral(id, body))]
        }
        Signal::NearBudget(standing) => {
            let message = standing.to_string();
            let body = Body::Info { info_type: "budget", message: &message };
            let id = derive(session, after, BUDGET + standing.limit.place as u64);
            vec![write(&ephemeral(id, body))]
        }
        Signal::ReloadWanted => {
            vec![write(&ephemeral(derive(session, after, RELOAD), Body::Reload {}))]
        }
        Signal::Unrecorded { reason } => {
            let body = Body::Error { error_type: "storage", message: reason };
            [write(&ephemeral(derive(session, after, UNRECORDED), body))].into()
        }
    }
}

/// The whole of the open message, for one who joins in its middle.
pub fn draft(session: SessionId, last: Seq, at: Timestamp, draft: &Draft) -> Vec<Line> {
    let mut lines = Vec::new();
    if !draft.reasoning.is_empty() {
        let reasoning_id = reasoning_id(session, draft.step);
        let id = derive(session, draft.step, REASONING + draft.reasoning.len() as u64);
        let delta_content = &draft.reasoning;
        let body = Body::ReasoningDelta { reasoning_id, delta_content, replace: true };
        lines.push(write(&ephemeral(session, last, at, id, body)));
    }
    if !draft.text.is_empty() {
        let piece = Piece { text: &draft.text, size: draft.text.len(), replace: true };
        lines.extend(text(session, last, at, draft.step, &piece));
    }
    lines
}

struct Piece<'a> {
    text: &'a str,
    size: usize,
    replace: bool,
}

/// Under both names, the native one first; a connection that knows both sees one id.
fn text(session: SessionId, after: Seq, at: Timestamp, step: Seq, piece: &Piece<'_>) -> [Line; 2] {
    let Piece { text, size, replace } = *piece;
    let (id, message_id) = (derive(session, step, TEXT + size as u64), message_id(session, step));
    let native = Body::NativeDelta {
        message_id,
        delta_content: text,
        total_response_size_bytes: size,
        replace,
    };
    let seed = Body::SeedDelta { message_id, content: text, replace };
    [(Deltas::Native, native), (Deltas::Seed, seed)].map(|(name, body)| {
        let line = write(&ephemeral(session, after, at, id, body));
        Line { name: Some(name), ..line }
    })
}

fn ephemeral(session: SessionId, after: Seq, at: Timestamp, id: Uuid, body: Body<'_>) -> Frame<'_> {
    let parent_id = (after.0 > 0).then(|| event_id(session, after));
    let event = Event { body, id, timestamp: Iso(at), parent_id, ephemeral: true };
    Frame::Event { session_id: session, seq: None, event }
}

/// The context as it stands at the end of a history.
pub fn context(session: SessionId, last: Seq, at: Timestamp, context: &Context) -> Line {
    let body = Body::Context { reason: "load", context, set_name: None };
    write(&ephemeral(session, last, at, derive(session, last, CONTEXT), body))
}
