//! The pointer is where it should be, and what it presses arrives.

use std::{
    process::{Command, Stdio},
    time::Duration,
};

use desktop::{Local, Settings};
use kernel::desktop::{
    Action, Button, Code, Desktop as _, DesktopError, Direction, Drag, Modifier, Order, Outcome,
    Point,
};
use tokio::time::Instant;

use crate::{
    stage::{Stage, settings},
    witness::Seen,
};

fn to(x: u32, y: u32, duration: f64) -> Action {
    Action::MouseMove { to: Point { x, y }, duration }
}

fn is_button(seen: &Seen) -> bool {
    matches!(seen, Seen::Button { .. })
}

#[tokio::test]
async fn the_pointer_goes_where_it_is_told_and_nowhere_else() {
    let Some(stage) = Stage::set() else { return };
    let error = stage.act(Action::GetMousePosition).await.unwrap_err();
    assert_eq!(error.code, Code::Unsupported);
    let text = "Failed to get mouse position: \
                Wayland does not tell where the pointer is before it was moved from here";
    assert_eq!(error.text, text);
    let error = stage.act(Action::MouseMoveBy { dx: 1, dy: 1, duration: 0.0 }).await.unwrap_err();
    assert_eq!(error.code, Code::Unsupported);
    let witness = stage.witness("witness").await;
    for (x, y) in [(0, 0), (639, 0), (639, 479), (0, 479), (320, 240)] {
        let said = stage.done(to(x, y, if x == 320 { 0.05 } else { -1.0 })).await;
        assert_eq!(said, format!("Moved mouse to ({x}, {y})"));
        let at = Seen::Moved(i32::try_from(x).unwrap(), i32::try_from(y).unwrap());
        assert_eq!(witness.until(&at).last(), Some(&at));
    }
    for (x, y) in [(640, 300), (5000, 300), (4_000_000_000, 0), (3, 480)] {
        let text = format!(
            "Mouse move failed: Out of bounds error: Out of bounds at positions x,y :{x}, {y}"
        );
        let error = DesktopError::new(Code::OutOfBounds, text);
        assert_eq!(stage.act(to(x, y, 0.0)).await, Err(error));
    }
    let by = |dx, dy| Action::MouseMoveBy { dx, dy, duration: 0.0 };
    assert_eq!(stage.done(by(-20, 60)).await, "Moved mouse to (300, 300)");
    // What was out of bounds moved nothing.
    assert_eq!(witness.next(), Seen::Moved(300, 300));
    let position = stage.act(Action::GetMousePosition).await;
    assert_eq!(position, Ok(Outcome::Position { x: 300, y: 300, moving: false }));
    let begun = Instant::now();
    stage.done(to(600, 400, 0.4)).await;
    assert!(begun.elapsed() >= Duration::from_millis(400));
    let seen = witness.until(&Seen::Moved(600, 400));
    assert!(seen.len() > 5, "{seen:?}");
}

#[tokio::test]
async fn what_is_pressed_and_turned_arrives_as_it_was_meant() {
    let Some(stage) = Stage::set() else { return };
    let witness = stage.witness("witness").await;
    stage.done(to(200, 100, 0.0)).await;
    let button = |code, down| Seen::Button { code, down };
    for (pressed, code) in [(Button::Left, 0x110), (Button::Right, 0x111), (Button::Middle, 0x112)]
    {
        let said = stage.done(Action::MouseClick { button: pressed }).await;
        assert_eq!(said, format!("Clicked {} button", pressed.name()));
        assert_eq!(witness.seen(2, is_button), [button(code, true), button(code, false)]);
    }
    for (direction, across, steps) in [
        (Direction::Up, false, -1),
        (Direction::Down, false, 1),
        (Direction::Left, true, -1),
        (Direction::Right, true, 1),
    ] {
        stage.done(Action::MouseScroll { direction, intensity: 2 }).await;
        let turned = Seen::Turned { across, steps };
        let seen = witness.seen(2, |seen| matches!(seen, Seen::Turned { .. }));
        assert_eq!(seen, [turned.clone(), turned]);
    }
    let at = Some(Point { x: 30, y: 40 });
    let modifiers = vec![Modifier::Control, Modifier::Shift];
    let twice = Action::MouseClickAt { at, button: Button::Left, count: 2, modifiers };
    assert_eq!(stage.done(twice).await, "Double-clicked left button at (30, 40)");
    let seen = witness.until(&Seen::Modifiers(0, 0));
    let held = seen.iter().position(|it| *it == Seen::Modifiers(1 | 4, 0)).unwrap();
    let clicks: Vec<&Seen> = seen[held..].iter().filter(|it| is_button(it)).collect();
    let click = [&button(0x110, true), &button(0x110, false)];
    assert_eq!(clicks, [click, click].concat());
    let path = [(100, 100), (300, 120), (320, 400)].map(|(x, y)| Point { x, y }).into();
    let drag = Drag { path, button: Button::Left, duration: 0.1, modifiers: vec![] };
    let said = stage.done(Action::MouseDrag(drag)).await;
    assert_eq!(said, "Dragged left button from (100, 100) to (320, 400)");
    let seen = witness.until(&button(0x110, false));
    let pressed = seen.iter().position(|it| *it == button(0x110, true)).unwrap();
    assert_eq!(seen[pressed - 1], Seen::Moved(100, 100));
    assert!(seen[pressed..].contains(&Seen::Moved(300, 120)), "{seen:?}");
    assert_eq!(seen[seen.len() - 2], Seen::Moved(320, 400));
}

