//! The tools for applets and notes, in a house that has both.

use std::{fs, path::Path, sync::Arc, time::Duration};

use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use jiff::Timestamp;
use kernel::{
    applets::AppletKey,
    feed::{Feed, Heard},
    gallery::{Applet, Gallery, Needs, Parts, StateSchema},
    host::{Host, Settings},
    inbox::CallError,
    question::Decision,
    toolbox::{Caller, ToolError},
    update::{Fact, Message, SessionId, Signal, Update, WhenBusy},
};
use serde_json::{Value, json};
use testkit::{
    Gate, World,
    model::{Script, call, text, wait},
};
use tokio::sync::{Notify, broadcast};

use crate::{add_applets, add_restart};

struct Wall(Vec<Applet>);

impl Gallery for Wall {
    fn list(&self) -> BoxFuture<'_, Arc<Vec<Applet>>> {
        future::ready(Arc::new(self.0.clone())).boxed()
    }

    fn load<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Parts>, String>> {
        future::ready(Ok(None)).boxed()
    }

    fn workshop(&self) -> Option<&Path> {
        Some(Path::new("/home/data/applets"))
    }

    fn changes(&self) -> broadcast::Receiver<String> {
        broadcast::Sender::new(1).subscribe()
    }
}

fn applet(slug: &str, params: &Value) -> Applet {
    Applet {
        slug: slug.into(),
        name: format!("The {slug}"),
        description: Some(format!("shows a {slug}")),
        params: params.as_object().unwrap().clone(),
        purpose: None,
        state_schema: StateSchema { get: Some(json!({ "n": "number" })), set: None },
        updated: Timestamp::UNIX_EPOCH,
        needs: Needs::default(),
        folder: None,
    }
}

struct Home {
    host: Arc<Host>,
    session: SessionId,
    restarts: Arc<Notify>,
}

impl Home {
    async fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        let params =
            json!({ "page": "which", "path": { "required": true, "description": "a file" } });
        let mut ports = World::new(scripts).ports();
        ports.gallery = Arc::new(Wall(vec![applet("diff", &params), applet("clock", &json!({}))]));
        let host = Host::start(ports, Settings::default()).await.unwrap();
        let restarts = Arc::new(Notify::new());
        add_applets(&host, crate::Workshop::default());
        add_restart(&host, restarts.clone());
        let session = host.create(Path::new("/"), "test", "").await.unwrap();
        Self { host, session, restarts }
    }

    async fn call(&self, name: &str, args: Value) -> Result<String, String> {
        match self.host.call(self.session, Caller::Model, name, args).await {
            Ok(reply) => Ok(reply.text),
            Err(CallError::Tool(ToolError::Failed(text) | ToolError::Denied(text))) => Err(text),
            Err(error) => panic!("{error}"),
        }
    }

    async fn ok(&self, name: &str, args: Value) -> String {
        self.call(name, args).await.unwrap()
    }
}

#[tokio::test]
async fn an_agent_is_told_how_to_link_to_an_applet() {
    let home = Home::new([]).await;
    let diff = "## The diff (diff)\nshows a diff\n\
        Link: [The diff](/?applet=diff&page=<page>&path=<path>)\n\
        Required parameter path: a file\nOptional parameter page: which\n\
        It tells (get_applet_state): {\"n\":\"number\"}";
    assert_eq!(home.ok("caco_applet_usage", json!({ "slug": "diff" })).await, diff);
    let all = home.ok("caco_applet_usage", json!({})).await;
    assert!(all.contains(diff) && all.contains("[The clock](/?applet=clock)"), "{all}");
    let unknown = "Applet \"x\" not found; there are diff, clock";
    assert_eq!(home.call("caco_applet_usage", json!({ "slug": "x" })).await, Err(unknown.into()));
}

#[tokio::test]
async fn what_an_agent_is_told_of_writing_applets_names_the_folder_and_the_permissions() {
    let told = Home::new([]).await.ok("caco_applet_howto", Value::Null).await;
    let names = ["/home/data/applets/<slug>/", "files:write", "schedules:write", "`shell`"];
    for name in names {
        assert!(told.contains(name), "{name}");
    }
    assert!(!told.contains("{workshop}") && !told.contains("loadApplet"), "{told}");
}

