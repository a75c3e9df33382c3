//! What a desktop must do, whichever it is: this machine's, one that is connected, or one that is pretended.

use kernel::desktop::{
    Action, Button, Chords, Code, Desktop, Direction, Method, Order, Outcome, Point, Shot,
};

/// It must have a screen of 1920 by 1080, and nobody else may touch it.
pub async fn desktop(desktop: &dyn Desktop) {
    let info = desktop.info().await.unwrap();
    assert_eq!(info.screen, Some((1920, 1080)));
    what_it_does_not_offer_it_refuses(desktop, &info.commands).await;
    what_is_done_is_said(desktop).await;
    what_is_wrong_is_refused_and_changes_nothing(desktop).await;
    several_things_are_done_in_order(desktop).await;
    what_is_seen_is_shown(desktop).await;
    let state = desktop.states().borrow().clone();
    assert_eq!((state.paused, state.keys, state.buttons), (None, Vec::new(), Vec::new()));
    desktop.hand_back().await.unwrap();
    assert_eq!(desktop.act(get()).await, Ok(at(3, 4)));
}

fn get() -> Order {
    Action::GetMousePosition.into()
}

fn to(x: u32, y: u32) -> Action {
    Action::MouseMove { to: Point { x, y }, duration: 0.0 }
}

fn at(x: i32, y: i32) -> Outcome {
    Outcome::Position { x, y, moving: false }
}

async fn said(desktop: &dyn Desktop, action: Action) -> String {
    match desktop.act(action.clone().into()).await {
        Ok(Outcome::Done(done)) => done.message,
        other => panic!("{action:?}: {other:?}"),
    }
}

/// Nothing but moving windows may be missing.
async fn what_it_does_not_offer_it_refuses(desktop: &dyn Desktop, offered: &[String]) {
    let moved = Action::WindowMove { id: 1, x: Some(1), y: None, w: None, h: None };
    let wanted: Vec<&str> = Action::KINDS.into_iter().filter(|it| *it != moved.kind()).collect();
    let always: Vec<&str> =
        offered.iter().map(String::as_str).filter(|it| *it != moved.kind()).collect();
    assert_eq!(always, wanted);
    if always.len() == offered.len() {
        let error = desktop.act(moved.into()).await.unwrap_err();
        assert_eq!(error.code, Code::Unsupported, "{error}");
    }
}

async fn what_is_done_is_said(desktop: &dyn Desktop) {
    let keys = || Chords::parse("ctrl+shift+t").unwrap();
    let shift = || Chords::parse("shift").unwrap();
    let button = Button::Right;
    let here = Some(Point { x: 70, y: 80 });
    for (action, message) in [
        (to(500, 300), "Moved mouse to (500, 300)"),
        (Action::MouseClick { button }, "Clicked right button"),
        (
            Action::MouseClickAt { at: here, button, count: 2, modifiers: Vec::new() },
            "Double-clicked right button at (70, 80)",
        ),
        (
            Action::MouseScroll { direction: Direction::Up, intensity: 2 },
            "Scrolled up with intensity 2",
        ),
        (Action::KeyboardInput { text: "hi".into(), secret: false }, "Typed: hi"),
        (Action::KeyboardCommand { keys: shift() }, "Executed keyboard command: shift"),
        (Action::KeyCombo { keys: keys(), repeat: 1 }, "Pressed ctrl+shift+t"),
        (Action::KeyDown { key: shift() }, "Pressed shift"),
        (Action::KeyUp { key: shift() }, "Released shift"),
        (
            Action::KeyboardType {
                text: "héllo".into(),
                method: Method::Auto,
                secret: true,
                delay_ms: 0,
            },
            "Typed 5 characters",
        ),
        (Action::ClipboardSet { text: "abc".into() }, "Clipboard set (3 characters)"),
    ] {
        assert_eq!(said(desktop, action).await, message);
    }
    let clipboard = desktop.act(Action::ClipboardGet.into()).await;
    assert_eq!(clipboard, Ok(Outcome::Clipboard { text: Some("abc".into()) }));
    assert_eq!(desktop.act(get()).await, Ok(at(70, 80)));
}

async fn what_is_wrong_is_refused_and_changes_nothing(desktop: &dyn Desktop) {
    let many = Action::Batch { actions: vec![to(1, 2); 25], stop_on_error: true };
    let long = Action::KeyboardInput { text: "a\0".into(), secret: false };
    for (action, code) in [
        (to(1920, 300), Code::OutOfBounds),
        (to(0, 4_000_000_000), Code::OutOfBounds),
        (Action::MouseScroll { direction: Direction::Up, intensity: 101 }, Code::BadRequest),
        (long, Code::TextUnsupported),
        (many, Code::BadRequest),
    ] {
        let error = desktop.act(action.clone().into()).await.unwrap_err();
        assert_eq!(error.code, code, "{action:?}: {error}");
    }
    assert_eq!(desktop.act(get()).await, Ok(at(70, 80)));
    assert_eq!(desktop.cancel(None).await, Ok(0));
}

async fn several_things_are_done_in_order(desktop: &dyn Desktop) {
    let actions = vec![to(1, 2), to(5000, 2), to(9, 9)];
    let batch = Action::Batch { actions, stop_on_error: true };
    let Ok(Outcome::Batch(results)) = desktop.act(batch.into()).await else { panic!() };
    let codes: Vec<_> = results.iter().map(|it| it.as_ref().err().map(|it| it.code)).collect();
    assert_eq!(codes, [None, Some(Code::OutOfBounds)]);
    assert_eq!(desktop.act(get()).await, Ok(at(1, 2)));
    let actions = vec![to(5000, 2), to(3, 4)];
    let batch = Action::Batch { actions, stop_on_error: false };
    let Ok(Outcome::Batch(results)) = desktop.act(batch.into()).await else { panic!() };
    assert!(results[0].is_err() && results[1].is_ok());
}

async fn what_is_seen_is_shown(desktop: &dyn Desktop) {
    let Ok(Outcome::Screen(screen)) = desktop.act(Action::ScreenInfo.into()).await else {
        panic!()
    };
    assert_eq!((screen.w, screen.h), (1920, 1080));
    let shot = Action::Screenshot(Shot::default());
    let Ok(Outcome::Picture(frame)) = desktop.act(shot.into()).await else { panic!() };
    assert_eq!((frame.screen.w, frame.screen.h), (1920, 1080));
    assert!(!frame.bytes.is_empty() && frame.width <= 1920);
    let windows = desktop.act(Action::WindowList.into()).await;
    assert!(matches!(windows, Ok(Outcome::Windows(_))), "{windows:?}");
}
