//! What can be typed: the commands, their flags, and the words that explain them.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum, builder::FalseyValueParser};
use clap_complete::Shell;

use crate::config;

#[derive(Debug, Parser)]
#[command(
    name = "megaron",
    version,
    about = "A home for AI agents on your own machine",
    long_about = "A home for AI agents on your own machine: one server that keeps every conversation, \
                  and several doors to it.",
    after_help = FIRST_STEPS,
    arg_required_else_help = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const FIRST_STEPS: &str = "\
First steps:
  megaron serve                        start the server and open the page
  megaron ask \"what time is it?\"       ask from the terminal, with or without a server
  megaron models detect                find the models that this machine has
  megaron doctor                       see what is set up, what is wrong, and how to fix it

Every flag can be given as an environment variable: --data-dir is MEGARON_DATA_DIR, and so on.
A flag wins over the environment, and the environment over <data-dir>/config.toml.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the server
    Serve(ServeArgs),
    /// Ask something and stream the answer to the terminal
    Ask(AskArgs),
    /// List the models, try one, choose the default, look for more
    Models(ModelsArgs),
    /// List, try, add and remove servers of tools (MCP)
    Mcp(McpArgs),
    /// Show, replace or revoke the API key; keep the keys of providers
    Key(KeyArgs),
    /// Look for what is wrong, and say how to fix it
    Doctor(DoctorArgs),
    /// Print the configuration in effect; `megaron config --help` explains every key
    Config(ConfigArgs),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions { shell: Shell },
}

const COMPLETIONS_HELP: &str = "\
Examples:
  megaron completions bash > ~/.local/share/bash-completion/completions/megaron
  megaron completions zsh > ~/.zfunc/_megaron
  megaron completions fish > ~/.config/fish/completions/megaron.fish";

#[derive(Clone, Debug, Default, Args)]
pub struct DataDir {
    /// Where everything is kept [default: ~/.megaron]
    #[arg(
        long,
        env = "MEGARON_DATA_DIR",
        hide_env_values = true,
        value_name = "DIR",
        global = true
    )]
    pub data_dir: Option<PathBuf>,
}

/// What may be said here instead of in the configuration file.
#[derive(Clone, Debug, Default, Args)]
pub struct Overrides {
    /// Address to listen on; port 0 picks a free one [default: 127.0.0.1:53000]
    #[arg(long, env = "MEGARON_LISTEN", hide_env_values = true, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// How long running turns may take to end when the server is stopped [default: 10]
    #[arg(long, env = "MEGARON_DRAIN", hide_env_values = true, value_name = "SECONDS")]
    pub drain: Option<u64>,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = SERVE_HELP)]
pub struct ServeArgs {
    #[command(flatten)]
    pub home: DataDir,
    #[command(flatten)]
    pub overrides: Overrides,
    /// Reserved for the content of apps and widgets; nothing is served there yet
    #[arg(
        long,
        env = "MEGARON_SANDBOX_LISTEN",
        hide_env_values = true,
        value_name = "ADDR",
        default_value = "127.0.0.1:53001"
    )]
    pub sandbox_listen: SocketAddr,
    /// Where sessions work that name no folder of their own
    #[arg(
        long,
        env = "MEGARON_WORKSPACE",
        hide_env_values = true,
        value_name = "DIR",
        default_value = "."
    )]
    pub workspace: PathBuf,
    /// Do not open the page in a browser
    #[arg(long, env = "MEGARON_NO_OPEN", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub no_open: bool,
    /// Let every program and person on this machine in without a key
    #[arg(long, env = "MEGARON_TRUST_LOOPBACK", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub trust_loopback: bool,
    /// How log lines look
    #[arg(
        long,
        env = "MEGARON_LOG_FORMAT",
        hide_env_values = true,
        value_name = "FORMAT",
        default_value = "text"
    )]
    pub log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

const SERVE_HELP: &str = "\
Prints `listening on http://ADDR` and then a login URL, which works once. Logs go to stderr;
MEGARON_LOG (or RUST_LOG) filters them: MEGARON_LOG=debug, MEGARON_LOG=info,kernel=trace.
SIGTERM and Ctrl-C let running turns end first; a second one stops at once.

Examples:
  megaron serve
  megaron serve --workspace ~/projects/notes --no-open
  megaron serve --listen 127.0.0.1:0 --data-dir /tmp/try     a free port, a home to throw away
  megaron serve --log-format json 2>> megaron.log";

#[derive(Clone, Debug, Args)]
#[command(after_help = ASK_HELP)]
pub struct AskArgs {
    /// What to ask; `-`, or nothing when something is piped in, reads it from stdin
    pub prompt: Option<String>,
    /// Go on with this session instead of starting a new one
    #[arg(long, env = "MEGARON_SESSION", hide_env_values = true, value_name = "ID")]
    pub session: Option<String>,
    /// The model of a new session
    #[arg(long, env = "MEGARON_MODEL", hide_env_values = true, value_name = "ID")]
    pub model: Option<String>,
    /// Print every event as a line of JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub home: DataDir,
}

