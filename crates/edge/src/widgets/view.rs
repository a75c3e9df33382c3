//! One view in one frame, alive for as long as that is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicUsize};

use futures::future::BoxFuture;
use kernel::{
    toolbox::Caller,
    update::{Seq, SessionId},
    views::fact::Remembered,
    widget::{Feature, Wants},
};
use serde_json::{Map, Value, json};
use tokio::{sync::watch, task::AbortHandle, time::Instant};
use widgets::{Capabilities, DisplayMode, Handler, ModelContext, Setup};

use super::{
    Around, Subject,
    context::House,
    follow::{Awaited, Follower, finish, give},
    keepsake::Keepsake,
    lender,
    mind::Mind,
    page::Found,
    scribe::Scribe,
    site::WidgetSite,
    stage::Progress,
    wishes::Wishes,
};
use crate::{
    App,
    error::ApiError,
    frames::tenant::{Offer, Speaker, Tenant},
    sandbox::site::Site,
};

/// As tall as a widget may be within a conversation, where the page does not say.
const TALLEST: u32 = 800;
/// What a page may say of what is around a view.
const AROUND: [&str; 11] = [
    "theme",
    "styles",
    "displayMode",
    "availableDisplayModes",
    "containerDimensions",
    "locale",
    "timeZone",
    "platform",
    "deviceCapabilities",
    "safeAreaInsets",
    "userAgent",
];
/// What a page or its probe may find wrong with a view.
const VERDICTS: [&str; 4] = ["csp-blocked", "script-error", "crashed", "denied"];

pub struct View {
    offer: Offer,
    site: Arc<dyn Site>,
    house: Arc<House>,
    handler: Arc<Handler>,
    /// Look after what takes time; end with the frame.
    errands: Mutex<Vec<AbortHandle>>,
    /// Whether somebody has shown it.
    begun: Mutex<bool>,
}

impl View {
    pub(super) fn new(
        app: &Arc<App>,
        session: SessionId,
        subject: Subject,
        (found, kept): (Found, Option<Value>),
        around: &Around,
    ) -> Result<Self, ApiError> {
        let Found { server, tool, page } = found;
        let title = format!("{tool} ({server})");
        let surroundings = surroundings(app, &subject, &tool, around)?;
        let features = granted(app, session, &server, &page.wants.features);
        let (call, progress, memory) = match &subject {
            Subject::Call(view) => {
                let memory = view.memory.clone().map(|(_, memory)| memory);
                let progress = Progress::new(view.verdict.clone(), view.noticed.clone());
                (Some(view.request.id.clone()), progress, memory)
            }
            Subject::Written { .. } => (None, Progress::new(None, Vec::new()), None),
        };
        let host = &app.host;
        let id = host.ports.clock.id();
        host.approvals.admit(id);
        let scribe = Scribe::new(host.clone(), session, call.clone());
        let house = Arc::new(House {
            host: host.clone(),
            servers: app.servers.clone(),
            session,
            id,
            server,
            tool,
            number: app.widgets.number(),
            live: app.widgets.clone(),
            keepsake: Keepsake::new(host.ports.catalog.clone(), session, scribe.named()),
            scribe,
            mind: tokio::sync::Mutex::new(Mind::new(memory.clone())),
            progress,
            warnings: warnings(&page.wants),
            wishes: Wishes::default(),
            begun: Instant::now(),
            lines: AtomicUsize::new(0),
            touched: watch::Sender::new(None),
        });
        let permissions: Map<String, Value> =
            features.iter().map(|it| (spelt(*it).0.to_owned(), json!({}))).collect();
        let setup = Setup {
            capabilities: Capabilities {
                server_tools: true,
                server_resources: true,
                open_link: true,
                download: true,
                model_context: true,
                context_images: sees(app, session),
                message: true,
                widget_tools: true,
                logging: true,
                sampling: false,
                display_modes: Some(modes(&surroundings)),
                sandbox: Some(json!({ "permissions": permissions, "csp": declared(&page) })),
            },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            surroundings,
            memory: memory.map(recalled).unwrap_or_default(),
            kept,
            ..Setup::default()
        };
        let handler = Arc::new(Handler::new(house.clone(), setup));
        house.live.enter(house.number, host, (session, call), title.clone(), &handler);
        let allow = features.iter().map(|it| spelt(*it).1).collect();
        let view = Self {
            offer: Offer {
                kind: super::KIND,
                id: subject.tool().to_owned(),
                title: title.clone(),
                description: String::new(),
            },
            site: Arc::new(WidgetSite::new(&title, page, allow)),
            house,
            handler,
            errands: Mutex::default(),
            begun: Mutex::new(false),
        };
        view.tell(subject);
        Ok(view)
    }

    /// What is known of the call; the rest is followed.
    fn tell(&self, subject: Subject) {
        let (awaited, after) = match subject {
            Subject::Call(view) => {
                give(&self.handler, &view.request);
                if let Some(output) = &view.output {
                    return finish(&self.handler, output);
                }
                (Awaited::Result(view.request.id), view.asked)
            }
            Subject::Written { place: (step, index), .. } => (Awaited::Call(step, index), step),
        };
        self.follow(awaited, after);
    }

