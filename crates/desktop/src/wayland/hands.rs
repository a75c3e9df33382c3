//! Pressing and moving on Wayland, with a pointer and a keyboard of our own.

use std::{
    collections::BTreeMap,
    fs::File,
    io::Write as _,
    os::fd::AsFd as _,
    sync::PoisonError,
    time::{Duration, Instant},
};

use kernel::desktop::{Button, DesktopError, Direction, Key, Pane, Point};
use rustix::fs::{MemfdFlags, memfd_create};
use wayland_client::protocol::{
    wl_keyboard::KeymapFormat,
    wl_pointer::{Axis, AxisSource, ButtonState},
    wl_seat::WlSeat,
};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::{
    zwp_virtual_keyboard_manager_v1::ZwpVirtualKeyboardManagerV1,
    zwp_virtual_keyboard_v1::ZwpVirtualKeyboardV1,
};
use wayland_protocols_wlr::{
    screencopy::v1::client::zwlr_screencopy_manager_v1::ZwlrScreencopyManagerV1,
    virtual_pointer::v1::client::{
        zwlr_virtual_pointer_manager_v1::ZwlrVirtualPointerManagerV1,
        zwlr_virtual_pointer_v1::ZwlrVirtualPointerV1,
    },
};

use super::{
    clipboard::{self, Clipboard},
    eyes::At,
    journal::Journal,
    keymap::{Keymap, Stroke, is_lock, modifier, printed},
    link::{Link, World, lost, silent},
    outputs,
    windows::{self, Windows},
};
use crate::{
    rig::{Hands, lacking, size},
    stop::Stop,
};

/// How many keys are pressed before one sees whether they arrived, and whether to stop.
const AT_ONCE: usize = 32;
/// How far a page moves for one step of a wheel, as compositors count.
const STEP: f64 = 15.0;
/// What compositors call the first key that there can be.
const FIRST: u32 = 8;

pub struct Touch {
    link: Link,
    pointer: ZwlrVirtualPointerV1,
    keyboard: ZwpVirtualKeyboardV1,
    keymap: Keymap,
    /// The keys that are down, each with how many hold it.
    down: BTreeMap<u8, u32>,
    /// The modifiers that stay without being held.
    locked: u32,
    windows: Option<Windows>,
    clipboard: Option<Clipboard>,
    can_see: bool,
    at: At,
    begun: Instant,
    journal: Journal,
    buttons: Vec<u32>,
}

impl Touch {
    pub fn new(mut link: Link, journal: Journal, at: At) -> Result<Self, DesktopError> {
        let pointers: ZwlrVirtualPointerManagerV1 = link.require(1)?;
        let keyboards: ZwpVirtualKeyboardManagerV1 = link.require(1)?;
        let seat: WlSeat = link.require(1)?;
        let queue = link.handle();
        let pointer = pointers.create_virtual_pointer(Some(&seat), &queue, ());
        let keyboard = keyboards.create_virtual_keyboard(&seat, &queue, ());
        let can_see = link.bind::<ZwlrScreencopyManagerV1>(1).is_some();
        let windows = Windows::new(&link, seat.clone());
        let clipboard = Clipboard::new(&link, &seat);
        link.sync()?;
        let mut touch = Self {
            link,
            pointer,
            keyboard,
            keymap: Keymap::default(),
            down: BTreeMap::new(),
            locked: 0,
            windows,
            clipboard,
            can_see,
            at,
            begun: Instant::now(),
            journal,
            buttons: Vec::new(),
        };
        touch.show(Keymap::default())?;
        Ok(touch)
    }

    /// Milliseconds since some moment, as events are told apart.
    fn now(&self) -> u32 {
        u32::try_from(self.begun.elapsed().as_millis() & u128::from(u32::MAX)).unwrap_or(0)
    }

    /// Whoever reads what follows reads it by this.
    fn show(&mut self, keymap: Keymap) -> Result<(), DesktopError> {
        let mut text = keymap.text().into_bytes();
        text.push(0);
        let file = memfd_create("megaron-keymap", MemfdFlags::CLOEXEC).map_err(lost)?;
        let mut file = File::from(file);
        file.write_all(&text).map_err(lost)?;
        let size = u32::try_from(text.len()).map_err(lost)?;
        self.keyboard.keymap(u32::from(KeymapFormat::XkbV1), file.as_fd(), size);
        // The file must be there until the compositor has it.
        self.link.sync()?;
        self.keymap = keymap;
        self.tell_modifiers(self.locked);
        Ok(())
    }

