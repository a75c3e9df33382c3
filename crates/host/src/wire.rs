//! Builds every port and joins them: the only file that names the other rooms.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use kernel::{
    host::Host,
    ports::{Briefing, Clock, Models, Ports},
    toolbox::Toolbox,
};
use tokio::net::TcpListener;

use crate::{
    clock::SystemClock,
    config::{Config, lender::Lender, provider::Provider},
    place, secrets,
};

pub use edge::{Keys, Metrics};

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
    servers: Arc<mcp::client::House>,
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
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let toolbox = Toolbox::default();
        let briefing: Arc<dyn Briefing> = Arc::new(tools::Notices::new(&data_dir));
        tools::add_all(&toolbox, clock.clone(), briefing.clone());
        let ports = Ports {
            log: store.clone(),
            catalog: store.clone(),
            attic: store,
            models,
            tools: Arc::new(toolbox),
            clock,
            briefing,
            workspace,
        };
        let host = Host::start(ports, config.house()).await?;
        let callback =
            format!("http://{}/api/mcp/callback", place::reachable(listener.local_addr()?));
        let lenders = lenders(&config)?;
        let servers = mcp::client::House::open(&host, lenders, &data_dir, callback).await?;
        let settings = edge::Settings {
            trust_loopback,
            allowed_hosts: config.allowed_hosts,
            max_connections: config.server.max_connections.get(),
            drain,
        };
        let keys = keys(&data_dir)?;
        let edge =
            edge::Edge::new(host.clone(), servers.clone(), keys, settings, listener, metrics)?;
        Ok(Self { host, servers, edge })
    }

    pub fn address(&self) -> SocketAddr {
        self.edge.address()
    }

    /// A URL that logs a browser of this machine in, once.
    pub fn login_url(&self) -> io::Result<String> {
        let (listening, reached) = (self.address(), place::reachable(self.address()));
        Ok(self.edge.login_url()?.replacen(&listening.to_string(), &reached.to_string(), 1))
    }

    /// Returns when the servers of tools have been started, well or not.
    pub async fn began(&self) {
        self.servers.began().await;
    }

    /// Serves until `shutdown`, then lets running turns end and returns when everybody has left.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        let served = self.edge.serve(shutdown).await;
        self.servers.close().await;
        served
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
pub fn models(data_dir: &Path, config: &Config) -> anyhow::Result<Arc<dyn Models>> {
    models::choose_tls();
    let settings = |(name, provider): (&String, &Provider)| {
        let located = secrets::located(data_dir, name, provider);
        // The same table, read by the room that uses it: it may know better what is wrong.
        let settings = serde_json::to_value(located).and_then(serde_json::from_value);
        let settings: models::ProviderSettings =
            settings.with_context(|| format!("providers.{name}"))?;
        anyhow::Ok((name.clone(), settings))
    };
    let providers = config.providers.iter().map(settings).collect::<anyhow::Result<_>>()?;
    let env = |name: &str| std::env::var(name).ok();
    let lineup = Arc::new(models::Lineup::build(&config.default_model, providers, env)?);
    for (provider, problem) in lineup.problems() {
        tracing::warn!(provider, problem, "a provider cannot be used as it is");
    }
    Ok(lineup)
}

/// The servers of tools of this configuration, each as its room reads it.
fn lenders(config: &Config) -> anyhow::Result<BTreeMap<String, mcp::client::Settings>> {
    let read = |(name, table): (&String, &Lender)| Ok((name.clone(), lender(name, table)?));
    config.mcp.servers.iter().map(read).collect()
}

fn lender(name: &str, table: &Lender) -> anyhow::Result<mcp::client::Settings> {
    let place = || format!("mcp.servers.{name}");
    let settings = serde_json::to_value(table).and_then(serde_json::from_value);
    let settings: mcp::client::Settings = settings.with_context(place)?;
    let named = mcp::client::check_name(name);
    let checked = named.and_then(|()| settings.check().map(drop));
    checked.map_err(anyhow::Error::msg).with_context(place)?;
    Ok(settings)
}

/// Whether a server of tools could be configured like this.
pub fn check_lender(name: &str, table: &Lender) -> anyhow::Result<()> {
    lender(name, table).map(drop)
}

/// What trying a server of tools came to.
pub use mcp::client::Probed;

pub async fn probe(data_dir: &Path, name: &str, table: &Lender) -> anyhow::Result<Probed> {
    models::choose_tls();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let probed = mcp::client::probe(name, lender(name, table)?, clock, data_dir).await;
    probed.map_err(anyhow::Error::msg)
}

/// The servers in another program's list, and what is wrong with the others.
pub fn import(text: &str) -> anyhow::Result<(BTreeMap<String, Lender>, Vec<String>)> {
    let (servers, problems) = mcp::client::import(text).map_err(anyhow::Error::msg)?;
    let read = |(name, settings): (String, mcp::client::Settings)| {
        let mut table = serde_json::to_value(settings)?;
        let defaults = serde_json::to_value(mcp::client::Settings::default())?;
        if let (Some(table), Some(defaults)) = (table.as_object_mut(), defaults.as_object()) {
            // What goes without saying need not be written.
            table.retain(|key, value| defaults.get(key) != Some(value));
        }
        anyhow::Ok((name, serde_json::from_value(table)?))
    };
    Ok((servers.into_iter().map(read).collect::<anyhow::Result<_>>()?, problems))
}

/// Where every client of ours for servers on this machine begins.
pub fn web() -> reqwest::ClientBuilder {
    models::choose_tls();
    reqwest::Client::builder()
}
