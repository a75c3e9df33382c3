//! What a server may ask of us while it works for us: a person's answer, a model's, a folder.

#![expect(deprecated, reason = "servers of the older versions sample and ask for roots")]

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use kernel::{
    host::Host,
    question::{About, Question, Verdict},
};
use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
        ElicitRequestParams, ElicitResult, ElicitationCapability, FormElicitationCapability,
        Implementation, InputRequest, ListRootsResult, ProtocolVersion, Root, RootsCapabilities,
        SamplingCapability, UrlElicitationCapability,
    },
    service::{InboundStreamOrigin, Peer, RequestContext},
};
use serde_json::Value;
use tokio::{
    sync::{Semaphore, watch},
    time::{sleep, timeout},
};
use url::Url;

use super::{
    calls::{Calls, Running},
    elicit,
    logbook::Logbook,
    sample,
    settings::{Sampling, Settings},
    widget,
};

/// How many requests of one server are worked on at once.
const AT_ONCE: usize = 16;
/// How long a server may take to ask for the folders it was told have changed.
const LOOKING: Duration = Duration::from_secs(1);
/// And then to take them in: no message tells when it has.
const TAKING_IN: Duration = Duration::from_millis(100);

pub struct Guest {
    pub server: String,
    pub settings: Arc<Settings>,
    /// Weak: the house holds the tools, and they hold us.
    pub host: Weak<Host>,
    pub calls: Arc<Calls>,
    pub log: Arc<Logbook>,
    places: Semaphore,
    /// The folders that the server knows of, once it has asked.
    known: Mutex<Option<Vec<PathBuf>>>,
    /// Counts how often it asked.
    asked: watch::Sender<u64>,
}

impl Guest {
    pub fn new(
        server: &str,
        settings: Arc<Settings>,
        host: Weak<Host>,
        calls: Arc<Calls>,
        log: Arc<Logbook>,
    ) -> Self {
        Self {
            server: server.to_owned(),
            settings,
            host,
            calls,
            log,
            places: Semaphore::new(AT_ONCE),
            known: Mutex::default(),
            asked: watch::Sender::new(0),
        }
    }

    /// Answers what a server wants to know before it goes on with a call.
    pub async fn fulfil(
        &self,
        running: &Running,
        request: InputRequest,
    ) -> Result<Value, ErrorData> {
        let value = match request {
            InputRequest::Elicitation(it) => {
                serde_json::to_value(elicit::answer(self, running, it.params).await)
            }
            InputRequest::CreateMessage(it) => {
                serde_json::to_value(sample::answer(self, running, it.params).await?)
            }
            InputRequest::ListRoots(_) => serde_json::to_value(self.roots()),
            _ => return Err(ErrorData::invalid_request("that cannot be asked here", None)),
        };
        value.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Puts a question to the person in the session that is calling.
    pub async fn put(
        &self,
        running: &Running,
        tool: String,
        title: String,
        about: About,
    ) -> Option<Verdict> {
        let host = self.host.upgrade()?;
        let _turn = running.turn.acquire().await.ok()?;
        let _asking = running.asks();
        let question = Question {
            id: host.ports.clock.id(),
            call: running.call.id.clone(),
            caller: running.call.caller.clone(),
            tool,
            title,
            about,
            expires: host.approvals.expiry(running.call.attended),
        };
        elicit::put(&running.call.session, question).await
    }

    fn running(&self, context: &RequestContext<RoleClient>) -> Result<Arc<Running>, ErrorData> {
        let origin = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id),
            _ => None,
        };
        self.calls.asking(origin).ok_or_else(|| {
            ErrorData::invalid_request("this can only be asked while a tool is being called", None)
        })
    }

    fn folders(&self) -> Vec<PathBuf> {
        let calling = self.calls.folders();
        if !calling.is_empty() {
            return calling;
        }
        self.host.upgrade().map(|host| vec![host.ports.workspace.clone()]).unwrap_or_default()
    }

    fn roots(&self) -> ListRootsResult {
        let folders = self.folders();
        let root = |folder: &PathBuf| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Some(Root::new(Url::from_directory_path(folder).ok()?.to_string()).with_name(name))
        };
        let roots = folders.iter().filter_map(root).collect();
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(folders);
        self.asked.send_modify(|count| *count += 1);
        ListRootsResult::new(roots)
    }

    /// Lets a server that has asked for folders know of others, and waits until it has looked.
    pub async fn show_folders(&self, peer: &Peer<RoleClient>) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if known.is_none_or(|known| known == self.folders()) {
            return;
        }
        let mut asked = self.asked.subscribe();
        if peer.notify_roots_list_changed().await.is_ok()
            && timeout(LOOKING, asked.changed()).await.is_ok()
        {
            sleep(TAKING_IN).await;
        }
    }
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the call was cancelled", None)
}

fn busy() -> ErrorData {
    ErrorData::internal_error("too many requests are open already", None)
}

impl ClientHandler for Guest {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let form = FormElicitationCapability::new().with_schema_validation(true);
        let elicitation = ElicitationCapability::new().with_form(form);
        capabilities.elicitation = Some(elicitation.with_url(UrlElicitationCapability::new()));
        let mut roots = RootsCapabilities::default();
        roots.list_changed = Some(true);
        capabilities.roots = Some(roots);
        if self.settings.widgets {
            let offered = || BTreeMap::from([(widget::EXTENSION.to_owned(), widget::offered())]);
            // Some look only where extensions were before they had a place of their own.
            (capabilities.extensions, capabilities.experimental) =
                (Some(offered()), Some(offered()));
        }
        if self.settings.sampling != Sampling::Deny {
            capabilities.sampling = Some(SamplingCapability::default());
        }
        ClientConfig::new(capabilities, Implementation::new("megaron", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let _place = self.places.try_acquire().map_err(|_| busy())?;
        let running = self.running(&context)?;
        tokio::select! {
            answer = sample::answer(self, &running, params) => answer,
            () = context.ct.cancelled() => Err(cancelled()),
            () = running.over() => Err(cancelled()),
        }
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(self.roots())
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let _place = self.places.try_acquire().map_err(|_| busy())?;
        let running = self.running(&context)?;
        tokio::select! {
            answer = elicit::answer(self, &running, params) => Ok(answer),
            () = context.ct.cancelled() => Err(cancelled()),
            () = running.over() => Err(cancelled()),
        }
    }
}
