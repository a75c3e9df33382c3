//! Who is asked about what, what an answer allows, and for how long.

use std::{sync::Arc, time::Duration};

use jiff::SignedDuration;
use kernel::{
    approvals::Mode,
    host::{DeleteError, Host},
    inbox::{CallError, DecideError},
    question::{Decision, Scope, Verdict},
    toolbox::{Caller, Reply, Risk, ToolError},
    update::{Fact, Message, Origin, SessionId, WhenBusy},
};
use serde_json::{Value, json};
use testkit::{
    Gate, TestTool, World,
    model::{call, text},
};

use crate::support::*;

const RISKS: [Risk; 6] =
    [Risk::Reads, Risk::Edits, Risk::RunsBoxed, Risk::Runs, Risk::Reaches, Risk::Acts];

fn act() -> TestTool {
    TestTool::echo().named("act").risky(Risk::Acts)
}

/// Whether such a call is asked about; it is left at that.
async fn asks(host: &Host, id: SessionId, caller: Caller, tool: &str, args: Value) -> bool {
    tokio::select! {
        done = host.call(id, caller, tool, args) => {
            done.unwrap();
            false
        }
        waiting = asked(host) => {
            host.decide(waiting.question.id, deny(), "test").await.unwrap();
            true
        }
    }
}

/// Makes a call and decides what is asked about it.
async fn decide(
    host: &Host,
    id: SessionId,
    args: Value,
    decision: Decision,
) -> Result<Reply, CallError> {
    let answer = async {
        let waiting = asked(host).await;
        host.decide(waiting.question.id, decision, "test").await.unwrap();
    };
    tokio::join!(host.call(id, Caller::Model, "act", args), answer).0
}

fn other_callers() -> [Caller; 3] {
    let agent = |name: &str| Caller::Agent { name: name.to_owned() };
    [Caller::Client, agent("one"), agent("other")]
}

#[tokio::test]
async fn each_mode_asks_about_what_it_should() {
    for (mode, asked_about) in [
        (Mode::Ask, [false, true, true, true, true, true]),
        (Mode::AutoSafe, [false, false, false, true, true, true]),
        (Mode::Full, [false; 6]),
    ] {
        for (risk, expected) in RISKS.into_iter().zip(asked_about) {
            let world = World::new([]).tool(&TestTool::echo().named("act").risky(risk));
            let (host, id) = house(&world).await;
            set_mode(&host, id, mode).await;
            for caller in other_callers().into_iter().chain([Caller::Model]) {
                let asked = asks(&host, id, caller.clone(), "act", json!({})).await;
                assert_eq!(asked, expected, "{mode:?} {risk:?} {caller:?}");
            }
            assert!(!asks(&host, id, Caller::Owner, "act", json!({})).await, "{mode:?} {risk:?}");
        }
    }
}

#[tokio::test]
async fn a_session_that_was_made_by_another_may_never_do_more() {
    let world = World::new([]).tool(&act());
    let (host, parent) = house(&world).await;
    let child = host.create_for(Some(parent), "/".as_ref(), "test", "").await.unwrap();
    set_mode(&host, child, Mode::Full).await;
    assert!(asks(&host, child, Caller::Model, "act", json!({})).await);
    set_mode(&host, parent, Mode::Full).await;
    assert!(!asks(&host, child, Caller::Model, "act", json!({})).await);
    set_mode(&host, child, Mode::Ask).await;
    assert!(asks(&host, child, Caller::Model, "act", json!({})).await, "it may do less");
}

