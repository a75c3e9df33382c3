//! `megaron ask` as it is typed.

use clap::{Args, ValueEnum};

use super::DataDir;

#[derive(Clone, Debug, Args)]
#[command(after_help = HELP)]
pub struct AskArgs {
    /// What to ask; `-`, or nothing when something is piped in, reads it from stdin
    pub prompt: Option<String>,
    /// Go on with this session instead of starting a new one
    #[arg(long, env = "MEGARON_SESSION", hide_env_values = true, value_name = "ID")]
    pub session: Option<String>,
    /// The model of a new session; a session that goes on is answered by it from now on
    #[arg(long, env = "MEGARON_MODEL", hide_env_values = true, value_name = "ID")]
    pub model: Option<String>,
    /// What a new session may do without asking [default: what config.toml says]
    #[arg(long, env = "MEGARON_MODE", hide_env_values = true, value_name = "MODE")]
    pub mode: Option<Mode>,
    /// Print every event as a line of JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub home: DataDir,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Asks before it changes anything
    Ask,
    /// Also edits files in its folder, and runs programs that are locked in there
    AutoSafe,
    /// Does whatever it thinks right
    Full,
}

impl Mode {
    /// As the API spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AutoSafe => "auto-safe",
            Self::Full => "full",
        }
    }
}

pub const HELP: &str = "\
The answer goes to stdout; tool calls, reasoning and remarks go to stderr. Asks the running
server; when there is none, one runs for as long as the answer takes. A new session works in
the current folder. What needs your leave is asked right here, if this is a terminal; else it
says where to answer, and waits. Ctrl-C cancels the turn and keeps what was said; a second one
just leaves.

Examples:
  megaron ask \"list the files here\"
  git diff | megaron ask > review.txt
  megaron ask --session 0190f5fe-7c00-7a00-8000-000000000001 \"and then?\"
  megaron ask --json \"hello\" | jq -r 'select(.event.type == \"assistant.message\").event.data.content'

Exit codes:
  0    answered
  1    the turn failed
  2    wrong usage
  3    the server cannot be reached, or refused
  130  cancelled";
