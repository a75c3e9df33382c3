//! Builds every port and joins them: the only file that names the other rooms.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use kernel::{
    host::Host,
    ports::{Agents, Briefing, Clock, Ports},
    toolbox::Toolbox,
    visit::{Company, names_agent},
};
use tokio::net::TcpListener;

use crate::{
    clock::SystemClock,
    config::{Config, agent::Agent, provider::Provider},
    detect, place, secrets, vault,
};

pub use edge::{Keys, Metrics, did_you_mean, near};
pub use models::{Lineup, Problem};

/// What a server is made from.
pub struct Plan {
    pub data_dir: PathBuf,
    pub workspace: PathBuf,
    pub trust_loopback: bool,
    /// How long running turns may take to end.
    pub drain: Duration,
    pub config: Config,
}

/// A server that is built and does not serve yet.
pub struct Rooms {
    pub host: Arc<Host>,
    pub models: Arc<Lineup>,
    edge: edge::Edge,
}

impl Rooms {
    pub async fn build(
        plan: Plan,
        listener: TcpListener,
        metrics: Metrics,
    ) -> anyhow::Result<Self> {
        let Plan { data_dir, workspace, trust_loopback, drain, config } = plan;
        place::prepare(&data_dir)?;
        let store = Arc::new(store::Store::open(&data_dir)?);
        let models = models(&data_dir, &config)?;
        let agents = guests(&data_dir, &config).await?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let toolbox = Toolbox::default();
        let briefing: Arc<dyn Briefing> = Arc::new(tools::Notices::new(&data_dir));
        tools::add_all(&toolbox, clock.clone(), briefing.clone());
        let ports = Ports {
            log: store.clone(),
            catalog: store.clone(),
            ledger: store.clone(),
            attic: store,
            models: Arc::new(Company {
                models: models.clone(),
                agents: agents.clone(),
                default: Some(config.default_model.clone()).filter(|id| names_agent(id)),
            }),
            agents,
            tools: Arc::new(toolbox),
            clock,
            briefing,
            workspace,
        };
        let host = Host::start(ports, config.house()).await?;
        let settings = edge::Settings {
            trust_loopback,
            allowed_hosts: config.allowed_hosts,
            max_connections: config.server.max_connections.get(),
            drain,
        };
        let keys = keys(&data_dir)?;
        let edge = edge::Edge::new(host.clone(), keys, settings, listener, metrics)?;
        Ok(Self { host, models, edge })
    }

    pub fn address(&self) -> SocketAddr {
        self.edge.address()
    }

    /// A URL that logs a browser of this machine in, once.
    pub fn login_url(&self) -> io::Result<String> {
        let (listening, reached) = (self.address(), place::reachable(self.address()));
        Ok(self.edge.login_url()?.replacen(&listening.to_string(), &reached.to_string(), 1))
    }

    /// Serves until `shutdown`, then lets running turns end and returns when everybody has left.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        self.edge.serve(shutdown).await
    }
}

/// The key of this data directory; makes both if need be.
pub fn keys(data_dir: &Path) -> anyhow::Result<Keys> {
    place::prepare(data_dir)?;
    let path = data_dir.join("key");
    Keys::open(path.clone()).with_context(|| format!("cannot use the key file {}", path.display()))
}

/// Whether anything is stored here yet.
pub fn has_database(data_dir: &Path) -> bool {
    data_dir.join("megaron.db").exists()
}

/// Whether what is stored here can be used. Not while a server uses it.
pub fn check_database(data_dir: &Path) -> anyhow::Result<()> {
    store::Store::open(data_dir)?;
    Ok(())
}

/// The models of this configuration; an error if the default is not among them.
pub fn models(data_dir: &Path, config: &Config) -> anyhow::Result<Arc<Lineup>> {
    models::choose_tls();
    let in_keyring = config.providers.iter().filter(|(_, it)| it.api_key_keyring);
    let in_keyring = vault::read(data_dir, &in_keyring.map(|(name, _)| name).collect::<Vec<_>>());
    let settings = |(name, provider): (&String, &Provider)| {
        let mut located = secrets::located(data_dir, name, provider);
        located.api_key_keyring = false;
        // The same table, read by the room that uses it: it may know better what is wrong.
        let settings = serde_json::to_value(located).and_then(serde_json::from_value);
        let mut settings: models::ProviderSettings =
            settings.with_context(|| format!("providers.{name}"))?;
        settings.api_key = in_keyring.get(name).map(|found| {
            let found = found.as_ref().map(String::as_str).map_err(String::clone);
            models::Given::new(found, vault::NAME)
        });
        anyhow::Ok((name.clone(), settings))
    };
    let providers = config.providers.iter().map(settings).collect::<anyhow::Result<_>>()?;
    let env = |name: &str| std::env::var(name).ok();
    let default = &config.default_model;
    let default = if names_agent(default) { "demo" } else { default };
    Ok(Arc::new(Lineup::build(default, providers, env)?))
}

/// The agents of this configuration and of this machine; an error if the default is one and not
/// among them.
pub async fn guests(data_dir: &Path, config: &Config) -> anyhow::Result<Arc<dyn Agents>> {
    let mut agents = detect::guests().await;
    agents.extend(config.agents.named.clone());
    let settings = |(name, Agent { command, args, env }): (String, Agent)| {
        (name, agents::Settings { command, args, env })
    };
    let settings = agents.into_iter().map(settings).collect();
    let guests = agents::Guests::new(settings, &[], Some(&data_dir.join("logs")));
    let default = &config.default_model;
    if names_agent(default) && guests.find(default).is_none() {
        let known = guests.list();
        let near = near(default, known.iter().map(|it| it.id.as_str()));
        let hint = did_you_mean(&near);
        anyhow::bail!("default_model: no agent is named `{default}`{hint}");
    }
    Ok(Arc::new(guests))
}

/// Where every client of ours for servers on this machine begins.
pub fn web() -> reqwest::ClientBuilder {
    models::choose_tls();
    reqwest::Client::builder()
}
