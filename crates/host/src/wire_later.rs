//! Stands where `wire.rs` will, as long as the other rooms are not built: same doors, nothing behind them.

use std::{convert::Infallible, io, net::SocketAddr, path::PathBuf, sync::Arc};

use kernel::host::Host;
use tokio::net::TcpListener;

use crate::{config::Config, place};

pub struct Plan {
    pub data_dir: PathBuf,
    pub workspace: PathBuf,
    pub trust_loopback: bool,
    pub config: Config,
}

pub struct Rooms {
    pub host: Arc<Host>,
    never: Infallible,
}

pub struct Keys {
    never: Infallible,
}

impl Rooms {
    #[expect(clippy::unused_async, reason = "the real one waits")]
    pub async fn build(
        plan: &Plan,
        _: Arc<dyn Fn() -> String + Send + Sync>,
    ) -> anyhow::Result<Self> {
        place::prepare(&plan.data_dir)?;
        let _ = (&plan.workspace, plan.trust_loopback, plan.config.house());
        anyhow::bail!("this build has no rooms")
    }

    pub fn login_url(&self, _: SocketAddr) -> String {
        match self.never {}
    }

    #[expect(clippy::unused_async, reason = "the real one waits")]
    pub async fn serve(
        self,
        _: TcpListener,
        _: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        match self.never {}
    }
}

impl Keys {
    pub fn show(&self) -> io::Result<Option<String>> {
        match self.never {}
    }

    pub fn renew(&self) -> io::Result<String> {
        match self.never {}
    }

    pub fn revoke(&self) -> io::Result<()> {
        match self.never {}
    }
}

pub fn keys(_: PathBuf) -> anyhow::Result<Keys> {
    anyhow::bail!("this build has no rooms")
}

pub fn has_database(_: &std::path::Path) -> bool {
    false
}

pub fn check_database(_: &std::path::Path) -> Result<(), String> {
    Err("this build has no rooms".into())
}

pub fn check_model(id: &str) -> Result<(), String> {
    if id == "demo" { Ok(()) } else { Err(format!("no model is named `{id}`")) }
}
