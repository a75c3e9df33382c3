//! Every name of a key presses that key, as another program sees it.

use std::time::Duration;

use desktop::{Local, Settings};
use kernel::desktop::{Action, Chords, Code, Desktop as _, DesktopError};

use crate::{
    stage::{PATIENCE, Stage},
    witness::{Seen, Witness},
};

/// What X calls a key, and all that people call it. Locks come last: they change what others mean.
#[rustfmt::skip]
const NAMES: &[(u32, &[&str])] = &[
    (0xff0d, &["return", "enter"]),
    (0xff09, &["tab"]),
    (0xff1b, &["escape", "esc"]),
    (0x20, &["space", "spacebar", " "]),
    (0xff08, &["backspace", "bksp", "BackSpace"]),
    (0xffff, &["delete", "del", "forward_delete"]),
    (0xff63, &["insert", "ins"]),
    (0xff52, &["up", "up_arrow", "arrow_up", "uparrow"]),
    (0xff54, &["down", "down_arrow", "arrow_down", "downarrow"]),
    (0xff51, &["left", "left_arrow", "arrow_left", "leftarrow"]),
    (0xff53, &["right", "right_arrow", "arrow_right", "rightarrow"]),
    (0xff50, &["home"]),
    (0xff57, &["end"]),
    (0xff55, &["page_up", "PageUp", "page-up", "page up", "pgup", "prior"]),
    (0xff56, &["page_down", "pagedown", "pgdn", "pgdown", "next"]),
    (0xffe1, &["shift", "shift_l"]),
    (0xffe2, &["shift_r"]),
    (0xffe3, &["control", "ctrl", "control_l", "ctrl_l"]),
    (0xffe4, &["control_r", "ctrl_r"]),
    (0xffe9, &["alt", "option", "opt", "alt_l", "option_l"]),
    (0xffea, &["alt_r", "option_r"]),
    (0xffeb, &[
        "command", "cmd", "super", "meta", "win", "windows", "winleft", "command_l", "super_l", "win_l",
    ]),
    (0xffec, &["winright", "command_r", "super_r", "win_r"]),
    (0xfe03, &["altgr", "alt_gr", "iso_level3_shift"]),
    (0xff61, &["print_screen", "printscreen", "prtsc", "prtscr", "prntscrn", "printscrn", "print"]),
    (0xff13, &["pause", "break"]),
    (0xff67, &["menu", "apps", "context_menu"]),
    (0xff6a, &["help"]),
    (0xff8d, &["kp_enter", "numpad_enter"]),
    (0xffab, &["kp_add"]),
    (0xffad, &["kp_subtract"]),
    (0xffaa, &["kp_multiply"]),
    (0xffaf, &["kp_divide"]),
    (0xffae, &["kp_decimal"]),
    (0x1008_ff13, &["volume_up"]),
    (0x1008_ff11, &["volume_down"]),
    (0x1008_ff12, &["volume_mute", "mute"]),
    (0x1008_ff14, &["play_pause"]),
    (0x1008_ff17, &["next_track"]),
    (0x1008_ff16, &["prev_track"]),
    (0x2b, &["plus"]),
    (0xff14, &["scroll_lock", "scrolllock"]),
    (0xffe5, &["caps_lock", "capslock"]),
    (0xff7f, &["num_lock", "numlock"]),
];

/// What X calls a character.
fn symbol(character: char) -> u32 {
    let point = u32::from(character);
    if point < 0x100 { point } else { 0x0100_0000 + point }
}

/// Nothing is put on record, which takes its time for so many keys.
fn forgetful(stage: &Stage) -> Local {
    Local::new(Settings { display: Some(stage.display.clone()), ..Settings::default() })
}

/// Held until the witness has seen it: a key that was lent a meaning has it for as long as that.
async fn presses(local: &Local, witness: &Witness, name: &str, symbol: u32) {
    let keys = Chords::parse(name).unwrap();
    let held = local.act(Action::HoldKey { keys, duration: 60.0 }.into());
    let look = async {
        let mut seen = Vec::new();
        let found = async {
            while !seen.contains(&Seen::KeyDown(symbol)) {
                tokio::time::sleep(Duration::from_millis(1)).await;
                seen.extend(witness.seen());
            }
        };
        let found = tokio::time::timeout(PATIENCE / 2, found).await.is_ok();
        local.cancel(None).await.unwrap();
        assert!(found, "{name} is not {symbol:x}: {seen:x?}");
        // Nothing else is pressed but what must be held for it.
        let others = seen.iter().filter(|seen| match seen {
            Seen::KeyDown(it) => *it != symbol && ![0xffe1, 0xfe03].contains(it),
            _ => false,
        });
        assert_eq!(others.count(), 0, "{name}: {seen:x?}");
    };
    let (held, ()) = futures::join!(held, look);
    assert_eq!(held, Err(DesktopError::cancelled()), "{name}");
    assert_eq!(witness.held().0, [0u8; 0], "{name}");
    witness.seen();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_name_of_a_key_in_any_case_presses_that_key() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 100, 100));
    let (before, local) = (witness.keymap(), forgetful(&stage));
    for digit in 0..=9 {
        for name in [format!("kp_{digit}"), format!("KP_{digit}"), format!("num{digit}")] {
            presses(&local, &witness, &name, 0xffb0 + digit).await;
        }
    }
    for (symbol, names) in NAMES {
        for name in *names {
            presses(&local, &witness, name, *symbol).await;
            presses(&local, &witness, &name.to_uppercase(), *symbol).await;
        }
    }
    assert_eq!(witness.keymap(), before);
    let nothing = DesktopError::from(Chords::parse("page_upp").unwrap_err());
    assert_eq!((nothing.code, nothing.expected[0].as_str()), (Code::UnknownKey, "pageup"));
}

#[tokio::test(flavor = "multi_thread")]
async fn function_keys_are_pressed_by_their_numbers_and_characters_by_themselves() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 100, 100));
    let (before, local) = (witness.keymap(), forgetful(&stage));
    for number in 1..=24 {
        for name in [format!("F{number}"), format!("f{number}")] {
            presses(&local, &witness, &name, 0xffbe + number - 1).await;
        }
    }
    for character in "aZ0+-~`|é漢".chars() {
        presses(&local, &witness, &character.to_string(), symbol(character)).await;
    }
    assert_eq!(witness.keymap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_held_repeats_as_under_a_finger() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 100, 100));
    let keys = Chords::parse("a").unwrap();
    let held = stage.act(Action::HoldKey { keys, duration: 60.0 });
    let look = async {
        let mut seen = 0;
        while seen < 3 {
            tokio::time::sleep(Duration::from_millis(1)).await;
            seen += witness.seen().iter().filter(|seen| **seen == Seen::KeyDown(0x61)).count();
        }
        stage.local.cancel(None).await
    };
    let both = async { futures::join!(held, look) };
    let both = tokio::time::timeout(PATIENCE, both).await.unwrap();
    assert_eq!(both, (Err(DesktopError::cancelled()), Ok(1)));
    assert_eq!(witness.held(), (vec![], 0));
}
