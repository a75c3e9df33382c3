//! Megaron's doors: HTTP and WebSocket, who may use them, and one folder per dialect spoken there.

mod applet;
mod apps;
mod auth;
mod briefing;
mod cabinet;
mod caco;
mod codes;
mod desktop;
mod devices;
mod error;
mod extract;
mod files;
mod frames;
mod guest;
mod keys;
mod leaving;
mod listen;
mod lockout;
mod login;
mod models;
mod near;
mod operate;
mod outputs;
mod page;
mod pairing;
mod push;
mod sandbox;
mod shell;
mod socket;
mod v1;
mod welcome;
mod widgets;
mod window;
mod windows;

use std::{
    io,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::{
    Router,
    extract::Request,
    middleware,
    response::IntoResponse as _,
    routing::{get, post},
};
use kernel::{host::Host, servers::Servers};
use tokio::{net::TcpListener, sync::watch};
use tower::ServiceExt as _;
use utoipa::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};

use auth::Access;
use caco::clients::Clients;
pub use caco::clients::{PREFERENCES, Preferences};
use codes::{Codes, Purpose};
use devices::{Devices, Holder};
use frames::Frames;
pub use frames::origin::{FrameOrigin, NoOrigin};
pub use guest::Guest;
pub use keys::Keys;
pub use near::{did_you_mean, near};
use sandbox::Sandbox;
pub use welcome::{Found, Lookout};
use window::presence::Phones;

#[derive(Clone, Debug)]
pub struct Settings {
    /// Lets in whoever connects from this machine without a key; Host and Origin count all the same.
    pub trust_loopback: bool,
    /// Where our own things are, which nobody is shown.
    pub data_dir: PathBuf,
    /// Programs that may be run over HTTP, in place of the few that look and change little.
    pub commands: Option<Vec<String>>,
    /// Names we answer to besides our address and `localhost`.
    pub allowed_hosts: Vec<String>,
    /// How connections from other machines are encrypted, where we do that ourselves.
    pub tls: Option<Tls>,
    /// What the content of frames is reached by, where a proxy has a name for it.
    pub frame_origin: Option<FrameOrigin>,
    /// Whom push services may write to about our messages: `mailto:…` or `https://…`.
    pub push_contact: Option<String>,
    pub max_connections: u32,
    /// How long running turns may take to end when the server is told to stop.
    pub drain: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            trust_loopback: false,
            data_dir: PathBuf::new(),
            commands: None,
            allowed_hosts: Vec::new(),
            tls: None,
            frame_origin: None,
            push_contact: None,
            max_connections: 1024,
            drain: Duration::from_secs(10),
        }
    }
}

/// A certificate with its key, and what people compare it by.
#[derive(Clone, Debug)]
pub struct Tls {
    pub config: Arc<rustls::ServerConfig>,
    /// Its SHA-256, as `AB:CD:..`.
    pub fingerprint: String,
    /// Whether programs on this machine must encrypt as others must.
    pub strict: bool,
}

/// Everything that is being counted, as Prometheus reads it.
pub type Metrics = Arc<dyn Fn() -> String + Send + Sync>;

pub struct Edge {
    app: Arc<App>,
    listener: TcpListener,
    settings: Settings,
    /// Whoever speaks MCP for us.
    mcp: Option<Guest>,
    /// Where the content of frames is served.
    sandbox: Option<(TcpListener, Sandbox)>,
}

