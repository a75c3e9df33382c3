//! A desktop in the person's hands, what is recorded there, and how it is done again.

#![expect(clippy::unwrap_used, reason = "all of it is a test")]

use std::{sync::Arc, time::Duration};

use jiff::SignedDuration;
use kernel::{
    desktop::{
        Action, Again, Arming, Button, By, Class, Code, DesktopError, DesktopFact, Method, Pause,
        Point, Rect, Stay, Stopped, Trajectory, TrajectoryError, Who,
    },
    host::{Host, Settings},
    toolbox::Caller,
    update::{Fact, Seq, SessionId},
};
use testkit::{FakeDesktop, World};

const LEFT: Button = Button::Left;
const FIELD: Point = Point { x: 600, y: 300 };
const AROUND: Rect = Rect { x: 300, y: 100, w: 600, h: 500 };

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
        Self { world, host, session, desktop, _stay: stay }
    }

    async fn touch(&self, action: Action) -> Result<(), DesktopError> {
        self.host.touch("studio", action.into()).await.1.map(drop)
    }

    fn who(&self) -> Who {
        Who { session: Some(self.session), caller: Caller::Model }
    }

    fn arm(&self) {
        let until = self.host.ports.clock.now() + Duration::from_mins(15);
        let (device, session, classes) = ("studio".into(), Some(self.session), Class::ALL.to_vec());
        self.host.devices.arm(Arming { device, session, classes, until, area: None });
    }

    /// A click into a field and two words, by hand.
    async fn recorded(&self) -> Trajectory {
        self.host.take_over("studio").await.unwrap();
        self.host.devices.record("studio").unwrap();
        self.touch(Action::MouseDown { button: LEFT, at: Some(FIELD) }).await.unwrap();
        self.touch(Action::MouseUp { button: LEFT, at: Some(FIELD) }).await.unwrap();
        self.touch(typed("two ")).await.unwrap();
        self.touch(typed("words")).await.unwrap();
        let recording = self.host.devices.recorded("studio").unwrap();
        self.host.trajectories.keep("greet", "studio", recording.into_steps()).await.unwrap()
    }
}

fn typed(text: &str) -> Action {
    Action::KeyboardType { text: text.into(), method: Method::Auto, secret: false, delay_ms: 0 }
}

fn click() -> Action {
    Action::MouseClickAt { at: Some(FIELD), button: LEFT, count: 1, modifiers: Vec::new() }
}

#[tokio::test]
async fn hands_need_no_leave_but_the_desktop_and_nobody_else_has_it_then() {
    let home = Home::new().await;
    let first = DesktopError::new(Code::Denied, "Take the desktop over first");
    assert_eq!(home.touch(click()).await, Err(first.clone()));
    home.arm();
    // Somebody at the machine has it, and lends it to the person here.
    home.desktop.take(Some(Pause::Human));
    home.host.take_over("studio").await.unwrap();
    home.touch(click()).await.unwrap();
    let theirs = home.host.drive(home.who(), "studio", click().into()).await.1;
    assert_eq!(theirs, Err(DesktopError::paused()));
    home.host.hand_back("studio").await.unwrap();
    assert_eq!(home.touch(click()).await, Err(first));
    home.host.drive(home.who(), "studio", click().into()).await.1.unwrap();
    assert_eq!(home.desktop.done(), [click(), click()]);
}

