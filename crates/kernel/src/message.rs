//! What is said to an agent: the words, who says them, and what comes with them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub text: String,
    #[serde(default)]
    pub origin: Origin,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The chain of calls between agents that this message belongs to.
    #[serde(default)]
    pub flow: String,
    /// The sender's own name for this message: saying it again under the same name changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Message {
    pub fn from_user(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            origin: Origin::User,
            attachments: Vec::new(),
            flow: String::new(),
            key: None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Origin {
    #[default]
    User,
    Applet {
        slug: String,
    },
    Agent {
        session: String,
    },
    Schedule {
        slug: String,
    },
    /// Something in a window of its own.
    App {
        id: String,
    },
}

impl Origin {
    /// Whether nobody waits at a screen for the answer.
    pub fn is_unattended(&self) -> bool {
        match self {
            Self::User | Self::Applet { .. } | Self::App { .. } => false,
            Self::Agent { .. } | Self::Schedule { .. } => true,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub path: PathBuf,
    pub mime: String,
    pub name: String,
}
