//! A connection to a server: begun in whichever of the two ways the server knows.

use std::{
    collections::HashMap,
    error::Error as _,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::{
    RoleClient,
    model::{ProtocolVersion, ServerPeerInfo, SubscriptionFilter},
    service::{
        ClientInitializeError, ClientLifecycleMode, Peer, QuitReason,
        RunningServiceCancellationToken, Subscription, serve_client_with_lifecycle,
    },
    transport::{
        StreamableHttpClientTransport, Transport,
        streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError},
    },
};
use tokio::{sync::Notify, task::JoinHandle, time::timeout};

use super::{
    guest::Guest,
    logbook::cut,
    pipe::{Ending, Pipe},
    process::Process,
    settings::Way,
    sieve::Sieve,
    signin::SignIn,
    web::Web,
};

/// How long a server may take to greet us.
pub const CONNECTING: Duration = Duration::from_secs(30);
const SUBSCRIBING: Duration = Duration::from_secs(5);
pub const LONGEST_REASON: usize = 500;

/// What calls need of a connection.
pub struct Link {
    pub peer: Peer<RoleClient>,
    pub guest: Arc<Guest>,
    pub info: Option<Arc<ServerPeerInfo>>,
    /// Told when the server has other tools than before, or may be gone.
    pub news: Arc<Notify>,
    /// What it said when it no longer let us in.
    refused: Mutex<Option<String>>,
}

impl Link {
    /// Lets its keeper know that somebody has to sign in, with what the server said of how.
    pub fn refuse(&self, challenge: String) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(challenge);
        self.news.notify_one();
    }

    pub fn refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A connection that lives; dropping it ends it.
pub struct Connection {
    pub link: Arc<Link>,
    end: Ending,
    gone: JoinHandle<Result<QuitReason, tokio::task::JoinError>>,
    stop: Option<RunningServiceCancellationToken>,
    /// Held, or the server would tell us nothing more.
    _subscription: Option<Subscription>,
}

pub enum LinkError {
    /// The person has to sign in; with what the server said of how.
    SignIn(Option<String>),
    Failed(String),
}

/// How to reach a server, and for whom.
pub struct Road<'a> {
    pub guest: Arc<Guest>,
    pub web: reqwest::Client,
    pub signin: Option<&'a SignIn>,
    /// Where a process works that names no folder.
    pub folder: PathBuf,
}

impl Road<'_> {
    pub async fn connect(&self) -> Result<Connection, LinkError> {
        let both = async {
            let modern = ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            };
            match self.attempt(modern).await {
                // Some servers of old break at a greeting that they do not know.
                Err(Fault::Greeting(LinkError::Failed(_))) => {
                    self.attempt(ClientLifecycleMode::Initialize).await
                }
                other => other,
            }
        };
        match timeout(CONNECTING, both).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(Fault::Greeting(error) | Fault::Road(error))) => Err(error),
            Err(_) => {
                let seconds = CONNECTING.as_secs();
                Err(LinkError::Failed(format!("it did not answer for {seconds} seconds")))
            }
        }
    }

    async fn attempt(&self, lifecycle: ClientLifecycleMode) -> Result<Connection, Fault> {
        let settings = &self.guest.settings;
        let way = settings.check().map_err(|why| Fault::Road(LinkError::Failed(why)))?;
        match way {
            Way::Stdio { command } => {
                let log = &self.guest.log;
                let process = Process::start(settings, command, &self.folder, log);
                let process = process.map_err(|error| {
                    Fault::Road(LinkError::Failed(format!("cannot run `{command}`: {error}")))
                })?;
                let end = Ending::default();
                let longest = settings.longest_message();
                let pipe = Pipe::new(process, longest, log.clone(), end.clone());
                self.greet(pipe, lifecycle, end).await
            }
            Way::Http { url } => self.over_http(url, lifecycle).await,
        }
    }

    async fn over_http(
        &self,
        url: &str,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Connection, Fault> {
        let settings = &self.guest.settings;
        let broken = |why: String| Fault::Road(LinkError::Failed(settings.hide(&why)));
        let mut config = StreamableHttpClientTransportConfig::with_uri(url)
            .custom_headers(headers(settings))
            .max_sse_event_size(settings.longest_message());
        let bearer = settings.bearer().map_err(broken)?;
        if let Some(token) = bearer {
            config = config.auth_header(token);
        }
        let web = Web { http: self.web.clone(), longest: settings.longest_message() };
        let Some(signin) = self.signin.filter(|_| !settings.has_own_key()) else {
            let wire = StreamableHttpClientTransport::with_client(web, config);
            return self.greet(wire, lifecycle, Ending::default()).await;
        };
        let client = signin.client(settings, url, web).await;
        let client = client.map_err(|error| broken(error.to_string()))?;
        let wire = StreamableHttpClientTransport::with_client(client, config);
        self.greet(wire, lifecycle, Ending::default()).await
    }

    async fn greet<T>(
        &self,
        inner: T,
        lifecycle: ClientLifecycleMode,
        end: Ending,
    ) -> Result<Connection, Fault>
    where
        T: Transport<RoleClient> + 'static,
    {
        let news = Arc::new(Notify::new());
        let (calls, log) = (self.guest.calls.clone(), self.guest.log.clone());
        let sieve = Sieve { inner, calls, log, news: news.clone() };
        let service = serve_client_with_lifecycle(self.guest.clone(), sieve, lifecycle).await;
        let service = service.map_err(|error| Fault::Greeting(self.explain(&error, &end)))?;
        let peer = service.peer().clone();
        let info = peer.peer_info();
        let stop = Some(service.cancellation_token());
        let gone = tokio::spawn(service.waiting());
        let subscription = subscribe(&peer, info.as_deref()).await;
        let link = Arc::new(Link {
            peer,
            guest: self.guest.clone(),
            info,
            news,
            refused: Mutex::default(),
        });
        Ok(Connection { link, end, gone, stop, _subscription: subscription })
    }

    fn explain(&self, error: &ClientInitializeError, end: &Ending) -> LinkError {
        let settings = &self.guest.settings;
        if error.is_authorization_required() && self.signin.is_some() && !settings.has_own_key() {
            return LinkError::SignIn(error.auth_challenge().map(str::to_owned));
        }
        let reason = match error {
            _ if error.is_authorization_required() => "it refused the key it was shown".into(),
            ClientInitializeError::TransportError { error, .. } => whole(error.error.as_ref()),
            other => other.to_string(),
        };
        let reason = end.take().unwrap_or(reason);
        LinkError::Failed(settings.hide(cut(&reason, LONGEST_REASON)))
    }
}

