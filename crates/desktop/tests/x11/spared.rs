//! Windows of programs that keep passwords get no input, however it would reach them.

use kernel::desktop::{Action, Button, Chords, Code, DesktopError, Drag, Outcome, Point};
use x11rb::{
    connection::Connection as _,
    protocol::xproto::{
        AtomEnum, ConnectionExt as _, CreateWindowAux, PropMode, Window, WindowClass,
    },
    wrapper::ConnectionExt as _,
};

use crate::{
    stage::Stage,
    witness::{Seen, Witness},
};

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

/// A program calls itself this, on one of its windows.
pub fn name(witness: &Witness, window: Window, name: &str) {
    let (named, text) = (AtomEnum::WM_CLASS, AtomEnum::STRING);
    let class = format!("{}\0{name}\0", name.to_lowercase());
    let conn = &witness.conn;
    let changed = conn.change_property8(PropMode::REPLACE, window, named, text, class.as_bytes());
    changed.unwrap().check().unwrap();
    // Everybody has been told of it once the server answers another question.
    witness.pointer();
}

fn pressed(witness: &Witness) -> Vec<Seen> {
    witness.touched().into_iter().filter(|it| !matches!(it, Seen::Moved(..))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_keeps_passwords_is_neither_clicked_nor_typed_into() {
    let stage = Stage::set();
    let vault = Witness::at(&stage.display, (400, 400, 200, 200));
    name(&vault, vault.window, "KeePassXC");
    refused(stage.act(click(Some(WITHIN))).await);
    let drag =
        Drag { path: vec![BESIDE, WITHIN], button: Button::Left, duration: 0.0, modifiers: vec![] };
    refused(stage.act(Action::MouseDrag(drag)).await);
    refused(stage.act(Action::KeyboardInput { text: "x".into(), secret: false }).await);
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
    assert_eq!(pressed(&vault), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_comes_or_changes_its_name_between_two_clicks_is_noticed() {
    let stage = Stage::set();
    stage.done(click(Some(WITHIN))).await;
    let vault = Witness::at(&stage.display, (400, 400, 200, 200));
    stage.done(click(Some(WITHIN))).await;
    let one = [Seen::Pressed(1, 0), Seen::Released(1)];
    assert_eq!(pressed(&vault), one);
    name(&vault, vault.window, "KeePassXC");
    refused(stage.act(click(Some(WITHIN))).await);
    stage.done(click(Some(BESIDE))).await;
    name(&vault, vault.window, "Calculator");
    stage.done(click(Some(WITHIN))).await;
    assert_eq!(pressed(&vault), one);
    // As a manager of windows would have it: in a frame that says nothing of itself.
    let frame = Witness::at(&stage.display, (400, 400, 250, 250));
    let (conn, within) = (&frame.conn, frame.conn.generate_id().unwrap());
    let (aux, output) = (CreateWindowAux::new(), WindowClass::INPUT_OUTPUT);
    let made = conn.create_window(0, within, frame.root, 0, 0, 50, 50, 0, output, 0, &aux);
    made.unwrap().check().unwrap();
    name(&frame, within, "KeePassXC");
    stage.done(click(Some(WITHIN))).await;
    conn.reparent_window(within, frame.window, 0, 0).unwrap().check().unwrap();
    conn.map_window(within).unwrap().check().unwrap();
    frame.pointer();
    refused(stage.act(click(Some(WITHIN))).await);
    conn.destroy_window(frame.window).unwrap().check().unwrap();
    frame.pointer();
    stage.done(click(Some(WITHIN))).await;
}
