//! How long a widget in the page waits for a tool of its server, beside the official host in the same browser.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::{page, server::Server, table::Row};

/// So much longer it may take through us, although ours goes through the server.
const SLOWER: f64 = 1.5;

pub fn measure() -> anyhow::Result<Vec<Row>> {
    let browser =
        env::var_os("CHROMIUM_BIN").map_or_else(|| "/usr/bin/chromium".into(), PathBuf::from);
    if let Some(missing) = page::missing(&browser) {
        eprintln!("leaving out widgets in the browser: {missing}");
        return Ok(Vec::new());
    }
    let folder = tempdir()?;
    let guest = folder.path().join("guest.html");
    driven(&browser, Path::new("write"), &guest).context("`make peers` installs its library")?;
    let program = page::home().join("../ui/e2e/official/server.mjs");
    let args = json!([program, guest]);
    let table = format!("[mcp.servers.guest]\ncommand = \"node\"\nargs = {args}\ntrusted = true\n");
    let data_dir = folder.path().join("data");
    fs::create_dir(&data_dir)?;
    fs::write(data_dir.join("config.toml"), table)?;
    let server = Server::start(&data_dir)?;
    let times: Value =
        serde_json::from_slice(&driven(&browser, Path::new(&server.login), &guest)?)?;
    let (ours, theirs) = (sorted(&times["ours"]), sorted(&times["theirs"]));
    ensure!(!ours.is_empty() && !theirs.is_empty(), "nothing was measured");
    let row = |name: &str, share: f64| {
        let what = format!("a widget in the page calls a tool of its server, {name}");
        Row::new(&what, at(&ours, share), "ms").beside("the official host", at(&theirs, share))
    };
    let limit = SLOWER * at(&theirs, 0.5);
    Ok(vec![row("median", 0.5).at_most(limit), row("99 of 100", 0.99)])
}

/// What the driver of the browser prints.
fn driven(browser: &Path, what: &Path, guest: &Path) -> anyhow::Result<Vec<u8>> {
    let output = Command::new("node")
        .arg(page::home().join("page/widgets.mjs"))
        .args([what, guest])
        .env("CHROMIUM_BIN", browser)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run node")?;
    ensure!(output.status.success(), "the browser did not get to the end");
    Ok(output.stdout)
}

fn sorted(times: &Value) -> Vec<f64> {
    let mut times: Vec<f64> =
        times.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    times.sort_by(f64::total_cmp);
    times
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a place in a short list"
)]
fn at(times: &[f64], share: f64) -> f64 {
    let place = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
    times.get(place).copied().unwrap_or_default()
}
