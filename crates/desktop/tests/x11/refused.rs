//! What is refused has changed nothing: what was held is held, and nothing was pressed or moved.

use std::time::Duration;

use kernel::desktop::{
    Action, After, Button, Chords, Code, Desktop as _, DesktopError, Order, Outcome, Point, Rect,
    Shot, Waiting,
};

use crate::{
    stage::Stage,
    witness::{Seen, Witness},
};

const LEFT: u16 = 0x100;
const DOWN: Action = Action::MouseDown { button: Button::Left, at: Some(Point { x: 7, y: 8 }) };

fn to(x: u32, y: u32, duration: f64) -> Action {
    Action::MouseMove { to: Point { x, y }, duration }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_lets_go_of_nothing_and_what_is_cancelled_of_everything() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 1920, 1080));
    stage.done(DOWN).await;
    stage.done(Action::KeyDown { key: Chords::parse("a").unwrap() }).await;
    let held = (vec![witness.code(0x61)], LEFT);
    assert_eq!(witness.held(), held);
    witness.seen();
    let elsewhere = Action::MouseDown { button: Button::Left, at: Some(Point { x: 500, y: 500 }) };
    for (action, code) in [
        (to(1920, 5, 0.0), Code::OutOfBounds),
        (to(1920, 5, 1.0), Code::OutOfBounds),
        (elsewhere, Code::BadRequest),
        (Action::KeyUp { key: Chords::parse("b").unwrap() }, Code::BadRequest),
        (Action::KeyboardCommand { keys: Chords::parse("fn").unwrap() }, Code::Unsupported),
    ] {
        assert_eq!(stage.act(action.clone()).await.unwrap_err().code, code, "{action:?}");
        assert_eq!((witness.held(), witness.pointer()), (held.clone(), (7, 8)), "{action:?}");
    }
    let state = stage.local.states().borrow().clone();
    assert_eq!((state.keys, state.buttons), (vec!["a".to_owned()], vec!["left".to_owned()]));
    // The drag goes on where it was.
    assert_eq!(stage.done(to(300, 300, 0.0)).await, "Moved mouse to (300, 300)");
    assert_eq!(witness.held(), held);
    let slow = stage.act(to(900, 900, 250.0));
    let cancel = async {
        let mut states = stage.local.states();
        states.wait_for(|state| state.queue == 1).await.unwrap();
        stage.local.cancel(None).await
    };
    let (slow, cancelled) = futures::join!(slow, cancel);
    assert_eq!((slow, cancelled), (Err(DesktopError::cancelled()), Ok(1)));
    assert_eq!(witness.held(), (vec![], 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_that_cannot_be_taken_afterwards_is_refused_before_anything_is_done() {
    let stage = Stage::sized("640x400x24");
    let witness = Witness::at(&stage.display, (0, 0, 640, 400));
    let outside = Shot { region: Some(Rect { x: 600, y: 0, w: 41, h: 1 }), ..Shot::default() };
    let nowhere = Shot { display: Some(7), ..Shot::default() };
    for (shot, code) in [(outside, Code::OutOfBounds), (nowhere, Code::BadRequest)] {
        for action in [Action::MouseClick { button: Button::Left }, to(5, 5, 0.0)] {
            let after = Some(After { settle_ms: 0, shot });
            let error = stage.local.act(Order { after, ..action.into() }).await.unwrap_err();
            assert_eq!(error.code, code);
        }
    }
    assert_eq!(witness.seen(), Vec::<Seen>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pointer_is_on_its_way_only_while_it_is_moved() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 10, 10));
    let moving = async || match stage.act(Action::GetMousePosition).await {
        Ok(Outcome::Position { moving, .. }) => moving,
        other => panic!("{other:?}"),
    };
    for (last, moves) in [(Action::Wait(Waiting::For(250.0)), false), (to(900, 9, 250.0), true)] {
        let key = Chords::parse("shift").unwrap();
        let actions = vec![Action::KeyDown { key }, last];
        let batch = stage.act(Action::Batch { actions, stop_on_error: true });
        let look = async {
            // Once something is held, it is being done.
            while witness.held().0.is_empty() || moving().await != moves {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            for _ in 0..20 {
                assert_eq!(moving().await, moves);
            }
            stage.local.cancel(None).await
        };
        let both = async { futures::join!(batch, look) };
        let both = tokio::time::timeout(crate::stage::PATIENCE, both).await.unwrap();
        assert_eq!(both, (Err(DesktopError::cancelled()), Ok(1)));
        assert!(!moving().await);
    }
}
