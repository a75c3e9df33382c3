//! What whoever watches an app hears and reads: news in the feed of its session, and the past in its log.

use std::sync::Arc;

use jiff::SignedDuration;
use kernel::{
    apps::{AppFact, FailedReason, Level, News, Remark, Telling, texts},
    feed::{Feed, Heard},
    host::{Host, OpenError, Settings},
    update::{Fact, SessionId, Signal, Update},
};
use serde_json::json;
use testkit::World;

use crate::serving::{Tab, add, ask, cells, docked};

const DOCK: &str = "monitor-0/dock";

/// The next signal of an app, or of how far a call is.
async fn signal(feed: &mut Feed) -> Signal {
    loop {
        let Heard::Live(told) = feed.next().await.unwrap() else { continue };
        let signal = told.updates.iter().find_map(|update| match update {
            Update::Signal { signal, .. } => Some(signal.clone()),
            Update::Fact(_) => None,
        });
        if let Some(signal) = signal {
            return signal;
        }
    }
}

async fn news(feed: &mut Feed) -> Arc<News> {
    match signal(feed).await {
        Signal::App(news) => news,
        other => panic!("{other:?}"),
    }
}

fn changed(keys: &[&str]) -> Remark {
    let keys = keys.iter().map(|key| (*key).to_owned()).collect();
    Remark::StateChanged { keys, by_person: false }
}

fn keys(news: &News) -> Vec<&str> {
    match &news.what {
        Telling::StateChanged { keys } => keys.iter().map(String::as_str).collect(),
        other => panic!("{other:?}"),
    }
}

/// Returns when all that was said to the task of a session before has been heard there.
async fn settled(host: &Arc<Host>, session: SessionId) -> Vec<Arc<News>> {
    let observed = host.observe_app(session, "dock".into(), None).await.unwrap();
    observed.unwrap().news
}

#[tokio::test]
async fn changes_that_follow_each_other_are_told_together() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let mut tab = Tab::open(&world, &host, session);
    tab.load("a").await;
    let mut feed = host.feed(session, None).await.unwrap();
    tab.seat.remarked("dock".into(), None, changed(&["cells"]));
    let first = news(&mut feed).await;
    assert_eq!((&*first.window, keys(&first)), (DOCK, vec!["cells"]));
    for _ in 0..1000 {
        tab.seat.remarked("dock".into(), None, changed(&["manifest"]));
        tab.seat.remarked("dock".into(), None, changed(&["cells"]));
    }
    assert_eq!(settled(&host, session).await, [first]);
    world.clock.advance(SignedDuration::from_millis(200));
    let second = news(&mut feed).await;
    assert_eq!(keys(&second), ["cells", "manifest"]);
}

#[tokio::test]
async fn whoever_waits_for_a_command_hears_how_far_it_is() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let mut tab = Tab::open(&world, &host, session);
    tab.load("a").await;
    let mut feed = host.feed(session, None).await.unwrap();
    let asking = {
        let host = host.clone();
        let mut call = kernel::apps::AppCall::new("dock", add(1));
        call.tool_call = Some("call-1".into());
        tokio::spawn(async move { host.ask_app(session, call).await })
    };
    let asked = tab.asked().await;
    let remark = |done, note: Option<&str>| {
        let (request, note) = (asked.request.clone(), note.map(str::to_owned));
        Remark::Progress { request, done, total: Some(3.0), note }
    };
    tab.seat.remarked("dock".into(), None, remark(1.0, None));
    let (call, total) = ("call-1".to_owned(), Some(3.0));
    let message = "1 of 3".to_owned();
    let told = Signal::Progress { call, message, done: 1.0, total };
    assert_eq!(signal(&mut feed).await, told);
    let shown = Telling::Progress { request: asked.request.clone(), done: 1.0, total, note: None };
    assert_eq!(news(&mut feed).await.what, shown);
    tab.seat.remarked("dock".into(), None, remark(2.0, Some("two")));
    tab.seat.remarked("dock".into(), None, remark(3.0, Some("three")));
    settled(&host, session).await;
    world.clock.advance(SignedDuration::from_millis(200));
    let told = signal(&mut feed).await;
    assert!(matches!(&told, Signal::Progress { message, .. } if message == "three"), "{told:?}");
    asking.abort();
}

