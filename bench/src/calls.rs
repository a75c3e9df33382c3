//! What a tool call costs: of our own, and of a server over pipes beside a bare client of the same protocol.

use std::{
    io::{BufRead as _, Write as _},
    sync::Arc,
    time::{Duration, Instant},
};

use kernel::{
    approvals::{Mode, Rules},
    host::{Host, Settings},
    servers::{Servers as _, Standing},
    toolbox::Caller,
    update::SessionId,
};
use rmcp::{
    ServiceExt as _,
    model::CallToolRequestParams,
    transport::{ConfigureCommandExt as _, TokioChildProcess},
};
use serde_json::{Value, json};
use tempfile::tempdir;
use testkit::{World, model::Script};
use tokio::process::Command;

use crate::table::Row;

/// The argument that makes this program a server with one tool.
pub const COMMAND: &str = "lend-tools";
/// Alternately, so that what else the machine does meets both alike.
const ROUNDS: usize = 20;
const CALLS: usize = 200;
const WARMING: usize = 200;

/// A server that does next to nothing, and so adds next to nothing to what is measured.
pub fn lend() -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let Some(id) = asked.get("id") else { continue };
        let answer = match asked["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} }, "serverInfo": { "name": "peer", "version": "1" } }),
            Some("tools/list") => json!({ "tools": [{ "name": "ping", "inputSchema": {
                "type": "object", "properties": { "n": { "type": "integer" } } } }] }),
            Some("tools/call") => json!({ "content": [{ "type": "text", "text": "pong" }] }),
            _ => {
                let error = json!({ "code": -32601, "message": "Method not found" });
                writeln!(out, "{}", json!({ "jsonrpc": "2.0", "id": id, "error": error }))?;
                out.flush()?;
                continue;
            }
        };
        writeln!(out, "{}", json!({ "jsonrpc": "2.0", "id": id, "result": answer }))?;
        out.flush()?;
    }
    Ok(())
}

pub fn measure() -> anyhow::Result<Vec<Row>> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(compare())
}

async fn compare() -> anyhow::Result<Vec<Row>> {
    let folder = tempdir()?;
    let program = std::env::current_exe()?;
    let rules = Rules { mode: Mode::Full, ..Rules::default() };
    let settings = Settings { rules, ..Settings::default() };
    let host = Host::start(World::new(Vec::<Script>::new()).ports(), settings).await?;
    let peer = json!({ "peer": { "command": program, "args": [COMMAND] } });
    let peer = serde_json::from_value(peer)?;
    let servers = mcp::client::House::open(&host, peer, folder.path(), String::new()).await?;
    servers.began().await;
    anyhow::ensure!(servers.list()[0].standing == Standing::Ready, "{:?}", servers.list());
    let session = host.create(folder.path(), "test", "").await?;
    let command = Command::new(&program).configure(|it| {
        it.arg(COMMAND);
    });
    let bare = ().serve(TokioChildProcess::new(command)?).await?;

    let (mut lent, mut plain, mut own) = (Vec::new(), Vec::new(), Vec::new());
    ours(&host, session, "ping", WARMING).await?;
    theirs(bare.peer(), WARMING).await?;
    for _ in 0..ROUNDS {
        lent.extend(ours(&host, session, "ping", CALLS).await?);
        plain.extend(theirs(bare.peer(), CALLS).await?);
        own.extend(ours(&host, session, "echo", CALLS).await?);
    }
    bare.cancel().await?;
    servers.close().await;
    let mut rows = Vec::new();
    for (name, share) in [("median", 500), ("p99", 990)] {
        let (lent, plain) = (at(&mut lent, share), at(&mut plain, share));
        let row = Row::new(&format!("a call of a server's tool, {name}"), lent, "µs");
        let row = if share == 500 { row.at_most(plain * 1.3) } else { row };
        rows.push(row.beside("bare client", plain));
    }
    for (name, share) in [("median", 500), ("p99", 990)] {
        let what = format!("a call of a tool of our own that does nothing, {name}");
        rows.push(Row::new(&what, at(&mut own, share), "µs"));
    }
    Ok(rows)
}

async fn ours(
    host: &Arc<Host>,
    session: SessionId,
    tool: &str,
    count: usize,
) -> anyhow::Result<Vec<Duration>> {
    let mut took = Vec::with_capacity(count);
    for n in 0..count {
        let begun = Instant::now();
        host.call(session, Caller::Client, tool, json!({ "n": n })).await?;
        took.push(begun.elapsed());
    }
    Ok(took)
}

async fn theirs(
    peer: &rmcp::service::Peer<rmcp::RoleClient>,
    count: usize,
) -> anyhow::Result<Vec<Duration>> {
    let mut took = Vec::with_capacity(count);
    for n in 0..count {
        let begun = Instant::now();
        let args = json!({ "n": n }).as_object().cloned().unwrap_or_default();
        peer.call_tool_once(CallToolRequestParams::new("ping").with_arguments(args)).await?;
        took.push(begun.elapsed());
    }
    Ok(took)
}

fn at(took: &mut [Duration], share: usize) -> f64 {
    took.sort_unstable();
    took[took.len() * share / 1000].as_secs_f64() * 1e6
}
