//! What it costs to ask an app in a window: in a browser, beside the least that could be done, and on the server alone.

mod bare;
mod house;
mod replay;

use std::{
    env,
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use self::{bare::Bare, house::House};
use crate::{client::Socket, page, table::Row};

/// Alternately, so that what else the machine does meets both alike.
const ROUNDS: usize = 40;
const CALLS: usize = 50;
const WARMING: usize = 300;

pub fn measure() -> anyhow::Result<Vec<Row>> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let mut rows = in_browser().await?;
        rows.extend(share().await?);
        rows.extend(replay::measure().await?);
        Ok(rows)
    })
}

/// Through the server, the socket, the page and the frame, and back.
async fn in_browser() -> anyhow::Result<Vec<Row>> {
    let browser =
        env::var_os("CHROMIUM_BIN").map_or_else(|| "/usr/bin/chromium".into(), PathBuf::from);
    if let Some(missing) = page::missing(&browser) {
        eprintln!("leaving out apps in the browser: {missing}");
        return Ok(Vec::new());
    }
    let house = House::open().await?;
    house.show("awkward", "/api/apps/awkward/index.html").await?;
    let mut bare = Bare::start().await?;
    let mut driver = Command::new("node")
        .arg(page::home().join("page/apps.mjs"))
        .args([&house.login, &house.session.to_string(), &bare.url()])
        .env("CHROMIUM_BIN", browser)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .context("cannot run node")?;
    arrived(&mut driver).await?;
    bare.joined().await?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..WARMING {
        house.query("awkward", "counters").await?;
        bare.ask().await?;
    }
    for _ in 0..ROUNDS {
        for _ in 0..CALLS {
            ours.push(timed(house.query("awkward", "counters")).await?);
        }
        for _ in 0..CALLS {
            theirs.push(timed(bare.ask()).await?);
        }
    }
    // It closes the browser when there is nobody any more to listen to.
    drop(driver.stdin.take());
    driver.wait().await?;
    let row = |name: &str, share| {
        let what = format!("an app in a window is asked something, {name}");
        let beside = at(&theirs, share);
        (Row::new(&what, at(&ours, share), "µs").beside("bare messages", beside), beside)
    };
    let (median, beside) = row("median", 500);
    Ok(vec![median.at_most(beside * 1.5), row("p99", 990).0])
}

async fn arrived(driver: &mut Child) -> anyhow::Result<()> {
    let out = driver.stdout.take().context("no output")?;
    let line = BufReader::new(out).lines().next_line().await?;
    ensure!(line.as_deref() == Some("ready"), "the browser did not get that far");
    Ok(())
}

/// The same with a client that answers at once, so that nothing is left but the server.
async fn share() -> anyhow::Result<Vec<Row>> {
    let house = House::open().await?;
    house.show("dock", "/api/apps/awkward/index.html").await?;
    let path = format!("/apps/ws?sessionId={}", house.session);
    let mut socket = Socket::open(&house.address, &path, &house.key).await?;
    let ready = json!({ "type": "APP_PROTOCOL_READY", "windowId": "dock", "instance": "i" });
    socket.send(&ready.to_string()).await?;
    let client = tokio::spawn(answer(socket));
    let mut bare = Bare::start().await?;
    let echo = tokio::spawn(answer(Socket::open(&bare.address, "/ws", "").await?));
    bare.joined().await?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS + 10 {
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for _ in 0..CALLS {
            own.push(timed(house.query("dock", "n")).await?);
        }
        for _ in 0..CALLS {
            other.push(timed(bare.ask()).await?);
        }
        if round >= 10 {
            ours.extend(own);
            theirs.extend(other);
        }
    }
    client.abort();
    echo.abort();
    let mut rows = Vec::new();
    for (name, share, limit) in [("median", 500, None), ("p99", 990, Some(100.0))] {
        let (own, other) = (at(&ours, share), at(&theirs, share));
        let what = format!("the same of a client that answers at once, {name}");
        rows.push(Row::new(&what, own, "µs").beside("bare socket", other));
        let row = Row::new(&format!("of that the server's share, {name}"), own - other, "µs");
        rows.push(match limit {
            Some(limit) => row.at_most(limit),
            None => row,
        });
    }
    Ok(rows)
}

/// Answers whatever is asked.
async fn answer(mut socket: Socket) -> anyhow::Result<()> {
    loop {
        let frame: Value = serde_json::from_slice(socket.next().await?)?;
        let Some(request) = frame["requestId"].as_str() else { continue };
        let response = match frame["request"]["kind"].as_str() {
            Some("manifest") => {
                json!({ "kind": "manifest", "manifest": { "appId": "dock", "state": { "n": {} } } })
            }
            _ => json!({ "kind": "query", "data": { "always": 0, "last": 0 } }),
        };
        let said = json!({ "type": "APP_PROTOCOL_RESPONSE", "requestId": request,
            "windowId": frame["windowId"], "response": response });
        socket.send(&said.to_string()).await?;
    }
}

async fn timed<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    work.await?;
    Ok(begun.elapsed())
}

fn at(took: &[Duration], share: usize) -> f64 {
    let mut took = took.to_vec();
    took.sort_unstable();
    took[took.len() * share / 1000].as_secs_f64() * 1e6
}
