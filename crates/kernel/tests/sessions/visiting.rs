//! Agents with minds of their own, and what a session makes of them.

use jiff::SignedDuration;
use kernel::{
    approvals::Mode,
    host::{Host, Settings},
    inbox::Waiting,
    ports::{ModelError, Models as _},
    prompt::Part,
    question::{About, Decision, Question, Scope},
    tasks::{Close, Plan, Progress, Step},
    toolbox::{Caller, Deed, Detail, Reply, Risk},
    update::{Amendment, Fact, Failure, Message, SessionId, Signal, WhenBusy},
    visit::{Choice, Company, Doing, Means, Wish},
};
use serde_json::{Value, json};
use testkit::{TestAgent, TestTool, Visited, World, model};
use tokio::sync::oneshot;

use crate::support::*;

async fn guest_house(world: &World) -> (std::sync::Arc<Host>, SessionId) {
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let id = host.create("/".as_ref(), TestAgent::MODEL, "").await.unwrap();
    (host, id)
}

fn began(call: &str) -> Doing {
    Doing::Began {
        call: call.into(),
        tool: "agent_edit".into(),
        args: json!({ "on": call }),
        title: format!("Editing {call}"),
    }
}

fn ended(call: &str, text: &str) -> Doing {
    Doing::Ended { call: call.into(), result: Ok(Reply::from(text.to_owned())) }
}

fn choice(id: &str, name: &str, means: Means) -> Choice {
    Choice { id: id.into(), name: name.into(), means }
}

fn four() -> Vec<Choice> {
    vec![
        choice("aa", "Always", Means::AllowAlways),
        choice("a1", "Yes", Means::AllowOnce),
        choice("ra", "Never", Means::RejectAlways),
        choice("r1", "No", Means::RejectOnce),
    ]
}

fn deed(risk: Risk) -> Deed {
    Deed {
        risk,
        detail: Detail::Arguments { args: Value::Null },
        subjects: vec!["a".into()],
        within: None,
    }
}

async fn asks(
    guest: &Visited,
    call: &str,
    risk: Risk,
    options: Vec<Choice>,
) -> oneshot::Receiver<Option<String>> {
    let (answer, answered) = oneshot::channel();
    guest.does(Doing::Asks { call: call.into(), deed: deed(risk), options, answer }).await;
    answered
}

/// The first question that is put.
async fn question(host: &Host) -> Waiting {
    loop {
        if let Some(waiting) = host.questions().await.unwrap().pop() {
            return waiting;
        }
        tokio::task::yield_now().await;
    }
}

fn allow(scope: Scope) -> Decision {
    Decision::Allow { scope, pattern: None, lasts: None }
}

#[tokio::test]
async fn an_agent_answers_like_a_model_and_its_own_calls_are_on_record() {
    let world = World::new([]);
    let (host, id) = guest_house(&world).await;
    let mut feed = feed(&host, id).await;
    let play = async {
        say(&host, id, "hello").await;
        let guest = world.agent.visited().await;
        guest.does(Doing::Reasoning("hm".into())).await;
        guest.says("Let me ").await;
        guest.says("see.").await;
        guest.does(began("x")).await;
        guest.does(Doing::Started { call: "x".into() }).await;
        guest.does(Doing::Printed { call: "x".into(), delta: "half".into() }).await;
        guest.does(ended("x", "edited")).await;
        guest.says("Done.").await;
    };
    let (heard, ()) = tokio::join!(until_turn_ends(&mut feed), play);
    let facts: Vec<_> = log(&world, id).await;
    let call = facts.iter().find_map(|entry| match &entry.fact {
        Fact::Answered(answer) => answer.calls.first().cloned(),
        _ => None,
    });
    let call = call.unwrap();
    assert_eq!((call.name.as_str(), call.title.as_str()), ("agent_edit", "Editing x"));
    let id = call.id;
    let expected = [
        "opened".to_owned(),
        "said hello".into(),
        "step 0".into(),
        "~Let me ".into(),
        "~see.".into(),
        format!("answered Let me see. {id}"),
        format!("{id} started"),
        format!("{id} edited"),
        "step 1".into(),
        "~Done.".into(),
        "answered Done.".into(),
        "ended Finished".into(),
    ];
    assert_eq!(heard, expected);
}

