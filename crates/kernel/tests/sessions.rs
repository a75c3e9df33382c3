//! The life of sessions, told through the house: speaking, listening, cancelling, crashing, resting.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{sync::Arc, time::Duration};

use kernel::{
    feed::{Feed, Heard},
    host::{DeleteError, Host, OpenError, PostError, Settings},
    ports::{Log as _, StoreError},
    prompt::Part,
    roster::{Change, News},
    session::{QUEUE_DEPTH, Receipt, SayError},
    update::{
        Amendment, Answer, ContextChange, Entry, Fact, Failure, Message, Outcome, Output, Seq,
        SessionId, Signal, Update, WhenBusy,
    },
};
use serde_json::json;
use testkit::{
    Gate, TestTool, World, history,
    model::{call, fail, hang, reasoning, text, wait},
};

async fn house(world: &World) -> (Arc<Host>, SessionId) {
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let id = host.create("/".as_ref(), "test", "").await.unwrap();
    (host, id)
}

async fn say(host: &Host, id: SessionId, words: &str) -> Receipt {
    host.post(id, Message::from_user(words), WhenBusy::Queue).await.unwrap()
}

async fn feed(host: &Host, id: SessionId) -> Feed {
    host.feed(id, Some(Seq(0))).await.unwrap()
}

/// The facts and texts heard until a turn ends, in short.
async fn until_turn_ends(feed: &mut Feed) -> Vec<String> {
    let mut heard = Vec::new();
    loop {
        match feed.next().await.unwrap() {
            Heard::Past(entry) => heard.push(short(&entry.fact)),
            Heard::Now { .. } => (),
            Heard::Live(told) => match &told.update {
                Update::Fact(entry) => heard.push(short(&entry.fact)),
                Update::Signal { signal: Signal::Text { delta, .. }, .. } => {
                    heard.push(format!("~{delta}"));
                }
                Update::Signal { .. } => (),
            },
        }
        if heard.last().is_some_and(|last| last.starts_with("ended")) {
            return heard;
        }
    }
}

fn short(fact: &Fact) -> String {
    match fact {
        Fact::Opened { .. } => "opened".into(),
        Fact::Said { message, .. } => format!("said {}", message.text),
        Fact::Queued(message) => format!("queued {}", message.text),
        Fact::StepStarted { index } => format!("step {index}"),
        Fact::Answered(Answer { text, calls, partial, .. }) => {
            let calls: Vec<_> = calls.iter().map(|call| format!(" {}", call.id)).collect();
            format!("answered {text}{}{}", calls.concat(), if *partial { " (partial)" } else { "" })
        }
        Fact::ToolReturned { call, output: Output::Done { text } } => format!("{call} {text}"),
        Fact::ToolReturned { call, output: Output::Failed { message } } => {
            format!("{call} failed: {message}")
        }
        Fact::ToolReturned { call, output: Output::Interrupted } => format!("{call} interrupted"),
        Fact::TurnEnded(Outcome::Failed { kind, reason }) => format!("ended {kind:?}: {reason}"),
        Fact::TurnEnded(outcome) => format!("ended {outcome:?}"),
        other => format!("{other:?}"),
    }
}

async fn log(world: &World, id: SessionId) -> Vec<Entry> {
    let entries = world.store.read(id, Seq(0), usize::MAX >> 1).await.unwrap();
    history::check(&entries).unwrap();
    entries
}

async fn shorts(world: &World, id: SessionId) -> Vec<String> {
    log(world, id).await.iter().map(|entry| short(&entry.fact)).collect()
}

