//! What a session lives through: rest, deletion, full disks, shutdown and crashes.

use std::time::Duration;

use kernel::{
    host::{DeleteError, Host, OpenError, PostError, Settings},
    ports::StoreError,
    session::SayError,
    tasks::{Close, Plan, Progress, Step},
    update::{Amendment, ContextChange, Fact, Message, Signal, WhenBusy},
};
use testkit::{
    Gate, World,
    model::{hang, text, wait},
};

use crate::support::*;

#[tokio::test]
async fn what_is_known_of_a_session_changes_whole_or_not_at_all() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    let items = |items: &[&str]| items.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let change = |list: &[&str], merge| {
        Some(ContextChange { set: "files".into(), items: items(list), merge, forget_empty: false })
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
    until_signal(&mut feed, |signal| matches!(signal, Signal::Unrecorded { .. })).await;
    world.store.fail_appends(false);
    let heard = until_turn_ends(&mut feed).await;
    assert_eq!(heard[0], "answered half done (partial)");
    assert!(heard[1].starts_with("ended Internal"), "{heard:?}");
    say(&host, id, "again").await;
    assert_eq!(until_turn_ends(&mut feed).await.last().unwrap(), "ended Finished");
    log(&world, id).await;
}

#[tokio::test(start_paused = true)]
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
    until_signal(&mut feed, |_| true).await;
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
        until_signal(&mut feed, |_| true).await;
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
async fn no_fact_is_older_than_the_one_before_it_though_the_clock_is_set_back() {
    let world = World::new([vec![text("one")], vec![text("two")]]);
    let (host, id) = house(&world).await;
    let mut listener = feed(&host, id).await;
    say(&host, id, "first").await;
    until_turn_ends(&mut listener).await;
    world.clock.advance(jiff::SignedDuration::from_hours(-24));
    say(&host, id, "second").await;
    until_turn_ends(&mut listener).await;
    let times: Vec<_> = log(&world, id).await.iter().map(|entry| entry.at).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert!(times.last() > times.first());
}

#[test]
fn a_task_that_a_crash_leaves_open_has_failed() {
    let world = World::new([vec![hang()]]);
    let step = |progress| Step { text: format!("{progress:?}"), progress };
    let plan = || Plan {
        title: "Tidy up".to_owned(),
        steps: vec![step(Progress::Done), step(Progress::Active)],
        visibility: None,
    };
    let id = world.until_crash(async |host| {
        let id = host.create("/".as_ref(), "test", "").await.unwrap();
        say(&host, id, "go").await;
        host.open(id).await.unwrap().plan(plan()).await.unwrap().unwrap();
        assert_eq!(host.roster.get(id).unwrap().task.as_ref().unwrap().reached, 500);
        id
    });
    let facts = world.until_crash(async |host| {
        host.recover().await;
        log(&world, id).await
    });
    let closed = facts.into_iter().find_map(|entry| match entry.fact {
        Fact::TaskClosed { close, reason, .. } => Some((close, reason)),
        _ => None,
    });
    assert_eq!(closed, Some((Close::Failed, Some("the server restarted".to_owned()))));
}