#[tokio::test]
async fn calls_of_an_agent_may_overlap() {
    let world = World::new([]);
    let (host, id) = guest_house(&world).await;
    let mut feed = feed(&host, id).await;
    let play = async {
        say(&host, id, "hello").await;
        let guest = world.agent.visited().await;
        guest.does(began("outer")).await;
        guest.does(began("inner")).await;
        guest.does(ended("inner", "in")).await;
        guest.does(ended("outer", "out")).await;
        guest.does(ended("outer", "again")).await;
        guest.does(began("lost")).await;
    };
    tokio::join!(until_turn_ends(&mut feed), play);
    let results: Vec<_> = shorts(&world, id).await;
    let results: Vec<_> = results.iter().filter_map(|it| it.split_once(' ')).collect();
    let results: Vec<_> =
        results.iter().filter(|(id, _)| id.len() == 36).map(|(_, text)| *text).collect();
    assert_eq!(results, ["in", "out", "interrupted"]);
}

#[tokio::test]
async fn another_model_is_shown_overlapping_calls_with_their_results() {
    let world = World::new([vec![model::text("fine")]]);
    let (host, id) = guest_house(&world).await;
    let mut feed = feed(&host, id).await;
    let play = async {
        say(&host, id, "hello").await;
        let guest = world.agent.visited().await;
        guest.does(began("outer")).await;
        guest.does(began("inner")).await;
        guest.does(ended("inner", "in")).await;
        guest.does(ended("outer", "out")).await;
    };
    tokio::join!(until_turn_ends(&mut feed), play);
    let amendment = Amendment { model: Some("test".into()), ..Amendment::default() };
    host.amend(id, amendment).await.unwrap();
    say(&host, id, "and you?").await;
    until_turn_ends(&mut feed).await;
    let prompt = world.model.prompts().pop().unwrap();
    let shown: Vec<String> = prompt
        .parts
        .iter()
        .map(|part| match part {
            Part::User { text, .. } => text.clone(),
            Part::Assistant { calls, .. } => calls.iter().map(|call| call.title.clone()).collect(),
            Part::Result { output, .. } => output.text().to_owned(),
            Part::Pictures { .. } => String::new(),
        })
        .collect();
    assert_eq!(shown, ["hello", "Editing outer", "out", "Editing inner", "in", "and you?"]);
}

#[tokio::test]
async fn a_question_of_an_agent_goes_to_the_inbox_and_its_options_are_mapped() {
    for (decision, chosen) in [
        (allow(Scope::Once), "a1"),
        (allow(Scope::Session), "a1"),
        (allow(Scope::Always), "a1"),
        (Decision::Deny { reason: None }, "r1"),
    ] {
        let world = World::new([]);
        let (host, id) = guest_house(&world).await;
        say(&host, id, "hello").await;
        let guest = world.agent.visited().await;
        guest.does(began("x")).await;
        let answered = asks(&guest, "x", Risk::Acts, four()).await;
        let Waiting { question, .. } = question(&host).await;
        let Question { caller, tool, title, about, .. } = &question;
        assert_eq!(*caller, Caller::Agent { name: "guest".into() });
        assert_eq!((tool.as_str(), title.as_str()), ("agent_edit", "Editing x"));
        assert!(matches!(about, About::Leave { deed: it, .. } if *it == deed(Risk::Acts)));
        let lasts = matches!(&decision, Decision::Allow { scope, .. } if *scope != Scope::Once);
        host.decide(question.id, decision, "a test").await.unwrap();
        assert_eq!(answered.await.unwrap().as_deref(), Some(chosen));
        if lasts {
            guest.does(ended("x", "done")).await;
            guest.does(began("y")).await;
            let again = asks(&guest, "y", Risk::Acts, four()).await;
            assert_eq!(again.await.unwrap().as_deref(), Some("a1"), "the house remembers");
        }
    }
}