#[tokio::test]
async fn a_message_is_answered_and_heard_as_it_is_spoken() {
    let world = World::new([vec![text("Hel"), text("lo")]]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    let heard = until_turn_ends(&mut feed).await;
    let expected =
        ["opened", "said hi", "step 0", "~Hel", "~lo", "answered Hello", "ended Finished"];
    assert_eq!(heard, expected);
}

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
        if let Some(Heard::Live(told)) = feed.next().await
            && let Update::Fact(entry) = &told.update
            && matches!(entry.fact, Fact::ToolReturned { .. })
        {
            early.push(short(&entry.fact));
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
    while !matches!(feed.next().await, Some(Heard::Live(told)) if matches!(told.update, Update::Signal { .. }))
    {
    }
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
async fn a_latecomer_hears_the_past_and_then_only_what_is_new() {
    let world = World::new([vec![text("one")], vec![text("two")]]);
    let (host, id) = house(&world).await;
    let mut early = feed(&host, id).await;
    say(&host, id, "first").await;
    until_turn_ends(&mut early).await;

    let mut late = feed(&host, id).await;
    let past = until_turn_ends(&mut late).await;
    assert_eq!(past, ["opened", "said first", "step 0", "answered one", "ended Finished"]);
    say(&host, id, "second").await;
    let new = until_turn_ends(&mut late).await;
    assert_eq!(new, ["said second", "step 0", "~two", "answered two", "ended Finished"]);
}

#[tokio::test]
async fn a_latecomer_in_mid_sentence_hears_its_beginning() {
    let world = World::new([vec![reasoning("hm"), text("half a "), hang()]]);
    let (host, id) = house(&world).await;
    let mut early = feed(&host, id).await;
    say(&host, id, "speak").await;
    let is_text = |heard: &Option<Heard>| matches!(heard, Some(Heard::Live(told)) if matches!(told.update, Update::Signal { signal: Signal::Text { .. }, .. }));
    while !is_text(&early.next().await) {}
    let mut late = host.feed(id, Some(Seq(2))).await.unwrap();
    let Some(Heard::Past(_)) = late.next().await else { panic!("the step comes first") };
    let Some(Heard::Now { last, draft: Some(draft) }) = late.next().await else {
        panic!("then now")
    };
    assert_eq!(
        (last, draft.step, &*draft.text, &*draft.reasoning),
        (Seq(3), Seq(3), "half a ", "hm")
    );
}

async fn heard_so_far(host: &Host, id: SessionId) -> usize {
    match host.feed(id, None).await.unwrap().next().await {
        Some(Heard::Now { draft: Some(draft), .. }) => draft.text.len(),
        _ => 0,
    }
}

#[tokio::test]
async fn a_slow_listener_loses_no_fact_and_no_text() {
    let gate = Gate::default();
    let mut script: Vec<_> = (0..3000).map(|_| text("word ")).collect();
    script.push(wait(&gate));
    let world = World::new([script]);
    let (host, id) = house(&world).await;
    let mut slow = feed(&host, id).await;
    say(&host, id, "talk a lot").await;
    gate.reached().await;
    // Whoever comes now hears how far it is.
    while heard_so_far(&host, id).await < 3000 * 5 {
        tokio::task::yield_now().await;
    }
    let mut facts = 0;
    let draft = loop {
        match slow.next().await.unwrap() {
            Heard::Past(_) => facts += 1,
            Heard::Now { draft: Some(draft), .. } => break draft,
            Heard::Now { draft: None, .. } => (),
            Heard::Live(told) => facts += usize::from(matches!(told.update, Update::Fact(_))),
        }
    };
    assert_eq!(
        (facts, draft.text),
        (3, "word ".repeat(3000)),
        "opened, said, step; then all of it"
    );
    gate.open();
    assert_eq!(until_turn_ends(&mut slow).await.len(), 2, "answered, ended");
}

#[tokio::test]
async fn following_from_beyond_the_end_is_following_from_the_end() {
    let world = World::new([vec![text("ok")]]);
    let (host, id) = house(&world).await;
    let mut feed = host.feed(id, Some(Seq(99))).await.unwrap();
    say(&host, id, "hi").await;
    assert_eq!(until_turn_ends(&mut feed).await[0], "said hi");
}

#[tokio::test]
async fn what_is_known_of_a_session_changes_whole_or_not_at_all() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    let items = |items: &[&str]| items.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let change = |list: &[&str], merge| {
        Some(ContextChange { set: "files".into(), items: items(list), merge })
    };
    let amend = |context| {
        host.amend(id, Amendment { name: Some("n".into()), context, ..Amendment::default() })
    };
    amend(change(&["a", "b"], false)).await.unwrap();
    amend(change(&["b", "c"], true)).await.unwrap();
    let state = host.roster.get(id).unwrap();
    assert_eq!((state.name.as_str(), &state.context["files"]), ("n", &items(&["a", "b", "c"])));
    let many: Vec<_> = (0..20).map(|n| n.to_string()).collect();
    amend(change(&many.iter().map(String::as_str).collect::<Vec<_>>(), true)).await.unwrap();
    assert_eq!(host.roster.get(id).unwrap().context["files"].len(), 10);

    world.store.fail_appends(true);
    amend(change(&[], false)).await.unwrap_err();
    assert_eq!(host.roster.get(id).unwrap().context["files"].len(), 10);
}

#[tokio::test]
async fn the_house_hears_what_changes_in_order() {
    let world = World::new([vec![text("ok")]]);
    let (host, id) = house(&world).await;
    let mut news = host.roster.listen();
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    until_turn_ends(&mut feed).await;
    assert!(host.observe(id).await.unwrap());
    assert!(!host.observe(id).await.unwrap());
    host.amend(id, Amendment { name: Some(String::new()), ..Amendment::default() }).await.unwrap();
    host.delete(id).await.unwrap();
    let mut heard = Vec::new();
    while let Ok(News::Session { session, after, change }) = news.try_recv() {
        assert_eq!(session, id);
        heard.push((after.0, change));
    }
    let expected = [
        (1, Change::Busy(true)),
        (5, Change::Idle { unobserved: 1 }),
        (5, Change::Busy(false)),
        (6, Change::Observed { unobserved: 0 }),
        (7, Change::Renamed),
        (7, Change::Deleted),
    ];
    assert_eq!(heard, expected);
}

#[tokio::test]
async fn a_session_is_deleted_with_all_that_belongs_to_it_unless_it_is_busy() {
    let world = World::new([vec![hang()]]);
    let (host, id) = house(&world).await;
    say(&host, id, "hi").await;
    assert!(matches!(host.delete(id).await, Err(DeleteError::Busy)));
    host.cancel(id).await.unwrap();
    host.delete(id).await.unwrap();
    assert!(matches!(host.open(id).await, Err(OpenError::Unknown(_))));
    assert!(matches!(host.delete(id).await, Err(DeleteError::Open(OpenError::Unknown(_)))));
    assert_eq!((host.roster.len(), host.roster.unobserved()), (0, 0));
    assert_eq!(log(&world, id).await, []);
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_is_let_go_and_opened_again_on_demand() {
    let world = World::new([vec![text("one")], vec![text("two")]]);
    let (host, id) = house(&world).await;
    let mut listener = feed(&host, id).await;
    say(&host, id, "hi").await;
    until_turn_ends(&mut listener).await;
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert!(host.is_live(id), "somebody is listening");
    drop(listener);
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert!(!host.is_live(id));
    say(&host, id, "again").await;
    let mut listener = feed(&host, id).await;
    until_turn_ends(&mut listener).await;
    until_turn_ends(&mut listener).await;
    assert_eq!(log(&world, id).await.len(), 9);
}

#[tokio::test]
async fn a_full_disk_is_an_error_to_the_caller_and_nothing_is_lost() {
    let world = World::new([vec![text("ok")]]);
    let (host, id) = house(&world).await;
    world.store.fail_appends(true);
    let refused = host.post(id, Message::from_user("hi"), WhenBusy::Refuse).await;
    let Err(PostError::Say(SayError::Store(StoreError::Unavailable(_)))) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(shorts(&world, id).await, ["opened"]);
    world.store.fail_appends(false);
    let mut feed = feed(&host, id).await;
    say(&host, id, "hi").await;
    assert_eq!(until_turn_ends(&mut feed).await.last().unwrap(), "ended Finished");
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_fills_up_during_a_turn_ends_it_once_there_is_room_again() {
    let world = World::new([vec![text("half "), text("done")], vec![text("ok")]]);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    // The message and the step still fit; the answer does not.
    world.store.fail_after(2);
    say(&host, id, "hi").await;
    loop {
        if let Some(Heard::Live(told)) = feed.next().await
            && matches!(&told.update, Update::Signal { signal: Signal::Unrecorded { .. }, .. })
        {
            break;
        }
    }
    world.store.fail_appends(false);
    let heard = until_turn_ends(&mut feed).await;
    assert_eq!(heard[0], "answered half done (partial)");
    assert!(heard[1].starts_with("ended Internal"), "{heard:?}");
    say(&host, id, "again").await;
    assert_eq!(until_turn_ends(&mut feed).await.last().unwrap(), "ended Finished");
    log(&world, id).await;
}

#[tokio::test]
async fn closing_lets_turns_end_and_records_the_rest_as_interrupted() {
    let gate = Gate::default();
    let world = World::new([vec![wait(&gate), text("in time")], vec![text("too "), hang()]]);
    let (host, quick) = house(&world).await;
    let slow = host.create("/".as_ref(), "test", "").await.unwrap();
    say(&host, quick, "hi").await;
    gate.reached().await;
    let mut feed = feed(&host, slow).await;
    say(&host, slow, "hi").await;
    say(&host, slow, "waits").await;
    while !matches!(feed.next().await, Some(Heard::Live(told)) if matches!(told.update, Update::Signal { .. }))
    {
    }
    let closing = tokio::spawn({
        let host = host.clone();
        async move { host.shut(Duration::from_millis(200)).await }
    });
    gate.open();
    closing.await.unwrap();
    assert_eq!(shorts(&world, quick).await.last().unwrap(), "ended Finished");
    let told = shorts(&world, slow).await;
    assert!(
        told.ends_with(&["answered too  (partial)", "ended Interrupted"].map(String::from)),
        "{told:?}"
    );
    assert!(matches!(host.create("/".as_ref(), "test", "").await, Err(OpenError::Closing)));

    // The next start answers what had been waiting.
    world.model.push(vec![text("here I am")]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    host.recover().await;
    let mut feed = host.feed(slow, None).await.unwrap();
    if host.roster.get(slow).unwrap().is_unfinished() {
        until_turn_ends(&mut feed).await;
    }
    assert_eq!(shorts(&world, slow).await.last().unwrap(), "ended Finished");
}

#[test]
fn after_a_crash_the_turn_is_interrupted_its_text_kept_and_the_queue_answered() {
    let world = World::new([vec![text("half a sen"), hang()], vec![text("ok")]]);
    let life = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let runtime = life();
    let id = runtime.block_on(async {
        let (host, id) = house(&world).await;
        let mut feed = feed(&host, id).await;
        say(&host, id, "hi").await;
        say(&host, id, "next").await;
        while !matches!(feed.next().await, Some(Heard::Live(told)) if matches!(told.update, Update::Signal { .. })) {}
        id
    });
    drop(runtime);
    life().block_on(async {
        let host = Host::start(world.ports(), Settings::default()).await.unwrap();
        host.recover().await;
        let mut feed = feed(&host, id).await;
        let heard = until_turn_ends(&mut feed).await;
        let expected = [
            "opened",
            "said hi",
            "step 0",
            "queued next",
            "answered half a sen (partial)",
            "ended Interrupted",
        ];
        let mut sorted = heard.clone();
        sorted.sort();
        let mut wanted = expected.map(String::from);
        wanted.sort();
        assert_eq!(sorted, wanted, "in one order or another: {heard:?}");
        let next = until_turn_ends(&mut feed).await;
        assert_eq!(
            (next[0].as_str(), next.last().unwrap().as_str()),
            ("said next", "ended Finished")
        );
    });
}

#[tokio::test]
async fn the_prompt_is_the_newest_part_of_the_past_that_fits() {
    let world = World::new([]);
    world.model.otherwise(vec![text(&"long ".repeat(100))]);
    world.model.set_budget(2000);
    let (host, id) = house(&world).await;
    let mut feed = feed(&host, id).await;
    for n in 0..20 {
        say(&host, id, &format!("question {n}")).await;
        until_turn_ends(&mut feed).await;
    }
    let prompt = world.model.prompts().pop().unwrap();
    let users: Vec<_> = prompt
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::User { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(users, ["question 16", "question 17", "question 18", "question 19"]);
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
