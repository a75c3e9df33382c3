//! A person is always in command: whatever they do stops us, and a crash of ours leaves nothing behind.

use std::{
    ffi::OsString,
    process::{Command, Stdio},
    time::Duration,
};

use desktop::{Local, Settings};
use kernel::desktop::{Action, Button, Chords, Desktop as _, DesktopError, Method, Pause, Point};
use x11rb::protocol::xkb::Group;

use crate::{
    stage::{PATIENCE, Stage, settings},
    witness::Witness,
};

const MOTION: u8 = 6;
const KEY_DOWN: u8 = 2;
const KEY_UP: u8 = 3;

async fn slow_move_is_met_by(meet: impl Fn(&Witness)) -> (Stage, Witness) {
    let slow = Action::MouseMove { to: Point { x: 1500, y: 900 }, duration: 250.0 };
    is_met_by(slow, meet).await
}

/// Somebody comes while something is done that would take for ever.
async fn is_met_by(slow: Action, meet: impl Fn(&Witness)) -> (Stage, Witness) {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 10, 10));
    stage.done(Action::MouseMove { to: Point { x: 400, y: 400 }, duration: 0.0 }).await;
    assert_eq!(stage.local.states().borrow().paused, None);
    let slow = stage.act(slow);
    let person = async {
        let mut states = stage.local.states();
        states.wait_for(|state| state.queue == 1).await.unwrap();
        // Again and again, for at first a hand may still be on the mouse.
        while states.borrow_and_update().paused.is_none() {
            meet(&witness);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let (slow, ()) = futures::join!(slow, person);
    assert_eq!(slow, Err(DesktopError::stopped()));
    assert_eq!(witness.held(), (vec![], 0));
    (stage, witness)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_moves_the_pointer_stops_us_until_they_hand_back() {
    let (stage, witness) = slow_move_is_met_by(|witness| witness.fake(MOTION, 0, (20, 30))).await;
    assert_eq!(stage.local.states().borrow().paused, Some(Pause::Human));
    let click = || Action::MouseClick { button: Button::Left };
    assert_eq!(stage.act(click()).await, Err(DesktopError::paused()));
    // Looking harms nobody.
    stage.act(Action::WindowList).await.unwrap();
    witness.fake(MOTION, 0, (21, 31));
    stage.local.hand_back().await.unwrap();
    assert_eq!(stage.local.states().borrow().paused, None);
    stage.done(click()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_corner_and_the_chord_stop_us_too_but_not_what_we_do_ourselves() {
    let (stage, _) = slow_move_is_met_by(|witness| witness.fake(MOTION, 0, (0, 0))).await;
    assert_eq!(stage.local.states().borrow().paused, Some(Pause::Corner));
    let (stage, witness) = slow_move_is_met_by(|witness| {
        let codes = [0xffe3, 0xffe9, 0xff1b].map(|symbol| witness.code(symbol));
        for (event, code) in [KEY_DOWN, KEY_UP].iter().flat_map(|it| codes.map(|code| (*it, code)))
        {
            witness.fake(event, code, (0, 0));
        }
    })
    .await;
    // The first key of the chord is a person already.
    assert!(stage.local.states().borrow().paused.is_some());
    stage.local.hand_back().await.unwrap();
    stage.done(Action::MouseMove { to: Point { x: 0, y: 0 }, duration: 0.05 }).await;
    let text = "hello".to_owned();
    stage.done(Action::KeyboardInput { text, secret: false }).await;
    assert_eq!(stage.local.states().borrow().paused, None);
    assert_eq!(witness.pointer(), (0, 0));
}

fn press(witness: &Witness, symbols: &[u32]) {
    let codes: Vec<u8> = symbols.iter().map(|symbol| witness.code(*symbol)).collect();
    for event in [KEY_DOWN, KEY_UP] {
        for code in &codes {
            witness.fake(event, *code, (0, 0));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_presses_a_key_stops_what_is_typed_and_the_chord_stops_a_batch() {
    let text = "x".repeat(20_000);
    let method = Method::Keys;
    let typing = Action::KeyboardType { text, method, secret: false, delay_ms: 250 };
    let (stage, _) = is_met_by(typing, |witness| press(witness, &[0x7a])).await;
    assert_eq!(stage.local.states().borrow().paused, Some(Pause::Human));
    let key = Chords::parse("shift").unwrap();
    let wait = Action::Wait(kernel::desktop::Waiting::For(250.0));
    let actions = vec![Action::KeyDown { key }, wait, Action::MouseClick { button: Button::Left }];
    let batch = Action::Batch { actions, stop_on_error: false };
    let (stage, witness) =
        is_met_by(batch, |witness| press(witness, &[0xffe3, 0xffe9, 0xff1b])).await;
    assert!(stage.local.states().borrow().paused.is_some());
    assert!(!witness.touched().contains(&crate::witness::Seen::Pressed(1, 0)));

    // The chord holds where nothing is done as well, and the other one gives back.
    stage.local.hand_back().await.unwrap();
    chord_leads_to(&stage, &witness, 0xff1b, Some(Pause::Panic)).await;
    let refused = stage.act(Action::MouseClick { button: Button::Left }).await;
    assert_eq!(refused, Err(DesktopError::paused()));
    chord_leads_to(&stage, &witness, 0xff0d, None).await;
}

/// Control, Alt and another key, held until something comes of it.
async fn chord_leads_to(stage: &Stage, witness: &Witness, symbol: u32, paused: Option<Pause>) {
    let codes = [0xffe3, 0xffe9, symbol].map(|symbol| witness.code(symbol));
    let mut states = stage.local.states();
    for code in codes {
        witness.fake(KEY_DOWN, code, (0, 0));
    }
    let led = states.wait_for(|state| state.paused == paused);
    tokio::time::timeout(PATIENCE, led).await.unwrap().unwrap();
    for code in codes {
        witness.fake(KEY_UP, code, (0, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_crash_left_pressed_and_changed_is_put_right_at_the_next_start() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 10, 10));
    let before = witness.keymap();
    witness.lock(true, Group::M1);
    let journal = stage.folder.path().join("desktop.json");
    // As if one before us had been killed while it typed and dragged.
    let (control, a) = (witness.code(0xffe3), witness.code(0x61));
    let spare = witness.spare();
    x11rb::protocol::xproto::ConnectionExt::change_keyboard_mapping(
        &witness.conn,
        1,
        spare,
        2,
        &[0x0100_6f22, 0x0100_6f22],
    )
    .unwrap()
    .check()
    .unwrap();
    witness.fake(KEY_DOWN, control, (0, 0));
    witness.fake(KEY_DOWN, a, (0, 0));
    witness.fake(4, 1, (0, 0));
    witness.lock(false, Group::M1);
    let page = serde_json::json!({
        "display": stage.display, "keys": [control], "typing": [a], "buttons": [1],
        "bound": [spare], "locks": { "modifiers": 2, "group": 0 },
    });
    std::fs::write(&journal, page.to_string()).unwrap();
    let next = Local::new(settings(&stage.display, journal.clone()));
    next.mend().await;
    assert_eq!(witness.held(), (vec![], 2));
    assert_eq!(witness.keymap(), before);
    assert_eq!(witness.locks(), (true, 0));
    assert!(!journal.exists());
    // And what is held now is on record.
    let key = Chords::parse("shift").unwrap();
    next.act(Action::KeyDown { key }.into()).await.unwrap();
    assert!(journal.exists());
    next.act(Action::ReleaseAll.into()).await.unwrap();
    assert!(!journal.exists());
}

/// Not a test: what is killed in the next one. It types what needs lent keys, and holds one, for ever.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by another test, and killed by it"]
async fn one_who_types_until_it_is_killed() {
    let display = std::env::var("TYPIST_DISPLAY").unwrap();
    let journal = std::env::var_os("TYPIST_JOURNAL").unwrap();
    let guard = std::env::var("TYPIST_GUARD").is_ok().then(guard).unwrap_or_default();
    let local = Local::new(Settings { guard, ..settings(&display, journal.into()) });
    let key = Chords::parse("shift").unwrap();
    local.act(Action::KeyDown { key }.into()).await.unwrap();
    loop {
        let text = "漢字かな".repeat(50);
        let method = Method::Keys;
        let action = Action::KeyboardType { text, method, secret: false, delay_ms: 20 };
        local.act(action.into()).await.unwrap();
    }
}

/// Not a test: what is left behind by one who is killed, and puts everything right.
#[test]
#[ignore = "started by what another test starts"]
fn one_who_watches_over_a_typist() {
    let told = std::env::args_os().skip_while(|it| it != "--").skip(1).collect::<Vec<_>>();
    desktop::guard(&told);
}

fn guard() -> Vec<OsString> {
    let ourselves = std::env::current_exe().unwrap().into_os_string();
    let arguments =
        ["--ignored", "--exact", "person::one_who_watches_over_a_typist", "--nocapture", "--"];
    std::iter::once(ourselves).chain(arguments.map(Into::into)).collect()
}

/// Returns when it has lent keys and holds one, and is dead.
async fn typist_is_killed(stage: &Stage, witness: &Witness, before: &[u32], guarded: bool) {
    let mut typist = Command::new(std::env::current_exe().unwrap());
    typist
        .args(["--ignored", "--exact", "person::one_who_types_until_it_is_killed"])
        .env("TYPIST_DISPLAY", &stage.display)
        .env("TYPIST_JOURNAL", stage.folder.path().join("desktop.json"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if guarded {
        typist.env("TYPIST_GUARD", "1");
    }
    let mut typist = typist.spawn().unwrap();
    while witness.keymap() == before || witness.held().0.is_empty() {
        assert_eq!(typist.try_wait().unwrap(), None);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    typist.kill().unwrap();
    typist.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_who_is_killed_while_typing_leaves_nothing_pressed_or_changed_after_the_next_start() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 10, 10));
    let before = witness.keymap();
    let journal = stage.folder.path().join("desktop.json");
    for _ in 0..3 {
        typist_is_killed(&stage, &witness, &before, false).await;
        assert_ne!((witness.keymap(), witness.held()), (before.clone(), (vec![], 0)));
        let next = Local::new(settings(&stage.display, journal.clone()));
        next.mend().await;
        assert_eq!(witness.keymap(), before);
        assert_eq!(witness.held(), (vec![], 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_who_is_killed_while_typing_is_put_right_by_their_guard_without_another_start() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 10, 10));
    let before = witness.keymap();
    let journal = stage.folder.path().join("desktop.json");
    typist_is_killed(&stage, &witness, &before, true).await;
    let mended = async {
        while journal.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, mended).await.unwrap();
    assert_eq!(witness.keymap(), before);
    assert_eq!(witness.held(), (vec![], 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_held_is_let_go_when_a_person_comes_and_when_it_was_held_too_long() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 10, 10));
    let key = || Chords::parse("shift").unwrap();
    stage.done(Action::KeyDown { key: key() }).await;
    stage.done(Action::MouseDown { button: Button::Left, at: None }).await;
    assert_ne!(witness.held(), (vec![], 0));
    let mut states = stage.local.states();
    let coming = async {
        while states.borrow_and_update().paused.is_none() {
            witness.fake(KEY_DOWN, witness.code(0x61), (0, 0));
            witness.fake(KEY_UP, witness.code(0x61), (0, 0));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        states.wait_for(|state| state.keys.is_empty() && state.buttons.is_empty()).await.unwrap();
    };
    tokio::time::timeout(PATIENCE, coming).await.unwrap();
    assert_eq!(witness.held(), (vec![], 0));
    let journal = stage.folder.path().join("other.json");
    let longest_hold = Duration::from_millis(50);
    let local = Local::new(Settings { longest_hold, ..settings(&stage.display, journal) });
    local.act(Action::KeyDown { key: key() }.into()).await.unwrap();
    let mut states = local.states();
    let freed = states.wait_for(|state| state.keys.is_empty());
    tokio::time::timeout(PATIENCE, freed).await.unwrap().unwrap();
    assert_eq!(witness.held(), (vec![], 0));
}
