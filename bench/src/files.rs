//! How many files and commands can be asked for in a second, on connections that are kept.

use std::{fs, thread, time::Instant};

use tempfile::tempdir;

use crate::{client::Http, server::Server, table::Row};

const CONNECTIONS: u32 = 4;

pub fn measure() -> anyhow::Result<Vec<Row>> {
    let (data, folder) = (tempdir()?, tempdir()?);
    let server = Server::start(data.path())?;
    let file = folder.path().join("note.txt");
    fs::write(&file, "remember the milk\n".repeat(60))?;
    let read = serde_json::json!({ "path": file }).to_string();
    let list = rate(&server, 2000, "GET", "/api/files", "")?;
    let read = rate(&server, 2000, "POST", "/api/mcp/read_file", &read)?;
    let shell = rate(&server, 200, "POST", "/api/shell", r#"{"command":"true"}"#)?;
    Ok(vec![
        Row::new("GET /api/files", list, "/s").at_least(10_000.0).beside("original", 1000.0),
        Row::new("POST /api/mcp/read_file, 1 KB", read, "/s")
            .at_least(20_000.0)
            .beside("original", 2350.0),
        Row::new("POST /api/shell `true`", shell, "/s").beside("original", 200.0),
    ])
}

/// Requests in a second, of so many on each connection.
fn rate(server: &Server, count: u32, method: &str, path: &str, body: &str) -> anyhow::Result<f64> {
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut http = Http::open(server)?;
        // The first request of a connection is not like the others.
        http.request(method, path, body)?;
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
