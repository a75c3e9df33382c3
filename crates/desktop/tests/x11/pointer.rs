//! The pointer is where it should be, and what it presses arrives.

use std::time::Duration;

use kernel::desktop::{
    Action, Button, Code, Desktop as _, DesktopError, Direction, Drag, Modifier, Order, Outcome,
    Point,
};
use tokio::time::Instant;
use x11rb::protocol::xproto::ConnectionExt as _;

use crate::{
    stage::{Stage, settings},
    witness::{Seen, Witness},
};

fn to(x: u32, y: u32, duration: f64) -> Action {
    Action::MouseMove { to: Point { x, y }, duration }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pointer_goes_where_it_is_told_and_nowhere_else() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 10, 10));
    for (x, y) in [(0, 0), (1919, 0), (1919, 1079), (0, 1079), (960, 540)] {
        let said = stage.done(to(x, y, if x == 960 { 0.05 } else { -1.0 })).await;
        assert_eq!(said, format!("Moved mouse to ({x}, {y})"));
        let at = (i16::try_from(x).unwrap(), i16::try_from(y).unwrap());
        assert_eq!(witness.pointer(), at);
    }
    for (x, y) in [(1920, 300), (5000, 300), (4_000_000_000, 0), (3, 1080)] {
        let text = format!(
            "Mouse move failed: Out of bounds error: Out of bounds at positions x,y :{x}, {y}"
        );
        let error = DesktopError::new(Code::OutOfBounds, text);
        assert_eq!(stage.act(to(x, y, 0.0)).await, Err(error));
        assert_eq!(witness.pointer(), (960, 540));
    }
    let by = |dx, dy| Action::MouseMoveBy { dx, dy, duration: 0.0 };
    assert_eq!(stage.done(by(-60, 60)).await, "Moved mouse to (900, 600)");
    let text = "Mouse move failed: Out of bounds error: Out of bounds at positions x,y :-100, 600";
    let error = DesktopError::new(Code::OutOfBounds, text);
    assert_eq!(stage.act(by(-1000, 0)).await, Err(error));
    let position = stage.act(Action::GetMousePosition).await;
    assert_eq!(position, Ok(Outcome::Position { x: 900, y: 600, moving: false }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_move_passes_between_and_takes_its_time() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 1920, 1080));
    stage.done(to(100, 100, 0.0)).await;
    witness.seen();
    let begun = Instant::now();
    stage.done(to(1100, 600, 0.4)).await;
    assert!(begun.elapsed() >= Duration::from_millis(400));
    let seen = witness.seen();
    let between = seen.iter().filter(|seen| {
        matches!(seen, Seen::Moved(x, y) if (101..1100).contains(x) && (101..600).contains(y))
    });
    assert!(between.count() >= 5, "{seen:?}");
    assert_eq!(seen.last(), Some(&Seen::Moved(1100, 600)));
    // No more often than 120 times in a second, whatever the machine could do: that is what it costs.
    assert!(seen.len() <= 48, "{}", seen.len());
    for (x, duration) in [(300, 0.0), (400, -1.0)] {
        stage.done(to(x, 300, duration)).await;
        assert_eq!(witness.seen(), [Seen::Moved(i16::try_from(x).unwrap(), 300)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cancelled_stops_at_once_and_the_next_goes_on() {
    let stage = Stage::set();
    stage.done(to(10, 10, 0.0)).await;
    let slow = Order { id: "slow".into(), ..to(1900, 1000, 250.0).into() };
    let queued = Order { id: "queued".into(), ..to(1, 1, 250.0).into() };
    let last = to(500, 500, 0.0);
    let look = async {
        loop {
            let Outcome::Position { moving, .. } =
                stage.act(Action::GetMousePosition).await.unwrap()
            else {
                panic!()
            };
            if moving && stage.local.states().borrow().queue == 3 {
                break;
            }
        }
        assert_eq!(stage.local.cancel(Some("queued".into())).await, Ok(1));
        assert_eq!(stage.local.cancel(Some("slow".into())).await, Ok(1));
        assert_eq!(stage.local.cancel(Some("nobody".into())).await, Ok(0));
    };
    let acts = (stage.local.act(slow), stage.local.act(queued), stage.done(last), look);
    let (slow, queued, last, ()) = futures::join!(acts.0, acts.1, acts.2, acts.3);
    assert_eq!(slow, Err(DesktopError::cancelled()));
    assert_eq!(queued, Err(DesktopError::cancelled()));
    assert_eq!(last, "Moved mouse to (500, 500)");
}

#[tokio::test(flavor = "multi_thread")]
async fn clicks_and_turns_of_the_wheel_arrive_as_they_were_meant() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 1920, 1080));
    stage.done(to(200, 200, 0.0)).await;
    witness.seen();
    for (button, code) in [(Button::Left, 1), (Button::Middle, 2), (Button::Right, 3)] {
        let said = stage.done(Action::MouseClick { button }).await;
        assert_eq!(said, format!("Clicked {} button", button.name()));
        assert_eq!(witness.seen(), [Seen::Pressed(code, 0), Seen::Released(code)]);
    }
    // Whoever is clicked does not get the focus by that.
    let other = Witness::at(&stage.display, (500, 500, 50, 50));
    let focus = || other.conn.get_input_focus().unwrap().reply().unwrap().focus;
    stage.done(Action::MouseClick { button: Button::Left }).await;
    assert_eq!(witness.seen(), [Seen::Pressed(1, 0), Seen::Released(1)]);
    assert_eq!(focus(), other.window);
    for (direction, code) in
        [(Direction::Up, 4), (Direction::Down, 5), (Direction::Left, 6), (Direction::Right, 7)]
    {
        stage.done(Action::MouseScroll { direction, intensity: 2 }).await;
        let one = [Seen::Pressed(code, 0), Seen::Released(code)];
        assert_eq!(witness.seen(), [one.clone(), one].concat());
        stage.done(Action::MouseScroll { direction, intensity: 0 }).await;
        assert_eq!(witness.seen(), []);
    }
    let action = Action::MouseScroll { direction: Direction::Up, intensity: 4_000_000_000 };
    let error = stage.act(action).await.unwrap_err();
    assert_eq!(error.text, "Scroll failed: intensity must be at most 100, not 4000000000");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_clicks_carry_what_is_held_and_end_with_nothing_held() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 1920, 1080));
    let action = Action::MouseClickAt {
        at: Some(Point { x: 30, y: 40 }),
        button: Button::Left,
        count: 2,
        modifiers: vec![Modifier::Control, Modifier::Shift],
    };
    assert_eq!(stage.done(action).await, "Double-clicked left button at (30, 40)");
    let held = 1 | 4;
    let clicks: Vec<Seen> = witness
        .seen()
        .into_iter()
        .filter(|seen| matches!(seen, Seen::Pressed(..) | Seen::Released(_)))
        .collect();
    let one = [Seen::Pressed(1, held), Seen::Released(1)];
    assert_eq!(clicks, [one.clone(), one].concat());
    assert_eq!(witness.held(), (vec![], 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drag_presses_at_its_beginning_and_lets_go_at_its_end() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 1920, 1080));
    stage.done(to(5, 5, 0.0)).await;
    witness.seen();
    let points = [(100, 100), (300, 120), (320, 400)];
    let path = points.map(|(x, y)| Point { x, y }).into();
    let drag = Drag { path, button: Button::Left, duration: 0.1, modifiers: vec![] };
    let said = stage.done(Action::MouseDrag(drag)).await;
    assert_eq!(said, "Dragged left button from (100, 100) to (320, 400)");
    let seen = witness.seen();
    assert_eq!(seen[..2], [Seen::Moved(100, 100), Seen::Pressed(1, 0)]);
    assert_eq!(seen[seen.len() - 2..], [Seen::Moved(320, 400), Seen::Released(1)]);
    assert!(seen.contains(&Seen::Moved(300, 120)), "{seen:?}");
    assert!(seen.len() > 8, "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_stays_down_until_it_is_let_go() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 1920, 1080));
    let up = || Action::MouseUp { button: Button::Left, at: None };
    let error = stage.act(up()).await.unwrap_err();
    assert_eq!(error.text, "Mouse up failed: the left button is not down");
    let down = Action::MouseDown { button: Button::Left, at: Some(Point { x: 7, y: 8 }) };
    assert_eq!(stage.done(down).await, "Pressed left button at (7, 8)");
    assert_eq!(witness.held(), (vec![], 0x100));
    assert_eq!(stage.local.states().borrow().buttons, ["left"]);
    assert_eq!(stage.done(up()).await, "Released left button at (7, 8)");
    assert_eq!(witness.held(), (vec![], 0));
    let down = Action::MouseDown { button: Button::Right, at: None };
    stage.done(down).await;
    assert_eq!(stage.done(Action::ReleaseAll).await, "Released 0 keys, 1 button");
    assert_eq!(witness.held(), (vec![], 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_ends_where_something_fails() {
    let stage = Stage::set();
    let actions = vec![to(1, 2, 0.0), to(9999, 2, 0.0), to(3, 4, 0.0)];
    let batch = Action::Batch { actions, stop_on_error: true };
    let Ok(Outcome::Batch(results)) = stage.act(batch).await else { panic!() };
    let codes: Vec<_> = results.iter().map(|it| it.as_ref().err().map(|it| it.code)).collect();
    assert_eq!(codes, [None, Some(Code::OutOfBounds)]);
    let many = Action::Batch { actions: vec![to(1, 2, 0.0); 25], stop_on_error: true };
    let error = stage.act(many).await.unwrap_err();
    assert_eq!(error.text, "a batch has between 1 and 24 actions, not 25");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_display_the_answer_says_so() {
    let folder = tempfile::tempdir().unwrap();
    for (display, complaint) in [
        (":59000", "cannot reach X server :59000: "),
        (":64999", "`:64999` does not name a display; `:0` would"),
        ("nonsense", "`nonsense` does not name a display; `:0` would"),
    ] {
        let nowhere = desktop::Local::new(settings(display, folder.path().join("journal")));
        let error = nowhere.act(to(1, 1, 0.0).into()).await.unwrap_err();
        assert_eq!(error.code, Code::NoDisplay);
        assert!(error.text.starts_with(&format!("Mouse move failed: {complaint}")), "{error}");
        assert_eq!(nowhere.info().await.unwrap_err().code, Code::NoDisplay);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_clicks_select_a_word_and_three_a_line_in_a_terminal() {
    let stage = Stage::set();
    let _terminal = stage.showing("first second third");
    let pane = stage.window("XTerm").await;
    let at = |x: u32, y: u32| {
        let from = |start: i32, by: u32| u32::try_from(start).unwrap() + by;
        Some(Point { x: from(pane.x, x), y: from(pane.y, y) })
    };
    for (count, selected) in [(2, "second"), (3, "first second third")] {
        let selection = async {
            loop {
                // In the first line, in the middle of the second word.
                let click = Action::MouseClickAt {
                    at: at(62, 9),
                    button: Button::Left,
                    count,
                    modifiers: vec![],
                };
                stage.done(click).await;
                let read = std::process::Command::new("xclip")
                    .args(["-display", &stage.display, "-selection", "primary", "-o"])
                    .output()
                    .unwrap();
                if String::from_utf8_lossy(&read.stdout).trim_end() == selected {
                    return;
                }
                // Clicks that come too soon would be taken for more of the same.
                stage.done(Action::Wait(kernel::desktop::Waiting::For(1.0))).await;
            }
        };
        tokio::time::timeout(crate::stage::PATIENCE, selection).await.unwrap();
    }
}
