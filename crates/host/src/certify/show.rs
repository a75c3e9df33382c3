//! Shows one widget in a browser, as the host of it, and notes what it does.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use kernel::widget::WidgetPage;
use serde_json::{Map, Value, json};
use tokio::{
    sync::mpsc,
    time::{Instant, timeout_at},
};
use widgets::{
    Capabilities, Context, Declared, DisplayMode, Handler, Policy, Ports, Setup, ToolCall, Trouble,
    certify::Watched,
};

use super::browser::{Browser, ORIGIN};
use crate::wire::{Survey, SurveyedTool};

const GREETING: Duration = Duration::from_secs(15);
/// After so much silence a view has said what it had to say; and so long it is listened to at most.
const SILENCE: Duration = Duration::from_secs(1);
const LISTENING: Duration = Duration::from_secs(5);
const PARTING: Duration = Duration::from_secs(3);
const TEARDOWN: &str = "ui/resource-teardown";
const HOST: &str = include_str!("host.html");
const PROBE: &str = include_str!("probe.js");
/// What a person uses, and what stands for something.
const SPOKEN: [&str; 13] = [
    "button",
    "link",
    "textbox",
    "searchbox",
    "combobox",
    "listbox",
    "checkbox",
    "radio",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "image",
];

pub async fn watch(
    browser: &mut Browser,
    survey: &Arc<Survey>,
    tool: &SurveyedTool,
    page: &WidgetPage,
    arguments: &Map<String, Value>,
) -> anyhow::Result<Watched> {
    let (posts, posted) = mpsc::unbounded_channel();
    let stage =
        Arc::new(Stage { survey: survey.clone(), posts: posts.clone(), begun: Instant::now() });
    let handler = Arc::new(Handler::new(stage, setup(tool)));
    let attending = tokio::spawn({
        let handler = handler.clone();
        async move { handler.attend().await }
    });
    let policy = policy(page);
    let mut show = Show {
        browser,
        handler: handler.clone(),
        posts,
        posted,
        html: &page.html,
        policy,
        watched: Watched::default(),
        teardown: None,
        last: Instant::now(),
    };
    let shown = show.run(survey, tool, arguments).await;
    attending.abort();
    handler.close();
    shown?;
    let mut watched = show.watched;
    for all in [&mut watched.blocked, &mut watched.broke, &mut watched.unnamed] {
        *all = all.drain(..).collect::<BTreeSet<_>>().into_iter().collect();
    }
    Ok(watched)
}

fn setup(tool: &SurveyedTool) -> Setup {
    let told = json!({
        "theme": "light",
        "locale": "en",
        "timeZone": "UTC",
        "displayMode": "inline",
        "availableDisplayModes": ["inline"],
        "containerDimensions": { "width": 900, "maxHeight": 4000 },
        "userAgent": concat!("megaron/", env!("CARGO_PKG_VERSION")),
        "platform": "web",
        "toolInfo": { "tool": { "name": tool.name, "inputSchema": tool.schema } },
    });
    Setup {
        capabilities: Capabilities {
            server_tools: true,
            logging: true,
            display_modes: Some(vec![DisplayMode::Inline]),
            ..Capabilities::default()
        },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        surroundings: told.as_object().cloned().unwrap_or_default(),
        ..Setup::default()
    }
}

fn policy(page: &WidgetPage) -> String {
    let declared = page.wants.domains.as_ref().map(|domains| Declared {
        connect: &domains.connect,
        resource: &domains.resource,
        frame: &domains.frame,
        base_uri: &domains.base_uri,
    });
    let Policy { header, .. } = widgets::policy("certify.localhost/view", declared, ORIGIN);
    header
}

struct Show<'a> {
    browser: &'a mut Browser,
    handler: Arc<Handler>,
    posts: mpsc::UnboundedSender<Value>,
    posted: mpsc::UnboundedReceiver<Value>,
    html: &'a str,
    policy: String,
    watched: Watched,
    /// By which number the view was asked to be taken down.
    teardown: Option<Value>,
    last: Instant,
}

