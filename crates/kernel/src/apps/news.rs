//! What is worth hearing of apps and not worth keeping: how far they are, what changed in them, what they print.

use jiff::Timestamp;
use serde_json::Value;

use crate::apps::Asked;

/// How many characters of a note, of a name and of what is printed are passed on.
const NOTE: usize = 200;
const NAME: usize = 200;
const PRINTED: usize = 4000;
/// How many state keys are told of at once.
const KEYS: usize = 100;
/// Larger parameters are not told again with why they were refused.
const PARAMS: usize = 16 << 10;

/// Something that an app says of itself, unasked.
#[derive(Clone, Debug, PartialEq)]
pub enum Remark {
    /// How far a command has come.
    Progress { request: String, done: f64, total: Option<f64>, note: Option<String> },
    /// What these state keys give is something else now, perhaps by the person's hand.
    StateChanged { keys: Vec<String>, by_person: bool },
    /// It wrote to its console, or something went wrong in it that nobody caught.
    Printed { level: Level, text: String },
}

/// How loud something was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Debug,
    Log,
    Info,
    Warn,
    Error,
}

impl Level {
    const ALL: [Self; 5] = [Self::Debug, Self::Log, Self::Info, Self::Warn, Self::Error];

    pub fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Log => "log",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }

    /// A name that nobody knows is as plain as can be.
    pub fn parse(name: &str) -> Self {
        Self::ALL.into_iter().find(|level| level.name() == name).unwrap_or(Self::Log)
    }
}

impl Remark {
    /// The same, as far as it can be believed and passed on. None if nothing is left of it.
    pub fn sound(self) -> Option<Self> {
        match self {
            Self::Progress { request, done, total, note } => {
                let sound = |number: &f64| number.is_finite() && *number >= 0.0;
                let done = Some(done).filter(sound)?;
                let total = total.filter(sound).filter(|total| *total > 0.0);
                let note = note.map(|note| cut(note, NOTE)).filter(|note| !note.is_empty());
                Some(Self::Progress { request, done, total, note })
            }
            Self::StateChanged { mut keys, by_person } => {
                keys.retain(|key| key.len() <= NAME);
                keys.sort();
                keys.dedup();
                keys.truncate(KEYS);
                (!keys.is_empty()).then_some(Self::StateChanged { keys, by_person })
            }
            Self::Printed { level, text } => {
                Some(Self::Printed { level, text: cut(text, PRINTED) })
            }
        }
    }
}

/// Something about a window that is told and not kept. Whoever asks soon enough is told it again.
#[derive(Clone, Debug, PartialEq)]
pub struct News {
    /// Rises from one to the next.
    pub id: u64,
    pub at: Timestamp,
    /// By its scoped id.
    pub window: String,
    pub what: Telling,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Telling {
    Progress {
        request: String,
        done: f64,
        total: Option<f64>,
        note: Option<String>,
    },
    StateChanged {
        keys: Vec<String>,
    },
    Printed {
        /// Who shows the app that printed it.
        connection: String,
        level: Level,
        text: String,
    },
    /// Somebody wanted something of an app that it was not even asked.
    Refused {
        asked: Asked,
        why: String,
    },
    /// Something does not look as the app has said it would.
    Odd {
        request: Option<String>,
        what: String,
    },
    /// There was more of it than is told.
    LeftOut {
        count: u64,
    },
}

impl Telling {
    pub(super) fn refused(asked: &Asked, why: &str) -> Self {
        let asked = match asked {
            Asked::Command { command, params } => {
                let fits = |params: &&Value| params.to_string().len() <= PARAMS;
                let params = params.as_ref().filter(fits).cloned();
                Asked::Command { command: cut(command.clone(), NAME), params }
            }
            Asked::Query { state_key } => Asked::Query { state_key: cut(state_key.clone(), NAME) },
            Asked::Manifest => Asked::Manifest,
        };
        Self::Refused { asked, why: cut(why.to_owned(), PRINTED) }
    }

    /// Roughly how much it takes up.
    pub(super) fn size(&self) -> usize {
        let text = match self {
            Self::Progress { request, note, .. } => {
                request.len() + note.as_deref().map_or(0, str::len)
            }
            Self::StateChanged { keys } => keys.iter().map(String::len).sum(),
            Self::Printed { connection, text, .. } => connection.len() + text.len(),
            Self::Refused { asked, why } => why.len() + size_of_asked(asked),
            Self::Odd { what, .. } => what.len(),
            Self::LeftOut { .. } => 0,
        };
        text + 100
    }
}

fn size_of_asked(asked: &Asked) -> usize {
    match asked {
        Asked::Manifest => 0,
        Asked::Query { state_key } => state_key.len(),
        Asked::Command { command, params } => {
            command.len() + params.as_ref().map_or(0, |params| params.to_string().len())
        }
    }
}

fn cut(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_left_out_and_what_is_long_is_cut() {
        let progress = |done, total, note: &str| {
            let (request, note) = ("req-1".to_owned(), Some(note.to_owned()));
            Remark::Progress { request, done, total, note }.sound()
        };
        let sound = |done, total, note: Option<&str>| {
            let (request, note) = ("req-1".to_owned(), note.map(str::to_owned));
            Some(Remark::Progress { request, done, total, note })
        };
        assert_eq!(progress(1.0, Some(2.0), "half"), sound(1.0, Some(2.0), Some("half")));
        assert_eq!(progress(1.0, Some(0.0), ""), sound(1.0, None, None));
        assert_eq!(progress(0.0, Some(f64::NAN), ""), sound(0.0, None, None));
        assert_eq!(progress(f64::INFINITY, None, "x"), None);
        assert_eq!(progress(-1.0, None, "x"), None);
        let long = format!("{}…", "ä".repeat(NOTE));
        assert_eq!(progress(1.0, None, &"ä".repeat(300)), sound(1.0, None, Some(&long)));
        let changed = |keys: &[&str]| {
            let keys = keys.iter().map(|key| (*key).to_owned()).collect();
            Remark::StateChanged { keys, by_person: false }
        };
        assert_eq!(changed(&["b", "a", "b"]).sound(), Some(changed(&["a", "b"])));
        assert_eq!(changed(&[&"k".repeat(NAME + 1)]).sound(), None);
    }

    #[test]
    fn large_parameters_are_not_told_again() {
        let asked = |params: &str| Asked::Command {
            command: "put".into(),
            params: Some(Value::String(params.into())),
        };
        let why = || "no".to_owned();
        let told = Telling::refused(&asked("small"), "no");
        assert_eq!(told, Telling::Refused { asked: asked("small"), why: why() });
        let told = Telling::refused(&asked(&"x".repeat(PARAMS)), "no");
        let bare = Asked::Command { command: "put".into(), params: None };
        assert_eq!(told, Telling::Refused { asked: bare, why: why() });
    }
}
