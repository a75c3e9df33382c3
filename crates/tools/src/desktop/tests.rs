//! The tools for desktops, as a model and the person meet them.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{FutureExt as _, future::BoxFuture};
use kernel::{
    desktop::{
        Action, Armed, Arming, Button, Chords, Class, Desktop, DesktopError, DesktopFact,
        Direction, Done, Drag, Format, Frame, Info, Order, Outcome, Pause, Point, Rect, State,
        Stay,
    },
    host::{Host, Settings},
    inbox::CallError,
    question::{Decision, Scope},
    toolbox::{Caller, Reply, ToolError},
    update::{Fact, Seq, SessionId},
};
use serde_json::{Value, json};
use testkit::World;
use tokio::sync::watch;

/// Does nothing, and remembers what it was asked to do.
#[derive(Default)]
struct Pretended {
    done: Mutex<Vec<Action>>,
    states: watch::Sender<State>,
}

impl Desktop for Pretended {
    fn info(&self) -> BoxFuture<'_, Result<Info, DesktopError>> {
        let screen = Some((3136, 1764));
        let info =
            Info { platform: "linux".into(), backend: "x11".into(), screen, commands: vec![] };
        async { Ok(info) }.boxed()
    }

    fn act(&self, order: Order) -> BoxFuture<'_, Result<Outcome, DesktopError>> {
        async move {
            self.done.lock().unwrap().push(order.action.clone());
            Ok(match order.action {
                Action::Screenshot(_) => Outcome::Picture(picture()),
                Action::GetMousePosition => Outcome::Position { x: 101, y: 201, moving: false },
                Action::Batch { actions, .. } => Outcome::Batch(
                    actions.iter().map(|action| Ok(Outcome::said(action.done(None)))).collect(),
                ),
                action => {
                    let picture = order.after.map(|_| picture());
                    let message = action.done(None);
                    Outcome::Done(Done { message, picture, ..Done::default() })
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

struct Home {
    host: Arc<Host>,
    session: SessionId,
    desktop: Arc<Pretended>,
    _stay: Stay,
}

impl Home {
    async fn new() -> Self {
        let world = World::new([]);
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
        };
        self.host.arm(arming).await.unwrap();
    }

    /// Answers the next question that is asked; says what it was.
    async fn answer(&self, decision: Decision) -> String {
        let mut news = self.host.roster.listen();
        loop {
            if let Some(waiting) = self.host.questions().await.unwrap().pop() {
                let title = waiting.question.title.clone();
                self.host.decide(waiting.question.id, decision, "the page").await.unwrap();
                return title;
            }
            news.recv().await.unwrap();
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
async fn what_sends_something_off_is_asked_about_and_what_was_not_granted_is_refused() {
    let home = Home::new().await;
    home.arm(&[Class::Look, Class::Type, Class::Act]).await;
    let typed = home.said("keyboard_input", json!({ "text": "ls" })).await;
    assert_eq!(typed.as_deref(), Ok("Typed: ls"));
    let pressing = home.said("keyboard_command", json!({ "command": "return" }));
    let (pressed, asked) = tokio::join!(pressing, home.answer(ONCE));
    assert_eq!(asked, "Pressing return");
    assert_eq!(pressed.as_deref(), Ok("Executed keyboard command: return"));
    let moved = home.said("mouse_move", point(5, 6)).await;
    let refusal = "Desktop control is not granted; expected one of: point";
    assert_eq!(moved, Err(refusal.to_owned()));
    home.host.disarm("studio", None, "the owner").await;
    assert_eq!(home.host.devices.armed("studio", Some(home.session)), Armed::Never);
    let last = home.facts().await.pop().unwrap();
    let why = "the owner".to_owned();
    assert_eq!(last, DesktopFact::Disarmed { device: "studio".into(), why });
}

#[tokio::test]
async fn points_are_those_of_the_picture_that_was_shown() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    let shown = home.call("screenshot", json!({})).await.unwrap();
    assert_eq!(shown.pictures[0].bytes, [1, 2, 3]);
    assert_eq!(shown.pictures[0].mime, "image/webp");
    let click = json!({ "action": "left_click", "coordinate": ["784", 441], "text": "ctrl" });
    let (clicked, _) = tokio::join!(home.said("computer", click), home.answer(ONCE));
    clicked.unwrap();
    let clicked = home.done().pop().unwrap();
    let Action::MouseClickAt { at, count: 1, .. } = clicked else { panic!("{clicked:?}") };
    assert_eq!(at, Some(Point { x: 1569, y: 883 }));
    let outside = home.said("mouse_move", point(1568, 0)).await.unwrap_err();
    let text = "Out of bounds error: Out of bounds at positions x,y :1568, 0";
    assert_eq!(outside, text);
    let position = home.said("get_mouse_position", json!({})).await;
    assert_eq!(position.as_deref(), Ok("The pointer is at (50, 100)."));
    let wrong = home.said("mouse_click", json!({ "button": "Left" })).await.unwrap_err();
    assert_eq!(wrong, "Invalid button: Left; expected one of: left, right, middle");
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
async fn arguments_are_read_as_the_hub_reads_them_and_changes_are_told() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    let to = |x, y| Point { x, y };
    let moved = |x, y, duration| vec![Action::MouseMove { to: to(x, y), duration }];
    for (args, action) in [
        (json!({ "x": "500", "y": " 300 ", "duration": "1.5" }), moved(500, 300, 1.5)),
        (json!({ "x": 500.0, "y": 1e3, "duration": 0 }), moved(500, 1000, 0.0)),
        (json!({ "x": "+7", "y": "1e3", "duration": null }), moved(7, 1000, 1.0)),
    ] {
        let said = home.said("mouse_move", args.clone()).await;
        let Action::MouseMove { to, .. } = &action[0] else { panic!() };
        assert_eq!(said, Ok(format!("Moved mouse to ({}, {})", to.x, to.y)), "{args}");
        assert_eq!(home.done(), action, "{args}");
    }
    let said = home.said("mouse_move", json!({ "x": -5, "y": "12.9", "Y": 1, "type": "x" })).await;
    let noted =
        r#"{"adjusted":{"x":{"from":-5,"to":0},"y":{"from":"12.9","to":12}},"ignored":["Y"]}"#;
    assert_eq!(said, Ok(format!("Moved mouse to (0, 12) {noted}")));
    home.done();
    for (args, complaint) in [
        (json!({ "x": "abc", "y": 1 }), "invalid type: string \"abc\", expected u32"),
        (json!({ "x": "50px", "y": 1 }), "invalid type: string \"50px\", expected u32"),
        (json!({ "x": true, "y": 1 }), "invalid type: boolean `true`, expected u32"),
        (json!({ "x": 1 }), "missing field `y`"),
        (
            json!({ "x": 1, "y": 2, "duration": "1.5s" }),
            "invalid type: string \"1.5s\", expected f32",
        ),
    ] {
        let said = home.said("mouse_move", args).await;
        assert_eq!(said, Err(format!("Invalid command format: {complaint}")));
    }
    assert_eq!(home.done(), []);
}

#[tokio::test]
async fn whoever_asks_for_it_is_shown_what_came_of_it() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    let typed = home.call("keyboard_input", json!({ "text": "hi", "show": true })).await.unwrap();
    assert!(typed.text.starts_with("Typed: hi. The picture has 1568x882 pixels"), "{}", typed.text);
    assert_eq!(typed.pictures.len(), 1);
    // And points are those of that picture from then on.
    home.said("mouse_move", point(784, 441)).await.unwrap();
    let to = Point { x: 1569, y: 883 };
    assert_eq!(home.done().pop(), Some(Action::MouseMove { to, duration: 0.0 }));
}

#[tokio::test]
async fn words_that_other_models_have_learnt_mean_the_same() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    let at = |x, y| Some(Point { x, y });
    let click = |at, button, count| Action::MouseClickAt { at, button, count, modifiers: vec![] };
    for (args, action) in [
        (
            json!({ "action": "click", "x": 3, "y": 4, "button": "wheel" }),
            click(at(3, 4), Button::Middle, 1),
        ),
        (json!({ "action": "double_click", "x": 3, "y": 4 }), click(at(3, 4), Button::Left, 2)),
        (
            json!({ "action": "scroll", "x": 3, "y": 4, "scroll_x": 0, "scroll_y": -250 }),
            Action::MouseScrollAt {
                at: Point { x: 3, y: 4 },
                direction: Direction::Up,
                intensity: 3,
                modifiers: vec![],
            },
        ),
        (
            json!({ "action": "drag", "path": [{ "x": 1, "y": 2 }, [3, 4], { "x": 5, "y": 6 }] }),
            Action::MouseDrag(Drag {
                path: vec![Point { x: 1, y: 2 }, Point { x: 3, y: 4 }, Point { x: 5, y: 6 }],
                button: Button::Left,
                duration: 0.5,
                modifiers: vec![],
            }),
        ),
        (
            json!({ "action": "move", "x": 9, "y": 8 }),
            Action::MouseMove { to: Point { x: 9, y: 8 }, duration: 0.0 },
        ),
        (
            json!({ "action": "keypress", "keys": ["SHIFT", "a"] }),
            Action::KeyCombo { keys: Chords::parse("SHIFT+a").unwrap(), repeat: 1 },
        ),
    ] {
        home.said("computer", args.clone()).await.unwrap();
        assert_eq!(home.done(), [action], "{args}");
    }
    let batch = json!({ "action": "batch", "show": true, "actions": [
        { "action": "click", "x": 1, "y": 2, "button": "left" }, { "action": "type", "text": "hi" },
    ] });
    let reply = home.call("computer", batch).await.unwrap();
    let said = "Clicked left button at (0, 0)\nTyped 2 characters\nThe picture has 1568x882 pixels";
    assert!(reply.text.starts_with(said), "{}", reply.text);
    assert_eq!(reply.pictures.len(), 1);
    let warned = json!({ "action": "click", "x": 1, "y": 2, "warnings": ["Look first."] });
    let (said, asked) = tokio::join!(home.said("computer", warned), home.answer(ONCE));
    assert_eq!((said.is_ok(), asked.as_str()), (true, "Clicking"));
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
