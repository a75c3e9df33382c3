//! A tool for each command, as a model meets them.

use std::sync::{Arc, Mutex};

use kernel::{
    apps::{Asked, Attendance, Line, Response, Word, protocol::Outgoing},
    host::{Host, Settings},
    toolbox::ToolSpec,
    update::{Fact, Message, Output, SessionId, Update, WhenBusy},
    windows::{By, Content, Opening, Renderer, Wish},
};
use serde_json::{Map, Value, json};
use testkit::{
    World,
    model::{call, text},
};

use crate::{add_applets, add_each_command};

/// A page with apps that can do what the test says, and give back what they are given.
struct Page {
    manifest: Value,
    seat: Mutex<Option<Attendance>>,
}

impl Line for Page {
    fn tell(&self, Word::Request(Outgoing { request, window, asked, .. }): Word) {
        let value = match &asked {
            Asked::Manifest => Some(self.manifest.clone()),
            Asked::Query { state_key } => Some(json!({ "of": state_key })),
            Asked::Command { params, .. } => params.clone(),
        };
        let response = Response::of(asked.kind(), value);
        let seat = self.seat.lock().unwrap();
        seat.as_ref().unwrap().answered(request, Some(window), response);
    }
}

struct Home {
    host: Arc<Host>,
    session: SessionId,
    page: Arc<Page>,
}

impl Home {
    async fn new(world: &World, manifest: Value) -> Self {
        let host = Host::start(world.ports(), Settings::default()).await.unwrap();
        add_applets(&host, crate::Workshop::default());
        add_each_command(&host);
        let session = host.create("/".as_ref(), "test", "").await.unwrap();
        let page = Arc::new(Page { manifest, seat: Mutex::default() });
        let seat = host.attend(session, page.clone()).unwrap();
        *page.seat.lock().unwrap() = Some(seat);
        Self { host, session, page }
    }

    async fn open(&self, window: &str) {
        let data = json!("/api/apps/sheet/index.html");
        let opening = Opening::new(window, "Sheet", Content { renderer: Renderer::Iframe, data });
        self.host.arrange(self.session, Wish::Open(Box::new(opening)), By::Agent).await.unwrap();
    }

    async fn show(&self, window: &str) {
        self.open(window).await;
        let mut editions = self.host.apps.editions();
        let ready = || self.page.seat.lock().unwrap();
        ready().as_ref().unwrap().ready(window.into(), None, Some(window.into()));
        let key = format!("monitor-0/{window}");
        while !self.host.apps.offers(self.session).contains_key(&key) {
            editions.changed().await.unwrap();
        }
    }

    fn tools(&self) -> Vec<ToolSpec> {
        let all = self.host.ports.tools.specs_in(self.session);
        let of_apps =
            all.into_iter().filter(|spec| spec.name.starts_with("app_") && spec.name != "app_open");
        of_apps.collect()
    }

    fn names(&self) -> Vec<String> {
        self.tools().into_iter().map(|spec| spec.name).collect()
    }
}

fn sheet() -> Value {
    let params = json!({ "properties": { "A1": { "type": "string" } } });
    json!({
        "appId": "sheet", "name": "Sheet",
        "state": { "cells": { "description": "All of them" }, "size": {} },
        "commands": { "setCells": { "description": "Sets cells", "params": params }, "clear": {} },
    })
}

#[tokio::test]
async fn a_model_has_a_tool_for_each_command_and_one_to_look() {
    let home = Home::new(&World::new([]), sheet()).await;
    assert_eq!(home.names(), [""; 0], "where nothing is open nothing is needed");
    home.open("dock").await;
    assert_eq!(
        home.names(),
        ["app_command", "app_query", "app_undo"],
        "it has not said what it can do"
    );
    home.show("dock").await;
    let spec = |name: &str, description: &str, schema| ToolSpec {
        name: name.into(),
        description: description.into(),
        schema,
    };
    let window = "of the app in window \"monitor-0/dock\".";
    let expected = [
        spec(
            "app_dock__state",
            &format!("Reads a state {window}\n- cells: All of them"),
            json!({
                "type": "object", "required": ["stateKey"],
                "properties": { "stateKey": { "type": "string", "enum": ["cells", "size"] } },
            }),
        ),
        spec("app_dock_clear", &format!("Runs \"clear\" {window}"), json!({ "type": "object" })),
        spec(
            "app_dock_setCells",
            &format!("Sets cells\n\nRuns \"setCells\" {window}"),
            json!({ "type": "object", "properties": { "A1": { "type": "string" } } }),
        ),
    ];
    let tools = home.tools();
    assert_eq!(tools[..3], expected);
    assert_eq!((&*tools[3].name, tools.len()), ("app_undo", 4));
}