/// What every handler may lean on.
struct App {
    host: Arc<Host>,
    servers: Arc<dyn Servers>,
    clients: Clients,
    frames: Arc<Frames>,
    widgets: Arc<widgets::live::Live>,
    access: Arc<Access>,
    closing: socket::Closing,
    phones: Phones,
    push: push::Push,
    metrics: Metrics,
    lookout: OnceLock<Lookout>,
    disk: files::Disk,
    cellar: cabinet::cellar::Cellar,
    shell: shell::Shell,
    hub: Arc<desktop::Hub>,
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Megaron",
        description = "The HTTP side of the hall. Answers stream over the WebSocket at `/ws`."
    ),
    tags(
        (name = "sessions", description = "Conversations with an agent, each with its own log."),
        (name = "messages", description = "Speaking to an agent, and stopping it."),
        (name = "applets", description = "Small pages that a person and an agent use together."),
        (name = "apps", description = "Programs in windows, which an agent can look at and command."),
        (name = "approvals", description = "What waits for the person, and what they have allowed."),
        (name = "schedules", description = "Prompts that are said by the clock."),
        (name = "models", description = "Who may answer, and what was used."),
        (name = "mcp", description = "Servers of tools, and what was chosen for each."),
        (name = "frames", description = "Windows whose content lives on an origin of its own."),
        (name = "windows", description = "What is open beside a conversation."),
        (name = "phone", description = "Phones: the Window Protocol, and the keys of devices."),
        (name = "files", description = "Files of the workspace, and those that are kept for a while."),
        (name = "preferences", description = "What the person chose last."),
        (name = "access", description = "Ways in for clients that cannot send headers."),
        (name = "v1", description = "Our models for other programs, in the words they know."),
        (name = "desktop", description = "Screens, pointers and keyboards that agents may see and use."),
        (name = "log", description = "Everything that happened, as it is kept."),
    )
)]
struct Described;

impl Edge {
    pub fn new(
        host: Arc<Host>,
        servers: Arc<dyn Servers>,
        keys: Keys,
        settings: Settings,
        listener: TcpListener,
        metrics: Metrics,
    ) -> io::Result<Self> {
        let access = Arc::new(Access {
            keys,
            clock: host.ports.clock.clone(),
            trust_loopback: settings.trust_loopback,
            names: settings.allowed_hosts.clone(),
            listen: listener.local_addr()?,
            codes: Codes::default(),
            devices: Arc::new(Devices::new(host.ports.catalog.clone(), host.ports.clock.clone())),
            lockout: lockout::Lockout::default(),
            fingerprint: settings.tls.as_ref().map(|tls| tls.fingerprint.clone()),
        });
        let phones = Phones::new(host.ports.catalog.clone());
        let (clients, closing) = (Clients::new(host.clone()), Arc::new(watch::Sender::new(false)));
        let frames = Arc::new(Frames::new(host.clone(), settings.frame_origin.clone()));
        let widgets = Arc::new(widgets::live::Live::default());
        host.ports.tools.furnish(widgets::live::OnShelf(widgets.clone()));
        let disk = files::Disk::new(&host.ports.workspace, &settings.data_dir);
        let workspace = host.ports.workspace.clone();
        let shell = shell::Shell::new(settings.commands.clone(), workspace, &settings.data_dir);
        let cellar = cabinet::cellar::Cellar::new(settings.data_dir.join("storage"));
        let (clock, catalog) = (host.ports.clock.clone(), host.ports.catalog.clone());
        let hub = Arc::new(desktop::Hub::new(host.devices.clone(), clock, catalog));
        let push = push::Push::new(host.clone(), &settings.data_dir, settings.push_contact.clone());
        let lookout = OnceLock::new();
        let app = Arc::new(App {
            host,
            servers,
            clients,
            frames,
            widgets,
            access,
            closing,
            phones,
            push,
            metrics,
            lookout,
            disk,
            cellar,
            shell,
            hub,
        });
        Ok(Self { app, listener, settings, mcp: None, sandbox: None })
    }

    /// Serves MCP under `/mcp`, for those who get in anyway.
    #[must_use]
    pub fn with_mcp(mut self, guest: Guest) -> Self {
        self.mcp = Some(guest);
        self
    }

    /// Serves what is in frames here, on an origin that has nothing of the owner's.
    pub fn with_sandbox(mut self, listener: TcpListener) -> io::Result<Self> {
        let listen = listener.local_addr()?;
        let (frames, mut names) = (self.app.frames.clone(), self.settings.allowed_hosts.clone());
        names.extend(frames.named().map(|named| named.name().to_owned()));
        frames.serve_at(listen);
        let api = applet::gate::Gate::new(self.app.clone());
        self.sandbox = Some((listener, Sandbox { frames, listen, names, api }));
        Ok(self)
    }

    /// Tells newcomers what is found there.
    #[must_use]
    pub fn with_lookout(self, lookout: Lookout) -> Self {
        // The first is the one that counts.
        self.app.lookout.set(lookout).ok();
        self
    }

    pub fn address(&self) -> SocketAddr {
        self.app.access.listen
    }

