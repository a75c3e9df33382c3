//! The protocol at work in a house: what is on record when, and who hears of it.

use std::{sync::Arc, time::Duration};

use futures::FutureExt as _;
use jiff::SignedDuration;
use kernel::{
    apps::{
        AppCall, AppFact, Asked, Attendance, BackReason, Kind, Line, Response, Word,
        history::{Came, Happened, What, Who},
        protocol::{Answer, Outgoing},
        texts,
    },
    host::{Host, OpenError, Settings},
    ports::Log as _,
    update::{Fact, Origin, Seq, SessionId},
    windows::{By, Content, Hands, Named, Opening, Renderer, Wish},
};
use serde_json::{Value, json};
use testkit::{MemoryStore, World, history, model::text};
use tokio::sync::mpsc;

use crate::support::counter;

/// A page that shows the windows of a session, played by the test.
pub struct Tab {
    pub requests: mpsc::UnboundedReceiver<Outgoing>,
    pub seat: Attendance,
}

struct Wire {
    requests: mpsc::UnboundedSender<Outgoing>,
    store: MemoryStore,
    session: SessionId,
}

impl Line for Wire {
    fn tell(&self, Word::Request(request): Word) {
        if request.asked.kind() == Kind::Command {
            let log = self.store.read(self.session, Seq(0), usize::MAX);
            let entries = log.now_or_never().unwrap().unwrap();
            let is_known = entries.iter().any(|entry| match &entry.fact {
                Fact::App(fact) => {
                    matches!(&**fact, AppFact::Request(it) if it.request == request.request)
                }
                _ => false,
            });
            assert!(is_known, "{request:?} is not on record");
        }
        self.requests.send(request).ok();
    }
}

impl Tab {
    pub fn open(world: &World, host: &Arc<Host>, session: SessionId) -> Self {
        let (sender, requests) = mpsc::unbounded_channel();
        let store = world.store.clone();
        let wire = Arc::new(Wire { requests: sender, store, session });
        Self { requests, seat: host.attend(session, wire).unwrap() }
    }

    pub async fn asked(&mut self) -> Outgoing {
        self.requests.recv().await.unwrap()
    }

    /// Loads the app, and says what it can do.
    pub async fn load(&mut self, instance: &str) {
        self.seat.ready("dock".into(), None, Some(instance.into()));
        let asked = self.asked().await;
        assert_eq!(asked.asked, Asked::Manifest);
        self.answer(&asked, Response::of(Kind::Manifest, Some(counter())));
    }

    pub fn answer(&self, asked: &Outgoing, response: Response) {
        self.seat.answered(asked.request.clone(), Some(asked.window.clone()), response);
    }

    pub async fn done(&mut self, result: Value) -> Asked {
        let asked = self.asked().await;
        self.answer(&asked, Response::of(asked.asked.kind(), Some(result)));
        asked.asked
    }
}

pub fn add(n: u32) -> Asked {
    Asked::Command { command: "add".into(), params: Some(json!({ "n": n })) }
}

pub fn cells() -> Asked {
    Asked::Query { state_key: "cells".into() }
}

pub async fn ask(host: &Arc<Host>, session: SessionId, asked: Asked) -> Result<String, String> {
    match host.ask_app(session, AppCall::new("dock", asked)).await.unwrap() {
        Answer::Said { kind, response, .. } => texts::result(kind, &response),
        Answer::Refused(text) => Err(text),
        Answer::Open { .. } => Err("open".into()),
        Answer::Free { .. } => Err("free".into()),
    }
}

pub async fn docked(host: &Host) -> SessionId {
    let session = host.create("/".as_ref(), "test", "").await.unwrap();
    let data = json!("/api/apps/counter/index.html");
    let opening = Opening::new("dock", "Dock", Content { renderer: Renderer::Iframe, data });
    host.arrange(session, Wish::Open(Box::new(opening)), By::Agent).await.unwrap();
    session
}