#[tokio::test]
async fn what_such_a_tool_says_is_what_the_app_says() {
    let world = World::new([
        vec![
            call("1", "app_dock_setCells", json!({ "A1": "x" })),
            call("2", "app_dock_setCells", json!({ "A1": 5 })),
            call("3", "app_dock_setCells", json!([])),
            call("4", "app_dock__state", json!({ "stateKey": "cells" })),
            call("5", "app_dock__state", json!({ "stateKey": "cell" })),
            call("6", "app_dock_nothing", json!({})),
        ],
        vec![text("done")],
    ]);
    let home = Home::new(&world, sheet()).await;
    home.show("dock").await;
    let mut feed = home.host.feed(home.session, None).await.unwrap();
    let message = Message::from_user("set it");
    home.host.post(home.session, message, WhenBusy::Refuse).await.unwrap();
    let (mut titles, mut returned) = (Vec::new(), Vec::new());
    'turn: loop {
        let kernel::feed::Heard::Live(told) = feed.next().await.unwrap() else { continue };
        for update in &told.updates {
            let Update::Fact(entry) = update else { continue };
            match &entry.fact {
                Fact::Answered(answer) => {
                    titles.extend(answer.calls.iter().map(|call| call.title.clone()));
                }
                Fact::ToolReturned { call, output } => {
                    returned.push((call.clone(), output.clone()));
                }
                Fact::TurnEnded(_) => break 'turn,
                _ => (),
            }
        }
    }
    returned.sort_by(|one, other| one.0.cmp(&other.0));
    let failed = |text: &str| Output::failed(text);
    let issue = json!([{
        "code": "invalid_type", "expected": "object", "path": ["params"],
        "message": "Invalid input: expected object, received array",
    }]);
    let wrong = "MCP error -32602: Input validation error: Invalid arguments for tool \
                 app_dock_setCells";
    let expected = [
        Output::done("{\n  \"A1\": \"x\"\n}"),
        failed("Invalid params for command \"setCells\" at /A1: expected string, got number."),
        failed(&format!("{wrong}: {issue:#}")),
        Output::done("{\n  \"of\": \"cells\"\n}"),
        failed("Unknown state key: cell. Did you mean \"cells\"?"),
        failed("Tool 'app_dock_nothing' does not exist."),
    ];
    assert_eq!(returned.into_iter().map(|it| it.1).collect::<Vec<_>>(), expected);
    assert_eq!(titles[0], "Running setCells of dock");
    assert_eq!(titles[3], "Looking at cells of dock");
    let prompts = world.model.prompts();
    let told = |tools: &[ToolSpec]| tools.iter().any(|spec| spec.name == "app_dock_clear");
    assert!(prompts.iter().all(|prompt| told(&prompt.tools)));
}

#[tokio::test]
async fn a_tool_that_was_told_of_waits_for_an_app_as_ever() {
    let home = Home::new(&World::new([]), sheet()).await;
    home.show("dock").await;
    assert!(home.names().contains(&"app_dock_clear".to_owned()));
    let seat = home.page.seat.lock().unwrap().take();
    drop(seat);
    let caller = kernel::toolbox::Caller::Model;
    let called = home.host.call(home.session, caller, "app_dock_clear", json!({})).await;
    let error = "App did not respond (timeout). No client is connected to this session, so no page \
                 can load the app.";
    assert_eq!(called.unwrap_err().to_string(), error);
}

#[tokio::test]
async fn a_hundred_commands_do_not_fill_the_prompt() {
    let commands: Map<String, Value> =
        (0..100).map(|n| (format!("c{n:02}"), json!({ "description": "x".repeat(400) }))).collect();
    let home = Home::new(&World::new([]), json!({ "appId": "big", "commands": commands })).await;
    home.show("first").await;
    home.show("last").await;
    let tools = home.tools();
    let own = tools
        .iter()
        .filter(|spec| !["app_command", "app_query", "app_undo"].contains(&&*spec.name));
    let own: Vec<&ToolSpec> = own.collect();
    let bytes: usize = own.iter().map(|it| it.description.len() + it.name.len()).sum();
    assert!(own.len() == 40 && bytes < 24 << 10, "{} {bytes}", own.len());
    assert!(own.iter().all(|spec| spec.name.starts_with("app_last_")), "the one at the front");
    let command = tools.iter().find(|spec| spec.name == "app_command").unwrap();
    let note = "Not everything has a tool of its own here: use this for 60 more commands or states \
                of window \"monitor-0/last\", 100 more commands or states of window \
                \"monitor-0/first\".";
    assert!(command.description.ends_with(note), "{}", command.description);
    assert_eq!(home.host.apps.offers(home.session).len(), 2);
}
