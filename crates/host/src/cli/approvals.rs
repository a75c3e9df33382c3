//! `megaron approvals` as it is typed.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::DataDir;

#[derive(Clone, Debug, Args)]
#[command(after_help = HELP)]
pub struct ApprovalsArgs {
    #[command(subcommand)]
    pub action: Option<ApprovalsAction>,
    #[command(flatten)]
    pub home: DataDir,
    /// Another server than the one that runs on the data directory
    #[arg(long, env = "MEGARON_SERVER", hide_env_values = true, value_name = "URL", global = true)]
    pub server: Option<String>,
    /// Print lists as JSON
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Subcommand)]
pub enum ApprovalsAction {
    /// Print what waits, oldest first [the default]
    #[default]
    List,
    /// Let a tool do what it wants to do
    Allow(Allow),
    /// Do not let it
    Deny {
        id: String,
        /// Why, for the agent
        #[arg(long)]
        reason: Option<String>,
    },
    /// Answer a question, or a form with JSON
    Answer { id: String, text: String },
    /// Print what is allowed without asking
    Grants,
    /// Take back what was allowed
    Revoke { id: String },
}

#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct Allow {
    pub id: String,
    /// And whatever it does later in this session
    #[arg(long, conflicts_with = "always")]
    pub session: bool,
    /// And whatever it does later in any session
    #[arg(long)]
    pub always: bool,
    /// Only what is like this, where * stands for anything; in this session, or with --always
    #[arg(long, value_name = "PATTERN")]
    pub pattern: Option<String>,
    /// How long that holds: 30m, 2h, 7d
    #[arg(long = "for", value_name = "TIME", value_parser = crate::inbox::duration)]
    pub lasts: Option<Duration>,
}

pub const HELP: &str = "\
Examples:
  megaron approvals                                   what waits, with its ids
  megaron approvals allow ID                          this once
  megaron approvals allow ID --session --for 2h       and whatever the tool does for two hours
  megaron approvals allow ID --always --pattern 'git *'
  megaron approvals deny ID --reason \"not on a Friday\"
  megaron approvals answer ID \"the blue one\"
  megaron approvals grants
  megaron approvals revoke ID";
