//! What is said to an agent: the words, who says them, and what comes with them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::update::Seq;

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
    /// The message in this session that it is said instead of: that one is taken back, with all
    /// that came after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Seq>,
}

impl Message {
    pub fn from_user(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            origin: Origin::User,
            attachments: Vec::new(),
            flow: String::new(),
            key: None,
            replaces: None,
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
        /// The run it begins; absent where somebody says it in the name of a schedule.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        errand: Option<Errand>,
    },
    /// Something in a window of its own.
    App {
        id: String,
        /// The window, where what is said there is data for the agent and nobody's wish.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<String>,
    },
    /// A widget beside a result, with the person's leave.
    Widget {
        server: String,
        tool: String,
    },
}

/// What a run of a schedule is to be like. Only the house itself sends one on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errand {
    pub run: Uuid,
    /// Whether it ends when it wants something that it has no leave for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
    /// Whether nothing is to be done, only to be found out what would be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearsal: bool,
}

impl Origin {
    /// The schedule whose own run this begins.
    pub fn errand(&self) -> Option<(&str, Errand)> {
        match self {
            Self::Schedule { slug, errand } => errand.map(|errand| (slug.as_str(), errand)),
            Self::User
            | Self::Applet { .. }
            | Self::Agent { .. }
            | Self::App { .. }
            | Self::Widget { .. } => None,
        }
    }

    /// Whether nobody waits at a screen for the answer.
    pub fn is_unattended(&self) -> bool {
        match self {
            Self::User | Self::Applet { .. } | Self::App { .. } | Self::Widget { .. } => false,
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
