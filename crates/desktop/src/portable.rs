//! The desktop of macOS and Windows: input by `enigo`, pictures by `xcap`. Runs on X11 too, for its tests.

mod keys;
#[cfg(not(target_os = "linux"))]
mod monitors;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use enigo::{Axis, Coordinate, Direction as Press, Enigo, Keyboard as _, Mouse as _, NewConError};
use kernel::desktop::{Button, Code, DesktopError, Direction, Display, Key, Point, Rect};

use crate::{
    rig::{Canvas, Eyes, Hands, Layout, Picture, Place, overlap},
    stop::Stop,
};

/// How long a platform may take to move the pointer.
const PATIENCE: Duration = Duration::from_millis(500);
const GLANCE: Duration = Duration::from_millis(2);
/// How far off it may be: platforms count in parts of a pixel and cut them off.
const TOLERANCE: u32 = 1;
/// How many characters are typed before one sees whether to stop.
const AT_ONCE: usize = 32;

/// The displays of a platform.
pub trait Monitors: Send + Sync {
    fn places(&self) -> Result<Vec<Place>, DesktopError>;

    /// What one of them shows, by its place among the others.
    fn picture(&self, nth: usize) -> Result<Picture, DesktopError>;
}

#[cfg(not(target_os = "linux"))]
pub fn open(
    settings: &crate::local::Settings,
    desk: &Arc<crate::desk::Desk>,
) -> Result<crate::rig::Rigged, DesktopError> {
    // Else everything would be measured in what programs of long ago took for pixels.
    #[cfg(target_os = "windows")]
    if enigo::set_dpi_awareness().is_err() {
        tracing::debug!("how pixels are counted was decided before");
    }
    let monitors: Arc<dyn Monitors> = Arc::new(monitors::All);
    let hands = Grip::new(None, Arc::clone(&monitors))?;
    let acting = Sight::new(None, Arc::clone(&monitors))?;
    let looking = Sight::new(None, monitors)?;
    let eyes: [Box<dyn Eyes>; 2] = [Box::new(acting), Box::new(looking)];
    crate::rig::Rigged::new(Box::new(hands), eyes, settings, desk)
}

fn connect(display: Option<&str>) -> Result<Enigo, DesktopError> {
    let settings = enigo::Settings {
        linux_delay: 0,
        x11_display: display.map(ToOwned::to_owned),
        // What we hold we let go ourselves.
        release_keys_when_dropped: true,
        ..enigo::Settings::default()
    };
    Enigo::new(&settings).map_err(|error| match error {
        NewConError::NoPermission => DesktopError::new(
            Code::Permission,
            "this program may not control the computer: allow it in the system settings, under \
             Privacy & Security, Accessibility",
        ),
        other => DesktopError::new(Code::NoDisplay, format!("no display: {other}")),
    })
}

pub struct Grip {
    enigo: Enigo,
    monitors: Arc<dyn Monitors>,
}

impl Grip {
    pub fn new(display: Option<&str>, monitors: Arc<dyn Monitors>) -> Result<Self, DesktopError> {
        Ok(Self { enigo: connect(display)?, monitors })
    }
}

impl Hands for Grip {
    fn point(&mut self, at: Point) -> Result<(), DesktopError> {
        let (x, y) = Layout::new(&self.monitors.places()?).unit(at);
        self.enigo.move_mouse(x, y, Coordinate::Abs).map_err(failed)?;
        let end = Instant::now() + PATIENCE;
        loop {
            let (now_x, now_y) = self.enigo.location().map_err(failed)?;
            if now_x.abs_diff(x) <= TOLERANCE && now_y.abs_diff(y) <= TOLERANCE {
                return Ok(());
            }
            if Instant::now() >= end {
                return Err(stuck());
            }
            Stop::default().rest(GLANCE)?;
        }
    }

    fn button(&mut self, button: Button, down: bool) -> Result<(), DesktopError> {
        let button = match button {
            Button::Left => enigo::Button::Left,
            Button::Right => enigo::Button::Right,
            Button::Middle => enigo::Button::Middle,
            #[cfg(not(target_os = "macos"))]
            Button::Back => enigo::Button::Back,
            #[cfg(not(target_os = "macos"))]
            Button::Forward => enigo::Button::Forward,
            #[cfg(target_os = "macos")]
            Button::Back | Button::Forward => {
                return Err(crate::rig::lacking(
                    "the buttons back and forward cannot be pressed here",
                ));
            }
        };
        self.enigo.button(button, press(down)).map_err(failed)
    }

