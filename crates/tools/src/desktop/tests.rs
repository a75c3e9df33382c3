//! The tools for desktops, as a model and the person meet them.

mod arguments;
mod leave;
mod points;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{FutureExt as _, future::BoxFuture};
use kernel::{
    desktop::{
        Action, After, Armed, Arming, Button, Chords, Class, Code, Desktop, DesktopError,
        DesktopFact, Devices, Direction, Done, Drag, Format, Frame, Info, Order, Outcome, Pause,
        Point, Rect, Shot, State, Stay, Waiting,
    },
    host::{Host, Settings},
    inbox::CallError,
    question::{Decision, Question, Scope},
    toolbox::{Caller, Reply, ToolError},
    update::{Fact, Seq, SessionId},
};
use serde_json::{Value, json};
use testkit::{World, model::Script};
use tokio::sync::watch;

/// Where it says the pointer is, unless it was put elsewhere.
const POINTER: Point = Point { x: 101, y: 201 };

/// Does nothing, and remembers what it was asked to do.
#[derive(Default)]
struct Pretended {
    done: Mutex<Vec<Action>>,
    /// What the last picture was to be like that was asked for with something else.
    after: Mutex<Option<After>>,
    /// How it fails, if it does.
    fails: Mutex<Option<DesktopError>>,
    states: watch::Sender<State>,
}

impl Desktop for Pretended {
    fn info(&self) -> BoxFuture<'_, Result<Info, DesktopError>> {
        let screen = Some((3136, 1764));
        let (platform, backend) = ("linux".into(), "x11".into());
        let info = Info { platform, backend, screen, commands: vec![], hears: true };
        async { Ok(info) }.boxed()
    }

    fn act(&self, order: Order) -> BoxFuture<'_, Result<Outcome, DesktopError>> {
        async move {
            self.done.lock().unwrap().push(order.action.clone());
            *self.after.lock().unwrap() = order.after;
            if let Some(error) = self.fails.lock().unwrap().clone() {
                return Err(error);
            }
            Ok(match order.action {
                Action::Screenshot(_) => Outcome::Picture(picture()),
                Action::Zoom(shot) => Outcome::Picture(part(shot.region.unwrap())),
                Action::GetMousePosition => Outcome::Position { x: 101, y: 201, moving: false },
                Action::Batch { actions, .. } => Outcome::Batch(
                    actions
                        .iter()
                        .map(|it| Ok(Outcome::said(it.done(Some(pointed(it))))))
                        .collect(),
                ),
                action => {
                    let picture = order.after.map(|_| picture());
                    let at = Some(pointed(&action));
                    Outcome::Done(Done { message: action.done(at), at, picture, ..Done::default() })
                }
            })
        }
        .boxed()
    }

    fn cancel(&self, _: Option<String>) -> BoxFuture<'_, Result<usize, DesktopError>> {
        async { Ok(0) }.boxed()
    }

    fn hand_back(&self) -> BoxFuture<'_, Result<(), DesktopError>> {
        async { Ok(()) }.boxed()
    }

    fn states(&self) -> watch::Receiver<State> {
        self.states.subscribe()
    }
}

fn picture() -> Frame {
    Frame {
        bytes: vec![1, 2, 3],
        format: Format::Webp,
        width: 1568,
        height: 882,
        screen: Rect { x: 0, y: 0, w: 3136, h: 1764 },
    }
}

fn pointed(action: &Action) -> Point {
    match action {
        Action::MouseMove { to: at, .. }
        | Action::MouseScrollAt { at, .. }
        | Action::MouseClickAt { at: Some(at), .. } => *at,
        Action::MouseDrag(drag) => drag.path[drag.path.len() - 1],
        _ => POINTER,
    }
}

/// As large as on the screen.
fn part(screen: Rect) -> Frame {
    Frame { width: screen.w, height: screen.h, screen, ..picture() }
}

struct Home {
    host: Arc<Host>,
    session: SessionId,
    desktop: Arc<Pretended>,
    _stay: Stay,
}

impl Home {
    async fn new() -> Self {
        Self::with([]).await
    }

    /// With a model that says these.
    async fn with(said: impl IntoIterator<Item = Script>) -> Self {
        let world = World::new(said);
        let host = Host::start(world.ports(), Settings::default()).await.unwrap();
        let session = host.create("/".as_ref(), "test", "").await.unwrap();
        let desktop = Arc::new(Pretended::default());
        let stay = host.devices.join("studio", desktop.clone());
        let mut editions = host.ports.tools.editions();
        tokio::spawn(super::offer(&host));
        editions.wait_for(|_| host.ports.tools.is_ours("computer")).await.unwrap();
        Self { host, session, desktop, _stay: stay }
    }

