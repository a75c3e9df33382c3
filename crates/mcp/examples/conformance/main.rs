//! The server of this crate with the fixtures that the public conformance suite asks for.
#![expect(clippy::unwrap_used, reason = "all of it is for tests")]

mod contents;
mod exhibit;
mod lendable;

use std::sync::Arc;

use edge::{Edge, Guest, Keys, Settings};
use kernel::{host::Host, servers::NoServers};
use mcp::server::{House, Limits, door_to};
use testkit::World;
use tokio::net::TcpListener;

use exhibit::Exhibit;

#[tokio::main]
async fn main() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("work")).unwrap();
    let mut ports = World::new([]).ports();
    ports.workspace = home.path().canonicalize().unwrap().join("work");
    lendable::add_all(&ports.tools);
    let host = Host::start(ports, kernel::host::Settings::default()).await.unwrap();
    let house = House::new(host.clone());
    let door = door_to(move || Exhibit::new(house.clone()), Limits::default());
    // The suite has no key to send.
    let settings = Settings { trust_loopback: true, ..Settings::default() };
    let keys = Keys::open(home.path().join("key")).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let edge =
        Edge::new(host, Arc::new(NoServers), keys, settings, listener, Arc::new(String::new))
            .unwrap();
    println!("listening on http://{}", edge.address());
    edge.with_mcp(Guest::new(door)).serve(std::future::pending()).await.unwrap();
}
