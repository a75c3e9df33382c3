//! Which devices there are, who may drive them, and what becomes of those who may not.

#![expect(clippy::unwrap_used, reason = "all of it is a test")]

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{FutureExt as _, future::BoxFuture};
use jiff::SignedDuration;
use kernel::{
    desktop::{
        Action, Arming, Button, Class, Code, Desktop, DesktopError, DesktopFact, Devices, Done,
        Info, Leave, Method, News, Order, Outcome, Pause, Point, State, Who,
    },
    host::{Host, Settings},
    leave::Wish,
    question::{Decision, Scope},
    toolbox::{Caller, Deed, Detail, Risk},
    update::{Fact, Seq, SessionId},
};
use testkit::World;
use tokio::sync::watch;

/// Does nothing, and counts how often.
#[derive(Default)]
struct Pretended {
    done: Mutex<Vec<Action>>,
    /// What it says came of everything, if that is not what was asked for.
    seen: Option<Outcome>,
    states: watch::Sender<State>,
    /// How often anything was done, and whether it shows that it may be.
    count: watch::Sender<usize>,
    lit: watch::Sender<bool>,
}

impl Desktop for Pretended {
    fn info(&self) -> BoxFuture<'_, Result<Info, DesktopError>> {
        async { Err(DesktopError::no_client()) }.boxed()
    }

    fn act(&self, order: Order) -> BoxFuture<'_, Result<Outcome, DesktopError>> {
        self.done.lock().unwrap().push(order.action.clone());
        self.count.send_modify(|count| *count += 1);
        let said = || Outcome::said(order.action.done(None));
        let outcome = self.seen.clone().unwrap_or_else(said);
        async { Ok(outcome) }.boxed()
    }

    fn cancel(&self, _: Option<String>) -> BoxFuture<'_, Result<usize, DesktopError>> {
        async { Ok(0) }.boxed()
    }

    fn hand_back(&self) -> BoxFuture<'_, Result<(), DesktopError>> {
        self.states.send_modify(|state| state.paused = None);
        async { Ok(()) }.boxed()
    }

    fn indicate(&self, armed: bool) {
        self.lit.send_if_modified(|lit| std::mem::replace(lit, armed) != armed);
    }

    fn states(&self) -> watch::Receiver<State> {
        self.states.subscribe()
    }
}

struct Home {
    world: World,
    host: Arc<Host>,
    session: SessionId,
}

impl Home {
    async fn new() -> Self {
        let world = World::new([]);
        let host = Host::start(world.ports(), Settings::default()).await.unwrap();
        let session = host.create("/".as_ref(), "test", "").await.unwrap();
        Self { world, host, session }
    }

    fn arm(&self, device: &str, classes: &[Class], lasts: Duration) {
        let until = self.host.ports.clock.now() + lasts;
        let session = Some(self.session);
        let device = device.to_owned();
        let classes = classes.into();
        self.host.devices.arm(Arming { device, session, classes, until, area: None });
    }

    async fn act(&self, device: &str, action: Action) -> Result<Outcome, DesktopError> {
        let who = Who { session: Some(self.session), caller: Caller::Model };
        self.host.devices.act(who, device, action.into()).await.1
    }
}

fn click() -> Action {
    Action::MouseClick { button: Button::Left }
}