#[tokio::test]
async fn a_yes_reaches_as_far_as_was_said_and_no_further() {
    let pattern = || Some("a *".to_owned());
    for (scope, pattern, elsewhere, beside) in [
        (Scope::Once, None, true, true),
        (Scope::Session, None, true, false),
        (Scope::Session, pattern(), true, true),
        (Scope::Always, None, false, false),
        (Scope::Always, pattern(), false, true),
    ] {
        let world = World::new([]).tool(&act()).tool(&act().named("other"));
        let (host, id) = house(&world).await;
        let another = host.create("/".as_ref(), "test", "").await.unwrap();
        let args = |on: &str| json!({ "on": on });
        let yes = Decision::Allow { scope, pattern: pattern.clone(), lasts: None };
        decide(&host, id, args("a b"), yes).await.unwrap();
        let said = format!("{scope:?} {pattern:?}");
        let again = asks(&host, id, Caller::Model, "act", args("a b")).await;
        assert_eq!(again, scope == Scope::Once, "{said}: again");
        let like = asks(&host, id, Caller::Model, "act", args("a c")).await;
        assert_eq!(like, scope == Scope::Once, "{said}: something like it");
        let unlike = asks(&host, id, Caller::Model, "act", args("b")).await;
        assert_eq!(unlike, beside, "{said}: something else");
        let nothing = asks(&host, id, Caller::Model, "act", json!({})).await;
        assert_eq!(nothing, beside, "{said}: about nothing in particular");
        let there = asks(&host, another, Caller::Model, "act", args("a b")).await;
        assert_eq!(there, elsewhere, "{said}: in another session");
        assert!(asks(&host, id, Caller::Model, "other", args("a b")).await, "{said}: another tool");
        for caller in other_callers() {
            let asked = asks(&host, id, caller.clone(), "act", args("a b")).await;
            assert!(asked, "{said}: {caller:?}");
        }
    }
}

#[tokio::test]
async fn a_pattern_must_cover_what_is_asked() {
    let world = World::new([]).tool(&act());
    let (host, id) = house(&world).await;
    for args in [json!({ "on": "b" }), json!({})] {
        let pattern = Some("a *".to_owned());
        let narrow = Decision::Allow { scope: Scope::Session, pattern, lasts: None };
        let answer = async {
            let waiting = asked(&host).await;
            let refused = host.decide(waiting.question.id, narrow, "test").await;
            assert!(matches!(refused, Err(DecideError::Wrong(_))), "{refused:?}");
            host.decide(waiting.question.id, deny(), "test").await.unwrap();
        };
        let (called, ()) = tokio::join!(host.call(id, Caller::Model, "act", args), answer);
        assert!(matches!(called, Err(CallError::Tool(ToolError::Denied(_)))), "{called:?}");
    }
    assert_eq!(host.approvals.all(), []);
}

#[tokio::test]
async fn a_grant_ends_when_its_time_is_over_or_it_is_taken_back() {
    let world = World::new([]).tool(&act());
    let (host, id) = house(&world).await;
    let hour = Some(Duration::from_hours(1));
    let yes = Decision::Allow { scope: Scope::Always, pattern: None, lasts: hour };
    decide(&host, id, json!({}), yes).await.unwrap();
    world.clock.advance(SignedDuration::from_mins(59));
    assert!(!asks(&host, id, Caller::Model, "act", json!({})).await);
    world.clock.advance(SignedDuration::from_mins(1));
    assert!(asks(&host, id, Caller::Model, "act", json!({})).await);
    assert_eq!(host.approvals.all(), []);

    decide(&host, id, json!({}), allow(Scope::Session)).await.unwrap();
    let grant = host.approvals.all().pop().unwrap();
    let (again, _) = house(&world).await;
    assert_eq!(again.approvals.all().pop(), Some(grant.clone()), "it survives a restart");
    assert!(host.approvals.revoke(grant.id).await.unwrap());
    assert!(!host.approvals.revoke(grant.id).await.unwrap());
    assert!(asks(&host, id, Caller::Model, "act", json!({})).await);
}