#[tokio::test]
async fn what_is_held_stays_down_until_it_is_let_go_and_goes_with_us() {
    let Some(mut stage) = Stage::set() else { return };
    let witness = stage.witness("witness").await;
    let up = || Action::MouseUp { button: Button::Left, at: None };
    let error = stage.act(up()).await.unwrap_err();
    assert_eq!(error.text, "Mouse up failed: the left button is not down");
    let down = |button| Action::MouseDown { button, at: Some(Point { x: 7, y: 8 }) };
    assert_eq!(stage.done(down(Button::Left)).await, "Pressed left button at (7, 8)");
    assert_eq!(stage.local.states().borrow().buttons, ["left"]);
    assert_eq!(stage.done(up()).await, "Released left button at (7, 8)");
    stage.done(down(Button::Right)).await;
    assert_eq!(stage.done(Action::ReleaseAll).await, "Released 0 keys, 1 button");
    let pressed = |code| [true, false].map(|down| Seen::Button { code, down });
    assert_eq!(witness.seen(4, is_button), [pressed(0x110), pressed(0x111)].concat());
    // What is still held when everything ends comes up.
    let key = kernel::desktop::Chords::parse("shift").unwrap();
    stage.done(Action::KeyDown { key }).await;
    stage.done(down(Button::Left)).await;
    assert_eq!(stage.local.states().borrow().keys, ["shift"]);
    stage.leave();
    let ends = [Seen::Key { code: 42, down: false }, Seen::Button { code: 0x110, down: false }];
    let mut seen = witness.seen(2, |seen| ends.contains(seen));
    seen.sort_by_key(is_button);
    assert_eq!(seen, ends);
}

/// Not a test: what is killed in the next one. It holds a key and a button, for ever.
#[tokio::test]
#[ignore = "run by another test, and killed by it"]
async fn one_who_holds_until_it_is_killed() {
    let socket = std::env::var_os("HOLDER_SOCKET").unwrap();
    let journal = std::env::var_os("HOLDER_JOURNAL").map(Into::into);
    let ourselves = std::env::current_exe().unwrap().into_os_string();
    let watch = ["--ignored", "--exact", "pointer::one_who_watches", "--nocapture", "--"];
    let watch = std::iter::once(ourselves).chain(watch.map(Into::into));
    let guarded = std::env::var("HOLDER_GUARD").is_ok();
    let guard = if guarded { watch.collect() } else { Vec::new() };
    let local = Local::new(Settings { journal, guard, ..settings(socket.as_ref()) });
    let key = kernel::desktop::Chords::parse("shift").unwrap();
    local.act(Action::KeyDown { key }.into()).await.unwrap();
    let at = Some(Point { x: 7, y: 8 });
    local.act(Action::MouseDown { button: Button::Left, at }.into()).await.unwrap();
    std::future::pending::<()>().await;
}

/// Not a test: what is left behind by one who is killed.
#[test]
#[ignore = "run by another test"]
fn one_who_watches() {
    let told: Vec<_> = std::env::args_os().skip_while(|it| it != "--").skip(1).collect();
    desktop::guard(&told);
}

#[tokio::test]
async fn one_who_is_killed_holds_nothing_once_their_guard_or_another_has_come() {
    let Some(stage) = Stage::set() else { return };
    let witness = stage.witness("witness").await;
    for guarded in [true, false] {
        let journal = stage.folder.path().join(format!("{guarded}.json"));
        let mut holder = Command::new(std::env::current_exe().unwrap());
        holder
            .args(["--ignored", "--exact", "pointer::one_who_holds_until_it_is_killed"])
            .env("HOLDER_SOCKET", &stage.socket)
            .env("HOLDER_JOURNAL", &journal)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if guarded {
            holder.env("HOLDER_GUARD", "yes");
        }
        let mut holder = holder.spawn().unwrap();
        witness.until(&Seen::Button { code: 0x110, down: true });
        holder.kill().unwrap();
        holder.wait().unwrap();
        if !guarded {
            let journal = Some(journal.clone());
            Local::new(Settings { journal, ..settings(&stage.socket) }).mend().await;
            assert!(!stage.folder.path().join("false.wayland").exists());
        }
        let ends = [Seen::Key { code: 42, down: false }, Seen::Button { code: 0x110, down: false }];
        let mut seen = witness.seen(2, |seen| ends.contains(seen));
        seen.sort_by_key(is_button);
        assert_eq!(seen, ends);
    }
}

#[tokio::test]
async fn what_is_cancelled_stops_at_once_and_a_batch_where_something_fails() {
    let Some(stage) = Stage::set() else { return };
    stage.done(to(10, 10, 0.0)).await;
    let slow = Order { id: "slow".into(), ..to(600, 400, 250.0).into() };
    let look = async {
        loop {
            let seen = stage.act(Action::GetMousePosition).await.unwrap();
            if matches!(seen, Outcome::Position { moving: true, .. }) {
                break;
            }
        }
        assert_eq!(stage.local.cancel(Some("slow".into())).await, Ok(1));
    };
    let (slow, last, ()) = futures::join!(stage.local.act(slow), stage.done(to(5, 5, 0.0)), look);
    assert_eq!(slow, Err(DesktopError::cancelled()));
    assert_eq!(last, "Moved mouse to (5, 5)");
    let actions = vec![to(1, 2, 0.0), to(9999, 2, 0.0), to(3, 4, 0.0)];
    let batch = Action::Batch { actions, stop_on_error: true };
    let Ok(Outcome::Batch(results)) = stage.act(batch).await else { panic!() };
    let codes: Vec<_> = results.iter().map(|it| it.as_ref().err().map(|it| it.code)).collect();
    assert_eq!(codes, [None, Some(Code::OutOfBounds)]);
}
