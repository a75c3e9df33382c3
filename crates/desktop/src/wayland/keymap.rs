//! A keyboard of our own: where every key lies, and lent ones for characters that no keyboard has.

use std::fmt::Write as _;

use kernel::desktop::{Code, DesktopError, Key, Named};

use crate::x11::{symbol_of, symbols_of};

pub const SHIFT: u8 = 50;
const LEVEL_THREE: u8 = 92;
const RETURN: u8 = 36;
const TAB: u8 = 23;
const SPACE: u8 = 65;

/// What is printed on the keys of each row, from this code on, without Shift and with it.
const ROWS: [(u8, &str, &str); 5] = [
    (10, "1234567890-=", "!@#$%^&*()_+"),
    (24, "qwertyuiop[]", "QWERTYUIOP{}"),
    (38, "asdfghjkl;'`", "ASDFGHJKL:\"~"),
    (51, "\\zxcvbnm,./", "|ZXCVBNM<>?"),
    (SPACE, " ", " "),
];

/// Where keys with names lie, as on any keyboard.
#[rustfmt::skip]
const NAMED: [(u8, Named); 81] = [
    (9, Named::Escape), (22, Named::Backspace), (TAB, Named::Tab), (RETURN, Named::Return),
    (37, Named::ControlLeft), (SHIFT, Named::ShiftLeft), (62, Named::ShiftRight),
    (63, Named::KeypadMultiply), (64, Named::AltLeft), (66, Named::CapsLock),
    (67, Named::Function(1)), (68, Named::Function(2)), (69, Named::Function(3)), (70, Named::Function(4)),
    (71, Named::Function(5)), (72, Named::Function(6)), (73, Named::Function(7)), (74, Named::Function(8)),
    (75, Named::Function(9)), (76, Named::Function(10)), (77, Named::NumLock), (78, Named::ScrollLock),
    (79, Named::Keypad(7)), (80, Named::Keypad(8)), (81, Named::Keypad(9)), (82, Named::KeypadSubtract),
    (83, Named::Keypad(4)), (84, Named::Keypad(5)), (85, Named::Keypad(6)), (86, Named::KeypadAdd),
    (87, Named::Keypad(1)), (88, Named::Keypad(2)), (89, Named::Keypad(3)), (90, Named::Keypad(0)),
    (91, Named::KeypadDecimal), (LEVEL_THREE, Named::AltGr), (95, Named::Function(11)),
    (96, Named::Function(12)), (104, Named::KeypadEnter), (105, Named::ControlRight),
    (106, Named::KeypadDivide), (107, Named::PrintScreen), (108, Named::AltRight), (110, Named::Home),
    (111, Named::Up), (112, Named::PageUp), (113, Named::Left), (114, Named::Right), (115, Named::End),
    (116, Named::Down), (117, Named::PageDown), (118, Named::Insert), (119, Named::Delete),
    (121, Named::VolumeMute), (122, Named::VolumeDown), (123, Named::VolumeUp), (127, Named::Pause),
    (133, Named::CommandLeft), (134, Named::CommandRight), (135, Named::Menu), (146, Named::Help),
    (171, Named::NextTrack), (172, Named::PlayPause), (173, Named::PreviousTrack),
    (191, Named::Function(13)), (192, Named::Function(14)), (193, Named::Function(15)),
    (194, Named::Function(16)), (195, Named::Function(17)), (196, Named::Function(18)),
    (197, Named::Function(19)), (198, Named::Function(20)), (199, Named::Function(21)),
    (200, Named::Function(22)), (201, Named::Function(23)), (202, Named::Function(24)),
    // Once more where it is a letter of the layout.
    (SPACE, Named::Space), (RETURN, Named::Return), (TAB, Named::Tab), (9, Named::Escape),
    (22, Named::Backspace),
];

/// What each modifier of a layout is made by, with its bit.
const MODIFIERS: [(&str, u32, &[u8]); 7] = [
    ("Shift", 1, &[SHIFT, 62]),
    ("Lock", 2, &[66]),
    ("Control", 4, &[37, 105]),
    ("Mod1", 8, &[64, 108]),
    ("Mod2", 16, &[77]),
    ("Mod4", 64, &[133, 134]),
    ("Mod5", 128, &[LEVEL_THREE]),
];

/// Keys of these codes put machines to sleep wherever somebody looks at codes alone.
const DANGEROUS: [u8; 4] = [124, 150, 151, 160];

/// A key, and whether Shift must be held for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stroke {
    pub code: u8,
    pub shift: bool,
}

impl Stroke {
    fn plain(code: u8) -> Self {
        Self { code, shift: false }
    }

    /// What is pressed for it, in order.
    pub fn codes(self) -> impl DoubleEndedIterator<Item = u8> {
        [self.shift.then_some(SHIFT), Some(self.code)].into_iter().flatten()
    }
}

/// A common keyboard, and characters that some of its unused keys have for now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keymap {
    lent: Vec<char>,
}

impl Keymap {
    /// With keys for these, of which there are no more than can be lent.
    pub fn lending(lent: Vec<char>) -> Self {
        Self { lent }
    }

    pub fn lent(&self) -> &[char] {
        &self.lent
    }

    /// How many can be lent at a time.
    pub fn spare() -> usize {
        spares().count()
    }

