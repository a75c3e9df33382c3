//! How fast applets, files, commands and state are had, on connections that are kept.

use std::{fs, path::Path, thread, time::Instant};

use anyhow::Context as _;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use tempfile::tempdir;

use crate::{
    client::{Http, Socket, new_session},
    echo::Echo,
    server::Server,
    table::Row,
};

const CONNECTIONS: u32 = 4;
const ENTRIES: usize = 20;
const ROUNDS: u32 = 20_000;

/// What the program that these endpoints were first made for managed, in a second, at its best.
const APPLETS: (&str, f64) = ("original, 570–780", 780.0);
const FILES: (&str, f64) = ("original", 1000.0);
const READ: (&str, f64) = ("original, 2,000–2,700", 2700.0);
const SHELL: (&str, f64) = ("original, 185–215", 215.0);
/// And how long a question over the socket took, in microseconds, at its worst.
const ROUND_TRIP: (&str, f64) = ("original, 28–35", 35.0);

pub fn measure() -> anyhow::Result<Vec<Row>> {
    let (data, folder) = (tempdir()?, tempdir()?);
    let file = furnish(folder.path())?;
    let (server, echo) = (Server::start_in(data.path(), folder.path())?, Echo::start()?);
    let read = serde_json::json!({ "path": file }).to_string();
    let mut rows = Vec::new();
    for (what, count, (method, path, body), original) in [
        ("GET /api/applets", 2000, ("GET", "/api/applets", ""), APPLETS),
        ("GET /api/files, 20 entries", 2000, ("GET", "/api/files", ""), FILES),
        ("POST /api/mcp/read_file, 1 KB", 4000, ("POST", "/api/mcp/read_file", &*read), READ),
        ("POST /api/shell `true`", 500, ("POST", "/api/shell", r#"{"command":"true"}"#), SHELL),
    ] {
        let place = (server.address.as_str(), server.key.as_str());
        let size = Http::connect(place.0, place.1)?.request(method, path, body)?.len();
        let ours = rate(place, count, method, path, body)?;
        let bare = rate((&echo.address, ""), count, method, &format!("/bytes/{size}"), body)?;
        let row = Row::new(what, ours, "/s").at_least(original.1 * 10.0);
        rows.push(row.beside(original.0, original.1).beside("bare axum, as many bytes", bare));
    }
    drop((server, echo));
    rows.push(on_one_core(state)?);
    Ok(rows)
}

/// Whoever is started in the meantime stays there too: what a machine takes to wake another of its
/// cores hides the rest, and differs from one moment to the next.
fn on_one_core<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let before = sched_getaffinity(None)?;
    let mut one = CpuSet::new();
    let first = (0..CpuSet::MAX_CPU).find(|core| before.is_set(*core));
    one.set(first.context("no core to run on")?);
    sched_setaffinity(None, &one)?;
    let done = work();
    sched_setaffinity(None, &before)?;
    done
}

fn state() -> anyhow::Result<Row> {
    let (data, folder) = (tempdir()?, tempdir()?);
    let (server, echo) = (Server::start_in(data.path(), folder.path())?, Echo::start()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let session = new_session(&server)?;
    tell_state(&server, &session)?;
    let ask = serde_json::json!({ "type": "getState", "sessionId": session, "appletSlug": "a" });
    let ask = ask.to_string();
    let ours = runtime.block_on(round_trip(&server.address, "/caco/ws", &server.key, &ask))?;
    let bare = runtime.block_on(round_trip(&echo.address, "/ws", "", &ask))?;
    let row = Row::new("getState over a socket and back, all on one core", ours, "µs");
    let row = row.at_most(ROUND_TRIP.1).beside(ROUND_TRIP.0, ROUND_TRIP.1);
    Ok(row.beside("bare axum echo", bare))
}

/// Something to ask for.
fn tell_state(server: &Server, session: &str) -> anyhow::Result<()> {
    let path = format!("/api/applet/state?sessionId={session}&slug=a");
    Http::open(server)?.request("POST", &path, r#"{"count":1,"name":"tally"}"#)?;
    Ok(())
}

/// Fills a folder, and names a file in it.
fn furnish(folder: &Path) -> anyhow::Result<std::path::PathBuf> {
    for number in 1..ENTRIES {
        fs::write(folder.join(format!("file {number}.txt")), "")?;
    }
    let file = folder.join("note.txt");
    fs::write(&file, "remember the milk\n".repeat(60))?;
    Ok(file)
}

/// Requests in a second, of so many on each connection.
fn rate(
    (address, key): (&str, &str),
    count: u32,
    method: &str,
    path: &str,
    body: &str,
) -> anyhow::Result<f64> {
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut http = Http::connect(address, key)?;
        // The first requests of a connection are not like the others.
        for _ in 0..count / 20 {
            http.request(method, path, body)?;
        }
        connections.push(http);
    }
    let begun = Instant::now();
    thread::scope(|scope| {
        let work = |mut http: Http| {
            move || (0..count).try_for_each(|_| http.request(method, path, body).map(drop))
        };
        let threads: Vec<_> = connections.into_iter().map(|http| scope.spawn(work(http))).collect();
        threads.into_iter().try_for_each(|it| {
            it.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a client broke down")))
        })
    })?;
    Ok(f64::from(count * CONNECTIONS) / begun.elapsed().as_secs_f64())
}

/// How long one question and its answer take, in microseconds: the median.
async fn round_trip(address: &str, path: &str, key: &str, ask: &str) -> anyhow::Result<f64> {
    let mut socket = Socket::open(address, path, key).await?;
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        socket.send(ask).await?;
        socket.next().await?;
        took.push(begun.elapsed());
    }
    took.sort_unstable();
    Ok(took[took.len() / 2].as_secs_f64() * 1e6)
}