impl Show<'_> {
    async fn run(
        &mut self,
        survey: &Arc<Survey>,
        tool: &SurveyedTool,
        arguments: &Map<String, Value>,
    ) -> anyhow::Result<()> {
        self.browser.open(PROBE).await?;
        self.handler.give(arguments.clone());
        match survey.call(&tool.name, arguments.clone()).await {
            Ok(result) => self.handler.finish(result),
            Err(why) => self.handler.finish(json!({
                "content": [{ "type": "text", "text": why }], "isError": true,
            })),
        }
        let greeted = Instant::now() + GREETING;
        while !self.handler.is_ready() && self.step(greeted).await? {}
        let listened = Instant::now() + LISTENING;
        self.last = Instant::now();
        while self.step((self.last + SILENCE).min(listened)).await? {}
        self.listen_in().await?;
        if self.handler.is_ready() {
            self.part().await?;
        }
        Ok(())
    }

    async fn part(&mut self) -> anyhow::Result<()> {
        self.watched.parted = Some(false);
        let handler = self.handler.clone();
        let parting = tokio::spawn(async move { handler.part().await });
        let parted = Instant::now() + PARTING;
        while self.watched.parted == Some(false) && self.step(parted).await? {}
        parting.abort();
        Ok(())
    }

    /// One thing after another, until then. Says whether something happened.
    async fn step(&mut self, until: Instant) -> anyhow::Result<bool> {
        let happened = async {
            tokio::select! {
                Some(message) = self.posted.recv() => Happened::Posted(message),
                event = self.browser.event() => Happened::Event(event),
            }
        };
        match timeout_at(until, happened).await {
            Err(_) => Ok(false),
            Ok(Happened::Posted(message)) => {
                if message["method"] == TEARDOWN {
                    self.teardown = Some(message["id"].clone());
                }
                let expression = format!("say({message})");
                let wish = json!({ "expression": expression, "returnByValue": true });
                self.browser.tell("Runtime.evaluate", wish).await?;
                Ok(true)
            }
            Ok(Happened::Event(event)) => self.heed(&event?).await.map(|()| true),
        }
    }

    async fn heed(&mut self, event: &Value) -> anyhow::Result<()> {
        let params = &event["params"];
        match event["method"].as_str() {
            Some("Fetch.requestPaused") => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                let page = match url.strip_prefix(ORIGIN) {
                    Some("/") => Some((HOST, "")),
                    Some("/view") => Some((self.html, self.policy.as_str())),
                    _ => None,
                };
                self.browser.serve(params, page).await?;
            }
            Some("Runtime.bindingCalled") => {
                let payload = params["payload"].as_str().unwrap_or_default();
                self.told(serde_json::from_str(payload).unwrap_or_default()).await;
            }
            _ => (),
        }
        Ok(())
    }

    async fn told(&mut self, mut told: Value) {
        let text = told["text"].as_str().unwrap_or_default().to_owned();
        match told["kind"].as_str() {
            Some("message") => self.hear(told["value"].take()).await,
            Some("blocked") => self.watched.blocked.push(text),
            Some("broke") => self.watched.broke.push(text),
            Some("unnamed") => self.watched.unnamed.push(text),
            _ => (),
        }
    }

    async fn hear(&mut self, message: Value) {
        self.last = Instant::now();
        let answers = message.get("method").is_none();
        if answers && self.teardown.is_some() && self.teardown.as_ref() == message.get("id") {
            self.watched.parted = Some(true);
        }
        self.watched.heard.push(message.clone());
        let (handler, posts) = (self.handler.clone(), self.posts.clone());
        let mut answering = Box::pin(async move {
            if let Some(answer) = handler.handle(message).await {
                // Nobody is left to hear it at the end.
                posts.send(answer).ok();
            }
        });
        // Begun here, so that messages are heeded in order.
        if futures::poll!(&mut answering).is_pending() {
            tokio::spawn(answering);
        }
    }

    /// What somebody is told who does not see it.
    async fn listen_in(&mut self) -> anyhow::Result<()> {
        let frames = self.browser.ask("Page.getFrameTree", json!({})).await?;
        let view = &frames["frameTree"]["childFrames"][0]["frame"]["id"];
        if view.is_null() {
            return Ok(());
        }
        let wish = json!({ "frameId": view });
        let tree = self.browser.ask("Accessibility.getFullAXTree", wish).await?;
        for node in tree["nodes"].as_array().into_iter().flatten() {
            let role = node["role"]["value"].as_str().unwrap_or_default();
            let named = node["name"]["value"].as_str().is_some_and(|name| !name.trim().is_empty());
            if node["ignored"] != true && SPOKEN.contains(&role) && !named {
                self.watched.unnamed.push(format!("a {role} without a name"));
            }
        }
        Ok(())
    }
}

enum Happened {
    Posted(Value),
    Event(anyhow::Result<Value>),
}

/// What a view may ask of the world here: tools of its own server.
struct Stage {
    survey: Arc<Survey>,
    posts: mpsc::UnboundedSender<Value>,
    begun: Instant,
}

impl Context for Stage {
    fn ports(&self) -> Ports {
        Ports::default()
    }

    fn post(&self, message: Value) {
        // Nobody is left to hear it at the end.
        self.posts.send(message).ok();
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn call_tool(&self, call: ToolCall) -> BoxFuture<'_, Result<Value, Trouble>> {
        Box::pin(async move {
            self.survey.call(&call.name, call.arguments).await.map_err(Trouble::Failed)
        })
    }
}
