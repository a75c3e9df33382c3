//! A window as it stands in the log: what it shows, where, and how that changes.

use serde::{Deserialize, Serialize};

use super::content::{Content, Operation};

/// Where a window is that names no monitor.
pub const MONITOR: &str = "monitor-0";

/// A window as it was opened, and, changed by what came later, as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Its name on its monitor. There is no slash in it.
    pub id: String,
    #[serde(default = "monitor", skip_serializing_if = "is_monitor")]
    pub monitor: String,
    pub title: String,
    pub content: Content,
    pub bounds: Bounds,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dock_edge: Option<DockEdge>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub frameless: bool,
    #[serde(default, skip_serializing_if = "Stance::is_normal")]
    pub stance: Stance,
    /// The app that it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// Who opened it.
    pub by: By,
}

impl Window {
    /// What it is called among all windows of its session.
    pub fn key(&self) -> String {
        key(&self.monitor, &self.id)
    }
}

/// The scoped id of a window: `monitor-0/dock`.
pub fn key(monitor: &str, id: &str) -> String {
    format!("{monitor}/{id}")
}

fn monitor() -> String {
    MONITOR.to_owned()
}

fn is_monitor(name: &str) -> bool {
    name == MONITOR
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    pub x: i32,
    pub y: i32,
    pub w: u32,
    pub h: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    Standard,
    Widget,
    Panel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DockEdge {
    Top,
    Bottom,
}

/// How much of it is to be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    #[default]
    Normal,
    Minimised,
    Maximised,
}

impl Stance {
    /// As the protocol of windows spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Minimised => "minimized",
            Self::Maximised => "maximized",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    fn is_normal(&self) -> bool {
        *self == Self::Normal
    }
}

/// Who opened, changed or closed a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "who", rename_all = "snake_case")]
pub enum By {
    Agent,
    Person,
    /// A program that uses the house.
    Program,
    /// The app in this window.
    App {
        window: String,
    },
}

/// Who may do something in a window. The person always may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hands {
    #[default]
    Agent,
    /// What agents want waits.
    Person,
}

/// What became of a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum WindowChange {
    Moved {
        x: i32,
        y: i32,
    },
    Resized {
        w: u32,
        h: u32,
    },
    /// It came to the front.
    Focused,
    Titled {
        title: String,
    },
    /// It shows something else.
    Content {
        content: Content,
    },
    /// It shows more, or less, of the same kind.
    Updated {
        operation: Operation,
    },
    Minimised,
    Maximised,
    Restored,
}

impl WindowChange {
    /// Whether what it shows is loaded anew.
    pub fn is_of_content(&self) -> bool {
        matches!(self, Self::Content { .. } | Self::Updated { .. })
    }

    /// Whether it is something that an agent does to a window, rather than shows one.
    pub(crate) fn drives(&self, by: &By) -> bool {
        *by == By::Agent && *self != Self::Focused
    }

    /// Whether it brings the window to the front.
    pub(super) fn raises(&self) -> bool {
        matches!(self, Self::Focused | Self::Maximised | Self::Restored)
    }
}
