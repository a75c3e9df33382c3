//! What is asked of the person, how it may be answered, and what came of it.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::toolbox::{Caller, Deed};

/// Something only the person can say. It waits in the log of its session, and so survives a crash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub id: Uuid,
    /// The tool call of the running turn that waits for the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    pub caller: Caller,
    /// The tool that wants to know, or wants to be run.
    pub tool: String,
    /// What it is about, in a line: `Writing notes.md`.
    pub title: String,
    #[serde(flatten)]
    pub about: About,
    /// Unanswered by then, it counts as denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum About {
    /// Whether a tool may do this.
    Leave {
        #[serde(flatten)]
        deed: Deed,
        /// Why the person is asked at all.
        why: String,
        /// A call with the same arguments that was cut off, and may have had its effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        doubt: Option<String>,
    },
    /// One of these, or the person's own words where `free`.
    Choice { text: String, choices: Vec<String>, free: bool },
    /// Values in the shape of a JSON Schema.
    Form { text: String, schema: Value },
    /// Something to be done at an address, such as signing in.
    Visit { text: String, url: String },
}

/// What a person may say to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    Allow {
        scope: Scope,
        /// Of what is allowed beyond this once; all that the tool does if absent.
        pattern: Option<String>,
        /// How long that holds.
        lasts: Option<Duration>,
    },
    Deny {
        reason: Option<String>,
    },
    /// The chosen or written text, or the values of a form.
    Answer(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    Once,
    /// To the view that asked, for as long as that is shown.
    View,
    /// In this session, until it is revoked.
    Session,
    /// In every session, until it is revoked.
    Always,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    Allowed {
        scope: Scope,
    },
    Denied {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Answered {
        value: Value,
    },
    /// Nobody said anything in time.
    Expired,
    /// It no longer matters.
    Withdrawn,
}

impl Verdict {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Allowed { .. } => "allowed",
            Self::Denied { .. } => "denied",
            Self::Answered { .. } => "answered",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}
