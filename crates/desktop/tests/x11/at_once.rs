//! What takes less time than waking somebody for it is done at once, and nobody else has to wait for that.

use kernel::desktop::{Action, Button, Chords, Desktop as _, Done, Outcome, Point};
use tokio::{sync::oneshot, time::timeout};

use crate::{
    spared::name,
    stage::{PATIENCE, Stage},
    witness::{Seen, Witness},
};

const CLICK: Action = Action::MouseClick { button: Button::Left };

fn to((x, y): (u32, u32), duration: f64) -> Action {
    Action::MouseMove { to: Point { x, y }, duration }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_short_waits_its_turn_behind_what_is_not() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 1920, 1080));
    stage.done(to((100, 100), 0.0)).await;
    let moves = [((900, 500), 0.2), ((20, 30), 0.0), ((40, 20), 0.0), ((800, 600), 0.1)];
    let moves = moves.into_iter().chain([((60, 10), 0.0)]);
    let orders = moves.clone().map(|(place, duration)| stage.done(to(place, duration)));
    let done = futures::future::join_all(orders).await;
    let places: Vec<_> = moves.map(|(place, _)| place).collect();
    let told = |(x, y): &(u32, u32)| format!("Moved mouse to ({x}, {y})");
    assert_eq!(done, places.iter().map(told).collect::<Vec<_>>());
    let number = |it: u32| i16::try_from(it).unwrap();
    let seen = |(x, y): &(u32, u32)| Seen::Moved(number(*x), number(*y));
    let expected: Vec<Seen> = places.iter().map(seen).collect();
    let reached = witness.seen().into_iter().filter(|it| expected.contains(it));
    assert_eq!(reached.collect::<Vec<_>>(), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_display_that_hangs_keeps_nobody_else_waiting() {
    let stage = Stage::set();
    stage.done(to((100, 100), 0.0)).await;
    stage.done(CLICK).await;
    for action in [to((200, 200), 0.0), CLICK] {
        stage.hang(true);
        let (begins, begun) = oneshot::channel();
        let local = stage.local.clone();
        let acting = tokio::spawn(async move {
            begins.send(()).unwrap();
            local.act(action.into()).await
        });
        begun.await.unwrap();
        let other = tokio::spawn(async {});
        timeout(PATIENCE, other).await.unwrap().unwrap();
        assert!(!acting.is_finished());
        stage.hang(false);
        timeout(PATIENCE, acting).await.unwrap().unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_told_where_the_pointer_was_and_what_program_got_it() {
    let stage = Stage::set();
    let calculator = Witness::at(&stage.display, (400, 400, 200, 200));
    name(&calculator, calculator.window, "Calculator");
    let place = |x, y| Point { x, y };
    stage.done(to((50, 60), 0.0)).await;
    let at = Some(place(450, 450));
    let click_at = Action::MouseClickAt { at, button: Button::Left, count: 1, modifiers: vec![] };
    let typed = Action::KeyCombo { keys: Chords::parse("a").unwrap(), repeat: 1 };
    let told = [
        (to((70, 80), 0.0), place(50, 60), place(70, 80), None),
        (click_at, place(70, 80), place(450, 450), Some("Calculator")),
        (CLICK, place(450, 450), place(450, 450), Some("Calculator")),
        (to((10, 20), 0.0), place(450, 450), place(10, 20), None),
        // Nothing is there.
        (CLICK, place(10, 20), place(10, 20), None),
        // It has the focus, wherever the pointer is.
        (typed, place(10, 20), place(10, 20), Some("Calculator")),
    ];
    for (action, was, is, program) in told {
        let outcome = stage.act(action.clone()).await.unwrap();
        let Outcome::Done(Done { before, at, window, .. }) = outcome else { panic!("{outcome:?}") };
        assert_eq!((before, at, window.as_deref()), (Some(was), Some(is), program), "{action:?}");
    }
}
