//! Whether there is any window that shall be left alone: counted once, and again when windows come or change.

use std::collections::HashMap;

use kernel::desktop::DesktopError;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, Window,
};

use super::{
    link::{Link, lost},
    windows::{self, class_from},
};
use crate::denied::is_among;

/// How far within a frame the window of a program may be.
const DEPTH: u8 = 4;
/// The longest name of a program, in units of four bytes.
const LONGEST: u32 = 256;

pub struct Census {
    /// Programs whose windows get no input.
    denied: Vec<String>,
    /// Whether there are any, as far as is known.
    found: Option<bool>,
    /// The windows of which we hear when they change their name.
    heeded: Vec<Window>,
    /// What programs they belong to, if to any that says so.
    classes: HashMap<Window, Option<String>>,
}

impl Census {
    pub fn new(denied: Vec<String>) -> Self {
        Self { denied, found: None, heeded: Vec::new(), classes: HashMap::new() }
    }

    /// Whether each window must be looked at before it is touched. Most of the time there is none
    /// that matters, and knowing that costs nothing.
    pub fn is_wary(&mut self, link: &Link) -> Result<bool, DesktopError> {
        if self.denied.is_empty() {
            return Ok(false);
        }
        let stirred = link.have_windows_stirred()?;
        match self.found {
            Some(found) if !stirred => Ok(found),
            Some(_) | None => {
                self.found = None;
                // Listening comes first, or one that comes meanwhile would be missed.
                link.heed_windows(true)?;
                let found = self.count(link)?;
                self.found = Some(found);
                Ok(found)
            }
        }
    }

    /// What program a window belongs to, asked for only where it was not counted.
    pub fn class_of(&self, link: &Link, window: Window) -> Result<Option<String>, DesktopError> {
        match self.classes.get(&window).filter(|_| self.found.is_some()) {
            Some(class) => Ok(class.clone()),
            None if window == link.root => Ok(None),
            None => windows::class_of(link, window),
        }
    }

    pub fn denies(&self, class: &str) -> bool {
        is_among(&self.denied, class)
    }

    /// Whether anything is heard that nobody would read while nothing is done.
    pub fn is_listening(&self) -> bool {
        self.found.is_some() || !self.heeded.is_empty()
    }

    /// Hears no more of windows until it is asked again.
    pub fn rest(&mut self, link: &Link) -> Result<(), DesktopError> {
        let heeded = std::mem::take(&mut self.heeded);
        self.found = None;
        link.heed_windows(false)?;
        for window in heeded {
            heed(link, window, EventMask::NO_EVENT)?;
        }
        link.have_windows_stirred().map(drop)
    }

    /// All windows of one depth are asked at once, so that it takes as many round trips as there are depths.
    fn count(&mut self, link: &Link) -> Result<bool, DesktopError> {
        let conn = &link.conn;
        let outer = conn.query_tree(link.root).map_err(lost)?.reply().map_err(lost)?.children;
        // Each with the one of them in which it lies, and what is known of those in between.
        let mut windows: Vec<_> = outer.into_iter().map(|window| (window, window, None)).collect();
        let mut found = false;
        self.heeded.clear();
        self.classes.clear();
        for _ in 0..DEPTH {
            let mut asked = Vec::with_capacity(windows.len());
            for (window, frame, around) in windows {
                heed(link, window, EventMask::PROPERTY_CHANGE)?;
                self.heeded.push(window);
                let (class, text) = (AtomEnum::WM_CLASS, AtomEnum::ANY);
                let class = conn.get_property(false, window, class, text, 0, LONGEST);
                let within = conn.query_tree(window).map_err(lost)?;
                asked.push((window, frame, around, class.map_err(lost)?, within));
            }
            windows = Vec::new();
            for (window, frame, around, class, within) in asked {
                // One that has gone meanwhile has neither.
                let own = class.reply().ok().and_then(|it| class_from(&it.value));
                found |= own.as_deref().is_some_and(|class| self.denies(class));
                let class = own.or(around);
                self.classes.insert(window, class.clone());
                let framed = self.classes.entry(frame).or_default();
                *framed = framed.take().or_else(|| class.clone());
                let within = within.reply().into_iter().flat_map(|it| it.children);
                windows.extend(within.map(|window| (window, frame, class.clone())));
            }
        }
        Ok(found)
    }
}

fn heed(link: &Link, window: Window, events: EventMask) -> Result<(), DesktopError> {
    let changes = ChangeWindowAttributesAux::new().event_mask(events);
    let heeded = link.conn.change_window_attributes(window, &changes);
    // One that has gone changes no more.
    heeded.map_err(lost)?.ignore_error();
    Ok(())
}
