//! Pressing and moving: the smallest things that can be sent to a display, and what is held by us.

use std::{cell::Cell, sync::Arc, time::Duration};

use kernel::desktop::{Button, DesktopError, Point};
use x11rb::{
    NONE,
    protocol::{
        xproto::{
            BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
            MOTION_NOTIFY_EVENT, Window,
        },
        xtest::ConnectionExt as _,
    },
};

use super::{
    ears::Ears,
    journal::Journal,
    link::{Link, lost},
};
use crate::{
    ledger::{Ledger, Sent},
    stop::Stop,
};

/// Used by one thread alone.
pub struct Hands {
    pub link: Link,
    pub ears: Arc<Ears>,
    ledger: Arc<Ledger>,
    pub journal: Journal,
    /// Down because of us until somebody says otherwise, oldest first.
    pub keys: Vec<u8>,
    pub buttons: Vec<Button>,
    /// The window that was under the pointer when that was last seen to be where it should.
    pub under: Cell<Option<Window>>,
    /// Where we put the pointer last, within what is being done.
    pub last: Cell<Option<Point>>,
    /// How long a window may take to fetch what is pasted into it.
    pub patience: Duration,
}

impl Hands {
    pub fn new(
        link: Link,
        ears: Arc<Ears>,
        ledger: Arc<Ledger>,
        journal: Journal,
        patience: Duration,
    ) -> Self {
        let (keys, buttons) = (Vec::new(), Vec::new());
        let (under, last) = (Cell::default(), Cell::default());
        Self { link, ears, ledger, journal, keys, buttons, under, last, patience }
    }

    pub fn key(&self, code: u8, down: bool) -> Result<(), DesktopError> {
        let event = if down { KEY_PRESS_EVENT } else { KEY_RELEASE_EVENT };
        self.fake(event, code, (0, 0), Sent::Key { code, down })
    }

    pub fn button(&self, button: u8, down: bool) -> Result<(), DesktopError> {
        let event = if down { BUTTON_PRESS_EVENT } else { BUTTON_RELEASE_EVENT };
        self.fake(event, button, (0, 0), Sent::Button { code: button, down })
    }

    pub fn motion(&self, to: (i16, i16)) -> Result<(), DesktopError> {
        let at = point(to);
        self.ears.put(at);
        self.last.set(Some(at));
        self.fake(MOTION_NOTIFY_EVENT, 0, to, Sent::Motion)
    }

    /// Whether the pointer is still where we put it last: whoever moved it since may have taken over.
    pub fn heed(&self, stop: &Stop) -> Result<(), DesktopError> {
        // Between two displays there may be nothing that it could stay on.
        if let Some(ours) = self.last.get()
            && self.ears.has_to_look()
            && self.link.within(ours).is_ok()
        {
            self.ears.seen(self.link.pointer()?, ours);
        }
        stop.check()
    }

    fn fake(
        &self,
        event: u8,
        detail: u8,
        (x, y): (i16, i16),
        sent: Sent,
    ) -> Result<(), DesktopError> {
        self.ledger.note(sent);
        let root = if event == MOTION_NOTIFY_EVENT { self.link.root } else { NONE };
        let faked = self.link.conn.xtest_fake_input(event, detail, 0, root, x, y, 0);
        // What the server thinks of it comes with the next reply.
        faked.map_err(lost)?.ignore_error();
        Ok(())
    }

    /// Moves there and sees to it that the pointer is where it should be.
    pub fn place(&self, point: Point) -> Result<(), DesktopError> {
        let to = self.link.within(point)?;
        self.motion(to)?;
        self.verify(point)
    }

    /// There, or nowhere.
    pub fn go(&self, point: Option<Point>) -> Result<(), DesktopError> {
        point.map_or(Ok(()), |point| self.place(point))
    }

    /// Where the pointer is, and in which window.
    pub fn look(&self) -> Result<Point, DesktopError> {
        let (at, under) = self.link.pointer_and_window()?;
        self.under.set(Some(under));
        Ok(at)
    }

    pub fn verify(&self, point: Point) -> Result<(), DesktopError> {
        let at = self.look()?;
        if at == point {
            return Ok(());
        }
        let text = format!("the pointer is at ({}, {}) instead", at.x, at.y);
        Err(DesktopError::failed(text))
    }

    /// Presses keys and keeps them down; on record first, so that they come up again whatever
    /// happens to us.
    pub fn hold(&mut self, codes: &[u8]) -> Result<(), DesktopError> {
        let new: Vec<u8> = codes.iter().copied().filter(|it| !self.keys.contains(it)).collect();
        self.keys.extend(&new);
        self.journal.keys(&self.keys)?;
        for code in new {
            self.key(code, true)?;
        }
        self.link.sync()
    }

    pub fn let_go(&mut self, codes: &[u8]) -> Result<(), DesktopError> {
        for code in codes.iter().rev().filter(|code| self.keys.contains(code)) {
            self.key(*code, false)?;
        }
        self.link.sync()?;
        self.keys.retain(|code| !codes.contains(code));
        self.journal.keys(&self.keys)
    }

    pub fn hold_button(&mut self, button: Button) -> Result<(), DesktopError> {
        self.buttons.push(button);
        self.journal.buttons(&numbers(&self.buttons))?;
        self.button(number(button), true)?;
        self.link.sync()
    }

    pub fn let_go_button(&mut self, button: Button) -> Result<(), DesktopError> {
        self.button(number(button), false)?;
        self.link.sync()?;
        self.buttons.retain(|it| *it != button);
        self.journal.buttons(&numbers(&self.buttons))
    }

    /// Lets go of everything that is down because of us; says of how many keys and buttons.
    pub fn release_all(&mut self) -> Result<(usize, usize), DesktopError> {
        let counts = (self.keys.len(), self.buttons.len());
        for button in self.buttons.clone() {
            self.let_go_button(button)?;
        }
        self.let_go(&self.keys.clone())?;
        Ok(counts)
    }
}

/// In the numbers of the wire, which are never below zero on a screen.
fn point((x, y): (i16, i16)) -> Point {
    let unsigned = |number: i16| u32::try_from(number).unwrap_or(0);
    Point { x: unsigned(x), y: unsigned(y) }
}

fn numbers(buttons: &[Button]) -> Vec<u8> {
    buttons.iter().copied().map(number).collect()
}

/// What the display calls a button.
pub fn number(button: Button) -> u8 {
    match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
        Button::Back => 8,
        Button::Forward => 9,
    }
}
