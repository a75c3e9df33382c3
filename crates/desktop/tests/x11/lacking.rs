//! Displays that lack something, or die: a clear word, and everything works again when they are back.

use kernel::desktop::{Action, Code, Outcome, Point, Shot};

use crate::{
    stage::{PATIENCE, Stage},
    witness::Witness,
};

fn moved() -> Action {
    Action::MouseMove { to: Point { x: 10, y: 20 }, duration: 0.0 }
}

#[tokio::test]
async fn a_display_without_the_means_is_refused_and_one_without_shared_memory_is_seen_all_the_same()
{
    let stage = Stage::with("640x480x24", &["-extension", "XTEST"]);
    let error = stage.act(moved()).await.unwrap_err();
    let text = format!("Mouse move failed: X server {} lacks XTEST", stage.display);
    assert_eq!((error.code, error.text), (Code::Unsupported, text));
    let stage = Stage::with("640x480x24", &["-extension", "MIT-SHM"]);
    let Ok(Outcome::Picture(frame)) = stage.act(Action::Screenshot(Shot::default())).await else {
        panic!()
    };
    assert_eq!((frame.width, frame.height), (640, 480));
}

#[tokio::test]
async fn a_display_that_dies_is_one_error_and_works_again_when_it_is_back() {
    let mut stage = Stage::numbered();
    stage.done(moved()).await;
    stage.end();
    let error = stage.act(moved()).await.unwrap_err();
    assert!(error.text.starts_with("Mouse move failed: "), "{error}");
    stage.begin_again();
    let back = async { while stage.act(moved()).await.is_err() {} };
    tokio::time::timeout(PATIENCE, back).await.unwrap();
    let witness = Witness::at(&stage.display, (0, 0, 10, 10));
    assert_eq!(witness.pointer(), (10, 20));
}
