//! What a call would do, in words for whoever must allow it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a call would do, before it does it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Deed {
    pub risk: Risk,
    pub detail: Detail,
    /// What a lasting grant can be about, each to be covered: the commands of a line, a path, a host.
    /// None if only the whole tool can be granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<String>,
    /// A folder of which a lasting grant must speak to cover this: leave for all that the tool does
    /// was given for something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
}

impl Deed {
    /// One that changes nothing.
    pub fn reads() -> Self {
        let detail = Detail::Arguments { args: Value::Null };
        Self { risk: Risk::Reads, detail, subjects: Vec::new(), within: None }
    }
}

/// How much harm a call could do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// It looks at what the session may see, and may safely be done twice.
    Reads,
    /// It changes something in a window that the person has open, and nothing else.
    Shows,
    /// It changes files in the session's folder.
    Edits,
    /// It runs a program that can change nothing outside the session's folder, and reach nobody.
    RunsBoxed,
    /// It runs a program that can do whatever the person can.
    Runs,
    /// It speaks to somebody outside this machine.
    Reaches,
    /// Something else, that others have to know.
    Acts,
}

/// What exactly would happen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "detail", rename_all = "snake_case")]
pub enum Detail {
    Command {
        command: String,
        cwd: String,
        sandboxed: bool,
        /// Why it is not, where it was meant to be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why_not: Option<String>,
    },
    /// A unified diff.
    Change {
        path: String,
        diff: String,
    },
    Address {
        url: String,
    },
    Arguments {
        args: Value,
    },
}
