//! Windows of programs that keep passwords get no input, however it would reach them.

use kernel::desktop::{Action, Button, Chords, Code, DesktopError, Drag, Outcome, Point};
use x11rb::{
    protocol::xproto::{AtomEnum, PropMode},
    wrapper::ConnectionExt as _,
};

use crate::{stage::Stage, witness::Witness};

const WITHIN: Point = Point { x: 500, y: 500 };
const BESIDE: Point = Point { x: 50, y: 50 };

fn click(at: Option<Point>) -> Action {
    Action::MouseClickAt { at, button: Button::Left, count: 1, modifiers: vec![] }
}

fn refused(result: Result<Outcome, DesktopError>) {
    let error = result.unwrap_err();
    assert_eq!(error.code, Code::Denied);
    assert!(error.text.ends_with("windows of KeePassXC get no input"), "{}", error.text);
}

#[tokio::test]
async fn a_window_that_keeps_passwords_is_neither_clicked_nor_typed_into() {
    let stage = Stage::set();
    let vault = Witness::at(&stage.display, (400, 400, 200, 200));
    let (class, text) = (b"keepassxc\0KeePassXC\0", AtomEnum::STRING);
    let named = AtomEnum::WM_CLASS;
    vault.conn.change_property8(PropMode::REPLACE, vault.window, named, text, class).unwrap();
    vault.seen();
    refused(stage.act(click(Some(WITHIN))).await);
    let drag =
        Drag { path: vec![BESIDE, WITHIN], button: Button::Left, duration: 0.0, modifiers: vec![] };
    refused(stage.act(Action::MouseDrag(drag)).await);
    refused(stage.act(Action::KeyboardInput { text: "x".into() }).await);
    let keys = Chords::parse("ctrl+c").unwrap();
    refused(stage.act(Action::KeyCombo { keys, repeat: 1 }).await);
    refused(stage.act(Action::WindowClose { id: vault.window }).await);
    // A pointer that passes over it does no harm, but what is pressed there would.
    stage.done(Action::MouseMove { to: WITHIN, duration: 0.0 }).await;
    refused(stage.act(Action::MouseClick { button: Button::Left }).await);
    let actions = vec![click(Some(BESIDE)), click(Some(WITHIN))];
    let batch = stage.act(Action::Batch { actions, stop_on_error: true }).await.unwrap();
    let Outcome::Batch(mut results) = batch else { panic!("{batch:?}") };
    refused(results.pop().unwrap());
    assert!(results.pop().unwrap().is_ok());
    let pressed =
        vault.touched().into_iter().filter(|it| !matches!(it, crate::witness::Seen::Moved(..)));
    assert_eq!(pressed.collect::<Vec<_>>(), []);
}
