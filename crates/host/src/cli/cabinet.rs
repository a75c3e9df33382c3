//! `megaron app` and `megaron open` as they are typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::DataDir;

#[derive(Clone, Debug, Args)]
#[command(after_help = HELP)]
pub struct AppArgs {
    #[command(subcommand)]
    pub action: Option<AppAction>,
    #[command(flatten)]
    pub home: DataDir,
    /// Print lists as JSON
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Subcommand)]
pub enum AppAction {
    /// Print all apps, what they may do, and what is wrong with them [the default]
    #[default]
    List,
    /// Put in an app: a folder with an app.json, a .zip or a .tar.gz
    Install {
        path: PathBuf,
        /// What it shall be called, if not what it calls itself
        #[arg(long)]
        id: Option<String>,
        /// Do not ask, whatever it wants
        #[arg(long, short)]
        yes: bool,
    },
    /// Take out an app that was put in; what it has kept stays
    Remove { id: String },
    /// Open an app in a window of a session
    Open {
        id: String,
        #[arg(long, env = "MEGARON_SESSION", hide_env_values = true, value_name = "ID")]
        session: String,
    },
}

#[derive(Clone, Debug, Args)]
#[command(after_help = OPEN_HELP)]
pub struct OpenArgs {
    /// What to open
    pub file: PathBuf,
    /// The app that shall open it [default: the one you prefer, else the first by name]
    #[arg(long, env = "MEGARON_APP", hide_env_values = true, value_name = "ID")]
    pub app: Option<String>,
    /// The session in whose windows it is opened
    #[arg(long, env = "MEGARON_SESSION", hide_env_values = true, value_name = "ID")]
    pub session: String,
    #[command(flatten)]
    pub home: DataDir,
}

pub const OPEN_HELP: &str = "\
Asks the running server; a page must show the session, for it is there that the app runs.

Example:
  megaron open sales.csv --session 0190f5fe-7c00-7a00-8000-000000000001";

pub const HELP: &str = "\
Apps lie in <data-dir>/apps, one folder each. A running server shows what changes there at once.

Examples:
  megaron app install ./sheet
  megaron app install sheet.zip --id my-sheet
  megaron app remove sheet
  megaron app open sheet --session 0190f5fe-7c00-7a00-8000-000000000001";
