//! What becomes of orders that wait or work when whoever gave them may no longer, and what is told of
//! what a person types themselves.

#![expect(clippy::unwrap_used, reason = "all of it is a test")]

use std::{sync::Arc, time::Duration};

use futures::{FutureExt as _, future::BoxFuture, poll};
use jiff::SignedDuration;
use kernel::{
    desktop::{
        Action, Armed, Arming, Button, Chords, Class, Code, DesktopError, Leave, Method, News,
        Order, Outcome, Pause, Shot, Stay, Who,
    },
    host::{Host, Settings},
    ports::Clock as _,
    toolbox::Caller,
    update::{Seq, SessionId},
};
use testkit::{FakeDesktop, World};

/// How many are done at once after a rest.
const BURST: usize = 20;

struct Home {
    world: World,
    host: Arc<Host>,
    session: SessionId,
    desktop: FakeDesktop,
    _stay: Stay,
}

impl Home {
    async fn new() -> Self {
        let world = World::new([]);
        let host = Host::start(world.ports(), Settings::default()).await.unwrap();
        let session = host.create("/".as_ref(), "test", "").await.unwrap();
        let desktop = FakeDesktop::default();
        let stay = host.devices.join("studio", Arc::new(desktop.clone()));
        let home = Self { world, host, session, desktop, _stay: stay };
        home.arm(Some(session), &Class::ALL, Duration::from_mins(15));
        home
    }

    fn arm(&self, session: Option<SessionId>, classes: &[Class], lasts: Duration) {
        let until = self.host.ports.clock.now() + lasts;
        let (device, classes) = ("studio".to_owned(), classes.into());
        self.host.devices.arm(Arming { device, session, classes, until, area: None });
    }

    fn act(&self, action: Action) -> BoxFuture<'_, Result<Outcome, DesktopError>> {
        let who = Who { session: Some(self.session), caller: Caller::Model };
        async move { self.host.devices.act(who, "studio", action.into()).await.1 }.boxed()
    }

    /// One that must wait, as too many have been done just before.
    async fn waiting(&self) -> BoxFuture<'_, Result<Outcome, DesktopError>> {
        for _ in 0..=BURST {
            self.act(click()).await.unwrap();
        }
        let mut waiting = self.act(click());
        assert!(poll!(&mut waiting).is_pending());
        waiting
    }
}

fn click() -> Action {
    Action::MouseClick { button: Button::Left }
}

fn typed(text: &str) -> Action {
    let (text, method) = (text.to_owned(), Method::Auto);
    Action::KeyboardType { text, method, secret: false, delay_ms: 0 }
}

fn not_armed() -> DesktopError {
    DesktopError::new(Code::NotArmed, "Desktop control is not armed")
}