    /// An address that logs a browser in, once.
    pub fn login_url(&self) -> io::Result<String> {
        let now = self.app.host.ports.clock.now();
        let code = self.app.access.codes.issue(Purpose::Login, Holder::Owner, now)?;
        Ok(format!("http://{}/login?code={code}", self.address()))
    }

    /// Serves until `shutdown`; then takes no more connections, lets running turns end, records the
    /// rest as interrupted, and says goodbye.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        let Self { app, listener, settings, mcp, sandbox } = self;
        app.access.devices.load().await.map_err(io::Error::other)?;
        let devices = &app.access.devices;
        app.push.load(|id| devices.has(id)).await.map_err(io::Error::other)?;
        let router = router(app.clone(), mcp);
        let finish = async {
            app.host.shut(settings.drain).await;
            app.closing.send_replace(true);
        };
        let capacity = settings.max_connections;
        let tls = settings.tls;
        let frames = frame_origin(sandbox, capacity, tls.clone(), app.closing.subscribe());
        let hall = listen::run(listener, router, capacity, tls, shutdown, finish);
        tokio::select! {
            served = async { tokio::try_join!(hall, frames) } => served.map(drop),
            () = files::clearing::clear(app.clone()) => Ok(()),
            () = push::keep(app.clone()) => Ok(()),
        }
    }
}

/// Serves the other origin, if there is one, for as long as the first.
async fn frame_origin(
    sandbox: Option<(TcpListener, Sandbox)>,
    capacity: u32,
    tls: Option<Tls>,
    mut closing: watch::Receiver<bool>,
) -> io::Result<()> {
    let Some((listener, sandbox)) = sandbox else { return Ok(()) };
    let closed = async {
        // An error means that the house is gone.
        closing.wait_for(|closing| *closing).await.ok();
    };
    listen::run(listener, sandbox::router(sandbox), capacity, tls, closed, async {}).await
}

fn router(app: Arc<App>, mcp: Option<Guest>) -> Router {
    let described = OpenApiRouter::with_openapi(Described::openapi())
        .merge(caco::routes())
        .merge(files::routes())
        .routes(routes!(shell::post))
        .routes(routes!(outputs::show))
        .merge(windows::routes())
        .merge(window::routes())
        .merge(push::routes::routes())
        .merge(v1::routes())
        .routes(routes!(welcome::welcome))
        .routes(routes!(briefing::show))
        .routes(routes!(briefing::change))
        .routes(routes!(operate::log))
        .routes(routes!(frames::routes::offers, frames::routes::open))
        .routes(routes!(frames::routes::end))
        .merge(widgets::routes::routes())
        .merge(cabinet::routes::routes())
        .merge(desktop::routes());
    let (router, openapi) = described.split_for_parts();
    // The router's sign for a path of several parts is not one of the description.
    let openapi = openapi.to_json().unwrap_or_default().replace("/{*", "/{");
    let openapi = bytes::Bytes::from(openapi);
    let openapi = move || async move {
        ([(axum::http::header::CONTENT_TYPE, "application/json")], openapi).into_response()
    };
    let (access, frames) = (app.access.clone(), app.frames.clone());
    let doors = Router::new()
        .route("/login", get(login::visit).post(login::submit))
        .route("/login.css", get(login::style))
        .route("/pair", get(pairing::page))
        .route("/pair.js", get(pairing::script))
        .route("/logout", post(login::leave))
        .with_state(access.clone());
    let mcp = mcp.map_or_else(Router::new, |guest| {
        Router::new().route_service("/mcp", guest.until(app.closing.clone()))
    });
    let router = router
        .route("/api/openapi.json", get(openapi))
        .route("/healthz", get(operate::health))
        .route("/metrics", get(operate::metrics))
        .with_state(app)
        .merge(doors)
        .merge(mcp)
        .method_not_allowed_fallback(page::fallback)
        .fallback(page::fallback)
        .layer(middleware::from_fn(operate::count))
        .layer(middleware::from_fn_with_state(access, auth::guard))
        .layer(middleware::from_fn_with_state(frames, page::harden));
    // Before anything looks at the path.
    Router::new().fallback_service(router.map_request(|mut request: Request| {
        if let Some(uri) = window::door::collapsed(request.uri()) {
            *request.uri_mut() = uri;
        }
        request
    }))
}
