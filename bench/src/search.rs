//! How long the tools take to search a tree of files, beside ripgrep on the same tree.
//!
//! Ours are called in this process, through a host and its toolbox as a session calls them; `rg` is
//! started each time, as it would be, and its output is read.

use std::{
    fs,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use kernel::{
    host::{Host, Settings},
    ports::Ports,
    toolbox::{Caller, Toolbox},
    update::SessionId,
};
use serde_json::{Value, json};
use tempfile::tempdir;
use testkit::{ManualClock, Silence, World};

use crate::{history::median, table::Row};

const FILES: usize = 20_000;
const PER_DIRECTORY: usize = 40;
const ROUNDS: usize = 15;
/// How much slower than ripgrep we may be.
const SLOWER: f64 = 1.5;

struct Race {
    what: &'static str,
    tool: &'static str,
    args: Value,
    rg: &'static [&'static str],
}

pub fn measure() -> anyhow::Result<Vec<Row>> {
    if Command::new("rg").arg("--version").output().is_err() {
        eprintln!("skipped: there is no `rg` to measure beside; Debian has it as `ripgrep`");
        return Ok(Vec::new());
    }
    let folder = tempdir()?;
    plant(folder.path())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (host, session) = runtime.block_on(house(folder.path()))?;
    let mut rows = Vec::new();
    for race in races() {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        // By turns, so that whatever else the machine does is shared fairly.
        for _ in 0..ROUNDS {
            ours.push(millis(runtime.block_on(call(&host, session, &race))?));
            theirs.push(millis(ripgrep(folder.path(), race.rg)?));
        }
        let (ours, theirs) = (median(&mut ours), median(&mut theirs));
        let what = format!("{} in {FILES} files, median", race.what);
        let beside = format!("rg {}", race.rg.join(" "));
        rows.push(Row::new(&what, ours, "ms").at_most(SLOWER * theirs).beside(&beside, theirs));
    }
    Ok(rows)
}

fn races() -> [Race; 6] {
    let race = |what, tool, args, rg| Race { what, tool, args, rg };
    [
        race(
            "grep for a rare word",
            "grep",
            json!({ "pattern": "needle" }),
            &["--heading", "-n", "needle"],
        ),
        race(
            "grep for a pattern in most files",
            "grep",
            json!({ "pattern": r"fn \w+_7\(" }),
            &["--heading", "-n", r"fn \w+_7\("],
        ),
        race(
            "grep for the names of files",
            "grep",
            json!({ "pattern": "SEVEN_[0-9]*7", "ignore_case": true, "files_only": true }),
            &["-i", "-l", "SEVEN_[0-9]*7"],
        ),
        race("glob of all", "glob", json!({ "pattern": "*" }), &["--files"]),
        race(
            "glob of all, newest first",
            "glob",
            json!({ "pattern": "*" }),
            &["--files", "--sortr", "modified"],
        ),
        race("glob by name", "glob", json!({ "pattern": "*7.rs" }), &["--files", "-g", "*7.rs"]),
    ]
}

/// Sources like those people have, and as much again that is ignored.
fn plant(root: &Path) -> anyhow::Result<()> {
    fs::write(root.join(".gitignore"), "/target\n*.o\n")?;
    fs::create_dir(root.join(".git"))?;
    for number in 0..FILES {
        let group = number / PER_DIRECTORY;
        for top in ["src", "target"] {
            let dir = root.join(format!("{top}/part_{}/group_{group}", group % 10));
            if number % PER_DIRECTORY == 0 {
                fs::create_dir_all(&dir)?;
            }
            let text = if top == "src" { source(number) } else { "needle".into() };
            fs::write(dir.join(format!("file_{number}.rs")), text)?;
        }
    }
    Ok(())
}

fn source(number: usize) -> String {
    let lines = (0..40 + number % 60).map(|line| match (number % 1000, line) {
        (7, 3) => "// the needle is here\n".to_owned(),
        _ => format!("pub fn seven_{number}_{line}() -> usize {{ {line} + {number} }}\n"),
    });
    lines.collect::<Vec<_>>().concat()
}

async fn house(folder: &Path) -> anyhow::Result<(Arc<Host>, SessionId)> {
    let toolbox = Toolbox::default();
    tools::add_all(
        &toolbox,
        Arc::new(ManualClock::default()),
        Arc::new(Silence),
        tools::Workshop::default(),
    );
    let ports = Ports { tools: Arc::new(toolbox), ..World::new([]).ports() };
    let host = Host::start(ports, Settings::default()).await?;
    let session = host.create(folder, "test", "").await?;
    Ok((host, session))
}

async fn call(host: &Host, session: SessionId, race: &Race) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let reply = host.call(session, Caller::Model, race.tool, race.args.clone()).await?;
    let took = begun.elapsed();
    ensure!(reply.text.contains("file_"), "{} found nothing: {}", race.tool, reply.text);
    Ok(took)
}

fn ripgrep(folder: &Path, args: &[&str]) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let output = Command::new("rg").args(args).arg(".").current_dir(folder).output();
    let output = output.context("rg could not be run")?;
    let took = begun.elapsed();
    ensure!(output.status.success() && !output.stdout.is_empty(), "rg {args:?} found nothing");
    Ok(took)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
