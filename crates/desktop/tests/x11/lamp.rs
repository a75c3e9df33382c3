//! Whoever sits in front of the screen sees that it may be driven, and is not kept from anything by that.

use kernel::desktop::{Action, Button, Desktop as _, Format, Outcome, Point, Rect, Shot};

use crate::{
    seeing::decoded,
    stage::{PATIENCE, Stage},
    witness::{Seen, Witness},
};

const ORANGE: [u8; 3] = [0xd9, 0x77, 0x06];
const WHITE: [u8; 3] = [0xff; 3];
const SIDE: u32 = 40;

/// Returns when the upper and the left edge of the screen have this colour.
async fn edges_are(stage: &Stage, colour: [u8; 3]) {
    let region = Some(Rect { x: 0, y: 0, w: SIDE, h: SIDE });
    let shot = Shot { region, cursor: false, format: Format::Png, ..Shot::default() };
    let looked = async {
        loop {
            let seen = stage.act(Action::Screenshot(shot)).await.unwrap();
            let Outcome::Picture(frame) = seen else { panic!("{seen:?}") };
            let pixels = decoded(&frame);
            let (upper, left) = (pixels[20], pixels[usize::try_from(20 * SIDE).unwrap()]);
            if [upper, left] == [colour; 2] {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, looked).await.unwrap();
}

#[tokio::test]
async fn a_frame_is_in_front_of_every_window_while_a_device_is_armed_and_takes_nothing() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 1920, 1080));
    edges_are(&stage, WHITE).await;
    stage.local.indicate(true);
    edges_are(&stage, ORANGE).await;
    witness.seen();
    let at = Some(Point { x: 1, y: 1 });
    let (button, count, modifiers) = (Button::Left, 1, vec![]);
    stage.done(Action::MouseClickAt { at, button, count, modifiers }).await;
    let clicked = [Seen::Moved(1, 1), Seen::Pressed(1, 0), Seen::Released(1)];
    assert_eq!(witness.touched(), clicked);
    assert!(stage.windows().await.iter().all(|pane| pane.class.is_empty()));
    // What comes later does not lie in front of it for long.
    let later = Witness::at(&stage.display, (0, 0, 1920, 1080));
    edges_are(&stage, ORANGE).await;
    drop(later);
    stage.local.indicate(false);
    edges_are(&stage, WHITE).await;
}
