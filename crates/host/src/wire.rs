//! Builds every port and joins them: the only file that names the other rooms.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use futures::FutureExt as _;
use kernel::{
    approvals::Grant,
    cabinet::{Cabinet, Card},
    desktop::{Arming, Class, Desktop, DesktopError, Devices, Info, Stay},
    gallery::Gallery,
    host::Host,
    ports::{Agents, Attic, Briefing, Catalog, Clock, Log, Ports},
    toolbox::{Caller, Toolbox},
    visit::{Company, names_agent},
};
use tokio::net::TcpListener;

use crate::{
    clock::SystemClock,
    config::{self, Config, agent::Agent, lender::Lender, provider::Provider},
    detect,
    lan::Lan,
    place, secrets, vault,
    welcome::{self, Mind},
};

pub use tools::embed_media::player;

pub use edge::{Keys, Metrics, PREFERENCES, Preferences, Tls, did_you_mean, near};
pub use mcp::server::{Place, relay};
pub use models::{Lineup, Problem};
pub use remote::device::{Address, Engine, Event, Identity, Leave, Link};

/// What a server is made from.
pub struct Plan {
    pub data_dir: PathBuf,
    pub workspace: PathBuf,
    pub trust_loopback: bool,
    /// How long running turns may take to end.
    pub drain: Duration,
    /// Whether other programs can find it while it runs.
    pub is_public: bool,
    /// How others reach it, where they do.
    pub lan: Option<Lan>,
    /// For how long this machine's desktop may be driven from the start.
    pub desktop_arm: Option<Duration>,
    pub config: Config,
}

/// A server that is built and does not serve yet.
pub struct Rooms {
    pub host: Arc<Host>,
    pub models: Arc<Lineup>,
    /// Notified when it should be started anew.
    pub restarts: tools::Restarts,
    servers: Arc<mcp::client::House>,
    edge: edge::Edge,
    /// This machine's own desktop, where it has one.
    _local: Option<Stay>,
}