#[tokio::test]
async fn of_two_answers_at_once_one_wins() {
    let tool = act();
    let world = World::new([]).tool(&tool);
    let (host, id) = house(&world).await;
    let answers = async {
        let question = asked(&host).await.question.id;
        let yes = allow(Scope::Always);
        let answers =
            tokio::join!(host.decide(question, deny(), "one"), host.decide(question, yes, "two"));
        let late = host.decide(question, deny(), "late").await;
        assert!(matches!(late, Err(DecideError::Settled)), "{late:?}");
        answers
    };
    let (called, (no, yes)) = tokio::join!(host.call(id, Caller::Model, "act", json!({})), answers);
    let allowed = yes.is_ok();
    assert_ne!(allowed, no.is_ok());
    assert!(matches!(if allowed { no } else { yes }, Err(DecideError::Settled)));
    assert_eq!((called.is_ok(), tool.calls().len()), (allowed, usize::from(allowed)));
    assert_eq!(host.approvals.all().len(), usize::from(allowed), "whoever lost granted nothing");
    let log = log(&world, id).await;
    let settled = log.iter().filter(|entry| matches!(entry.fact, Fact::Settled { .. })).count();
    assert_eq!(settled, 1);
}

#[tokio::test]
async fn a_refusal_is_told_to_the_model_which_goes_on() {
    let tool = act();
    let world = World::new([vec![call("c", "act", json!({}))], vec![text("Pity")]]).tool(&tool);
    let (host, id) = house(&world).await;
    let mut listener = feed(&host, id).await;
    say(&host, id, "go").await;
    let no = Decision::Deny { reason: Some("not now".into()) };
    let verdict = host.decide(asked(&host).await.question.id, no, "me").await.unwrap();
    assert_eq!(verdict, Verdict::Denied { reason: Some("not now".into()) });
    until_turn_ends(&mut listener).await;
    let expected = [
        "opened",
        "said go",
        "step 0",
        "answered  c",
        "asked Running act {}",
        "denied by me",
        "c failed: The person refused this: not now",
        "step 1",
        "answered Pity",
        "ended Finished",
    ];
    assert_eq!(shorts(&world, id).await, expected);
    assert_eq!(tool.calls(), [] as [Value; 0]);
}

#[tokio::test]
async fn a_cancelled_turn_withdraws_its_question_and_leaves_no_doubt() {
    let tool = act();
    let again = || vec![call("c", "act", json!({}))];
    let world = World::new([again(), again(), vec![text("Done")]]).tool(&tool);
    let (host, id) = house(&world).await;
    say(&host, id, "go").await;
    let question = asked(&host).await.question.id;
    assert!(matches!(host.delete(id).await, Err(DeleteError::Busy)), "it waits");
    assert!(host.cancel(id).await.unwrap());
    let facts = shorts(&world, id).await;
    assert_eq!(
        facts[5..],
        ["withdrawn by the turn was cancelled", "c interrupted", "ended Cancelled"]
    );
    assert_eq!(host.questions().await.unwrap(), []);
    let late = host.decide(question, allow(Scope::Once), "late").await;
    assert!(matches!(late, Err(DecideError::Settled)), "{late:?}");
    assert_eq!(tool.calls(), [] as [Value; 0]);
    set_mode(&host, id, Mode::Full).await;
    say(&host, id, "go").await;
    idle(&host, id).await;
    assert_eq!(tool.calls().len(), 1, "it had not begun, so it is not in doubt");
}

#[tokio::test]
async fn what_was_granted_to_a_session_goes_with_it() {
    let world = World::new([]).tool(&act());
    let (host, id) = house(&world).await;
    let another = host.create("/".as_ref(), "test", "").await.unwrap();
    for session in [id, another] {
        decide(&host, session, json!({}), allow(Scope::Session)).await.unwrap();
    }
    host.delete(id).await.unwrap();
    let left: Vec<_> = host.approvals.all().into_iter().map(|grant| grant.session).collect();
    assert_eq!(left, [Some(another)]);
    let (again, _) = house(&world).await;
    assert_eq!(again.approvals.all().len(), 1, "also after a restart");
}

