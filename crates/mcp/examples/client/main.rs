//! The client of this crate as the public conformance suite starts it: with the address of a server, in a house with a person.
#![expect(clippy::unwrap_used, reason = "all of it is for tests")]

mod errands;
mod person;

use std::{collections::BTreeMap, process::ExitCode, sync::Arc};

use kernel::{
    approvals::{Mode, Rules},
    host::{Host, Settings},
};
use mcp::client::House;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{World, model::Script};

use person::{CALLBACK, Person};

/// What the one server is called.
const SERVER: &str = "suite";

#[tokio::main]
async fn main() -> ExitCode {
    let Some(url) = std::env::args().nth(1) else {
        eprintln!("expected the address of a server");
        return ExitCode::FAILURE;
    };
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".into());
    let context: Value = serde_json::from_str(&context).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (host, house) = open(&url, &context, &folder).await;
    let person = Person::new(host.clone(), house.clone());
    let outcome = tokio::select! {
        outcome = errands::run(&host, &house, &context) => outcome,
        gave_up = person.attend() => Err(gave_up),
    };
    for line in kernel::servers::Servers::logs(&*house, SERVER).unwrap_or_default() {
        eprintln!("{line:?}");
    }
    house.close().await;
    let Err(why) = outcome else { return ExitCode::SUCCESS };
    eprintln!("{why}");
    ExitCode::FAILURE
}

async fn open(url: &str, context: &Value, folder: &TempDir) -> (Arc<Host>, Arc<House>) {
    let work = folder.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let mut ports = World::new(Vec::<Script>::new()).ports();
    ports.workspace = work.canonicalize().unwrap();
    let rules = Rules { mode: Mode::Full, ..Rules::default() };
    let host = Host::start(ports, Settings { rules, ..Settings::default() }).await.unwrap();
    let mut settings = json!({ "url": url });
    if std::env::var("MCP_CONFORMANCE_SCENARIO").is_ok_and(|it| it == "auth/basic-cimd") {
        settings["client_id"] = "https://conformance-test.local/client-metadata.json".into();
    }
    for known in ["client_id", "client_secret"] {
        if let Some(value) = context.get(known) {
            settings[known] = value.clone();
        }
    }
    let servers = json!({ SERVER: settings });
    let servers: BTreeMap<String, mcp::client::Settings> = serde_json::from_value(servers).unwrap();
    let house = House::open(&host, servers, folder.path(), CALLBACK.into()).await.unwrap();
    (host, house)
}