#[tokio::test(start_paused = true)]
async fn never_armed_expired_and_not_granted_are_three_refusals_and_on_record() {
    let home = Home::new().await;
    let desktop = Arc::new(Pretended::default());
    let _stay = home.host.devices.join("studio", desktop.clone());
    let drive = async || {
        let who = Who { session: Some(home.session), caller: Caller::Model };
        home.host.drive(who, "studio", click().into()).await.1
    };
    let never = DesktopError::new(Code::NotArmed, "Desktop control is not armed");
    assert_eq!(drive().await, Err(never));
    home.arm("studio", &[Class::Look], Duration::from_mins(15));
    let error = drive().await.unwrap_err();
    assert_eq!((error.code, error.text.as_str()), (Code::Denied, "Desktop control is not granted"));
    home.arm("studio", &[Class::Point], Duration::from_mins(15));
    drive().await.unwrap();
    let until = home.host.ports.clock.now() + Duration::from_mins(15);
    home.world.clock.advance(SignedDuration::from_mins(15));
    let text = format!("Desktop control expired at {until}");
    assert_eq!(drive().await, Err(DesktopError::new(Code::NotArmed, text.clone())));
    assert_eq!(desktop.done.lock().unwrap().len(), 1);
    let log = home.host.ports.log.read(home.session, Seq(0), 100).await.unwrap();
    let kept = log.into_iter().filter_map(|entry| match entry.fact {
        Fact::Desktop(fact) => match *fact {
            DesktopFact::Acted { result, code, leave, .. } => Some((result, code, leave)),
            _ => None,
        },
        _ => None,
    });
    let expected = [
        ("Desktop control is not armed".to_owned(), Some(Code::NotArmed), None),
        ("Desktop control is not granted".to_owned(), Some(Code::Denied), None),
        ("Clicked left button".to_owned(), None, Some(Leave::Until(until))),
        (text, Some(Code::NotArmed), None),
    ];
    assert_eq!(kept.collect::<Vec<_>>(), expected);
    home.arm("studio", &[Class::Point], Duration::from_hours(100));
    let [arming] = home.host.devices.armings().try_into().unwrap();
    assert_eq!(arming.until, home.host.ports.clock.now() + Duration::from_hours(8));
}

#[tokio::test]
async fn a_device_is_picked_by_name_by_habit_or_because_it_is_the_only_one() {
    let home = Home::new().await;
    let devices = &home.host.devices;
    let session = Some(home.session);
    assert_eq!(devices.pick(None, session), Err(DesktopError::no_client()));
    let _a = devices.join("a", Arc::new(Pretended::default()));
    assert_eq!(devices.pick(None, session).as_deref(), Ok("a"));
    let b = devices.join("b", Arc::new(Pretended::default()));
    let error = devices.pick(None, session).unwrap_err();
    assert_eq!(error.text, "Several devices: a, b; name one in \"device\"");
    home.arm("b", &Class::ALL, Duration::from_mins(1));
    home.act("b", click()).await.unwrap();
    assert_eq!(devices.pick(None, session).as_deref(), Ok("b"));
    assert_eq!(devices.pick(Some("a"), session).as_deref(), Ok("a"));
    assert_eq!(devices.pick(Some("c"), session).unwrap_err().text, "No device is named c");
    let newer = devices.join("b", Arc::new(Pretended::default()));
    assert!(newer.is_current() && !b.is_current());
    // The old one does not take the new one with it.
    drop(b);
    assert_eq!(devices.pick(Some("b"), session).as_deref(), Ok("b"));
    drop(newer);
    assert_eq!(devices.pick(None, session).as_deref(), Ok("a"));
}

#[tokio::test]
async fn one_that_was_lent_and_cannot_be_had_says_why_and_counts_for_nothing_else() {
    let home = Home::new().await;
    let devices = &home.host.devices;
    let why = DesktopError::new(Code::NoDisplay, "no display");
    devices.lack(Devices::LOCAL, why.clone(), false);
    assert_eq!(devices.pick(None, None), Err(DesktopError::no_client()));
    devices.lack(Devices::LOCAL, why.clone(), true);
    assert_eq!(devices.list(), []);
    assert_eq!(devices.pick(None, None), Err(why.clone()));
    assert_eq!(devices.pick(Some("studio"), None).unwrap_err().text, "No device is named studio");
    let studio = devices.join("studio", Arc::new(Pretended::default()));
    assert_eq!(devices.pick(None, None).as_deref(), Ok("studio"));
    assert_eq!(devices.pick(Some(Devices::LOCAL), None), Err(why));
    drop(studio);
    let _local = devices.join(Devices::LOCAL, Arc::new(Pretended::default()));
    assert_eq!(devices.pick(None, None).as_deref(), Ok(Devices::LOCAL));
}

#[tokio::test(start_paused = true)]
async fn too_much_at_once_is_refused_and_the_rest_takes_its_time() {
    let home = Home::new().await;
    let desktop = Arc::new(Pretended::default());
    let _stay = home.host.devices.join("studio", desktop.clone());
    home.arm("studio", &Class::ALL, Duration::from_mins(15));
    let begun = tokio::time::Instant::now();
    let results = futures::future::join_all((0..1000).map(|_| home.act("studio", click()))).await;
    let done = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!(done, desktop.done.lock().unwrap().len());
    assert!((60..=80).contains(&done), "{done}");
    assert!(begun.elapsed() <= Duration::from_millis(1100));
    let refused = results.into_iter().find_map(Result::err);
    assert_eq!(refused, Some(DesktopError::rate_limited()));
}

