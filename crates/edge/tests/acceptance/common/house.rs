//! A server on a port of its own, over fakes that outlive it.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use edge::{Edge, Found, Keys, Lookout, Settings};
use futures::{FutureExt as _, future::ready};
use kernel::{
    host::Host,
    ports::Clock as _,
    servers::{NoServers, Servers},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{ScriptedModel, World, model::Script};
use tokio::{net::TcpListener, runtime::Runtime, sync::oneshot};

use super::{Ask, Socket, guest::WithGuest, mounted, web::FakeWeb};

pub struct House {
    pub world: World,
    /// Another model, called `guest`, that no list names.
    pub guest: Arc<ScriptedModel>,
    folder: TempDir,
    settings: Settings,
    servers: Arc<dyn Servers>,
    /// What is found on the machine.
    pub found: Vec<Found>,
    /// What apps reach of the internet.
    pub web: Arc<FakeWeb>,
    server: Option<Server>,
}

/// Lives in a runtime of its own, so that it can be killed with all its tasks.
struct Server {
    runtime: Runtime,
    host: Arc<Host>,
    address: SocketAddr,
    sandbox: SocketAddr,
    login_url: String,
    stop: oneshot::Sender<()>,
    stopped: oneshot::Receiver<()>,
}

impl House {
    pub async fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        Self::over(World::new(scripts)).await
    }

    pub async fn over(world: World) -> Self {
        Self::with(world, Settings::default()).await
    }

    pub async fn serving(world: World, servers: Arc<dyn Servers>) -> Self {
        Self::build(world, Settings::default(), servers).await
    }

    pub async fn with(world: World, settings: Settings) -> Self {
        Self::build(world, settings, Arc::new(NoServers)).await
    }

    async fn build(world: World, mut settings: Settings, servers: Arc<dyn Servers>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("work")).unwrap();
        settings.data_dir = real.join("data");
        std::fs::create_dir(&settings.data_dir).unwrap();
        let mut house = Self {
            world,
            guest: ScriptedModel::new([]),
            folder,
            settings,
            servers,
            found: Vec::new(),
            web: Arc::default(),
            server: None,
        };
        house.start().await;
        house
    }

    /// Kills the server, as a power cut would, and starts another over what it had stored.
    pub async fn restart(&mut self) {
        self.kill().await;
        self.start().await;
    }

    pub async fn kill(&mut self) {
        let runtime = self.server.take().unwrap().runtime;
        let dead = move || runtime.shutdown_timeout(Duration::from_secs(10));
        tokio::task::spawn_blocking(dead).await.unwrap();
    }

    /// Ends the server as a signal would, and returns when it has.
    pub async fn stop(&mut self) {
        let Server { runtime, stop, stopped, .. } = self.server.take().unwrap();
        stop.send(()).unwrap();
        stopped.await.unwrap();
        runtime.shutdown_background();
    }

    pub async fn start(&mut self) {
        let mut ports = self.world.ports();
        ports.workspace = self.workspace();
        ports.models = Arc::new(WithGuest { own: ports.models, guest: self.guest.clone() });
        let (keys, settings) = (self.keys(), self.settings.clone());
        ports.web = self.web.clone();
        let (caco, own, apps) = (self.caco(), self.applets(), self.data_dir().join("apps"));
        let servers = self.servers.clone();
        let found = self.found.clone();
        let lookout: Lookout = Arc::new(move || ready(found.clone()).boxed());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (stop, stopping) = oneshot::channel();
        let (finished, stopped) = oneshot::channel();
        let started = runtime.spawn(async move {
            ports.gallery = apps::Folders::open(&[caco], own);
            let changes = ports.gallery.changes();
            ports.cabinet = apps::Drawers::open(apps);
            let app_changes = ports.cabinet.changes();
            let host = Host::start(ports, kernel::host::Settings::default()).await.unwrap();
            tokio::spawn(kernel::gallery::announce(changes, host.roster.clone()));
            tokio::spawn(kernel::cabinet::announce(app_changes, host.roster.clone()));
            host.recover().await;
            host.keep_schedules();
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let kept = host.clone();
            let edge =
                Edge::new(host, servers, keys, settings, listener, Arc::new(String::new)).unwrap();
            let frames = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let sandbox = frames.local_addr().unwrap();
            let edge = edge.with_mcp(mounted::guest()).with_lookout(lookout);
            let edge = edge.with_sandbox(frames).unwrap();
            let (address, login_url) = (edge.address(), edge.login_url().unwrap());
            tokio::spawn(async move {
                edge.serve(async { drop(stopping.await) }).await.unwrap();
                finished.send(()).ok();
            });
            (kept, address, sandbox, login_url)
        });
        let (host, address, sandbox, login_url) = started.await.unwrap();
        self.server = Some(Server { runtime, host, address, sandbox, login_url, stop, stopped });
    }

    /// The house itself, for what its agents can do and its clients cannot.
    pub fn host(&self) -> Arc<Host> {
        self.server.as_ref().unwrap().host.clone()
    }

    pub fn address(&self) -> SocketAddr {
        self.server.as_ref().unwrap().address
    }

    /// Where the content of frames is served.
    pub fn sandbox(&self) -> SocketAddr {
        self.server.as_ref().unwrap().sandbox
    }

    /// The path and query of the printed login address.
    pub fn login_path(&self) -> &str {
        let url = &self.server.as_ref().unwrap().login_url;
        url.strip_prefix(&format!("http://{}", self.address())).unwrap()
    }

    /// Where sessions work that name no folder of their own.
    pub fn workspace(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("work")
    }

    /// Where the owner's applets are.
    pub fn applets(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("applets")
    }

    /// Where another program has its applets.
    pub fn caco(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("caco")
    }

    pub fn cwd(&self) -> String {
        self.workspace().to_str().unwrap().to_owned()
    }

    pub fn keys(&self) -> Keys {
        Keys::open(self.data_dir().join("key")).unwrap()
    }

    /// Where the server keeps its own things.
    pub fn data_dir(&self) -> &Path {
        &self.settings.data_dir
    }

    /// A place that is neither the workspace nor the server's own.
    pub fn outside(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub fn now(&self) -> jiff::Timestamp {
        self.world.clock.now()
    }

    pub fn key(&self) -> String {
        self.keys().show().unwrap().unwrap()
    }

    /// A request with the key, to be dressed up and sent.
    pub fn ask(&self, method: &str, path: &str) -> Ask {
        Ask::new(self.address(), method, path).header("authorization", &self.bearer())
    }

    /// The same from somebody without a key.
    pub fn ask_without_key(&self, method: &str, path: &str) -> Ask {
        Ask::new(self.address(), method, path)
    }

    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.key())
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.ask("GET", path).send().await.json()
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.ask("POST", path).json(&body).send().await.json()
    }

    pub async fn patch(&self, path: &str, body: Value) -> (u16, Value) {
        self.ask("PATCH", path).json(&body).send().await.json()
    }

    pub async fn put(&self, path: &str, body: Value) -> (u16, Value) {
        self.ask("PUT", path).json(&body).send().await.json()
    }

    pub async fn delete(&self, path: &str) -> (u16, Value) {
        self.ask("DELETE", path).send().await.json()
    }

    /// A new session's name.
    pub async fn session(&self) -> String {
        let (status, created) = self.post("/api/sessions", json!({})).await;
        assert_eq!(status, 200, "{created}");
        created["sessionId"].as_str().unwrap().to_owned()
    }

    /// Says something that must be taken.
    pub async fn say(&self, id: &str, prompt: &str) {
        let answer = self.message(id, json!({ "prompt": prompt })).await;
        assert_eq!(answer, (200, json!({ "ok": true, "sessionId": id })));
    }

    pub async fn message(&self, id: &str, body: Value) -> (u16, Value) {
        self.post(&format!("/api/sessions/{id}/messages"), body).await
    }

    /// Says something and waits until the turn is over; returns all that was heard.
    pub async fn turn(&self, id: &str, body: Value) -> Vec<Value> {
        let mut socket = self.socket().await;
        socket.subscribe(id).await;
        let (status, answer) = self.message(id, body).await;
        assert_eq!(status, 200, "{answer}");
        socket.turn().await
    }

    pub async fn socket(&self) -> Socket {
        let headers = [("authorization", self.bearer())];
        Socket::open(self.address(), "/ws", &headers).await.unwrap()
    }

    /// A socket that hears a session.
    pub async fn listener(&self, id: &str) -> Socket {
        let mut socket = self.socket().await;
        socket.subscribe(id).await;
        socket
    }

    /// The events of a session's history, as they are replayed.
    pub async fn history(&self, id: &str) -> Vec<Value> {
        self.socket().await.history(id, json!({})).await
    }

    /// The log as it is kept.
    pub async fn log(&self, id: &str) -> Value {
        let (status, log) = self.get(&format!("/api/log?session={id}")).await;
        assert_eq!(status, 200, "{log}");
        log
    }

    /// Everything a request could have changed.
    pub async fn snapshot(&self, id: &str) -> Value {
        let (_, sessions) = self.get("/api/sessions").await;
        let (_, preferences) = self.get("/api/preferences").await;
        let (_, state) = self.get(&format!("/api/sessions/{id}/state")).await;
        json!([sessions, preferences, state, self.log(id).await])
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.runtime.shutdown_background();
        }
    }
}
