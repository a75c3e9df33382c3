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
}

pub const HELP: &str = "\
Apps lie in <data-dir>/apps, one folder each. A running server shows what changes there at once.

Examples:
  megaron app install ./sheet
  megaron app install sheet.zip --id my-sheet
  megaron app remove sheet";