#[tokio::test]
async fn others_go_on_while_one_waits() {
    let waiting = act().parallel(true);
    let free = TestTool::echo().parallel(true);
    let calls = vec![call("w", "act", json!({})), call("f", "echo", json!({}))];
    let world = World::new([calls, vec![text("Done")]]).tool(&waiting).tool(&free);
    let (host, id) = house(&world).await;
    let mut listener = feed(&host, id).await;
    say(&host, id, "go").await;
    let question = asked(&host).await.question.id;
    let returned = |fact: &Fact| matches!(fact, Fact::ToolReturned { call, .. } if call == "f");
    until_fact(&mut listener, returned).await;
    assert_eq!(waiting.calls(), [] as [Value; 0]);
    host.decide(question, allow(Scope::Once), "me").await.unwrap();
    until_turn_ends(&mut listener).await;
    let facts = shorts(&world, id).await;
    let place = |fact: &str| facts.iter().position(|it| it == fact).unwrap();
    assert!(place("f {}") < place("allowed by me"), "{facts:?}");
    assert!(place("allowed by me") < place("w started"), "{facts:?}");
    assert!(place("w started") < place("w {}"), "{facts:?}");
}

/// The turn that this message begins, with a question that nobody answers.
async fn unanswered(origin: Origin, patience: SignedDuration) -> Vec<String> {
    let tool = act();
    let world = World::new([vec![call("c", "act", json!({}))], vec![text("Pity")]]).tool(&tool);
    let (host, id) = house(&world).await;
    let message = Message { origin, ..Message::from_user("go") };
    host.post(id, message, WhenBusy::Refuse).await.unwrap();
    let waiting = asked(&host).await;
    assert_eq!(waiting.question.expires, Some(waiting.since + patience));
    world.clock.advance(patience - SignedDuration::from_millis(1));
    tokio::time::sleep(Duration::try_from(patience).unwrap()).await;
    assert_eq!(host.questions().await.unwrap().len(), 1, "not a moment too early");
    world.clock.advance(SignedDuration::from_millis(1));
    idle(&host, id).await;
    assert_eq!(tool.calls(), [] as [Value; 0]);
    shorts(&world, id).await.split_off(5)
}

#[tokio::test(start_paused = true)]
async fn what_nobody_answers_expires_and_the_turn_goes_on() {
    let expected = [
        "expired by its time ran out",
        "c failed: Nobody allowed this in time, so it was not done.",
        "step 1",
        "answered Pity",
        "ended Finished",
    ];
    let (day, minutes) = (SignedDuration::from_hours(24), SignedDuration::from_mins(10));
    assert_eq!(unanswered(Origin::User, day).await, expected);
    let schedule = Origin::Schedule { slug: "daily".into(), errand: None };
    assert_eq!(unanswered(schedule, minutes).await, expected);
    let agent = Origin::Agent { session: "another".into() };
    assert_eq!(unanswered(agent, minutes).await, expected);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_recorded_as_expired_is_tried_again() {
    let world = World::new([vec![call("c", "act", json!({}))], vec![text("Pity")]]).tool(&act());
    let (host, id) = house(&world).await;
    say(&host, id, "go").await;
    asked(&host).await;
    world.store.fail_appends(true);
    world.clock.advance(SignedDuration::from_hours(24));
    tokio::time::sleep(Duration::from_hours(25)).await;
    assert_eq!(host.questions().await.unwrap().len(), 1);
    world.store.fail_appends(false);
    idle(&host, id).await;
    let facts = shorts(&world, id).await;
    assert_eq!(facts[5], "expired by its time ran out", "{facts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_session_does_not_rest_while_somebody_waits_for_an_answer() {
    let gate = Gate::default();
    gate.open();
    let tool = TestTool::waiting(&gate).named("act").risky(Risk::Acts);
    let world = World::new([]).tool(&tool);
    let (host, id) = house(&world).await;
    let caller: Arc<Host> = host.clone();
    let call = tokio::spawn(async move { caller.call(id, Caller::Client, "act", json!({})).await });
    let question = asked(&host).await.question.id;
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert!(host.is_live(id));
    host.decide(question, allow(Scope::Once), "me").await.unwrap();
    call.await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert!(!host.is_live(id));
}
