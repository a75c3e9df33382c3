//! What people are told of a session while they look elsewhere: read from its facts.

use jiff::{SignedDuration, Timestamp};
use kernel::{
    ports::{Log, StoreError},
    question::{About, Question},
    state::State,
    update::{Entry, Fact, Origin, Outcome, Seq, SessionId},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::settings::Kind;

/// A turn that took so long is worth a word.
const LONG: SignedDuration = SignedDuration::from_secs(30);
/// How much of what was said is told.
const CHARS: usize = 200;
const TITLE_CHARS: usize = 60;
const PAGE: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    pub kind: Kind,
    pub session: SessionId,
    pub seq: Seq,
    pub at: Timestamp,
    title: String,
    text: String,
    /// The question that waits.
    pub question: Option<Uuid>,
    /// The turn went well, so it is on record whether somebody saw the answer.
    pub went_well: bool,
}

impl Notice {
    /// What this fact is worth telling of, if it is.
    pub async fn of(
        log: &dyn Log,
        session: SessionId,
        state: &State,
        entry: &Entry,
    ) -> Result<Option<Self>, StoreError> {
        let Entry { seq, at, fact } = entry;
        let (kind, text, question) = match fact {
            Fact::Asked(question) => (Kind::Question, asked(question), Some(question.id)),
            Fact::TurnEnded(outcome) => {
                let Some(told) = ended(log, session, state, entry, outcome).await? else {
                    return Ok(None);
                };
                (told.0, told.1, None)
            }
            _ => return Ok(None),
        };
        let name = [state.name.as_str(), state.summary.as_deref().unwrap_or_default()];
        let title = name.into_iter().find(|name| !name.trim().is_empty()).unwrap_or("Megaron");
        let (title, text) = (short(title, TITLE_CHARS), short(&text, CHARS));
        let went_well = matches!(fact, Fact::TurnEnded(Outcome::Finished));
        let (seq, at) = (*seq, *at);
        Ok(Some(Self { kind, session, seq, at, title, text, question, went_well }))
    }

    /// What the device is sent. Sealed, and little all the same.
    pub fn payload(&self, hides: bool) -> Value {
        let (title, body) = match (hides, self.kind) {
            (false, _) => (self.title.as_str(), self.text.as_str()),
            (true, Kind::Question) => ("Megaron", "Something waits for your answer."),
            (true, Kind::Task) => ("Megaron", "A task has ended."),
            (true, Kind::Message) => ("Megaron", "There is a message for you."),
            (true, Kind::Answer) => ("Megaron", "There is an answer."),
        };
        json!({
            "title": title,
            "body": body,
            "kind": self.kind,
            "sessionId": self.session,
            "seq": self.seq,
        })
    }

    pub fn urgency(&self) -> &'static str {
        match self.kind {
            Kind::Question => "high",
            Kind::Task | Kind::Message => "normal",
            Kind::Answer => "low",
        }
    }
}

fn asked(question: &Question) -> String {
    match &question.about {
        About::Leave { .. } => format!("May I? {}", question.title),
        About::Choice { text, .. } | About::Form { text, .. } | About::Visit { text, .. } => {
            text.clone()
        }
    }
}

/// What a turn was, and its last words.
async fn ended(
    log: &dyn Log,
    session: SessionId,
    state: &State,
    end: &Entry,
    outcome: &Outcome,
) -> Result<Option<(Kind, String)>, StoreError> {
    let (mut planned, mut words) = (false, String::new());
    let mut before = end.seq;
    let (began, origin) = 'turn: loop {
        let facts = log.read_back(session, before, PAGE).await?;
        let Some(oldest) = facts.last() else { return Ok(None) };
        before = oldest.seq;
        for Entry { at, fact, .. } in facts {
            match fact {
                Fact::Said { message, .. } => break 'turn (at, message.origin),
                Fact::TaskOpened(_) | Fact::TaskMoved(_) | Fact::TaskClosed { .. } => {
                    planned = true;
                }
                Fact::Answered(answer) if words.is_empty() => words = answer.text,
                _ => (),
            }
        }
    };
    let kind = match origin {
        Origin::Schedule { .. } => Kind::Task,
        // One that another made works for that one.
        Origin::Agent { .. } if state.parent.is_some() => return Ok(None),
        Origin::Agent { .. }
        | Origin::Applet { .. }
        | Origin::App { .. }
        | Origin::Widget { .. } => Kind::Message,
        Origin::User if planned || end.at.duration_since(began) >= LONG => Kind::Task,
        Origin::User => Kind::Answer,
    };
    let text = match outcome {
        // Whoever stopped it knows.
        Outcome::Cancelled => return Ok(None),
        Outcome::Finished if words.trim().is_empty() => "Done.".to_owned(),
        Outcome::Finished => words,
        Outcome::Failed { reason, .. } => format!("Failed: {reason}"),
        Outcome::Interrupted => "Interrupted: the server stopped.".to_owned(),
    };
    Ok(Some((kind, text)))
}

/// In one line, and not too long.
fn short(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
