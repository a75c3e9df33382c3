//! Which key, with which others held, makes a character or has a name, as the keyboard is laid out now.

use kernel::desktop::{Code, DesktopError, Key, Named};
use x11rb::{connection::Connection as _, protocol::xproto::ConnectionExt as _};

use super::link::{Link, lost};

const SHIFT_LEFT: u32 = 0xffe1;
const LEVEL_THREE: u32 = 0xfe03;
const NUM_LOCK: u32 = 0xff7f;
/// The columns of the first group in the map of the core protocol, by level.
const LEVELS: [usize; 4] = [0, 1, 4, 5];

/// The map of the core protocol.
pub struct Keymap {
    first: u8,
    width: usize,
    symbols: Vec<u32>,
    shift: Option<u8>,
    level_three: Option<u8>,
    /// The modifier that stands for Num Lock, if one does.
    pub num_lock: u16,
}

/// A key and what must be held for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stroke {
    pub code: u8,
    pub shift: Option<u8>,
    pub level_three: Option<u8>,
}

impl Stroke {
    pub fn plain(code: u8) -> Self {
        Self { code, shift: None, level_three: None }
    }

    /// Everything that is pressed for it, the key itself last.
    pub fn codes(self) -> impl DoubleEndedIterator<Item = u8> {
        [self.shift, self.level_three, Some(self.code)].into_iter().flatten()
    }
}

impl Keymap {
    /// Read anew each time: it is a round trip, and the layout may have changed.
    pub fn read(link: &Link) -> Result<Self, DesktopError> {
        let setup = link.conn.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let asked = link.conn.get_keyboard_mapping(first, last - first + 1).map_err(lost)?;
        let modifiers = link.conn.get_modifier_mapping().map_err(lost)?;
        let reply = asked.reply().map_err(lost)?;
        let modifiers = modifiers.reply().map_err(lost)?;
        let width = usize::from(reply.keysyms_per_keycode);
        let mut map = Self {
            first,
            width,
            symbols: reply.keysyms,
            shift: None,
            level_three: None,
            num_lock: 0,
        };
        map.shift = map.find(SHIFT_LEFT).map(|(code, _)| code);
        map.level_three = map.find(LEVEL_THREE).map(|(code, _)| code);
        if let Some((code, _)) = map.find(NUM_LOCK) {
            let each = usize::from(modifiers.keycodes_per_modifier()).max(1);
            let at = modifiers.keycodes.iter().position(|it| *it == code);
            map.num_lock = at.map_or(0, |at| 1 << (at / each).min(7));
        }
        Ok(map)
    }

    /// None if no key of the layout makes it.
    pub fn character(&self, character: char) -> Option<Stroke> {
        match character {
            '\n' | '\r' => return self.symbol(0xff0d),
            '\t' => return self.symbol(0xff09),
            _ => (),
        }
        symbols_of(character).into_iter().flatten().find_map(|symbol| self.symbol(symbol))
    }

    pub fn symbol(&self, symbol: u32) -> Option<Stroke> {
        let (code, level) = self.find(symbol)?;
        let held = |wanted: bool, key: Option<u8>| if wanted { Some(key) } else { None };
        let shift = held(level & 1 != 0, self.shift);
        let level_three = held(level & 2 != 0, self.level_three);
        // A level that cannot be reached is as good as none.
        if shift == Some(None) || level_three == Some(None) {
            return None;
        }
        Some(Stroke { code, shift: shift.flatten(), level_three: level_three.flatten() })
    }

    /// Keys that mean nothing, and may be lent a meaning.
    pub fn spare(&self) -> Vec<u8> {
        let means_nothing = |(_, symbols): &(u8, &[u32])| symbols.iter().all(|it| *it == 0);
        self.keys().filter(means_nothing).map(|(code, _)| code).collect()
    }

    pub fn shift(&self) -> Option<u8> {
        self.shift
    }

    fn find(&self, symbol: u32) -> Option<(u8, u8)> {
        (0..4u8).find_map(|level| {
            let column = LEVELS[usize::from(level)];
            let has = |(_, symbols): &(u8, &[u32])| symbols.get(column) == Some(&symbol);
            self.keys().find(has).map(|(code, _)| (code, level))
        })
    }

    fn keys(&self) -> impl Iterator<Item = (u8, &[u32])> {
        (self.first..=u8::MAX).zip(self.symbols.chunks(self.width.max(1)))
    }
}

/// What X calls a character: by its own number, by that of Unicode, or by an old one.
pub fn symbols_of(character: char) -> [Option<u32>; 2] {
    let point = u32::from(character);
    match character {
        '\u{20}'..='\u{7e}' | '\u{a0}'..='\u{ff}' => [Some(point), None],
        '€' => [Some(0x20ac), Some(0x0100_20ac)],
        _ => [Some(0x0100_0000 + point), None],
    }
}

/// The number of a key that has a name.
pub fn symbol_of(named: Named) -> Result<u32, DesktopError> {
    Ok(match named {
        Named::Return => 0xff0d,
        Named::Tab => 0xff09,
        Named::Escape => 0xff1b,
        Named::Space => 0x20,
        Named::Backspace => 0xff08,
        Named::Delete => 0xffff,
        Named::Insert => 0xff63,
        Named::Up => 0xff52,
        Named::Down => 0xff54,
        Named::Left => 0xff51,
        Named::Right => 0xff53,
        Named::Home => 0xff50,
        Named::End => 0xff57,
        Named::PageUp => 0xff55,
        Named::PageDown => 0xff56,
        Named::Function(number) => 0xffbe + u32::from(number) - 1,
        Named::ShiftLeft => SHIFT_LEFT,
        Named::ShiftRight => 0xffe2,
        Named::ControlLeft => 0xffe3,
        Named::ControlRight => 0xffe4,
        Named::AltLeft => 0xffe9,
        Named::AltRight => 0xffea,
        Named::CommandLeft => 0xffeb,
        Named::CommandRight => 0xffec,
        Named::AltGr => LEVEL_THREE,
        Named::CapsLock => 0xffe5,
        Named::NumLock => NUM_LOCK,
        Named::ScrollLock => 0xff14,
        Named::PrintScreen => 0xff61,
        Named::Pause => 0xff13,
        Named::Menu => 0xff67,
        Named::Help => 0xff6a,
        Named::Fn => {
            let text = "the fn key is there only on a Mac";
            return Err(DesktopError::new(Code::Unsupported, text));
        }
        Named::Keypad(digit) => 0xffb0 + u32::from(digit),
        Named::KeypadEnter => 0xff8d,
        Named::KeypadAdd => 0xffab,
        Named::KeypadSubtract => 0xffad,
        Named::KeypadMultiply => 0xffaa,
        Named::KeypadDivide => 0xffaf,
        Named::KeypadDecimal => 0xffae,
        Named::VolumeUp => 0x1008_ff13,
        Named::VolumeDown => 0x1008_ff11,
        Named::VolumeMute => 0x1008_ff12,
        Named::PlayPause => 0x1008_ff14,
        Named::NextTrack => 0x1008_ff17,
        Named::PreviousTrack => 0x1008_ff16,
    })
}

/// What a key is called by X, the best name first.
pub fn wanted(key: Key) -> Result<Vec<u32>, DesktopError> {
    match key {
        Key::Named(named) => symbol_of(named).map(|symbol| vec![symbol]),
        Key::Char(character) => Ok(symbols_of(character).into_iter().flatten().collect()),
    }
}

/// Whether Num Lock decides what it means.
pub fn is_keypad(key: Key) -> bool {
    matches!(key, Key::Named(Named::Keypad(_) | Named::KeypadDecimal))
}
