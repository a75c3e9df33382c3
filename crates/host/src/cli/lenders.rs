//! `megaron mcp`: a door for other programs, and servers whose tools are lent to agents.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::DataDir;

#[derive(Clone, Debug, Args)]
#[command(after_help = HELP)]
pub struct McpArgs {
    #[command(subcommand)]
    pub action: Option<McpAction>,
    #[command(flatten)]
    pub home: DataDir,
    /// Where sessions work that name no folder of their own, if no server is running
    #[arg(
        long,
        env = "MEGARON_WORKSPACE",
        hide_env_values = true,
        value_name = "DIR",
        default_value = "."
    )]
    pub workspace: PathBuf,
}

pub const HELP: &str = "\
Without a command it passes messages between a client and the running server; when there is none,
one runs for as long as the client stays. Nothing but messages goes to stdout; remarks go to stderr.
Clients that speak HTTP can go to /mcp of the server instead, with the API key as bearer token.

Example, in the settings of a client:
  { \"mcpServers\": { \"megaron\": { \"command\": \"megaron\", \"args\": [\"mcp\"] } } }

The commands are about servers of others, whose tools your agents use:
  megaron mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  megaron mcp add web --url https://mcp.example/mcp
  megaron mcp test files
  megaron mcp import ~/.config/other-host/mcp.json
  megaron mcp remove files";

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum McpAction {
    /// Print every server of tools, and how it stands if ours is running
    List,
    /// Connect to a server, list its tools and say how long that took; exits with 1 if it fails
    Test { name: String },
    /// Add a server to config.toml; one of ours that is running takes it up at once
    Add(McpAddArgs),
    /// Remove a server
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
