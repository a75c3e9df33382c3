//! What `enigo` calls the keys, on each platform.

use enigo::Key as Native;
use kernel::desktop::{DesktopError, Key, Named};

use crate::rig::lacking;

pub fn native(key: Key) -> Result<Native, DesktopError> {
    let named = match key {
        Key::Char(character) => return Ok(Native::Unicode(character)),
        Key::Named(named) => named,
    };
    common(named).or_else(|| own(named)).ok_or_else(|| lacking("this platform has no such key"))
}

/// Those that are everywhere.
fn common(named: Named) -> Option<Native> {
    Some(match named {
        Named::Return | Named::KeypadEnter => Native::Return,
        Named::Tab => Native::Tab,
        Named::Escape => Native::Escape,
        Named::Space => Native::Space,
        Named::Backspace => Native::Backspace,
        Named::Delete => Native::Delete,
        Named::Up => Native::UpArrow,
        Named::Down => Native::DownArrow,
        Named::Left => Native::LeftArrow,
        Named::Right => Native::RightArrow,
        Named::Home => Native::Home,
        Named::End => Native::End,
        Named::PageUp => Native::PageUp,
        Named::PageDown => Native::PageDown,
        Named::Function(number) => return function(number),
        Named::ShiftLeft => Native::Shift,
        Named::ShiftRight => Native::RShift,
        Named::ControlLeft => Native::Control,
        Named::ControlRight => Native::RControl,
        Named::AltLeft => Native::Alt,
        Named::CommandLeft => Native::Meta,
        Named::CapsLock => Native::CapsLock,
        Named::Help => Native::Help,
        Named::Keypad(digit) => return keypad(digit),
        Named::KeypadAdd => Native::Add,
        Named::KeypadSubtract => Native::Subtract,
        Named::KeypadMultiply => Native::Multiply,
        Named::KeypadDivide => Native::Divide,
        Named::KeypadDecimal => Native::Decimal,
        Named::VolumeUp => Native::VolumeUp,
        Named::VolumeDown => Native::VolumeDown,
        Named::VolumeMute => Native::VolumeMute,
        Named::PlayPause => Native::MediaPlayPause,
        Named::NextTrack => Native::MediaNextTrack,
        Named::PreviousTrack => Native::MediaPrevTrack,
        Named::Insert
        | Named::AltRight
        | Named::CommandRight
        | Named::AltGr
        | Named::NumLock
        | Named::ScrollLock
        | Named::PrintScreen
        | Named::Pause
        | Named::Menu
        | Named::Fn => return None,
    })
}

#[cfg(target_os = "windows")]
fn own(named: Named) -> Option<Native> {
    Some(match named {
        Named::Insert => Native::Insert,
        Named::AltRight | Named::AltGr => Native::RMenu,
        Named::CommandRight => Native::RWin,
        Named::NumLock => Native::Numlock,
        Named::ScrollLock => Native::Scroll,
        Named::PrintScreen => Native::PrintScr,
        Named::Pause => Native::Pause,
        Named::Menu => Native::Apps,
        _ => return None,
    })
}

#[cfg(target_os = "macos")]
fn own(named: Named) -> Option<Native> {
    Some(match named {
        Named::AltRight | Named::AltGr => Native::ROption,
        Named::CommandRight => Native::RCommand,
        Named::Fn => Native::Function,
        _ => return None,
    })
}

#[cfg(not(any(target_os = "windows", target_os = "macos")))]
fn own(named: Named) -> Option<Native> {
    Some(match named {
        Named::Insert => Native::Insert,
        Named::NumLock => Native::Numlock,
        Named::ScrollLock => Native::ScrollLock,
        Named::PrintScreen => Native::PrintScr,
        Named::Pause => Native::Pause,
        _ => return None,
    })
}

fn function(number: u8) -> Option<Native> {
    #[rustfmt::skip]
    let keys = [
        Native::F1, Native::F2, Native::F3, Native::F4, Native::F5, Native::F6, Native::F7,
        Native::F8, Native::F9, Native::F10, Native::F11, Native::F12, Native::F13, Native::F14,
        Native::F15, Native::F16, Native::F17, Native::F18, Native::F19, Native::F20,
        #[cfg(not(target_os = "macos"))] Native::F21,
        #[cfg(not(target_os = "macos"))] Native::F22,
        #[cfg(not(target_os = "macos"))] Native::F23,
        #[cfg(not(target_os = "macos"))] Native::F24,
    ];
    keys.get(usize::from(number).checked_sub(1)?).copied()
}

fn keypad(digit: u8) -> Option<Native> {
    let keys = [
        Native::Numpad0,
        Native::Numpad1,
        Native::Numpad2,
        Native::Numpad3,
        Native::Numpad4,
        Native::Numpad5,
        Native::Numpad6,
        Native::Numpad7,
        Native::Numpad8,
        Native::Numpad9,
    ];
    keys.get(usize::from(digit)).copied()
}
