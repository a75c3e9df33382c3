//! The views that somebody shows, and the tools that these define: offered for as long as they are there.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures::future::{BoxFuture, FutureExt as _, ready};
use kernel::{
    host::Host,
    toolbox::{Call, Deed, Detail, Picture, Reply, Risk, Shelf, Tool, ToolSpec},
    update::{SessionId, Signal},
};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use widgets::{Handler, WidgetTool, offered_name};

#[derive(Default)]
pub struct Live {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    next: u64,
    /// By their numbers: the newest is last.
    views: BTreeMap<u64, Shown>,
}

/// A view, as far as others have to do with it.
struct Shown {
    host: Weak<Host>,
    session: SessionId,
    call: Option<String>,
    /// What it is a widget of, for a person.
    title: String,
    handler: Weak<Handler>,
    tools: Vec<WidgetTool>,
    /// Whether somebody shows it now.
    present: bool,
}

/// A tool of a view, as it is told of.
pub struct Told {
    pub tool: WidgetTool,
    /// What it is called here, if it can be called.
    pub offered: Option<String>,
}

impl Live {
    pub fn number(&self) -> u64 {
        let mut table = self.table();
        table.next += 1;
        table.next
    }

    pub fn enter(
        &self,
        number: u64,
        host: &Arc<Host>,
        (session, call): (SessionId, Option<String>),
        title: String,
        handler: &Arc<Handler>,
    ) {
        let (host, handler) = (Arc::downgrade(host), Arc::downgrade(handler));
        let tools = Vec::new();
        let shown = Shown { host, session, call, title, handler, tools, present: false };
        self.table().views.insert(number, shown);
    }

    /// The call that a view shows is known now.
    pub fn name(&self, number: u64, call: &str) {
        if let Some(shown) = self.table().views.get_mut(&number) {
            shown.call = Some(call.to_owned());
        }
    }

    pub fn set(&self, number: u64, tools: Vec<WidgetTool>) {
        self.change(number, |shown| {
            let other = shown.tools != tools;
            shown.tools = tools;
            other
        });
    }

    /// Somebody shows it now, or nobody does.
    pub fn present(&self, number: u64, present: bool) {
        self.change(number, |shown| {
            let other = shown.present != present && !shown.tools.is_empty();
            shown.present = present;
            other
        });
    }

    pub fn leave(&self, number: u64) {
        self.set(number, Vec::new());
        self.table().views.remove(&number);
    }

    /// What a view of this call defines, if somebody shows it.
    pub fn tools(&self, session: SessionId, call: &str) -> Option<Vec<Told>> {
        let table = self.table();
        let mut views = table.views.values().rev();
        let shown = views.find(|it| it.is_of(session) && it.call.as_deref() == Some(call))?;
        Some(shown.tools.iter().map(|tool| shown.told(tool)).collect())
    }

    fn change(&self, number: u64, change: impl FnOnce(&mut Shown) -> bool) {
        let told = {
            let mut table = self.table();
            let Some(shown) = table.views.get_mut(&number) else { return };
            let other = change(shown);
            other.then(|| (shown.host.upgrade(), shown.session, shown.call.clone()))
        };
        let Some((Some(host), session, call)) = told else { return };
        host.ports.tools.rearranged();
        if let (Some(call), Ok(runtime)) = (call, Handle::try_current()) {
            runtime.spawn(async move {
                // Only those present need to hear of it.
                if let Ok(session) = host.open(session).await {
                    session.tell(Signal::WidgetTools { call }).await.ok();
                }
            });
        }
    }

