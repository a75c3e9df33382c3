//! What an agent says and does in one step of a turn, what came of it, and how a turn ends.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::update::{Attachment, Seq};

/// All that the model said in one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The [`Fact::StepStarted`] it belongs to.
    pub step: Seq,
    pub text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The tools it wants run, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolRequest>,
    /// Who said it. Another may have been chosen since.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What only the model that said it understands, to be shown to it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Something cut it short; this is what had been heard.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

impl Answer {
    /// The answer to this step, before anything is heard of it.
    pub fn to(step: Seq) -> Self {
        Self {
            step,
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            model: String::new(),
            usage: None,
            trace: None,
            partial: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolRequest {
    pub id: String,
    pub name: String,
    pub args: Value,
    /// What it does, for a person: `Reading notes.md`.
    pub title: String,
}

/// A provider's own record of a step: signed thoughts, encrypted reasoning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    pub model: String,
    pub data: Value,
}

/// What a step used, as its provider counted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// All that was shown to the model, cached or not.
    pub input_tokens: u64,
    /// All that it said, reasoning included.
    pub output_tokens: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_read_tokens: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// In US dollars, where a price is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How a tool call came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Output {
    Done {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Attachment>,
        /// What programs read of it: structured content, a diff.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    Failed {
        message: String,
        /// What programs read of it, where somebody shows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// The turn ended first; whether the tool had done its work is not known.
    Interrupted,
}

impl Output {
    pub fn done(text: impl Into<String>) -> Self {
        Self::Done { text: text.into(), images: Vec::new(), data: None }
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), data: None }
    }

    pub fn images(&self) -> &[Attachment] {
        match self {
            Self::Done { images, .. } => images,
            Self::Failed { .. } | Self::Interrupted => &[],
        }
    }

    /// What the caller reads.
    pub fn text(&self) -> &str {
        match self {
            Self::Done { text, .. } => text,
            Self::Failed { message, .. } => message,
            Self::Interrupted => {
                "The turn ended before the tool returned. Whether it had its effect is not known: \
                 look before you repeat it."
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    Finished,
    Cancelled,
    Failed {
        kind: Failure,
        reason: String,
    },
    /// The server stopped in the middle.
    Interrupted,
}

impl Outcome {
    pub fn failed(kind: Failure, reason: &str) -> Self {
        Self::Failed { kind, reason: reason.to_owned() }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Cancelled => "cancelled",
            Self::Failed { .. } => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Why a turn failed, as far as somebody would treat it differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    BadKey,
    NoQuota,
    RateLimited,
    Overloaded,
    ContextTooLong,
    Refused,
    Network,
    Protocol,
    /// The session's model is not configured here.
    NoModel,
    /// A budget of the house is spent; the model was not asked.
    OverBudget,
    /// Something of our own broke.
    Internal,
}
