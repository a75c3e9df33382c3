//! `megaron schedules` as it is typed.

use clap::{Args, Subcommand};

use super::DataDir;

#[derive(Clone, Debug, Args)]
#[command(after_help = HELP)]
pub struct SchedulesArgs {
    #[command(subcommand)]
    pub action: Option<SchedulesAction>,
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
pub enum SchedulesAction {
    /// Print all schedules, with what came of them and when they run next [the default]
    #[default]
    List,
    /// Run one now, also if it is off
    Run { name: String },
    /// Let one run when it is due
    Enable { name: String },
    /// Let one rest
    Disable { name: String },
    /// Remove one, with its ledger and what it was allowed
    Remove { name: String },
}

pub const HELP: &str = "\
Examples:
  megaron schedules                       all of them
  megaron schedules run daily-backup      now
  megaron schedules disable daily-backup
Schedules are made on the page, or with PUT /api/schedule/NAME.";