    pub fn key(&self, key: Key) -> Result<Stroke, DesktopError> {
        let none = || DesktopError::new(Code::Unsupported, "this keyboard has no such key");
        match key {
            Key::Char(character) => self.character(character).ok_or_else(none),
            Key::Named(named) => {
                let found = NAMED.iter().find(|(_, it)| *it == named);
                let refused = || symbol_of(named).err().unwrap_or_else(none);
                found.map(|(code, _)| Stroke::plain(*code)).ok_or_else(refused)
            }
        }
    }

    pub fn character(&self, character: char) -> Option<Stroke> {
        printed(character).or_else(|| {
            let at = self.lent.iter().position(|it| *it == character)?;
            spares().nth(at).map(Stroke::plain)
        })
    }

    /// In the language of compositors.
    pub fn text(&self) -> String {
        let mut codes = String::new();
        let mut symbols = String::new();
        let mut key = |code: u8, meanings: &[u32]| {
            let meanings: Vec<String> = meanings.iter().map(|it| format!("{it:#x}")).collect();
            let _ = writeln!(codes, "<K{code}> = {code};");
            let _ = writeln!(symbols, "key <K{code}> {{ [ {} ] }};", meanings.join(", "));
        };
        for (code, plain, shifted) in ROWS.iter().flat_map(|row| keys_of(*row)) {
            key(code, &[u32::from(plain), u32::from(shifted)]);
        }
        let named = &NAMED[..NAMED.len() - 5];
        for (code, symbol) in
            named.iter().filter_map(|(code, it)| Some((code, symbol_of(*it).ok()?)))
        {
            key(*code, &[symbol]);
        }
        for (code, character) in spares().zip(&self.lent) {
            key(code, &[symbols_of(*character)[0].unwrap_or_default()]);
        }
        for (modifier, _, codes) in MODIFIERS {
            let codes: Vec<String> = codes.iter().map(|code| format!("<K{code}>")).collect();
            let _ = writeln!(symbols, "modifier_map {modifier} {{ {} }};", codes.join(", "));
        }
        format!(
            "xkb_keymap {{\n\
             xkb_keycodes \"megaron\" {{ minimum = 8; maximum = 255;\n{codes}}};\n\
             xkb_types \"megaron\" {{ include \"complete\" }};\n\
             xkb_compatibility \"megaron\" {{ include \"complete\" }};\n\
             xkb_symbols \"megaron\" {{\n{symbols}}};\n}};\n"
        )
    }
}

/// What a keyboard has without being lent anything.
pub fn printed(character: char) -> Option<Stroke> {
    match character {
        '\n' | '\r' => return Some(Stroke::plain(RETURN)),
        '\t' => return Some(Stroke::plain(TAB)),
        ' ' => return Some(Stroke::plain(SPACE)),
        _ => (),
    }
    ROWS.iter().flat_map(|row| keys_of(*row)).find_map(|(code, plain, shifted)| {
        let shift = character == shifted;
        (shift || character == plain).then_some(Stroke { code, shift })
    })
}

/// The bit of a modifier that is held while this key is.
pub fn modifier(code: u8) -> u32 {
    let found = MODIFIERS.iter().find(|(_, _, codes)| codes.contains(&code));
    found.map_or(0, |(_, bit, _)| *bit)
}

/// Whether it stays when the key is let go.
pub fn is_lock(code: u8) -> bool {
    matches!(code, 66 | 77)
}

fn keys_of((first, plain, shifted): (u8, &str, &str)) -> impl Iterator<Item = (u8, char, char)> {
    let both = plain.chars().zip(shifted.chars());
    (first..)
        .zip(both)
        .map(|(code, (plain, shifted))| (code, plain, shifted))
        .collect::<Vec<_>>()
        .into_iter()
}

/// Keys that nothing is printed on.
fn spares() -> impl Iterator<Item = u8> {
    let printed = |code: &u8| ROWS.iter().flat_map(|row| keys_of(*row)).any(|(it, ..)| it == *code);
    let named = |code: &u8| NAMED.iter().any(|(it, _)| it == code);
    (8..=u8::MAX).filter(move |it| !printed(it) && !named(it) && !DANGEROUS.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_the_seed_is_printed_on_one_key() {
        let seed = (' '..='~').chain(['\n', '\t']);
        let strokes: Vec<Stroke> = seed.filter_map(printed).collect();
        assert_eq!(strokes.len(), 97);
        for (at, stroke) in strokes.iter().enumerate() {
            assert!(!strokes[..at].contains(stroke), "{stroke:?}");
        }
        assert_eq!(printed('`'), Some(Stroke { code: 49, shift: false }));
        assert_eq!(printed('?'), Some(Stroke { code: 61, shift: true }));
        assert_eq!(printed('é'), None);
    }

    #[test]
    fn no_two_keys_lie_in_the_same_place_and_lent_ones_in_none_of_theirs() {
        let text = Keymap::lending(vec!['é', '漢']).text();
        let mut codes: Vec<&str> = text.lines().filter(|line| line.starts_with("<K")).collect();
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count);
        assert!(text.contains("[ 0xe9 ]") && text.contains("[ 0x1006f22 ]"));
        assert!(Keymap::spare() > 100);
    }
}