    fn follow(&self, awaited: Awaited, after: Seq) {
        let (house, handler) = (self.house.clone(), self.handler.clone());
        let (host, session) = (house.host.clone(), house.session);
        let follower = Follower { house, handler, awaited };
        self.spawn(follower.follow(host, session, after));
    }

    /// Once: somebody shows it.
    fn begin(&self) {
        if std::mem::replace(&mut *lock(&self.begun), true) {
            return;
        }
        let handler = self.handler.clone();
        self.spawn(async move { handler.attend().await });
        let house = self.house.clone();
        self.spawn(async move {
            if let Some((name, why)) = house.progress.stuck().await {
                house.progress.give_up(&house.scribe, name, &why);
            }
        });
        let (house, handler) = (self.house.clone(), self.handler.clone());
        self.spawn(async move { watch_tools(&house, &handler).await });
    }

    fn spawn(&self, errand: impl Future<Output = ()> + Send + 'static) {
        lock(&self.errands).push(tokio::spawn(errand).abort_handle());
    }

    /// The page, or what it has put into the frame to look after it, found something wrong.
    fn judged(&self, note: &Map<String, Value>) -> Result<(), String> {
        let text = |name: &str| note.get(name).and_then(Value::as_str).unwrap_or_default();
        let (name, detail) = (text("verdict"), text("detail"));
        if !VERDICTS.contains(&name) {
            return Err(format!("verdict must be one of: {}", VERDICTS.join(", ")));
        }
        let house = &self.house;
        if !house.progress.is_ready() || name == "crashed" {
            house.progress.judge(&house.scribe, name, detail);
            return Ok(());
        }
        // It works all the same; the model, or at least whoever looks after it, may want to know.
        let of = (house.server.as_str(), house.tool.as_str());
        if let Some(noticed) = house.progress.notice(of, name, detail) {
            house.scribe.note_later(noticed);
        } else {
            let line = widgets::LogEntry {
                level: widgets::LogLevel::Warning,
                logger: None,
                message: Some(name.to_owned()),
                data: Some(detail.into()),
            };
            widgets::Context::log(house.as_ref(), line);
        }
        Ok(())
    }
}

/// Tells the view when its server has other tools than before.
async fn watch_tools(house: &House, handler: &Handler) {
    let names = || -> Vec<String> {
        let own = house.servers.list().into_iter().find(|server| server.name == house.server);
        own.into_iter().flat_map(|it| it.tools).map(|tool| tool.name).collect()
    };
    let mut editions = house.host.ports.tools.editions();
    let mut known = names();
    while editions.changed().await.is_ok() {
        let now = names();
        if now != known {
            handler.tools_changed();
            known = now;
        }
    }
}

/// Whether pictures reach whoever answers in a session. What is not known is tried, as it is with
/// the person's own.
fn sees(app: &App, session: SessionId) -> bool {
    let ports = &app.host.ports;
    let model = app.host.roster.get(session).and_then(|state| ports.models.find(&state.model));
    model.is_some_and(|model| model.sees() != Some(false))
}

fn recalled(Remembered { version, content, structured, .. }: Remembered) -> ModelContext {
    ModelContext { version, content, structured }
}

/// What of its wishes a widget is granted, in the words of the specification.
fn declared(page: &kernel::widget::WidgetPage) -> Value {
    let Some(domains) = &page.wants.domains else { return json!({}) };
    let hosts = |named: &[String]| -> Value {
        named.iter().filter(|it| widgets::is_source(it)).map(String::as_str).collect()
    };
    json!({
        "connectDomains": hosts(&domains.connect),
        "resourceDomains": hosts(&domains.resource),
        "frameDomains": hosts(&domains.frame),
        "baseUriDomains": hosts(&domains.base_uri),
    })
}

/// What is not heeded of what a widget wants.
fn warnings(wants: &Wants) -> String {
    let domains = wants.domains.clone().unwrap_or_default();
    let all = [domains.connect, domains.resource, domains.frame, domains.base_uri].concat();
    let dropped = all.into_iter().filter(|it| !widgets::is_source(it));
    let dropped = dropped.map(|it| format!("`{it}` is no host, and was left out of its policy"));
    let origin = wants.domain.as_ref();
    let origin = origin.map(|it| format!("the origin `{it}` is not given: widgets have none here"));
    dropped.chain(origin).collect::<Vec<_>>().join("; ")
}

/// What the person has allowed of what is wanted.
pub fn granted(app: &App, session: SessionId, server: &str, wanted: &[Feature]) -> Vec<Feature> {
    let grants = app.host.approvals.all();
    let caller = Caller::widget(server);
    let is_granted = |feature: &&Feature| {
        let name = leave_for(**feature);
        let mut grants = grants.iter().filter(|it| it.tool == name && it.caller == caller);
        grants.any(|it| it.session.is_none_or(|only| only == session))
    };
    wanted.iter().filter(is_granted).copied().collect()
}

