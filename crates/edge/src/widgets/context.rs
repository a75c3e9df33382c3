//! The house as one view sees it: its own server, the person it may ask, and the page around it.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use kernel::{
    host::Host,
    inbox::CallError,
    servers::{AskError, Servers},
    toolbox::{Caller, Companion, Risk, ToolError},
    update::SessionId,
    views::fact::{Answered, Ending, WidgetFact},
};
use serde_json::{Map, Value, json};
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};
use uuid::Uuid;
use widgets::{
    Context, DisplayMode, Link, LogEntry, ModelContext, Ports, Record, Said, Size, ToolCall,
    Trouble, WidgetTool,
};

use crate::frames::tenant::Speaker;

use super::{
    keepsake::Keepsake,
    live::Live,
    mind::Mind,
    scribe::Scribe,
    stage::{Progress, Stage},
    wishes::Wishes,
};

/// How long a page may take to do what it is asked.
const PAGE: Duration = Duration::from_secs(10);
/// So old a touch may be; each counts once.
const GESTURE: Duration = Duration::from_mins(1);
/// And by so much it may be told of after what came of it: a browser keeps no order among the two.
const LATE: Duration = Duration::from_millis(800);
/// More than this of what was asked for is not kept.
const PARAMS: usize = 8 << 10;
const LINE_CHARS: usize = 2000;
/// A view that says more is not written down any further.
const LINES: usize = 500;

pub struct House {
    pub host: Arc<Host>,
    pub servers: Arc<dyn Servers>,
    pub session: SessionId,
    /// By which the view is known to whoever gives it leave.
    pub id: Uuid,
    pub server: String,
    /// As its server calls it.
    pub tool: String,
    /// By which the view is known among those that are shown.
    pub number: u64,
    pub live: Arc<Live>,
    pub scribe: Scribe,
    /// Held while something is told: the next waits its turn.
    pub mind: tokio::sync::Mutex<Mind>,
    pub keepsake: Keepsake,
    pub progress: Progress,
    /// What of the widget's wishes was not heeded, although it works.
    pub warnings: String,
    pub wishes: Wishes,
    pub begun: Instant,
    pub lines: AtomicUsize,
    /// When the person last touched the view, until that was used.
    pub touched: watch::Sender<Option<Instant>>,
}

impl House {
    pub fn caller(&self) -> Caller {
        Caller::Widget { server: self.server.clone(), view: Some(self.id) }
    }

    /// What a tool of the view's own server is called here.
    fn offered(&self, name: &str) -> Result<String, Trouble> {
        let mut elsewhere = false;
        let mut here = false;
        for server in self.servers.list() {
            here |= server.name == self.server;
            let tool = server.tools.into_iter().find(|tool| tool.name == name);
            match tool {
                Some(tool) if server.name == self.server => {
                    return tool.offered.ok_or(Trouble::NotAvailable);
                }
                Some(_) => elsewhere = true,
                None => (),
            }
        }
        Err(match (here, elsewhere) {
            (false, _) => Trouble::Failed(format!("the server {} is gone", self.server)),
            (true, true) => Trouble::NotAvailable,
            (true, false) => Trouble::NotFound,
        })
    }

    async fn call(&self, call: ToolCall) -> Result<Value, Trouble> {
        let name = self.offered(&call.name)?;
        let args = Value::Object(call.arguments);
        let steps = call.progress.map(|token| self.steps(token));
        let calling = self.host.call_along(self.session, self.caller(), &name, args, steps);
        let reply = within(call.patience, calling).await?;
        reply.map(|reply| reply.data.unwrap_or_default()).map_err(trouble)
    }

    /// Tells the view how far a call of its own has come.
    fn steps(&self, token: Value) -> Arc<dyn Companion> {
        let speaker = self.wishes.speaker().filter(|_| self.progress.is_ready());
        Arc::new(Steps { speaker, token })
    }

    /// Whether a call is known to change nothing.
    fn only_reads(&self, params: &Map<String, Value>) -> bool {
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let name = self.offered(name).ok();
        name.and_then(|name| self.host.ports.tools.risk(&name)) == Some(Risk::Reads)
    }

    /// Has the page do something, which it was given leave for.
    pub async fn have_page(&self, wish: Value) -> Result<Map<String, Value>, Trouble> {
        self.wishes.ask(wish, PAGE).await.map_err(Trouble::Failed)
    }

