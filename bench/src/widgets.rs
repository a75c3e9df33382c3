//! How much the host of widgets takes in, and how much room a widget that is shown takes there.
//!
//! The handler is called in this process, with a context that answers at once: what is measured is what
//! is added to a message on its way.

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use ::widgets::{Capabilities, Context, Handler, Limits, Ports, Setup, ToolCall, Trouble};
use anyhow::Context as _;
use futures::future::{self, BoxFuture, FutureExt as _};
use serde_json::{Value, json};

use crate::table::Row;

const MESSAGES: usize = 200_000;
const SHOWN: usize = 20_000;

/// A world that does everything at once.
struct Quick(Instant);

impl Context for Quick {
    fn ports(&self) -> Ports {
        Ports::default()
    }

    fn post(&self, message: Value) {
        drop(message);
    }

    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn call_tool(&self, call: ToolCall) -> BoxFuture<'_, Result<Value, Trouble>> {
        let result = json!({ "content": [], "structuredContent": call.arguments });
        future::ready(Ok(result)).boxed()
    }
}

pub fn measure() -> anyhow::Result<Vec<Row>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (rate, slow) = runtime.block_on(throughput());
    let room = runtime.block_on(room())?;
    Ok(vec![
        Row::new("calls of widgets taken in", rate, "/s"),
        Row::new("one of them, the slowest of a hundred", slow, "µs"),
        Row::new("memory for each widget that is shown", room, "KB"),
    ])
}

fn handler() -> Handler {
    let limits = Limits { per_minute: usize::MAX, ..Limits::default() };
    let capabilities = Capabilities { server_tools: true, ..Capabilities::default() };
    let setup = Setup { capabilities, limits, version: "0".into(), ..Setup::default() };
    Handler::new(Arc::new(Quick(Instant::now())), setup)
}

async fn greet(handler: &Handler) {
    let params = json!({
        "appInfo": { "name": "bench", "version": "1" },
        "appCapabilities": {},
        "protocolVersion": "2026-01-26",
    });
    let greeting =
        json!({ "jsonrpc": "2.0", "id": 0, "method": "ui/initialize", "params": params });
    handler.handle(greeting).await;
    let ready = json!({ "jsonrpc": "2.0", "method": "ui/notifications/initialized" });
    handler.handle(ready).await;
}

/// Messages in a second, and the time that one in a hundred takes at least, in microseconds.
async fn throughput() -> (f64, f64) {
    let handler = handler();
    greet(&handler).await;
    let mut times = Vec::with_capacity(MESSAGES);
    let begun = Instant::now();
    for id in 1..=MESSAGES {
        let params = json!({ "name": "get-time", "arguments": { "zone": "UTC" } });
        let text = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let text = text.to_string();
        let since = Instant::now();
        let answer = handler.handle_text(&text).await;
        times.push(since.elapsed().as_secs_f64() * 1e6);
        drop(answer);
    }
    let seconds = begun.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "it is far from that large")]
    let rate = MESSAGES as f64 / seconds;
    (rate, times[MESSAGES * 99 / 100])
}

/// In KB, of a widget that was greeted and told an argument and a result.
async fn room() -> anyhow::Result<f64> {
    let before = resident()?;
    let mut shown = Vec::with_capacity(SHOWN);
    for _ in 0..SHOWN {
        let handler = handler();
        greet(&handler).await;
        handler.give(serde_json::Map::new());
        handler.finish(json!({ "content": [{ "type": "text", "text": "noon" }] }));
        shown.push(handler);
    }
    let after = resident()?;
    #[expect(clippy::cast_precision_loss, reason = "it is far from that large")]
    let each = (after - before) as f64 / SHOWN as f64;
    drop(shown);
    Ok(each)
}

/// Of this process, in KB.
fn resident() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let words = line.context("no VmRSS")?.split_whitespace().next().context("no number")?;
    Ok(words.parse()?)
}
