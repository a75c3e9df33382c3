//! The tools for apps, as a model meets them, with an app that the test plays.

use std::sync::{Arc, Mutex, OnceLock};

use kernel::{
    apps::{Asked, Attendance, Kind, Line, Response, Word, protocol::Outgoing},
    host::{Host, Settings},
    inbox::CallError,
    toolbox::{Caller, Risk, ToolError},
    update::{Fact, Message, Output, SessionId, WhenBusy},
    windows::{Hands, Named},
};
use serde_json::{Value, json};
use testkit::{
    World,
    model::{call, text},
};

use crate::add_applets;

/// A page with an app that has cells, and answers at once.
#[derive(Default)]
struct Page {
    seat: OnceLock<Attendance>,
    asked: Mutex<Vec<Asked>>,
}

impl Line for Page {
    fn tell(&self, Word::Request(Outgoing { request, window, asked, .. }): Word) {
        self.asked.lock().unwrap().push(asked.clone());
        let response = match asked {
            Asked::Manifest => Response::of(Kind::Manifest, Some(manifest())),
            Asked::Query { state_key } => {
                Response::of(Kind::Query, Some(json!({ "of": state_key })))
            }
            Asked::Command { params: None, .. } => Response::of(Kind::Command, None),
            Asked::Command { params, .. } => Response::of(Kind::Command, params),
        };
        self.seat.get().unwrap().answered(request, Some(window), response);
    }
}

fn manifest() -> Value {
    json!({
        "appId": "sheet", "name": "Sheet",
        "state": { "cells": { "description": "all" }, "a/b": {}, "manifest": {} },
        "commands": { "setCells": { "description": "sets", "inverse": "clear" }, "clear": {} },
    })
}

struct Home {
    host: Arc<Host>,
    session: SessionId,
    page: Arc<Page>,
}

impl Home {
    async fn new(world: &World) -> Self {
        let host = Host::start(world.ports(), Settings::default()).await.unwrap();
        add_applets(&host, crate::Workshop::default());
        let session = host.create("/".as_ref(), "test", "").await.unwrap();
        let page = Arc::new(Page::default());
        let home = Self { host, session, page };
        let window = json!({
            "windowId": "dock", "title": "Dock", "renderer": "iframe",
            "content": "/api/apps/sheet/index.html",
        });
        home.call("window_create", window).await.unwrap();
        let seat = home.host.attend(session, home.page.clone()).unwrap();
        home.page.seat.set(seat).unwrap();
        home.page.seat.get().unwrap().ready("dock".into(), None, Some("a".into()));
        home
    }

    async fn call(&self, name: &str, args: Value) -> Result<String, String> {
        match self.host.call(self.session, Caller::Model, name, args).await {
            Ok(reply) => Ok(reply.text),
            Err(CallError::Tool(ToolError::Failed(message))) => Err(message),
            Err(error) => panic!("{error}"),
        }
    }

    async fn query(&self, args: Value) -> Result<String, String> {
        self.call("app_query", args).await
    }

    async fn command(&self, args: Value) -> Result<String, String> {
        self.call("app_command", args).await
    }
}

#[tokio::test]
async fn an_app_is_asked_and_told_by_window_or_by_address() {
    let home = Home::new(&World::new([])).await;
    let told = |key: &str| Ok(format!("{{\n  \"of\": \"{key}\"\n}}"));
    let by_window = json!({ "windowId": "dock", "stateKey": "cells" });
    assert_eq!(home.query(by_window).await, told("cells"));
    let by_address = json!({ "uri": "yaar://monitor-0/dock/state/a/b", "windowId": "other" });
    assert_eq!(home.query(by_address).await, told("a/b"));
    let params = json!({ "windowId": "0/dock", "command": "setCells", "params": { "A1": "1" } });
    assert_eq!(home.command(params).await.as_deref(), Ok("{\n  \"A1\": \"1\"\n}"));
    let bare = json!({ "uri": "yaar://monitor-0/dock/commands/clear" });
    assert_eq!(home.command(bare).await.as_deref(), Ok("Done."));
    let last = home.page.asked.lock().unwrap().last().cloned();
    assert_eq!(last, Some(Asked::Command { command: "clear".into(), params: None }));
}