#[tokio::test]
async fn a_device_that_is_taken_over_is_left_alone_and_others_are_not() {
    let home = Home::new().await;
    let (a, b) = (Arc::new(Pretended::default()), Arc::new(Pretended::default()));
    let devices = &home.host.devices;
    let _stays = (devices.join("a", a.clone()), devices.join("b", b.clone()));
    for device in ["a", "b"] {
        home.arm(device, &Class::ALL, Duration::from_mins(15));
    }
    a.states.send_modify(|state| state.paused = Some(Pause::Human));
    assert_eq!(home.act("a", click()).await, Err(DesktopError::paused()));
    home.act("a", Action::ScreenInfo).await.unwrap();
    home.act("b", click()).await.unwrap();
    home.host.hand_back("a").await.unwrap();
    home.act("a", click()).await.unwrap();
    home.host.stop_desktop("b", Pause::Owner).await.unwrap();
    assert_eq!(home.act("b", click()).await, Err(DesktopError::paused()));
    assert_eq!(b.done.lock().unwrap().last(), Some(&Action::ReleaseAll));
}

#[tokio::test]
async fn what_is_done_is_kept_with_its_leave_its_window_and_where_the_pointer_was() {
    let home = Home::new().await;
    let done = Done {
        message: "Clicked left button".into(),
        before: Some(Point { x: 1, y: 2 }),
        at: Some(Point { x: 3, y: 4 }),
        window: Some("XTerm".into()),
        ..Done::default()
    };
    let seen = Some(Outcome::Done(done));
    let _stay =
        home.host.devices.join("studio", Arc::new(Pretended { seen, ..Pretended::default() }));
    home.arm("studio", &[Class::Point], Duration::from_mins(15));
    let until = home.host.devices.armings()[0].until;
    let who = Who { session: Some(home.session), caller: Caller::Model };
    let (deed, _) = home.host.drive(who.clone(), "studio", click().into()).await;
    let asked = Action::KeyboardInput { text: "x".into(), secret: false };
    let (refused, _) = home.host.drive(who, "studio", asked.into()).await;
    home.host.take_over("studio").await.unwrap();
    let (own, _) = home.host.touch("studio", click().into()).await;
    assert_eq!((refused.leave, own.leave), (None, Some(Leave::Hands)));
    let log = home.host.ports.log.read(home.session, Seq(0), 100).await.unwrap();
    let acted = log.into_iter().find_map(|entry| match entry.fact {
        Fact::Desktop(fact) => Some(*fact),
        _ => None,
    });
    let expected = DesktopFact::Acted {
        device: "studio".into(),
        command: deed.command.clone(),
        kind: "mouse_click".into(),
        arguments: [("button".to_owned(), "left".into())].into(),
        result: "Clicked left button".into(),
        code: None,
        before: Some(Point { x: 1, y: 2 }),
        at: Some(Point { x: 3, y: 4 }),
        window: Some("XTerm".into()),
        leave: Some(Leave::Until(until)),
        ms: deed.ms,
        caller: Some(Caller::Model),
    };
    assert_eq!(acted, Some(expected));
}

