//! What there is and how it stands: names, enabling, adding, removing, starting when needed.

use std::path::Path;

use kernel::{
    ports::Shelf,
    servers::{ServerChange, ServerError, Servers as _, Standing},
};
use serde_json::{Value, json};
use testkit::{World, model::Script};

use crate::home::{Home, odd};

fn nobody() -> Vec<Script> {
    Vec::new()
}

#[tokio::test]
async fn names_give_way_to_each_other_and_come_back() {
    let home = Home::new(json!({ "a": odd("plain"), "b": odd("other") })).await;
    home.until_ready("a").await;
    home.until_ready("b").await;
    assert_eq!(home.tools(), ["b__ping", "ping", "pong"]);
    let disable = ServerChange { enabled: Some(false), ..ServerChange::default() };
    home.servers.change("a".into(), disable).await.unwrap();
    home.until("a is gone", |home| home.info("a").standing == Standing::Disabled).await;
    assert_eq!(home.tools(), ["ping", "pong"]);
    let enable = ServerChange { enabled: Some(true), ..ServerChange::default() };
    home.servers.change("a".into(), enable).await.unwrap();
    home.until_ready("a").await;
    assert_eq!(home.tools(), ["b__ping", "ping", "pong"]);
    home.servers.close().await;
    assert_eq!(home.tools(), [""; 0]);
}

#[tokio::test]
async fn a_tool_can_be_disabled_and_that_is_remembered() {
    let servers = json!({ "b": odd("other") });
    let home = Home::new(servers.clone()).await;
    home.until_ready("b").await;
    let change = ServerChange { enabled: None, tools: [("ping".to_owned(), false)].into() };
    home.servers.change("b".into(), change).await.unwrap();
    home.until("it is gone", |home| home.tools() == ["pong"]).await;
    let unknown = ServerChange { enabled: None, tools: [("pang".to_owned(), false)].into() };
    let refused = home.servers.change("b".into(), unknown).await.unwrap_err();
    assert_eq!(refused.to_string(), "b has no tool named `pang`");
    home.servers.close().await;
    let Home { world, folder, .. } = home;
    let home = Home::over(world, servers, "http://127.0.0.1:1/", folder).await;
    home.until_ready("b").await;
    assert_eq!(home.tools(), ["pong"]);
    home.servers.close().await;
}

#[tokio::test]
async fn other_tools_are_listed_when_the_server_says_so() {
    let home = Home::new(json!({ "odd": odd("changing") })).await;
    home.until_ready("odd").await;
    assert_eq!(home.tools(), ["first"]);
    assert_eq!(home.text("first", json!({})).await, "changed");
    home.until("it has another", |home| home.tools() == ["second"]).await;
    assert_eq!(home.text("second", json!({})).await, "second");
    home.servers.close().await;
}

