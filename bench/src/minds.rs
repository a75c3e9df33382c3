//! What the house adds to a model that answers at once, beside a bare client of the same stream.

use std::time::Instant as Time;

use anyhow::{Context as _, ensure};
use futures::future::try_join_all;
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::{
    client::{Socket, find},
    instant::{Instant, MODELS},
    server::Server,
    table::Row,
};

/// How many sessions speak at once, and how often.
const ROUNDS: [(usize, usize); 3] = [(1, 200), (10, 30), (100, 6)];
const LIVE: u32 = 100;

pub fn measure() -> anyhow::Result<Vec<Row>> {
    let instant = Instant::start()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let folder = tempdir()?;
    instant.configure(folder.path())?;
    let house = House::open(Server::start(folder.path())?)?;
    let mut rows = Vec::new();
    for (sessions, rounds) in ROUNDS {
        for (model, words) in MODELS {
            let (ours, share) = runtime.block_on(turns(&house, model, words, sessions, rounds))?;
            let bare = runtime.block_on(bare(&instant, model, words, sessions, rounds))?;
            rows.extend(compare(words, sessions, &ours, &bare, share));
        }
    }
    let small = tempdir()?;
    instant.configure(small.path())?;
    let house = House::open(Server::start(small.path())?)?;
    rows.push(runtime.block_on(footprint(&house))?);
    Ok(rows)
}

/// A turn as a whole where it is short; what each word of it took where it is long.
fn compare(words: usize, sessions: usize, ours: &[f64], bare: &[f64], share: f64) -> [Row; 2] {
    let count = f64::from(u32::try_from(words).unwrap_or(u32::MAX));
    let (what, scale, unit) = if words == 1 {
        ("a turn of one word".to_owned(), 1e3, "ms")
    } else {
        let shown = share * 100.0;
        (format!("a streamed token, {words} in a turn, {shown:.0} % one by one"), 1e6 / count, "µs")
    };
    [("p50", 500), ("p99", 990)].map(|(name, share)| {
        let at = |times: &[f64]| times[times.len() * share / 1000] * scale;
        let what = format!("{what}, {sessions} session(s) at once, {name}");
        Row::new(&what, at(ours), unit).beside("bare reqwest", at(bare))
    })
}

struct House {
    server: Server,
    client: reqwest::Client,
}

/// A session that is watched.
struct Watched {
    id: String,
    socket: Socket,
}

impl House {
    fn open(server: Server) -> anyhow::Result<Self> {
        let client = reqwest::Client::builder().no_proxy().tcp_nodelay(true).build()?;
        Ok(Self { server, client })
    }

    async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let url = format!("http://{}/api/sessions{path}", self.server.address);
        let answer = self.client.post(url).bearer_auth(&self.server.key).json(body).send().await?;
        let status = answer.status();
        let text = answer.text().await?;
        ensure!(status.is_success(), "{status}: {text}");
        Ok(serde_json::from_str(&text)?)
    }

    async fn session(&self, model: &str) -> anyhow::Result<Watched> {
        let made = self.post("", &json!({ "model": format!("mind/{model}") })).await?;
        let id = made["sessionId"].as_str().context("no session")?.to_owned();
        let Server { address, key, .. } = &self.server;
        let mut socket = Socket::open(address, "/caco/ws", key).await?;
        let subscribe =
            json!({ "type": "subscribe", "sessionId": id, "after": 0, "deltas": "native" });
        socket.send(&subscribe.to_string()).await?;
        socket.send(r#"{"type":"ping"}"#).await?;
        while find(socket.next().await?, b"\"pong\"").is_none() {}
        Ok(Watched { id, socket })
    }

    /// From saying something to having heard the whole answer; and in how many pieces it came.
    async fn turn(&self, watched: &mut Watched) -> anyhow::Result<(f64, usize)> {
        let begun = Time::now();
        let path = format!("/{}/messages", watched.id);
        let body = json!({ "prompt": "go" });
        let (said, heard) = tokio::join!(self.post(&path, &body), hear(&mut watched.socket));
        said?;
        let (ended, deltas) = heard?;
        Ok((ended.duration_since(begun).as_secs_f64(), deltas))
    }
}

async fn hear(socket: &mut Socket) -> anyhow::Result<(Time, usize)> {
    let mut deltas = 0;
    loop {
        let frame = socket.next().await?;
        let beginning = &frame[..frame.len().min(140)];
        if find(beginning, b"message_delta").is_some() {
            deltas += 1;
        } else if find(beginning, b"\"session.idle\"").is_some() {
            return Ok((Time::now(), deltas));
        }
        ensure!(find(beginning, b"\"session.error\"").is_none(), "{}", text(frame));
    }
}

fn text(frame: &[u8]) -> String {
    String::from_utf8_lossy(frame).into_owned()
}

/// The seconds of each turn, in order of length, and the share of words that came one by one.
/// Each is the first of its session, so that there is no past to be shown.
async fn turns(
    house: &House,
    model: &str,
    words: usize,
    sessions: usize,
    rounds: usize,
) -> anyhow::Result<(Vec<f64>, f64)> {
    let (mut times, mut heard) = (Vec::new(), 0);
    for _ in 0..rounds {
        let made = try_join_all((0..sessions).map(|_| house.session(model)));
        let mut watched = made.await?;
        let spoken = try_join_all(watched.iter_mut().map(|watched| house.turn(watched))).await?;
        times.extend(spoken.iter().map(|(time, _)| *time));
        heard += spoken.iter().map(|(_, deltas)| deltas).sum::<usize>();
    }
    times.sort_by(f64::total_cmp);
    let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    Ok((times, count(heard) / count(words * sessions * rounds)))
}

async fn bare(
    instant: &Instant,
    model: &str,
    words: usize,
    sessions: usize,
    rounds: usize,
) -> anyhow::Result<Vec<f64>> {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let listen = async || {
            let begun = Time::now();
            ensure!(instant.listen(model).await? == words, "some words are missing");
            Ok(begun.elapsed().as_secs_f64())
        };
        times.extend(try_join_all((0..sessions).map(|_| listen())).await?);
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// What a session takes that has answered and is being watched.
async fn footprint(house: &House) -> anyhow::Result<Row> {
    let mut first = house.session("thousand").await?;
    house.turn(&mut first).await?;
    let before = house.server.resident()?;
    let mut watched = Vec::new();
    for _ in 0..LIVE {
        let mut session = house.session("thousand").await?;
        house.turn(&mut session).await?;
        watched.push(session);
    }
    let kilobytes = (house.server.resident()? - before) * 1024.0 / f64::from(LIVE);
    Ok(Row::new("memory more per live session, after a turn of 1000 words", kilobytes, "kB"))
}
