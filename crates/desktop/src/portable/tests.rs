//! The hands of macOS and Windows, driven on a display of X11 that nobody sees: what is pressed arrives.

#![cfg(target_os = "linux")]

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use kernel::desktop::{
    Action, Button, Chords, Code, DesktopError, Direction, Done, Drag, Modifier, Outcome, Point,
    Shot,
};

use self::witness::{Seen, Witness};
use super::{Grip, Monitors, Sight};
use crate::{
    desk::Desk,
    local::Settings,
    rig::{Eyes, Picture, Place, Rigged},
    seat::Seat as _,
};

#[expect(dead_code, reason = "others need more of it")]
#[path = "../../tests/x11/witness.rs"]
mod witness;

const PATIENCE: Duration = Duration::from_mins(1);

/// One display that shows the same colour everywhere.
struct One;

impl Monitors for One {
    fn places(&self) -> Result<Vec<Place>, DesktopError> {
        let (size, pixels) = ((800, 600), (800, 600));
        Ok(vec![Place { title: "one".into(), at: (0, 0), size, pixels, primary: true }])
    }

    fn picture(&self, _: usize) -> Result<Picture, DesktopError> {
        Ok(Picture { width: 800, height: 600, bytes: [1, 2, 3, 4].repeat(800 * 600) })
    }
}

struct Stage {
    server: Child,
    desk: Arc<Desk>,
    seat: Rigged,
    witness: Witness,
}