    /// Lends keys to those characters that have none, beside those whose keys are held.
    fn lend(&mut self, characters: &[char]) -> Result<(), DesktopError> {
        let lacking = characters.iter().any(|it| self.keymap.character(*it).is_none());
        if !lacking {
            return Ok(());
        }
        let mut lent: Vec<char> = Vec::new();
        if self.down.keys().any(|code| modifier(*code) == 0) {
            lent.extend(self.keymap.lent());
        }
        for character in characters {
            if printed(*character).is_none() && !lent.contains(character) {
                lent.push(*character);
            }
        }
        lent.truncate(Keymap::spare());
        self.show(Keymap::lending(lent))
    }

    fn press(&mut self, code: u8, down: bool, locked: u32) {
        let count = self.down.entry(code).or_default();
        *count = if down { *count + 1 } else { count.saturating_sub(1) };
        let (changes, gone) = (*count == u32::from(down), *count == 0);
        if gone {
            self.down.remove(&code);
        }
        if !changes {
            return;
        }
        self.keyboard.key(self.now(), u32::from(code) - FIRST, u32::from(down));
        if modifier(code) != 0 {
            self.tell_modifiers(locked);
        }
    }

    fn tell_modifiers(&self, locked: u32) {
        let held = self.down.keys().filter(|code| !is_lock(**code));
        let held = held.fold(0, |bits, code| bits | modifier(*code));
        self.keyboard.modifiers(held, 0, locked, 0);
    }

    fn strike(&mut self, stroke: Stroke) {
        for code in stroke.codes() {
            self.press(code, true, 0);
        }
        for code in stroke.codes().rev() {
            self.press(code, false, 0);
        }
    }

    fn type_all(
        &mut self,
        characters: &[char],
        delay: Duration,
        stop: &Stop,
    ) -> Result<(), DesktopError> {
        let at_once = if delay.is_zero() { AT_ONCE } else { 1 };
        let mut rest = characters;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(fitting(rest));
            self.lend(now)?;
            for characters in now.chunks(at_once) {
                stop.check()?;
                for character in characters {
                    let stroke = self.keymap.character(*character);
                    self.strike(stroke.ok_or_else(|| lacking("a character has no key"))?);
                }
                self.link.sync()?;
                if !delay.is_zero() {
                    stop.rest(delay)?;
                }
            }
            rest = later;
        }
        Ok(())
    }

    fn told(&self) -> Result<Windows, DesktopError> {
        let none = "this Wayland compositor offers no zwlr_foreign_toplevel_manager_v1";
        self.windows.clone().ok_or_else(|| lacking(none))
    }

    fn board(&self) -> Result<&Clipboard, DesktopError> {
        let none = "this Wayland compositor offers no zwlr_data_control_manager_v1";
        self.clipboard.as_ref().ok_or_else(|| lacking(none))
    }
}

impl Hands for Touch {
    fn point(&mut self, at: Point) -> Result<(), DesktopError> {
        let (w, h) = size(&outputs::layout(&self.link.world.outputs)?.displays);
        // In the middle of the pixel, so that nothing is rounded to another.
        let middle = |number: u32| number.saturating_mul(2).saturating_add(1);
        let (x, y) = (middle(at.x), middle(at.y));
        self.pointer.motion_absolute(self.now(), x, y, w.saturating_mul(2), h.saturating_mul(2));
        self.pointer.frame();
        self.link.sync()?;
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
        Ok(())
    }

    fn button(&mut self, button: Button, down: bool) -> Result<(), DesktopError> {
        let code = match button {
            Button::Left => 0x110,
            Button::Right => 0x111,
            Button::Middle => 0x112,
            Button::Back => 0x113,
            Button::Forward => 0x114,
        };
        let state = if down { ButtonState::Pressed } else { ButtonState::Released };
        if down {
            self.buttons.push(code);
            self.journal.buttons(&self.buttons)?;
        }
        self.pointer.button(self.now(), code, state);
        self.pointer.frame();
        self.link.sync()?;
        if !down {
            self.buttons.retain(|it| *it != code);
            self.journal.buttons(&self.buttons)?;
        }
        Ok(())
    }

    fn wheel(&mut self, direction: Direction) -> Result<(), DesktopError> {
        let (axis, sign) = match direction {
            Direction::Up => (Axis::VerticalScroll, -1),
            Direction::Down => (Axis::VerticalScroll, 1),
            Direction::Left => (Axis::HorizontalScroll, -1),
            Direction::Right => (Axis::HorizontalScroll, 1),
        };
        self.pointer.axis_source(AxisSource::Wheel);
        self.pointer.axis_discrete(self.now(), axis, STEP * f64::from(sign), sign);
        self.pointer.frame();
        self.link.sync()
    }

