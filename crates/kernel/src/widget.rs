//! A widget as its server sends it: a page and what it wants to be allowed, or why there is none.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// The widget of a tool, before anybody has asked for it.
pub struct Widget {
    pub server: String,
    /// As its server calls it.
    pub tool: String,
    pub page: BoxFuture<'static, Result<WidgetPage, NoWidget>>,
}

/// What is shown beside the results of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WidgetPage {
    pub uri: String,
    pub html: String,
    pub wants: Wants,
}

/// What a widget asks for; its server's words, which nobody has judged yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wants {
    /// Whom it wants to reach; without any it reaches nobody.
    pub domains: Option<Domains>,
    pub features: Vec<Feature>,
    /// An origin that it would like to have.
    pub domain: Option<String>,
    pub border: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Domains {
    pub connect: Vec<String>,
    pub resource: Vec<String>,
    pub frame: Vec<String>,
    pub base_uri: Vec<String>,
}

/// Something that browsers let a page use only if it was allowed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    Camera,
    Microphone,
    Geolocation,
    ClipboardWrite,
}

/// Why a tool has no widget to show. Its results are text all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoWidget {
    #[error("no server is named `{0}`")]
    NoServer(String),
    #[error("its server has no tool named `{0}`")]
    NoTool(String),
    #[error("no server lends a tool named `{0}` any more")]
    NotLent(String),
    #[error("the tool names no widget")]
    NoMeta,
    #[error("the widget is said to be at `{0}`, which does not begin with ui://")]
    BadUri(String),
    #[error("the widget cannot be read: {0}")]
    ReadFailed(String),
    #[error("the widget is of type `{0}`, and text/html;profile=mcp-app was expected")]
    WrongMime(String),
    #[error("the widget is empty")]
    EmptyHtml,
    #[error("the widget has {size} bytes, and {most} at most are shown")]
    TooLarge { size: usize, most: usize },
}

impl NoWidget {
    /// The verdict by which it is known.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoServer(_) | Self::NoTool(_) | Self::NotLent(_) | Self::NoMeta => "no-meta",
            Self::BadUri(_) => "bad-uri",
            Self::ReadFailed(_) => "read-failed",
            Self::WrongMime(_) => "wrong-mime",
            Self::EmptyHtml => "empty-html",
            Self::TooLarge { .. } => "too-large",
        }
    }
}
