//! Keys and combinations by every name that people and models have for them.

use strsim::levenshtein;

use super::{DesktopError, parts::Modifier};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    Named(Named),
    /// With whatever modifiers the layout needs for it.
    Char(char),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    Return,
    Tab,
    Escape,
    Space,
    Backspace,
    Delete,
    Insert,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// From 1 to 24.
    Function(u8),
    ShiftLeft,
    ShiftRight,
    ControlLeft,
    ControlRight,
    AltLeft,
    AltRight,
    CommandLeft,
    CommandRight,
    AltGr,
    CapsLock,
    NumLock,
    ScrollLock,
    PrintScreen,
    Pause,
    Menu,
    Help,
    /// There is one only on a Mac.
    Fn,
    /// From 0 to 9.
    Keypad(u8),
    KeypadEnter,
    KeypadAdd,
    KeypadSubtract,
    KeypadMultiply,
    KeypadDivide,
    KeypadDecimal,
    VolumeUp,
    VolumeDown,
    VolumeMute,
    PlayPause,
    NextTrack,
    PreviousTrack,
}

/// The name of the reference first, then the others; without `_`, which does not count.
#[rustfmt::skip]
const NAMES: &[(Named, &[&str])] = &[
    (Named::Return, &["return", "enter"]),
    (Named::Tab, &["tab"]),
    (Named::Escape, &["escape", "esc"]),
    (Named::Space, &["space", "spacebar"]),
    (Named::Backspace, &["backspace", "bksp"]),
    (Named::Delete, &["delete", "del", "forwarddelete"]),
    (Named::Insert, &["insert", "ins"]),
    (Named::Up, &["up", "uparrow", "arrowup"]),
    (Named::Down, &["down", "downarrow", "arrowdown"]),
    (Named::Left, &["left", "leftarrow", "arrowleft"]),
    (Named::Right, &["right", "rightarrow", "arrowright"]),
    (Named::Home, &["home"]),
    (Named::End, &["end"]),
    (Named::PageUp, &["pageup", "pgup", "prior"]),
    (Named::PageDown, &["pagedown", "pgdn", "pgdown", "next"]),
    (Named::ShiftLeft, &["shift", "shiftl"]),
    (Named::ShiftRight, &["shiftr"]),
    (Named::ControlLeft, &["control", "ctrl", "controll", "ctrll"]),
    (Named::ControlRight, &["controlr", "ctrlr"]),
    (Named::AltLeft, &["alt", "option", "opt", "altl", "optionl"]),
    (Named::AltRight, &["altr", "optionr"]),
    (Named::CommandLeft, &[
        "command", "cmd", "super", "meta", "win", "windows", "winleft", "commandl", "superl", "winl", "metal",
    ]),
    (Named::CommandRight, &["commandr", "superr", "winr", "winright", "metar"]),
    (Named::AltGr, &["altgr", "isolevel3shift"]),
    (Named::CapsLock, &["capslock"]),
    (Named::NumLock, &["numlock"]),
    (Named::ScrollLock, &["scrolllock"]),
    (Named::PrintScreen, &["printscreen", "prtsc", "prtscr", "prntscrn", "printscrn", "print"]),
    (Named::Pause, &["pause", "break"]),
    (Named::Menu, &["menu", "apps", "contextmenu"]),
    (Named::Help, &["help"]),
    (Named::Fn, &["fn", "function"]),
    (Named::KeypadEnter, &["kpenter", "numpadenter"]),
    (Named::KeypadAdd, &["kpadd"]),
    (Named::KeypadSubtract, &["kpsubtract"]),
    (Named::KeypadMultiply, &["kpmultiply"]),
    (Named::KeypadDivide, &["kpdivide"]),
    (Named::KeypadDecimal, &["kpdecimal"]),
    (Named::VolumeUp, &["volumeup", "xf86audioraisevolume"]),
    (Named::VolumeDown, &["volumedown", "xf86audiolowervolume"]),
    (Named::VolumeMute, &["volumemute", "mute", "xf86audiomute"]),
    (Named::PlayPause, &["playpause", "xf86audioplay"]),
    (Named::NextTrack, &["nexttrack", "xf86audionext"]),
    (Named::PreviousTrack, &["prevtrack", "xf86audioprev"]),
];

