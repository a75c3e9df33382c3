//! A server of tools that tell the time: one shows it in a widget, and others get something wrong.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures::{FutureExt as _, future::BoxFuture};
use kernel::{
    ports::Clock as _,
    servers::{
        AskError, Changing, LogLine, ServerChange, ServerError, ServerInfo, ServerTool, Servers,
        Standing,
    },
    toolbox::{Audience, Call, Caller, Deed, Reply, Risk, Tool, ToolSpec},
    widget::{Domains, Feature, NoWidget, Wants, Widget, WidgetPage},
};
use serde_json::{Map, Value, json};
use testkit::ManualClock;

use crate::common::House;

/// A server with one tool that has a widget, and one whose widget cannot be read.
#[derive(Default)]
pub struct Fake {
    /// Whether it is there at all.
    pub gone: AtomicBool,
    /// Whether its widgets act only right after a touch.
    pub gesture: AtomicBool,
}

const FOR_MODELS: Audience = Audience { models: true, widgets: false };

/// What a tool says that failed.
pub fn sour() -> Value {
    let content = json!([{ "type": "text", "text": "too sour" }]);
    json!({ "content": content, "structuredContent": null, "_meta": { "ph": 2 } })
}

fn tool(name: &str, widget: Option<&str>) -> ServerTool {
    ServerTool {
        name: name.into(),
        offered: Some(name.into()),
        description: "Tells the time.".into(),
        enabled: true,
        widget: widget.map(str::to_owned),
        audience: Audience::default(),
        warning: None,
    }
}

impl Servers for Fake {
    fn list(&self) -> Vec<ServerInfo> {
        if self.gone.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let info = |name: &str, tools: Vec<ServerTool>| ServerInfo {
            name: name.into(),
            kind: "stdio",
            place: name.into(),
            standing: Standing::Ready,
            since: ManualClock::default().now(),
            starts: 1,
            gesture: self.gesture.load(Ordering::Relaxed),
            trusted: false,
            configured: true,
            protocol: None,
            title: None,
            tools,
        };
        let broken = tool("broken", Some("ui://clock/broken"));
        let own = vec![
            tool("get-time", Some("ui://clock/time")),
            broken,
            tool("astray", Some("https://a.example/")),
            tool("sour", Some("ui://clock/time")),
            ServerTool { audience: FOR_MODELS, ..tool("private", None) },
            tool("silent", None),
            tool("act", None),
        ];
        vec![info("clock", own), info("other", vec![tool("elsewhere", None)])]
    }

    fn widget(&self, server: String, tool: String) -> BoxFuture<'_, Result<WidgetPage, NoWidget>> {
        assert_eq!(server, "clock");
        async move { page(&tool) }.boxed()
    }

    fn resources(
        &self,
        server: String,
        method: &'static str,
        params: Map<String, Value>,
    ) -> BoxFuture<'_, Result<Value, AskError>> {
        assert_eq!(server, "clock");
        let gone = AskError::Refused { code: -32002, message: "no such thing".into(), data: None };
        let text = json!({ "uri": params.get("uri"), "text": "1,2" });
        let answer = match method {
            "resources/read" if params["uri"] == "file:///a.csv" => {
                Ok(json!({ "contents": [text] }))
            }
            "resources/list" => Ok(json!({ "resources": [] })),
            _ => Err(gone),
        };
        async move { answer }.boxed()
    }

    fn logs(&self, _: &str) -> Option<Vec<LogLine>> {
        None
    }

    fn add(&self, name: String, _: Value) -> Changing<'_, ()> {
        async move { Err(ServerError::Taken(name)) }.boxed()
    }

    fn remove(&self, name: String) -> Changing<'_, ()> {
        async move { Err(ServerError::Unknown(name)) }.boxed()
    }

    fn change(&self, name: String, _: ServerChange) -> Changing<'_, ()> {
        async move { Err(ServerError::Unknown(name)) }.boxed()
    }

    fn restart(&self, name: String) -> Changing<'_, ()> {
        async move { Err(ServerError::Unknown(name)) }.boxed()
    }

    fn signed_in(&self, _: String) -> Changing<'_, String> {
        async { Err(ServerError::Wrong("nobody is signing in".into())) }.boxed()
    }
}

/// What is shown beside the results of a tool.
fn page(tool: &str) -> Result<WidgetPage, NoWidget> {
    let connect = vec!["https://a.example".into(), "https://b.com; script-src *".into()];
    let domains = Some(Domains { connect, ..Domains::default() });
    let page = WidgetPage {
        uri: "ui://clock/time".into(),
        html: "<!doctype html><html><head><title>T</title></head><p>time</p>".into(),
        wants: Wants { domains, features: vec![Feature::ClipboardWrite], ..Wants::default() },
    };
    match tool {
        "get-time" | "sour" => Ok(page),
        "astray" => Err(NoWidget::BadUri("https://a.example/".into())),
        _ => Err(NoWidget::WrongMime("text/plain".into())),
    }
}

/// A tool of one of those servers.
struct Lent(ToolSpec, &'static str);

impl Lent {
    fn of(server: &'static str, name: &str) -> Arc<dyn Tool> {
        let schema = json!({ "type": "object" });
        let spec = ToolSpec { name: name.into(), description: "Tells the time.".into(), schema };
        Arc::new(Self(spec, server))
    }
}

impl Tool for Lent {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn server(&self) -> Option<&str> {
        Some(self.1)
    }

    fn audience(&self) -> Audience {
        if self.0.name == "private" { FOR_MODELS } else { Audience::default() }
    }

    fn risk(&self) -> Option<Risk> {
        Some(if self.0.name == "act" { Risk::Acts } else { Risk::Reads })
    }

    fn widget(&self) -> Option<Widget> {
        let tool = self.0.name.clone();
        let read = page(&tool);
        let shows = ["get-time", "broken", "astray", "sour"].contains(&&*tool);
        let page = async move { read }.boxed();
        shows.then(|| Widget { server: self.1.into(), tool, page })
    }

    fn foresee<'a>(&'a self, _: &'a Call) -> BoxFuture<'a, Result<Deed, String>> {
        let risk = self.risk().unwrap();
        async move { Ok(Deed { risk, ..Deed::reads() }) }.boxed()
    }

    fn run(&self, call: Call) -> BoxFuture<'_, Result<Reply, String>> {
        if let Some(companion) = &call.companion {
            companion.progressed("half", 1.0, Some(2.0));
        }
        assert!(self.0.name != "private" || call.caller == Caller::Model, "{:?}", call.caller);
        let failed = self.0.name == "sour";
        let data = if failed {
            sour()
        } else {
            json!({
                "content": [{ "type": "text", "text": "noon" }],
                "structuredContent": { "zone": call.args["zone"] },
            })
        };
        let reply = Reply { text: "noon".into(), data: Some(data), failed, ..Reply::default() };
        async { Ok(reply) }.boxed()
    }
}

pub fn lend(house: &House) {
    let tools = &house.host().ports.tools;
    let own = ["get-time", "broken", "astray", "sour", "private", "silent", "act"];
    tools.offer("clock", own.map(|name| Lent::of("clock", name)).to_vec());
    tools.offer("other", vec![Lent::of("other", "elsewhere")]);
}