async fn facts(world: &World, session: SessionId) -> Vec<AppFact> {
    let entries = world.store.read(session, Seq(0), usize::MAX).await.unwrap();
    history::check(&entries).unwrap();
    let facts = entries.into_iter().filter_map(|entry| match entry.fact {
        Fact::App(fact) => Some(*fact),
        _ => None,
    });
    facts.collect()
}

#[tokio::test]
async fn an_app_is_asked_and_told_and_all_of_it_is_on_record() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let mut tab = Tab::open(&world, &host, session);
    tab.load("a").await;
    let (told, asked) = tokio::join!(ask(&host, session, add(1)), tab.done(json!({ "ok": true })));
    assert_eq!((told, asked), (Ok("{\n  \"ok\": true\n}".into()), add(1)));
    let answered = |facts: Vec<AppFact>| {
        let is_answer = |fact: &&AppFact| matches!(fact, AppFact::Response { .. });
        facts.iter().filter(is_answer).count()
    };
    // What a command has done is safe before anybody hears of it.
    assert_eq!(answered(facts(&world, session).await), 2);
    let (told, _) = tokio::join!(ask(&host, session, cells()), tab.done(json!([1])));
    assert_eq!(told, Ok("[\n  1\n]".into()));
}

#[tokio::test]
async fn a_call_that_waits_for_the_person_is_taken_back_by_whoever_made_it() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let mut tab = Tab::open(&world, &host, session);
    tab.load("a").await;
    let hand = |to| host.hand(session, Named::new("dock"), to);
    assert_eq!(hand(Hands::Person).await.unwrap(), Answer::Free { note: None });
    let taken = host.windows(session).await.unwrap();
    assert_eq!(taken.find("dock", None).unwrap().hands, Hands::Person);
    drop(taken);

    let mut given_up = Box::pin(ask(&host, session, add(1)));
    assert!(futures::poll!(&mut given_up).is_pending());
    drop(given_up);
    let mut waiting = Box::pin(ask(&host, session, add(2)));
    assert!(futures::poll!(&mut waiting).is_pending());
    hand(Hands::Agent).await.unwrap();
    let (told, asked) = tokio::join!(waiting, tab.done(json!(2)));
    assert_eq!((told, asked), (Ok("2".into()), add(2)), "the other was never sent");

    let named = |who: &Happened| (who.who.clone(), who.what.clone());
    let history = host.window_history(session, &Named::new("dock")).await.unwrap();
    let [command, back, taken, opened] = history.as_slice() else { panic!("{history:?}") };
    let What::Command(command) = &command.what else { panic!("{command:?}") };
    assert_eq!((command.command.as_str(), &command.came), ("add", &Came::Done));
    let reason = BackReason::Person;
    assert_eq!(named(back), (Who::Person, What::HandsBack { reason }));
    assert_eq!(named(taken), (Who::Person, What::HandsTaken));
    let title = "Dock".to_owned();
    assert_eq!(named(opened), (Who::Agent { model: None }, What::Opened { title }));
}

#[tokio::test]
async fn what_is_asked_in_one_session_reaches_no_other() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let (one, other) = (docked(&host).await, docked(&host).await);
    let (mut tab, mut stranger) = (Tab::open(&world, &host, one), Tab::open(&world, &host, other));
    tab.load("a").await;
    stranger.load("b").await;
    let guess = async {
        let asked = tab.asked().await;
        stranger.answer(&asked, Response::of(Kind::Query, Some(json!("forged"))));
        let (told, _) = tokio::join!(ask(&host, other, cells()), stranger.done(json!("own")));
        assert_eq!(told, Ok("\"own\"".into()));
        tab.answer(&asked, Response::of(Kind::Query, Some(json!("real"))));
    };
    assert_eq!(tokio::join!(ask(&host, one, cells()), guess).0, Ok("\"real\"".into()));
    assert!(stranger.requests.try_recv().is_err());
}

