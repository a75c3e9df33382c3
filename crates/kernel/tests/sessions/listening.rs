//! Hearing what happens, from now or from any point of the past.

use kernel::{
    feed::Heard,
    host::Host,
    roster::{Change, News},
    update::{Amendment, Seq, SessionId, Signal},
};
use testkit::{
    Gate, World,
    model::{hang, reasoning, text, wait},
};

use crate::support::*;

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
    until_signal(&mut early, |signal| matches!(signal, Signal::Text { .. })).await;
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
    let mut script: Vec<_> = (0..20_000).map(|_| text("word ")).collect();
    script.push(wait(&gate));
    let world = World::new([script]);
    let (host, id) = house(&world).await;
    let mut slow = feed(&host, id).await;
    say(&host, id, "talk a lot").await;
    gate.reached().await;
    // Whoever comes now hears how far it is.
    while heard_so_far(&host, id).await < 20_000 * 5 {
        tokio::task::yield_now().await;
    }
    let mut facts = 0;
    let draft = loop {
        match slow.next().await.unwrap() {
            Heard::Past(_) => facts += 1,
            Heard::Now { draft: Some(draft), .. } => break draft,
            Heard::Now { draft: None, .. } => (),
            Heard::Live(told) => facts += told.facts().count(),
        }
    };
    assert_eq!(
        (facts, draft.text),
        (3, "word ".repeat(20_000)),
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
    let other = Amendment { model: Some("other".into()), ..Amendment::default() };
    host.amend(id, other).await.unwrap();
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
        (8, Change::ModelChanged),
        (8, Change::Deleted),
    ];
    assert_eq!(heard, expected);
}