    fn wheel(&mut self, direction: Direction) -> Result<(), DesktopError> {
        let (length, axis) = match direction {
            Direction::Up => (-1, Axis::Vertical),
            Direction::Down => (1, Axis::Vertical),
            Direction::Left => (-1, Axis::Horizontal),
            Direction::Right => (1, Axis::Horizontal),
        };
        self.enigo.scroll(length, axis).map_err(failed)
    }

    fn prepare(&mut self, keys: &[Key]) -> Result<(), DesktopError> {
        keys.iter().try_for_each(|key| keys::native(*key).map(drop))
    }

    fn key(&mut self, key: Key, down: bool) -> Result<(), DesktopError> {
        self.enigo.key(keys::native(key)?, press(down)).map_err(failed)
    }

    fn text(&mut self, text: &str, delay: Duration, stop: &Stop) -> Result<(), DesktopError> {
        // Any end of a line is one press of Return.
        let characters: Vec<char> = text.replace("\r\n", "\n").chars().collect();
        let at_once = if delay.is_zero() { AT_ONCE } else { 1 };
        for line in characters.split_inclusive(|it| matches!(it, '\n' | '\r' | '\t')) {
            let (last, letters) = match line.split_last() {
                Some(('\n' | '\r', letters)) => (Some(enigo::Key::Return), letters),
                Some(('\t', letters)) => (Some(enigo::Key::Tab), letters),
                _ => (None, line),
            };
            for letters in letters.chunks(at_once) {
                stop.check()?;
                let text: String = letters.iter().collect();
                self.enigo.text(&text).map_err(failed)?;
                if !delay.is_zero() {
                    stop.rest(delay)?;
                }
            }
            if let Some(last) = last {
                self.enigo.key(last, Press::Click).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn lacks(&self) -> Vec<&'static str> {
        let windows = ["window_list", "window_focus", "window_move", "window_close"];
        [&windows as &[_], &["clipboard_get", "clipboard_set"]].concat()
    }

    fn is_alive(&mut self) -> bool {
        self.enigo.location().is_ok()
    }
}

pub struct Sight {
    enigo: Enigo,
    monitors: Arc<dyn Monitors>,
}

impl Sight {
    pub fn new(display: Option<&str>, monitors: Arc<dyn Monitors>) -> Result<Self, DesktopError> {
        Ok(Self { enigo: connect(display)?, monitors })
    }

    fn layout(&self) -> Result<Layout, DesktopError> {
        Ok(Layout::new(&self.monitors.places()?))
    }
}

impl Eyes for Sight {
    fn backend(&self) -> &'static str {
        "native"
    }

    fn displays(&mut self) -> Result<Vec<Display>, DesktopError> {
        Ok(self.layout()?.displays)
    }

    fn pointer(&mut self) -> Result<Point, DesktopError> {
        let at = self.enigo.location().map_err(failed)?;
        Ok(self.layout()?.pixel(at))
    }

    /// The pointer is never in it: no platform lends it to others.
    fn pixels(&mut self, area: Rect, _cursor: bool) -> Result<Vec<u8>, DesktopError> {
        let mut whole = Canvas::new(area)?;
        for (nth, display) in self.layout()?.displays.into_iter().enumerate() {
            if overlap(display.area, area).is_some() {
                whole.draw(self.monitors.picture(nth)?, display.area)?;
            }
        }
        Ok(whole.bytes)
    }

    fn is_alive(&mut self) -> bool {
        self.enigo.location().is_ok()
    }
}

fn press(down: bool) -> Press {
    if down { Press::Press } else { Press::Release }
}

fn failed(error: impl fmt::Display) -> DesktopError {
    DesktopError::failed(format!("OS Failure: {error}"))
}

/// What a platform silently drops it does not allow.
fn stuck() -> DesktopError {
    let text = "the pointer did not move: the system does not let this program move it there, as \
                above a window of an administrator or a locked screen";
    DesktopError::new(Code::Permission, text)
}
