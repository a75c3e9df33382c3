//! Servers of tools through the API: a transcript of all that can be asked, with a fake behind it.

use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use kernel::{
    ports::Clock as _,
    servers::{
        Changing, LogLine, ServerChange, ServerError, ServerInfo, ServerTool, Servers, Standing,
    },
    toolbox::Audience,
};
use serde_json::{Value, json};
use testkit::{ManualClock, World, model::Script};

use crate::common::{House, bad, error};

/// Notes what it is asked for.
#[derive(Default)]
struct Fake {
    asked: Mutex<Vec<String>>,
}

impl Fake {
    fn note(&self, text: String) {
        self.asked.lock().unwrap().push(text);
    }

    fn done(&self, name: &str, text: String) -> Changing<'_, ()> {
        let known = name == "files";
        let name = name.to_owned();
        self.note(text);
        async move { if known { Ok(()) } else { Err(ServerError::Unknown(name)) } }.boxed()
    }
}

impl Servers for Fake {
    fn list(&self) -> Vec<ServerInfo> {
        let info = |name: &str, standing| ServerInfo {
            name: name.into(),
            kind: "stdio",
            place: "files-server".into(),
            standing,
            since: ManualClock::default().now(),
            starts: 1,
            gesture: false,
            trusted: false,
            configured: true,
            protocol: None,
            title: None,
            tools: Vec::new(),
        };
        let tool = ServerTool {
            name: "read".into(),
            offered: Some("files__read".into()),
            description: "Reads.".into(),
            enabled: true,
            widget: Some("ui://files/read.html".into()),
            audience: Audience { models: false, widgets: true },
            warning: None,
        };
        let url = "http://a.example/authorize".to_owned();
        let ready = info("files", Standing::Ready);
        vec![
            ServerInfo { tools: vec![tool], protocol: Some("2025-11-25".into()), ..ready },
            info("bad", Standing::Failed { reason: "it ended".into(), retry: None }),
            info("web", Standing::NeedsSignIn { url }),
        ]
    }

    fn logs(&self, name: &str) -> Option<Vec<LogLine>> {
        let line = LogLine { at: ManualClock::default().now(), text: "hello".into() };
        (name == "files").then(|| vec![line])
    }

    fn add(&self, name: String, settings: Value) -> Changing<'_, ()> {
        self.note(format!("add {name} {settings}"));
        async move {
            match name.as_str() {
                "files" => Err(ServerError::Taken(name)),
                "odd" => Err(ServerError::Wrong("it needs a command or a url".into())),
                _ => Ok(()),
            }
        }
        .boxed()
    }

    fn remove(&self, name: String) -> Changing<'_, ()> {
        if name == "files" {
            return async { Err(ServerError::Configured(name)) }.boxed();
        }
        self.done(&name, format!("remove {name}"))
    }

    fn change(&self, name: String, change: ServerChange) -> Changing<'_, ()> {
        self.done(&name, format!("change {name} {change:?}"))
    }

    fn restart(&self, name: String) -> Changing<'_, ()> {
        self.done(&name, format!("restart {name}"))
    }

    fn signed_in(&self, query: String) -> Changing<'_, String> {
        async move {
            if query == "code=1&state=2" {
                return Ok("web".to_owned());
            }
            Err(ServerError::Wrong("nobody is signing in with this".into()))
        }
        .boxed()
    }
}

async fn house(fake: &Arc<Fake>) -> House {
    House::serving(World::new(Vec::<Script>::new()), fake.clone()).await
}

