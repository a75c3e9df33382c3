//! A hand that has just let us begin may still be on the mouse; whoever does more with it takes over.

use std::time::Duration;

use desktop::{Local, Settings};
use kernel::desktop::{Action, Desktop as _, DesktopError, Outcome, Pause, Point, Waiting};

use crate::{
    stage::{PATIENCE, Stage, settings},
    witness::Witness,
};

const MOTION: u8 = 6;
/// Longer than any test: no machine is so slow that it would decide anything.
const FOR_EVER: Duration = Duration::from_hours(1);

fn to(x: u32, y: u32, duration: f64) -> Action {
    Action::MouseMove { to: Point { x, y }, duration }
}

fn local(stage: &Stage, change: impl FnOnce(&mut Settings)) -> Local {
    let mut settings = settings(&stage.display, stage.folder.path().join("other.json"));
    change(&mut settings);
    Local::new(settings)
}

/// Somebody moves the pointer by so much.
fn nudge(witness: &Witness, by: i16) {
    let (x, y) = witness.pointer();
    witness.fake(MOTION, 0, (x + by, y));
}

/// Returns when what takes for ever was stopped by somebody who did this until it was.
async fn is_stopped(local: &Local, action: Action, person: impl Fn()) {
    let mut states = local.states();
    let person = async {
        loop {
            let position = local.act(Action::GetMousePosition.into()).await;
            if matches!(position, Ok(Outcome::Position { moving: true, .. })) {
                break;
            }
        }
        // More than once, for our next step may follow theirs before anybody has looked.
        while states.borrow_and_update().paused.is_none() {
            person();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let both = async { futures::join!(local.act(action.into()), person) };
    let (stopped, ()) = tokio::time::timeout(PATIENCE, both).await.unwrap();
    assert_eq!(stopped, Err(DesktopError::stopped()));
    assert_eq!(local.states().borrow().paused, Some(Pause::Human));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hand_that_lets_go_is_forgiven_a_little_and_no_more() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 10, 10));
    let local = local(&stage, |settings| settings.grace = FOR_EVER);
    for far in [true, false] {
        local.act(to(400, 400, 0.0).into()).await.unwrap();
        nudge(&witness, 5);
        // Whatever was done before this is answered has been heard.
        local.act(Action::ClipboardGet.into()).await.unwrap();
        assert_eq!(local.states().borrow().paused, None);
        // Far at once, or a little again and again.
        let slow = to(1500, 900, 250.0);
        is_stopped(&local, slow, || nudge(&witness, if far { 300 } else { 5 })).await;
        local.hand_back().await.unwrap();
    }
    // Nor does it take a move of ours to notice.
    local.act(to(400, 400, 0.0).into()).await.unwrap();
    let wait = local.act(Action::Wait(Waiting::For(250.0)).into());
    let person = async {
        let mut states = local.states();
        states.wait_for(|state| state.queue == 1).await.unwrap();
        nudge(&witness, 300);
        states.wait_for(|state| state.paused == Some(Pause::Human)).await.unwrap();
    };
    let both = async { futures::join!(wait, person) };
    let (stopped, ()) = tokio::time::timeout(PATIENCE, both).await.unwrap();
    assert_eq!(stopped, Err(DesktopError::stopped()));
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_is_heard_a_pointer_that_is_not_where_we_put_it_was_moved_by_somebody() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 10, 10));
    let local = local(&stage, |settings| {
        settings.listen = false;
        settings.grace = Duration::ZERO;
    });
    assert!(local.info().await.unwrap().caution().is_some_and(|it| it.contains("XInput")));
    assert_eq!(stage.local.info().await.unwrap().caution(), None);
    local.act(to(400, 400, 0.0).into()).await.unwrap();
    is_stopped(&local, to(1500, 900, 250.0), || nudge(&witness, 5)).await;
    assert_eq!(witness.held(), (vec![], 0));
    local.hand_back().await.unwrap();
    // What is moved while nothing is done is their own affair, and ours is no person.
    nudge(&witness, 100);
    local.act(to(700, 600, 0.1).into()).await.unwrap();
    assert_eq!(local.states().borrow().paused, None);
    // Between the parts of a batch as well.
    let wait = Action::Wait(Waiting::For(0.01));
    let parts = std::iter::once(to(300, 300, 0.0)).chain(std::iter::repeat_n(wait, 22));
    let actions: Vec<Action> = parts.chain([to(10, 10, 0.0)]).collect();
    let batch = Action::Batch { actions, stop_on_error: true };
    let mut states = local.states();
    let person = async {
        while states.borrow_and_update().paused.is_none() {
            witness.fake(MOTION, 0, (500, 300));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    // Once more, if it was over before they came.
    let batches = async {
        loop {
            match local.act(batch.clone().into()).await {
                Err(error) if error == DesktopError::stopped() => return,
                // Or it was moved just when we looked whether it had arrived.
                Ok(_) => (),
                Err(error) => panic!("{error:?}"),
            }
        }
    };
    let both = async { futures::join!(batches, person) };
    tokio::time::timeout(PATIENCE, both).await.unwrap();
    // The last part was not done.
    assert_eq!(witness.pointer().1, 300);
}