    async fn call(&self, name: &str, args: Value) -> Result<Reply, String> {
        match self.host.call(self.session, Caller::Client, name, args).await {
            Ok(reply) => Ok(reply),
            Err(CallError::Tool(ToolError::Failed(message) | ToolError::Denied(message))) => {
                Err(message)
            }
            Err(error) => panic!("{error}"),
        }
    }

    async fn said(&self, name: &str, args: Value) -> Result<String, String> {
        self.call(name, args).await.map(|reply| reply.text)
    }

    async fn arm(&self, classes: &[Class]) {
        let until = self.host.ports.clock.now() + Duration::from_mins(15);
        let arming = Arming {
            device: "studio".into(),
            session: Some(self.session),
            classes: classes.into(),
            until,
            area: None,
        };
        self.host.arm(arming).await.unwrap();
    }

    /// Answers the next question that is asked; says what it was.
    async fn answer(&self, decision: Decision) -> String {
        self.answered(decision).await.title
    }

    /// The same, with all that the person was shown.
    async fn answered(&self, decision: Decision) -> Question {
        let mut news = self.host.roster.listen();
        loop {
            if let Some(waiting) = self.host.questions().await.unwrap().pop() {
                let question = waiting.question.clone();
                self.host.decide(question.id, decision, "the page").await.unwrap();
                return question;
            }
            news.recv().await.unwrap();
        }
    }

    /// Nobody is asked anything meanwhile.
    async fn unasked(&self, name: &str, args: Value) -> Result<String, String> {
        let asked = async {
            let mut news = self.host.roster.listen();
            while self.host.questions().await.unwrap().is_empty() {
                news.recv().await.unwrap();
            }
        };
        tokio::select! {
            said = self.said(name, args) => said,
            () = asked => panic!("somebody was asked"),
        }
    }

    async fn facts(&self) -> Vec<DesktopFact> {
        let log = self.host.ports.log.read(self.session, Seq(0), 1000).await.unwrap();
        let facts = log.into_iter().filter_map(|entry| match entry.fact {
            Fact::Desktop(fact) => Some(*fact),
            _ => None,
        });
        facts.collect()
    }

    /// Everything on record, once the model has nothing more to say.
    async fn ended(&self) -> Vec<Fact> {
        let mut news = self.host.roster.listen();
        loop {
            let log = self.host.ports.log.read(self.session, Seq(0), 1000).await.unwrap();
            let log: Vec<Fact> = log.into_iter().map(|entry| entry.fact).collect();
            if log.iter().any(|fact| matches!(fact, Fact::TurnEnded(_))) {
                return log;
            }
            news.recv().await.unwrap();
        }
    }

    fn done(&self) -> Vec<Action> {
        std::mem::take(&mut *self.desktop.done.lock().unwrap())
    }
}

fn point(x: u32, y: u32) -> Value {
    json!({ "x": x, "y": y, "duration": 0 })
}

const ONCE: Decision = Decision::Allow { scope: Scope::Once, pattern: None, lasts: None };

#[tokio::test]
async fn nothing_is_driven_before_the_person_lets_it_and_everything_is_on_record() {
    let home = Home::new().await;
    let no = Decision::Deny { reason: None };
    let (refused, asked) = tokio::join!(home.said("mouse_move", point(5, 6)), home.answer(no));
    assert_eq!(asked, "See and drive the desktop studio for 15 minutes");
    assert!(refused.unwrap_err().starts_with("Desktop control is not granted. "));
    assert_eq!(home.done(), []);
    let (moved, _) = tokio::join!(home.said("mouse_move", point(5, 6)), home.answer(ONCE));
    assert_eq!(moved.as_deref(), Ok("Moved mouse to (5, 6)"));
    // And is not asked about again.
    let clicked = home.said("mouse_click", json!({ "button": "left" })).await;
    assert_eq!(clicked.as_deref(), Ok("Clicked left button"));
    let to = Point { x: 5, y: 6 };
    let done =
        [Action::MouseMove { to, duration: 0.0 }, Action::MouseClick { button: Button::Left }];
    assert_eq!(home.done(), done);
    let facts = home.facts().await;
    assert!(matches!(&facts[0], DesktopFact::Armed { device, .. } if device == "studio"));
    let kinds: Vec<&str> = facts[1..]
        .iter()
        .map(|fact| match fact {
            DesktopFact::Acted { kind, code: None, .. } => kind.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, ["mouse_move", "mouse_click"]);
}

#[tokio::test]
async fn an_agent_waits_until_the_person_hands_back_and_looks_before_it_goes_on() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    home.host.stop_desktop("studio", Pause::Owner).await.unwrap();
    assert_eq!(home.done(), [Action::ReleaseAll]);
    let call = home.call("mouse_move", point(1, 2));
    let hand_back = async {
        // Looking is never kept from anybody.
        home.said("get_mouse_position", json!({})).await.unwrap();
        home.host.hand_back("studio").await.unwrap();
    };
    let (reply, ()) = tokio::join!(call, hand_back);
    let reply = reply.unwrap();
    assert!(reply.text.starts_with("The person took over this desktop"), "{}", reply.text);
    assert_eq!(reply.pictures.len(), 1);
    let moved = |action: &Action| matches!(action, Action::MouseMove { .. });
    assert!(!home.done().iter().any(moved));
    home.said("mouse_move", point(1, 2)).await.unwrap();
    assert!(home.done().iter().any(moved));
}

