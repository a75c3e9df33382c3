//! A conversation as a person reads it, from the facts of its log.

use std::fmt::Write as _;

use jiff::Timestamp;
use kernel::{
    back::{Back, END},
    host::Host,
    ports::StoreError,
    update::{Compaction, Entry, Fact, Outcome, Seq, SessionId},
};
use serde::Serialize;

/// Of a longer conversation the newest part is told.
const BYTES: usize = 256 * 1024;
/// And of each thing said at most so much.
const LINE_BYTES: usize = 16 * 1024;

#[derive(Debug, PartialEq, Serialize)]
pub struct Transcript {
    /// Something further back was left out.
    pub shortened: bool,
    /// Oldest first.
    pub lines: Vec<Line>,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct Line {
    pub seq: Seq,
    pub at: Timestamp,
    pub who: Who,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    User,
    Agent,
    Tool,
    /// The house itself.
    Note,
}

impl Transcript {
    pub async fn read(host: &Host, session: SessionId) -> Result<Self, StoreError> {
        let (mut lines, mut bytes) = (Vec::new(), 0);
        let mut back = Back::from(host.ports.log.as_ref(), session, END);
        let shortened = 'reading: loop {
            let Some(entry) = back.next().await? else { break false };
            for line in lines_of(&entry) {
                bytes += line.text.len();
                if bytes > BYTES {
                    break 'reading true;
                }
                lines.push(line);
            }
        };
        lines.reverse();
        Ok(Self { shortened, lines })
    }

    pub fn markdown(&self, title: &str) -> String {
        let mut text = format!("# {title}\n");
        if self.shortened {
            text.push_str("\n*What came before this is left out.*\n");
        }
        for Line { who, text: said, .. } in &self.lines {
            let said = said.trim_end();
            // Writing to a string does not fail.
            match who {
                Who::User => write!(text, "\n## User\n\n{said}\n"),
                Who::Agent => write!(text, "\n## Agent\n\n{said}\n"),
                Who::Tool => write!(text, "\n> {}\n", said.replace('\n', "\n> ")),
                Who::Note => write!(text, "\n*{said}*\n"),
            }
            .ok();
        }
        text
    }
}

/// The last thing the agent of a session said.
pub async fn last_answer(host: &Host, id: SessionId) -> Result<Option<String>, StoreError> {
    let mut back = Back::from(host.ports.log.as_ref(), id, END);
    while let Some(entry) = back.next().await? {
        if let Fact::Answered(answer) = entry.fact
            && !answer.text.is_empty()
        {
            return Ok(Some(answer.text));
        }
    }
    Ok(None)
}

/// What a fact tells a reader, newest first.
fn lines_of(entry: &Entry) -> Vec<Line> {
    let line = |who, text: &str| Line { seq: entry.seq, at: entry.at, who, text: shorten(text) };
    let note = |text: &str| vec![line(Who::Note, text)];
    match &entry.fact {
        Fact::Said { message, .. } => vec![line(Who::User, &message.text)],
        Fact::Answered(answer) => {
            let calls = answer.calls.iter().rev().map(|call| line(Who::Tool, &call.title));
            let text = (!answer.text.is_empty()).then(|| line(Who::Agent, &answer.text));
            calls.chain(text).collect()
        }
        Fact::ToolReturned { output, .. } => vec![line(Who::Tool, output.text())],
        Fact::CompactionEnded(Compaction::Done { .. }) => note("What came before was summed up."),
        Fact::Asked(question) => note(&format!("The person was asked: {}", question.title)),
        Fact::Settled { verdict, .. } => note(&format!("That was {}.", verdict.name())),
        Fact::TurnEnded(Outcome::Failed { reason, .. }) => note(reason),
        Fact::TurnEnded(outcome @ (Outcome::Cancelled | Outcome::Interrupted)) => {
            note(&format!("The turn was {}.", outcome.name()))
        }
        Fact::TurnEnded(Outcome::Finished)
        | Fact::Opened { .. }
        | Fact::Renamed { .. }
        | Fact::EnvHinted { .. }
        | Fact::ModelChanged { .. }
        | Fact::ModeChanged { .. }
        | Fact::ContextChanged { .. }
        | Fact::Embedded(_)
        | Fact::WindowOpened(_)
        | Fact::WindowChanged { .. }
        | Fact::WindowClosed { .. }
        | Fact::App(_)
        | Fact::Desktop(_)
        | Fact::Widget(_)
        | Fact::Observed
        | Fact::Queued(_)
        | Fact::Unqueued { .. }
        | Fact::StepStarted { .. }
        | Fact::ToolStarted { .. }
        | Fact::CompactionStarted
        | Fact::CompactionEnded(Compaction::Failed { .. })
        | Fact::ModelLent { .. }
        | Fact::TaskOpened(_)
        | Fact::TaskMoved(_)
        | Fact::TaskClosed { .. }
        | Fact::Rewound { .. } => Vec::new(),
    }
}

fn shorten(text: &str) -> String {
    if text.len() <= LINE_BYTES {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(LINE_BYTES);
    format!("{}…", &text[..end])
}
