//! What can be typed: the commands, their flags, and the words that explain them.

mod approvals;
mod ask;
mod cabinet;
mod driven;
mod key;
mod lenders;
mod minds;
mod phone;
mod schedules;
mod widget;

use std::{ffi::OsString, net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum, builder::FalseyValueParser};
use clap_complete::Shell;

use crate::config;

pub use approvals::{Allow, ApprovalsAction, ApprovalsArgs};
pub use ask::{AskArgs, Mode};
pub use cabinet::{AppAction, AppArgs, OpenArgs};
pub use driven::{DesktopAction, DesktopArgs};
pub use key::{KeyAction, KeyArgs};
pub use lenders::{McpAction, McpAddArgs, McpArgs};
pub use minds::{ModelsAction, ModelsArgs};
pub use phone::{PairArgs, PhoneArgs};
pub use schedules::{SchedulesAction, SchedulesArgs};
pub use widget::{CertifyArgs, ReportFormat, Subject, WidgetArgs};

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
    /// Speak MCP over stdin and stdout; list, try, add and remove servers of tools
    Mcp(McpArgs),
    /// See what waits for you, answer it, and take back what you allowed
    Approvals(ApprovalsArgs),
    /// List what runs by the clock; run, enable, disable and remove it
    Schedules(SchedulesArgs),
    /// List the apps; put one in, take one out, open one
    App(AppArgs),
    /// Open a file in the app for such files
    Open(OpenArgs),
    /// Let a hub see and drive this machine's desktop; list, add and forget devices
    Desktop(DesktopArgs),
    /// Call a tool of any server, and open its widget in the page
    Widget(WidgetArgs),
    /// Look whether the widgets of a server are as hosts need them
    Certify(CertifyArgs),
    /// List the models, try one, choose one, look for more
    Models(ModelsArgs),
    /// Print what was used, by model and by day, and how the budgets stand
    Usage(UsageArgs),
    /// Show, replace or revoke the API key; keep the keys of providers
    Key(KeyArgs),
    /// Make a key for a phone, and show it as a QR code
    Pair(PairArgs),
    /// Talk as a phone does, or check any server of the Window Protocol
    Phone(PhoneArgs),
    /// Take over what another program has kept: `megaron import caco`
    Import(ImportArgs),
    /// Look for what is wrong, and say how to fix it
    Doctor(DoctorArgs),
    /// Print the configuration in effect; `megaron config --help` explains every key
    Config(ConfigArgs),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions { shell: Shell },
    /// What lets go of held keys when the server was killed
    #[command(hide = true)]
    DesktopGuard {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// What the server starts between itself and a command, to lock it in
    #[command(hide = true)]
    SandboxExec {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
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
    /// Be there for other machines in the network, encrypted; see `megaron pair`
    #[arg(long, env = "MEGARON_LAN", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub lan: bool,
    /// Serve other machines in plain words: a proxy in front encrypts, or the network does
    #[arg(long, env = "MEGARON_PLAIN_HTTP", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub plain_http: bool,
    /// A certificate to use instead of one of our own, with its chain, as PEM
    #[arg(long, env = "MEGARON_TLS_CERT", hide_env_values = true, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// The key of that certificate, as PEM
    #[arg(long, env = "MEGARON_TLS_KEY", hide_env_values = true, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Where a proxy has the address of --sandbox-listen: `https://frames.example`
    #[arg(long, env = "MEGARON_SANDBOX_ORIGIN", hide_env_values = true, value_name = "ORIGIN")]
    pub sandbox_origin: Option<String>,
    /// How long running turns may take to end when the server is stopped [default: 10]
    #[arg(long, env = "MEGARON_DRAIN", hide_env_values = true, value_name = "SECONDS")]
    pub drain: Option<u64>,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    #[command(flatten)]
    pub home: DataDir,
    #[command(subcommand)]
    pub source: ImportSource,
}

#[derive(Debug, Subcommand)]
pub enum ImportSource {
    /// Sessions, what they put out, and applets of a Caco home; what is there already is left alone
    Caco {
        /// The folder that holds `.caco` and `.copilot` [default: your home directory]
        #[arg(long, env = "MEGARON_FROM", hide_env_values = true, value_name = "DIR")]
        from: Option<PathBuf>,
        /// Say what would be taken, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Clone, Debug, Args)]
#[command(after_help = SERVE_HELP)]
pub struct ServeArgs {
    #[command(flatten)]
    pub home: DataDir,
    #[command(flatten)]
    pub overrides: Overrides,
    /// Address for the content of apps and widgets, an origin of its own [default: that of --listen, one port further]
    #[arg(long, env = "MEGARON_SANDBOX_LISTEN", hide_env_values = true, value_name = "ADDR")]
    pub sandbox_listen: Option<SocketAddr>,
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
    /// Let this machine's desktop be driven from the start, such as 15m or 2h, at most 8h
    #[arg(long, env = "MEGARON_DESKTOP_ARM", hide_env_values = true, value_name = "TIME")]
    pub desktop_arm: Option<String>,
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
  megaron serve --lan                                        for phones and other machines too
  megaron serve --log-format json 2>> megaron.log";

#[derive(Clone, Debug, Args)]
#[command(after_help = USAGE_HELP)]
pub struct UsageArgs {
    /// How many days to show, today included
    #[arg(
        long,
        env = "MEGARON_DAYS",
        hide_env_values = true,
        value_name = "N",
        default_value_t = 31,
        value_parser = clap::value_parser!(u16).range(1..=366)
    )]
    pub days: u16,
    /// Print the server's answer as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub home: DataDir,
}

const USAGE_HELP: &str = "\
Asks the running server; exits with 3 if there is none. Costs are in US dollars, as far as
prices are known: `price` of a provider in config.toml sets them. Budgets are there as well,
under [budgets].

Examples:
  megaron usage
  megaron usage --days 1
  megaron usage --json | jq .total.cost";

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
        let texts = [
            FIRST_STEPS,
            COMPLETIONS_HELP,
            SERVE_HELP,
            ask::HELP,
            lenders::HELP,
            approvals::HELP,
            cabinet::HELP,
            cabinet::OPEN_HELP,
            driven::HELP,
            key::HELP,
            minds::HELP,
            USAGE_HELP,
        ];
        for text in texts {
            for line in text.lines() {
                assert!(line.chars().count() <= 100, "{line}");
            }
        }
    }
}
