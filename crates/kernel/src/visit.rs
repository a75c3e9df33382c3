//! Agents with minds of their own that answer in place of a model: what they are asked, and what they do.

mod leave;
mod past;
mod reception;

use std::{path::PathBuf, sync::Arc};

use futures::{
    FutureExt as _, StreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{
    ports::{Agent, Agents, Model, ModelError, ModelInfo, Models, Piece},
    prompt::Prompt,
    tasks::Plan,
    toolbox::{Deed, Reply},
    update::{Attachment, Failure, SessionId},
};

const PREFIX: &str = "agent/";
/// As good a guess as any, for those who draw how full it is.
const WINDOW: u64 = 200_000;

/// Whether this is the name of an agent rather than of a model.
pub fn names_agent(model: &str) -> bool {
    model.starts_with(PREFIX)
}

/// The agent that a model of this name is, if it is one.
pub fn agent_of(model: &str) -> Option<&str> {
    model.strip_prefix(PREFIX)
}

/// The model's name of the agent of this name.
pub fn model_of(agent: &str) -> String {
    format!("{PREFIX}{agent}")
}

/// What an agent is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    pub session: SessionId,
    pub cwd: PathBuf,
    pub text: String,
    pub images: Vec<Attachment>,
    /// What it wanted to be reminded of when it last answered here.
    pub memory: Option<Value>,
    /// What was said here since then, that it has not heard; empty if it has heard all.
    pub since: String,
    /// What was said here before, for an agent that remembers nothing of it.
    pub past: String,
}

/// What an agent does while it answers. Its calls go by names of its own.
#[derive(Debug)]
pub enum Doing {
    Text(String),
    Reasoning(String),
    /// What it is to be reminded of the next time.
    Memory(Value),
    Plan(Plan),
    /// It means to use a tool of its own.
    Began {
        call: String,
        tool: String,
        args: Value,
        title: String,
    },
    /// It does so by now, and it may have its effect.
    Started {
        call: String,
    },
    /// More of what the tool prints.
    Printed {
        call: String,
        delta: String,
    },
    Ended {
        call: String,
        result: Result<Reply, String>,
    },
    /// It asks for leave. The answer is the id of an option, or none if it is not to go on.
    Asks {
        call: String,
        deed: Deed,
        options: Vec<Choice>,
        answer: oneshot::Sender<Option<String>>,
    },
    /// It wants a tool of this house to be used for it.
    Wants {
        tool: String,
        args: Value,
        answer: oneshot::Sender<Result<String, String>>,
    },
}

/// One of the answers that an agent would understand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub id: String,
    pub name: String,
    pub means: Means,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    /// Neither a yes nor a no that we know.
    Other,
}

/// The models and the agents together, as clients choose among them.
pub struct Company {
    pub models: Arc<dyn Models>,
    pub agents: Arc<dyn Agents>,
    /// What answers where nobody says; the models' own default if absent.
    pub default: Option<String>,
}

impl Models for Company {
    fn list(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ModelError>> {
        async {
            let models = self.models.list().await?;
            Ok(models.into_iter().chain(self.agents.list()).collect())
        }
        .boxed()
    }

    fn find(&self, id: &str) -> Option<Arc<dyn Model>> {
        match self.agents.find(id) {
            Some(_) => Some(Arc::new(Elsewhere)),
            None => self.models.find(id),
        }
    }

    fn default_id(&self) -> String {
        self.default.clone().unwrap_or_else(|| self.models.default_id())
    }
}

/// Stands for an agent where only a model would do.
struct Elsewhere;

impl Model for Elsewhere {
    fn window(&self) -> u64 {
        WINDOW
    }

    fn is_free(&self) -> bool {
        true
    }

    fn stream(&self, _: &Prompt) -> BoxStream<'static, Result<Piece, ModelError>> {
        let message = "an agent answers in sessions alone, and keeps its memory itself";
        stream::iter([Err(ModelError::new(Failure::Refused, message))]).boxed()
    }
}

/// A house without agents.
pub struct NoAgents;

impl Agents for NoAgents {
    fn list(&self) -> Vec<ModelInfo> {
        Vec::new()
    }

    fn find(&self, _: &str) -> Option<Arc<dyn Agent>> {
        None
    }

    fn dismiss(&self, _: SessionId) {}
}