#[tokio::test]
async fn servers_are_listed_with_how_they_stand() {
    let house = house(&Arc::default()).await;
    let since = ManualClock::default().now().to_string();
    let item = |name: &str, state: &str| {
        json!({ "name": name, "kind": "stdio", "place": "files-server", "state": state,
            "since": since, "starts": 1, "trusted": false, "configured": true, "tools": [] })
    };
    let mut expected =
        [item("files", "ready"), item("bad", "failed"), item("web", "needs-sign-in")];
    expected[0]["protocol"] = "2025-11-25".into();
    expected[0]["tools"] = json!([{ "name": "read", "offeredAs": "files__read",
        "description": "Reads.", "enabled": true, "widget": "ui://files/read.html",
        "forModel": false }]);
    expected[1]["reason"] = "it ended".into();
    expected[2]["signInUrl"] = "http://a.example/authorize".into();
    assert_eq!(house.get("/api/mcp/servers").await, (200, json!({ "servers": expected })));
    let logs = json!({ "lines": [{ "at": since, "text": "hello" }] });
    assert_eq!(house.get("/api/mcp/servers/files/logs").await, (200, logs));
}

#[tokio::test]
async fn what_is_wished_for_is_passed_on_and_what_is_refused_is_told() {
    let fake = Arc::<Fake>::default();
    let house = house(&fake).await;
    let done = (200, json!({ "ok": true }));
    let unknown = (404, error("NOT_FOUND", "no server is named `nobody`"));
    let servers = "/api/mcp/servers";
    assert_eq!(house.post(servers, json!({ "name": "new", "command": "x" })).await, done);
    let taken = error("CONFLICT", "there is a server named `files` already");
    assert_eq!(house.post(servers, json!({ "name": "files", "url": "y" })).await, (409, taken));
    let odd = house.post(servers, json!({ "name": "odd" })).await;
    assert_eq!(odd, bad("it needs a command or a url"));
    let nameless = house.post(servers, json!({ "command": "x" })).await;
    assert_eq!(nameless, bad("Invalid JSON body: missing field `name`"));
    let change = json!({ "enabled": false, "tools": { "read": true } });
    assert_eq!(house.patch("/api/mcp/servers/files", change.clone()).await, done);
    assert_eq!(house.patch("/api/mcp/servers/nobody", change).await, unknown);
    let misspelt = house.patch("/api/mcp/servers/files", json!({ "enable": true })).await;
    assert_eq!(misspelt.0, 400, "{misspelt:?}");
    assert_eq!(house.post("/api/mcp/servers/files/restart", json!({})).await, done);
    assert_eq!(house.get("/api/mcp/servers/nobody/logs").await, unknown);
    assert_eq!(house.delete("/api/mcp/servers/nobody").await, unknown);
    let configured = "`files` is in config.toml; remove it there, or disable it here";
    assert_eq!(house.delete("/api/mcp/servers/files").await, (409, error("CONFLICT", configured)));
    assert_eq!(
        *fake.asked.lock().unwrap(),
        [
            r#"add new {"command":"x"}"#,
            r#"add files {"url":"y"}"#,
            "add odd {}",
            r#"change files ServerChange { enabled: Some(false), tools: {"read": true} }"#,
            r#"change nobody ServerChange { enabled: Some(false), tools: {"read": true} }"#,
            "restart files",
            "remove nobody",
        ]
    );
}

#[tokio::test]
async fn a_browser_that_signed_in_elsewhere_may_come_back_without_a_key() {
    let house = house(&Arc::default()).await;
    let back = |path: &str| {
        house.ask_without_key("GET", path).header("sec-fetch-site", "cross-site").send()
    };
    let signed_in = back("/api/mcp/callback?code=1&state=2").await;
    assert_eq!(signed_in.status, 200);
    assert_eq!(signed_in.text(), "Signed in to web. You can close this page.\n");
    let stranger = back("/api/mcp/callback?code=1&state=3").await;
    assert_eq!(stranger.status, 400);
    assert_eq!(stranger.text(), "Signing in did not work: nobody is signing in with this\n");
    assert_eq!(back("/api/mcp/servers").await.status, 403);
    let posted = house.ask_without_key("POST", "/api/mcp/callback?code=1&state=2").send().await;
    assert_eq!(posted.status, 401);
}