#[tokio::test]
async fn the_tools_are_there_while_there_is_something_to_drive() {
    let home = Home::new().await;
    let (host, Home { _stay: stay, .. }) = (home.host.clone(), home);
    let mut editions = host.ports.tools.editions();
    drop(stay);
    editions.wait_for(|_| !host.ports.tools.is_ours("computer")).await.unwrap();
}

#[tokio::test]
async fn what_a_person_recorded_is_done_again_by_its_name_if_they_agree() {
    let home = Home::new().await;
    let none = home.said("desktop_replay", json!({ "name": "greet" })).await.unwrap_err();
    assert_eq!(none, "Nothing has been recorded yet; the person does that.");
    home.host.devices.record("studio").unwrap();
    home.host.take_over("studio").await.unwrap();
    let at = Some(Point { x: 5, y: 6 });
    let click = Action::MouseClickAt { at, button: Button::Left, count: 1, modifiers: vec![] };
    home.host.devices.touch("studio", click.clone().into()).await.1.unwrap();
    let steps = home.host.devices.recorded("studio").unwrap().into_steps();
    home.host.trajectories.keep("greet", "studio", steps).await.unwrap();
    home.host.hand_back("studio").await.unwrap();
    home.done();
    home.arm(&Class::ALL).await;
    let other = home.said("desktop_replay", json!({ "name": "wave" })).await.unwrap_err();
    assert_eq!(other, "No recording is named `wave`; there are: greet");
    let wish = json!({ "name": "greet" });
    let (done, asked) = tokio::join!(home.said("desktop_replay", wish), home.answer(ONCE));
    assert_eq!(asked, "Doing greet again");
    assert_eq!(done.unwrap(), "Did all 1 steps of greet.");
    assert_eq!(home.done(), [click]);
    let far = json!({ "name": "greet", "from_step": 2 });
    let (far, _) = tokio::join!(home.said("desktop_replay", far), home.answer(ONCE));
    assert_eq!(far.unwrap_err(), "from_step must be from 1 to 1, not 2");
}

#[tokio::test]
async fn whoever_asks_for_it_is_shown_what_came_of_it() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    let typed = home.call("keyboard_input", json!({ "text": "hi", "show": true })).await.unwrap();
    assert!(typed.text.starts_with("Typed: hi. The picture has 1568x882 pixels"), "{}", typed.text);
    assert_eq!(typed.pictures.len(), 1);
    // And points are those of that picture from then on.
    let moved = home.said("mouse_move", point(784, 441)).await;
    let text = r#"Moved mouse to (784, 441) {"screen":{"x":1569,"y":883}}"#;
    assert_eq!(moved.as_deref(), Ok(text));
    let to = Point { x: 1569, y: 883 };
    assert_eq!(home.done().pop(), Some(Action::MouseMove { to, duration: 0.0 }));
}

#[tokio::test]
async fn the_tool_tells_how_large_its_pictures_are_once_the_only_device_is_armed() {
    let home = Home::new().await;
    let screen = || {
        let specs = home.host.ports.tools.specs(&Caller::Client);
        let spec = specs.into_iter().find(|spec| spec.name == "computer").unwrap();
        spec.schema.get("x-screen").cloned()
    };
    assert_eq!(screen(), None);
    let mut editions = home.host.ports.tools.editions();
    home.arm(&Class::ALL).await;
    editions.wait_for(|_| screen().is_some()).await.unwrap();
    assert_eq!(screen(), Some(json!({ "width": 1568, "height": 882 })));
}