impl Rooms {
    pub async fn build(
        plan: Plan,
        listener: TcpListener,
        sandbox: Option<TcpListener>,
        metrics: Metrics,
    ) -> anyhow::Result<Self> {
        let Plan {
            data_dir,
            workspace,
            trust_loopback,
            drain,
            is_public,
            lan,
            desktop_arm,
            config,
        } = plan;
        place::prepare(&data_dir)?;
        let config = if is_public { welcome::furnished(config).await } else { config };
        let store = Arc::new(store::Store::open(&data_dir)?);
        let models = models(&data_dir, &config)?;
        let offers =
            if is_public && config.agents.offer_tools { offers(&data_dir)? } else { vec![] };
        let agents = invited(&data_dir, &config, &offers).await?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let toolbox = Toolbox::default();
        let briefing: Arc<dyn Briefing> = Arc::new(tools::Notices::new(&data_dir));
        let workshop = tools::Workshop {
            applets: Some(data_dir.join(APPLETS)),
            house: Some(data_dir.clone()),
        };
        tools::add_all(&toolbox, clock.clone(), briefing.clone(), workshop.clone());
        tools::shell::add(&toolbox, shell(&data_dir, &config.shell));
        let fetcher = tools::web_fetch::add(&toolbox, fetching(&config.web));
        let gallery: Arc<dyn Gallery> =
            apps::Folders::open(&other_applets(), data_dir.join(APPLETS));
        let changes = gallery.changes();
        let cabinet: Arc<dyn Cabinet> = apps::Drawers::open(data_dir.join(APPS));
        let app_changes = cabinet.changes();
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
            gallery,
            cabinet,
            web: fetcher.clone(),
            workspace,
        };
        let host = Host::start(ports, config.house()).await?;
        lend(&host, &config.shell.allow);
        tools::add_social(&host);
        tools::add_applets(&host, workshop);
        if config.apps.tools == config::AppTools::Each {
            tools::add_each_command(&host);
        }
        tokio::spawn(kernel::gallery::announce(changes, host.roster.clone()));
        tokio::spawn(kernel::cabinet::announce(app_changes, host.roster.clone()));
        tokio::spawn(host.watch_desktops());
        tokio::spawn(tools::desktop::offer(&host));
        let lent = is_public.then(|| desktop_settings(data_dir.join("desktop.json"), &config));
        let local = local_desktop(&host, lent, desktop_arm).await;
        let restarts = tools::Restarts::default();
        if is_public {
            tools::add_restart(&host, restarts.clone());
        }
        tools::embed_media::add(&host, fetcher);
        let callback =
            format!("http://{}/api/mcp/callback", place::reachable(listener.local_addr()?));
        let servers = servers(&host, &config, &data_dir, callback).await?;
        let lookout = lookout(config.clone());
        let frame_origin = config.server.sandbox_origin.as_deref().map(str::parse).transpose();
        let frame_origin = frame_origin.context("sandbox_origin")?;
        let mut allowed_hosts = config.allowed_hosts;
        allowed_hosts.extend(lan.iter().flat_map(|lan| lan.names.names.clone()));
        let settings = edge::Settings {
            trust_loopback,
            data_dir: data_dir.clone(),
            commands: config.shell.allow_http.clone(),
            allowed_hosts,
            tls: lan.map(|lan| lan.tls),
            frame_origin,
            push_contact: config.server.push_contact.clone(),
            max_connections: config.server.max_connections.get(),
            drain,
        };
        let keys = keys(&data_dir)?;
        let edge =
            edge::Edge::new(host.clone(), servers.clone(), keys, settings, listener, metrics)?;
        let house = mcp::server::House::new(host.clone());
        let door = mcp::server::door(house, mcp::server::Limits::default());
        let mut edge = edge.with_mcp(edge::Guest::new(door)).with_lookout(lookout);
        if let Some(listener) = sandbox {
            edge = edge.with_sandbox(listener)?;
        }
        Ok(Self { host, models, restarts, servers, edge, _local: local })
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

/// This machine's desktop, where it has one; what a crash has left pressed there is let go first.
async fn local_desktop(
    host: &Arc<Host>,
    lent: Option<desktop::Settings>,
    armed: Option<Duration>,
) -> Option<Stay> {
    let settings = lent?;
    if !desktop::is_present() {
        if armed.is_some() {
            tracing::warn!("there is no desktop here that --desktop-arm could arm");
        }
        return None;
    }
    let local = desktop::Local::new(settings);
    local.mend().await;
    let stay = host.devices.join(Devices::LOCAL, Arc::new(local));
    if let Some(window) = armed {
        arm(host, window);
    }
    Some(stay)
}

/// As a person would from the page, with the classes that nothing is sent off by.
fn arm(host: &Host, window: Duration) {
    let device = Devices::LOCAL.to_owned();
    let until = host.ports.clock.now() + window;
    let classes = vec![Class::Look, Class::Point, Class::Type];
    host.devices.arm(Arming { device, session: None, classes, until });
}

/// This machine's desktop for a hub elsewhere, whether there is one or not: that is told on first use.
pub fn own_desktop(data_dir: &Path) -> anyhow::Result<Arc<dyn Desktop>> {
    place::prepare(data_dir)?;
    let settings = desktop_settings(data_dir.join("driven.json"), &Config::load(data_dir)?);
    Ok(Arc::new(desktop::Local::new(settings)))
}

/// What this machine's desktop is, or why it cannot be driven.
pub async fn look_at_desktop() -> Result<Info, DesktopError> {
    desktop::Local::new(desktop::Settings::default()).info().await
}

fn desktop_settings(journal: PathBuf, config: &Config) -> desktop::Settings {
    // Whoever cannot say where their own program is must do without a guard.
    let ourselves = std::env::current_exe().ok();
    let guard = ourselves.map(|it| vec![it.into(), DESKTOP_GUARD.into()]).unwrap_or_default();
    let mut settings = desktop::Settings::default();
    (settings.journal, settings.guard) = (Some(journal), guard);
    settings.denied.extend(config.desktop.deny.iter().cloned());
    settings
}

/// What `megaron desktop-guard` does.
pub use desktop::guard as desktop_guard;

/// Looks around whenever somebody asks, in the words of the door.
fn lookout(config: Config) -> edge::Lookout {
    let config = Arc::new(config);
    Arc::new(move || {
        let config = config.clone();
        async move {
            let shown = |Mind { what, payer, provider, models, hint }| edge::Found {
                what,
                payer,
                provider,
                models,
                hint,
            };
            welcome::look(&config).await.into_iter().map(shown).collect()
        }
        .boxed()
    })
}

/// The command that starts a guard of the desktop.
const DESKTOP_GUARD: &str = "desktop-guard";

/// Where the owner's applets are, in the data directory.
const APPLETS: &str = "applets";

/// Where the owner's apps are, in the data directory.
const APPS: &str = "apps";

/// Folders of applets that are read and never written.
fn other_applets() -> Vec<PathBuf> {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    home.map(|home| home.join(".caco/applets")).into_iter().collect()
}

/// What is wrong with applets, each with its folder.
pub fn applet_problems(data_dir: &Path) -> Vec<(PathBuf, String)> {
    let mut folders = other_applets();
    folders.push(data_dir.join(APPLETS));
    let problems = apps::Folders::problems(&folders).into_iter();
    problems.map(|apps::Problem { folder, what }| (folder, what)).collect()
}

/// What is wrong with apps, each with its folder.
pub fn app_problems(data_dir: &Path) -> Vec<(PathBuf, String)> {
    let problems = apps::Drawers::problems(&data_dir.join(APPS)).into_iter();
    problems.map(|apps::Problem { folder, what }| (folder, what)).collect()
}

/// Every app of this data directory, and those that came with the program.
pub fn app_cards(data_dir: &Path) -> Vec<Card> {
    apps::Drawers::look(&data_dir.join(APPS))
}

/// An app that could be put in, from a folder or an archive.
pub fn app_bundle(path: &Path, id: Option<&str>) -> anyhow::Result<apps::Bundle> {
    Ok(apps::Bundle::read(path, id)?)
}

pub fn install_app(data_dir: &Path, bundle: apps::Bundle) -> anyhow::Result<Card> {
    place::prepare(data_dir)?;
    Ok(bundle.install(&data_dir.join(APPS))?)
}

pub fn remove_app(data_dir: &Path, id: &str) -> anyhow::Result<()> {
    Ok(apps::Drawers::take_out(&data_dir.join(APPS), id)?)
}

/// Between the server and a command: see [`tools::sandbox`].
pub fn sandbox_exec(arguments: &[OsString]) -> ExitCode {
    tools::sandbox::execute(arguments)
}

fn shell(data_dir: &Path, config: &config::Shell) -> tools::shell::Settings {
    let sandboxing = match config.sandbox {
        config::Sandbox::Auto => tools::shell::Sandboxing::Auto,
        config::Sandbox::Always => tools::shell::Sandboxing::Always,
        config::Sandbox::Never => tools::shell::Sandboxing::Never,
    };
    tools::shell::Settings {
        sandboxing,
        longest: Duration::from_secs(config.max_seconds.get()),
        jobs: usize::try_from(config.jobs.get()).unwrap_or(usize::MAX),
        processes: config.processes.get().into(),
        environment: tools::shell::clean(std::env::vars_os(), &config.env),
        hidden: vec![data_dir.to_owned()],
        home: std::env::home_dir().filter(|home| home.is_absolute()),
        helper: tools::sandbox::Helper::ourselves(&["sandbox-exec"]),
        ability: tools::sandbox::Ability::default(),
    }
}

fn fetching(config: &config::Web) -> tools::web_fetch::Settings {
    tools::web_fetch::Settings {
        allow_private: config.allow_private,
        allow: config.allow.clone(),
        lookup: Arc::new(tools::web_fetch::System),
        client: web,
    }
}

/// Programs that agents may run unasked, with any arguments, where a line runs nothing else.
fn lend(host: &Host, programs: &[String]) {
    let clock = &host.ports.clock;
    for pattern in programs.iter().flat_map(|program| [program.clone(), format!("{program} *")]) {
        host.approvals.lend(Grant {
            id: clock.id(),
            tool: "shell".into(),
            caller: Caller::Model,
            session: None,
            schedule: None,
            pattern: Some(pattern),
            expires: None,
            given: clock.now(),
        });
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

/// What is stored here, for whoever adds to it while no server does.
pub struct Archive {
    pub log: Arc<dyn Log>,
    pub catalog: Arc<dyn Catalog>,
    pub attic: Arc<dyn Attic>,
}

pub fn archive(data_dir: &Path) -> anyhow::Result<Archive> {
    let store = Arc::new(store::Store::open(data_dir)?);
    Ok(Archive { log: store.clone(), catalog: store.clone(), attic: store })
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
    invited(data_dir, config, &[]).await
}

/// Our own tools, for agents with minds of their own. As a program, so that no key is given away.
fn offers(data_dir: &Path) -> anyhow::Result<Vec<agents::Offer>> {
    let text = |path: &Path| path.to_str().map(str::to_owned);
    let ours = text(&std::env::current_exe().context("cannot tell where this program is")?);
    let (Some(command), Some(data_dir)) = (ours, text(data_dir)) else { return Ok(Vec::new()) };
    let args = vec!["mcp".to_owned(), "--data-dir".to_owned(), data_dir];
    let program = Some(agents::Settings { command, args, ..agents::Settings::default() });
    Ok(vec![agents::Offer { name: "megaron".to_owned(), http: None, program }])
}

async fn invited(
    data_dir: &Path,
    config: &Config,
    offers: &[agents::Offer],
) -> anyhow::Result<Arc<dyn Agents>> {
    let mut agents = detect::guests().await;
    agents.extend(config.agents.named.clone());
    let settings = |(name, Agent { command, args, env, options }): (String, Agent)| {
        (name, agents::Settings { command, args, env, options })
    };
    let settings = agents.into_iter().map(settings).collect();
    let guests = agents::Guests::new(settings, offers, Some(&data_dir.join("logs")));
    let default = &config.default_model;
    if names_agent(default) && guests.find(default).is_none() {
        let known = guests.list();
        let near = near(default, known.iter().map(|it| it.id.as_str()));
        let hint = did_you_mean(&near);
        anyhow::bail!("default_model: no agent is named `{default}`{hint}");
    }
    Ok(Arc::new(guests))
}

/// Servers of tools, which the configuration names, now and whenever it is read again.
async fn servers(
    host: &Arc<Host>,
    config: &Config,
    data_dir: &Path,
    callback: String,
) -> anyhow::Result<Arc<mcp::client::House>> {
    let servers = mcp::client::House::open(host, lenders(config)?, data_dir, callback).await?;
    let data_dir = data_dir.to_owned();
    servers.reads(move || {
        let config = Config::load(&data_dir).map_err(|error| format!("{error:#}"))?;
        lenders(&config).map_err(|error| format!("{error:#}"))
    });
    Ok(servers)
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

/// What a server of tools has, seen from outside any house.
pub use mcp::client::{Survey, SurveyedTool};

pub async fn survey(data_dir: &Path, name: &str, table: &Lender) -> anyhow::Result<Survey> {
    models::choose_tls();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let survey = Survey::begin(name, lender(name, table)?, clock, data_dir).await;
    survey.map_err(anyhow::Error::msg)
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

/// Where every client of ours begins.
pub fn web() -> reqwest::ClientBuilder {
    models::choose_tls();
    reqwest::Client::builder()
}
