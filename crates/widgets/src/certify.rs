//! Judges the widgets of a server as a host sees them: what is well, what is doubtful, and what is wrong.

mod report;
mod running;
mod schema;
mod still;

use serde_json::Value;

pub use report::{Format, Report};

/// What was seen of one tool that shows its results in a widget.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub tool: String,
    /// What the tool says of itself, as it came.
    pub meta: Value,
    pub page: Result<Page, Unread>,
    pub run: Run,
}

/// A widget as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    pub mime: String,
    pub bytes: usize,
    pub declared: Option<Domains>,
}

/// Whom it wants to reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domains {
    pub connect: Vec<String>,
    pub resource: Vec<String>,
    pub frame: Vec<String>,
    pub base_uri: Vec<String>,
}

/// The verdict on a widget that cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    pub verdict: &'static str,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Run {
    /// It was not shown, and why.
    Skipped(String),
    Watched(Watched),
}

/// What happened while it was shown in a browser.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watched {
    /// What the view said, in order.
    pub heard: Vec<Value>,
    /// What its policy kept from it: a directive and an address.
    pub blocked: Vec<String>,
    /// Errors of its scripts.
    pub broke: Vec<String>,
    /// What a person who cannot see it is not told.
    pub unnamed: Vec<String>,
    /// Whether it agreed to be taken down, in time; none if it was not asked.
    pub parted: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Passed,
    Skipped,
    Doubtful,
    Failed,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Skipped => "skipped",
            Self::Doubtful => "doubtful",
            Self::Failed => "failed",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub tool: String,
    pub name: &'static str,
    pub outcome: Outcome,
    pub detail: String,
}

/// Judges all that was seen, in the order in which it was.
pub fn judge(server: &str, protocol: &str, seen: &[Seen]) -> Report {
    let mut checks = Vec::new();
    for one in seen {
        let judged = still::judge(one).into_iter().chain(running::judge(&one.run));
        checks.extend(judged.map(|(name, Judged { outcome, detail })| Check {
            tool: one.tool.clone(),
            name,
            outcome,
            detail,
        }));
    }
    Report { server: server.to_owned(), protocol: protocol.to_owned(), checks }
}

type Named = (&'static str, Judged);

struct Judged {
    outcome: Outcome,
    detail: String,
}

fn passed(detail: impl Into<String>) -> Judged {
    Judged { outcome: Outcome::Passed, detail: detail.into() }
}

fn doubtful(detail: impl Into<String>) -> Judged {
    Judged { outcome: Outcome::Doubtful, detail: detail.into() }
}

fn failed(detail: impl Into<String>) -> Judged {
    Judged { outcome: Outcome::Failed, detail: detail.into() }
}

fn skipped(detail: impl Into<String>) -> Judged {
    Judged { outcome: Outcome::Skipped, detail: detail.into() }
}

/// A few of many, so that a report can be read.
fn some(all: &[String]) -> String {
    const FEW: usize = 5;
    let more = all.len().saturating_sub(FEW);
    let shown = all.iter().take(FEW).cloned().collect::<Vec<_>>().join("; ");
    if more == 0 { shown } else { format!("{shown}; and {more} more") }
}
