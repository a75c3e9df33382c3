//! `megaron pair` and `megaron phone` as they are typed.

use clap::{Args, builder::FalseyValueParser};

use super::DataDir;

#[derive(Clone, Debug, Args)]
#[command(after_help = PAIR_HELP)]
pub struct PairArgs {
    #[command(flatten)]
    pub home: DataDir,
    /// What the device is called [default: Phone]
    #[arg(long, env = "MEGARON_NAME", hide_env_values = true)]
    pub name: Option<String>,
    /// The conversation it takes part in [default: the one that phones share]
    #[arg(long, env = "MEGARON_SESSION", hide_env_values = true, value_name = "ID")]
    pub session: Option<String>,
    /// How the phone reaches this machine, where that is not its address: `hall.example:53000`
    #[arg(long, env = "MEGARON_HOST", hide_env_values = true)]
    pub host: Option<String>,
    /// Let its socket be plain where the server encrypts: the app for iOS knows no other
    #[arg(long, env = "MEGARON_PLAIN_WS", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub plain_ws: bool,
    /// Let the key open all that the main key opens, not only the doors for phones
    #[arg(long, env = "MEGARON_EVERYTHING", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub everything: bool,
}

const PAIR_HELP: &str = "\
A server must run. The key is shown once; `megaron key devices` lists devices, and
`megaron key revoke NAME` ends one at once. Phones reach the server only if it listens for them:
megaron serve --lan

Examples:
  megaron pair
  megaron pair --name \"Anna's phone\"
  megaron pair --host hall.example:53000";

#[derive(Clone, Debug, Args)]
#[command(after_help = PHONE_HELP)]
pub struct PhoneArgs {
    #[command(flatten)]
    pub home: DataDir,
    /// The server [default: the one that runs on the data directory]
    pub url: Option<String>,
    /// The key [default: the main key, for our own server]
    // One in 64 keys begins with a hyphen.
    #[arg(long, env = "MEGARON_KEY", hide_env_values = true, allow_hyphen_values = true)]
    pub key: Option<String>,
    /// Trust the certificate with this SHA-256 and no other; `megaron pair` tells it
    #[arg(long, env = "MEGARON_FINGERPRINT", hide_env_values = true, value_name = "SHA256")]
    pub fingerprint: Option<String>,
    /// Look whether the server speaks the protocol as phones need it; exits with 1 if not
    #[arg(long, env = "MEGARON_CHECK", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub check: bool,
}

const PHONE_HELP: &str = "\
Shows the last messages, sends each line that is typed, and ends with the input once all is answered.
Where the server speaks version 2, these lines are wishes: /sessions, /session ID, /cancel, /approve,
/approve session, /deny and /attach FILE; and a connection that is lost is taken up where it was.
--check says \"hello\" to the agent, and reads every answer as strictly as the app for iOS does.

Examples:
  megaron phone
  echo \"what time is it?\" | megaron phone
  megaron phone --check http://192.168.1.20:53000 --key KEY
  megaron phone https://hall.local:53000 --key KEY --fingerprint AB:CD:...";