    /// Whether the person may be asked to let the view do something in their name.
    pub async fn may_ask(&self) -> Result<(), Trouble> {
        let mut servers = self.servers.list().into_iter();
        if !servers.any(|server| server.name == self.server && server.gesture) {
            return Ok(());
        }
        let fresh = |it: &Option<Instant>| it.is_some_and(|touched| touched.elapsed() <= GESTURE);
        let mut touches = self.touched.subscribe();
        let touched = timeout(LATE, touches.wait_for(fresh)).await.is_ok();
        self.touched.send_replace(None);
        if touched {
            return Ok(());
        }
        let why = "widgets of this server do this only right after they were touched";
        Err(Trouble::Denied(why.into()))
    }

    /// Waits no longer for a person than the view does.
    pub async fn patiently<T>(
        &self,
        patience: Option<Duration>,
        asking: impl Future<Output = T>,
    ) -> Result<T, Trouble> {
        within(patience, asking).await
    }
}

/// Goes along with a call, and tells of it by the name that the view gave it.
struct Steps {
    speaker: Option<Speaker>,
    token: Value,
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps").field("token", &self.token).finish_non_exhaustive()
    }
}

impl Companion for Steps {
    fn begun(&self) {}

    fn printed(&self, _: &str) {}

    fn progressed(&self, message: &str, done: f64, total: Option<f64>) {
        let Some(speaker) = &self.speaker else { return };
        let mut params = json!({ "progressToken": self.token, "progress": done });
        if let Some(total) = total {
            params["total"] = total.into();
        }
        if !message.is_empty() {
            params["message"] = message.into();
        }
        let method = "notifications/progress";
        speaker.tell(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn stopped(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

async fn within<T>(
    patience: Option<Duration>,
    asking: impl Future<Output = T>,
) -> Result<T, Trouble> {
    match patience {
        None => Ok(asking.await),
        Some(patience) => timeout(patience, asking)
            .await
            .map_err(|_| Trouble::Cancelled("nobody agreed in time, so it was not done".into())),
    }
}

pub fn trouble(error: CallError) -> Trouble {
    match error {
        CallError::Tool(ToolError::Unknown(_)) => Trouble::NotFound,
        CallError::Tool(ToolError::Refused(_)) => Trouble::NotAvailable,
        CallError::Tool(ToolError::Denied(why)) => Trouble::Denied(why),
        CallError::Tool(ToolError::Failed(why)) => Trouble::Failed(why),
        CallError::Open(error) => Trouble::Other(error.to_string()),
    }
}

impl Context for House {
    fn ports(&self) -> Ports {
        Ports {
            model_context: true,
            open_link: true,
            display_mode: true,
            close: true,
            widget_tools: true,
        }
    }

    fn post(&self, message: Value) {
        if let Some(speaker) = self.wishes.speaker() {
            speaker.tell(&message);
        }
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn announce<'a>(
        &'a self,
        ask: u64,
        method: &'a str,
        params: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<bool, Trouble>> {
        Box::pin(async move {
            let calls = matches!(method, "tools/call" | "ui/callServerTool");
            if calls && self.only_reads(params) {
                return Ok(false);
            }
            let (method, params) = (method.to_owned(), kept(Value::Object(params.clone())));
            let fact = WidgetFact::Asked { call: String::new(), ask, method, params };
            self.scribe.note(fact).await.map(|()| true).map_err(Trouble::Other)
        })
    }

    fn call_tool(&self, call: ToolCall) -> BoxFuture<'_, Result<Value, Trouble>> {
        Box::pin(self.call(call))
    }

    fn remember(&self, context: ModelContext) -> BoxFuture<'_, Result<(), Trouble>> {
        Box::pin(self.keep_in_mind(context))
    }

    fn open_link(&self, link: Link) -> BoxFuture<'_, Result<(), Trouble>> {
        Box::pin(self.open(link))
    }

    fn show(&self, mode: DisplayMode) -> BoxFuture<'_, Result<DisplayMode, Trouble>> {
        Box::pin(async move {
            let wish = json!({ "kind": "display-mode", "mode": mode.name() });
            let done = self.have_page(wish).await?;
            let shown = done.get("mode").and_then(Value::as_str).and_then(DisplayMode::parse);
            shown.ok_or_else(|| Trouble::Failed("the page does not say how it is shown".into()))
        })
    }

    fn close(&self, reason: Option<String>) -> BoxFuture<'_, Result<(), Trouble>> {
        // The page lets the frame end, and then the view is told to put its things in order.
        let shown = self.wishes.tell(&json!({ "kind": "close", "reason": reason }));
        let nobody = || Trouble::Failed("nobody shows the view".into());
        Box::pin(std::future::ready(shown.then_some(()).ok_or_else(nobody)))
    }

