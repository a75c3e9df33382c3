//! Saying something else instead: what was taken back is kept, and nobody is shown it.

use std::sync::Arc;

use kernel::{
    host::{Host, PostError},
    prompt::Part,
    session::{Receipt, SayError},
    tasks::{Plan, Progress, Step},
    toolbox::{Caller, Risk},
    update::{Fact, Message, Origin, Seq, SessionId, WhenBusy},
    visit::Doing,
};
use serde_json::json;
use testkit::{
    Gate, TestAgent, TestTool, World,
    model::{self, text, usage},
};

use crate::support::*;

async fn instead(
    host: &Host,
    id: SessionId,
    place: u64,
    words: &str,
) -> Result<Receipt, PostError> {
    let message = Message { replaces: Some(Seq(place)), ..Message::from_user(words) };
    host.post(id, message, WhenBusy::Queue).await
}

/// Says it, and returns where when it is answered.
async fn said(host: &Host, id: SessionId, words: &str) -> u64 {
    let receipt = say(host, id, words).await;
    idle(host, id).await;
    receipt.seq.0
}

/// What the model was shown last, in short.
fn shown(world: &World) -> Vec<String> {
    let parts = world.model.prompts().pop().unwrap().parts;
    let text = |part: Part| match part {
        Part::User { text, .. } | Part::Assistant { text, .. } => text,
        Part::Result { call, .. } => format!("{call} returned"),
        Part::Pictures { .. } => "pictures".to_owned(),
    };
    parts.into_iter().map(text).collect()
}

fn replies(numbers: impl IntoIterator<Item = u64>) -> Vec<model::Script> {
    let reply = |number| vec![text(&format!("reply {number}")), usage(10 * number, number)];
    numbers.into_iter().map(reply).collect()
}

#[tokio::test]
async fn what_is_said_instead_takes_the_place_of_all_that_came_after() {
    let world = World::new(replies(1..=5));
    let (host, id) = house(&world).await;
    said(&host, id, "one").await;
    let two = said(&host, id, "two").await;
    said(&host, id, "three").await;
    instead(&host, id, two, "two, better").await.unwrap();
    idle(&host, id).await;
    assert_eq!(shown(&world), ["one", "reply 1", "two, better"]);
    let end = [
        "said three",
        "step 0",
        "answered reply 3",
        "ended Finished",
        "rewound to 6",
        "said two, better",
        "step 0",
        "answered reply 4",
        "ended Finished",
    ];
    let log = shorts(&world, id).await;
    assert_eq!(log[log.len() - end.len()..], end, "and the log keeps all of it");
    said(&host, id, "four").await;
    assert_eq!(shown(&world), ["one", "reply 1", "two, better", "reply 4", "four"]);
}

#[tokio::test]
async fn what_fills_the_context_falls_back_to_what_it_was() {
    let world = World::new(replies(1..=3));
    let (host, id) = house(&world).await;
    let one = said(&host, id, "one").await;
    let two = said(&host, id, "two").await;
    said(&host, id, "three").await;
    let gate = Gate::default();
    world.model.push(vec![model::wait(&gate)]);
    let filled = || host.roster.get(id).unwrap().filled;
    assert_eq!(filled(), Some(33));
    instead(&host, id, two, "again").await.unwrap();
    gate.reached().await;
    let state = host.roster.get(id).unwrap();
    assert_eq!((state.filled, state.summary.as_deref()), (Some(11), Some("one")));
    assert_eq!(state.spent.output_tokens, 6, "what was used was used");
    host.cancel(id).await.unwrap();
    world.model.push(vec![model::hang()]);
    instead(&host, id, one, "from the start").await.unwrap();
    let state = host.roster.get(id).unwrap();
    assert_eq!((state.filled, state.summary.as_deref()), (None, Some("from the start")));
}

#[tokio::test]
async fn a_summary_counts_as_long_as_it_was_not_taken_back() {
    let world = World::new(replies(1..=1));
    let (host, id) = house(&world).await;
    said(&host, id, "one").await;
    let compact = async |summary: &str| {
        world.model.push(vec![text(summary)]);
        assert!(host.compact(id).await.unwrap());
        idle(&host, id).await;
    };
    compact("first summary").await;
    world.model.push(vec![text("reply 2")]);
    let two = said(&host, id, "two").await;
    compact("second summary").await;
    world.model.otherwise(vec![text("fine")]);
    let three = said(&host, id, "three").await;
    let summed_up = |summary| format!("[What happened before, summed up]\n{summary}");
    instead(&host, id, three, "three, better").await.unwrap();
    idle(&host, id).await;
    assert_eq!(shown(&world), [summed_up("second summary"), "three, better".to_owned()]);
    instead(&host, id, two, "two, better").await.unwrap();
    idle(&host, id).await;
    assert_eq!(shown(&world), [summed_up("first summary"), "two, better".to_owned()]);
    compact("third summary").await;
    let asked = world.model.prompts().pop().unwrap().parts;
    assert_eq!(asked.len(), 4, "the summary, what stands, and what is asked: {asked:?}");
    instead(&host, id, 2, "one, better").await.unwrap();
    idle(&host, id).await;
    assert_eq!(shown(&world), ["one, better"]);
}

