//! A desktop that is driven by the smallest things its platform can do; everything else is made of them here.

mod canvas;
mod layout;
mod performing;
mod pointer;
mod seat;

use std::time::Duration;

use kernel::desktop::{
    Button, Code, DesktopError, Direction, Display, Key, Pane, Point, Rect, Screen, Shot,
};

pub use self::{
    canvas::{Canvas, Picture, overlap},
    layout::{Layout, Place},
    seat::Rigged,
};
use crate::stop::Stop;

/// What is seen of a desktop. There are two of them: one for whoever acts, one for whoever looks on.
pub trait Eyes: Send {
    /// The name of what drives it.
    fn backend(&self) -> &'static str;

    /// All of them, in pixels of the whole screen.
    fn displays(&mut self) -> Result<Vec<Display>, DesktopError>;

    /// Where the pointer is, if that can be known.
    fn pointer(&mut self) -> Result<Point, DesktopError>;

    /// Rows from top to bottom, four bytes for each pixel: blue, green, red and one more.
    fn pixels(&mut self, area: Rect, cursor: bool) -> Result<Vec<u8>, DesktopError>;

    fn is_alive(&mut self) -> bool;
}

/// What can be done on a desktop, in its smallest parts. Each returns when it is done.
pub trait Hands: Send {
    /// Puts the pointer there, and sees to it that it is.
    fn point(&mut self, at: Point) -> Result<(), DesktopError>;

    fn button(&mut self, button: Button, down: bool) -> Result<(), DesktopError>;

    /// One step.
    fn wheel(&mut self, direction: Direction) -> Result<(), DesktopError>;

    /// Before any of them is pressed: whether all of them can be.
    fn prepare(&mut self, keys: &[Key]) -> Result<(), DesktopError>;

    fn key(&mut self, key: Key, down: bool) -> Result<(), DesktopError>;

    fn text(&mut self, text: &str, delay: Duration, stop: &Stop) -> Result<(), DesktopError>;

    /// The programs that may get what is done with the pointer, as far as that can be told.
    fn pointed_at(&mut self) -> Result<Vec<String>, DesktopError> {
        Ok(Vec::new())
    }

    /// The program that gets what is typed, if that can be told.
    fn in_focus(&mut self) -> Result<Option<String>, DesktopError> {
        Ok(None)
    }

    fn windows(&mut self) -> Result<Vec<Pane>, DesktopError> {
        Err(lacking("windows of other programs cannot be listed here"))
    }

    fn focus(&mut self, _id: u32, _stop: &Stop) -> Result<Pane, DesktopError> {
        Err(lacking("windows of other programs cannot be put in front here"))
    }

    fn close(&mut self, _id: u32, _stop: &Stop) -> Result<Pane, DesktopError> {
        Err(lacking("windows of other programs cannot be closed here"))
    }

    fn read_clipboard(&mut self, _stop: &Stop) -> Result<Option<String>, DesktopError> {
        Err(lacking("the clipboard cannot be read here"))
    }

    fn set_clipboard(&mut self, _text: &str) -> Result<(), DesktopError> {
        Err(lacking("the clipboard cannot be set here"))
    }

    /// The kinds of action that it cannot do.
    fn lacks(&self) -> Vec<&'static str>;

    fn is_alive(&mut self) -> bool;
}

pub fn lacking(text: impl Into<String>) -> DesktopError {
    DesktopError::new(Code::Unsupported, text)
}

/// How large everything is together.
pub fn size(displays: &[Display]) -> (u32, u32) {
    let end = |from: u32, length: u32| from.saturating_add(length);
    let width = displays.iter().map(|it| end(it.area.x, it.area.w)).max();
    let height = displays.iter().map(|it| end(it.area.y, it.area.h)).max();
    (width.unwrap_or(0), height.unwrap_or(0))
}

fn screen(eyes: &mut dyn Eyes) -> Result<Screen, DesktopError> {
    let displays = eyes.displays()?;
    let (w, h) = size(&displays);
    let backend = eyes.backend().to_owned();
    Ok(Screen { w, h, displays, backend, layout: String::new(), group: 0 })
}

/// The part of the screen that is meant.
fn area(eyes: &mut dyn Eyes, shot: &Shot) -> Result<Rect, DesktopError> {
    let displays = eyes.displays()?;
    let (w, h) = size(&displays);
    let mut whole = Rect { x: 0, y: 0, w, h };
    if let Some(id) = shot.display {
        let found = displays.iter().find(|display| display.id == id);
        let count = displays.len();
        let missing = || format!("there is no display {id}; there are {count}, from 0");
        whole = found.ok_or_else(|| DesktopError::bad(missing()))?.area;
    }
    let Some(region) = shot.region else { return Ok(whole) };
    let first = Point { x: region.x, y: region.y };
    let last = |from: u32, length: u32| from.saturating_add(length.saturating_sub(1));
    let last = Point { x: last(region.x, region.w), y: last(region.y, region.h) };
    let outside = [first, last].into_iter().find(|corner| !whole.contains(*corner));
    match outside {
        None => Ok(region),
        Some(corner) => Err(DesktopError::out_of_bounds(corner.x.into(), corner.y.into())),
    }
}