/// What a grant for a feature is about, in the place of a tool.
pub fn leave_for(feature: Feature) -> String {
    format!("widget:{}", spelt(feature).0)
}

/// A feature in the words of the specification, and in those of browsers. A frame without an origin
/// is meant by nothing but `*`.
pub fn spelt(feature: Feature) -> (&'static str, &'static str) {
    match feature {
        Feature::Camera => ("camera", "camera *"),
        Feature::Microphone => ("microphone", "microphone *"),
        Feature::Geolocation => ("geolocation", "geolocation *"),
        Feature::ClipboardWrite => ("clipboardWrite", "clipboard-write *"),
    }
}

/// How the page can show it.
fn modes(surroundings: &Map<String, Value>) -> Vec<DisplayMode> {
    let named = surroundings.get("availableDisplayModes").and_then(Value::as_array);
    let named = named.into_iter().flatten();
    named.filter_map(|mode| mode.as_str().and_then(DisplayMode::parse)).collect()
}

fn surroundings(
    app: &App,
    subject: &Subject,
    name: &str,
    around: &Around,
) -> Result<Map<String, Value>, ApiError> {
    let specs = app.host.ports.tools.specs(&Caller::Owner);
    let spec = specs.into_iter().find(|spec| spec.name == subject.tool());
    let schema = spec.map_or_else(|| json!({ "type": "object" }), |spec| spec.schema);
    let described = lender(app, subject.tool()).map(|(_, tool)| tool.description);
    let mut tool = json!({ "name": name, "inputSchema": schema });
    if let Some(description) = described {
        tool["description"] = description.into();
    }
    let mut told = Map::new();
    told.insert("toolInfo".into(), json!({ "tool": tool }));
    told.insert("displayMode".into(), "inline".into());
    told.insert("availableDisplayModes".into(), json!(["inline"]));
    told.insert("containerDimensions".into(), json!({ "maxHeight": TALLEST }));
    told.insert("userAgent".into(), concat!("megaron/", env!("CARGO_PKG_VERSION")).into());
    told.insert("platform".into(), "web".into());
    for name in ["theme", "locale", "timeZone"] {
        told.extend(around.get(name).map(|value| (name.to_owned(), Value::from(value.as_str()))));
    }
    if let Some(text) = around.get("context") {
        let context: Map<String, Value> = serde_json::from_str(text)
            .map_err(|error| ApiError::bad_request(format!("params.context: {error}")))?;
        told.extend(known(context));
    }
    Ok(told)
}

/// What a page may say of what is around a view.
fn known(context: Map<String, Value>) -> impl Iterator<Item = (String, Value)> {
    context.into_iter().filter(|(name, _)| AROUND.contains(&name.as_str()))
}

impl Drop for View {
    fn drop(&mut self) {
        for errand in lock(&self.errands).drain(..) {
            errand.abort();
        }
        self.handler.close();
        self.house.live.leave(self.house.number);
        self.house.host.approvals.dismiss(self.house.id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tenant for View {
    fn offer(&self) -> &Offer {
        &self.offer
    }

    fn site(&self) -> Arc<dyn Site> {
        self.site.clone()
    }

    fn told(&self) -> Map<String, Value> {
        Map::from_iter([("widget".to_owned(), Value::Bool(true))])
    }

    fn shown<'a>(&'a self, frame: &'a Speaker) -> BoxFuture<'a, Result<(), String>> {
        self.house.wishes.speak_by(frame);
        self.house.live.present(self.house.number, true);
        self.begin();
        Box::pin(std::future::ready(Ok(())))
    }

    fn left(&self) {
        self.house.live.present(self.house.number, false);
    }

    fn noted<'a>(&'a self, _: &'a Speaker, note: Value) -> BoxFuture<'a, Result<(), String>> {
        let noted = match note {
            Value::Object(note) if note.contains_key("done") => self.house.wishes.done(note),
            Value::Object(note) if note.contains_key("gesture") => {
                self.house.touched.send_replace(Some(Instant::now()));
                Ok(())
            }
            Value::Object(note) if note.contains_key("verdict") => self.judged(&note),
            Value::Object(mut note) => match note.remove("context") {
                Some(Value::Object(context)) => {
                    self.handler.change(known(context).collect());
                    Ok(())
                }
                _ => Err("a note has done, gesture, verdict or context".to_owned()),
            },
            _ => Err("a note must be an object".to_owned()),
        };
        Box::pin(std::future::ready(noted))
    }

    fn part(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.handler.part().await;
            self.house.keepsake.settle().await;
        })
    }

    fn heard<'a>(
        &'a self,
        frame: &'a Speaker,
        message: Value,
    ) -> BoxFuture<'a, Result<(), String>> {
        let (handler, frame) = (self.handler.clone(), frame.clone());
        let mut answering = Box::pin(async move {
            if let Some(answer) = handler.handle(message).await {
                frame.tell(&answer);
            }
        });
        Box::pin(async move {
            // Begun here, so that messages are heeded in order; what takes time keeps nobody waiting.
            if futures::poll!(&mut answering).is_pending() {
                tokio::spawn(answering);
            }
            Ok(())
        })
    }
}
