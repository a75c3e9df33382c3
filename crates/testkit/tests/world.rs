//! The fakes play their parts in a real host.

#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::{path::Path, sync::Arc};

use kernel::{
    feed::Heard,
    host::{Host, PostError, Settings},
    ports::StoreError,
    session::SayError,
    update::{Fact, Failure, Message, Outcome, Output, SessionId, WhenBusy},
};
use serde_json::json;
use testkit::{Gate, TestTool, World, model};

async fn start(world: &World) -> Arc<Host> {
    Host::start(world.ports(), Settings::default()).await.unwrap()
}

async fn say(host: &Host, id: SessionId, text: &str) -> Result<(), PostError> {
    host.post(id, Message::from_user(text), WhenBusy::Refuse).await.map(drop)
}

async fn begin(host: &Host) -> SessionId {
    host.create(Path::new("/"), "test", "").await.unwrap()
}

/// How the turn ends, and what the tools in it returned.
async fn ending(host: &Host, id: SessionId) -> (Outcome, Vec<Output>) {
    let mut feed = host.feed(id, Some(kernel::update::Seq(0))).await.unwrap();
    let mut outputs = Vec::new();
    loop {
        let facts = match feed.next().await.unwrap() {
            Heard::Past(entry) => vec![entry.fact],
            Heard::Live(told) => told.facts().map(|entry| entry.fact.clone()).collect(),
            Heard::Now { .. } => continue,
        };
        for fact in facts {
            match fact {
                Fact::ToolReturned { output, .. } => outputs.push(output),
                Fact::TurnEnded(outcome) => return (outcome, outputs),
                _ => (),
            }
        }
    }
}

#[tokio::test]
async fn a_turn_follows_its_script() {
    let tools = [TestTool::echo(), TestTool::failing("no"), TestTool::panicking()];
    let calls = ["echo", "fail", "panic"].map(|name| model::call(name, name, json!({ "x": 1 })));
    let world = World::new([calls.to_vec(), vec![model::text("done"), model::usage(1, 2)]]);
    let world = tools.iter().fold(world, World::tool);
    let host = start(&world).await;
    let id = begin(&host).await;
    say(&host, id, "go").await.unwrap();
    let expected = vec![
        Output::done(r#"{"x":1}"#),
        Output::failed("no"),
        Output::failed("Tool 'panic' broke down."),
    ];
    assert_eq!(ending(&host, id).await, (Outcome::Finished, expected));
    for tool in tools {
        assert_eq!(tool.calls(), [json!({ "x": 1 })]);
    }
    let prompts = world.model.prompts();
    assert_eq!(prompts.iter().map(|prompt| prompt.parts.len()).collect::<Vec<_>>(), [1, 5]);
}

#[test]
fn the_second_life_of_a_world_remembers_the_first() {
    let gate = Gate::default();
    let world = World::new([vec![model::text("half a sen"), model::wait(&gate)]]);
    let id = world.until_crash(async |host| {
        let id = begin(&host).await;
        say(&host, id, "go").await.unwrap();
        gate.reached().await;
        assert_eq!(world.model.speaking(), 1);
        id
    });
    assert_eq!(world.model.speaking(), 0);
    world.until_crash(async |host| {
        assert_eq!(ending(&host, id).await, (Outcome::Interrupted, vec![]));
    });
}

#[tokio::test]
async fn calls_that_wait_can_be_counted_and_let_go() {
    let gate = Gate::default();
    let both = vec![model::call("1", "wait", json!(1)), model::call("2", "wait", json!(2))];
    let world = World::new([both, vec![]]).tool(&TestTool::waiting(&gate));
    let host = start(&world).await;
    let id = begin(&host).await;
    say(&host, id, "go").await.unwrap();
    gate.reached_by(2).await;
    gate.open();
    assert_eq!(ending(&host, id).await.1.len(), 2);
}

#[tokio::test]
async fn faults_come_when_ordered() {
    let world = World::new([]);
    let host = start(&world).await;
    let id = begin(&host).await;
    world.store.fail_appends(true);
    let refused = say(&host, id, "go").await;
    let Err(PostError::Say(SayError::Store(StoreError::Unavailable(reason)))) = refused else {
        panic!("should fail: {refused:?}");
    };
    assert_eq!(reason, "disk full");
    world.store.fail_appends(false);
    let gate = world.store.hold_appends();
    let (said, ()) = tokio::join!(say(&host, id, "go"), async {
        gate.reached().await;
        world.store.release_appends();
    });
    said.unwrap();
    let kind = Failure::Internal;
    let failed = Outcome::Failed { kind, reason: "no script is left".into() };
    assert_eq!(ending(&host, id).await, (failed, vec![]));
    world.store.fail_after(1);
    begin(&host).await;
    host.create(Path::new("/"), "test", "").await.unwrap_err();
}
