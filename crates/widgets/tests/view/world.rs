//! A world for one view that notes what is asked of it, and a view that is made by hand.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{FutureExt as _, future::BoxFuture};
use serde_json::{Map, Value, json};
use widgets::{
    Capabilities, Context, DisplayMode, Handler, Limits, Link, LogEntry, ModelContext, Ports,
    Record, Said, Setup, Size, ToolCall, Trouble, WidgetTool,
};

#[derive(Default)]
pub struct World {
    pub ports: Mutex<Ports>,
    pub posted: Mutex<Vec<Value>>,
    /// What was asked, in the order in which it was.
    pub asked: Mutex<Vec<String>>,
    /// What becomes of the next calls; without any, an empty result.
    pub outcomes: Mutex<VecDeque<Result<Value, Trouble>>>,
    /// What becomes of the next wishes; without any, they come true.
    pub wishes: Mutex<VecDeque<Trouble>>,
    /// Calls are answered by nobody.
    pub silent: Mutex<bool>,
    /// For how long the person might have been asked about the last call.
    pub patience: Mutex<Option<Duration>>,
    pub now: Mutex<Duration>,
    pub tools: Mutex<Vec<WidgetTool>>,
    pub records: Mutex<Vec<Record>>,
}

impl World {
    fn note(&self, what: String) {
        self.asked.lock().unwrap().push(what);
    }

    fn wished<T: Send + 'static>(
        &self,
        what: String,
        value: T,
    ) -> BoxFuture<'_, Result<T, Trouble>> {
        self.note(what);
        let trouble = self.wishes.lock().unwrap().pop_front();
        let outcome = trouble.map_or(Ok(value), Err);
        async move { outcome }.boxed()
    }

    pub fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }

    pub fn said(&self) -> Vec<Value> {
        std::mem::take(&mut *self.posted.lock().unwrap())
    }

    /// What was said, each by its method alone.
    pub fn methods(&self) -> Vec<String> {
        let method = |it: &Value| it["method"].as_str().unwrap_or("answer").to_owned();
        self.said().iter().map(method).collect()
    }
}

impl Context for World {
    fn ports(&self) -> Ports {
        *self.ports.lock().unwrap()
    }

    fn post(&self, message: Value) {
        self.posted.lock().unwrap().push(message);
    }

    fn now(&self) -> Duration {
        *self.now.lock().unwrap()
    }

    fn call_tool(&self, call: ToolCall) -> BoxFuture<'_, Result<Value, Trouble>> {
        let ToolCall { name, arguments, progress, patience } = call;
        *self.patience.lock().unwrap() = patience;
        let more = progress.map(|token| format!(" progress {token}")).unwrap_or_default();
        self.note(format!("call {name} {}{more}", Value::Object(arguments)));
        if *self.silent.lock().unwrap() {
            return std::future::pending().boxed();
        }
        let outcome = self.outcomes.lock().unwrap().pop_front();
        async move { outcome.unwrap_or_else(|| Ok(json!({ "content": [] }))) }.boxed()
    }

    fn remember(&self, context: ModelContext) -> BoxFuture<'_, Result<(), Trouble>> {
        self.wished(format!("remember {} {}", context.version, context.to_value()), ())
    }

    fn open_link(&self, link: Link) -> BoxFuture<'_, Result<(), Trouble>> {
        self.wished(format!("open {}", link.url), ())
    }

    fn show(&self, mode: DisplayMode) -> BoxFuture<'_, Result<DisplayMode, Trouble>> {
        self.wished(format!("show {}", mode.name()), mode)
    }

    fn close(&self, reason: Option<String>) -> BoxFuture<'_, Result<(), Trouble>> {
        self.wished(format!("close {reason:?}"), ())
    }

    fn say(&self, said: Said) -> BoxFuture<'_, Result<(), Trouble>> {
        self.wished(format!("say {}", Value::Array(said.content)), ())
    }

    fn download(&self, contents: Vec<Value>) -> BoxFuture<'_, Result<(), Trouble>> {
        self.wished(format!("download {}", Value::Array(contents)), ())
    }

    fn resources(
        &self,
        method: &'static str,
        params: Map<String, Value>,
    ) -> BoxFuture<'_, Result<Value, Trouble>> {
        self.wished(format!("{method} {}", Value::Object(params)), json!({ "resources": [] }))
    }

    fn sample(&self, _: Map<String, Value>) -> BoxFuture<'_, Result<Value, Trouble>> {
        self.wished("sample".into(), json!({ "role": "assistant" }))
    }

    fn keep(&self, state: Value) {
        self.note(format!("keep {state}"));
    }

    fn log(&self, LogEntry { level, logger, message, data }: LogEntry) {
        let text = |it: Option<String>| it.unwrap_or_default();
        let data = data.map(|data| data.to_string());
        self.note(format!("log {level:?} {} {} {}", text(logger), text(message), text(data)));
    }

    fn resize(&self, Size { width, height, aspect }: Size) {
        self.note(format!("resize {width:?} {height:?} {aspect:?}"));
    }

    fn tools_changed(&self, tools: Vec<WidgetTool>) {
        *self.tools.lock().unwrap() = tools;
    }

    fn record(&self, record: Record) {
        self.records.lock().unwrap().push(record);
    }
}