#[tokio::test]
async fn whoever_leaves_answers_nothing_more() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let mut tab = Tab::open(&world, &host, session);
    tab.load("a").await;
    let leave = async move {
        tab.asked().await;
    };
    let (told, ()) = tokio::join!(ask(&host, session, add(1)), leave);
    let lost = format!("{} {}", texts::NO_RESPONSE, texts::OWNER_LOST);
    assert_eq!(told, Err(lost));
    let alone = format!("{} {}", texts::NO_RESPONSE, texts::NO_CLIENT);
    assert_eq!(ask(&host, session, cells()).await, Err(alone));
}

#[tokio::test]
async fn a_late_result_begins_a_turn_of_its_own() {
    let world = World::new([vec![text("noted")]]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let mut tab = Tab::open(&world, &host, session);
    tab.load("a").await;
    let slow = async {
        let asked = tab.asked().await;
        world.clock.advance(SignedDuration::from_secs(5));
        asked
    };
    let (told, asked) = tokio::join!(ask(&host, session, add(1)), slow);
    assert_eq!(told, Err("open".into()));
    let mut feed = host.feed(session, None).await.unwrap();
    tab.answer(&asked, Response::of(Kind::Command, Some(json!(7))));
    let said = loop {
        if let kernel::feed::Heard::Live(told) = feed.next().await.unwrap() {
            let said = told.updates.iter().find_map(|update| match update {
                kernel::update::Update::Fact(entry) => match &entry.fact {
                    Fact::Said { message, .. } => Some(message.clone()),
                    _ => None,
                },
                kernel::update::Update::Signal { .. } => None,
            });
            if let Some(said) = said {
                break said;
            }
        }
    };
    assert!(matches!(&said.origin, Origin::App { id, .. } if id == "counter"));
    assert_eq!(
        said.text,
        format!(
            "The command \"add\" in window \"monitor-0/dock\" (request {}) had no reply in time. It \
             has succeeded now. The app says:\n7",
            asked.request
        )
    );
}

#[tokio::test]
async fn what_cannot_be_recorded_is_not_sent() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let mut tab = Tab::open(&world, &host, session);
    tab.load("a").await;
    let (told, _) = tokio::join!(ask(&host, session, add(1)), tab.done(json!(1)));
    assert_eq!(told, Ok("1".into()));
    world.store.fail_appends(true);
    let told = ask(&host, session, add(2)).await;
    assert!(
        told.as_ref().is_err_and(|text| text.starts_with("The command was not sent")),
        "{told:?}"
    );
    // What only looks can be asked all the same.
    let (told, _) = tokio::join!(ask(&host, session, cells()), tab.done(json!([1])));
    assert_eq!(told, Ok("[\n  1\n]".into()));
    world.store.fail_appends(false);
    let again = async {
        while tab.requests.is_empty() {
            world.clock.advance(SignedDuration::from_secs(1));
            tokio::task::yield_now().await;
        }
        tab.done(json!(3)).await
    };
    let (told, asked) = tokio::join!(ask(&host, session, add(3)), again);
    assert_eq!((told, asked), (Ok("3".into()), add(3)));
    // In the log as well, the one that was not sent has failed.
    let facts = facts(&world, session).await;
    let is_failed = |fact: &&AppFact| matches!(fact, AppFact::Failed { .. });
    assert_eq!(facts.iter().filter(is_failed).count(), 1, "{facts:#?}");
}

#[test]
fn after_a_crash_an_app_is_given_again_what_was_acknowledged() {
    let world = World::new([]);
    let session = world.until_crash(async |host| {
        let session = docked(&host).await;
        let mut tab = Tab::open(&world, &host, session);
        tab.load("a").await;
        for n in 1..3 {
            let (told, _) = tokio::join!(ask(&host, session, add(n)), tab.done(json!(n)));
            assert_eq!(told, Ok(n.to_string()));
        }
        session
    });
    world.until_crash(async |host| {
        let mut tab = Tab::open(&world, &host, session);
        tab.load("a").await;
        let (told, asked) = tokio::join!(ask(&host, session, cells()), tab.done(json!(2)));
        // The same document still knows it all.
        assert_eq!((told, asked), (Ok("2".into()), cells()));
        tab.load("b").await;
        assert_eq!(tab.done(json!(1)).await, add(1));
        let (told, asked) = tokio::join!(ask(&host, session, add(3)), async {
            [tab.done(json!(2)).await, tab.done(json!(3)).await]
        });
        assert_eq!((told, asked), (Ok("3".into()), [add(2), add(3)]));
    });
}

