//! How fast text reaches one reader, and a hundred, beside a bare broadcaster doing the same.

use std::time::Instant;

use futures::future::try_join_all;
use tempfile::tempdir;

use crate::{
    bare::Bare,
    client::{Socket, find, new_session, say},
    history::median,
    server::Server,
    table::Row,
};

const DELTAS: usize = 5000;
const ROUNDS: usize = 5;

pub fn measure() -> anyhow::Result<Vec<Row>> {
    let folder = tempdir()?;
    let server = Server::start(folder.path())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut rows = Vec::new();
    for readers in [1, 100] {
        let (mut ours, mut theirs, mut share) = (Vec::new(), Vec::new(), 0.0);
        for _ in 0..ROUNDS {
            let round = runtime.block_on(megaron(&server, readers))?;
            let bare = Bare::start(readers, DELTAS, round.size)?;
            theirs.push(runtime.block_on(broadcast(&bare, readers))?);
            ours.push(round.seconds);
            share = round.share;
        }
        let rate = |seconds: f64| count(DELTAS * readers) / seconds;
        let (ours, theirs) = (rate(median(&mut ours)), rate(median(&mut theirs)));
        let what = format!("deltas to {readers} reader(s), {:.0} % one by one", share * 100.0);
        let row = Row::new(&what, ours, "/s").beside("bare axum broadcaster", theirs);
        rows.push(if readers == 1 { row.at_least(50_000.0) } else { row.at_least(theirs / 2.0) });
    }
    Ok(rows)
}

struct Round {
    /// From the first word anybody hears to the last word everybody does.
    seconds: f64,
    /// Bytes of a delta's frame.
    size: usize,
    /// How much of the text came piece by piece; who falls behind gets the rest in one.
    share: f64,
}

async fn megaron(server: &Server, readers: usize) -> anyhow::Result<Round> {
    let session = new_session(server)?;
    let mut sockets = Vec::new();
    for _ in 0..readers {
        let mut socket = Socket::open(&server.address, "/caco/ws", &server.key).await?;
        let subscribe = serde_json::json!({
            "type": "subscribe", "sessionId": session, "after": 0, "deltas": "native",
        });
        socket.send(&subscribe.to_string()).await?;
        socket.send(r#"{"type":"ping"}"#).await?;
        while find(socket.next().await?, b"pong").is_none() {}
        sockets.push(socket);
    }
    say(server, &session, &format!("/long {DELTAS}"))?;
    let heard = try_join_all(sockets.iter_mut().map(hear)).await?;
    let first = heard.iter().map(|heard| heard.first).min().unwrap_or_else(Instant::now);
    let last = heard.iter().map(|heard| heard.last).max().unwrap_or_else(Instant::now);
    let deltas: usize = heard.iter().map(|heard| heard.deltas).sum();
    let size = heard.iter().map(|heard| heard.bytes).sum::<usize>() / deltas.max(1);
    let share = count(deltas) / count(DELTAS * readers);
    Ok(Round { seconds: last.duration_since(first).as_secs_f64(), size, share })
}

struct Heard {
    first: Instant,
    last: Instant,
    deltas: usize,
    bytes: usize,
}

async fn hear(socket: &mut Socket) -> anyhow::Result<Heard> {
    let (mut first, mut deltas, mut bytes) = (None, 0, 0);
    loop {
        let frame = socket.next().await?;
        let beginning = &frame[..frame.len().min(140)];
        if find(beginning, b"message_delta").is_some() {
            first.get_or_insert_with(Instant::now);
            deltas += 1;
            bytes += frame.len();
        } else if find(beginning, b"session.idle").is_some() {
            let last = Instant::now();
            return Ok(Heard { first: first.unwrap_or(last), last, deltas, bytes });
        }
    }
}

async fn broadcast(bare: &Bare, readers: usize) -> anyhow::Result<f64> {
    let mut sockets = Vec::new();
    for _ in 0..readers {
        sockets.push(Socket::open(&bare.address, "/", "").await?);
    }
    let count_all = async |socket: &mut Socket| {
        socket.next().await?;
        let first = Instant::now();
        for _ in 1..DELTAS {
            let frame = socket.next().await?;
            // The same look at each frame as ours get.
            find(&frame[..frame.len().min(140)], b"message_delta");
        }
        anyhow::Ok((first, Instant::now()))
    };
    let heard = try_join_all(sockets.iter_mut().map(count_all)).await?;
    let first = heard.iter().map(|(first, _)| *first).min().unwrap_or_else(Instant::now);
    let last = heard.iter().map(|(_, last)| *last).max().unwrap_or_else(Instant::now);
    Ok(last.duration_since(first).as_secs_f64())
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
