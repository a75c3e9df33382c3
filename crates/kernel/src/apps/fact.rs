//! What happened between the house and the apps in its windows.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::windows::By;

/// A step of the App Protocol. Windows are named by their scoped ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "app", rename_all = "snake_case")]
pub enum AppFact {
    /// An app has registered.
    Ready {
        window: String,
        connection: String,
        /// Tells one document from the next, where the client says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instance: Option<String>,
        /// Which load of the app this is: the same again for a document that was there before.
        generation: u64,
        /// How far in the journal it has been brought, where the client says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replayed: Option<u64>,
    },
    /// The app of a window can no longer be reached.
    Lost {
        window: String,
        reason: String,
    },
    /// Another connection answers for a window.
    Owner {
        window: String,
        connection: String,
        reason: OwnerReason,
    },
    Request(AppRequest),
    Response {
        request: String,
        response: Response,
        elapsed_ms: u64,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        late: bool,
        /// Where an app has said it only since it was asked: whether the command is kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep: Option<Keep>,
        /// Of a command that was carried out and can be taken back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inverse: Option<Inverse>,
    },
    Failed {
        request: String,
        reason: FailedReason,
    },
    /// Something was said that nobody had asked for, or that was not theirs to say.
    Rejected {
        connection: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<String>,
        /// Where that can be known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<String>,
        why: String,
    },
    /// A journal was played again, from one place in it to another.
    Replay {
        window: String,
        from: u64,
        to: u64,
        failed: u64,
    },
    /// A journal was let go, for it is of another app than the one that loaded.
    Retired {
        window: String,
    },
    /// An app told of what was done in it.
    Interaction {
        window: String,
        content: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instructions: Option<String>,
        /// What is in the window.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        app_id: Option<String>,
        /// The agent is told when its next turn begins, and not before.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        inform: bool,
    },
    /// A file was opened in a window.
    File {
        window: String,
        path: String,
    },
    /// A person took a window out of the hands of agents: what these want done there waits.
    HandsTaken {
        window: String,
    },
    /// Agents may go on there.
    HandsBack {
        window: String,
        reason: BackReason,
    },
    /// The person changed what an app shows, under these of its state keys.
    Edited {
        window: String,
        keys: Vec<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppRequest {
    pub request: String,
    pub window: String,
    /// The load of the app that it is sent to.
    pub generation: u64,
    /// A command that is played again is kept without its parameters: the journal has them.
    pub asked: Asked,
    pub cause: Cause,
    pub deadline_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Of a command: its place in the window's journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    #[serde(default, skip_serializing_if = "Keep::is_always")]
    pub keep: Keep,
    /// The app that said it is there, by its own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_app: Option<String>,
    /// Who wanted it, if that was anybody but the house. Older logs do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// The request that it takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
}

impl AppRequest {
    /// Whether it is something that an agent has an app do.
    pub fn drives(&self) -> bool {
        self.is_wanted() && self.by.as_ref().is_none_or(|by| *by == By::Agent)
    }

    /// Whether it is something that anybody has an app do, for the first time.
    pub fn is_wanted(&self) -> bool {
        matches!(self.cause, Cause::Tool | Cause::File) && self.asked.is_command()
    }
}

/// What takes a command back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inverse {
    pub command: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Value>,
    /// The app itself has said what it is, and finds out whether it still can be done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
}

/// Why agents may go on in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackReason {
    /// The person handed it back.
    Person,
    /// The person has not touched it for long.
    Silence,
    /// Nobody shows it any longer.
    Left,
}

impl BackReason {
    pub fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Silence => "silence",
            Self::Left => "left",
        }
    }
}

/// What an app is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Asked {
    Manifest,
    Query {
        state_key: String,
    },
    Command {
        command: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        params: Option<Value>,
    },
}

impl Asked {
    pub fn is_command(&self) -> bool {
        self.kind() == Kind::Command
    }

    pub fn kind(&self) -> Kind {
        match self {
            Self::Manifest => Kind::Manifest,
            Self::Query { .. } => Kind::Query,
            Self::Command { .. } => Kind::Command,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Manifest,
    Query,
    Command,
}

/// What an app says to a request, with the forms evened out in which clients say it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// None if it was missing, or is none that we know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The manifest, the data or the result; none if the field was missing.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub value: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Response {
    pub fn of(kind: Kind, value: Option<Value>) -> Self {
        Self { kind: Some(kind), value, error: None }
    }

    pub fn error(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind: Some(kind), value: None, error: Some(text.into()) }
    }

    /// The error that a client's `error` stands for: nothing, `null` and what is as good as nothing
    /// in its language are none, and what is no text is shown as JSON.
    pub fn error_in(field: Option<&Value>) -> Option<String> {
        match field? {
            Value::Null | Value::Bool(false) => None,
            Value::Number(number) if number.as_f64() == Some(0.0) => None,
            Value::String(text) => (!text.is_empty()).then(|| text.clone()),
            other => Some(other.to_string()),
        }
    }
}

/// A `null` that is there is not the same as nothing.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Which commands are run again when the app loads anew, as its manifest says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    #[default]
    Always,
    /// Only the newest of that name.
    Last,
    Never,
}

impl Keep {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    fn is_always(&self) -> bool {
        *self == Self::Always
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    Tool,
    Manifest,
    Replay,
    File,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerReason {
    Ready,
    Failover,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailedReason {
    Timeout,
    OwnerLost,
    Reloaded,
    Closed,
    Invalid,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_null_is_told_from_nothing_in_the_log() {
        let fact = |value| AppFact::Response {
            request: "req-1".into(),
            response: Response::of(Kind::Query, value),
            elapsed_ms: 3,
            late: false,
            keep: None,
            inverse: None,
        };
        for (fact, text) in [
            (fact(None), r#"{"kind":"query"}"#),
            (fact(Some(Value::Null)), r#"{"kind":"query","value":null}"#),
        ] {
            let kept = serde_json::to_string(&fact).unwrap();
            let whole = r#"{"app":"response","request":"req-1","response":"#.to_owned()
                + text
                + r#","elapsed_ms":3}"#;
            assert_eq!(kept, whole);
            assert_eq!(serde_json::from_str::<AppFact>(&kept).unwrap(), fact);
        }
    }

    #[test]
    fn an_error_that_says_nothing_is_none() {
        let none = [json!(null), json!(""), json!(false), json!(0)];
        assert!(none.iter().all(|error| Response::error_in(Some(error)).is_none()));
        assert_eq!(Response::error_in(None), None);
        assert_eq!(Response::error_in(Some(&json!("no"))), Some("no".into()));
        assert_eq!(Response::error_in(Some(&json!({ "a": 1 }))), Some(r#"{"a":1}"#.into()));
        assert_eq!(Response::error_in(Some(&json!(true))), Some("true".into()));
    }
}
