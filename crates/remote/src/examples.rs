//! One order of every kind, for tests.

use kernel::desktop::{
    Action, After, Button, Chords, Direction, Drag, Format, Method, Modifier, Order, Point, Rect,
    Shot, Waiting,
};

/// With everything said that can be said.
pub fn orders() -> Vec<Order> {
    let at = Point { x: 5, y: 6 };
    let region = Rect { x: 1, y: 2, w: 30, h: 40 };
    let shot = Shot {
        display: Some(1),
        region: Some(region),
        max_edge: 800,
        format: Format::Jpeg,
        quality: 50,
        cursor: false,
    };
    let keys = || Chords::parse("ctrl+shift+t").unwrap();
    let modifiers = vec![Modifier::Control, Modifier::Shift];
    let drag = Drag {
        path: vec![at, Point { x: 50, y: 60 }],
        button: Button::Middle,
        duration: 0.25,
        modifiers: modifiers.clone(),
    };
    let text = "grüße\n\"漢字\"".to_owned();
    let typed = |secret| Action::KeyboardType {
        text: text.clone(),
        method: Method::Paste,
        secret,
        delay_ms: 5,
    };
    let actions = vec![
        Action::MouseMove { to: at, duration: 1.5 },
        Action::MouseMove { to: at, duration: -1.0 },
        Action::MouseClick { button: Button::Right },
        Action::MouseScroll { direction: Direction::Left, intensity: 0 },
        Action::KeyboardInput { text: text.clone(), secret: false },
        Action::KeyboardInput { text: text.clone(), secret: true },
        Action::KeyboardCommand { keys: Chords::parse("page_up").unwrap() },
        Action::Screenshot(shot),
        Action::GetMousePosition,
        Action::MouseMoveBy { dx: -5, dy: 5, duration: 0.5 },
        Action::MouseClickAt { at: None, button: Button::Back, count: 1, modifiers: Vec::new() },
        Action::MouseClickAt {
            at: Some(at),
            button: Button::Left,
            count: 3,
            modifiers: modifiers.clone(),
        },
        Action::MouseDown { button: Button::Left, at: Some(at) },
        Action::MouseUp { button: Button::Forward, at: None },
        Action::MouseDrag(drag),
        Action::MouseScrollAt { at, direction: Direction::Down, intensity: 9, modifiers },
        Action::KeyCombo { keys: keys(), repeat: 3 },
        Action::HoldKey { keys: keys(), duration: 2.0 },
        Action::KeyDown { key: Chords::parse("shift").unwrap() },
        Action::KeyUp { key: Chords::parse("shift").unwrap() },
        typed(true),
        Action::Wait(Waiting::For(1.5)),
        Action::Wait(Waiting::Stable { timeout: 3.0 }),
        Action::Zoom(shot),
        Action::ScreenInfo,
        Action::WindowList,
        Action::WindowFocus { id: 7 },
        Action::WindowMove { id: 7, x: Some(-4), y: None, w: Some(100), h: None },
        Action::WindowClose { id: 7 },
        Action::ClipboardGet,
        Action::ClipboardSet { text: text.clone() },
        Action::Batch {
            actions: vec![typed(false), Action::MouseClick { button: Button::Left }],
            stop_on_error: false,
        },
        Action::ReleaseAll,
    ];
    let mut orders: Vec<Order> = actions.into_iter().map(Order::from).collect();
    let kinds = orders.iter().map(|order| order.action.kind());
    let missing = Action::KINDS.iter().filter(|kind| !kinds.clone().any(|it| it == **kind));
    assert_eq!(missing.count(), 0);
    orders.push(Order {
        id: "cmd_3_4".to_owned(),
        action: Action::KeyCombo { keys: keys(), repeat: 1 },
        after: Some(After { settle_ms: 300, shot }),
    });
    orders
}