#[tokio::test]
async fn what_was_done_lately_is_told_a_page_at_a_time_without_every_move_of_a_hand() {
    let home = Home::new().await;
    home.host.take_over("studio").await.unwrap();
    home.touch(Action::MouseMove { to: FIELD, duration: 0.0 }).await.unwrap();
    for text in ["a", "b", "c"] {
        home.touch(typed(text)).await.unwrap();
    }
    // That they typed is told; what, is not.
    let texts = |noted: Vec<kernel::desktop::Noted>| -> Vec<(u64, String)> {
        let text = |noted: &kernel::desktop::Noted| noted.deed.arguments["text"].to_string();
        noted.iter().map(|it| (it.number, text(it))).collect()
    };
    let one = || "\"[secret, 1 chars]\"".to_owned();
    let (page, more) = home.host.devices.recent(Some("studio"), u64::MAX, 2);
    assert!(more);
    assert_eq!(texts(page), [(3, one()), (2, one())]);
    let (page, more) = home.host.devices.recent(Some("studio"), 2, 2);
    assert_eq!((texts(page), more), (vec![(1, one())], false));
    assert!(home.host.devices.recent(Some("den"), u64::MAX, 2).0.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_was_done_is_on_record_and_known_after_a_restart() {
    let home = Home::new().await;
    let trajectory = home.recorded().await;
    home.touch(Action::MouseMove { to: FIELD, duration: 0.0 }).await.unwrap();
    let secret = Action::KeyboardType {
        text: "hush".into(),
        method: Method::Auto,
        secret: true,
        delay_ms: 0,
    };
    home.touch(secret).await.unwrap();
    let replay = home.host.replay(By::Hands, "studio", &trajectory, Again::default()).await;
    assert_eq!(replay.stopped, None);
    let owner = Who { session: None, caller: Caller::Owner };
    let refused = home.host.drive(owner, "studio", click().into()).await.1;
    assert_eq!(refused.unwrap_err().code, Code::NotArmed);

    let kept = home.host.desktop_session(None).await.unwrap();
    assert_eq!(home.host.roster.get(kept).unwrap().name, "Desktop");
    let log = home.host.ports.log.read(kept, Seq(0), 100).await.unwrap();
    assert!(!serde_json::to_string(&log).unwrap().contains("hush"));
    let kinds = [
        "mouse_down",
        "mouse_up",
        "keyboard_type",
        "keyboard_type",
        "keyboard_type",
        "mouse_click_at",
        "keyboard_type",
        "mouse_click_at",
    ];
    let acted = log.into_iter().filter_map(|entry| match entry.fact {
        Fact::Desktop(fact) => match *fact {
            DesktopFact::Acted { kind, caller, .. } => Some((kind, caller)),
            _ => None,
        },
        _ => None,
    });
    let expected = kinds.map(|kind| (kind.to_owned(), Some(Caller::Owner)));
    assert_eq!(acted.collect::<Vec<_>>(), expected);

    // And so is what an agent did, whoever came first.
    home.world.clock.advance(SignedDuration::from_secs(1));
    home.arm();
    home.host.hand_back("studio").await.unwrap();
    home.host.drive(home.who(), "studio", click().into()).await.1.unwrap();

    let before = home.host.devices.recent(None, u64::MAX, 100).0;
    assert_eq!(before[0].deed.who, home.who());
    home.host.shut(Duration::ZERO).await;
    let again = Host::start(home.world.ports(), Settings::default()).await.unwrap();
    let after = again.devices.recent(None, u64::MAX, 100).0;
    let told = |noted: &kernel::desktop::Noted| {
        let deed = &noted.deed;
        let result = deed.result.as_ref().map(kernel::desktop::Outcome::summary);
        let result = result.map_err(|error| (error.code, error.text.clone()));
        (noted.number, deed.kind, deed.arguments.clone(), result, deed.who.clone())
    };
    let told = |all: &[kernel::desktop::Noted]| all.iter().map(told).collect::<Vec<_>>();
    assert_eq!(told(&after), told(&before));
    // It is the same session, and another one if somebody removes that.
    assert_eq!(again.desktop_session(None).await.unwrap(), kept);
    again.delete(kept).await.unwrap();
    assert_ne!(again.desktop_session(None).await.unwrap(), kept);
}

#[tokio::test(start_paused = true)]
async fn what_was_recorded_is_done_again_until_it_looks_different() {
    let home = Home::new().await;
    home.desktop.paint(AROUND, [250, 250, 250]);
    let trajectory = home.recorded().await;
    let titles: Vec<String> = trajectory.steps.iter().map(|step| step.motion.title()).collect();
    assert_eq!(titles, ["Click at 600, 300", "Type “two words”"]);
    let before = home.desktop.done().len();
    let replay = home.host.replay(By::Hands, "studio", &trajectory, Again::default()).await;
    assert_eq!((replay.done, &replay.stopped), (2, &None));
    assert_eq!(home.desktop.done()[before..], [click(), typed("two words")]);

    home.desktop.paint(AROUND, [200, 20, 20]);
    let before = home.desktop.done().len();
    let replay = home.host.replay(By::Hands, "studio", &trajectory, Again::default()).await;
    let Some(Stopped::Differs { expected, found, difference }) = &replay.stopped else {
        panic!("{replay:?}")
    };
    assert!(*difference > 0.9 && expected.colours[..3] == [250, 250, 250]);
    assert_eq!(found.as_ref().unwrap().colours[..3], [200, 20, 20]);
    assert!(replay.summary().starts_with("Stopped before step 1 of 2"), "{}", replay.summary());
    assert_eq!((replay.done, home.desktop.done().len()), (0, before));
    let anyway = Again { from: 0, anyway: true };
    let replay = home.host.replay(By::Hands, "studio", &trajectory, anyway).await;
    assert_eq!((replay.done, &replay.stopped), (2, &None));
    let rest = Again { from: 1, anyway: false };
    assert_eq!(home.host.replay(By::Hands, "studio", &trajectory, rest).await.stopped, None);
    assert_eq!(home.desktop.done()[before..], [click(), typed("two words"), typed("two words")]);
}

#[tokio::test]
async fn an_agent_needs_leave_for_each_step_and_each_is_on_record() {
    let home = Home::new().await;
    let trajectory = home.recorded().await;
    home.host.hand_back("studio").await.unwrap();
    let by = By::Leave(home.who());
    let refused = home.host.replay(by.clone(), "studio", &trajectory, Again::default()).await;
    let Some(Stopped::Failed(error)) = refused.stopped else { panic!("{refused:?}") };
    assert_eq!((refused.done, error.code), (0, Code::NotArmed));
    home.arm();
    let replay = home.host.replay(by, "studio", &trajectory, Again::default()).await;
    assert_eq!(replay.stopped, None);
    let log = home.host.ports.log.read(home.session, Seq(0), 100).await.unwrap();
    let acted = log.into_iter().filter_map(|entry| match entry.fact {
        Fact::Desktop(fact) => match *fact {
            DesktopFact::Acted { kind, code, .. } => Some((kind, code)),
            _ => None,
        },
        _ => None,
    });
    let expected = [
        ("mouse_click_at".to_owned(), Some(Code::NotArmed)),
        ("mouse_click_at".to_owned(), None),
        ("keyboard_type".to_owned(), None),
    ];
    assert_eq!(acted.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_secret_is_not_kept_and_its_step_is_for_the_person() {
    let home = Home::new().await;
    home.host.take_over("studio").await.unwrap();
    home.host.devices.record("studio").unwrap();
    let text = "hunter2".to_owned();
    let secret = Action::KeyboardType { text, method: Method::Auto, secret: true, delay_ms: 0 };
    home.touch(secret).await.unwrap();
    home.touch(typed("then this")).await.unwrap();
    let steps = home.host.devices.recorded("studio").unwrap().into_steps();
    let trajectory = home.host.trajectories.keep("sign in", "studio", steps).await.unwrap();
    assert!(!serde_json::to_string(&trajectory).unwrap().contains("hunter2"));
    let stopped = home.host.replay(By::Hands, "studio", &trajectory, Again::default()).await;
    assert_eq!((stopped.done, stopped.stopped), (0, Some(Stopped::Secret)));
    let on = Again { from: 0, anyway: true };
    let replay = home.host.replay(By::Hands, "studio", &trajectory, on).await;
    assert_eq!((replay.done, replay.stopped), (2, None));
    assert_eq!(home.desktop.done().last(), Some(&typed("then this")));
}

#[tokio::test]
async fn trajectories_have_names_of_their_own() {
    let home = Home::new().await;
    let greet = home.recorded().await;
    let all = &home.host.trajectories;
    let steps = greet.steps.clone();
    let taken = all.keep(" greet ", "studio", steps.clone()).await;
    assert!(matches!(taken, Err(TrajectoryError::Taken(name)) if name == "greet"));
    assert!(matches!(all.keep(" ", "studio", steps.clone()).await, Err(TrajectoryError::Name)));
    assert!(matches!(all.keep("x", "studio", Vec::new()).await, Err(TrajectoryError::Empty)));
    let other = all.keep("a farewell", "studio", steps).await.unwrap();
    assert!(matches!(all.rename(other.id, "greet").await, Err(TrajectoryError::Taken(_))));
    assert_eq!(all.rename(greet.id, "greet").await.unwrap().unwrap(), greet);
    let renamed = all.rename(greet.id, "welcome").await.unwrap().unwrap();
    assert_eq!(all.list().await.unwrap(), [other.clone(), renamed.clone()]);
    assert_eq!(all.find("welcome").await.unwrap(), Some(renamed));
    assert!(all.remove(greet.id).await.unwrap());
    assert!(!all.remove(greet.id).await.unwrap());
    assert_eq!(all.list().await.unwrap(), [other]);
    assert!(all.rename(greet.id, "again").await.unwrap().is_none());
}
