//! `<data-dir>/config.toml`: what it may say, what it says, and what holds when it says nothing.

pub mod agent;
pub mod edit;
mod keys;
pub mod lender;
mod limbs;
pub mod provider;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io,
    net::{Ipv4Addr, SocketAddr},
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use jiff::SignedDuration;
use kernel::{
    approvals::{Mode, Rules},
    budget::Budgets,
    guard::Limits,
};
use serde::{Deserialize, Serialize};

use crate::cli::{ConfigArgs, DataDir, Overrides};

use agent::Agent;
pub use keys::manual;
use lender::Lenders;
pub use limbs::{AppTools, Apps, Desktop, Sandbox, Shell, Web};
use provider::Provider;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub default_model: String,
    pub allowed_hosts: Vec<String>,
    pub server: Server,
    pub sessions: Sessions,
    pub agents: Agents,
    pub models: Models,
    pub approvals: Approvals,
    pub budgets: Budgets,
    pub shell: Shell,
    pub web: Web,
    pub apps: Apps,
    pub desktop: Desktop,
    /// By a name that the person gave.
    pub providers: BTreeMap<String, Provider>,
    pub mcp: Lenders,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    pub listen: SocketAddr,
    pub lan: bool,
    pub plain_http: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_origin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push_contact: Option<String>,
    pub drain_seconds: u64,
    pub max_connections: NonZeroU32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sessions {
    pub rest_seconds: NonZeroU64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agents {
    pub calls_per_minute: NonZeroUsize,
    pub depth: NonZeroUsize,
    pub offer_tools: bool,
    /// Those with minds of their own, by a name that the person gave.
    #[serde(flatten)]
    pub named: BTreeMap<String, Agent>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Models {
    pub attempts: NonZeroU32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Approvals {
    pub mode: Mode,
    pub patience_minutes: NonZeroU32,
    pub unattended_minutes: NonZeroU32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            default_model: "demo".into(),
            allowed_hosts: Vec::new(),
            server: Server::default(),
            sessions: Sessions::default(),
            agents: Agents::default(),
            models: Models::default(),
            approvals: Approvals::default(),
            budgets: Budgets::default(),
            shell: Shell::default(),
            web: Web::default(),
            apps: Apps::default(),
            desktop: Desktop::default(),
            providers: BTreeMap::new(),
            mcp: Lenders::default(),
        }
    }
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 53000).into(),
            lan: false,
            plain_http: false,
            tls_cert: None,
            tls_key: None,
            sandbox_origin: None,
            push_contact: None,
            drain_seconds: 10,
            max_connections: const { NonZeroU32::new(1024).unwrap() },
        }
    }
}

impl Default for Sessions {
    fn default() -> Self {
        Self { rest_seconds: const { NonZeroU64::new(300).unwrap() } }
    }
}

impl Default for Agents {
    fn default() -> Self {
        Self {
            calls_per_minute: const { NonZeroUsize::new(10).unwrap() },
            depth: const { NonZeroUsize::new(2).unwrap() },
            offer_tools: true,
            named: BTreeMap::new(),
        }
    }
}

impl Default for Models {
    fn default() -> Self {
        Self { attempts: const { NonZeroU32::new(5).unwrap() } }
    }
}

impl Default for Approvals {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            patience_minutes: const { NonZeroU32::new(24 * 60).unwrap() },
            unattended_minutes: const { NonZeroU32::new(10).unwrap() },
        }
    }
}

