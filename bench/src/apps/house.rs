//! A whole server in this process, with an app that can be asked.

use std::sync::Arc;

use anyhow::Context as _;
use kernel::{
    host::{Host, Settings},
    ports::Ports,
    servers::NoServers,
    toolbox::{Caller, Toolbox},
    update::SessionId,
    windows::{By, Content, Opening, Renderer, Wish},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{World, model::Script};
use tokio::net::TcpListener;

pub struct House {
    pub host: Arc<Host>,
    pub session: SessionId,
    pub address: String,
    pub key: String,
    pub login: String,
    _folder: TempDir,
}

impl House {
    pub async fn open() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let host = Host::start(ports(&folder)?, Settings::default()).await?;
        tools::add_applets(&host, tools::Workshop::default());
        let keys = edge::Keys::open(folder.path().join("key"))?;
        let key = keys.show()?.unwrap_or_default();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let settings = edge::Settings::default();
        let metrics: edge::Metrics = Arc::new(String::new);
        let servers = Arc::new(NoServers);
        let edge = edge::Edge::new(host.clone(), servers, keys, settings, listener, metrics)?;
        let edge = edge.with_sandbox(TcpListener::bind("127.0.0.1:0").await?)?;
        let (address, login) = (edge.address().to_string(), edge.login_url()?);
        tokio::spawn(edge.serve(std::future::pending()));
        let session = host.create(folder.path(), "test", "").await?;
        Ok(Self { host, session, address, key, login, _folder: folder })
    }

    /// Opens a window with an app in it.
    pub async fn show(&self, window: &str, app: &str) -> anyhow::Result<()> {
        let content = Content { renderer: Renderer::Iframe, data: json!(app) };
        let opening = Opening::new(window.to_owned(), window.to_owned(), content);
        self.host.arrange(self.session, Wish::Open(Box::new(opening)), By::Agent).await?;
        Ok(())
    }

    /// As an agent does it.
    pub async fn query(&self, window: &str, state: &str) -> anyhow::Result<Value> {
        let args = json!({ "windowId": window, "stateKey": state });
        let reply = self.host.call(self.session, Caller::Client, "app_query", args).await?;
        serde_json::from_str(&reply.text).context("no JSON")
    }
}

/// What is stored is stored as it always is; all else is not needed.
fn ports(folder: &TempDir) -> anyhow::Result<Ports> {
    let store = Arc::new(store::Store::open(&folder.path().join("data"))?);
    Ok(Ports {
        log: store.clone(),
        catalog: store.clone(),
        ledger: store.clone(),
        attic: store,
        tools: Arc::new(Toolbox::default()),
        cabinet: apps::Drawers::open(folder.path().join("apps")),
        ..World::new(Vec::<Script>::new()).ports()
    })
}