    fn prepare(&mut self, keys: &[Key]) -> Result<(), DesktopError> {
        let characters = keys.iter().filter_map(|key| match key {
            Key::Char(character) => Some(*character),
            Key::Named(_) => None,
        });
        self.lend(&characters.collect::<Vec<_>>())?;
        keys.iter().try_for_each(|key| self.keymap.key(*key).map(drop))
    }

    fn key(&mut self, key: Key, down: bool) -> Result<(), DesktopError> {
        let stroke = self.keymap.key(key)?;
        if down && is_lock(stroke.code) {
            self.locked ^= modifier(stroke.code);
        }
        // A character is that character, whatever is locked.
        let locked = if matches!(key, Key::Char(_)) { 0 } else { self.locked };
        let codes: Vec<u8> = stroke.codes().collect();
        if down {
            self.tell_modifiers(locked);
            for code in codes {
                self.press(code, true, locked);
            }
        } else {
            for code in codes.into_iter().rev() {
                self.press(code, false, locked);
            }
            self.tell_modifiers(self.locked);
        }
        self.link.sync()
    }

    fn text(&mut self, text: &str, delay: Duration, stop: &Stop) -> Result<(), DesktopError> {
        // Any end of a line is one press of Return.
        let characters: Vec<char> = text.replace("\r\n", "\n").chars().collect();
        self.tell_modifiers(0);
        let typed = self.type_all(&characters, delay, stop);
        // Whoever is typed to next shall not learn what was typed here.
        if !self.keymap.lent().is_empty() && self.down.is_empty() {
            self.show(Keymap::default())?;
        }
        self.tell_modifiers(self.locked);
        self.link.sync()?;
        typed
    }

    /// Nobody tells where a window lies, so it may be any that is shown.
    fn pointed_at(&mut self) -> Result<Vec<String>, DesktopError> {
        if self.windows.is_none() {
            return Ok(Vec::new());
        }
        let panes = windows::list(&mut self.link)?.into_iter();
        Ok(panes.filter(|pane| !pane.minimized).map(|pane| pane.class).collect())
    }

    fn in_focus(&mut self) -> Result<Option<String>, DesktopError> {
        if self.windows.is_none() {
            return Ok(None);
        }
        let mut panes = windows::list(&mut self.link)?.into_iter();
        Ok(panes.find(|pane| pane.focused).map(|pane| pane.class))
    }

    fn windows(&mut self) -> Result<Vec<Pane>, DesktopError> {
        self.told()?;
        windows::list(&mut self.link)
    }

    fn focus(&mut self, id: u32, stop: &Stop) -> Result<Pane, DesktopError> {
        self.told()?.focus(&mut self.link, id, stop)
    }

    fn close(&mut self, id: u32, stop: &Stop) -> Result<Pane, DesktopError> {
        self.told()?;
        windows::close(&mut self.link, id, stop)
    }

    fn read_clipboard(&mut self, stop: &Stop) -> Result<Option<String>, DesktopError> {
        self.board()?;
        clipboard::read(&mut self.link, stop)
    }

    fn set_clipboard(&mut self, text: &str) -> Result<(), DesktopError> {
        self.board()?;
        clipboard::offer(&self.link.socket, text.to_owned())
    }

    fn lacks(&self) -> Vec<&'static str> {
        let mut lacks = vec!["window_move"];
        if self.windows.is_none() {
            lacks.extend(["window_list", "window_focus", "window_close"]);
        }
        if self.clipboard.is_none() {
            lacks.extend(["clipboard_get", "clipboard_set"]);
        }
        if !self.can_see {
            lacks.extend(["screenshot", "zoom"]);
        }
        lacks
    }

    fn is_alive(&mut self) -> bool {
        self.link.is_alive()
    }
}

impl Drop for Touch {
    /// Whatever key is still held then the compositor lets go.
    fn drop(&mut self) {
        self.keyboard.destroy();
        self.pointer.destroy();
        // There may be nobody any more to hear it.
        self.link.flush().ok();
    }
}

/// How many characters from the front need no more keys than can be lent, half of which may be in use.
fn fitting(characters: &[char]) -> usize {
    let most = Keymap::spare() / 2;
    let mut lent: Vec<char> = Vec::new();
    for (at, character) in characters.iter().enumerate() {
        if printed(*character).is_some() || lent.contains(character) {
            continue;
        }
        if lent.len() == most {
            return at;
        }
        lent.push(*character);
    }
    characters.len()
}

silent!(
    ZwlrVirtualPointerManagerV1,
    ZwlrVirtualPointerV1,
    ZwpVirtualKeyboardManagerV1,
    ZwpVirtualKeyboardV1,
);
