//! A house with servers, its fakes, and somebody who answers its questions.

use std::{
    collections::{BTreeMap, VecDeque},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use kernel::{
    approvals::{Mode, Rules},
    feed::{Feed, Heard},
    host::{Host, Settings},
    inbox::{CallError, Waiting},
    question::Decision,
    servers::{ServerInfo, Servers as _, Standing},
    toolbox::{Caller, Reply, ToolError},
    update::{SessionId, Update},
};
use mcp::client::House;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{World, model::Script};
use tokio::time::timeout;

/// Longer than anything here takes; only a fault waits for it.
const PATIENCE: Duration = Duration::from_secs(50);

pub struct Home {
    pub world: World,
    pub host: Arc<Host>,
    pub servers: Arc<House>,
    pub folder: TempDir,
}

impl Home {
    /// One in which these servers are configured.
    pub async fn new(servers: Value) -> Self {
        Self::with(World::new(Vec::<Script>::new()), servers, "http://127.0.0.1:1/back").await
    }

    pub async fn with(world: World, servers: Value, callback: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::over(world, servers, callback, folder).await
    }

    pub async fn over(world: World, servers: Value, callback: &str, folder: TempDir) -> Self {
        Self::build(world, servers, callback, folder, Mode::Full).await
    }

    /// One in which whatever changes something must be allowed.
    pub async fn asking(servers: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = World::new(Vec::<Script>::new());
        Self::build(world, servers, "http://127.0.0.1:1/", folder, Mode::Ask).await
    }

    async fn build(
        world: World,
        servers: Value,
        callback: &str,
        folder: TempDir,
        mode: Mode,
    ) -> Self {
        let work = folder.path().join("work");
        std::fs::create_dir_all(&work).unwrap();
        let mut ports = world.ports();
        ports.workspace = work.canonicalize().unwrap();
        let rules = Rules { mode, ..Rules::default() };
        let settings = Settings { rules, ..Settings::default() };
        let host = Host::start(ports, settings).await.unwrap();
        let servers: BTreeMap<String, mcp::client::Settings> =
            serde_json::from_value(servers).unwrap();
        let servers = House::open(&host, servers, folder.path(), callback.into()).await.unwrap();
        Self { world, host, servers, folder }
    }

    pub fn work(&self) -> PathBuf {
        self.host.ports.workspace.clone()
    }

    pub async fn session(&self) -> SessionId {
        self.host.create(&self.work(), "test", "").await.unwrap()
    }

    pub async fn session_in(&self, folder: &Path) -> SessionId {
        self.host.create(folder, "test", "").await.unwrap()
    }

    pub fn info(&self, name: &str) -> ServerInfo {
        self.servers.list().into_iter().find(|it| it.name == name).unwrap()
    }

    pub async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let wait = async {
            while !holds(self) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        if timeout(PATIENCE, wait).await.is_err() {
            let logs: Vec<_> = self
                .servers
                .list()
                .iter()
                .map(|it| (it.name.clone(), it.standing.clone(), self.servers.logs(&it.name)))
                .collect();
            panic!("waited in vain until {what}: {logs:#?}");
        }
    }

    pub async fn until_ready(&self, name: &str) {
        self.until("it is ready", |home| home.info(name).standing == Standing::Ready).await;
    }

    /// Why it failed, once it has.
    pub async fn until_failed(&self, name: &str) -> String {
        let failed = |home: &Self| matches!(home.info(name).standing, Standing::Failed { .. });
        self.until("it has failed", failed).await;
        match self.info(name).standing {
            Standing::Failed { reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    }

    /// The names under which tools can be called.
    pub fn tools(&self) -> Vec<String> {
        let specs = self.host.ports.tools.specs(&Caller::Model);
        specs.into_iter().map(|spec| spec.name).filter(|name| name != "echo").collect()
    }

    pub async fn call(&self, name: &str, args: Value) -> Result<Reply, String> {
        let session = self.session().await;
        self.call_in(session, name, args).await
    }

    pub async fn call_in(
        &self,
        session: SessionId,
        name: &str,
        args: Value,
    ) -> Result<Reply, String> {
        let called = self.host.call(session, Caller::Client, name, args);
        match timeout(PATIENCE, called).await.unwrap() {
            Ok(reply) => Ok(reply),
            Err(CallError::Tool(ToolError::Failed(message))) => Err(message),
            Err(other) => Err(format!("{other:?}")),
        }
    }

    pub async fn text(&self, name: &str, args: Value) -> String {
        self.call(name, args).await.unwrap().text
    }

    /// The first question that is open.
    pub async fn question(&self) -> Waiting {
        let wait = async {
            loop {
                if let Some(waiting) = self.host.questions().await.unwrap().into_iter().next() {
                    return waiting;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, wait).await.unwrap()
    }

    /// The first question that is open once this one is not.
    pub async fn question_after(&self, last: &Waiting) -> Waiting {
        let wait = async {
            loop {
                let next = self.question().await;
                if next.question.id != last.question.id {
                    return next;
                }
            }
        };
        timeout(PATIENCE, wait).await.unwrap()
    }

    pub async fn until_quiet(&self) {
        let wait = async {
            while !self.host.questions().await.unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, wait).await.unwrap();
    }

    /// Calls a tool again and again until it says something like this.
    pub async fn until_text(&self, tool: &str, fits: impl Fn(&str) -> bool) {
        let wait = async {
            while !fits(&self.text(tool, json!({})).await) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, wait).await.unwrap();
    }

    /// Waits until the odd server has heard of these cancellations.
    pub async fn until_cancelled(&self, reasons: &[&str]) {
        let expected = json!(reasons).to_string();
        self.until_text("cancelled", |said| said == expected).await;
    }

    pub async fn listen(&self, session: SessionId) -> Listener {
        Listener { feed: self.host.feed(session, None).await.unwrap(), heard: VecDeque::new() }
    }

    pub async fn answer(&self, waiting: &Waiting, value: Value) {
        let answer = Decision::Answer(value);
        self.host.decide(waiting.question.id, answer, "the test").await.unwrap();
    }
}

/// Hears what a session publishes, one update at a time.
pub struct Listener {
    feed: Feed,
    heard: VecDeque<Update>,
}

impl Listener {
    pub async fn next(&mut self) -> Update {
        loop {
            if let Some(update) = self.heard.pop_front() {
                return update;
            }
            if let Heard::Live(told) = timeout(PATIENCE, self.feed.next()).await.unwrap().unwrap() {
                self.heard.extend(told.updates.iter().cloned());
            }
        }
    }
}

/// Where the servers of others are, once `make peers` has been run.
pub fn peer(name: &str) -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = target.join("peers/node_modules/@modelcontextprotocol");
    let path = folder.join(name).join("dist/index.js");
    assert!(path.exists(), "{} is not there; run `make peers`", path.display());
    path.to_str().unwrap().to_owned()
}

/// A server of our own that behaves in this way.
pub fn odd(way: &str) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/odd.mjs");
    json!({ "command": "node", "args": [script, way] })
}
