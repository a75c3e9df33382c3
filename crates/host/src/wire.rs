//! Builds every port and joins them: the only file that names the other rooms.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use kernel::{
    host::Host,
    ports::{Clock, Models as _, Ports},
    toolbox::Toolbox,
};
use tokio::net::TcpListener;

use crate::{clock::SystemClock, config::Config, place};

pub use edge::Keys;

/// What a server is made from.
pub struct Plan {
    pub data_dir: PathBuf,
    pub workspace: PathBuf,
    pub trust_loopback: bool,
    pub config: Config,
}

/// A server that is built and does not listen yet.
pub struct Rooms {
    pub host: Arc<Host>,
    edge: edge::Edge,
}

impl Rooms {
    pub async fn build(
        plan: &Plan,
        metrics: Arc<dyn Fn() -> String + Send + Sync>,
    ) -> anyhow::Result<Self> {
        place::prepare(&plan.data_dir)?;
        let store = Arc::new(store::Store::open(&plan.data_dir)?);
        let models = models::Catalogue::with_default(&plan.config.default_model)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let mut toolbox = Toolbox::default();
        tools::add_all(&mut toolbox, clock.clone());
        let ports = Ports {
            log: store.clone(),
            catalog: store.clone(),
            attic: store,
            models: Arc::new(models),
            tools: Arc::new(toolbox),
            clock,
            workspace: plan.workspace.clone(),
        };
        let host = Host::start(ports, plan.config.house()).await?;
        let settings = edge::Settings {
            trust_loopback: plan.trust_loopback,
            allowed_hosts: plan.config.allowed_hosts.clone(),
            max_connections: plan.config.server.max_connections.get(),
        };
        let keys = keys(plan.data_dir.clone())?;
        let edge = edge::Edge::new(host.clone(), keys, settings, metrics);
        Ok(Self { host, edge })
    }

    /// A URL that logs a browser in, once.
    pub fn login_url(&self, addr: SocketAddr) -> String {
        self.edge.login_url(addr)
    }

    /// Returns when it was told to stop and nobody is connected any more.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        self.edge.serve(listener, shutdown).await
    }
}

/// The key of this data directory; makes both if need be.
pub fn keys(data_dir: PathBuf) -> anyhow::Result<Keys> {
    place::prepare(&data_dir)?;
    let path = data_dir.join("key");
    Keys::open(path.clone()).with_context(|| format!("cannot use the key file {}", path.display()))
}

/// Whether anything is stored here yet.
pub fn has_database(data_dir: &Path) -> bool {
    data_dir.join("megaron.db").exists()
}

/// Whether what is stored here can be used. Not while a server uses it.
pub fn check_database(data_dir: &Path) -> Result<(), String> {
    store::Store::open(data_dir).map(drop).map_err(|error| error.to_string())
}

/// Whether a model of this name can be had.
pub fn check_model(id: &str) -> Result<(), String> {
    let models = models::Catalogue::with_default(id).map_err(|error| error.to_string())?;
    models.find(id).map(drop).ok_or_else(|| format!("no model is named `{id}`"))
}
