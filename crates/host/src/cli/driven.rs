//! `megaron desktop`: this machine's desktop for a hub, and the devices of the hub that runs here.

use clap::{Args, Subcommand, builder::FalseyValueParser};

use super::DataDir;

#[derive(Clone, Debug, Args)]
#[command(after_help = HELP)]
pub struct DesktopArgs {
    #[command(subcommand)]
    pub action: Option<DesktopAction>,
    /// Let this hub see and drive the desktop of this machine
    #[arg(long, env = "MEGARON_CONNECT", hide_env_values = true, value_name = "URL")]
    pub connect: Option<String>,
    /// The key that the hub has for this device [default: our own, for a hub on this machine]
    #[arg(long, env = "MEGARON_TOKEN", hide_env_values = true, value_name = "KEY")]
    pub token: Option<String>,
    /// What this device is called, where its key does not say [default: the name of this machine]
    #[arg(long, env = "MEGARON_NAME", hide_env_values = true, value_name = "NAME")]
    pub name: Option<String>,
    /// For how long the hub may do anything, such as 15m or 2h, at most 8h
    #[arg(long, env = "MEGARON_ARM", hide_env_values = true, value_name = "TIME")]
    pub arm: Option<String>,
    /// Let the hub look, and do nothing else
    #[arg(long, env = "MEGARON_VIEW_ONLY", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub view_only: bool,
    /// Connect even where nothing is encrypted on the way to another machine
    #[arg(long, env = "MEGARON_INSECURE", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub insecure: bool,
    #[command(flatten)]
    pub home: DataDir,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum DesktopAction {
    /// Print the devices of the running server, and how they stand
    List,
    /// Make a key for a new device, and print it
    Add {
        name: String,
        /// For somebody who watches, and not for a device
        #[arg(long)]
        viewer: bool,
    },
    /// Void the key of a device, and send it away if it is connected
    Forget { name: String },
}

pub const HELP: &str = "\
On the machine of the server, make a key; on the machine that is to be driven, use it:
  megaron desktop add studio
  megaron desktop --connect wss://hub.example/connect --token mgd_...

Nothing is driven until a person arms the device at the hub. A hub that knows no arming gets
nothing unless --arm says for how long. Each change of that is a line here, and so is who took
over. Ctrl-C ends it, and lets go of every key and button.
The key is best given as MEGARON_TOKEN, where other users of this machine do not see it.

Exit codes:
  0    ended by Ctrl-C or SIGTERM
  1    the hub refused the key or the name, or there is no desktop here";
