//! What a handler needs of the world around it.

use std::time::Duration;

use futures::future::{self, BoxFuture, FutureExt as _};
use serde_json::{Map, Value};

use crate::{capability::DisplayMode, memory::ModelContext, tools::WidgetTool};

pub type Doing<'a, T> = BoxFuture<'a, Result<T, Trouble>>;

/// Which of its wishes a context can carry out at all.
#[expect(clippy::struct_excessive_bools, reason = "each is there or not, whatever the others are")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    pub model_context: bool,
    pub open_link: bool,
    pub display_mode: bool,
    pub close: bool,
    pub widget_tools: bool,
}

/// Why something that a view wished for did not come to pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// Its server has no such tool.
    NotFound,
    /// There is one, but not for this view.
    NotAvailable,
    /// The person, or a rule of theirs, said no.
    Denied(String),
    Cancelled(String),
    /// It was tried, and went wrong.
    Failed(String),
    /// What the server answered instead of a result.
    Server {
        code: i64,
        message: String,
        data: Option<Value>,
    },
    Other(String),
}

/// A call of a tool of the view's own server.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    pub name: String,
    pub arguments: Map<String, Value>,
    /// By which the view knows how far it has come.
    pub progress: Option<Value>,
    /// For how long a person may be asked: some views give up, and what they gave up on must not
    /// be done behind their back.
    pub patience: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// As it was written; its scheme is one of the web.
    pub url: String,
    pub patience: Option<Duration>,
}

/// What a view says in the name of the person.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pub content: Vec<Value>,
    pub patience: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    /// As the official dialect writes it.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "debug" => Self::Debug,
            "info" => Self::Info,
            "notice" => Self::Notice,
            "warning" => Self::Warning,
            "error" => Self::Error,
            "critical" => Self::Critical,
            "alert" => Self::Alert,
            "emergency" => Self::Emergency,
            _ => return None,
        })
    }

    /// As the seed writes it, which knows four.
    pub fn parse_seed(name: &str) -> Option<Self> {
        match name {
            "warn" => Some(Self::Warning),
            "debug" | "info" | "error" => Self::parse(name),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    pub level: LogLevel,
    pub logger: Option<String>,
    pub message: Option<String>,
    pub data: Option<Value>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    pub width: Option<f64>,
    pub height: Option<f64>,
    /// Width over height; only the seed has it.
    pub aspect: Option<f64>,
}

/// What became of something a view sent, for whoever keeps count.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A request, with the code of its fault if it had one.
    Answered {
        /// The number under which it was announced, if it was.
        ask: Option<u64>,
        method: String,
        params: Value,
        fault: Option<i64>,
        /// Its result says that it went wrong.
        failed: bool,
        took: Duration,
    },
    /// A request that the view itself took back.
    TakenBack { ask: Option<u64>, method: String, took: Duration },
    /// Something that cannot be answered, and why it was not heeded.
    Dropped { why: String },
}

/// The world, for one view. Where a thing is not offered, its default is never called.
pub trait Context: Send + Sync {
    fn ports(&self) -> Ports;

    /// Passes a message to the view, in order. Must neither wait nor call back.
    fn post(&self, message: Value);

    /// Time since some moment; it never goes back.
    fn now(&self) -> Duration;

    /// A view is about to do something that others notice. Says whether that was written down under
    /// this number; on trouble it is not done.
    fn announce<'a>(
        &'a self,
        ask: u64,
        method: &'a str,
        params: &'a Map<String, Value>,
    ) -> Doing<'a, bool> {
        let _ = (ask, method, params);
        future::ready(Ok(false)).boxed()
    }

    fn call_tool(&self, call: ToolCall) -> Doing<'_, Value>;

    /// The view wants the model to know this from now on.
    fn remember(&self, context: ModelContext) -> Doing<'_, ()> {
        drop(context);
        nobody()
    }

    fn open_link(&self, link: Link) -> Doing<'_, ()> {
        drop(link);
        nobody()
    }

    /// Gives back the mode in force.
    fn show(&self, mode: DisplayMode) -> Doing<'_, DisplayMode> {
        let _ = mode;
        nobody()
    }

    /// The view wants to be closed.
    fn close(&self, reason: Option<String>) -> Doing<'_, ()> {
        drop(reason);
        nobody()
    }

    fn say(&self, said: Said) -> Doing<'_, ()> {
        drop(said);
        nobody()
    }

    fn download(&self, contents: Vec<Value>) -> Doing<'_, ()> {
        drop(contents);
        nobody()
    }

    /// Asks the view's own server by this method of MCP.
    fn resources(&self, method: &'static str, params: Map<String, Value>) -> Doing<'_, Value> {
        let _ = (method, params);
        nobody()
    }

    fn sample(&self, params: Map<String, Value>) -> Doing<'_, Value> {
        drop(params);
        nobody()
    }

    /// The view wants this to be there for itself when it is shown anew.
    fn keep(&self, state: Value) {
        drop(state);
    }

    fn log(&self, entry: LogEntry) {
        drop(entry);
    }

    fn resize(&self, size: Size) {
        let _ = size;
    }

    /// These are the tools of the view from now on.
    fn tools_changed(&self, tools: Vec<WidgetTool>) {
        drop(tools);
    }

    /// The view has greeted, and listens.
    fn ready(&self) {}

    fn record(&self, record: Record) {
        drop(record);
    }
}

fn nobody<'a, T: Send + 'a>() -> Doing<'a, T> {
    future::ready(Err(Trouble::Other("nobody here does that".into()))).boxed()
}
