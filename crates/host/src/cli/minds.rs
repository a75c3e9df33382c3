//! `megaron models` as it is typed.

use clap::{Args, Subcommand};

use super::DataDir;

#[derive(Clone, Debug, Args)]
#[command(after_help = HELP)]
pub struct ModelsArgs {
    #[command(subcommand)]
    pub action: Option<ModelsAction>,
    #[command(flatten)]
    pub home: DataDir,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum ModelsAction {
    /// Print every model and who pays for it [the default]
    List,
    /// Ask a model for one word; exits with 1 if it does not answer
    Test { id: String },
    /// Make this the model of sessions that name none
    Default { id: String },
    /// Let this model answer in a session from now on
    Use {
        id: String,
        #[arg(long, env = "MEGARON_SESSION", hide_env_values = true, value_name = "ID")]
        session: String,
    },
    /// Look for keys, servers and agents on this machine
    Detect {
        /// Add what can be used to config.toml
        #[arg(long)]
        write: bool,
    },
}

pub const HELP: &str = "\
Examples:
  megaron models                       the default is marked with *
  megaron models detect --write        add what this machine has to config.toml
  megaron models test ollama/llama3.2
  megaron models default ollama/llama3.2
  megaron models use ollama/llama3.2 --session 0190f5fe-7c00-7a00-8000-000000000001";