enum Fault {
    /// The server was reached, and we did not come to terms.
    Greeting(LinkError),
    /// It was not even reached.
    Road(LinkError),
}

impl Connection {
    /// Returns when the connection is gone, with the reason.
    pub async fn lost(&mut self) -> String {
        // How the task ended says less than what came before.
        (&mut self.gone).await.ok();
        let reason = self.end.take().unwrap_or_else(|| "the connection was closed".into());
        self.link.guest.settings.hide(cut(&reason, LONGEST_REASON))
    }

    /// Ends it, and returns when its process is gone.
    pub async fn close(mut self) {
        if let Some(stop) = self.stop.take() {
            stop.cancel();
        }
        // Whatever it says, it is over.
        (&mut self.gone).await.ok();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.cancel();
        }
    }
}

/// Since 2026 a server tells only of what it was asked to.
async fn subscribe(peer: &Peer<RoleClient>, info: Option<&ServerPeerInfo>) -> Option<Subscription> {
    let info = info?;
    let tools = info.capabilities.tools.as_ref()?;
    if info.protocol_version < ProtocolVersion::V_2026_07_28 || tools.list_changed != Some(true) {
        return None;
    }
    let wanted = SubscriptionFilter::builder().tools_list_changed().build();
    timeout(SUBSCRIBING, peer.listen(wanted)).await.ok()?.ok()
}

fn headers(settings: &super::settings::Settings) -> HashMap<HeaderName, HeaderValue> {
    let pair = |(name, value): (&String, &String)| {
        let mut value = HeaderValue::try_from(value.as_str()).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::try_from(name.as_str()).ok()?, value))
    };
    settings.headers.iter().filter_map(pair).collect()
}

/// What a server said of how it would let us in, should that be why it did nothing.
pub fn challenge(error: &(dyn std::error::Error + Send + Sync + 'static)) -> Option<String> {
    let error = error.downcast_ref::<StreamableHttpError<reqwest::Error>>()?;
    error.auth_challenge().map(str::to_owned)
}

/// An error with all that led to it.
pub fn whole(error: &(dyn std::error::Error + Send + Sync + 'static)) -> String {
    let mut text = error.to_string();
    // This one does not name its cause.
    let mut source = match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(cause)) => cause.source(),
        _ => error.source(),
    };
    while let Some(cause) = source {
        let more = cause.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        source = cause.source();
    }
    text
}