const ASK_HELP: &str = "\
The answer goes to stdout; tool calls, reasoning and remarks go to stderr. Asks the running
server; when there is none, one runs for as long as the answer takes. A new session works in
the current folder. Ctrl-C cancels the turn and keeps what was said; a second one just leaves.

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

#[derive(Clone, Debug, Args)]
#[command(after_help = KEY_HELP)]
pub struct KeyArgs {
    #[command(subcommand)]
    pub action: Option<KeyAction>,
    #[command(flatten)]
    pub home: DataDir,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum KeyAction {
    /// Print our API key; the first time, make one [the default]
    Show,
    /// Replace it: the old one and every login end
    New,
    /// Remove it: nobody gets in with a key until there is a new one
    Revoke,
    /// Keep the key of a provider of models, typed or piped in
    Set { provider: String },
    /// Forget the key of a provider that was kept here
    Forget { provider: String },
}

const KEY_HELP: &str = "\
`set` keeps the key in <data-dir>/secrets, for its owner alone. It is used for a provider that has
neither api_key_env nor api_key_file.

Examples:
  curl -H \"Authorization: Bearer $(megaron key)\" http://127.0.0.1:53000/api/sessions
  megaron key set anthropic
  pass show openai | megaron key set openai";

#[derive(Clone, Debug, Args)]
#[command(after_help = MODELS_HELP)]
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
    /// Look for keys, servers and agents on this machine
    Detect {
        /// Add what can be used to config.toml
        #[arg(long)]
        write: bool,
    },
}

const MODELS_HELP: &str = "\
Examples:
  megaron models                       the default is marked with *
  megaron models detect --write        add what this machine has to config.toml
  megaron models test ollama/llama3.2
  megaron models default ollama/llama3.2";

#[derive(Clone, Debug, Args)]
#[command(after_help = MCP_HELP)]
pub struct McpArgs {
    #[command(subcommand)]
    pub action: Option<McpAction>,
    #[command(flatten)]
    pub home: DataDir,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum McpAction {
    /// Print every server, and how it stands if ours is running [the default]
    List,
    /// Connect to a server, list its tools and say how long that took; exits with 1 if it fails
    Test { name: String },
    /// Add a server to config.toml
    Add(McpAddArgs),
    /// Remove a server from config.toml
    Remove { name: String },
    /// Add the servers of another program's mcp.json
    Import { file: PathBuf },
}

#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct McpAddArgs {
    /// What to call it
    pub name: String,
    /// Where it is, if it is reached over HTTP
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub url: Option<String>,
    /// A variable for its process; may be repeated
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// A header for its requests; may be repeated
    #[arg(long = "header", value_name = "NAME=VALUE")]
    pub headers: Vec<String>,
    /// Believe it when it says that a tool only reads
    #[arg(long)]
    pub trusted: bool,
    /// Its command and arguments, after `--`
    #[arg(last = true, required_unless_present = "url")]
    pub command: Vec<String>,
}

const MCP_HELP: &str = "\
Examples:
  megaron mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  megaron mcp add web --url https://mcp.example/mcp
  megaron mcp test files
  megaron mcp import ~/.config/other-host/mcp.json";

#[derive(Clone, Debug, Args)]
#[command(after_help = "Exits with 1 when something is wrong (✗). A remark (!) is not a failure.")]
pub struct DoctorArgs {
    #[command(flatten)]
    pub home: DataDir,
    /// The folder that `serve` would be given
    #[arg(
        long,
        env = "MEGARON_WORKSPACE",
        hide_env_values = true,
        value_name = "DIR",
        default_value = "."
    )]
    pub workspace: PathBuf,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Default, Args)]
#[command(after_help = config::manual())]
pub struct ConfigArgs {
    #[command(flatten)]
    pub home: DataDir,
    #[command(flatten)]
    pub overrides: Overrides,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_flag_with_a_value_has_its_variable() {
        for command in Cli::command().get_subcommands() {
            for arg in command.get_arguments().filter(|arg| arg.get_long().is_some()) {
                let long = arg.get_long().unwrap_or_default();
                if ["help", "version", "json"].contains(&long) {
                    continue;
                }
                let variable = format!("MEGARON_{}", long.to_uppercase().replace('-', "_"));
                assert_eq!(
                    arg.get_env().and_then(|name| name.to_str()),
                    Some(&*variable),
                    "{long}"
                );
            }
        }
    }

    #[test]
    fn the_words_of_help_fit_a_terminal() {
        for text in
            [FIRST_STEPS, COMPLETIONS_HELP, SERVE_HELP, ASK_HELP, KEY_HELP, MODELS_HELP, MCP_HELP]
        {
            for line in text.lines() {
                assert!(line.chars().count() <= 100, "{line}");
            }
        }
    }
}
