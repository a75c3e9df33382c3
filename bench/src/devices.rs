//! What a command costs on its way from the hub to a connected desktop and back, beside a bare socket.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use kernel::{
    desktop::{Action, Arming, Class, Outcome, Who},
    host::{Host, Settings},
    servers::NoServers,
    toolbox::Caller,
};
use serde_json::{Value, json};
use tempfile::tempdir;
use testkit::{World, model::Script};
use tokio::net::TcpListener;

use crate::{client::Socket, echo::Echo, table::Row};

/// Alternately, so that what else the machine does meets both alike.
const ROUNDS: usize = 20;
const CALLS: usize = 200;

pub fn measure() -> anyhow::Result<Vec<Row>> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(compare())
}

async fn compare() -> anyhow::Result<Vec<Row>> {
    let folder = tempdir()?;
    let host = Host::start(World::new(Vec::<Script>::new()).ports(), Settings::default()).await?;
    let keys = edge::Keys::open(folder.path().join("key"))?;
    let key = keys.show()?.unwrap_or_default();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let settings =
        edge::Settings { data_dir: folder.path().to_owned(), ..edge::Settings::default() };
    let metrics: edge::Metrics = Arc::new(String::new);
    let edge =
        edge::Edge::new(host.clone(), Arc::new(NoServers), keys, settings, listener, metrics)?;
    let address = edge.address().to_string();
    tokio::spawn(edge.serve(std::future::pending()));
    let mut device = Socket::open(&address, "/connect", &key).await?;
    let hello = json!({ "type": "handshake", "client": "rust-automation", "version": "0.1.0" });
    device.send(&hello.to_string()).await?;
    device.next().await?;
    let until = host.ports.clock.now() + Duration::from_hours(1);
    let (device_name, classes) = ("desktop".to_owned(), vec![Class::Look]);
    let arming = Arming { device: device_name, session: None, classes, until, area: None };
    host.devices.arm(arming);
    tokio::spawn(obey(device));
    let echo = Echo::start()?;
    let mut bare = Socket::open(&echo.address, "/ws", "").await?;

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.extend(driven(&host).await?);
        theirs.extend(echoed(&mut bare).await?);
    }
    // What came first warmed everything up.
    let mut rows = Vec::new();
    for (name, share) in [("median", 500), ("p99", 990)] {
        let (ours, theirs) = (at(&mut ours[CALLS..], share), at(&mut theirs[CALLS..], share));
        let what = format!("a command from the hub to a desktop and back, {name}");
        let row = Row::new(&what, ours, "µs").beside("bare echo", theirs);
        rows.push(row);
        if share == 500 {
            let what = "what the hub adds to a bare socket, median";
            rows.push(Row::new(what, ours - theirs, "µs").at_most(200.0));
        }
    }
    Ok(rows)
}

/// A desktop that answers at once.
async fn obey(mut socket: Socket) -> anyhow::Result<()> {
    loop {
        let command: Value = serde_json::from_slice(socket.next().await?)?;
        let id = &command["commandId"];
        let reply = json!({ "type": "mouse_position", "x": 1, "y": 2, "commandId": id });
        socket.send(&reply.to_string()).await?;
    }
}

async fn driven(host: &Host) -> anyhow::Result<Vec<Duration>> {
    let mut took = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let begun = Instant::now();
        let who = Who { session: None, caller: Caller::Owner };
        let order = Action::GetMousePosition.into();
        let (_, outcome) = host.devices.act(who, "desktop", order).await;
        took.push(begun.elapsed());
        let expected = Outcome::Position { x: 1, y: 2, moving: false };
        anyhow::ensure!(outcome == Ok(expected), "{outcome:?}");
    }
    Ok(took)
}

async fn echoed(socket: &mut Socket) -> anyhow::Result<Vec<Duration>> {
    let frame = json!({ "type": "get_mouse_position", "commandId": "cmd_0_1768427191716" });
    let frame = frame.to_string();
    let mut took = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let begun = Instant::now();
        socket.send(&frame).await?;
        socket.next().await.context("the reference hung up")?;
        took.push(begun.elapsed());
    }
    Ok(took)
}

fn at(took: &mut [Duration], share: usize) -> f64 {
    took.sort_unstable();
    took[took.len() * share / 1000].as_secs_f64() * 1e6
}
