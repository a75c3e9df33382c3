//! The windows of sessions, told through the house.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod folding;
mod living;
mod refusing;
mod showing;

use std::sync::Arc;

use kernel::{
    host::{Host, Settings},
    ports::Log as _,
    update::{Entry, Fact, Seq, SessionId},
    windows::{By, Content, Named, Opening, Renderer, WindowChange, Windows, Wish},
};
use serde_json::Value;
use testkit::{World, history};

async fn house(world: &World) -> (Arc<Host>, SessionId) {
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let id = host.create("/".as_ref(), "test", "").await.unwrap();
    (host, id)
}

fn shows(renderer: Renderer, data: impl Into<Value>) -> Content {
    Content { renderer, data: data.into() }
}

fn note(id: &str, text: &str) -> Opening {
    Opening::new(id, "A note", shows(Renderer::Text, text))
}

fn open(opening: Opening) -> Wish {
    Wish::Open(Box::new(opening))
}

fn change(name: &str, changes: impl Into<Vec<WindowChange>>) -> Wish {
    Wish::Change { window: Named::new(name), changes: changes.into() }
}

fn close(name: &str) -> Wish {
    Wish::Close { window: Named::new(name) }
}

/// Wishes something as the agent, and hears why it cannot be.
async fn arrange(host: &Host, id: SessionId, wish: Wish) -> Result<(), String> {
    host.arrange(id, wish, By::Agent).await.map(drop).map_err(|error| error.to_string())
}

/// The whole log, which must be a valid history.
async fn log(world: &World, id: SessionId) -> Vec<Entry> {
    let entries = world.store.read(id, Seq(0), usize::MAX).await.unwrap();
    history::check(&entries).unwrap();
    entries
}

async fn window_facts(world: &World, id: SessionId) -> Vec<Fact> {
    let facts = log(world, id).await.into_iter().map(|entry| entry.fact);
    facts.filter(Fact::is_of_windows).collect()
}

/// What the log says is open, read from the place that the state of the session names.
async fn read_again(world: &World, host: &Host, id: SessionId) -> Windows {
    let mut windows = Windows::default();
    let Some(from) = host.roster.get(id).unwrap().windows_from else { return windows };
    for entry in log(world, id).await.iter().filter(|entry| entry.seq >= from) {
        windows.apply(entry);
    }
    windows
}