#[tokio::test]
async fn what_an_app_prints_is_bounded_and_there_for_whoever_comes_later() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let tab = Tab::open(&world, &host, session);
    let said = |news: &Arc<News>| match &news.what {
        Telling::Printed { text, .. } => text.clone(),
        Telling::LeftOut { count } => format!("{count} left out"),
        other => panic!("{other:?}"),
    };
    let mut kept = Vec::new();
    for round in 0..10 {
        for line in 0..60 {
            let text = format!("{round} {line}");
            tab.seat.remarked("dock".into(), None, Remark::Printed { level: Level::Log, text });
        }
        settled(&host, session).await;
        world.clock.advance(SignedDuration::from_secs(1));
        let last = kept.last().map(|news: &Arc<News>| news.id);
        while kept.last().is_none_or(|news| Some(news.id) == last || !said(news).ends_with("out")) {
            tokio::task::yield_now().await;
            kept = settled(&host, session).await;
        }
        // The very first was told at once.
        let (count, first) = if round == 0 { (9, 1) } else { (10, 0) };
        let lines = (first..50 + first).map(|line| format!("{round} {line}"));
        let expected: Vec<String> = lines.chain([format!("{count} left out")]).collect();
        assert_eq!(kept[kept.len() - 51..].iter().map(said).collect::<Vec<_>>(), expected);
    }
    assert_eq!(kept.len(), 400, "and what is older is forgotten");
    assert!(kept.is_sorted_by_key(|news| news.id));
}

#[tokio::test]
async fn the_past_of_a_window_is_read_back_with_every_outcome() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let mut tab = Tab::open(&world, &host, session);
    tab.load("a").await;
    for n in 1..4 {
        let (told, _) = tokio::join!(ask(&host, session, add(n)), tab.done(json!(n)));
        assert_eq!(told, Ok(n.to_string()));
    }
    let lost = async {
        tab.asked().await;
        drop(tab);
    };
    let (told, ()) = tokio::join!(ask(&host, session, add(9)), lost);
    assert_eq!(told, Err(format!("{} {}", texts::NO_RESPONSE, texts::OWNER_LOST)));
    let whole = host.app_traffic(session, DOCK, None, 100).await.unwrap();
    assert_eq!(whole.before, None);
    let short: Vec<&str> = whole.entries.iter().map(|entry| name(&entry.fact)).collect();
    let pair = ["request", "response"];
    let begin = ["ready", "owner"].into_iter().chain(pair);
    let commands = begin.chain(pair).chain(pair).chain(pair).chain(["request"]);
    let expected: Vec<&str> = commands.chain(["failed", "lost"]).collect();
    assert_eq!(short, expected);
    let part = host.app_traffic(session, DOCK, Some(whole.entries[8].seq), 1).await.unwrap();
    assert!(whole.entries[..8].ends_with(&part.entries), "{part:#?}");
    assert!(!part.entries.is_empty());
    let other = host.app_traffic(session, "monitor-0/other", None, 100).await.unwrap();
    assert_eq!(other.entries, []);
    let gone = SessionId::parse("0190f5fe-7c00-7a00-8000-000000000001").unwrap();
    let gone = host.app_traffic(gone, DOCK, None, 1).await;
    assert!(matches!(gone, Err(OpenError::Unknown(_))));
}

#[tokio::test]
async fn whoever_looks_when_nobody_shows_the_windows_sees_that() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let standing = host.observe_app(session, "dock".into(), None).await.unwrap().unwrap().standing;
    assert_eq!((standing.connections, standing.owner), (0, None));
    let none = host.observe_app(session, "none".into(), None).await.unwrap();
    assert_eq!(none.unwrap_err(), texts::not_found("none"));
    assert!(ask(&host, session, cells()).await.is_err());
}

fn name(fact: &Fact) -> &'static str {
    let Fact::App(fact) = fact else { panic!("{fact:?}") };
    match &**fact {
        AppFact::Ready { .. } => "ready",
        AppFact::Owner { .. } => "owner",
        AppFact::Lost { .. } => "lost",
        AppFact::Request(_) => "request",
        AppFact::Response { .. } => "response",
        AppFact::Failed { reason: FailedReason::OwnerLost, .. } => "failed",
        other => panic!("{other:?}"),
    }
}
