//! The server is killed in the middle of what a tool does: that is on record, and never silently repeated.

use std::path::{Path, PathBuf};

use kernel::update::{Fact, Output};
use reqwest::Method;
use serde_json::json;
use testkit::history;

use crate::{client::Client, server::Home, until, within};

/// How many folders the tool has to make, one in the other: the first can be seen long before the
/// last is made, so that a kill finds the tool at work.
const FOLDERS: usize = 1900;
/// A kill that comes too late, when all is on record, shows nothing; another is tried then.
const ATTEMPTS: usize = 20;

#[tokio::test]
async fn a_tool_cut_off_between_its_effect_and_its_record_is_not_run_again_by_itself() {
    for _ in 0..ATTEMPTS {
        if is_cut_off().await {
            return;
        }
    }
    panic!("no kill found the tool at work");
}

/// Whether the kill came before the result was on record. If so, all else was checked as well.
async fn is_cut_off() -> bool {
    let home = Home::new();
    let server = home.serve(&[]).await;
    let client = Client::of(&home);
    let session = client.create().await;
    let place = format!("/api/sessions/{session}");
    client.must(Method::PATCH, &place, json!({ "mode": "full" })).await;
    let path = format!("made/{}file", "d/".repeat(FOLDERS));
    let args = json!({ "path": path, "content": "new" });
    let prompt = format!("/tool write_file {args}");
    client.post(&session, &prompt).await;
    let made = home.path("made");
    within("the tool to have an effect", visible(&made)).await;
    server.kill().await;
    let before = depth(&made);

    let _server = home.serve(&[]).await;
    client.idle(&session).await;
    let log = client.log(&session).await;
    assert_eq!(history::check(&log), Ok(()));
    let started = log.iter().any(|entry| matches!(entry.fact, Fact::ToolStarted { .. }));
    assert!(started, "what has an effect is on record before it has one");
    let output = log.iter().find_map(|entry| match &entry.fact {
        Fact::ToolReturned { output, .. } => Some(output),
        _ => None,
    });
    assert_eq!(depth(&made), before, "nothing was done after the restart");
    if output != Some(&Output::Interrupted) {
        return false;
    }

    for (decision, done) in [("deny", false), ("once", true)] {
        client.post(&session, &prompt).await;
        let asked = until("a question", async || {
            client.get("/api/approvals").await["approvals"].as_array().unwrap().first().cloned()
        })
        .await;
        let why = "the same call was cut off before; it may have had its effect already";
        assert_eq!(asked["why"], why, "although it may do everything");
        assert_eq!(depth(&made), before, "it waits");
        let answer = format!("/api/approvals/{}", asked["id"].as_str().unwrap());
        client.must(Method::POST, &answer, json!({ "decision": decision })).await;
        client.idle(&session).await;
        assert_eq!(depth(&made), if done { FOLDERS } else { before }, "{decision}");
        assert_eq!(home.path(&path).exists(), done);
    }
    assert_eq!(history::check(&client.log(&session).await), Ok(()));
    true
}

async fn visible(path: &Path) {
    while !path.exists() {
        tokio::task::yield_now().await;
    }
}

/// How many folders lie in each other.
fn depth(folder: &Path) -> usize {
    let inner = |folder: &PathBuf| Some(folder.join("d")).filter(|inner| inner.exists());
    std::iter::successors(Some(folder.to_owned()), inner).count() - 1
}
