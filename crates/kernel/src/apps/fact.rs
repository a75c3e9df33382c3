//! What happened between the house and the apps in its windows.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
        /// It was loaded anew: nothing of what was done in it before is there.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        loaded: bool,
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
        response: Value,
        elapsed_ms: u64,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        late: bool,
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
        why: String,
    },
    /// A journal was played again, from one place in it to another.
    Replay {
        window: String,
        from: u64,
        to: u64,
        failed: u64,
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
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppRequest {
    pub request: String,
    pub window: String,
    pub generation: u64,
    pub asked: Asked,
    pub cause: Cause,
    pub deadline_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
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
