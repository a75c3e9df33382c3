//! What the page costs a browser: how much it loads, how soon it is there, how it bears a long past.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, ensure};
use serde_json::Value;
use tempfile::tempdir;

use crate::{seed, server::Server, table::Row};

const FACTS: u64 = 50_000;

pub fn measure() -> anyhow::Result<Vec<Row>> {
    let browser =
        env::var_os("CHROMIUM_BIN").map_or_else(|| "/usr/bin/chromium".into(), PathBuf::from);
    if let Some(missing) = missing(&browser) {
        eprintln!("leaving out the page: {missing}");
        return Ok(Vec::new());
    }
    let folder = tempdir()?;
    let (session, turns) = seed::diary(folder.path(), FACTS)?;
    let server = Server::start(folder.path())?;
    let output = Command::new("node")
        .arg(script())
        .args([&server.login, &session, &turns.to_string()])
        .env("CHROMIUM_BIN", browser)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run node")?;
    ensure!(output.status.success(), "the browser did not get to the end");
    let found: Value = serde_json::from_slice(&output.stdout)?;
    rows(&found)
}

fn rows(found: &Value) -> anyhow::Result<Vec<Row>> {
    let number = |name: &str| found[name].as_f64().with_context(|| format!("no {name}"));
    Ok(vec![
        Row::new("page: first download, compressed", number("download")?, "kB")
            .at_most(150.0)
            .beside("original's script, 2.9 MB of diagrams later", 48.6),
        Row::new("page: first paint of the start page, median", number("paint")?, "ms"),
        Row::new("page: until something can be written, median", number("ready")?, "ms"),
        Row::new("page: opening a session of 50,000 facts, median", number("open")?, "ms")
            .at_most(1000.0),
        Row::new("page: elements in the document, session open", number("nodes")?, "")
            .at_most(3000.0),
        Row::new(
            "page: the same after scrolling through 5,000 items",
            number("scrolledNodes")?,
            "",
        )
        .at_most(3000.0),
        Row::new("page: memory of scripts, session open", number("heap")?, "MB"),
        Row::new(
            "page: the same after scrolling through 5,000 items",
            number("scrolledHeap")?,
            "MB",
        ),
        Row::new("page: frames a second while scrolling", number("frames")?, "").at_least(55.0),
    ])
}

/// What is not there, and how to get it.
pub fn missing(browser: &Path) -> Option<String> {
    let node = Command::new("node").arg("--version").stdout(Stdio::null()).status();
    if !browser.exists() {
        let path = browser.display();
        return Some(format!("no browser at {path}; name one with CHROMIUM_BIN=/path/to/chromium"));
    }
    if !node.is_ok_and(|status| status.success()) {
        return Some("no node to drive the browser with".to_owned());
    }
    let driver = home().join("../ui/node_modules/playwright-core");
    (!driver.exists())
        .then(|| "nothing to drive the browser with; `make page` installs it".to_owned())
}

fn script() -> PathBuf {
    home().join("page/measure.mjs")
}

pub fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