#[tokio::test]
async fn a_server_that_is_added_is_kept_and_its_secrets_apart() {
    let home = Home::new(json!({})).await;
    let mut settings = odd("env");
    settings["env"] = json!({ "TOKEN": "s3cret-token" });
    home.servers.add("mine".into(), settings.clone()).await.unwrap();
    home.until_ready("mine").await;
    let taken = home.servers.add("mine".into(), settings).await.unwrap_err();
    assert!(matches!(taken, ServerError::Taken(_)), "{taken}");
    for (name, settings, part) in [
        ("a b", json!({ "command": "x" }), "cannot be the name"),
        ("a", json!({}), "a command or a url"),
        ("a", json!({ "comand": "x" }), "unknown field"),
    ] {
        let refused = home.servers.add(name.into(), settings).await.unwrap_err().to_string();
        assert!(refused.contains(part), "{refused}");
    }
    let records = home.host.ports.catalog.list(Shelf::Servers, "").await.unwrap();
    assert!(records.iter().all(|(_, text)| !text.contains("s3cret")), "{records:?}");
    home.servers.close().await;
    let Home { world, folder, .. } = home;
    let home = Home::over(world, json!({}), "http://127.0.0.1:1/", folder).await;
    home.until_ready("mine").await;
    let env: Value = serde_json::from_str(&home.text("env", json!({})).await).unwrap();
    assert_eq!(env["TOKEN"], "s3cret-token");
    home.servers.remove("mine".into()).await.unwrap();
    assert_eq!((home.servers.list(), home.tools()), (Vec::new(), Vec::new()));
    assert_eq!(home.host.ports.catalog.list(Shelf::Servers, "").await.unwrap(), []);
    assert_eq!(std::fs::read_dir(home.folder.path().join("secrets/mcp")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_process_knows_nothing_of_our_variables_but_what_it_is_given() {
    let mut settings = odd("env");
    settings["pass_env"] = json!(["CARGO_PKG_NAME"]);
    let home = Home::new(json!({ "odd": settings })).await;
    home.until_ready("odd").await;
    let env: Value = serde_json::from_str(&home.text("env", json!({})).await).unwrap();
    let names: Vec<&String> = env.as_object().unwrap().keys().collect();
    assert_eq!(env["CARGO_PKG_NAME"], "megaron-mcp");
    assert!(names.iter().any(|name| *name == "PATH"), "{names:?}");
    assert!(names.iter().all(|name| *name != "CARGO_MANIFEST_DIR"), "{names:?}");
    home.servers.close().await;
}

#[tokio::test]
async fn a_lazy_server_whose_tools_are_known_is_started_by_the_first_call() {
    let mut settings = odd("plain");
    settings["lazy"] = true.into();
    let servers = json!({ "odd": settings });
    let home = Home::new(servers.clone()).await;
    home.until_ready("odd").await;
    home.servers.close().await;
    let Home { world, folder, .. } = home;
    let home = Home::over(world, servers, "http://127.0.0.1:1/", folder).await;
    home.until("its tools are there", |home| home.tools() == ["ping"]).await;
    assert_eq!((home.info("odd").standing, home.info("odd").starts), (Standing::Resting, 0));
    assert_eq!(home.text("ping", json!({})).await, "pong");
    assert_eq!(home.info("odd").standing, Standing::Ready);
    home.servers.close().await;
}

#[tokio::test]
async fn a_restart_begins_anew() {
    let home = Home::new(json!({ "odd": odd("changing") })).await;
    home.until_ready("odd").await;
    home.text("first", json!({})).await;
    home.until("it has another", |home| home.tools() == ["second"]).await;
    home.servers.restart("odd".into()).await.unwrap();
    home.until("it has the first again", |home| home.tools() == ["first"]).await;
    home.until_ready("odd").await;
    assert_eq!(home.info("odd").starts, 2);
    let unknown = home.servers.restart("nobody".into()).await.unwrap_err();
    assert_eq!(unknown.to_string(), "no server is named `nobody`");
    home.servers.close().await;
}

#[tokio::test]
async fn a_configuration_read_again_changes_what_is_different_and_nothing_else() {
    let first = json!({ "same": odd("plain"), "other": odd("other"), "gone": odd("reads") });
    let home = Home::new(first).await;
    for name in ["same", "other", "gone"] {
        home.until_ready(name).await;
    }
    let unread = home.servers.reload().await.unwrap_err();
    assert_eq!(unread.to_string(), "there is no configuration to read again");
    home.servers.add("added".into(), odd("changing")).await.unwrap();
    home.until_ready("added").await;
    let mut other = odd("other");
    other["disabled_tools"] = json!(["ping"]);
    let second = json!({ "same": odd("plain"), "other": other, "new": odd("calls") });
    home.servers
        .reads(move || serde_json::from_value(second.clone()).map_err(|error| error.to_string()));
    home.servers.reload().await.unwrap();
    for name in ["same", "other", "new", "added"] {
        home.until_ready(name).await;
    }
    let names: Vec<_> = home.servers.list().into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["added", "new", "other", "same"]);
    assert_eq!((home.info("same").starts, home.info("added").starts), (1, 1));
    assert!(!home.tools().contains(&"look".to_owned()), "of the one that is gone");
    assert!(!home.info("added").configured && home.info("new").configured);
    home.servers.close().await;
}

/// Whether a process still runs, as far as its status file tells.
fn lives(pid: &str) -> bool {
    let status = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    status.is_ok_and(|it| !it.contains(") Z "))
}

#[tokio::test]
async fn all_that_a_server_started_ends_with_it() {
    let world = World::new(nobody());
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("pids");
    let script = format!(
        "sleep 1000 & echo $! > {0}; echo $$ >> {0}; trap '' TERM; sleep 1000",
        note.display()
    );
    let servers = json!({ "deaf": { "command": "sh", "args": ["-c", script] } });
    let home = Home::over(world, servers, "http://127.0.0.1:1/", folder).await;
    let pids = || std::fs::read_to_string(&note).unwrap_or_default();
    home.until("it runs", |_| pids().lines().count() == 2).await;
    let pids: Vec<String> = pids().lines().map(str::to_owned).collect();
    assert!(pids.iter().all(|pid| lives(pid)));
    home.servers.close().await;
    home.until("all are gone", |_| pids.iter().all(|pid| !lives(pid))).await;
}