#[tokio::test]
async fn an_agent_reads_what_the_open_applet_said_and_where_the_person_is() {
    let home = Home::new([]).await;
    let nothing = "No applet has told anything about itself yet.\n\n\
        Navigation: {\"stack\":[],\"urlParams\":{}}";
    assert_eq!(home.ok("get_applet_state", json!({})).await, nothing);
    let applets = &home.host.applets;
    let key = AppletKey { session: Some(home.session), slug: Some("clock".into()) };
    let object = |value: Value| value.as_object().unwrap().clone();
    applets.merge(&key, object(json!({ "n": 1, "who": "me" }))).await.unwrap();
    let trail =
        json!({ "stack": [{ "slug": "clock", "label": "Clock" }], "urlParams": { "a": "b" } });
    applets.navigate(&key, &object(trail.clone())).await.unwrap();
    assert_eq!(home.ok("get_applet_state", json!({})).await, nothing, "it is not open");
    applets.set_current(home.session, "clock").await.unwrap();
    let told = |what: &str| format!("{what}\n\nNavigation: {trail}");
    let whole = told("Applet state: {\n  \"n\": 1,\n  \"who\": \"me\"\n}");
    assert_eq!(home.ok("get_applet_state", json!({})).await, whole);
    let one = told("Applet state[\"who\"]: \"me\"");
    assert_eq!(home.ok("get_applet_state", json!({ "key": "who" })).await, one);
    let none = told("Applet state has no key \"x\"; it has n, who.");
    assert_eq!(home.ok("get_applet_state", json!({ "key": "x" })).await, none);
}

#[tokio::test]
async fn what_an_agent_shows_reaches_those_who_listen_and_is_not_kept() {
    let home = Home::new([]).await;
    let data = json!({ "data": { "n": 2 } });
    let alone = "No applet is connected, so nobody has seen this.";
    assert_eq!(home.ok("set_applet_state", data.clone()).await, alone);
    let _seat = home.host.applets.seat();
    let pushed = "State pushed to applet: {\"n\":2}";
    assert_eq!(home.ok("set_applet_state", data).await, pushed);
    let there = json!({ "data": { "n": 2 }, "sessionId": home.session });
    assert_eq!(home.ok("set_applet_state", there).await, pushed);
    let nowhere = json!({ "data": {}, "sessionId": "x" });
    let unknown = Err("Session x not found".to_owned());
    assert_eq!(home.call("set_applet_state", nowhere).await, unknown);
    let state = home.host.applets.state(&AppletKey::default()).await.unwrap();
    assert!(state.is_empty());
}

#[tokio::test]
async fn notes_are_set_merged_cleared_and_bounded() {
    let home = Home::new([]).await;
    let set = |name: &str, items: Value, mode: Value| {
        let args = json!({ "setName": name, "items": items, "mode": mode });
        let home = &home;
        async move { home.call("set_relevant_context", args).await }
    };
    let items = |from: usize, count: usize| -> Value {
        (from..from + count).map(|n| n.to_string()).collect()
    };
    let nothing = "No context is stored for this session.";
    assert_eq!(home.ok("get_relevant_context", json!({})).await, nothing);
    let ok = |text: &str| Ok(text.to_owned());
    assert_eq!(set("files", items(0, 2), json!(null)).await, ok("Set files: 2 items"));
    assert_eq!(set("files", items(1, 2), json!("merge")).await, ok("Merged files: 3 items"));
    assert_eq!(set("files", items(5, 10), json!("merge")).await, ok("Merged files: 10 items"));
    assert_eq!(set("files", json!(["a"]), json!("replace")).await, ok("Set files: 1 items"));
    let shown = "{\n  \"files\": [\n    \"a\"\n  ]\n}";
    assert_eq!(home.ok("get_relevant_context", json!({})).await, shown);
    let none = home.ok("get_relevant_context", json!({ "setName": "ports" })).await;
    assert_eq!(none, "{\n  \"ports\": []\n}");
    assert_eq!(set("files", json!([]), json!(null)).await, ok("Cleared files"));
    assert_eq!(home.ok("get_relevant_context", json!({})).await, nothing);
    for name in ["a", "b", "c", "d", "e"] {
        set(name, items(0, 10), json!(null)).await.unwrap();
    }
    let full = "Context too large (51 items, max 50). Remove some items first.";
    assert_eq!(set("f", items(0, 1), json!(null)).await, Err(full.into()));
    assert_eq!(home.host.roster.get(home.session).unwrap().context.len(), 5, "nothing stored");
    let many = "a set has at most 10 items, not 11";
    assert_eq!(set("a", items(0, 11), json!(null)).await, Err(many.into()));
}

