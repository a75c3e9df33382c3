//! Who calls a tool, and whose leave is theirs.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Who is calling decides what may be called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "caller", rename_all = "snake_case")]
pub enum Caller {
    Model,
    /// The person whose home this is, through an API.
    Owner,
    /// A widget sees the tools of the server that sent it, and no others.
    Widget {
        server: String,
        /// The one view of it that calls; without one, whichever is on show.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        view: Option<Uuid>,
    },
    /// An applet calls no tools; what it may do has its own list.
    Applet {
        slug: String,
        /// What it consists of, in a word: with other content it is somebody else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edition: Option<String>,
    },
    /// An app in a window, which calls no tools either.
    App {
        id: String,
    },
    /// A program that uses the house through MCP.
    Client,
    /// An agent with a mind of its own that answers in a session.
    Agent {
        name: String,
    },
}

impl Caller {
    /// Any widget of this server.
    pub fn widget(server: impl Into<String>) -> Self {
        Self::Widget { server: server.into(), view: None }
    }

    /// The view that calls, if one does.
    pub fn view(&self) -> Option<Uuid> {
        match self {
            Self::Widget { view, .. } => *view,
            Self::Model
            | Self::Owner
            | Self::Applet { .. }
            | Self::App { .. }
            | Self::Client
            | Self::Agent { .. } => None,
        }
    }

    /// The same, whichever view of it calls.
    #[must_use]
    pub fn whole(self) -> Self {
        match self {
            Self::Widget { server, .. } => Self::widget(server),
            other => other,
        }
    }

    /// Whether leave that was given to this one is leave for another: what a widget may do, all of its
    /// views may, and what one view may do is its own.
    pub fn stands_for(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Widget { server, view: None }, Self::Widget { server: of, .. }) => server == of,
            (one, other) => one == other,
        }
    }
}