#[tokio::test]
async fn only_a_message_of_the_person_that_stands_can_be_replaced() {
    let world = World::new([]);
    world.model.otherwise(vec![text("fine")]);
    let (host, id) = house(&world).await;
    let one = said(&host, id, "one").await;
    let two = said(&host, id, "two").await;
    let origin = Origin::Schedule { slug: "daily".into(), errand: None };
    let message = Message { origin, ..Message::from_user("good morning") };
    let morning = host.post(id, message, WhenBusy::Queue).await.unwrap().seq.0;
    idle(&host, id).await;
    instead(&host, id, two, "two, better").await.unwrap();
    idle(&host, id).await;
    let last = host.roster.get(id).unwrap().last.0;
    for place in [0, 1, one + 1, two, morning, last, last + 1, u64::MAX] {
        let refused = instead(&host, id, place, "no").await;
        let error = refused.unwrap_err();
        assert!(
            matches!(error, PostError::Say(SayError::NotSaid(at)) if at == Seq(place)),
            "{error}"
        );
    }
    assert_eq!(host.roster.get(id).unwrap().last.0, last, "nothing was done");
    instead(&host, id, one, "one, better").await.unwrap();
    idle(&host, id).await;
    assert_eq!(shown(&world), ["one, better"]);
}

#[tokio::test]
async fn a_busy_session_takes_nothing_back() {
    let gate = Gate::default();
    let world = World::new([vec![text("fine")], vec![model::wait(&gate)]]);
    let (host, id) = house(&world).await;
    let one = said(&host, id, "one").await;
    say(&host, id, "two").await;
    gate.reached().await;
    let refused = instead(&host, id, one, "no").await.unwrap_err();
    assert!(matches!(refused, PostError::Say(SayError::Busy)), "{refused}");
}

#[tokio::test]
async fn under_one_key_something_is_replaced_once() {
    let world = World::new([]);
    world.model.otherwise(vec![text("fine")]);
    let (host, id) = house(&world).await;
    let one = said(&host, id, "one").await;
    let replaces = |place: Option<u64>| {
        let (key, replaces) = (Some("k".to_owned()), place.map(Seq));
        let message = Message { key, replaces, ..Message::from_user("better") };
        host.post(id, message, WhenBusy::Refuse)
    };
    let first = replaces(Some(one)).await.unwrap();
    idle(&host, id).await;
    let last = host.roster.get(id).unwrap().last;
    let again = replaces(Some(one)).await.unwrap();
    assert_eq!(again, Receipt { repeated: true, ..first });
    for other in [None, Some(first.seq.0)] {
        let refused = replaces(other).await.unwrap_err();
        assert!(matches!(refused, PostError::Say(SayError::KeyReused)), "{refused}");
    }
    assert_eq!(host.roster.get(id).unwrap().last, last);
}

#[tokio::test]
async fn what_was_asked_and_planned_meanwhile_is_given_up() {
    let act = TestTool::echo().named("act").risky(Risk::Acts);
    let world = World::new([]).tool(&act);
    world.model.otherwise(vec![text("fine")]);
    let (host, id) = house(&world).await;
    let call = |host: Arc<Host>| {
        tokio::spawn(async move { host.call(id, Caller::Client, "act", json!({})).await })
    };
    let early = call(host.clone());
    let early_question = asked(&host).await.question.id;
    let one = said(&host, id, "one").await;
    let late = call(host.clone());
    while host.questions().await.unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    let step = |progress| Step { text: "dig".into(), progress };
    let plan =
        Plan { title: "a well".into(), steps: vec![step(Progress::Active)], visibility: None };
    host.open(id).await.unwrap().plan(plan).await.unwrap().unwrap();
    instead(&host, id, one, "better").await.unwrap();
    idle(&host, id).await;
    let state = host.roster.get(id).unwrap();
    assert_eq!(state.task, None);
    let open: Vec<_> = state.questions.iter().map(|open| open.id).collect();
    assert_eq!(open, [early_question], "what was asked before still waits");
    let refused = late.await.unwrap().unwrap_err().to_string();
    assert_eq!(refused, "This was given up.");
    assert!(!early.is_finished());
    early.abort();
    let log = log(&world, id).await;
    let closed = log.iter().filter(|it| matches!(it.fact, Fact::TaskClosed { .. })).count();
    assert_eq!(closed, 1);
}

#[tokio::test]
async fn an_agent_is_called_anew_and_told_what_still_stands() {
    let world = World::new([]);
    let host = Host::start(world.ports(), kernel::host::Settings::default()).await.unwrap();
    let id = host.create("/".as_ref(), TestAgent::MODEL, "").await.unwrap();
    let visit = async |reply: &str| {
        let guest = world.agent.visited().await;
        guest.does(Doing::Memory(json!({ "session": reply }))).await;
        guest.says(reply).await;
        let visit = guest.visit.clone();
        drop(guest);
        idle(&host, id).await;
        visit
    };
    say(&host, id, "one").await;
    visit("first").await;
    let two = say(&host, id, "two").await.seq.0;
    let second = visit("second").await;
    assert_eq!(second.memory, Some(json!({ "session": "first" })));
    instead(&host, id, two, "two, better").await.unwrap();
    let third = visit("third").await;
    assert_eq!(third.memory, None, "it would remember what was taken back");
    assert_eq!(third.past, "User: one\nAssistant (agent/guest): first");
    say(&host, id, "three").await;
    let fourth = visit("fourth").await;
    assert_eq!(fourth.memory, Some(json!({ "session": "third" })));
    assert!(!fourth.past.contains("second"), "{}", fourth.past);
}