#[tokio::test]
async fn a_window_that_closes_takes_what_was_asked_of_it_along() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let mut tab = Tab::open(&world, &host, session);
    tab.load("a").await;
    let close = async {
        tab.asked().await;
        let wish = Wish::Close { window: Named::new("dock") };
        host.arrange(session, wish, By::Person).await.unwrap();
    };
    let (told, ()) = tokio::join!(ask(&host, session, cells()), close);
    assert_eq!(told, Err(format!("{} {}", texts::NO_RESPONSE, texts::CLOSED)));
    assert_eq!(ask(&host, session, cells()).await, Err(texts::not_found("dock")));
}

#[tokio::test]
async fn a_call_that_is_given_up_before_its_app_is_there_is_never_sent() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let mut tab = Tab::open(&world, &host, session);
    assert_eq!(ask(&host, session, add(1)).now_or_never(), None);
    tab.load("a").await;
    let (told, asked) = tokio::join!(ask(&host, session, cells()), tab.done(json!(0)));
    assert_eq!((told, asked), (Ok("0".into()), cells()));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_deleted_leaves_nobody_waiting() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let mut tab = Tab::open(&world, &host, session);
    tab.load("a").await;
    let delete = async {
        tab.asked().await;
        host.delete(session).await.unwrap();
    };
    let patience = Duration::from_hours(1);
    let asking = tokio::time::timeout(patience, ask(&host, session, cells()));
    let (told, ()) = tokio::join!(asking, delete);
    assert!(told.unwrap().is_err());
    let gone = host.ask_app(session, AppCall::new("dock", cells())).await;
    assert!(matches!(gone, Err(OpenError::Unknown(_))));
}

#[tokio::test]
async fn a_query_waits_for_no_disk_and_a_command_does() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let mut tab = Tab::open(&world, &host, session);
    tab.load("a").await;
    let gate = world.store.hold_appends();
    let (told, _) = tokio::join!(ask(&host, session, cells()), tab.done(json!(0)));
    assert_eq!(told, Ok("0".into()));
    gate.reached().await;
    let asking = {
        let host = host.clone();
        tokio::spawn(async move { ask(&host, session, add(1)).await })
    };
    // However much else is asked meanwhile.
    for n in 0..20 {
        let (told, asked) = tokio::join!(ask(&host, session, cells()), tab.done(json!(n)));
        assert_eq!((told, asked), (Ok(n.to_string()), cells()));
    }
    world.store.release_appends();
    assert_eq!(tab.done(json!("done")).await, add(1));
    assert_eq!(asking.await.unwrap(), Ok("\"done\"".into()));
}

#[tokio::test]
async fn what_failed_when_an_app_loaded_anew_is_kept_for_the_next_turn() {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    let mut tab = Tab::open(&world, &host, session);
    tab.load("a").await;
    let (told, _) = tokio::join!(ask(&host, session, add(1)), tab.done(json!(1)));
    assert_eq!(told, Ok("1".into()));
    tab.load("b").await;
    let asked = tab.asked().await;
    tab.answer(&asked, Response::error(Kind::Command, "full"));
    // When this is told, all before it is on record.
    let (told, _) = tokio::join!(ask(&host, session, add(2)), tab.done(json!(2)));
    assert_eq!(told, Ok("2".into()));
    let note = AppFact::Interaction {
        window: "monitor-0/dock".into(),
        content:
            "The app in window \"monitor-0/dock\" has loaded anew. 1 of the 1 commands that it \
                  was given again have failed:\n1: full"
                .into(),
        instructions: None,
        app_id: Some("counter".into()),
        inform: true,
    };
    assert!(facts(&world, session).await.contains(&note));
}