/// What X calls the characters that have no name among the keys.
#[rustfmt::skip]
const CHARACTERS: &[(&str, char)] = &[
    ("exclam", '!'), ("quotedbl", '"'), ("numbersign", '#'), ("dollar", '$'), ("percent", '%'),
    ("ampersand", '&'), ("apostrophe", '\''), ("parenleft", '('), ("parenright", ')'),
    ("asterisk", '*'), ("plus", '+'), ("comma", ','), ("minus", '-'), ("period", '.'),
    ("slash", '/'), ("colon", ':'), ("semicolon", ';'), ("less", '<'), ("equal", '='),
    ("greater", '>'), ("question", '?'), ("at", '@'), ("bracketleft", '['), ("backslash", '\\'),
    ("bracketright", ']'), ("asciicircum", '^'), ("underscore", '_'), ("grave", '`'),
    ("braceleft", '{'), ("bar", '|'), ("braceright", '}'), ("asciitilde", '~'),
];

/// Why something is not a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyError {
    pub name: String,
    /// Names that it may have been meant for.
    pub near: Vec<String>,
}

impl From<KeyError> for DesktopError {
    fn from(KeyError { name, near }: KeyError) -> Self {
        Self::key(&name).expecting(near)
    }
}

impl Key {
    pub fn parse(name: &str) -> Result<Self, KeyError> {
        let mut characters = name.chars();
        if let (Some(only), None) = (characters.next(), characters.next()) {
            return match only {
                ' ' => Ok(Self::Named(Named::Space)),
                '\n' | '\r' => Ok(Self::Named(Named::Return)),
                '\t' => Ok(Self::Named(Named::Tab)),
                only if only.is_control() => Err(unknown(name)),
                only => Ok(Self::Char(only)),
            };
        }
        let plain = plain(name);
        if let Some(key) = numbered(&plain) {
            return Ok(Self::Named(key));
        }
        let named = NAMES.iter().find(|(_, names)| names.contains(&plain.as_str()));
        let named = named.map(|(key, _)| Self::Named(*key));
        let character = || CHARACTERS.iter().find(|(name, _)| *name == plain);
        named
            .or_else(|| character().map(|(_, character)| Self::Char(*character)))
            .ok_or_else(|| unknown(name))
    }

    pub fn modifier(self) -> Option<Modifier> {
        let Self::Named(named) = self else { return None };
        match named {
            Named::ShiftLeft | Named::ShiftRight => Some(Modifier::Shift),
            Named::ControlLeft | Named::ControlRight => Some(Modifier::Control),
            Named::AltLeft | Named::AltRight => Some(Modifier::Alt),
            Named::CommandLeft | Named::CommandRight => Some(Modifier::Command),
            _ => None,
        }
    }
}

impl From<Modifier> for Key {
    fn from(modifier: Modifier) -> Self {
        Self::Named(match modifier {
            Modifier::Shift => Named::ShiftLeft,
            Modifier::Control => Named::ControlLeft,
            Modifier::Alt => Named::AltLeft,
            Modifier::Command => Named::CommandLeft,
        })
    }
}

/// Blanks, `-` and `_` in a name do not count, nor does its case.
fn plain(name: &str) -> String {
    let counts = |c: &char| !c.is_whitespace() && !matches!(c, '-' | '_');
    name.chars().filter(counts).flat_map(char::to_lowercase).collect()
}

/// `f1` to `f24`, `kp_0` and `num0` to 9.
fn numbered(plain: &str) -> Option<Named> {
    let number = |digits: &str| {
        let canonical = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with("00");
        digits.parse::<u8>().ok().filter(|_| canonical)
    };
    if let Some(number) = plain.strip_prefix('f').and_then(number) {
        return (1..=24).contains(&number).then_some(Named::Function(number));
    }
    let digit = plain.strip_prefix("kp").or_else(|| plain.strip_prefix("num"));
    digit.filter(|digit| digit.len() == 1).and_then(number).map(Named::Keypad)
}

fn unknown(name: &str) -> KeyError {
    // However long it is, no key's name is.
    let plain: String = plain(name).chars().take(40).collect();
    let every = NAMES.iter().flat_map(|(_, names)| names.iter());
    let mut near: Vec<(usize, &str)> = every.map(|it| (levenshtein(&plain, it), *it)).collect();
    near.sort_unstable();
    let near = near.into_iter().take(3).map(|(_, name)| name.to_owned()).collect();
    KeyError { name: name.to_owned(), near }
}

/// Keys that are down together; the last of them is pressed last and released first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chord {
    pub keys: Vec<Key>,
}

/// Combinations that are pressed one after another, with the words in which they were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chords {
    pub spoken: String,
    pub chords: Vec<Chord>,
}

impl Chords {
    /// `ctrl+shift+t`, `ctrl+k ctrl+c`, `ctrl++`, `page up`.
    pub fn parse(spoken: &str) -> Result<Self, KeyError> {
        let whole = chord(spoken);
        let chords = match whole {
            Ok(chord) => vec![chord],
            Err(error) => {
                let parts: Vec<&str> = spoken.split_whitespace().collect();
                if parts.len() < 2 {
                    return Err(error);
                }
                parts.into_iter().map(chord).collect::<Result<_, _>>()?
            }
        };
        Ok(Self { spoken: spoken.to_owned(), chords })
    }