pub struct View {
    pub world: Arc<World>,
    pub handler: Arc<Handler>,
}

pub fn all() -> Capabilities {
    Capabilities {
        server_tools: true,
        server_resources: true,
        open_link: true,
        download: true,
        model_context: true,
        context_images: true,
        message: true,
        widget_tools: true,
        logging: true,
        sampling: true,
        display_modes: Some(vec![DisplayMode::Inline, DisplayMode::Fullscreen]),
        sandbox: Some(json!({ "permissions": {}, "csp": {} })),
    }
}

pub fn surroundings() -> Map<String, Value> {
    let around = json!({
        "theme": "light",
        "displayMode": "inline",
        "availableDisplayModes": ["inline", "fullscreen"],
        "containerDimensions": { "width": 900, "maxHeight": 4000 },
        "locale": "en-US",
        "timeZone": "UTC",
        "platform": "web",
        "toolInfo": { "id": 1, "tool": { "name": "get-time", "inputSchema": { "type": "object" } } },
    });
    around.as_object().unwrap().clone()
}

impl View {
    /// With everything that can be had.
    pub fn new() -> Self {
        Self::with(all())
    }

    pub fn with(capabilities: Capabilities) -> Self {
        Self::set_up(Setup { capabilities, ..setup() })
    }

    pub fn set_up(setup: Setup) -> Self {
        let ports = Ports {
            model_context: true,
            open_link: true,
            display_mode: true,
            close: true,
            widget_tools: true,
        };
        let world = Arc::new(World { ports: Mutex::new(ports), ..World::default() });
        let handler = Arc::new(Handler::new(world.clone(), setup));
        Self { world, handler }
    }

    /// Whatever the host has, nobody stands behind it.
    pub fn without_ports(self) -> Self {
        *self.world.ports.lock().unwrap() = Ports::default();
        self
    }

    pub async fn official() -> Self {
        let view = Self::new();
        view.greet(json!({})).await;
        view
    }

    pub async fn seed() -> Self {
        let view = Self::new();
        view.ask("ui/initialize", json!({ "protocolVersion": "2024-11-05" })).await;
        view.tell("ui/notifications/initialized", json!({})).await;
        view.world.said();
        view
    }

    /// Begins as an official guest does, and listens.
    pub async fn greet(&self, capabilities: Value) -> Value {
        let params = json!({
            "appInfo": { "name": "g", "version": "1" },
            "appCapabilities": capabilities,
            "protocolVersion": "2026-01-26",
        });
        let answer = self.ask("ui/initialize", params).await;
        let ready = json!({ "jsonrpc": "2.0", "method": "ui/notifications/initialized" });
        self.handler.handle(ready).await;
        answer
    }

    /// The result, or the error.
    pub async fn ask(&self, method: &str, params: Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let answer = self.handler.handle(request).await.unwrap();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)));
        answer.get("result").unwrap_or(&answer["error"]).clone()
    }

    pub async fn tell(&self, method: &str, params: Value) {
        let told = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        assert_eq!(self.handler.handle(told).await, None);
    }

    pub fn will(&self, outcome: Result<Value, Trouble>) {
        self.world.outcomes.lock().unwrap().push_back(outcome);
    }

    pub fn refuses(&self, trouble: Trouble) {
        self.world.wishes.lock().unwrap().push_back(trouble);
    }
}

pub fn setup() -> Setup {
    Setup {
        capabilities: all(),
        limits: Limits::default(),
        version: "1".into(),
        surroundings: surroundings(),
        memory: ModelContext::default(),
        kept: None,
    }
}

pub fn error(code: i64, message: &str) -> Value {
    json!({ "code": code, "message": message })
}

pub fn object(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { return Map::new() };
    map
}
