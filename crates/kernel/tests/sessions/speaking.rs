//! Speaking to a session, the turn that answers, and stopping it.

use kernel::{
    feed::Heard,
    host::{Host, PostError, Settings},
    prompt::Part,
    session::{QUEUE_DEPTH, SayError},
    update::{Fact, Failure, Message, WhenBusy},
};
use serde_json::json;
use testkit::{
    Gate, TestTool, World,
    model::{call, fail, hang, reasoning, text, wait},
};

use crate::support::*;

#[tokio::test]
async fn tools_of_one_step_overlap_and_return_as_they_finish() {
    let (slow, quick) = (Gate::default(), Gate::default());
    quick.open();
    let world = World::new([
        vec![
            call("a", "slow", json!(1)),
            call("b", "quick", json!(2)),
            call("c", "none", json!(3)),
        ],
        vec![text("done")],
    ])
    .tool(&TestTool::waiting(&slow).named("slow"))
    .tool(&TestTool::waiting(&quick).named("quick"));
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "go").await;
    slow.reached().await;
    // The slow one is let go only when the others are known to have returned.
    let mut early = Vec::new();
    while early.len() < 2 {
        if let Some(Heard::Live(told)) = feed.next().await {
            let returned = told.facts().filter(|it| matches!(it.fact, Fact::ToolReturned { .. }));
            early.extend(returned.map(|entry| short(&entry.fact)));
        }
    }
    early.sort();
    assert_eq!(early, ["b 2", "c failed: Tool 'none' does not exist."]);
    slow.open();
    let rest = until_turn_ends(&mut feed).await;
    assert_eq!(rest, ["a 1", "step 1", "~done", "answered done", "ended Finished"]);

    let prompts = world.model.prompts();
    let results = prompts[1].parts.iter().filter(|part| matches!(part, Part::Result { .. }));
    assert_eq!(results.count(), 3, "the model sees every result");
}

#[tokio::test]
async fn tools_that_must_not_overlap_run_in_the_order_asked_for() {
    let (gate, echo) = (Gate::default(), TestTool::echo());
    let world = World::new([
        vec![call("a", "wait", json!(1)), call("b", "echo", json!(2))],
        vec![text("done")],
    ])
    .tool(&TestTool::waiting(&gate).parallel(false))
    .tool(&echo);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "go").await;
    gate.reached().await;
    assert!(echo.calls().is_empty(), "the second waits for the first");
    gate.open();
    let heard = until_turn_ends(&mut feed).await;
    assert!(heard.ends_with(
        &["a 1", "b 2", "step 1", "~done", "answered done", "ended Finished"].map(String::from)
    ));
}

#[tokio::test]
async fn a_tool_that_fails_or_breaks_down_does_not_end_the_turn() {
    let world = World::new([
        vec![call("a", "fail", json!({})), call("b", "panic", json!({}))],
        vec![text("sorry")],
    ])
    .tool(&TestTool::failing("no luck"))
    .tool(&TestTool::panicking());
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "go").await;
    let heard = until_turn_ends(&mut feed).await;
    assert!(heard.contains(&"a failed: no luck".into()));
    assert!(heard.contains(&"b failed: Tool 'panic' broke down.".into()));
    assert_eq!(heard.last().unwrap(), "ended Finished");
}

#[tokio::test]
async fn cancelling_keeps_what_was_heard_and_silences_the_rest() {
    let world = World::new([vec![text("half a "), hang()], vec![text("fresh")]]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "speak").await;
    until_signal(&mut feed, |_| true).await;
    assert!(host.cancel(id).await.unwrap());
    let heard = until_turn_ends(&mut feed).await;
    assert_eq!(heard, ["answered half a  (partial)", "ended Cancelled"]);
    world.model.silent().await;
    assert!(!host.cancel(id).await.unwrap(), "nothing is left to cancel");

    say(&host, id, "again").await;
    let heard = until_turn_ends(&mut feed).await;
    assert_eq!(heard, ["said again", "step 0", "~fresh", "answered fresh", "ended Finished"]);
}

#[tokio::test]
async fn cancelling_while_a_tool_runs_marks_its_call() {
    let gate = Gate::default();
    let world = World::new([vec![call("a", "wait", json!(1))]]).tool(&TestTool::waiting(&gate));
    let (host, id) = house(&world).await;
    say(&host, id, "go").await;
    gate.reached().await;
    host.cancel(id).await.unwrap();
    let expected =
        ["opened", "said go", "step 0", "answered  a", "a interrupted", "ended Cancelled"];
    assert_eq!(shorts(&world, id).await, expected);
}