impl Stage {
    fn set() -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let display = format!(":{}", line.trim());
        let desk = Desk::new();
        let sight = || Box::new(Sight::new(Some(&display), Arc::new(One)).unwrap());
        let hands = Grip::new(Some(&display), Arc::new(One)).unwrap();
        let eyes: [Box<dyn Eyes>; 2] = [sight(), sight()];
        let seat = Rigged::new(Box::new(hands), eyes, &Settings::default(), &desk).unwrap();
        let witness = Witness::at(&display, (0, 0, 800, 600));
        Self { server, desk, seat, witness }
    }

    async fn act(&self, action: Action) -> Result<Outcome, DesktopError> {
        let (job, _waiting, answer) = self.desk.open(action.into());
        self.seat.enqueue(job);
        answer.await.unwrap()
    }

    async fn done(&self, action: Action) -> String {
        match self.act(action).await.unwrap() {
            Outcome::Done(Done { message, .. }) => message,
            other => panic!("{other:?}"),
        }
    }

    /// What was pressed and let go, once it is so many.
    fn pressed(&self, count: usize) -> Vec<Seen> {
        self.seen(count, |seen| !matches!(seen, Seen::Moved(..) | Seen::Remapped))
    }

    fn seen(&self, count: usize, of_interest: impl Fn(&Seen) -> bool) -> Vec<Seen> {
        let end = Instant::now() + PATIENCE;
        let mut all = Vec::new();
        while all.len() < count && Instant::now() < end {
            all.extend(self.witness.seen().into_iter().filter(&of_interest));
        }
        all
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

#[tokio::test]
async fn the_pointer_of_other_platforms_goes_where_it_is_told_and_presses() {
    let stage = Stage::set();
    let to = |x, y| Action::MouseMove { to: Point { x, y }, duration: 0.0 };
    for (x, y) in [(0, 0), (799, 0), (799, 599), (0, 599), (400, 300)] {
        assert_eq!(stage.done(to(x, y)).await, format!("Moved mouse to ({x}, {y})"));
        let position = stage.act(Action::GetMousePosition).await;
        let signed = |number: u32| i32::try_from(number).unwrap();
        let at = Outcome::Position { x: signed(x), y: signed(y), moving: false };
        assert_eq!(position, Ok(at.clone()));
        assert_eq!(stage.seat.position(false), Ok(at));
    }
    assert_eq!(stage.act(to(800, 0)).await.unwrap_err().code, Code::OutOfBounds);
    assert_eq!(stage.witness.pointer(), (400, 300));
    stage.done(to(10, 10)).await;
    for (button, code) in [(Button::Left, 1), (Button::Middle, 2), (Button::Right, 3)] {
        stage.done(Action::MouseClick { button }).await;
        assert_eq!(stage.pressed(2), [Seen::Pressed(code, 0), Seen::Released(code)]);
    }
    for (direction, code) in
        [(Direction::Up, 4), (Direction::Down, 5), (Direction::Left, 6), (Direction::Right, 7)]
    {
        stage.done(Action::MouseScroll { direction, intensity: 2 }).await;
        let one = [Seen::Pressed(code, 0), Seen::Released(code)];
        assert_eq!(stage.pressed(4), [one.clone(), one].concat());
    }
    let (at, count) = (Some(Point { x: 30, y: 40 }), 2);
    let modifiers = vec![Modifier::Control];
    stage.done(Action::MouseClickAt { at, button: Button::Left, count, modifiers }).await;
    let clicks = |seen: &Seen| matches!(seen, Seen::Pressed(..) | Seen::Released(_));
    let one = [Seen::Pressed(1, 4), Seen::Released(1)];
    assert_eq!(stage.seen(4, clicks), [one.clone(), one].concat());
    let path = vec![Point { x: 100, y: 100 }, Point { x: 200, y: 150 }];
    let drag = Drag { path, button: Button::Left, duration: 0.05, modifiers: vec![] };
    stage.done(Action::MouseDrag(drag)).await;
    let dragged = stage.seen(1, |seen| *seen == Seen::Released(1));
    assert_eq!(dragged, [Seen::Released(1)]);
    assert_eq!(stage.witness.pointer(), (200, 150));
    assert_eq!(stage.witness.held(), (vec![], 0));
}

#[tokio::test]
async fn keys_and_text_of_other_platforms_arrive_and_nothing_stays_down() {
    let stage = Stage::set();
    let text = "Hello, World! 123".to_owned();
    stage.done(Action::KeyboardInput { text: text.clone(), secret: false }).await;
    let down = |symbol: u32| move |seen: &Seen| *seen == Seen::KeyDown(symbol);
    let typed = stage.seen(text.len(), |seen| match seen {
        // Without the modifiers that are held for them.
        Seen::KeyDown(symbol) => *symbol < 0xff00,
        _ => false,
    });
    assert_eq!(typed.len(), text.len(), "{typed:?}");
    let keys = Chords::parse("return").unwrap();
    stage.done(Action::KeyboardCommand { keys }).await;
    assert_eq!(stage.seen(1, down(0xff0d)), [Seen::KeyDown(0xff0d)]);
    stage.done(Action::KeyboardInput { text: "\r\n\t".into(), secret: false }).await;
    let seen = stage.seen(2, |seen| matches!(seen, Seen::KeyDown(_)));
    assert_eq!(seen, [Seen::KeyDown(0xff0d), Seen::KeyDown(0xff09)]);
    let key = || Chords::parse("shift").unwrap();
    assert_eq!(stage.done(Action::KeyDown { key: key() }).await, "Pressed shift");
    assert_eq!(stage.desk.states.borrow().keys, ["shift"]);
    assert_eq!(stage.done(Action::ReleaseAll).await, "Released 1 key, 0 buttons");
    assert_eq!(stage.witness.held(), (vec![], 0));
    let keys = Chords::parse("fn").unwrap();
    let error = stage.act(Action::KeyCombo { keys, repeat: 1 }).await.unwrap_err();
    assert_eq!(
        (error.code, error.text.as_str()),
        (Code::Unsupported, "this platform has no such key")
    );
}

#[tokio::test]
async fn what_other_platforms_cannot_do_is_said_and_not_listed() {
    let stage = Stage::set();
    let commands = stage.seat.commands();
    for (action, kind) in [
        (Action::WindowList, "window_list"),
        (Action::ClipboardGet, "clipboard_get"),
        (Action::ClipboardSet { text: "x".into() }, "clipboard_set"),
        (Action::WindowClose { id: 1 }, "window_close"),
    ] {
        assert_eq!(stage.act(action).await.unwrap_err().code, Code::Unsupported, "{kind}");
        assert!(!commands.iter().any(|it| it == kind), "{kind}");
    }
    assert!(commands.iter().any(|it| it == "mouse_move"));
    let Ok(Outcome::Picture(frame)) = stage.act(Action::Screenshot(Shot::default())).await else {
        panic!()
    };
    assert_eq!((frame.width, frame.height), (800, 600));
    let seen = stage.seat.glance(false).unwrap();
    assert_eq!(seen.row(5, 5, 1), [1, 2, 3, 4]);
}
