//! `megaron widget` and `megaron certify` as they are typed.

use clap::{Args, ValueEnum, builder::FalseyValueParser};

use super::DataDir;

#[derive(Clone, Debug, Args)]
#[command(after_help = WIDGET_HELP)]
pub struct WidgetArgs {
    #[command(flatten)]
    pub home: DataDir,
    #[command(flatten)]
    pub subject: Subject,
    /// Print the address, and do not open a browser
    #[arg(long, env = "MEGARON_NO_OPEN", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub no_open: bool,
}

const WIDGET_HELP: &str = "\
A server of its own runs until Ctrl-C, on nothing that you have kept: the tool is called, and the page
shows its widget. Flags of the other server go after `--`.

Examples:
  megaron widget node server.js --tool get-time
  megaron widget --tool forecast --args '{\"city\": \"Pylos\"}' -- node server.js --stdio
  megaron widget http://127.0.0.1:3001/mcp --tool get-time";

/// A server of tools, and what to call of it.
#[derive(Clone, Debug, Args)]
pub struct Subject {
    /// A command and its arguments, an address, or the name of a server in config.toml
    #[arg(required = true, value_name = "SERVER")]
    pub server: Vec<String>,
    /// The tool to call [default: the only one that has a widget]
    #[arg(long, env = "MEGARON_TOOL", hide_env_values = true, value_name = "NAME")]
    pub tool: Option<String>,
    /// What to call it with, as JSON [default: {}]
    #[arg(long, env = "MEGARON_ARGS", hide_env_values = true, value_name = "JSON")]
    pub args: Option<String>,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = CERTIFY_HELP)]
pub struct CertifyArgs {
    #[command(flatten)]
    pub home: DataDir,
    #[command(flatten)]
    pub subject: Subject,
    /// How the report is written
    #[arg(long, env = "MEGARON_FORMAT", hide_env_values = true, value_enum, default_value_t)]
    pub format: ReportFormat,
    /// Leave out what needs a browser
    #[arg(long, env = "MEGARON_NO_BROWSER", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub no_browser: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    #[default]
    Text,
    Json,
    Junit,
}

const CERTIFY_HELP: &str = "\
Looks at every tool that has a widget, calls it, and shows the widget in a Chromium that nobody sees
(CHROMIUM_BIN names another): metadata, type and domains as declared, the handshake, every message
against the published schema, what the policy blocked, errors, sizes, names for screen readers, teardown.
Tools that need arguments are called only with --tool and --args. Calls have their effects: nobody is asked.

Exits with 0 if nothing failed, 1 if something did, 3 if the server cannot be used.

Examples:
  megaron certify node server.js
  megaron certify --format junit -- node server.js --stdio > report.xml
  megaron certify files --tool forecast --args '{\"city\": \"Pylos\"}'";
