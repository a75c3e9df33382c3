//! Servers of tools as the house sees them: what there is, how it stands, and what may be changed.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::{
    ports::StoreError,
    toolbox::Audience,
    widget::{NoWidget, WidgetPage},
};

pub type Changing<'a, T> = BoxFuture<'a, Result<T, ServerError>>;

/// Programs elsewhere that lend us their tools.
pub trait Servers: Send + Sync {
    /// All of them, by name.
    fn list(&self) -> Vec<ServerInfo>;

    /// What a server said beside its answers, oldest first; `None` if there is no such server.
    fn logs(&self, name: &str) -> Option<Vec<LogLine>>;

    /// Adds one, in the words of a `[mcp.servers.NAME]` table, and keeps it.
    fn add(&self, name: String, settings: Value) -> Changing<'_, ()>;

    fn remove(&self, name: String) -> Changing<'_, ()>;

    fn change(&self, name: String, change: ServerChange) -> Changing<'_, ()>;

    /// Begins anew, whatever it was doing.
    fn restart(&self, name: String) -> Changing<'_, ()>;

    /// Reads the configuration again, and starts, restarts and ends what is different there.
    fn reload(&self) -> Changing<'_, ()> {
        let refusal = "there is no configuration to read again".to_owned();
        Box::pin(async { Err(ServerError::Wrong(refusal)) })
    }

    /// A browser came back from signing in, with this query. Says for which server.
    fn signed_in(&self, query: String) -> Changing<'_, String>;

    /// The widget that shows the results of a tool, by the name its server gave that. Asked for anew
    /// each time.
    fn widget(&self, server: String, tool: String) -> BoxFuture<'_, Result<WidgetPage, NoWidget>> {
        drop(tool);
        Box::pin(async { Err(NoWidget::NoServer(server)) })
    }

    /// Asks a server for its resources, in the words of its own protocol: `resources/read`,
    /// `resources/list` or `resources/templates/list`.
    fn resources(
        &self,
        server: String,
        method: &'static str,
        params: Map<String, Value>,
    ) -> BoxFuture<'_, Result<Value, AskError>> {
        let _ = (method, params);
        Box::pin(
            async move { Err(AskError::Unreachable(format!("no server is named `{server}`"))) },
        )
    }
}

/// Why a server gave no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AskError {
    #[error("{0}")]
    Unreachable(String),
    /// It answered that it would not.
    #[error("{message}")]
    Refused { code: i64, message: String, data: Option<Value> },
}

#[derive(Clone, Debug, PartialEq)]
pub struct ServerInfo {
    pub name: String,
    /// How it is reached: `stdio` or `http`.
    pub kind: &'static str,
    /// Its command or its address, without secrets.
    pub place: String,
    pub standing: Standing,
    /// Since when it stands like that.
    pub since: Timestamp,
    /// How often it has been started.
    pub starts: u32,
    /// Whether its word about its own tools counts.
    pub trusted: bool,
    /// Its widgets do something in the person's name only right after they were touched.
    pub gesture: bool,
    /// It is in the configuration file, and cannot be removed from here.
    pub configured: bool,
    /// The version of the protocol that was agreed on.
    pub protocol: Option<String>,
    /// What it calls itself.
    pub title: Option<String>,
    pub tools: Vec<ServerTool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    Disabled,
    /// It is started when it is needed.
    Resting,
    Starting,
    Ready,
    Failed {
        reason: String,
        /// When it is tried again by itself, if it is.
        retry: Option<Timestamp>,
    },
    /// The person has to sign in there.
    NeedsSignIn {
        url: String,
    },
}

impl Standing {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Resting => "resting",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Failed { .. } => "failed",
            Self::NeedsSignIn { .. } => "needs-sign-in",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTool {
    /// As its server calls it.
    pub name: String,
    /// As it is called here, if it can be.
    pub offered: Option<String>,
    pub description: String,
    pub enabled: bool,
    /// Where the widget is that shows its results, as its server says, good or not.
    pub widget: Option<String>,
    pub audience: Audience,
    /// What is wrong with it.
    pub warning: Option<String>,
}

/// Whatever is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerChange {
    pub enabled: Option<bool>,
    /// Of tools, by the names their server gives them.
    pub tools: BTreeMap<String, bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    pub at: Timestamp,
    pub text: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("no server is named `{0}`")]
    Unknown(String),
    #[error("there is a server named `{0}` already")]
    Taken(String),
    #[error("`{0}` is in config.toml; remove it there, or disable it here")]
    Configured(String),
    /// What was asked for cannot be.
    #[error("{0}")]
    Wrong(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A house without any.
pub struct NoServers;

impl Servers for NoServers {
    fn list(&self) -> Vec<ServerInfo> {
        Vec::new()
    }

    fn logs(&self, _: &str) -> Option<Vec<LogLine>> {
        None
    }

    fn add(&self, _: String, _: Value) -> Changing<'_, ()> {
        let refusal = "this house takes no servers".to_owned();
        Box::pin(async { Err(ServerError::Wrong(refusal)) })
    }

    fn remove(&self, name: String) -> Changing<'_, ()> {
        Box::pin(async { Err(ServerError::Unknown(name)) })
    }

    fn change(&self, name: String, _: ServerChange) -> Changing<'_, ()> {
        Box::pin(async { Err(ServerError::Unknown(name)) })
    }

    fn restart(&self, name: String) -> Changing<'_, ()> {
        Box::pin(async { Err(ServerError::Unknown(name)) })
    }

    fn signed_in(&self, _: String) -> Changing<'_, String> {
        let refusal = "nobody is signing in".to_owned();
        Box::pin(async { Err(ServerError::Wrong(refusal)) })
    }
}
