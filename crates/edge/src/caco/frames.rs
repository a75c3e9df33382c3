//! The shapes of the Caco socket, going out.

use std::{fmt, path::Path, sync::Arc};

use jiff::{Timestamp, fmt::temporal::DateTimePrinter};
use kernel::update::{Context, Seq, SessionId};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{asked::Approval, tasks::Task};
use crate::desktop::DesktopAction;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Frame<'a> {
    #[serde(rename_all = "camelCase")]
    Event {
        session_id: SessionId,
        #[serde(skip_serializing_if = "Option::is_none")]
        seq: Option<Seq>,
        event: Event<'a>,
    },
    GlobalEvent {
        event: Global,
    },
    #[serde(rename_all = "camelCase")]
    StateUpdate {
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        #[serde(skip_serializing_if = "Option::is_none")]
        applet_slug: Option<&'a str>,
        data: &'a Value,
    },
    #[serde(rename_all = "camelCase")]
    HistoryComplete {
        session_id: &'a str,
        seq: Seq,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a Value>,
    },
    State {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a Value>,
        data: &'a Map<String, Value>,
    },
    Pong {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a Value>,
    },
    Error {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a Value>,
        error: &'a str,
    },
    /// From now on this connection hears what is said to the frame.
    #[serde(rename = "frameHeld", rename_all = "camelCase")]
    Held {
        frame_id: &'a str,
    },
    /// There is no such frame, or no longer; another can be asked for.
    #[serde(rename = "frameGone", rename_all = "camelCase")]
    Gone {
        frame_id: &'a str,
    },
    #[serde(rename = "frameError", rename_all = "camelCase")]
    Refused {
        frame_id: &'a str,
        error: &'a str,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event<'a> {
    #[serde(flatten)]
    pub body: Body<'a>,
    pub id: Uuid,
    pub timestamp: Iso,
    pub parent_id: Option<Uuid>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", content = "data")]
pub enum Body<'a> {
    #[serde(rename = "user.message", rename_all = "camelCase")]
    UserMessage {
        content: &'a str,
        attachments: Vec<FileAttachment<'a>>,
        #[serde(flatten)]
        source: Option<Source<'a>>,
    },
    #[serde(rename = "assistant.turn_start", rename_all = "camelCase")]
    TurnStart { turn_id: String },
    #[serde(rename = "assistant.intent")]
    Intent { intent: &'a str },
    #[serde(rename = "assistant.reasoning_delta", rename_all = "camelCase")]
    ReasoningDelta {
        reasoning_id: Uuid,
        delta_content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        replace: bool,
    },
    #[serde(rename = "assistant.reasoning", rename_all = "camelCase")]
    Reasoning { reasoning_id: Uuid, content: &'a str },
    #[serde(rename = "assistant.message_delta", rename_all = "camelCase")]
    NativeDelta {
        message_id: Uuid,
        delta_content: &'a str,
        total_response_size_bytes: usize,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        replace: bool,
    },
    #[serde(rename = "assistant.message.delta", rename_all = "camelCase")]
    SeedDelta {
        message_id: Uuid,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        replace: bool,
    },
    #[serde(rename = "assistant.message", rename_all = "camelCase")]
    Message {
        message_id: Uuid,
        content: &'a str,
        tool_requests: Vec<ToolRequest<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        partial: bool,
    },
    #[serde(rename = "tool.execution_start", rename_all = "camelCase")]
    ToolStart { tool_call_id: &'a str, tool_name: &'a str, arguments: &'a Value },
    #[serde(rename = "tool.execution_complete", rename_all = "camelCase")]
    ToolComplete {
        tool_call_id: &'a str,
        success: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<ToolResult<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<ToolFailure<'a>>,
    },
    #[serde(rename = "tool.execution_partial_result", rename_all = "camelCase")]
    ToolPrinted { tool_call_id: &'a str, partial_output: &'a str },
    #[serde(rename = "tool.execution_progress", rename_all = "camelCase")]
    ToolProgress {
        tool_call_id: &'a str,
        progress_message: &'a str,
        progress: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
    },
    #[serde(rename = "session.idle")]
    Idle {},
    #[serde(rename = "session.error", rename_all = "camelCase")]
    Error { error_type: &'a str, message: &'a str },
    #[serde(rename = "session.info", rename_all = "camelCase")]
    Info { info_type: &'a str, message: &'a str },
    #[serde(rename = "session.compaction_start")]
    CompactionStart {},
    #[serde(rename = "session.compaction_complete", rename_all = "camelCase")]
    CompactionComplete {
        success: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pre_compaction_tokens: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        post_compaction_tokens: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        summary_content: Option<&'a str>,
    },
    /// What was told from there on no longer counts.
    #[serde(rename = "session.rewound")]
    Rewound { before: Seq },
    #[serde(rename = "session.mode_changed")]
    ModeChanged { mode: &'static str },
    #[serde(rename = "permission.requested")]
    PermissionRequested { approval: Box<Approval<'a>> },
    #[serde(rename = "permission.completed", rename_all = "camelCase")]
    PermissionCompleted {
        approval_id: Uuid,
        verdict: &'static str,
        /// How far a yes reaches.
        #[serde(skip_serializing_if = "Option::is_none")]
        scope: Option<&'static str>,
        by: &'a str,
    },
    #[serde(rename = "task.created")]
    TaskCreated { task: Task<'a> },
    #[serde(rename = "task.updated")]
    TaskUpdated { task: Task<'a> },
    #[serde(rename = "task.completed", rename_all = "camelCase")]
    TaskCompleted {
        task_id: Uuid,
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
    },
    #[serde(rename = "widget.shown", rename_all = "camelCase")]
    WidgetShown {
        tool_call_id: &'a str,
        server: &'a str,
        tool: &'a str,
        uri: &'a str,
        /// The digest of its page.
        page: &'a str,
        changed: bool,
    },
    #[serde(rename = "widget.verdict", rename_all = "camelCase")]
    WidgetVerdict { tool_call_id: &'a str, verdict: &'a str, detail: &'a str },
    /// What the model knows of it from now on.
    #[serde(rename = "widget.context", rename_all = "camelCase")]
    WidgetContext { tool_call_id: &'a str, version: u64, text: String },
    /// Ephemeral: the tools that it defines are others than before.
    #[serde(rename = "widget.tools", rename_all = "camelCase")]
    WidgetTools { tool_call_id: &'a str },
    /// Ephemeral: a call whose result it will show is being written. A frame can be asked for by `id`.
    #[serde(rename = "widget.writing", rename_all = "camelCase")]
    WidgetWriting { id: String, tool_name: &'a str },
    #[serde(rename = "widget.call", rename_all = "camelCase")]
    WidgetCall { tool_call_id: &'a str, method: &'a str, outcome: &'static str },
    #[serde(rename = "caco.reload")]
    Reload {},
    #[serde(rename = "caco.embed", rename_all = "camelCase")]
    Embed { output_id: &'a str, provider: &'a str, title: &'a str },
    #[serde(rename = "caco.context", rename_all = "camelCase")]
    Context {
        reason: &'a str,
        context: &'a Context,
        #[serde(skip_serializing_if = "Option::is_none")]
        set_name: Option<&'a str>,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileAttachment<'a> {
    pub r#type: &'static str,
    pub path: &'a Path,
    pub display_name: &'a str,
    pub mime_type: &'a str,
    /// Where it can be looked at.
    pub url: String,
}

/// A picture that a tool returned.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Picture<'a> {
    pub url: String,
    pub mime_type: &'a str,
    pub name: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "source", rename_all = "camelCase")]
pub enum Source<'a> {
    #[serde(rename_all = "camelCase")]
    Applet {
        applet_slug: &'a str,
    },
    #[serde(rename_all = "camelCase")]
    Agent {
        from_session: &'a str,
    },
    #[serde(rename_all = "camelCase")]
    Scheduler {
        schedule_slug: &'a str,
    },
    #[serde(rename_all = "camelCase")]
    App {
        app_id: &'a str,
    },
    Widget {
        server: &'a str,
        tool: &'a str,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRequest<'a> {
    pub tool_call_id: &'a str,
    pub name: &'a str,
    pub arguments: &'a Value,
    pub r#type: &'static str,
}

#[derive(Serialize)]
pub struct ToolResult<'a> {
    pub content: &'a str,
    /// What programs read of it, such as a diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<&'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Picture<'a>>,
}

#[derive(Serialize)]
pub struct ToolFailure<'a> {
    pub message: &'a str,
    pub code: &'static str,
}

#[derive(Serialize)]
#[serde(tag = "type", content = "data")]
pub enum Global {
    #[serde(rename = "session.busy", rename_all = "camelCase")]
    Busy { session_id: SessionId, is_busy: bool },
    #[serde(rename = "session.listChanged", rename_all = "camelCase")]
    ListChanged {
        reason: &'static str,
        session_id: Option<SessionId>,
        #[serde(skip_serializing_if = "Option::is_none")]
        unobserved_count: Option<usize>,
    },
    /// The files of an applet changed, or it came or went.
    #[serde(rename = "applet.changed")]
    AppletChanged { slug: String },
    /// The files of an app changed, or it came or went.
    #[serde(rename = "app.changed")]
    AppChanged { id: String },
    /// So much waits for the person in this session.
    #[serde(rename = "approvals.changed", rename_all = "camelCase")]
    ApprovalsChanged {
        session_id: SessionId,
        open: usize,
        /// Who or what settled one, if that is the news.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    #[serde(rename = "schedule.changed")]
    SchedulesChanged {},
    /// A desktop stands otherwise than before: any of them, if none is named.
    #[serde(rename = "desktop.changed")]
    DesktopChanged {
        #[serde(skip_serializing_if = "Option::is_none")]
        device: Option<String>,
    },
    /// Something was done on a desktop.
    #[serde(rename = "desktop.acted")]
    DesktopActed { action: Box<DesktopAction> },
    /// So many steps of a recording have been done again.
    #[serde(rename = "desktop.replayed")]
    DesktopReplayed { device: String, done: usize, of: usize },
    /// A device came or went, or what it is told has changed.
    #[serde(rename = "devices.changed")]
    DevicesChanged {},
}

/// A moment as this API writes it: UTC, to the millisecond.
#[derive(Clone, Copy, Debug)]
pub struct Iso(pub Timestamp);

impl fmt::Display for Iso {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));
        PRINTER.print_timestamp(&self.0, jiff::fmt::StdFmtWrite(f)).map_err(|_| fmt::Error)
    }
}

impl Serialize for Iso {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
