//! What was said in a conversation, row by row: the questions where they were taken, and one answer per turn.

use jiff::Timestamp;
use kernel::{
    question::{About, Question},
    update::{Attachment, Entry, Fact, Message, Origin, Outcome, Seq},
};

use super::attachments::MOST;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    User,
    Agent,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub seq: Seq,
    pub at: Timestamp,
    pub role: Role,
    pub content: String,
    /// What came with the words.
    pub files: Vec<Filed>,
}

/// A picture, and the place in the log where it is found again: the so-manieth of a fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Filed {
    pub seq: Seq,
    pub index: usize,
    pub file: Attachment,
}

/// All that came with one fact.
pub fn filed(seq: Seq, files: &[Attachment]) -> impl DoubleEndedIterator<Item = Filed> {
    files.iter().enumerate().map(move |(index, file)| Filed { seq, index, file: file.clone() })
}

impl Row {
    pub fn new(seq: Seq, at: Timestamp, role: Role, content: String) -> Self {
        Self { seq, at, role, content, files: Vec::new() }
    }

    /// What somebody said; none if it has no words.
    pub fn said(seq: Seq, at: Timestamp, message: &Message) -> Option<Self> {
        let files = filed(seq, &message.attachments).collect();
        let content = message.text.clone();
        let is_said = !content.trim().is_empty();
        is_said.then_some(Self { seq, at, role: Role::User, content, files })
    }
}

/// Where a message was taken: where it waited, or where its turn began at once.
pub fn taken(fact: &Fact) -> Option<&Message> {
    match fact {
        Fact::Queued(message) | Fact::Said { message, queued: None } => Some(message),
        _ => None,
    }
}

/// The texts of a turn as one, with how it ended where that was not well.
pub fn answer<'a>(texts: impl IntoIterator<Item = &'a str>, outcome: &Outcome) -> String {
    let mut parts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    let ending = match outcome {
        Outcome::Finished if parts.is_empty() => Some("Done.".to_owned()),
        Outcome::Finished => None,
        Outcome::Cancelled => Some("Stopped.".to_owned()),
        Outcome::Failed { reason, .. } => Some(format!("Failed: {reason}")),
        Outcome::Interrupted => {
            Some("Interrupted: the server stopped before the answer was finished.".to_owned())
        }
    };
    parts.extend(ending.as_deref());
    parts.join(GAP)
}

/// What stands between the answers of one turn.
pub const GAP: &str = "\n\n";
/// What is answered to a message that was called off while it waited.
pub const CALLED_OFF: &str = "Stopped.";

/// A question to the person, for a phone that cannot answer it.
pub fn asked(question: &Question) -> String {
    let what = match &question.about {
        About::Leave { .. } => format!("May I? {}", question.title),
        About::Choice { text, .. } | About::Form { text, .. } | About::Visit { text, .. } => {
            text.clone()
        }
    };
    format!("{what}\n\nThis waits for your answer in the page of Megaron.")
}

/// Who said it, for others: the door it came by.
pub fn door(origin: &Origin) -> String {
    match origin {
        Origin::User => "Browser".to_owned(),
        Origin::Applet { slug } => format!("Applet {slug}"),
        Origin::Agent { .. } => "Agent".to_owned(),
        Origin::Schedule { slug, .. } => format!("Schedule {slug}"),
        Origin::App { id, .. } => format!("App {id}"),
        Origin::Widget { tool, .. } => format!("Widget of {tool}"),
    }
}

/// Builds rows from facts that come newest first.
#[derive(Default)]
pub struct Backwards {
    pub rows: Vec<Row>,
    /// An answer whose texts are still to come: its place among the rows, and how it ended.
    open: Option<(usize, Outcome)>,
    texts: Vec<String>,
    /// Pictures of its tools, newest first and no more than are told.
    files: Vec<Filed>,
}

impl Backwards {
    pub fn hear(&mut self, Entry { seq, at, fact }: Entry) {
        if let Some(message) = taken(&fact) {
            self.begins(&fact);
            self.rows.extend(Row::said(seq, at, message));
            return;
        }
        self.begins(&fact);
        let content = match fact {
            Fact::Answered(answer) if self.open.is_some() => return self.texts.push(answer.text),
            Fact::ToolReturned { output, .. } if self.open.is_some() => {
                self.files.extend(filed(seq, output.images()).rev());
                return self.files.truncate(MOST);
            }
            Fact::TurnEnded(outcome) => {
                self.open = Some((self.rows.len(), outcome));
                String::new()
            }
            Fact::Unqueued { .. } => CALLED_OFF.to_owned(),
            Fact::Asked(question) => asked(&question),
            _ => return,
        };
        self.rows.push(Row::new(seq, at, Role::Agent, content));
    }

    /// Whether the rows before this place are whole.
    pub fn is_whole(&self, until: usize) -> bool {
        self.open.as_ref().is_none_or(|(place, _)| *place >= until)
    }

    /// A turn began here: its answer is whole.
    fn begins(&mut self, fact: &Fact) {
        let Fact::Said { .. } = fact else { return };
        if let Some((place, outcome)) = self.open.take() {
            self.texts.reverse();
            let texts = std::mem::take(&mut self.texts);
            self.files.reverse();
            self.rows[place].files = std::mem::take(&mut self.files);
            self.rows[place].content = answer(texts.iter().map(String::as_str), &outcome);
        }
    }
}