    /// Keys of one combination, each by its name.
    pub fn together(names: &[impl AsRef<str>]) -> Result<Self, KeyError> {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let keys = names.iter().map(|name| Key::parse(name)).collect::<Result<Vec<_>, _>>()?;
        if keys.is_empty() {
            return Err(unknown(""));
        }
        Ok(Self { spoken: names.join("+"), chords: vec![Chord { keys }] })
    }
}

fn chord(spoken: &str) -> Result<Chord, KeyError> {
    if let Ok(key) = Key::parse(spoken) {
        return Ok(Chord { keys: vec![key] });
    }
    // A plus sign at the end is a key, after one that joins.
    let (joined, last) = match spoken.strip_suffix("++") {
        Some(rest) => (rest, Some(Key::Char('+'))),
        None => (spoken, None),
    };
    let names = joined.split('+').map(str::trim);
    let mut keys = names.map(Key::parse).collect::<Result<Vec<_>, _>>().map_err(|error| {
        // The whole is what was asked for, unless a part of it can be named.
        if joined.contains('+') && !error.name.is_empty() { error } else { unknown(spoken) }
    })?;
    keys.extend(last);
    Ok(Chord { keys })
}

impl Chord {
    /// Whether it is one by which a person takes over or gives back.
    pub(super) fn is_reserved(&self) -> bool {
        let held: Vec<Modifier> = self.keys.iter().filter_map(|key| key.modifier()).collect();
        let both = held.contains(&Modifier::Control) && held.contains(&Modifier::Alt);
        both && self.keys.iter().any(|key| {
            matches!(key, Key::Named(Named::Escape | Named::Return | Named::KeypadEnter))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_the_name_of_one_key() {
        let mut names: Vec<&str> =
            NAMES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        names.extend(CHARACTERS.iter().map(|(name, _)| *name));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_key_is_known_in_any_spelling() {
        for (name, key) in [
            ("Return", Named::Return),
            ("PAGE_UP", Named::PageUp),
            ("page-up", Named::PageUp),
            ("Page Up", Named::PageUp),
            ("F1", Named::Function(1)),
            ("f24", Named::Function(24)),
            ("BackSpace", Named::Backspace),
            ("Control_L", Named::ControlLeft),
            ("KP_0", Named::Keypad(0)),
            ("num9", Named::Keypad(9)),
            (" ", Named::Space),
            ("ISO_Level3_Shift", Named::AltGr),
        ] {
            assert_eq!(Key::parse(name), Ok(Key::Named(key)), "{name}");
        }
        for (name, character) in
            [("a", 'a'), ("A", 'A'), ("plus", '+'), ("+", '+'), ("-", '-'), ("漢", '漢')]
        {
            assert_eq!(Key::parse(name), Ok(Key::Char(character)), "{name}");
        }
        for name in ["", "f0", "f25", "f001", "page_upp", "kp_10", "\0", "ab"] {
            assert!(Key::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_misspelt_key_is_told_what_it_may_have_been() {
        let error = DesktopError::from(Key::parse("page_upp").unwrap_err());
        assert_eq!(error.text, "Key not supported: page_upp key/command is not supported");
        assert_eq!(error.expected[0], "pageup");
    }

    #[test]
    fn combinations_are_read_as_they_are_spoken() {
        let named = |named| Key::Named(named);
        let control = named(Named::ControlLeft);
        for (spoken, chords) in [
            ("ctrl+shift+t", vec![vec![control, named(Named::ShiftLeft), Key::Char('t')]]),
            ("ctrl++", vec![vec![control, Key::Char('+')]]),
            ("+", vec![vec![Key::Char('+')]]),
            ("alt+F4", vec![vec![named(Named::AltLeft), named(Named::Function(4))]]),
            ("page up", vec![vec![named(Named::PageUp)]]),
            ("ctrl+k ctrl+c", vec![vec![control, Key::Char('k')], vec![control, Key::Char('c')]]),
        ] {
            let chords = chords.into_iter().map(|keys| Chord { keys }).collect();
            assert_eq!(Chords::parse(spoken), Ok(Chords { spoken: spoken.into(), chords }));
        }
        for spoken in ["", "ctrl+", "ctrl+nonsense", "+a+", "ctrl +++ a"] {
            assert!(Chords::parse(spoken).is_err(), "{spoken}");
        }
    }
}
