//! The vocabulary: what a caller wishes, what has happened, and what is merely passing by.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::{
    approvals::Mode,
    apps::{AppFact, News},
    budget::Standing,
    desktop::DesktopFact,
    feed::Following,
    outputs::Embed,
    ports::StoreError,
    question::{Question, Verdict},
    session::{Receipt, SayError},
    state::SummedUp,
    tasks::{Close, Plan, Task},
    views::fact::WidgetFact,
    windows::{By, Pane, Window, WindowChange, WindowError, Windows, Wish},
};

pub use crate::{
    answer::{Answer, Failure, Outcome, Output, ToolRequest, Trace, Usage},
    message::{Attachment, Message, Origin},
};

/// The name of a session, for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub Uuid);

impl SessionId {
    /// Reads the one spelling that [`fmt::Display`] writes; anything else names no session.
    pub fn parse(text: &str) -> Option<Self> {
        let id = Self(Uuid::try_parse(text).ok()?);
        (id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Position of an [`Entry`] in its session's log; the first entry is 1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    #[must_use]
    pub fn before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

/// A wish addressed to a session.
pub enum Command {
    /// Speak. The receipt comes once the message is safe in the log.
    Say { message: Message, when_busy: WhenBusy, reply: oneshot::Sender<Result<Receipt, SayError>> },
    /// Stop the running turn; the reply says whether there was one.
    Cancel { reply: oneshot::Sender<Result<bool, StoreError>> },
    /// Call off a message that waits; the reply says whether it did.
    Unqueue { place: Seq, reply: oneshot::Sender<Result<bool, StoreError>> },
    /// Sum up the past now; the reply says whether that was begun.
    Compact { reply: oneshot::Sender<Result<bool, StoreError>> },
    /// Change what is known about the session, all of it or nothing.
    Amend { amendment: Amendment, reply: oneshot::Sender<Result<(), StoreError>> },
    /// Somebody has seen it; the reply says whether that was news.
    Observe { reply: oneshot::Sender<Result<bool, StoreError>> },
    /// Put a question to the person. The reply is what came of it; none comes if the session is
    /// let go first, and then the question waits on.
    Ask { question: Question, reply: oneshot::Sender<Verdict> },
    /// Settle a question; the reply says whether it was open.
    Settle {
        question: Uuid,
        verdict: Verdict,
        by: String,
        reply: oneshot::Sender<Result<bool, StoreError>>,
    },
    /// Say what is meant to be done, and how far it has come.
    Plan { plan: Plan, reply: oneshot::Sender<Result<(), StoreError>> },
    /// Keep on record that the model was lent, and what that used.
    Lend { to: String, model: String, usage: Usage, reply: oneshot::Sender<Result<(), StoreError>> },
    /// Show something of another site in the conversation.
    Show { embed: Embed, reply: oneshot::Sender<Result<(), StoreError>> },
    /// Open, change or close a window. The reply is the window as it stands then, or last stood.
    Arrange { wish: Wish, by: By, reply: oneshot::Sender<Result<Pane, WindowError>> },
    /// Tell which windows are open.
    Windows { reply: oneshot::Sender<Result<Arc<Windows>, StoreError>> },
    /// Keep on record what happened between the house and an app; the reply says where.
    NoteApps { facts: Vec<AppFact>, reply: oneshot::Sender<Result<Seq, StoreError>> },
    /// Keep on record what happened on a desktop.
    NoteDesktop { fact: DesktopFact, reply: oneshot::Sender<Result<(), StoreError>> },
    /// Keep on record what happened in or around a widget; the reply says where.
    NoteWidgets { facts: Vec<WidgetFact>, reply: oneshot::Sender<Result<Seq, StoreError>> },
    /// Pass this on to whoever is listening.
    Tell(Signal),
    /// Start listening. Answered by the session itself, so that backlog and live feed meet
    /// without a gap or an overlap.
    Follow { reply: oneshot::Sender<Following> },
    /// Take no more wishes. With `now`, a running turn is recorded as interrupted.
    Close { now: bool },
    /// Close, unless a turn is running; the reply says whether it will.
    Leave { reply: oneshot::Sender<bool> },
}

/// What to do with a message that comes while a turn is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenBusy {
    Refuse,
    Queue,
}

/// What a person or an agent may change about a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Amendment {
    pub name: Option<String>,
    pub env_hint: Option<String>,
    pub context: Option<ContextChange>,
    pub model: Option<String>,
    pub mode: Option<Mode>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ContextChange {
    pub set: String,
    pub items: Vec<String>,
    pub merge: bool,
    /// Whether a set with nothing in it goes, rather than stay empty.
    pub forget_empty: bool,
}

/// Named sets of things worth remembering: files, ports, an applet.
pub type Context = BTreeMap<String, Vec<String>>;

/// Something that happened. Kept for ever; a session's state is a fold over these.
///
/// The shape is that of the log alone. Changes are additive, so that old logs stay readable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    Opened {
        cwd: String,
        model: String,
        #[serde(default)]
        name: String,
        /// The session whose agent made it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<SessionId>,
    },
    Renamed {
        name: String,
    },
    EnvHinted {
        hint: String,
    },
    /// Another model answers from now on.
    ModelChanged {
        model: String,
    },
    /// What needs a person's yes from now on.
    ModeChanged {
        mode: Mode,
    },
    /// One set changed; the whole context is kept, because every listener needs the whole.
    ContextChanged {
        set: String,
        context: Context,
    },
    Observed,
    /// A message came while a turn was running and waits for its own.
    Queued(Message),
    /// A message that waited was called off before it was spoken.
    Unqueued {
        queued: Seq,
    },
    /// A message was spoken, and a turn that answers it began.
    Said {
        #[serde(flatten)]
        message: Message,
        /// Where it had waited.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queued: Option<Seq>,
    },
    /// The model was asked, for the first or another time in this turn.
    StepStarted {
        index: u32,
    },
    Answered(Answer),
    /// A tool that changes something was set going. Recorded first, so that after a crash it is
    /// known which calls may have had their effect.
    ToolStarted {
        call: String,
    },
    ToolReturned {
        call: String,
        output: Output,
    },
    /// Something of another site was put into the conversation.
    Embedded(Embed),
    /// The model began to sum up what no longer fits.
    CompactionStarted,
    CompactionEnded(Compaction),
    /// The model answered somebody else in this session's name: a server of tools that may use it.
    ModelLent {
        to: String,
        model: String,
        usage: Usage,
    },
    /// The person was asked something.
    Asked(Box<Question>),
    /// And this came of it.
    Settled {
        question: Uuid,
        #[serde(flatten)]
        verdict: Verdict,
        /// Who or what settled it, for a person: `the page`, `its time ran out`.
        by: String,
    },
    TaskOpened(Task),
    TaskMoved(Task),
    TaskClosed {
        task: Uuid,
        close: Close,
        /// Why, where it was not its own steps that ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    TurnEnded(Outcome),
    /// A window was opened, perhaps over one of the same name.
    WindowOpened(Box<Window>),
    WindowChanged {
        /// Its scoped id: `monitor-0/dock`.
        window: String,
        change: WindowChange,
        by: By,
    },
    WindowClosed {
        window: String,
        by: By,
        /// The oldest fact that the windows still open are built from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        left: Option<Seq>,
    },
    /// Something happened between the house and an app in a window.
    App(Box<AppFact>),
    /// Something happened on a desktop that the session drives.
    Desktop(Box<DesktopFact>),
    /// Something happened in or around a widget.
    Widget(Box<WidgetFact>),
    /// Everything from `before` up to this was taken back. The log keeps it, and no model is shown
    /// it any more.
    Rewound {
        before: Seq,
        /// How full it was there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filled: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summed_up: Option<SummedUp>,
        /// Nothing had been said there.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        anew: bool,
    },
}

impl Fact {
    /// Whether it is about windows, or the apps in them.
    pub fn is_of_windows(&self) -> bool {
        matches!(
            self,
            Self::WindowOpened(_)
                | Self::WindowChanged { .. }
                | Self::WindowClosed { .. }
                | Self::App(_)
        )
    }
}

/// How an attempt to sum up the past went. The log keeps the past all the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "compaction", rename_all = "snake_case")]
pub enum Compaction {
    Done {
        /// What a model is shown in place of everything up to `upto`.
        summary: String,
        upto: Seq,
        tokens_before: u64,
        tokens_after: u64,
        /// Who summed up.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        model: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    Failed {
        reason: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        model: String,
        /// What was used in vain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
}

impl Compaction {
    /// One that failed before anything was used.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::Failed { reason: reason.into(), model: String::new(), usage: None }
    }
}

/// Something only those present need to hear. Never stored.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// `size` counts the bytes of the open message so far, this delta included.
    Text {
        step: Seq,
        delta: String,
        size: usize,
    },
    Reasoning {
        step: Seq,
        delta: String,
        size: usize,
    },
    Intent {
        text: String,
    },
    /// A tool call is being written; `args` is a piece of its JSON.
    Calling {
        step: Seq,
        index: usize,
        name: String,
        args: String,
    },
    /// More of what a running tool prints.
    Printed {
        call: String,
        delta: String,
        /// Counts the bytes so far, these included.
        size: usize,
    },
    /// How far a running tool has come.
    Progress {
        call: String,
        message: String,
        done: f64,
        total: Option<f64>,
    },
    /// The model could not answer, and is asked again after a while.
    Retrying {
        reason: String,
        attempt: u32,
        attempts: u32,
        wait: Duration,
    },
    /// The tools that a widget defines are others than before.
    WidgetTools {
        call: String,
    },
    /// The model began to write a call whose result is shown in a widget.
    Writing {
        step: Seq,
        index: usize,
        name: String,
    },
    /// What is heard of an app and not kept.
    App(Arc<News>),
    /// A budget has just come near its end, or to it.
    NearBudget(Standing),
    /// Whoever shows the session should load their page anew.
    ReloadWanted,
    /// The turn stopped, and for want of storage that could not be recorded.
    Unrecorded {
        reason: String,
    },
}

