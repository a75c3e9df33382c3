//! How soon it is there, and how much room it takes.

use anyhow::Context as _;
use tempfile::tempdir;

use crate::{
    client::{Http, Socket, new_session, say},
    seed,
    server::Server,
    table::Row,
};

pub fn measure() -> anyhow::Result<Vec<Row>> {
    let folder = tempdir()?;
    let data = folder.path().join("data");
    drop(Server::start(&data)?);
    let mut ready: Vec<f64> = Vec::new();
    for _ in 0..9 {
        ready.push(Server::start(&data)?.ready.as_secs_f64() * 1000.0);
    }
    ready.sort_by(f64::total_cmp);

    let server = Server::start(&data)?;
    Http::open(&server)?.request("GET", "/api/sessions", "")?;
    let idle = server.resident()?;
    let live = ten_sessions(&server)?;
    drop(server);

    let large = folder.path().join("large");
    let megabytes = seed::gigabyte(&large)?;
    let server = Server::start(&large)?;
    read_all(&server)?;
    let laden = server.resident()?;
    let small = folder.path().join("small");
    seed::one_session(&small, 100)?;
    let server = Server::start(&small)?;
    read_all(&server)?;
    let empty = server.resident()?;

    let grown = format!("memory more with {megabytes:.0} MB of history, all of it read");
    Ok(vec![
        Row::new("ready to serve", ready[ready.len() / 2], "ms")
            .at_most(50.0)
            .beside("original", 1100.0),
        Row::new("memory when idle", idle, "MB").at_most(40.0).beside("original", 97.0),
        Row::new("memory with ten live sessions", live, "MB")
            .at_most(65.0)
            .beside("original", 1997.0),
        Row::new(&grown, laden - empty, "MB").at_most(20.0),
    ])
}

/// Ten sessions that have each answered and are being watched.
fn ten_sessions(server: &Server) -> anyhow::Result<f64> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut sockets = Vec::new();
        for _ in 0..10 {
            let session = new_session(server)?;
            let mut socket = Socket::open(&server.address, "/caco/ws", &server.key).await?;
            let subscribe =
                serde_json::json!({ "type": "subscribe", "sessionId": session, "after": 0 });
            socket.send(&subscribe.to_string()).await?;
            say(server, &session, "hello")?;
            until(&mut socket, "\"session.idle\"").await?;
            sockets.push(socket);
        }
        server.resident()
    })
}

/// Tells the whole history of every session to a client.
fn read_all(server: &Server) -> anyhow::Result<()> {
    let list = crate::client::json(server, "GET", "/api/sessions", "")?;
    let groups = list["grouped"].as_object().context("no sessions")?;
    let sessions = groups.values().filter_map(|group| group.as_array()).flatten();
    let ids: Vec<&str> = sessions.filter_map(|session| session["sessionId"].as_str()).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        for id in ids {
            let mut socket = Socket::open(&server.address, "/caco/ws", &server.key).await?;
            let ask = serde_json::json!({ "type": "requestHistory", "sessionId": id });
            socket.send(&ask.to_string()).await?;
            until(&mut socket, "\"historyComplete\"").await?;
        }
        Ok(())
    })
}

async fn until(socket: &mut Socket, word: &str) -> anyhow::Result<()> {
    loop {
        let frame = socket.next().await?;
        // What is looked for stands near the beginning.
        let beginning = &frame[..frame.len().min(160)];
        if crate::client::find(beginning, word.as_bytes()).is_some() {
            return Ok(());
        }
    }
}
