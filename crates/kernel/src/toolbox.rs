//! Every tool call, whoever makes it; who may call what is decided here and nowhere else.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use futures::future::BoxFuture;
use serde_json::Value;

use crate::session::Session;

/// Something that can be called by name.
pub trait Tool: Send + Sync {
    fn spec(&self) -> &ToolSpec;

    /// What a call with these arguments does, for a person: `Reading notes.md`.
    fn title(&self, args: &Value) -> String {
        let _ = args;
        self.spec().name.clone()
    }

    /// Whether calls may overlap with others of the same step.
    fn parallel(&self) -> bool {
        false
    }

    /// The MCP server that offers it, if it is not our own.
    fn server(&self) -> Option<&str> {
        None
    }

    /// What it gets wrong is text for the caller to read. Dropping the future cancels the call.
    fn run(&self, call: Call) -> BoxFuture<'_, Result<String, String>>;
}

/// What a model is told about a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
}

/// One call, with all that a tool may lean on.
pub struct Call {
    pub caller: Caller,
    pub session: Session,
    pub cwd: PathBuf,
    /// The chain of calls between agents it belongs to.
    pub flow: String,
    pub args: Value,
}

/// Who is calling decides what may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    Model,
    /// The person whose home this is, through an API.
    Owner,
    /// A widget sees the tools of the server that sent it, and no others.
    Widget {
        server: String,
    },
}

/// Why a call gave no result. Each kind is treated differently by some caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    #[error("Tool '{0}' does not exist.")]
    Unknown(String),
    #[error("Tool '{0}' may not be called from here.")]
    Refused(String),
    #[error("{0}")]
    Failed(String),
}

#[derive(Default)]
pub struct Toolbox {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl Toolbox {
    /// Adds a tool, in place of any other of that name.
    pub fn add(&mut self, tool: impl Tool + 'static) {
        self.tools.insert(tool.spec().name.clone(), Arc::new(tool));
    }

    /// What this caller may call, by name.
    pub fn specs(&self, caller: &Caller) -> Vec<ToolSpec> {
        let open = self.tools.values().filter(|tool| may_call(caller, tool.as_ref()));
        open.map(|tool| tool.spec().clone()).collect()
    }

    pub fn title(&self, name: &str, args: &Value) -> String {
        self.tools.get(name).map_or_else(|| name.to_owned(), |tool| tool.title(args))
    }

    pub fn parallel(&self, name: &str) -> bool {
        self.tools.get(name).is_none_or(|tool| tool.parallel())
    }

    pub async fn call(&self, name: &str, call: Call) -> Result<String, ToolError> {
        let tool = self.tools.get(name).ok_or_else(|| ToolError::Unknown(name.to_owned()))?;
        if !may_call(&call.caller, tool.as_ref()) {
            return Err(ToolError::Refused(name.to_owned()));
        }
        tool.run(call).await.map_err(ToolError::Failed)
    }
}

fn may_call(caller: &Caller, tool: &dyn Tool) -> bool {
    match caller {
        Caller::Model | Caller::Owner => true,
        Caller::Widget { server } => tool.server() == Some(server),
    }
}