#[tokio::test]
async fn a_secret_is_told_to_the_device_and_nobody_else() {
    let home = Home::new().await;
    let desktop = Arc::new(Pretended::default());
    let _stay = home.host.devices.join("studio", desktop.clone());
    home.arm("studio", &Class::ALL, Duration::from_mins(15));
    let mut news = home.host.devices.news();
    let secret = |text: &str| Action::KeyboardType {
        text: text.to_owned(),
        method: Method::Auto,
        secret: true,
        delay_ms: 0,
    };
    let to = Point { x: 1, y: 2 };
    let moved = Action::MouseMove { to, duration: 0.0 };
    let seeds = |text: &str| Action::KeyboardInput { text: text.to_owned(), secret: true };
    let actions = vec![moved, secret("correct horse"), seeds("horse")];
    let batch = Action::Batch { actions, stop_on_error: true };
    let wrong = [secret("hunter2\0"), seeds("hunter2\0")];
    for action in [secret("hunter2"), seeds("hunter2"), batch].into_iter().chain(wrong) {
        let who = Who { session: Some(home.session), caller: Caller::Model };
        home.host.drive(who, "studio", action.into()).await.1.ok();
        let News::Acted(noted) = news.recv().await.unwrap() else { panic!() };
        let told = format!("{noted:?}");
        assert!(!told.contains("hunter2") && !told.contains("horse"), "{told}");
        assert!(told.contains("[secret, "), "{told}");
    }
    let log = home.host.ports.log.read(home.session, kernel::update::Seq(0), 100).await.unwrap();
    let log = serde_json::to_string(&log).unwrap();
    assert!(log.contains("[secret, 7 chars]"), "{log}");
    assert!(!log.contains("hunter2") && !log.contains("horse"), "{log}");
    assert_eq!(desktop.done.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn when_its_time_is_over_a_device_lets_go_and_shows_it_and_it_is_on_record() {
    let home = Home::new().await;
    tokio::spawn(home.host.watch_desktops());
    let desktop = Arc::new(Pretended::default());
    let (mut lit, mut count) = (desktop.lit.subscribe(), desktop.count.subscribe());
    let _stay = home.host.devices.join("studio", desktop.clone());
    for why in ["the time ran out", "the owner"] {
        let until = home.host.ports.clock.now() + Duration::from_mins(15);
        let (device, session) = ("studio".to_owned(), Some(home.session));
        let classes = Class::ALL.into();
        home.host.arm(Arming { device, session, classes, until, area: None }).await.unwrap();
        lit.wait_for(|lit| *lit).await.unwrap();
        home.act("studio", click()).await.unwrap();
        if why == "the owner" {
            home.host.disarm("studio", None, why).await;
        } else {
            home.world.clock.advance(SignedDuration::from_mins(15));
        }
        lit.wait_for(|lit| !*lit).await.unwrap();
        let released = || desktop.done.lock().unwrap().last() == Some(&Action::ReleaseAll);
        count.wait_for(|_| released()).await.unwrap();
        let log = home.host.ports.log.read(home.session, Seq(0), 100).await.unwrap();
        let last = log.into_iter().rev().find_map(|entry| match entry.fact {
            Fact::Desktop(fact) => Some(*fact),
            _ => None,
        });
        let (device, why) = ("studio".to_owned(), why.to_owned());
        assert_eq!(last, Some(DesktopFact::Disarmed { device, why }));
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_is_asked_about_cannot_answer_on_the_screen_that_may_show_the_question() {
    let home = Home::new().await;
    let desktop = Arc::new(Pretended::default());
    let _stays = (
        home.host.devices.join(Devices::LOCAL, desktop.clone()),
        home.host.devices.join("studio", Arc::new(Pretended::default())),
    );
    for device in [Devices::LOCAL, "studio"] {
        home.arm(device, &Class::ALL, Duration::from_mins(15));
    }
    let other = home.host.create("/".as_ref(), "other", "").await.unwrap();
    let detail = Detail::Arguments { args: serde_json::json!({}) };
    let deed = Deed { risk: Risk::Acts, detail, subjects: vec![], within: None };
    let wish = Wish { name: "test".into(), title: "Something".into(), deed };
    let mut news = home.host.roster.listen();
    let (host, caller) = (home.host.clone(), Caller::Model);
    let asking = tokio::spawn(async move { host.leave(other, caller, wish).await.is_ok() });
    let question = loop {
        if let Some(waiting) = home.host.questions().await.unwrap().pop() {
            break waiting.question.id;
        }
        news.recv().await.unwrap();
    };
    let clicked = home.act(Devices::LOCAL, click());
    tokio::pin!(clicked);
    assert!(tokio::time::timeout(Duration::from_mins(1), &mut clicked).await.is_err());
    assert_eq!(desktop.done.lock().unwrap().len(), 0);
    // Looking is no answer, and another screen does not show it.
    home.act(Devices::LOCAL, Action::ScreenInfo).await.unwrap();
    home.act("studio", click()).await.unwrap();
    let yes = Decision::Allow { scope: Scope::Once, pattern: None, lasts: None };
    home.host.decide(question, yes, "the page").await.unwrap();
    clicked.await.unwrap();
    assert!(asking.await.unwrap());
}