/// What a session publishes.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    Fact(Arc<Entry>),
    /// `after` is the last fact before it.
    Signal {
        after: Seq,
        at: Timestamp,
        signal: Signal,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub seq: Seq,
    pub at: Timestamp,
    #[serde(flatten)]
    pub fact: Fact,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_has_one_spelling() {
        let id = "0190f5fe-7c00-7a00-8000-000000000001";
        assert_eq!(SessionId::parse(id).map(|id| id.to_string()).as_deref(), Some(id));
        for other in [
            "0190F5FE-7C00-7A00-8000-000000000001",
            "0190f5fe7c007a008000000000000001",
            "{0190f5fe-7c00-7a00-8000-000000000001}",
            "nonsense",
            "",
        ] {
            assert_eq!(SessionId::parse(other), None, "{other}");
        }
    }

    #[test]
    fn facts_keep_their_shape_in_the_log() {
        let said = Fact::Said { message: Message::from_user("hi"), queued: Some(Seq(3)) };
        let ended =
            Fact::TurnEnded(Outcome::Failed { kind: Failure::RateLimited, reason: "later".into() });
        let text = serde_json::to_string(&[&said, &ended]).unwrap();
        assert_eq!(
            text,
            r#"[{"fact":"said","text":"hi","origin":{"from":"user"},"flow":"","queued":3},"#
                .to_owned()
                + r#"{"fact":"turn_ended","outcome":"failed","kind":"rate_limited","reason":"later"}]"#
        );
        assert_eq!(serde_json::from_str::<Vec<Fact>>(&text).unwrap(), [said, ended]);
    }
}