    /// The tools of views in a session, each name once: that of the view that was opened last.
    fn defined(&self, session: Option<SessionId>) -> Vec<(SessionId, Defined)> {
        let table = self.table();
        let mut defined: Vec<(SessionId, Defined)> = Vec::new();
        let views = table.views.values().rev();
        for shown in views.filter(|it| session.is_none_or(|of| it.session == of) && it.present) {
            for tool in shown.tools.iter().filter(|tool| tool.callable) {
                let Some(name) = shown.told(tool).offered else { continue };
                let known =
                    |(of, it): &(SessionId, Defined)| *of == shown.session && it.spec.name == name;
                if !defined.iter().any(known) {
                    defined.push((shown.session, Defined::new(name, shown, tool)));
                }
            }
        }
        defined
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    fn is_of(&self, session: SessionId) -> bool {
        self.session == session && self.present
    }

    fn told(&self, tool: &WidgetTool) -> Told {
        let call = self.call.as_deref().filter(|_| tool.callable);
        let offered = call.map(|call| offered_name(&short(call), &tool.name));
        Told { tool: tool.clone(), offered }
    }
}

/// A call in a few letters, the same whenever its view is shown.
fn short(call: &str) -> String {
    let sum = call
        .bytes()
        .fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{:05x}", sum & 0xf_ffff)
}

/// The shelf is the same thing, seen from the toolbox.
pub struct OnShelf(pub Arc<Live>);

impl Shelf for OnShelf {
    fn arrange(&self, session: SessionId, specs: &mut Vec<ToolSpec>) {
        let defined = self.0.defined(Some(session));
        if defined.is_empty() {
            return;
        }
        specs.extend(defined.into_iter().map(|(_, it)| it.spec));
        specs.sort_by(|one, other| one.name.cmp(&other.name));
    }

    fn find(&self, session: SessionId, name: &str) -> Option<Arc<dyn Tool>> {
        let defined = self.0.defined(Some(session));
        let found = defined.into_iter().find(|(_, it)| it.spec.name == name);
        found.map(|(_, it)| Arc::new(it) as Arc<dyn Tool>)
    }

    fn lent(&self) -> Vec<(SessionId, ToolSpec)> {
        let defined = self.0.defined(None).into_iter();
        defined.map(|(session, it)| (session, it.spec)).collect()
    }
}

/// A tool that a view defines, as the toolbox knows it.
struct Defined {
    spec: ToolSpec,
    tool: WidgetTool,
    title: String,
    handler: Weak<Handler>,
}

impl Defined {
    fn new(name: String, shown: &Shown, tool: &WidgetTool) -> Self {
        let place = format!("A tool of the widget {}, which the person sees.", shown.title);
        let description = match tool.description.as_str() {
            "" => place,
            text => format!("{text}\n\n{place}"),
        };
        let spec = ToolSpec { name, description, schema: tool.input_schema.clone() };
        let (title, handler) = (shown.title.clone(), shown.handler.clone());
        Self { spec, tool: tool.clone(), title, handler }
    }

    fn arguments(&self, args: &Value) -> Result<Map<String, Value>, String> {
        let args = match args {
            Value::Null => Map::new(),
            Value::Object(args) => args.clone(),
            _ => return Err("the arguments must be an object".into()),
        };
        self.tool.takes(&args).map_err(|error| error.to_string())?;
        Ok(args)
    }
}

impl Tool for Defined {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn title(&self, _: &Value) -> String {
        format!("{} of {}", self.tool.name, self.title)
    }

    fn parallel(&self) -> bool {
        false
    }

    /// It changes what the person sees. Whatever the view does then is asked about by itself.
    fn risk(&self) -> Option<Risk> {
        Some(Risk::Shows)
    }

    fn foresee<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Deed, String>> {
        let detail = Detail::Arguments { args: call.args.clone() };
        let deed = self.arguments(&call.args);
        let risk = Risk::Shows;
        ready(deed.map(|_| Deed { risk, detail, subjects: Vec::new(), within: None })).boxed()
    }

    fn run(&self, call: Call) -> BoxFuture<'_, Result<Reply, String>> {
        async move {
            let args = self.arguments(&call.args)?;
            let handler = self.handler.upgrade().ok_or("view closed")?;
            let result = handler.call(&self.tool.name, args).await;
            read(&result.map_err(|error| error.to_string())?)
        }
        .boxed()
    }
}

/// What a model is told of a result: its content, and not what is meant for programs.
fn read(result: &Value) -> Result<Reply, String> {
    let (mut texts, mut pictures) = (Vec::new(), Vec::new());
    for block in result.get("content").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "text" => texts.push(text("text").to_owned()),
            "image" => match BASE64_STANDARD.decode(text("data")) {
                Ok(bytes) => pictures.push(Picture { mime: text("mimeType").to_owned(), bytes }),
                Err(_) => texts.push("[a picture that cannot be read]".to_owned()),
            },
            other => texts.push(format!("[{other}, which is not shown]")),
        }
    }
    let text = texts.join("\n");
    if result.get("isError") == Some(&Value::Bool(true)) {
        return Err(if text.is_empty() { "the view says that it failed".into() } else { text });
    }
    Ok(Reply { text, pictures, ..Reply::default() })
}