#[tokio::test]
async fn options_that_are_more_than_yes_and_no_are_shown_as_they_are() {
    let world = World::new([]);
    let (host, id) = guest_house(&world).await;
    say(&host, id, "hello").await;
    let guest = world.agent.visited().await;
    guest.does(began("x")).await;
    let options = vec![
        choice("1", "Yes, and edit freely", Means::AllowOnce),
        choice("2", "Yes, step by step", Means::AllowOnce),
        choice("3", "No", Means::RejectOnce),
    ];
    let answered = asks(&guest, "x", Risk::Acts, options).await;
    let waiting = question(&host).await;
    let choices = ["Yes, and edit freely", "Yes, step by step", "No"].map(str::to_owned);
    let about = About::Choice { text: "Editing x".into(), choices: choices.to_vec(), free: false };
    assert_eq!(waiting.question.about, about);
    let decision = Decision::Answer("Yes, step by step".into());
    host.decide(waiting.question.id, decision, "a test").await.unwrap();
    assert_eq!(answered.await.unwrap().as_deref(), Some("2"));
}

#[tokio::test]
async fn the_mode_of_the_session_answers_for_the_person() {
    for (mode, risk) in [(Mode::Full, Risk::Runs), (Mode::AutoSafe, Risk::Edits)] {
        let world = World::new([]);
        let (host, id) = guest_house(&world).await;
        host.amend(id, Amendment { mode: Some(mode), ..Amendment::default() }).await.unwrap();
        say(&host, id, "hello").await;
        let guest = world.agent.visited().await;
        guest.does(began("x")).await;
        let answered = asks(&guest, "x", risk, four()).await;
        assert_eq!(answered.await.unwrap().as_deref(), Some("a1"));
        assert_eq!(host.questions().await.unwrap(), []);
    }
}

#[tokio::test]
async fn who_asks_about_nothing_is_not_answered() {
    let world = World::new([]);
    let (host, id) = guest_house(&world).await;
    say(&host, id, "hello").await;
    let guest = world.agent.visited().await;
    let answered = asks(&guest, "nothing", Risk::Acts, four()).await;
    assert!(answered.await.is_err());
}

