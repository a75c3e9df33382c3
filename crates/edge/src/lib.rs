//! Megaron's doors: HTTP and WebSocket, who may use them, and one folder per dialect spoken there.

mod auth;
mod briefing;
mod caco;
mod error;
mod extract;
mod files;
mod guest;
mod keys;
mod listen;
mod login;
mod models;
mod near;
mod operate;
mod outputs;
mod page;
mod shell;
mod socket;
mod v1;

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use axum::{Router, middleware, response::IntoResponse as _, routing::get};
use kernel::{host::Host, servers::Servers};
use tokio::{net::TcpListener, sync::watch};
use utoipa::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};

use auth::{Access, Codes, Purpose};
use caco::clients::Clients;
pub use guest::Guest;
pub use keys::Keys;
pub use near::{did_you_mean, near};

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
            max_connections: 1024,
            drain: Duration::from_secs(10),
        }
    }
}

/// Everything that is being counted, as Prometheus reads it.
pub type Metrics = Arc<dyn Fn() -> String + Send + Sync>;

pub struct Edge {
    app: Arc<App>,
    listener: TcpListener,
    settings: Settings,
    /// Whoever speaks MCP for us.
    mcp: Option<Guest>,
}

/// What every handler may lean on.
struct App {
    host: Arc<Host>,
    servers: Arc<dyn Servers>,
    clients: Clients,
    access: Arc<Access>,
    closing: socket::Closing,
    metrics: Metrics,
    disk: files::Disk,
    shell: shell::Shell,
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
        (name = "approvals", description = "What waits for the person, and what they have allowed."),
        (name = "models", description = "Who may answer, and what was used."),
        (name = "mcp", description = "Servers of tools, and what was chosen for each."),
        (name = "files", description = "Files of the workspace, and those that are kept for a while."),
        (name = "preferences", description = "What the person chose last."),
        (name = "access", description = "Ways in for clients that cannot send headers."),
        (name = "v1", description = "Our models for other programs, in the words they know."),
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
        });
        let (clients, closing) = (Clients::new(host.clone()), Arc::new(watch::Sender::new(false)));
        let disk = files::Disk::new(&host.ports.workspace, &settings.data_dir);
        let workspace = host.ports.workspace.clone();
        let shell = shell::Shell::new(settings.commands.clone(), workspace, &settings.data_dir);
        let app = Arc::new(App { host, servers, clients, access, closing, metrics, disk, shell });
        Ok(Self { app, listener, settings, mcp: None })
    }

    /// Serves MCP under `/mcp`, for those who get in anyway.
    #[must_use]
    pub fn with_mcp(mut self, guest: Guest) -> Self {
        self.mcp = Some(guest);
        self
    }

    pub fn address(&self) -> SocketAddr {
        self.app.access.listen
    }

    /// An address that logs a browser in, once.
    pub fn login_url(&self) -> io::Result<String> {
        let now = self.app.host.ports.clock.now();
        let code = self.app.access.codes.issue(Purpose::Login, now)?;
        Ok(format!("http://{}/login?code={code}", self.address()))
    }

    /// Serves until `shutdown`; then takes no more connections, lets running turns end, records the
    /// rest as interrupted, and says goodbye.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        let Self { app, listener, settings, mcp } = self;
        let router = router(app.clone(), mcp);
        let finish = async {
            app.host.shut(settings.drain).await;
            app.closing.send_replace(true);
        };
        listen::run(listener, router, settings.max_connections, shutdown, finish).await
    }
}

fn router(app: Arc<App>, mcp: Option<Guest>) -> Router {
    let described = OpenApiRouter::with_openapi(Described::openapi())
        .merge(caco::routes())
        .merge(files::routes())
        .routes(routes!(shell::post))
        .routes(routes!(outputs::show))
        .merge(v1::routes())
        .routes(routes!(briefing::show))
        .routes(routes!(briefing::change))
        .routes(routes!(operate::log));
    let (router, openapi) = described.split_for_parts();
    // The router's sign for a path of several parts is not one of the description.
    let openapi = openapi.to_json().unwrap_or_default().replace("/{*", "/{");
    let openapi = bytes::Bytes::from(openapi);
    let openapi = move || async move {
        ([(axum::http::header::CONTENT_TYPE, "application/json")], openapi).into_response()
    };
    let access = app.access.clone();
    let doors = Router::new()
        .route("/login", get(login::visit).post(login::submit))
        .route("/login.css", get(login::style))
        .with_state(access.clone());
    let mcp = mcp.map_or_else(Router::new, |guest| {
        Router::new().route_service("/mcp", guest.until(app.closing.clone()))
    });
    router
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
        .layer(middleware::from_fn(page::harden))
}
