//! Windows where a manager of windows has them: listed, focused, typed into, moved and closed through it.

use std::process::{Child, Command, Stdio};

use kernel::desktop::{Action, Pane};

use crate::{
    manager::{self, is_managed},
    stage::{PATIENCE, Stage},
};

/// A program that does not outlive its test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn start(stage: &Stage, command: &mut Command) -> Program {
    command.env("DISPLAY", &stage.display).env("HOME", stage.folder.path());
    Program(
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap(),
    )
}

#[tokio::test]
async fn windows_are_focused_moved_and_closed_through_their_manager() {
    let stage = Stage::set();
    manager::begin(&stage.display);
    are_driven(&stage).await;
}

/// Only where one is installed: the one above is always there.
#[tokio::test]
async fn a_manager_that_people_use_does_as_it_is_told_too() {
    if Command::new("openbox").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: openbox is not installed, `make display` tries to");
        return;
    }
    let stage = Stage::set();
    let _manager = start(&stage, Command::new("openbox").arg("--sm-disable"));
    let begun = async { while !is_managed(&stage.display) {} };
    tokio::time::timeout(PATIENCE, begun).await.unwrap();
    are_driven(&stage).await;
}

async fn are_driven(stage: &Stage) {
    let mut terminal = stage.terminal().await;
    let first = stage.window("XTerm").await;
    let other = ["-class", "Other", "-T", "the other", "-geometry", "20x5+600+400", "-e", "cat"];
    let _other = start(stage, Command::new("xterm").args(other));
    let second = stage.window("Other").await;
    assert_eq!((second.title.as_str(), second.minimized), ("the other", false));
    let mut ids: Vec<u32> = stage.windows().await.iter().map(|pane| pane.id).collect();
    ids.sort_unstable();
    let mut expected = [first.id, second.id];
    expected.sort_unstable();
    assert_eq!(ids, expected);
    for pane in [&second, &first] {
        let said = stage.done(Action::WindowFocus { id: pane.id }).await;
        assert_eq!(said, format!("Focused window {}", pane.title));
        let windows = stage.windows().await;
        let focused: Vec<u32> = windows.iter().filter(|it| it.focused).map(|it| it.id).collect();
        assert_eq!(focused, [pane.id]);
    }
    stage.done(Action::KeyboardInput { text: "into the first".into(), secret: false }).await;
    assert_eq!(terminal.read(14), "into the first");

    let moved = Action::WindowMove { id: second.id, x: Some(700), y: Some(300), w: None, h: None };
    assert_eq!(stage.done(moved).await, "Moved window the other");
    let now = stage.window("Other").await;
    assert_eq!((now.x, now.y, now.w, now.h), (700, 300, second.w, second.h));
    assert_eq!(stage.done(Action::WindowClose { id: second.id }).await, "Closed window the other");
    let left: Vec<Pane> = stage.windows().await;
    assert_eq!(left.iter().map(|pane| pane.id).collect::<Vec<_>>(), [first.id]);
    let error =
        stage.act(Action::WindowMove { id: second.id, x: Some(1), y: None, w: None, h: None });
    let text = format!("Window move failed: no window has the id {}", second.id);
    assert_eq!(error.await.unwrap_err().text, text);
}
