//! Windows are listed, put in front and closed as far as a compositor tells of them; the clipboard too.

use desktop::{Local, Settings};
use kernel::desktop::{Action, Button, Code, Desktop as _, DesktopError, Outcome};

use crate::{
    stage::{Stage, settings},
    witness::Seen,
};

fn typed(text: &str) -> Action {
    Action::KeyboardInput { text: text.into(), secret: false }
}

#[tokio::test]
async fn windows_are_listed_put_in_front_and_closed_and_some_are_spared() {
    let Some(stage) = Stage::set() else { return };
    let first = stage.witness("first").await;
    let _second = stage.witness("KeePassXC").await;
    stage.window("KeePassXC").await;
    let windows = stage.windows().await;
    let told: Vec<_> = windows.iter().map(|it| (it.class.as_str(), it.focused)).collect();
    assert_eq!(told, [("KeePassXC", true), ("first", false)]);
    assert_eq!(windows[1].title, "The window of first");
    let denied = DesktopError::new(Code::Denied, "windows of KeePassXC get no input");
    assert_eq!(stage.act(typed("secret")).await, Err(denied.clone()));
    // Where it lies cannot be told, so nothing is clicked while it shows.
    assert_eq!(stage.act(Action::MouseClick { button: Button::Left }).await, Err(denied.clone()));
    let id = windows[0].id;
    assert_eq!(stage.act(Action::WindowClose { id }).await, Err(denied));
    let said = stage.done(Action::WindowFocus { id: windows[1].id }).await;
    assert_eq!(said, "Focused window The window of first");
    stage.done(typed("x")).await;
    first.until(&Seen::Key { code: 45, down: false });
    let error = stage.act(Action::WindowFocus { id: 0 }).await.unwrap_err();
    assert_eq!(error.text, "Window focus failed: no window has the id 0");
    let moved = Action::WindowMove { id, x: Some(1), y: None, w: None, h: None };
    assert_eq!(stage.act(moved).await.unwrap_err().code, Code::Unsupported);
    let said = stage.done(Action::WindowClose { id: windows[1].id }).await;
    assert_eq!(said, "Closed window The window of first");
    assert_eq!(stage.windows().await.len(), 1);
    let open = Local::new(Settings { denied: Vec::new(), ..settings(&stage.socket) });
    open.act(typed("x").into()).await.unwrap();
}

#[tokio::test]
async fn the_clipboard_is_read_and_set_until_somebody_else_sets_it() {
    let Some(stage) = Stage::set() else { return };
    let other = Local::new(settings(&stage.socket));
    let set = |text: &str| Action::ClipboardSet { text: text.into() };
    let held = |text: &str| Ok(Outcome::Clipboard { text: Some(text.into()) });
    assert_eq!(stage.act(Action::ClipboardGet).await, held(""));
    assert_eq!(stage.done(set("naïve 漢字")).await, "Clipboard set (8 characters)");
    assert_eq!(stage.act(Action::ClipboardGet).await, held("naïve 漢字"));
    assert_eq!(other.act(Action::ClipboardGet.into()).await, held("naïve 漢字"));
    let long = "0123456789".repeat(100_000);
    other.act(set(&long).into()).await.unwrap();
    assert_eq!(stage.act(Action::ClipboardGet).await, held(&long));
    // It stays when whoever set it has gone.
    drop(other);
    assert_eq!(stage.act(Action::ClipboardGet).await, held(&long));
}