#[tokio::test]
async fn a_manifest_tells_addresses_to_whoever_uses_them() {
    let home = Home::new(&World::new([])).await;
    let plain = home.query(json!({ "windowId": "dock", "stateKey": "manifest" })).await;
    assert_eq!(plain, Ok(format!("{:#}", manifest())));
    for uri in ["yaar://monitor-0/dock", "yaar://monitor-0/dock/state/manifest"] {
        let told = home.query(json!({ "uri": uri })).await.unwrap();
        let told: Value = serde_json::from_str(&told).unwrap();
        let mut expected = manifest();
        for (part, name) in [
            ("state", "cells"),
            ("state", "a/b"),
            ("state", "manifest"),
            ("commands", "setCells"),
            ("commands", "clear"),
        ] {
            expected[part][name]["uri"] = json!(format!("yaar://monitor-0/dock/{part}/{name}"));
        }
        assert_eq!(told, expected);
    }
}

#[tokio::test]
async fn what_is_missing_or_wrong_is_said_in_the_words_of_the_protocol() {
    let home = Home::new(&World::new([])).await;
    for (args, text) in [
        (json!({}), "Provide either uri or windowId + stateKey."),
        (json!({ "windowId": "dock" }), "Provide either uri or windowId + stateKey."),
        (
            json!({ "windowId": "dock", "stateKey": "", "uri": "" }),
            "Provide either uri or windowId + stateKey.",
        ),
        (json!({ "uri": "dock" }), "Invalid URI format."),
        (
            json!({ "uri": "yaar://monitor-0/dock/commands/clear" }),
            "URI points to a command. Use app_command instead.",
        ),
        (json!({ "windowId": "gone", "stateKey": "x" }), "Window \"gone\" not found."),
        (json!({ "uri": "yaar://monitor-1/dock" }), "Window \"monitor-1/dock\" not found."),
        (
            json!({ "windowId": "dock", "stateKey": "cell" }),
            "Unknown state key: cell. Did you mean \"cells\"?",
        ),
    ] {
        assert_eq!(home.query(args.clone()).await, Err(text.to_owned()), "{args}");
    }
    let uri = "Invalid command URI. Expected yaar://{monitor}/{window}/commands/{name}.";
    for (args, text) in [
        (json!({ "command": "clear" }), "Provide either uri or windowId + command."),
        (json!({ "uri": "yaar://monitor-0/dock" }), uri),
        (json!({ "uri": "yaar://monitor-0/dock/state/cells" }), uri),
        (json!({ "uri": "?" }), uri),
        (
            json!({ "windowId": "dock", "command": "setCell" }),
            "Unknown command: setCell. Did you mean \"setCells\"?",
        ),
    ] {
        assert_eq!(home.command(args.clone()).await, Err(text.to_owned()), "{args}");
    }
    let wrong = home.query(json!({ "windowId": 5, "uri": [], "stateKey": null })).await;
    let issue = |name: &str, received: &str| {
        json!({
            "code": "invalid_type", "expected": "string", "path": [name],
            "message": format!("Invalid input: expected string, received {received}"),
        })
    };
    let issues = json!([issue("uri", "array"), issue("windowId", "number")]);
    let text = "MCP error -32602: Input validation error: Invalid arguments for tool app_query";
    assert_eq!(wrong, Err(format!("{text}: {issues:#}")));
    let long = json!({ "windowId": "dock", "command": "clear", "idempotencyKey": "k".repeat(201) });
    let too_long = "idempotencyKey must have at most 200 characters.";
    assert_eq!(home.command(long).await, Err(too_long.to_owned()));
}

