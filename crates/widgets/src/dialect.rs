//! Two spellings of one protocol: which names mean what, and which of the two a view speaks.

use serde_json::{Map, Value};

/// How a view speaks, which decides how it is answered and what it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Requests in camel case, capabilities that are booleans, codes of its own.
    Seed,
    /// The published specification of 2026-01-26.
    Official,
}

pub const OFFICIAL_VERSION: &str = "2026-01-26";
pub const SEED_VERSION: &str = "2024-11-05";

/// What a name comes down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Initialize,
    CallTool,
    SetModelContext,
    OpenLink,
    SetDisplayMode,
    Close,
    Log,
    RegisterTool,
    UnregisterTool,
    Message,
    SetSize,
    Download,
    ReadResource,
    ListResources,
    ListTemplates,
    ListPrompts,
    Sample,
    Ping,
}

impl Op {
    /// Whether somebody besides the view may notice that it is done.
    pub fn is_noticed(self) -> bool {
        matches!(self, Self::CallTool | Self::OpenLink | Self::Message | Self::Download)
    }
}

/// What a view tells without wanting an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    Ready,
    Sized,
    WantsTeardown,
    Logged,
    ToolsChanged,
    Cancelled,
    Progressed,
    /// What it wants to have kept for itself.
    Kept,
}

/// Each method, and whose name it is; nobody's where both use it.
const METHODS: &[(&str, Op, Option<Dialect>)] = &[
    ("ui/initialize", Op::Initialize, None),
    ("tools/call", Op::CallTool, None),
    ("ui/message", Op::Message, None),
    ("ping", Op::Ping, None),
    ("ui/callServerTool", Op::CallTool, Some(Dialect::Seed)),
    ("ui/updateModelContext", Op::SetModelContext, Some(Dialect::Seed)),
    ("ui/openLink", Op::OpenLink, Some(Dialect::Seed)),
    ("ui/setDisplayMode", Op::SetDisplayMode, Some(Dialect::Seed)),
    ("ui/close", Op::Close, Some(Dialect::Seed)),
    ("ui/log", Op::Log, Some(Dialect::Seed)),
    ("ui/registerTool", Op::RegisterTool, Some(Dialect::Seed)),
    ("ui/unregisterTool", Op::UnregisterTool, Some(Dialect::Seed)),
    ("ui/setSize", Op::SetSize, Some(Dialect::Seed)),
    ("ui/update-model-context", Op::SetModelContext, Some(Dialect::Official)),
    ("ui/open-link", Op::OpenLink, Some(Dialect::Official)),
    ("ui/request-display-mode", Op::SetDisplayMode, Some(Dialect::Official)),
    ("ui/download-file", Op::Download, Some(Dialect::Official)),
    ("resources/read", Op::ReadResource, Some(Dialect::Official)),
    ("resources/list", Op::ListResources, Some(Dialect::Official)),
    ("resources/templates/list", Op::ListTemplates, Some(Dialect::Official)),
    ("prompts/list", Op::ListPrompts, Some(Dialect::Official)),
    ("sampling/createMessage", Op::Sample, Some(Dialect::Official)),
];

const NOTIFICATIONS: &[(&str, Told)] = &[
    ("ui/notifications/initialized", Told::Ready),
    ("ui/notifications/size-changed", Told::Sized),
    ("ui/notifications/request-teardown", Told::WantsTeardown),
    ("notifications/message", Told::Logged),
    ("notifications/tools/list_changed", Told::ToolsChanged),
    ("notifications/cancelled", Told::Cancelled),
    ("notifications/progress", Told::Progressed),
    ("ui/notifications/widget-state", Told::Kept),
];

/// What is asked by this name, and in which dialect it is answered if the name says so.
pub fn asked(method: &str) -> Option<(Op, Option<Dialect>)> {
    METHODS.iter().find(|(name, ..)| *name == method).map(|(_, op, dialect)| (*op, *dialect))
}

pub fn told(method: &str) -> Option<Told> {
    NOTIFICATIONS.iter().find(|(name, _)| *name == method).map(|(_, told)| *told)
}

/// What the parameters of a handshake say of who speaks.
pub fn greeted(params: &Map<String, Value>) -> Dialect {
    let streams = params
        .get("appCapabilities")
        .is_some_and(|capabilities| capabilities.get("supportsPartialInput").is_some());
    match params.get("protocolVersion") {
        None | Some(Value::Null) => Dialect::Seed,
        Some(version) if version == SEED_VERSION || streams => Dialect::Seed,
        Some(_) => Dialect::Official,
    }
}

/// Whether a name by itself gives away who speaks: only the seed has capital letters.
pub fn is_seed_name(method: &str) -> bool {
    method.strip_prefix("ui/").is_some_and(|rest| rest.contains(|it: char| it.is_ascii_uppercase()))
}

impl Dialect {
    /// What the end of a call before its time is called.
    pub fn cancelled(self) -> &'static str {
        match self {
            Self::Seed => "ui/notifications/cancelled",
            Self::Official => "ui/notifications/tool-cancelled",
        }
    }
}
