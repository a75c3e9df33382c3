//! Whoever sits in front of the screen sees that it may be driven, and is not kept from anything by that.

use kernel::desktop::{Action, Button, Desktop as _, Outcome, Rect, Shot};

use crate::{
    stage::{PATIENCE, Stage},
    witness::{Seen, Witness},
};

/// How it looks, in the upper left corner of the screen.
async fn corner(stage: &Stage) -> Vec<u8> {
    let region = Some(Rect { x: 0, y: 0, w: 40, h: 40 });
    let shot = Shot { region, cursor: false, ..Shot::default() };
    match stage.act(Action::Screenshot(shot)).await.unwrap() {
        Outcome::Picture(frame) => frame.bytes,
        other => panic!("{other:?}"),
    }
}

/// Returns when the corner looks so, or no longer looks so.
async fn looks(stage: &Stage, like: &[u8], same: bool) {
    let looked = async { while (corner(stage).await == like) != same {} };
    tokio::time::timeout(PATIENCE, looked).await.unwrap();
}

#[tokio::test]
async fn a_frame_is_in_front_of_every_window_while_a_device_is_armed_and_takes_nothing() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 1920, 1080));
    let before = corner(&stage).await;
    stage.local.indicate(true);
    looks(&stage, &before, false).await;
    let framed = corner(&stage).await;
    witness.seen();
    let at = Some(kernel::desktop::Point { x: 1, y: 1 });
    let (button, count, modifiers) = (Button::Left, 1, vec![]);
    stage.done(Action::MouseClickAt { at, button, count, modifiers }).await;
    let clicked = [Seen::Moved(1, 1), Seen::Pressed(1, 0), Seen::Released(1)];
    assert_eq!(witness.touched(), clicked);
    assert!(stage.windows().await.iter().all(|pane| pane.class.is_empty()));
    // What comes later does not lie in front of it for long.
    let later = Witness::at(&stage.display, (0, 0, 1920, 1080));
    looks(&stage, &framed, true).await;
    drop(later);
    stage.local.indicate(false);
    looks(&stage, &before, true).await;
}
