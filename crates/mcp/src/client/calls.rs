//! The calls that are under way at one server, and which of them a message from it belongs to.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use kernel::toolbox::Call;
use rmcp::model::{
    ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcRequest, ProgressNotificationParam,
    ProgressToken, RequestId,
};
use tokio::sync::{Semaphore, mpsc};

/// So much progress may wait to be told; what comes on top is lost, as more will come.
const STEPS: usize = 32;

#[derive(Default)]
pub struct Calls(Mutex<Open>);

#[derive(Default)]
struct Open {
    running: BTreeMap<u64, Arc<Running>>,
    tokens: HashMap<ProgressToken, u64>,
    requests: HashMap<RequestId, u64>,
    next: u64,
    last_folder: Option<PathBuf>,
}

/// One call, from when it is sent until its answer has come.
pub struct Running {
    key: u64,
    pub call: Call,
    /// The tool's name here.
    pub tool: String,
    steps: mpsc::Sender<Step>,
    /// One question at a time.
    pub turn: Semaphore,
    questions: AtomicUsize,
}

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub message: String,
    pub done: f64,
    pub total: Option<f64>,
}

/// Travels with a request as far as our own end of the wire.
#[derive(Clone)]
pub struct Mark(pub Arc<Running>);

/// Forgets the call when dropped.
pub struct Underway {
    pub running: Arc<Running>,
    calls: Arc<Calls>,
}

/// While it lives, the call waits for a person and not for its server.
pub struct Asking<'a>(&'a Running);

impl Calls {
    pub fn begin(self: &Arc<Self>, call: Call, tool: &str) -> (Underway, mpsc::Receiver<Step>) {
        let (steps, told) = mpsc::channel(STEPS);
        let mut open = self.open();
        let key = open.next;
        open.next += 1;
        open.last_folder = Some(call.cwd.clone());
        let (turn, questions) = (Semaphore::new(1), AtomicUsize::new(0));
        let running =
            Arc::new(Running { key, call, tool: tool.to_owned(), steps, turn, questions });
        open.running.insert(key, running.clone());
        (Underway { running, calls: self.clone() }, told)
    }

    /// Notes how messages about this request will name it. Must happen before it is sent.
    pub fn note(&self, request: &JsonRpcRequest<ClientRequest>) {
        let Some(Mark(running)) = request.request.extensions().get::<Mark>() else { return };
        let token = request.request.get_meta().get_progress_token();
        let mut open = self.open();
        open.tokens.extend(token.map(|token| (token, running.key)));
        open.requests.insert(request.id.clone(), running.key);
    }

    pub fn progressed(&self, param: ProgressNotificationParam) {
        let ProgressNotificationParam { progress_token, progress, total, message, .. } = param;
        let open = self.open();
        let running = open.tokens.get(&progress_token).and_then(|key| open.running.get(key));
        if let Some(running) = running {
            let message = message.unwrap_or_default();
            // Full or too late: either way nobody misses it.
            running.steps.try_send(Step { message, done: progress, total }).ok();
        }
    }

    /// The call that a request of the server belongs to: the one whose stream it came by, else the
    /// last one that was begun.
    pub fn asking(&self, origin: Option<&RequestId>) -> Option<Arc<Running>> {
        let open = self.open();
        let known = origin.and_then(|id| open.requests.get(id)).and_then(|it| open.running.get(it));
        known.or_else(|| open.running.values().next_back()).cloned()
    }

    /// The folders of the sessions that are calling, or of the last one that did.
    pub fn folders(&self) -> Vec<PathBuf> {
        let open = self.open();
        let mut folders: Vec<_> = open.running.values().map(|it| it.call.cwd.clone()).collect();
        if folders.is_empty() {
            folders.extend(open.last_folder.clone());
        }
        folders.sort();
        folders.dedup();
        folders
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    pub fn asks(&self) -> Asking<'_> {
        self.questions.fetch_add(1, Ordering::AcqRel);
        Asking(self)
    }

    /// Returns when nobody waits for this call any more.
    pub async fn over(&self) {
        self.steps.closed().await;
    }

    pub fn awaits_person(&self) -> bool {
        self.questions.load(Ordering::Acquire) > 0
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.questions.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        let mut open = self.calls.open();
        let key = self.running.key;
        open.running.remove(&key);
        open.tokens.retain(|_, of| *of != key);
        open.requests.retain(|_, of| *of != key);
    }
}
