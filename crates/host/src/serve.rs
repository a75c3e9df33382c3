//! `megaron serve`: runs the server until it is told to stop.

use std::{
    io::{self, Write as _},
    net::SocketAddr,
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use anyhow::Context as _;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;

use crate::{
    again::Again,
    browser,
    cli::{LogFormat, ServeArgs},
    config::{self, Config},
    detect::{self, Surroundings},
    driven,
    hall::Hall,
    lan::{
        self,
        announce::{self, Announced},
        certificate::Names,
    },
    logs, meters, minds, place,
    stops::Stops,
    wire::{self, Lineup, Plan, Problem, Rooms},
};

/// What a shell says of a process that a signal ended.
const STOPPED_AT_ONCE: u8 = 130;

pub async fn run(args: ServeArgs) -> anyhow::Result<ExitCode> {
    logs::begin(args.log_format, "info,rmcp=error")?;
    let mut stops = Stops::listen().context("cannot listen for signals")?;
    let plan = plan(&args)?;
    allow_many_files();
    let (data_dir, drain) = (plan.data_dir.clone(), plan.drain);
    let is_new = !wire::has_database(&data_dir) && plan.config.providers.is_empty();
    let config = plan.config.clone();
    let before = Again::found();
    let listen_at = before.as_ref().map_or(plan.config.server.listen, |it| it.hall);
    let names = plan.lan.as_ref().map(|lan| (lan.names.clone(), lan.tls.fingerprint.clone()));
    let sandbox_at = before.as_ref().map(|it| it.frames).or(args.sandbox_listen);
    let listener = listen(listen_at, &data_dir).await?;
    let sandbox = sandbox(sandbox_at, listener.local_addr()?, &config).await?;
    let frames = sandbox.local_addr()?;
    let rooms = Rooms::build(plan, listener, Some(sandbox), meters::begin()?).await?;
    let (login, browser_login) = (rooms.login_url()?, rooms.login_url()?);
    let (models, restarts) = (rooms.models.clone(), rooms.restarts.clone());
    let again = Again { hall: rooms.address(), frames };
    let mut hall = Hall::open(rooms);
    let note = place::post(&data_dir, hall.addr)?;
    warn(&args, &config, hall.addr);
    let announced = names.and_then(|(names, fingerprint)| {
        tell(&names, &fingerprint, hall.addr);
        announce_to(&config, &names, hall.addr, &fingerprint)
    });
    if let Err(error) = announce(hall.addr, &login) {
        // Whoever started us may have stopped reading; others still want to be served.
        tracing::warn!(%error, addr = %hall.addr, "cannot say where it listens");
    }
    tokio::spawn(learn(models));
    if is_new {
        tokio::spawn(introduce(config, args.log_format));
    }
    if !args.no_open && before.is_none() && browser::is_at_hand() {
        browser::open(&browser_login);
    }
    let restarting = tokio::select! {
        () = stops.next() => false,
        () = restarts.notified() => true,
        error = hall.broken() => return Err(error),
    };
    // Those who come now should not be sent here.
    drop((note, announced));
    tracing::info!(seconds = drain.as_secs(), "stopping; running turns may end first");
    tokio::select! {
        () = hall.close() => (),
        () = stops.next() => return Ok(ExitCode::from(STOPPED_AT_ONCE)),
    }
    if restarting {
        return Err(again.begin());
    }
    Ok(ExitCode::SUCCESS)
}

fn plan(args: &ServeArgs) -> anyhow::Result<Plan> {
    let data_dir = config::data_dir(&args.home)?;
    let mut config = Config::load(&data_dir)?.overridden(&args.overrides);
    config.server.listen = lan::address(args, &config);
    lan::check(&config, config.server.listen)?;
    let lan = lan::open(&config, &data_dir)?;
    let workspace = args.workspace.canonicalize();
    let workspace = workspace
        .with_context(|| format!("there is no workspace at {}", args.workspace.display()))?;
    anyhow::ensure!(workspace.is_dir(), "the workspace {} is not a folder", workspace.display());
    let (trust_loopback, drain) = (args.trust_loopback, config.drain());
    let desktop_arm = args.desktop_arm.as_deref();
    let desktop_arm = desktop_arm.map(|text| driven::window("--desktop-arm", text)).transpose()?;
    let is_public = true;
    Ok(Plan { data_dir, workspace, trust_loopback, drain, is_public, lan, desktop_arm, config })
}

/// What providers have, and what is wrong with them; nobody waits for it.
async fn learn(models: Arc<Lineup>) {
    models.learn().await;
    for Problem { provider, what, fix } in models.problems() {
        tracing::warn!(provider, what, fix, "a provider cannot be used as it is");
    }
}

/// At the very first start: what this machine has to answer with.
async fn introduce(config: Config, format: LogFormat) {
    let found = detect::look(Surroundings::real()).await;
    match format {
        LogFormat::Json => {
            let found: Vec<&str> = found.iter().map(|it| it.what.as_str()).collect();
            tracing::info!(?found, "looked for models; `megaron models detect` tells more");
        }
        LogFormat::Text => match minds::report(&found, &config) {
            Ok(report) => eprint!("{report}"),
            Err(error) => tracing::warn!(%error, "cannot tell what was found"),
        },
    }
}

async fn listen(addr: SocketAddr, data_dir: &Path) -> anyhow::Result<TcpListener> {
    let error = match TcpListener::bind(addr).await {
        Ok(listener) => return Ok(listener),
        Err(error) => error,
    };
    let help = match place::find(data_dir) {
        Some(note) => format!("; a server for {} runs at {}", data_dir.display(), note.url),
        None if error.kind() == io::ErrorKind::AddrInUse => {
            "; choose another address: --listen 127.0.0.1:0 takes any free port".into()
        }
        None => String::new(),
    };
    Err(anyhow::anyhow!("cannot listen on {addr}: {error}{help}"))
}

/// The origin of frames. Where nobody asked for an address, any port will do.
async fn sandbox(
    asked: Option<SocketAddr>,
    hall: SocketAddr,
    config: &Config,
) -> anyhow::Result<TcpListener> {
    if let Some(addr) = asked {
        let bound = TcpListener::bind(addr).await;
        return bound.with_context(|| format!("cannot listen on {addr} (--sandbox-listen)"));
    }
    // Whoever takes any free port for the one takes any for the other.
    let port = match config.server.listen.port() {
        0 => 0,
        port => port.checked_add(1).unwrap_or_default(),
    };
    let addr = SocketAddr::new(hall.ip(), port);
    match TcpListener::bind(addr).await {
        Ok(listener) => Ok(listener),
        Err(error) => {
            tracing::warn!(%addr, %error, "apps and widgets are served from another port");
            let any = TcpListener::bind(SocketAddr::new(hall.ip(), 0)).await;
            any.context("cannot listen for the content of apps and widgets")
        }
    }
}

/// For whoever wants to come from another machine.
fn tell(names: &Names, fingerprint: &str, addr: SocketAddr) {
    let port = addr.port();
    let by_name = names.local().map(|name| format!("https://{name}:{port}"));
    let addresses = names.outward().map(|ip| format!("https://{}", SocketAddr::new(ip, port)));
    for url in by_name.into_iter().chain(addresses).filter(|_| !addr.ip().is_loopback()) {
        tracing::info!(url, "other machines come by this address");
    }
    tracing::info!(fingerprint, "the certificate has this SHA-256");
}

/// The network need not let us, and nobody needs it to come in.
fn announce_to(
    config: &Config,
    names: &Names,
    addr: SocketAddr,
    fingerprint: &str,
) -> Option<Announced> {
    if !config.server.lan || addr.ip().is_loopback() {
        return None;
    }
    let announced = announce::announce(names, addr.port(), fingerprint);
    announced.inspect_err(|error| tracing::warn!(%error, "the network is not told of us")).ok()
}

fn warn(args: &ServeArgs, config: &Config, addr: SocketAddr) {
    if args.trust_loopback {
        tracing::warn!("--trust-loopback: every program on this machine may do everything here");
    }
    if config.server.plain_http && !addr.ip().is_loopback() {
        tracing::warn!(%addr, "others can reach this server, and nothing is encrypted on the way");
    }
}

/// The two lines that scripts wait for.
fn announce(addr: SocketAddr, login: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("listening on http://{addr}\nlog in at {login}\n").as_bytes())?;
    out.flush()
}

/// Every connection is an open file, and the usual limit is low.
fn allow_many_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Without it, fewer connections fit; nothing else depends on it.
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).ok();
}
