//! Keys by their names, alone and together.

use std::time::Duration;

use kernel::desktop::{Action, Chords, Code, Desktop as _, DesktopError};

use crate::{
    stage::Stage,
    witness::{Seen, Witness},
};

fn command(name: &str) -> Action {
    Action::KeyboardCommand { keys: Chords::parse(name).unwrap() }
}

#[tokio::test]
async fn a_key_that_the_keyboard_has_or_lacks_is_pressed_and_all_is_as_before() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 100, 100));
    let before = witness.keymap();
    for name in ["Enter", "A", "plus", "F13", "alt_r", "kp_5"] {
        assert_eq!(stage.done(command(name)).await, format!("Executed keyboard command: {name}"));
        let seen = witness.seen();
        // What was lent means nothing any more; what it meant is seen in `names`.
        assert!(seen.iter().any(|seen| matches!(seen, Seen::KeyDown(_))), "{name}: {seen:x?}");
        assert_eq!(witness.keymap(), before, "{name}");
        assert_eq!(witness.held().0, [0u8; 0], "{name}");
    }
}

#[tokio::test]
async fn combinations_are_pressed_in_order_and_released_in_reverse() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 100, 100));
    let (control, shift, alt) = (0xffe3, 0xffe1, 0xffe9);
    let spoken = |spoken| Chords::parse(spoken).unwrap();
    for (keys_of, keys) in [
        (spoken("ctrl+shift+t"), vec![control, shift, 0x54]),
        (spoken("alt+F4"), vec![alt, 0xffc1]),
        (spoken("ctrl++"), vec![control, shift, 0x2b]),
        (spoken("ctrl+a"), vec![control, 0x61]),
        (Chords::together(&["ctrl", "a"]).unwrap(), vec![control, 0x61]),
        (Chords::together(&["ctrl", "+"]).unwrap(), vec![control, shift, 0x2b]),
    ] {
        let spoken = keys_of.spoken.clone();
        let said = stage.done(Action::KeyCombo { keys: keys_of, repeat: 1 }).await;
        assert_eq!(said, format!("Pressed {spoken}"));
        let mut expected: Vec<Seen> = keys.iter().map(|key| Seen::KeyDown(*key)).collect();
        expected.extend(keys.iter().rev().map(|key| Seen::KeyUp(*key)));
        assert_eq!(witness.touched(), expected, "{spoken}");
        assert_eq!(witness.held(), (vec![], 0));
    }
    for spoken in ["ctrl+alt+escape", "ctrl+alt+return", "alt+ctrl+shift+esc"] {
        let error = stage.act(command(spoken)).await.unwrap_err();
        assert_eq!(error.code, Code::Denied);
    }
    assert_eq!(witness.seen(), []);
    let unknown = DesktopError::from(Chords::parse("page_upp").unwrap_err());
    assert_eq!(unknown.code, Code::UnknownKey);
}

#[tokio::test]
async fn a_key_is_held_for_as_long_as_was_asked_and_let_go_when_that_is_cancelled() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 100, 100));
    let keys = || Chords::parse("shift").unwrap();
    let held = stage.done(Action::HoldKey { keys: keys(), duration: 0.1 }).await;
    assert_eq!(held, "Held shift for 0.1 s");
    assert_eq!(witness.touched(), [Seen::KeyDown(0xffe1), Seen::KeyUp(0xffe1)]);
    let long = stage.act(Action::HoldKey { keys: keys(), duration: 60.0 });
    let cancel = async {
        while witness.held().0.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        stage.local.cancel(None).await
    };
    let (long, cancelled) = futures::join!(long, cancel);
    assert_eq!((long, cancelled), (Err(DesktopError::cancelled()), Ok(1)));
    assert_eq!(witness.held(), (vec![], 0));
    let down = || Action::KeyDown { key: keys() };
    stage.done(down()).await;
    assert_eq!(witness.held().0, [witness.code(0xffe1)]);
    assert_eq!(stage.local.states().borrow().keys, ["shift"]);
    stage.done(Action::KeyUp { key: keys() }).await;
    assert_eq!(witness.held(), (vec![], 0));
    let error = stage.act(Action::KeyUp { key: keys() }).await.unwrap_err();
    assert_eq!(error.text, "Key up failed: shift is not down");
}
