//! How long it takes to look at a long past.

use std::time::Instant;

use anyhow::Context as _;
use tempfile::tempdir;

use crate::{
    client::{Http, Socket, find, json},
    seed,
    server::Server,
    table::Row,
};

pub fn sessions() -> anyhow::Result<Vec<Row>> {
    let folder = tempdir()?;
    seed::sessions(folder.path(), 10_000)?;
    let server = Server::start(folder.path())?;
    let mut http = Http::open(&server)?;
    let schedule = r#"{"prompt":"go","schedule":{"type":"cron","expression":"@yearly"}}"#;
    for number in 0..1000 {
        http.request("PUT", &format!("/api/schedule/number-{number}"), schedule)?;
    }
    http.request("GET", "/api/sessions", "")?;
    let mut took = Vec::new();
    for _ in 0..50 {
        let begun = Instant::now();
        http.request("GET", "/api/sessions", "")?;
        took.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    let ready = server.ready.as_secs_f64() * 1000.0;
    Ok(vec![
        Row::new("GET /api/sessions with 10,000, beside 1,000 schedules", median(&mut took), "ms")
            .at_most(10.0)
            .beside("original with 200", 1000.0 / 7.0),
        Row::new("ready to serve with 10,000 sessions", ready, "ms"),
    ])
}

pub fn history() -> anyhow::Result<Vec<Row>> {
    let folder = tempdir()?;
    seed::one_session(folder.path(), 100_000)?;
    let (mut open, mut replay) = (Vec::new(), Vec::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for _ in 0..5 {
        let server = Server::start(folder.path())?;
        let list = json(&server, "GET", "/api/sessions", "")?;
        let group = list["grouped"]["/home/person"].as_array().context("no session")?;
        let session = group[0]["sessionId"].as_str().context("no session")?;
        let begun = Instant::now();
        json(&server, "POST", &format!("/api/sessions/{session}/resume"), "")?;
        runtime.block_on(first_event(&server, session))?;
        open.push(begun.elapsed().as_secs_f64() * 1000.0);
        replay.push(runtime.block_on(replayed(&server, session, 10_000))?);
    }
    Ok(vec![
        Row::new("opening a session of 100,000 facts, to its last events", median(&mut open), "ms")
            .at_most(50.0),
        Row::new("replay of 10,000 events", median(&mut replay), "ms").at_most(200.0),
    ])
}

/// Opens the session as a page does: subscribes near its end and waits for the first event.
async fn first_event(server: &Server, session: &str) -> anyhow::Result<()> {
    let mut socket = Socket::open(&server.address, "/caco/ws", &server.key).await?;
    let frame = serde_json::json!({ "type": "subscribe", "sessionId": session, "after": 99_900 });
    socket.send(&frame.to_string()).await?;
    socket.next().await?;
    Ok(())
}

/// How many milliseconds it takes until so many events have arrived.
async fn replayed(server: &Server, session: &str, events: usize) -> anyhow::Result<f64> {
    let mut socket = Socket::open(&server.address, "/caco/ws", &server.key).await?;
    let frame = serde_json::json!({ "type": "requestHistory", "sessionId": session });
    let begun = Instant::now();
    socket.send(&frame.to_string()).await?;
    let mut count = 0;
    while count < events {
        count += usize::from(find(&socket.next().await?[..15], b"\"event\"").is_some());
    }
    Ok(begun.elapsed().as_secs_f64() * 1000.0)
}

pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