#[tokio::test]
async fn the_page_reloads_after_the_result_has_arrived() {
    let home = Home::new([vec![call("1", "reload_page", json!({}))], vec![text("done")]]).await;
    let session = home.host.open(home.session).await.unwrap();
    let mut feed = Feed::open(session, None).await.unwrap();
    let message = Message::from_user("go");
    home.host.post(home.session, message, WhenBusy::Refuse).await.unwrap();
    let mut returned = false;
    loop {
        let Some(Heard::Live(told)) = feed.next().await else { continue };
        for update in &told.updates {
            match update {
                Update::Fact(entry) => {
                    returned |= matches!(entry.fact, Fact::ToolReturned { .. });
                }
                Update::Signal { signal: Signal::ReloadWanted, .. } => {
                    assert!(returned);
                    return;
                }
                Update::Signal { .. } => (),
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_restart_needs_leave_and_waits_for_its_delay_and_for_running_turns() {
    let gate = Gate::default();
    let home = Home::new([vec![wait(&gate), text("done")]]).await;
    let allow = async {
        let mut news = home.host.roster.listen();
        let asked = loop {
            if let Some(waiting) = home.host.questions().await.unwrap().pop() {
                break waiting.question;
            }
            news.recv().await.unwrap();
        };
        let once = kernel::question::Scope::Once;
        let yes = Decision::Allow { scope: once, pattern: None, lasts: None };
        home.host.decide(asked.id, yes, "test").await.unwrap();
    };
    let message = Message::from_user("go");
    home.host.post(home.session, message, WhenBusy::Refuse).await.unwrap();
    gate.reached().await;
    let (said, ()) = tokio::join!(home.call("restart_server", json!({ "delay": 5 })), allow);
    assert_eq!(said, Ok("The server restarts in 5 s, once no turn is running.".into()));
    let restarts = home.restarts.notified();
    tokio::pin!(restarts);
    let early = tokio::time::timeout(Duration::from_mins(1), &mut restarts).await;
    assert!(early.is_err(), "a turn is running");
    gate.open();
    restarts.await;
    let full = kernel::approvals::Mode::Full;
    let amendment = kernel::update::Amendment { mode: Some(full), ..Default::default() };
    home.host.amend(home.session, amendment).await.unwrap();
    for delay in [0, 31] {
        let refused = format!("delay must be from 1 to 30 seconds, not {delay}");
        assert_eq!(home.call("restart_server", json!({ "delay": delay })).await, Err(refused));
    }
}

#[test]
fn the_howto_names_every_function_of_the_runtime_and_no_other() {
    let told = include_str!("howto.md");
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/applets/runtime/api.ts");
    let source = fs::read_to_string(runtime).unwrap();
    let (_, api) = source.split_once("export interface AppletApi {").unwrap();
    let (api, _) = api.split_once("\n}").unwrap();
    let names: Vec<&str> = api
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_once('('))
        .map(|(name, _)| name)
        .filter(|name| name.chars().all(char::is_alphanumeric))
        .collect();
    assert!(names.len() >= 12, "{names:?}");
    for name in names {
        assert!(told.contains(&format!("{name}(")), "{name}");
    }
}