#[tokio::test]
async fn a_tool_of_the_house_is_lent_once_the_person_agrees() {
    let edit = TestTool::echo().named("edit").risky(Risk::Edits);
    let world = World::new([]).tool(&edit);
    let (host, id) = guest_house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hello").await;
    let guest = world.agent.visited().await;
    for (decision, told) in [
        (allow(Scope::Once), Ok(r#"{"on":"a"}"#)),
        (Decision::Deny { reason: Some("no".into()) }, Err("The person refused this: no")),
    ] {
        let (answer, answered) = oneshot::channel();
        let args = json!({ "on": "a" });
        guest.does(Doing::Wants { wish: Wish::new("edit", args), answer }).await;
        let waiting = question(&host).await;
        assert_eq!(waiting.question.caller, Caller::Agent { name: "guest".into() });
        host.decide(waiting.question.id, decision, "a test").await.unwrap();
        let told = told.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(answered.await.unwrap().map(|reply| reply.text), told);
    }
    drop(guest);
    until_turn_ends(&mut feed).await;
    assert_eq!(edit.calls(), [json!({ "on": "a" })]);
    log(&world, id).await;
}

async fn wants(
    guest: &Visited,
    tool: &str,
    under: &str,
) -> oneshot::Receiver<Result<Reply, String>> {
    let (answer, answered) = oneshot::channel();
    let wish = Wish { under: Some(under.to_owned()), ..Wish::new(tool, json!({})) };
    guest.does(Doing::Wants { wish, answer }).await;
    answered
}

#[tokio::test]
async fn leave_for_a_call_covers_what_the_house_does_under_it_if_that_is_an_edit() {
    let edit = TestTool::echo().named("edit").risky(Risk::Edits);
    let run = TestTool::echo().named("run").risky(Risk::Runs);
    let world = World::new([]).tool(&edit).tool(&run);
    let (host, id) = guest_house(&world).await;
    say(&host, id, "hello").await;
    let guest = world.agent.visited().await;
    guest.does(began("x")).await;
    guest.does(began("y")).await;
    for (call, decision) in [("x", allow(Scope::Once)), ("y", Decision::Deny { reason: None })] {
        let answered = asks(&guest, call, Risk::Acts, four()).await;
        let waiting = question(&host).await;
        host.decide(waiting.question.id, decision, "a test").await.unwrap();
        answered.await.unwrap();
    }
    let done = wants(&guest, "edit", "x").await;
    assert!(done.await.unwrap().is_ok());
    assert_eq!(host.questions().await.unwrap(), []);
    for (tool, under) in [("run", "x"), ("edit", "y"), ("edit", "nothing")] {
        let answered = wants(&guest, tool, under).await;
        let waiting = question(&host).await;
        assert_eq!(waiting.question.tool, tool);
        let no = Decision::Deny { reason: None };
        host.decide(waiting.question.id, no, "a test").await.unwrap();
        assert!(answered.await.unwrap().is_err());
    }
    guest.does(ended("x", "done")).await;
    let answered = wants(&guest, "edit", "x").await;
    let waiting = question(&host).await;
    host.decide(waiting.question.id, allow(Scope::Once), "a test").await.unwrap();
    assert!(answered.await.unwrap().is_ok());
    assert_eq!((edit.calls().len(), run.calls().len()), (2, 0));
}

#[tokio::test]
async fn cancelling_dismisses_the_agent_and_withdraws_its_question() {
    let world = World::new([]);
    let (host, id) = guest_house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hello").await;
    let guest = world.agent.visited().await;
    guest.says("I will").await;
    until_signal(&mut feed, |signal| matches!(signal, Signal::Text { .. })).await;
    guest.does(began("x")).await;
    let answered = asks(&guest, "x", Risk::Acts, four()).await;
    question(&host).await;
    assert!(host.cancel(id).await.unwrap());
    guest.dismissed().await;
    assert!(answered.await.is_err());
    assert_eq!(host.questions().await.unwrap(), []);
    let facts = shorts(&world, id).await;
    assert_eq!(facts.last().unwrap(), "ended Cancelled");
    assert!(facts[facts.len() - 2].ends_with(" interrupted"), "{facts:?}");
}

#[tokio::test]
async fn a_plan_becomes_the_task_of_the_session() {
    let world = World::new([]);
    let (host, id) = guest_house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hello").await;
    let guest = world.agent.visited().await;
    let plan = |progress| {
        let steps = vec![Step { text: "look".into(), progress }];
        Doing::Plan(Plan { title: "Plan".into(), steps, visibility: None })
    };
    guest.does(plan(Progress::Active)).await;
    guest.does(plan(Progress::Done)).await;
    drop(guest);
    until_turn_ends(&mut feed).await;
    let names: Vec<_> = log(&world, id)
        .await
        .into_iter()
        .filter_map(|entry| match entry.fact {
            Fact::TaskOpened(task) => Some(format!("opened {:?}", task.steps[0].progress)),
            Fact::TaskMoved(task) => Some(format!("moved {:?}", task.steps[0].progress)),
            Fact::TaskClosed { close, .. } => Some(format!("closed {close:?}")),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["opened Active", "moved Done", "closed Done"]);
}

#[tokio::test]
async fn a_plan_does_not_stay_open_when_its_turn_has_ended_well() {
    let world = World::new([]);
    let (host, id) = guest_house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hello").await;
    let guest = world.agent.visited().await;
    let step = |progress| Step { text: format!("{progress:?}"), progress };
    let steps = [Progress::Done, Progress::Active, Progress::Pending].map(step).to_vec();
    guest.does(Doing::Plan(Plan { title: "Tidy up".into(), steps, visibility: None })).await;
    drop(guest);
    until_turn_ends(&mut feed).await;
    let closed = log(&world, id).await.into_iter().find_map(|entry| match entry.fact {
        Fact::TaskClosed { close, reason, .. } => Some((close, reason)),
        _ => None,
    });
    let reason = "the turn ended with 2 of 3 steps left".to_owned();
    assert_eq!(closed, Some((Close::Cancelled, Some(reason))));
    assert_eq!(host.roster.get(id).unwrap().task, None);
}

#[tokio::test]
async fn an_agent_that_fails_keeps_what_it_had_said() {
    let world = World::new([]);
    let (host, id) = guest_house(&world).await;
    let mut feed = feed(&host, id).await;
    let play = async {
        say(&host, id, "hello").await;
        let guest = world.agent.visited().await;
        guest.says("I").await;
        guest.fails(ModelError::new(Failure::Network, "it is gone")).await;
    };
    let (heard, ()) = tokio::join!(until_turn_ends(&mut feed), play);
    assert_eq!(heard[heard.len() - 2..], ["answered I (partial)", "ended Network: it is gone"]);
}

#[tokio::test]
async fn an_agent_is_told_what_it_has_not_heard() {
    let world = World::new([vec![model::text("I am the model.")]]);
    let (host, id) = guest_house(&world).await;
    let mut feed = feed(&host, id).await;
    let first = async {
        say(&host, id, "one").await;
        let guest = world.agent.visited().await;
        guest.does(Doing::Memory(json!({ "session": "s1" }))).await;
        guest.says("First.").await;
        guest.visit.clone()
    };
    let (_, visit) = tokio::join!(until_turn_ends(&mut feed), first);
    assert_eq!((visit.text.as_str(), visit.memory), ("one", None));
    assert_eq!((visit.since, visit.past), (String::new(), String::new()));
    for (model, text) in [("test", "two"), (TestAgent::MODEL, "three")] {
        let amendment = Amendment { model: Some(model.into()), ..Amendment::default() };
        host.amend(id, amendment).await.unwrap();
        say(&host, id, text).await;
        if model == "test" {
            until_turn_ends(&mut feed).await;
        }
    }
    let visit = world.agent.visited().await.visit;
    let since = "User: two\nAssistant (test): I am the model.";
    let past = format!("User: one\nAssistant (agent/guest): First.\n{since}");
    assert_eq!(visit.memory, Some(json!({ "session": "s1" })));
    assert_eq!((visit.since.as_str(), visit.past), (since, past));
}

#[tokio::test]
async fn a_long_past_is_told_within_bounds() {
    let world = World::new([]);
    world.model.otherwise(vec![model::text(&"ä".repeat(4000))]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    for n in 0..10 {
        say(&host, id, &format!("question {n}")).await;
        until_turn_ends(&mut feed).await;
    }
    let amendment = Amendment { model: Some(TestAgent::MODEL.into()), ..Amendment::default() };
    host.amend(id, amendment).await.unwrap();
    say(&host, id, "and now?").await;
    let visit = world.agent.visited().await.visit;
    assert!(visit.past.len() < 49 * 1024 && visit.past.len() > 40 * 1024);
    assert!(visit.past.contains("question 9") && !visit.past.contains("question 0"));
    assert!(visit.past.contains("[cut; what came before is left out]"));
}

#[test]
fn a_turn_of_an_agent_that_a_crash_cut_short_is_not_taken_up_again() {
    let world = World::new([]);
    let id = world.until_crash(async |host| {
        let id = host.create("/".as_ref(), TestAgent::MODEL, "").await.unwrap();
        host.post(id, Message::from_user("hello"), WhenBusy::Queue).await.unwrap();
        let guest = world.agent.visited().await;
        guest.does(began("x")).await;
        let _answered = asks(&guest, "x", Risk::Acts, four()).await;
        question(&host).await;
        id
    });
    world.until_crash(async |host| {
        host.recover().await;
        assert_eq!(host.questions().await.unwrap(), []);
        let facts = shorts(&world, id).await;
        assert_eq!(facts.last().unwrap(), "ended Interrupted");
        host.post(id, Message::from_user("again"), WhenBusy::Refuse).await.unwrap();
        assert_eq!(world.agent.visited().await.visit.text, "again");
    });
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_is_refused() {
    let world = World::new([]);
    let (host, id) = guest_house(&world).await;
    say(&host, id, "hello").await;
    let guest = world.agent.visited().await;
    guest.does(began("x")).await;
    let answered = asks(&guest, "x", Risk::Acts, four()).await;
    question(&host).await;
    world.clock.advance(SignedDuration::from_hours(25));
    assert_eq!(answered.await.unwrap().as_deref(), Some("r1"));
}

#[tokio::test]
async fn an_agent_is_listed_among_the_models_and_is_none() {
    let world = World::new([]);
    let ports = world.ports();
    let company = Company { models: ports.models, agents: ports.agents, default: None };
    let ids: Vec<_> = company.list().await.unwrap().into_iter().map(|it| it.id).collect();
    assert_eq!(ids, ["test", "agent/guest"]);
    assert_eq!(company.default_id(), "test");
    assert!(company.find("agent/nobody").is_none());
    assert!(company.find("agent/guest").unwrap().is_free());
}