    fn say(&self, said: Said) -> BoxFuture<'_, Result<(), Trouble>> {
        Box::pin(self.speak(said))
    }

    fn download(&self, contents: Vec<Value>) -> BoxFuture<'_, Result<(), Trouble>> {
        Box::pin(self.hand_out(contents))
    }

    fn resources(
        &self,
        method: &'static str,
        params: Map<String, Value>,
    ) -> BoxFuture<'_, Result<Value, Trouble>> {
        Box::pin(async move {
            let asked = self.servers.resources(self.server.clone(), method, params).await;
            asked.map_err(|error| match error {
                AskError::Unreachable(why) => Trouble::Failed(why),
                AskError::Refused { code, message, data } => {
                    Trouble::Server { code, message, data }
                }
            })
        })
    }

    fn keep(&self, state: Value) {
        self.keepsake.keep(state);
    }

    fn log(&self, LogEntry { level, logger, message, data }: LogEntry) {
        if self.lines.fetch_add(1, Ordering::Relaxed) >= LINES {
            return;
        }
        let data = data.map(|data| data.as_str().map_or_else(|| data.to_string(), str::to_owned));
        let parts: Vec<String> = logger.into_iter().chain(message).chain(data).collect();
        let text = parts.join(": ").chars().take(LINE_CHARS).collect();
        let (call, level) = (String::new(), format!("{level:?}").to_lowercase());
        self.scribe.note_later(WidgetFact::Logged { call, level, text });
    }

    fn resize(&self, Size { width, height, aspect }: Size) {
        let sides = [("width", width), ("height", height), ("aspectRatio", aspect)];
        let mut wish = Map::from_iter([("kind".to_owned(), Value::from("size"))]);
        wish.extend(sides.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?.into()))));
        self.wishes.tell(&Value::Object(wish));
    }

    fn tools_changed(&self, tools: Vec<WidgetTool>) {
        self.live.set(self.number, tools);
    }

    fn ready(&self) {
        self.progress.reach(Stage::Ready);
        self.progress.judge(&self.scribe, "ok", &self.warnings);
    }

    fn record(&self, record: Record) {
        let (ask, method, params, outcome, code, took) = match record {
            Record::Answered { method, fault, .. } if method == "ui/initialize" => {
                match fault {
                    None => self.progress.reach(Stage::Greeted),
                    Some(code) => {
                        let why = format!("its ui/initialize was answered with error {code}");
                        self.progress.judge(&self.scribe, "init-rejected", &why);
                    }
                }
                return;
            }
            Record::Answered { method, .. } if is_small_talk(&method) => return,
            Record::Answered { ask, method, params, fault, failed, took } => {
                let failed = failed || fault.is_some();
                let outcome = if failed { Ending::Failed } else { Ending::Done };
                let params = if ask.is_some() { Value::Null } else { kept(params) };
                (ask, method, params, outcome, fault, took)
            }
            Record::TakenBack { ask, method, took } => {
                (ask, method, Value::Null, Ending::TakenBack, None, took)
            }
            Record::Dropped { why } => {
                tracing::debug!(server = self.server, why, "a widget was not heeded");
                return;
            }
        };
        let elapsed_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let call = String::new();
        let fact = Answered { call, ask, method, params, outcome, code, elapsed_ms };
        self.scribe.note_later(WidgetFact::Answered(fact));
    }
}

/// What changes nothing, or is on record in another way.
fn is_small_talk(method: &str) -> bool {
    let known = ["ping", "ui/log", "ui/setSize", "ui/update-model-context"];
    known.contains(&method) || method == "ui/updateModelContext"
}

/// What was asked for, unless it is too much to keep.
fn kept(params: Value) -> Value {
    let bytes = params.to_string().len();
    if bytes <= PARAMS { params } else { json!({ "bytes": bytes, "note": "too large to keep" }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_nobody_agrees_to_while_the_view_waits_is_given_up_and_not_done() {
        let (seconds, began) = (Duration::from_secs(9), Instant::now());
        let answered = within(Some(seconds), std::future::pending::<()>()).await;
        let why = "nobody agreed in time, so it was not done";
        assert_eq!(answered, Err(Trouble::Cancelled(why.into())));
        assert_eq!(began.elapsed(), seconds);
        assert_eq!(within(None, std::future::ready(1)).await, Ok(1));
    }
}
