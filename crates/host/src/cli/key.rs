//! `megaron key` as it is typed.

use clap::{Args, Subcommand};

use super::DataDir;

#[derive(Clone, Debug, Args)]
#[command(after_help = HELP)]
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
    /// Remove it: nobody gets in with a key until there is a new one; with a name, the key of that device
    Revoke { device: Option<String> },
    /// Print the devices that were paired, and when each was last seen
    Devices,
    /// Print where the key of every provider comes from, and never what it is
    List,
    /// Keep the key of a provider of models, typed or piped in
    Set {
        provider: String,
        /// In the keyring of this machine instead of a file
        #[arg(long)]
        keyring: bool,
    },
    /// Forget the key of a provider that was kept here
    Forget { provider: String },
}

pub const HELP: &str = "\
`set` keeps the key in <data-dir>/secrets, for its owner alone, or with --keyring in the keyring of
this machine. It is used for a provider that has neither api_key_env nor api_key_file.

Examples:
  curl -H \"Authorization: Bearer $(megaron key)\" http://127.0.0.1:53000/api/sessions
  megaron key devices
  megaron key revoke \"Anna's phone\"
  megaron key set anthropic
  megaron key set anthropic --keyring
  megaron key list
  pass show openai | megaron key set openai";