#[tokio::test]
async fn cancelling_while_the_log_is_slow_leaves_a_valid_history() {
    let world = World::new([vec![call("a", "echo", json!(1))], vec![text("stale")]]);
    let (host, id) = house(&world).await;
    let gate = world.store.hold_appends();
    let posting = tokio::spawn({
        let host = host.clone();
        async move { say(&host, id, "go").await }
    });
    gate.reached().await;
    let cancelling = tokio::spawn({
        let host = host.clone();
        async move { host.cancel(id).await }
    });
    world.store.release_appends();
    posting.await.unwrap();
    cancelling.await.unwrap().unwrap();
    let mut feed = feed(&host, id).await;
    until_turn_ends(&mut feed).await;
    log(&world, id).await;
}

#[tokio::test]
async fn a_model_that_fails_in_the_middle_keeps_its_text_and_says_why() {
    let world = World::new([
        vec![reasoning("hm"), text("well"), fail(Failure::Overloaded, "try later")],
        vec![text("ok")],
    ]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    let heard = until_turn_ends(&mut feed).await;
    assert!(
        heard.ends_with(
            &["answered well (partial)", "ended Overloaded: try later"].map(String::from)
        )
    );
    say(&host, id, "again").await;
    assert_eq!(until_turn_ends(&mut feed).await.last().unwrap(), "ended Finished");
}

#[tokio::test]
async fn of_two_messages_at_once_exactly_one_is_taken() {
    let world = World::new([vec![hang()]]);
    let (host, id) = house(&world).await;
    let post = |words| host.post(id, Message::from_user(words), WhenBusy::Refuse);
    let (one, other) = tokio::join!(post("one"), post("other"));
    let refused = [one, other].into_iter().filter_map(Result::err).collect::<Vec<_>>();
    assert!(matches!(refused[..], [PostError::Say(SayError::Busy)]), "{refused:?}");
}

#[tokio::test]
async fn messages_that_wait_are_answered_in_order() {
    let gate = Gate::default();
    let world = World::new([vec![wait(&gate), text("1")], vec![text("2")], vec![text("3")]]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    assert_eq!(say(&host, id, "first").await.queued, None);
    assert_eq!(say(&host, id, "second").await.queued, Some(1));
    assert_eq!(say(&host, id, "third").await.queued, Some(2));
    gate.open();
    for _ in 0..3 {
        until_turn_ends(&mut feed).await;
    }
    let told: Vec<_> = shorts(&world, id)
        .await
        .into_iter()
        .filter(|it| it.contains("said") || it.contains("answered"))
        .collect();
    let expected =
        ["said first", "answered 1", "said second", "answered 2", "said third", "answered 3"];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn only_so_many_may_wait() {
    let world = World::new([vec![hang()]]);
    let (host, id) = house(&world).await;
    for n in 0..=QUEUE_DEPTH {
        say(&host, id, &n.to_string()).await;
    }
    let refused = host.post(id, Message::from_user("one more"), WhenBusy::Queue).await;
    assert!(matches!(refused, Err(PostError::Say(SayError::QueueFull))), "{refused:?}");
}

#[tokio::test]
async fn the_same_key_says_a_thing_once() {
    let world = World::new([vec![hang()]]);
    let (host, id) = house(&world).await;
    let keyed =
        |words: &str, key: &str| Message { key: Some(key.into()), ..Message::from_user(words) };
    let post = |message| host.post(id, message, WhenBusy::Queue);
    let first = post(keyed("hi", "k1")).await.unwrap();
    let again = post(keyed("hi", "k1")).await.unwrap();
    assert_eq!((again.seq, again.repeated), (first.seq, true));
    let waiting = post(keyed("later", "k2")).await.unwrap();
    assert_eq!(post(keyed("later", "k2")).await.unwrap().seq, waiting.seq);
    let other = post(keyed("bye", "k1")).await;
    assert!(matches!(other, Err(PostError::Say(SayError::KeyReused))), "{other:?}");
}

#[tokio::test]
async fn a_session_whose_model_is_gone_says_so() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let id = host.create("/".as_ref(), "old", "").await.unwrap();
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    let heard = until_turn_ends(&mut feed).await;
    let expected = "ended NoModel: no model is named `old`; choose another for this session";
    assert_eq!(heard.last().unwrap(), expected);
}
