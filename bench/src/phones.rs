//! A thousand phones that follow one session: what each costs, and how long a word takes to reach the last
//! of them, beside a bare broadcaster with as many readers.

use std::time::Instant;

use anyhow::Context as _;
use futures::future::try_join_all;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tempfile::tempdir;

use crate::{
    bare::Bare,
    client::{Socket, find, json, say},
    server::Server,
    table::Row,
};

const PHONES: usize = 1000;
/// How many sockets one device may have.
const SOCKETS: usize = 8;
const DELTAS: usize = 400;
/// Between two deltas of the model, in milliseconds.
const PAUSE: usize = 5;
/// What the protocol has a phone wait at most, so that deltas are joined, in milliseconds.
const JOINED: f64 = 40.0;

pub fn measure() -> anyhow::Result<Vec<Row>> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Where that is not allowed, fewer sockets than are needed can be opened, and that is said.
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).ok();
    let folder = tempdir()?;
    let server = Server::start(folder.path())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ours = runtime.block_on(megaron(&server))?;
    let theirs = runtime.block_on(broadcast(&ours))?;
    let memory = format!("memory for each of {PHONES} phones");
    let latency = format!("p99 until a word has reached {PHONES} phones");
    let bare = "bare axum broadcaster";
    let ratio = |one: f64, other: f64| one / other.max(f64::MIN_POSITIVE);
    Ok(vec![
        Row::new(&memory, ours.kilobytes, "KB").at_most(64.0).beside(bare, theirs.kilobytes),
        Row::new(&format!("{memory}, ratio"), ratio(ours.kilobytes, theirs.kilobytes), "×"),
        Row::new(&latency, ours.late, "ms")
            .at_most(JOINED + 10.0 * theirs.late.max(10.0))
            .beside(bare, theirs.late),
        Row::new(&format!("{latency}, ratio"), ratio(ours.late, theirs.late), "×"),
    ])
}

struct Measured {
    /// For each connection.
    kilobytes: f64,
    /// The 99th percentile, in milliseconds.
    late: f64,
    frames: usize,
    size: usize,
}

async fn megaron(server: &Server) -> anyhow::Result<Measured> {
    let mut keys = Vec::new();
    for number in 0..PHONES.div_ceil(SOCKETS) {
        let wanted = serde_json::json!({ "name": format!("Phone {number}") }).to_string();
        let paired = json(server, "POST", "/api/keys", &wanted)?;
        keys.push(paired["key"].as_str().context("no key")?.to_owned());
    }
    // The first one makes the session that all of them share.
    let mut first = Socket::open(&server.address, &path(&keys[0]), "").await?;
    until(&mut first, b"\"connected\"").await?;
    let list = json(server, "GET", "/api/sessions", "")?;
    let groups = list["grouped"].as_object().context("no sessions")?;
    let session = groups.values().find_map(|group| group[0]["sessionId"].as_str());
    let session = session.context("no session of phones")?.to_owned();
    let before = server.resident()?;
    let mut sockets = vec![first];
    for number in 1..PHONES {
        let path = path(&keys[number / SOCKETS]);
        let mut socket = Socket::open(&server.address, &path, "").await?;
        until(&mut socket, b"\"connected\"").await?;
        sockets.push(socket);
    }
    let kilobytes = (server.resident()? - before) * 1024.0 / count(PHONES);
    say(server, &session, &format!("/slow {PAUSE}\n/long {DELTAS}"))?;
    let heard = try_join_all(sockets.iter_mut().map(hear)).await?;
    let frames: usize = heard.iter().map(Vec::len).sum();
    let bytes: usize = heard.iter().flatten().map(|(_, length)| length).sum();
    let size = bytes / frames.max(1);
    Ok(Measured { kilobytes, late: late(&heard), frames: frames / PHONES, size })
}

fn path(key: &str) -> String {
    format!("/ws?token={key}")
}

async fn until(socket: &mut Socket, word: &[u8]) -> anyhow::Result<()> {
    while find(socket.next().await?, word).is_none() {}
    Ok(())
}

/// When each piece came, and how long it was.
async fn hear(socket: &mut Socket) -> anyhow::Result<Vec<(Instant, usize)>> {
    let mut heard = Vec::new();
    loop {
        let frame = socket.next().await?;
        let beginning = &frame[..frame.len().min(40)];
        if find(beginning, b"message.stream").is_some() {
            let text = find(frame, b"\"delta\":\"").map_or(0, |start| frame.len() - start);
            heard.push((Instant::now(), text));
        } else if find(beginning, b"message.complete").is_some() && !heard.is_empty() {
            return Ok(heard);
        }
    }
}

/// As many frames of that size, as often.
async fn broadcast(like: &Measured) -> anyhow::Result<Measured> {
    let Measured { frames, size, .. } = *like;
    let pause = DELTAS * PAUSE / frames.max(1);
    let bare = Bare::paced(PHONES, frames, size, pause)?;
    let before = bare.resident()?;
    let mut sockets = Vec::new();
    for _ in 0..PHONES {
        sockets.push(Socket::open(&bare.address, "/", "").await?);
    }
    let kilobytes = (bare.resident()? - before) * 1024.0 / count(PHONES);
    let hear = async |socket: &mut Socket| {
        let mut heard = Vec::new();
        for _ in 0..frames {
            let length = socket.next().await?.len();
            heard.push((Instant::now(), length));
        }
        anyhow::Ok(heard)
    };
    let heard = try_join_all(sockets.iter_mut().map(hear)).await?;
    Ok(Measured { kilobytes, late: late(&heard), frames, size })
}

/// How long after anybody had heard the beginning of a piece each one had it, in milliseconds: the 99th
/// percentile.
fn late(heard: &[Vec<(Instant, usize)>]) -> f64 {
    // Each piece as when it came, where it begins, and where it ends.
    let mut pieces = Vec::new();
    for one in heard {
        let mut place = 0;
        for (at, length) in one {
            pieces.push((*at, place, place + length));
            place += length;
        }
    }
    pieces.sort_unstable();
    // How far anybody had come at that time, whenever that was farther than before.
    let mut farthest: Vec<(usize, Instant)> = Vec::new();
    let mut waits = Vec::with_capacity(pieces.len());
    for (at, begin, end) in pieces {
        if farthest.last().is_none_or(|(place, _)| *place < end) {
            farthest.push((end, at));
        }
        let known = farthest.partition_point(|(place, _)| *place <= begin);
        waits.push(at.duration_since(farthest[known].1).as_secs_f64() * 1000.0);
    }
    waits.sort_unstable_by(f64::total_cmp);
    waits.get(waits.len() * 99 / 100).copied().unwrap_or_default()
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
