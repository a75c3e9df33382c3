//! Builds every port and joins them: the only module that names the other rooms.

mod cabinet;
mod lenders;
mod minds;

use std::{
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
    cabinet::Cabinet,
    desktop::{Arming, Class, Desktop, DesktopError, Devices, Info, Stay},
    gallery::Gallery,
    host::Host,
    ports::{Attic, Briefing, Catalog, Clock, Log, Ports},
    toolbox::{Caller, Toolbox},
    visit::{Company, names_agent},
};
use tokio::net::TcpListener;

use crate::{
    clock::SystemClock,
    config::{self, Config},
    lan::Lan,
    place,
    welcome::{self, Mind},
};

pub use cabinet::{app_bundle, app_cards, app_problems, applet_problems, install_app, remove_app};
pub use lenders::{Probed, Survey, SurveyedTool, check_lender, import, probe, survey};
pub use minds::{guests, models};
pub use tools::embed_media::player;

pub use edge::{Keys, Metrics, PREFERENCES, Preferences, Tls, did_you_mean, near};
pub use kernel::desktop::Pause;
pub use mcp::server::{Place, relay};
pub use models::{Lineup, Problem};
pub use remote::device::{Address, Change, Engine, Event, Identity, Leave, Link, Window};

use cabinet::{APPLETS, APPS, other_applets};
use lenders::servers;
use minds::{invited, offers};

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
    let local = desktop::Local::new(settings);
    if !desktop::is_present() {
        if armed.is_some() {
            tracing::warn!("there is no desktop here that --desktop-arm could arm");
        }
        if let Err(why) = local.info().await {
            // Whoever wanted it armed means it when they name none.
            host.devices.lack(Devices::LOCAL, why, armed.is_some());
        }
        return None;
    }
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
    host.devices.arm(Arming { device, session: None, classes, until, area: None });
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

/// Where every client of ours begins.
pub fn web() -> reqwest::ClientBuilder {
    models::choose_tls();
    reqwest::Client::builder()
}