#[tokio::test]
async fn a_command_with_a_key_runs_once() {
    let home = Home::new(&World::new([])).await;
    let keyed = |n: u32| {
        home.command(json!({
            "windowId": "dock", "command": "setCells", "params": { "n": n }, "idempotencyKey": "k",
        }))
    };
    assert_eq!(keyed(1).await, keyed(1).await);
    let reused = "idempotencyKey \"k\" was already used for a different command.";
    assert_eq!(keyed(2).await, Err(reused.to_owned()));
    let asked = home.page.asked.lock().unwrap().clone();
    let runs = asked.iter().filter(|asked| asked.kind() == Kind::Command);
    assert_eq!(runs.count(), 1);
}

#[tokio::test]
async fn a_model_may_use_an_app_without_asking_and_is_told_what_went_wrong() {
    let world = World::new([
        vec![
            call("1", "app_command", json!({ "windowId": "dock", "command": "clear" })),
            call("2", "app_query", json!({ "windowId": "gone", "stateKey": "cells" })),
        ],
        vec![text("done")],
    ]);
    let home = Home::new(&world).await;
    let tools = &home.host.ports.tools;
    assert_eq!(tools.risk("app_query"), Some(Risk::Reads));
    assert_eq!(tools.risk("app_command"), Some(Risk::Shows));
    let mut feed = home.host.feed(home.session, None).await.unwrap();
    let message = Message::from_user("clear it");
    home.host.post(home.session, message, WhenBusy::Refuse).await.unwrap();
    let mut returned = Vec::new();
    let mut asked = false;
    'turn: loop {
        let kernel::feed::Heard::Live(told) = feed.next().await.unwrap() else { continue };
        for update in &told.updates {
            let kernel::update::Update::Fact(entry) = update else { continue };
            match &entry.fact {
                Fact::ToolReturned { output, .. } => returned.push(output.clone()),
                Fact::Asked(_) => asked = true,
                Fact::TurnEnded(_) => break 'turn,
                _ => (),
            }
        }
    }
    let gone = Output::failed("Window \"gone\" not found.");
    returned.sort_by_key(|output| output.text().len());
    assert_eq!((returned, asked), (vec![Output::done("Done."), gone], false));
}

#[tokio::test]
async fn an_agent_waits_for_a_window_that_the_person_has_taken_over() {
    let home = Home::new(&World::new([])).await;
    let set = json!({ "windowId": "dock", "command": "setCells", "params": { "A1": "1" } });
    home.command(set.clone()).await.unwrap();
    let hand = |to| home.host.hand(home.session, Named::new("dock"), to);
    hand(Hands::Person).await.unwrap();
    let change = json!({ "windowId": "dock", "title": "Another" });
    let mut update = Box::pin(home.call("window_update", change));
    assert!(futures::poll!(&mut update).is_pending());
    hand(Hands::Agent).await.unwrap();
    let note = "\n\nThe person had taken this window over and has handed it back.\nLook at what is \
                there now before you go on.";
    assert_eq!(update.await, Ok(format!("The window \"dock\" is changed.{note}")));
    let result = "{\n  \"A1\": \"1\"\n}";
    assert_eq!(home.command(set.clone()).await.as_deref(), Ok(result), "it is told once");

    hand(Hands::Person).await.unwrap();
    let mut command = Box::pin(home.command(set));
    assert!(futures::poll!(&mut command).is_pending());
    hand(Hands::Agent).await.unwrap();
    assert_eq!(command.await, Ok(format!("{result}{note}")));
}

#[tokio::test]
async fn an_agent_takes_back_what_was_done_last() {
    let home = Home::new(&World::new([])).await;
    let nothing = "There is nothing in window \"dock\" that can be undone.";
    let undo = || home.call("app_undo", json!({ "windowId": "dock" }));
    assert_eq!(undo().await, Err(nothing.to_owned()));
    let set = json!({ "windowId": "dock", "command": "setCells", "params": { "A1": "1" } });
    home.command(set).await.unwrap();
    assert_eq!(undo().await.as_deref(), Ok("Done."));
    let last = home.page.asked.lock().unwrap().last().cloned();
    assert_eq!(last, Some(Asked::Command { command: "clear".into(), params: None }));
    assert_eq!(undo().await, Err(nothing.to_owned()));
}
