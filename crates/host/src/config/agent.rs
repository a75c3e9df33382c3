//! An `[agents.NAME]` table: a program that speaks the Agent Client Protocol, and how to start it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{keys, provider::check_name};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// A program on the PATH, or where it is.
    pub command: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What is chosen for each of its sessions: its mode, its model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
}

impl Agent {
    pub fn new(command: &str, args: &[&str]) -> Self {
        let args = args.iter().map(|it| (*it).to_owned()).collect();
        Self { command: command.to_owned(), args, env: BTreeMap::new(), options: BTreeMap::new() }
    }
}

pub use keys::agent as written;

/// The same without what may be a secret.
pub fn shown(agent: &Agent) -> Agent {
    let mut shown = agent.clone();
    for value in shown.env.values_mut() {
        super::provider::HIDDEN.clone_into(value);
    }
    shown
}

pub fn check(name: &str, agent: &Agent) -> anyhow::Result<()> {
    check_name(name).map_err(|_| {
        anyhow::anyhow!(
            "`{name}` cannot be the name of an agent: take up to 64 letters, digits, - and _"
        )
    })?;
    anyhow::ensure!(!agent.command.is_empty(), "agents.{name}: the command is empty");
    Ok(())
}