#[tokio::test(start_paused = true)]
async fn what_works_and_what_waits_is_stopped_by_the_user_and_never_done() {
    let home = Home::new().await;
    home.desktop.hold(true);
    let (mut works, mut queued) = (home.act(click()), home.act(typed("x")));
    let mut looks = home.act(Action::Wait(kernel::desktop::Waiting::For(60.0)));
    assert!(poll!(&mut works).is_pending() && poll!(&mut queued).is_pending());
    assert!(poll!(&mut looks).is_pending());
    home.host.stop_desktop("studio", Pause::Owner).await.unwrap();
    // What had begun before is stopped, however soon it is handed back.
    home.host.hand_back("studio").await.unwrap();
    home.desktop.hold(false);
    for stopped in [works, queued, looks] {
        assert_eq!(stopped.await, Err(DesktopError::stopped()));
    }
    assert_eq!(home.desktop.done(), []);
    home.act(click()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_its_turn_in_the_rate_is_stopped_too() {
    let home = Home::new().await;
    let waiting = home.waiting().await;
    home.host.stop_desktop("studio", Pause::Owner).await.unwrap();
    assert_eq!(waiting.await, Err(DesktopError::stopped()));
    home.host.hand_back("studio").await.unwrap();
    let waiting = home.waiting().await;
    // Somebody at the device itself.
    home.desktop.take(Some(Pause::Human));
    assert_eq!(waiting.await, Err(DesktopError::stopped()));
    assert_eq!(home.desktop.done().len(), 2 * (BURST + 1));
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_its_turn_is_cancelled_and_counted_or_only_what_is_named() {
    let home = Home::new().await;
    let devices = &home.host.devices;
    let named = home.waiting().await;
    let mut others = [home.act(click()), home.act(click())];
    for other in &mut others {
        assert!(poll!(other).is_pending());
    }
    let elsewhere = devices.join("elsewhere", Arc::new(FakeDesktop::default()));
    assert_eq!(devices.cancel("elsewhere", None).await, Ok(0));
    let id = format!("cmd_{}_{}", BURST + 1, home.world.clock.now().as_millisecond());
    assert_eq!(devices.cancel("studio", Some(id.clone())).await, Ok(1));
    assert_eq!(named.await, Err(DesktopError::cancelled()));
    assert_eq!(devices.cancel("studio", Some(id)).await, Ok(0));
    for other in &mut others {
        assert!(poll!(other).is_pending());
    }
    assert_eq!(devices.cancel("studio", None).await, Ok(2));
    for other in others {
        assert_eq!(other.await, Err(DesktopError::cancelled()));
    }
    assert_eq!(devices.cancel("studio", None).await, Ok(0));
    assert_eq!(home.desktop.done().len(), BURST + 1);
    home.act(click()).await.unwrap();
    drop(elsewhere);
    assert_eq!(devices.cancel("elsewhere", None).await, Err(DesktopError::no_client()));
}

#[tokio::test(start_paused = true)]
async fn whose_leave_ends_while_they_wait_or_work_does_nothing_more() {
    let home = Home::new().await;
    // Others may go on, so that the device itself is not told to end anything.
    let other = home.host.create("/".as_ref(), "other", "").await.unwrap();
    home.arm(Some(other), &Class::ALL, Duration::from_hours(1));
    let waiting = home.waiting().await;
    home.host.disarm("studio", Some(home.session), "the owner").await;
    assert_eq!(waiting.await, Err(not_armed()));
    home.arm(Some(home.session), &Class::ALL, Duration::from_mins(15));
    home.desktop.hold(true);
    let mut works = home.act(click());
    assert!(poll!(&mut works).is_pending());
    // One that allows less takes its place.
    home.arm(Some(home.session), &[Class::Look], Duration::from_mins(15));
    assert_eq!(works.await.unwrap_err().code, Code::Denied);
    assert_eq!(home.desktop.done().len(), BURST + 1);
}

#[tokio::test(start_paused = true)]
async fn what_waits_past_the_end_of_its_time_is_not_done() {
    let home = Home::new().await;
    let waiting = home.waiting().await;
    let until = home.host.devices.armings()[0].until;
    home.world.clock.advance(SignedDuration::from_mins(15));
    let expired = format!("Desktop control expired at {until}");
    assert_eq!(waiting.await, Err(DesktopError::new(Code::NotArmed, expired)));
    assert_eq!(home.desktop.done().len(), BURST + 1);
}

#[tokio::test(start_paused = true)]
async fn when_the_time_of_one_is_over_its_work_ends_though_others_may_go_on() {
    let home = Home::new().await;
    let watching = tokio::spawn(home.host.watch_desktops());
    home.arm(None, &[Class::Look], Duration::from_hours(1));
    // By then whoever keeps the time knows of it.
    while !home.desktop.is_lit() {
        tokio::task::yield_now().await;
    }
    home.desktop.hold(true);
    let mut works = home.act(click());
    assert!(poll!(&mut works).is_pending());
    home.world.clock.advance(SignedDuration::from_mins(15));
    let error = works.await.unwrap_err();
    assert_eq!((error.code, error.expected), (Code::Denied, vec!["point".to_owned()]));
    assert_eq!(home.desktop.done(), []);
    watching.abort();
}

#[tokio::test(start_paused = true)]
async fn all_that_is_lent_counts_for_as_long_as_each_part_holds() {
    let home = Home::new().await;
    home.arm(Some(home.session), &[Class::Point], Duration::from_mins(5));
    home.arm(None, &[Class::Look], Duration::from_hours(1));
    let now = home.host.ports.clock.now();
    let (short, long) = (now + Duration::from_mins(5), now + Duration::from_hours(1));
    let armed = || home.host.devices.armed("studio", Some(home.session));
    assert_eq!(armed(), Armed::Until(long, vec![Class::Look, Class::Point]));
    let who = Who { session: Some(home.session), caller: Caller::Model };
    let (deed, done) = home.host.devices.act(who, "studio", click().into()).await;
    // It is on record until when this was lent, not something else.
    assert_eq!((done.is_ok(), deed.leave), (true, Some(Leave::Until(short))));
    let actions = vec![click(), Action::GetMousePosition];
    home.act(Action::Batch { actions, stop_on_error: true }).await.unwrap();
    home.world.clock.advance(SignedDuration::from_mins(5));
    assert_eq!(armed(), Armed::Until(long, vec![Class::Look]));
    assert_eq!(home.act(click()).await.unwrap_err().code, Code::Denied);
    home.act(Action::GetMousePosition).await.unwrap();
}

#[tokio::test]
async fn what_a_person_types_themselves_is_told_to_the_device_and_nobody_else() {
    let home = Home::new().await;
    let mut news = home.host.devices.news();
    home.host.take_over("studio").await.unwrap();
    home.host.devices.record("studio").unwrap();
    let keys = |spoken: &str| Chords::parse(spoken).unwrap();
    let batch = vec![typed("horse"), Action::Screenshot(Shot::default())];
    let actions = [
        typed("horse"),
        Action::KeyboardInput { text: "horse".into(), secret: false },
        Action::KeyCombo { keys: keys("h o r s e"), repeat: 1 },
        Action::KeyDown { key: keys("h") },
        Action::KeyboardCommand { keys: keys("kp_7") },
        Action::ClipboardSet { text: "horse".into() },
        Action::ClipboardGet,
        Action::Batch { actions: batch, stop_on_error: true },
        typed("horse\0"),
    ];
    for action in actions {
        let (order, kind) = (Order::from(action.clone()), action.kind());
        let (_, result) = home.host.touch("studio", order).await;
        assert_eq!(result.is_ok(), action != typed("horse\0"), "{result:?}");
        let deed = loop {
            if let News::Acted(noted) = news.recv().await.unwrap() {
                break noted.deed;
            }
        };
        let told = format!("{:?} {:?}", deed.arguments, deed.result);
        assert_eq!(deed.kind, kind);
        for typed in ["horse", "h o r", "\"h\"", "kp_7", " h\"", "Picture("] {
            assert!(!told.contains(typed), "{told}");
        }
        assert!(kind == "clipboard_get" || told.contains("[secret, "), "{told}");
    }
    let named = Action::KeyCombo { keys: keys("shift+tab"), repeat: 1 };
    let (deed, _) = home.host.touch("studio", named.into()).await;
    assert_eq!(deed.arguments["keys"], "shift+tab", "which leaves no character");
    let own = home.host.desktop_session(None).await.unwrap();
    let log = home.host.ports.log.read(own, Seq(0), 100).await.unwrap();
    let log = serde_json::to_string(&log).unwrap();
    assert!(log.contains("[secret, 5 chars]") && !log.contains("horse"), "{log}");
    assert!(!log.contains("kp_7") && !log.contains("h o r"), "{log}");
    // What they wanted to be recorded is.
    let steps = format!("{:?}", home.host.devices.recorded("studio").unwrap().steps());
    assert!(steps.contains("horse"), "{steps}");
}

#[tokio::test]
async fn a_secret_is_in_no_error_and_no_picture_of_a_batch() {
    let home = Home::new().await;
    let mut news = home.host.devices.news();
    let secret = Action::KeyboardType {
        text: "hunter2".into(),
        method: Method::Auto,
        secret: true,
        delay_ms: 0,
    };
    let actions = vec![secret.clone(), Action::Screenshot(Shot::default())];
    let batch = Action::Batch { actions, stop_on_error: true };
    let Ok(Outcome::Batch(seen)) = home.act(batch).await else { panic!() };
    assert!(matches!(seen[1], Ok(Outcome::Picture(_))), "whoever asked sees it");
    let News::Acted(noted) = news.recv().await.unwrap() else { panic!() };
    let told = noted.deed.result.clone().unwrap();
    let Outcome::Batch(told) = told else { panic!("{told:?}") };
    assert_eq!(
        told,
        [Ok(Outcome::said("Typed 7 characters")), Ok(Outcome::said("A picture of 16x9 pixels"))]
    );
    let echoing = DesktopError::failed("Keyboard input failed: hunter2 cannot be typed");
    let stay = home.host.devices.join("studio", Arc::new(FakeDesktop::broken(echoing)));
    let error = home.act(secret).await.unwrap_err();
    assert_eq!(error.text, "Keyboard input failed: [secret, 7 chars] cannot be typed");
    drop(stay);
}
