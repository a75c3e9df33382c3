//! Crashes around what needs leave: questions wait on, and nothing is silently done twice.

use std::slice;

use kernel::{
    approvals::Mode,
    host::Host,
    inbox::{DecideError, Waiting},
    question::{About, Decision, Scope},
    toolbox::{Caller, Risk},
    update::SessionId,
};
use serde_json::{Value, json};
use testkit::{
    Gate, TestTool, World,
    model::{call, text},
};

use crate::support::*;

fn act() -> TestTool {
    TestTool::echo().named("act").risky(Risk::Acts)
}

/// A house that is killed while its agent waits for leave to act.
fn killed_while_waiting(world: &World) -> (SessionId, Waiting) {
    world.until_crash(async |host| {
        let id = host.create("/".as_ref(), "test", "").await.unwrap();
        say(&host, id, "go").await;
        (id, asked(&host).await)
    })
}

fn why(waiting: &Waiting) -> &str {
    match &waiting.question.about {
        About::Leave { why, .. } => why,
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn a_question_survives_a_crash_and_its_answer_runs_the_tool_once() {
    for (decision, runs) in [(allow(Scope::Once), 1), (allow(Scope::Always), 1), (deny(), 0)] {
        let tool = act();
        let world =
            World::new([vec![call("c", "act", json!({ "n": 1 }))], vec![text("Done")]]).tool(&tool);
        let (id, before) = killed_while_waiting(&world);
        // Twice, as nothing says that there is only one crash.
        world.until_crash(async |host| {
            host.recover().await;
            assert_eq!(host.questions().await.unwrap(), slice::from_ref(&before));
        });
        world.until_crash(async |host| {
            host.recover().await;
            assert_eq!(host.questions().await.unwrap(), slice::from_ref(&before));
            host.decide(before.question.id, decision, "me").await.unwrap();
            idle(&host, id).await;
            let late = host.decide(before.question.id, allow(Scope::Once), "late").await;
            assert!(matches!(late, Err(DecideError::Settled)), "{late:?}");
            let facts = shorts(&world, id).await;
            let count = |fact: &str| facts.iter().filter(|it| it.starts_with(fact)).count();
            assert_eq!((count("asked"), count("c started")), (1, runs), "{facts:?}");
            assert_eq!(facts.last().unwrap(), "ended Finished");
        });
        assert_eq!(tool.calls().len(), runs);
    }
}

#[test]
fn a_session_that_is_opened_by_an_answer_goes_on_from_it() {
    let tool = act();
    let world = World::new([vec![call("c", "act", json!({}))], vec![text("Done")]]).tool(&tool);
    let (id, before) = killed_while_waiting(&world);
    world.until_crash(async |host| {
        host.decide(before.question.id, allow(Scope::Once), "me").await.unwrap();
        idle(&host, id).await;
    });
    assert_eq!(tool.calls().len(), 1);
}

#[test]
fn an_answer_that_comes_before_the_call_is_taken_up_again_counts() {
    for (decision, runs) in [(allow(Scope::Once), 1), (deny(), 0)] {
        let gate = Gate::default();
        gate.open();
        let tool = act().foreseeing(&gate);
        let world = World::new([vec![call("c", "act", json!({}))], vec![text("Done")]]).tool(&tool);
        let (id, before) = killed_while_waiting(&world);
        gate.close();
        world.until_crash(async |host| {
            host.recover().await;
            gate.reached().await;
            host.decide(before.question.id, decision, "me").await.unwrap();
            gate.open();
            idle(&host, id).await;
            let facts = shorts(&world, id).await;
            let count = |fact: &str| facts.iter().filter(|it| it.starts_with(fact)).count();
            assert_eq!((count("asked"), count("c started")), (1, runs), "{facts:?}");
        });
        assert_eq!(tool.calls().len(), runs);
    }
}

#[test]
fn what_would_happen_now_is_asked_anew_if_it_is_not_what_was_asked() {
    let world = World::new([vec![call("c", "act", json!({}))], vec![text("Done")]]).tool(&act());
    let (id, before) = killed_while_waiting(&world);
    let tool = act().risky(Risk::Reaches);
    let world = world.tool(&tool);
    world.until_crash(async |host| {
        let mut news = host.roster.listen();
        host.recover().await;
        let now = loop {
            let open = asked(&host).await;
            if open.question.id != before.question.id {
                break open;
            }
            news.recv().await.unwrap();
        };
        let late = host.decide(before.question.id, allow(Scope::Once), "me").await;
        assert!(matches!(late, Err(DecideError::Settled)), "{late:?}");
        assert_eq!(tool.calls().len(), 0, "a yes to something else is none to this");
        host.decide(now.question.id, allow(Scope::Once), "me").await.unwrap();
        idle(&host, id).await;
    });
    assert_eq!(tool.calls().len(), 1);
}

#[test]
fn an_orderly_stop_leaves_a_question_waiting_too() {
    let tool = act();
    let world = World::new([vec![call("c", "act", json!({}))], vec![text("Done")]]).tool(&tool);
    let (id, before) = world.until_crash(async |host| {
        let id = host.create("/".as_ref(), "test", "").await.unwrap();
        say(&host, id, "go").await;
        let before = asked(&host).await;
        host.shut(std::time::Duration::ZERO).await;
        (id, before)
    });
    world.until_crash(async |host| {
        host.recover().await;
        assert_eq!(host.questions().await.unwrap(), slice::from_ref(&before));
        host.decide(before.question.id, allow(Scope::Once), "me").await.unwrap();
        idle(&host, id).await;
    });
    assert_eq!(tool.calls().len(), 1);
}

#[test]
fn a_question_from_outside_any_turn_is_given_up_with_whoever_asked() {
    let tool = act();
    let world = World::new([]).tool(&tool);
    let (id, question) = world.until_crash(async |host| {
        let id = host.create("/".as_ref(), "test", "").await.unwrap();
        let caller = host.clone();
        tokio::spawn(async move { caller.call(id, Caller::Client, "act", json!({})).await });
        (id, asked(&host).await.question.id)
    });
    world.until_crash(async |host| {
        host.recover().await;
        assert_eq!(host.questions().await.unwrap(), []);
        let late = host.decide(question, allow(Scope::Once), "late").await;
        assert!(matches!(late, Err(DecideError::Settled)), "{late:?}");
        let facts = shorts(&world, id).await;
        assert_eq!(facts.last().unwrap(), "withdrawn by whoever asked is gone");
    });
    assert_eq!(tool.calls(), [] as [Value; 0]);
}

/// Says something, and what is asked about it, if anything is before the turn ends.
async fn question(host: &Host, id: SessionId) -> Option<Waiting> {
    say(host, id, "again").await;
    tokio::select! {
        waiting = asked(host) => Some(waiting),
        () = idle(host, id) => None,
    }
}

async fn answer(host: &Host, id: SessionId, waiting: &Waiting, decision: Decision) {
    host.decide(waiting.question.id, decision, "me").await.unwrap();
    idle(host, id).await;
}

#[test]
fn a_call_that_was_cut_off_is_in_doubt_until_somebody_has_looked() {
    let gate = Gate::default();
    let tool = TestTool::waiting(&gate).named("act").risky(Risk::Edits).parallel(false);
    let act = |n: u32| vec![call("c", "act", json!({ "n": n }))];
    let done = || vec![text("Done")];
    let scripts =
        [act(1), act(2), done(), act(1), done(), act(1), done(), act(1), done(), act(1), done()];
    let world = World::new(scripts).tool(&tool);
    let id = world.until_crash(async |host| {
        let id = host.create("/".as_ref(), "test", "").await.unwrap();
        set_mode(&host, id, Mode::Full).await;
        say(&host, id, "go").await;
        gate.reached().await;
        id
    });
    assert_eq!(tool.calls(), [json!({ "n": 1 })], "it had begun");
    gate.open();
    world.until_crash(async |host| {
        host.recover().await;
        idle(&host, id).await;
        let facts = shorts(&world, id).await;
        let end = &facts[facts.len() - 3..];
        assert_eq!(end, ["c started", "c interrupted", "ended Interrupted"]);
        assert_eq!(tool.calls().len(), 1, "and is not begun again by itself");

        assert_eq!(question(&host, id).await, None, "other arguments are another call");
        assert_eq!(tool.calls().len(), 2);
        let waiting = question(&host, id).await.unwrap();
        let doubt = "the same call was cut off before; it may have had its effect already";
        assert_eq!(why(&waiting), doubt, "even though it may do everything");
        answer(&host, id, &waiting, deny()).await;
        assert_eq!(tool.calls().len(), 2);
    });
    // What is in doubt stays so, whatever happens to the house.
    world.until_crash(async |host| {
        let waiting = question(&host, id).await.unwrap();
        answer(&host, id, &waiting, allow(Scope::Once)).await;
        assert_eq!(tool.calls().len(), 3);
        assert_eq!(question(&host, id).await, None, "somebody has looked");
        assert_eq!(tool.calls().len(), 4);
    });
}

#[test]
fn what_only_reads_is_never_in_doubt() {
    let gate = Gate::default();
    let tool = TestTool::waiting(&gate).named("look");
    let look = || vec![call("c", "look", json!({}))];
    let world = World::new([look(), look(), vec![text("Done")]]).tool(&tool);
    let id = world.until_crash(async |host| {
        let id = host.create("/".as_ref(), "test", "").await.unwrap();
        say(&host, id, "go").await;
        gate.reached().await;
        id
    });
    gate.open();
    world.until_crash(async |host| {
        host.recover().await;
        idle(&host, id).await;
        assert_eq!(question(&host, id).await, None);
    });
}

#[test]
fn what_ran_beside_a_question_is_cut_off_by_a_crash_and_not_run_again() {
    let gate = Gate::default();
    let waits = act().parallel(true);
    let runs = TestTool::waiting(&gate).named("run").risky(Risk::Edits);
    let calls = vec![call("w", "act", json!({})), call("r", "run", json!({}))];
    let world = World::new([calls, vec![text("Done")]]).tool(&waits).tool(&runs);
    let id = world.until_crash(async |host| {
        let id = host.create("/".as_ref(), "test", "").await.unwrap();
        set_mode(&host, id, Mode::AutoSafe).await;
        say(&host, id, "go").await;
        asked(&host).await;
        gate.reached().await;
        id
    });
    gate.open();
    world.until_crash(async |host| {
        host.recover().await;
        let waiting = asked(&host).await;
        answer(&host, id, &waiting, allow(Scope::Once)).await;
        let facts = shorts(&world, id).await;
        assert!(facts.contains(&"r interrupted".to_owned()), "{facts:?}");
        assert!(facts.contains(&"w {}".to_owned()), "{facts:?}");
        assert_eq!((waits.calls().len(), runs.calls().len()), (1, 1));
    });
}
