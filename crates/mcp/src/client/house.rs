//! All servers together: those of the configuration, those that were added, and what was chosen for each.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
};

use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use kernel::{
    host::Host,
    ports::{Catalog, Clock, Shelf, StoreError},
    servers::{AskError, Changing, LogLine, ServerChange, ServerError, ServerInfo, Servers},
    widget::{NoWidget, WidgetPage},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::{sync::mpsc, task::JoinHandle};

use super::{
    keeper::{Keeper, remembered},
    offers::Offers,
    server::{Choice, Order, Server},
    settings::{self, Settings},
    signin::{self, SignIn},
    vault::Vault,
};

const ORDERS: usize = 16;

pub struct House {
    offers: Arc<Offers>,
    kept: Mutex<BTreeMap<String, Kept>>,
    /// Held while something is added, removed or chosen: one at a time.
    door: tokio::sync::Mutex<()>,
    host: Weak<Host>,
    catalog: Arc<dyn Catalog>,
    clock: Arc<dyn Clock>,
    vault: Vault,
    callback: String,
    web: reqwest::Client,
    workspace: PathBuf,
    source: OnceLock<Source>,
}

/// Reads the servers of the configuration once more, or says what is wrong with it.
type Source = Box<dyn Fn() -> Result<BTreeMap<String, Settings>, String> + Send + Sync>;

struct Kept {
    server: Arc<Server>,
    keeper: JoinHandle<()>,
}

/// What of an added server's settings nobody may see.
#[derive(Default, Serialize, Deserialize)]
struct Private {
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    client_secret: Option<String>,
}

impl Private {
    fn is_empty(&self) -> bool {
        self.env.is_empty() && self.headers.is_empty() && self.client_secret.is_none()
    }
}

impl House {
    /// Starts the servers of the configuration and those that were added. Browsers that signed in
    /// somewhere come back to `callback`.
    pub async fn open(
        host: &Arc<Host>,
        configured: BTreeMap<String, Settings>,
        data_dir: &Path,
        callback: String,
    ) -> Result<Arc<Self>, ServerError> {
        let ports = &host.ports;
        let house = Self {
            offers: Arc::new(Offers::new(ports.tools.clone())),
            kept: Mutex::default(),
            door: tokio::sync::Mutex::default(),
            host: Arc::downgrade(host),
            catalog: ports.catalog.clone(),
            clock: ports.clock.clone(),
            vault: vault(data_dir),
            callback,
            web: web()?,
            workspace: ports.workspace.clone(),
            source: OnceLock::new(),
        };
        let added = house.added().await?;
        for (name, settings) in configured {
            settings::check_name(&name).map_err(ServerError::Wrong)?;
            house.begin(&name, settings, true).await?;
        }
        for (name, settings) in added {
            if house.find(&name).is_none() {
                house.begin(&name, settings, false).await?;
            }
        }
        Ok(Arc::new(house))
    }

    /// From where the configuration can be read again.
    pub fn reads(
        &self,
        source: impl Fn() -> Result<BTreeMap<String, Settings>, String> + Send + Sync + 'static,
    ) {
        // The first holds: there is one configuration.
        self.source.set(Box::new(source)).ok();
    }

    /// Returns when every server that is started with the house has been, well or not.
    pub async fn began(&self) {
        let servers: Vec<_> = self.kept().values().map(|kept| kept.server.clone()).collect();
        future::join_all(servers.iter().map(|server| server.began())).await;
    }

    /// Ends every server, and returns when their processes are gone.
    pub async fn close(&self) {
        let kept = std::mem::take(&mut *self.kept());
        future::join_all(kept.into_values().map(end)).await;
    }

    async fn added(&self) -> Result<Vec<(String, Settings)>, ServerError> {
        let records = self.catalog.list(Shelf::Servers, "server/").await?;
        let mut added = Vec::new();
        for (record, text) in records {
            let name = record.trim_start_matches("server/").to_owned();
            let Ok(mut settings) = serde_json::from_str::<Settings>(&text) else {
                tracing::warn!(server = name, "what was kept of a server cannot be read");
                continue;
            };
            let private: Option<Private> = self.vault.load(&private(&name)).map_err(unavailable)?;
            let private = private.unwrap_or_default();
            (settings.env, settings.headers) = (private.env, private.headers);
            settings.client_secret = private.client_secret;
            added.push((name, settings));
        }
        Ok(added)
    }

    async fn begin(
        &self,
        name: &str,
        settings: Settings,
        configured: bool,
    ) -> Result<(), ServerError> {
        let choice = self.catalog.load(Shelf::Servers, &chosen(name)).await?.unwrap_or_default();
        let (orders, obeyed) = mpsc::channel(ORDERS);
        let signin = settings
            .url
            .is_some()
            .then(|| SignIn::new(name, self.vault.clone(), self.callback.clone()));
        let server = Arc::new(Server::new(
            name,
            Arc::new(settings),
            configured,
            choice,
            self.host.clone(),
            self.clock.clone(),
            signin,
            orders,
        ));
        let keeper = Keeper {
            server: server.clone(),
            orders: obeyed,
            offers: self.offers.clone(),
            catalog: self.catalog.clone(),
            web: self.web.clone(),
            folder: self.workspace.clone(),
            failures: 0,
        };
        let keeper = tokio::spawn(keeper.keep());
        self.kept().insert(name.to_owned(), Kept { server, keeper });
        Ok(())
    }

    async fn keep(&self, name: &str, settings: &Settings) -> Result<(), ServerError> {
        let mut open = settings.clone();
        let secret = Private {
            env: std::mem::take(&mut open.env),
            headers: std::mem::take(&mut open.headers),
            client_secret: open.client_secret.take(),
        };
        if !secret.is_empty() {
            self.vault.save(&private(name), &secret).map_err(unavailable)?;
        }
        Ok(self.catalog.save(Shelf::Servers, &format!("server/{name}"), &open).await?)
    }

    async fn forget(&self, name: &str) -> Result<(), ServerError> {
        for record in [format!("server/{name}"), chosen(name), remembered(name)] {
            self.catalog.discard(Shelf::Servers, &record).await?;
        }
        for file in [private(name), signin::file(name)] {
            self.vault.remove(&file).map_err(unavailable)?;
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<Arc<Server>> {
        self.kept().get(name).map(|kept| kept.server.clone())
    }

    fn known(&self, name: &str) -> Result<Arc<Server>, ServerError> {
        self.find(name).ok_or_else(|| ServerError::Unknown(name.to_owned()))
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Servers for House {
    fn list(&self) -> Vec<ServerInfo> {
        let servers: Vec<_> = self.kept().values().map(|kept| kept.server.clone()).collect();
        servers.iter().map(|server| server.info(&self.offers)).collect()
    }

    fn logs(&self, name: &str) -> Option<Vec<LogLine>> {
        self.find(name).map(|server| server.log.all())
    }

    fn add(&self, name: String, settings: Value) -> Changing<'_, ()> {
        async move {
            settings::check_name(&name).map_err(ServerError::Wrong)?;
            let settings: Settings = serde_json::from_value(settings)
                .map_err(|error| ServerError::Wrong(error.to_string()))?;
            settings.check().map_err(ServerError::Wrong)?;
            let _door = self.door.lock().await;
            if self.find(&name).is_some() {
                return Err(ServerError::Taken(name));
            }
            self.keep(&name, &settings).await?;
            self.begin(&name, settings, false).await
        }
        .boxed()
    }

    fn remove(&self, name: String) -> Changing<'_, ()> {
        async move {
            let _door = self.door.lock().await;
            if self.known(&name)?.configured {
                return Err(ServerError::Configured(name));
            }
            self.forget(&name).await?;
            let kept = self.kept().remove(&name);
            if let Some(kept) = kept {
                end(kept).await;
            }
            Ok(())
        }
        .boxed()
    }

    fn change(&self, name: String, change: ServerChange) -> Changing<'_, ()> {
        async move {
            let _door = self.door.lock().await;
            let server = self.known(&name)?;
            if let Some(tool) = change.tools.keys().find(|tool| !server.has_tool(tool)) {
                return Err(ServerError::Wrong(format!("{name} has no tool named `{tool}`")));
            }
            let mut choice: Choice = server.choice();
            choice.enabled = change.enabled.or(choice.enabled);
            choice.tools.extend(change.tools);
            self.catalog.save(Shelf::Servers, &chosen(&name), &choice).await?;
            server.choose(choice);
            server.order(Order::Choose).await;
            Ok(())
        }
        .boxed()
    }

    fn widget(&self, server: String, tool: String) -> BoxFuture<'_, Result<WidgetPage, NoWidget>> {
        async move {
            let found = self.find(&server).ok_or(NoWidget::NoServer(server))?;
            found.widget(&tool).await
        }
        .boxed()
    }

    fn resources(
        &self,
        server: String,
        method: &'static str,
        params: Map<String, Value>,
    ) -> BoxFuture<'_, Result<Value, AskError>> {
        async move {
            let nobody = || AskError::Unreachable(format!("no server is named `{server}`"));
            let found = self.find(&server).ok_or_else(nobody)?;
            let link = found.reach().await.map_err(AskError::Unreachable)?;
            super::resources::ask(&link, method, params).await
        }
        .boxed()
    }

    fn restart(&self, name: String) -> Changing<'_, ()> {
        async move {
            self.known(&name)?.order(Order::Restart).await;
            Ok(())
        }
        .boxed()
    }

    fn reload(&self) -> Changing<'_, ()> {
        async move {
            let none = || ServerError::Wrong("there is no configuration to read again".into());
            let read = self.source.get().ok_or_else(none)?;
            let mut configured = read().map_err(ServerError::Wrong)?;
            for (name, settings) in &configured {
                settings::check_name(name).map_err(ServerError::Wrong)?;
                settings.check().map_err(ServerError::Wrong)?;
            }
            let _door = self.door.lock().await;
            let (stay, go): (BTreeMap<_, _>, BTreeMap<_, _>) = std::mem::take(&mut *self.kept())
                .into_iter()
                .partition(|(name, kept)| match configured.get(name) {
                    Some(settings) => kept.server.configured && *settings == *kept.server.settings,
                    None => !kept.server.configured,
                });
            configured.retain(|name, _| !stay.contains_key(name));
            *self.kept() = stay;
            future::join_all(go.into_values().map(end)).await;
            for (name, settings) in configured {
                self.begin(&name, settings, true).await?;
            }
            Ok(())
        }
        .boxed()
    }

    fn signed_in(&self, query: String) -> Changing<'_, String> {
        async move {
            let servers: Vec<_> = self.kept().values().map(|kept| kept.server.clone()).collect();
            let sent = |server: &&Arc<Server>| {
                server.signin.as_ref().is_some_and(|signin| signin.is_for(&query))
            };
            let nobody = || ServerError::Wrong("nobody is signing in with this".into());
            let server = servers.iter().find(sent).ok_or_else(nobody)?;
            let signin = server.signin.as_ref().ok_or_else(nobody)?;
            let finished = signin.finish(&query).await;
            server.order(Order::Restart).await;
            finished.map_err(ServerError::Wrong)?;
            Ok(server.name.clone())
        }
        .boxed()
    }
}

async fn end(Kept { server, keeper }: Kept) {
    server.order(Order::Close).await;
    // One that broke down is at an end as well.
    keeper.await.ok();
}

pub fn vault(data_dir: &Path) -> Vault {
    Vault::new(data_dir.join("secrets").join("mcp"))
}

pub fn web() -> Result<reqwest::Client, ServerError> {
    // An error means that somebody has chosen before us.
    rustls::crypto::ring::default_provider().install_default().ok();
    let client = reqwest::Client::builder()
        .connect_timeout(super::link::CONNECTING)
        // A redirect would carry the key to who knows where.
        .redirect(reqwest::redirect::Policy::none())
        // A connection that was left in the middle of an answer is slow to be used again.
        .pool_max_idle_per_host(0)
        .no_proxy()
        .build();
    client.map_err(|error| ServerError::Wrong(format!("cannot set up connections: {error}")))
}

fn private(server: &str) -> String {
    format!("{server}.settings.json")
}

fn chosen(server: &str) -> String {
    format!("choice/{server}")
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to map_err")]
fn unavailable(error: std::io::Error) -> ServerError {
    StoreError::Unavailable(error.to_string()).into()
}