impl Config {
    /// What the file in this directory says; an absent one says nothing.
    pub fn load(data_dir: &Path) -> anyhow::Result<Self> {
        let path = data_dir.join("config.toml");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        Self::parse(&text).with_context(|| format!("{} is not valid", path.display()))
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        keys::check(text)?;
        let config: Self = toml::from_str(text).map_err(|error| tidy(text, &error))?;
        for host in &config.allowed_hosts {
            anyhow::ensure!(
                !host.is_empty() && !host.contains(['/', ':', ' ']),
                "allowed_hosts: `{host}` is not a bare host name like `megaron.example`"
            );
        }
        if let Some(contact) = &config.server.push_contact {
            let named = contact.strip_prefix("mailto:").or(contact.strip_prefix("https://"));
            anyhow::ensure!(
                named
                    .is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_graphic())),
                "server.push_contact: `{contact}` is no address like `mailto:you@example.com` or \
                 `https://example.com/contact`"
            );
        }
        config.budgets.check().context("[budgets]")?;
        for name in config.providers.keys() {
            provider::check_name(name)?;
        }
        config.shell.check(&config.providers)?;
        config.desktop.check()?;
        for (name, agent) in &config.agents.named {
            agent::check(name, agent)?;
        }
        Ok(config)
    }

    #[must_use]
    pub fn overridden(mut self, by: &Overrides) -> Self {
        if let Some(listen) = by.listen {
            self.server.listen = listen;
        }
        self.server.lan |= by.lan;
        self.server.plain_http |= by.plain_http;
        if by.tls_cert.is_some() || by.tls_key.is_some() {
            (self.server.tls_cert, self.server.tls_key) = (by.tls_cert.clone(), by.tls_key.clone());
        }
        if let Some(origin) = &by.sandbox_origin {
            self.server.sandbox_origin = Some(origin.clone());
        }
        if let Some(drain) = by.drain {
            self.server.drain_seconds = drain;
        }
        self
    }

    /// The same without a default of its own, whose faults are not in question.
    #[must_use]
    pub fn defaulting_to_demo(self) -> Self {
        Self { default_model: Self::default().default_model, ..self }
    }

    pub fn drain(&self) -> Duration {
        Duration::from_secs(self.server.drain_seconds)
    }

    pub fn house(&self) -> kernel::host::Settings {
        let limits = Limits {
            calls: self.agents.calls_per_minute.get(),
            window: SignedDuration::from_secs(60),
            depth: self.agents.depth.get(),
            ..Limits::default()
        };
        let rest = Duration::from_secs(self.sessions.rest_seconds.get());
        let Approvals { mode, patience_minutes, unattended_minutes } = self.approvals;
        let minutes = |count: NonZeroU32| Duration::from_mins(count.get().into());
        let (patience, unattended) = (minutes(patience_minutes), minutes(unattended_minutes));
        let rules = Rules { mode, patience, unattended };
        let (attempts, budgets) = (self.models.attempts.get(), self.budgets);
        kernel::host::Settings { rest, limits, attempts, rules, budgets }
    }
}

/// Where it is wrong and why, without what is written there: that may be a secret.
fn tidy(text: &str, error: &toml::de::Error) -> anyhow::Error {
    let message = without_texts(error.message());
    let Some(at) = error.span() else { return anyhow::anyhow!("{message}") };
    let before = text.get(..at.start).unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or_default();
    let key = line.split_once('=').map(|(key, _)| key.trim()).filter(|key| keys::is_known(key));
    match key {
        Some(key) => anyhow::anyhow!("line {number}, {key}: {message}"),
        None => anyhow::anyhow!("line {number}: {message}"),
    }
}

fn without_texts(message: &str) -> String {
    let message = message.trim_end().replace('\n', ", ");
    match (message.find('"'), message.rfind('"')) {
        (Some(from), Some(to)) if from < to => {
            format!("{}...{}", &message[..from], &message[to + 1..])
        }
        _ => message,
    }
}

/// The data directory that is meant, whether or not it exists.
pub fn data_dir(wanted: &DataDir) -> anyhow::Result<PathBuf> {
    if let Some(dir) = &wanted.data_dir {
        return std::path::absolute(dir).context("--data-dir names no folder");
    }
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let home =
        home.context("there is no home directory; say where to keep things: --data-dir DIR")?;
    Ok(home.join(".megaron"))
}

/// What is in effect, as a configuration file that says all of it.
pub fn effective(args: &ConfigArgs) -> anyhow::Result<String> {
    let dir = data_dir(&args.home)?;
    let config = Config::load(&dir)?.overridden(&args.overrides);
    let mut text = format!("# in effect for {}\n", dir.display());
    let values = toml::Table::try_from(&config)?;
    let defaults = toml::Table::try_from(Config::default())?;
    let mut section = "";
    for key in keys::KEYS {
        let Some(value) = key.find(&values) else { continue };
        if key.section != section {
            section = key.section;
            write!(text, "\n[{section}]\n")?;
        }
        let remark = if key.find(&defaults) == Some(value) { "  # default" } else { "" };
        writeln!(text, "{} = {value}{remark}", key.name)?;
    }
    for (name, provider) in &config.providers {
        text.push_str(&provider::written(name, &provider::shown(provider))?);
    }
    for (name, server) in &config.mcp.servers {
        text.push_str(&lender::written(name, &lender::shown(server))?);
    }
    for (name, agent) in &config.agents.named {
        text.push_str(&agent::written(name, &agent::shown(agent))?);
    }
    Ok(text)
}
