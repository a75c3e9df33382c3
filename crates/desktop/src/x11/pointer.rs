//! The pointer: moving it smoothly, clicking, dragging and turning the wheel.

use kernel::desktop::{Button, DesktopError, Direction, Drag, Modifier, Point};

use super::{
    hands::{Hands, number},
    keymap::{Keymap, symbol_of},
    link::wire,
};
use crate::{
    motion::{self, BEFORE_DROP, BETWEEN_CLICKS, Glide, LEAST_MOTIONS},
    stop::Stop,
};

impl Hands {
    pub fn move_to(&self, to: Point, seconds: f64, stop: &Stop) -> Result<(), DesktopError> {
        let target = self.link.within(to)?;
        if seconds > 0.0 {
            let _moving = stop.moves();
            self.glide(to, seconds, 0, stop)?;
        }
        stop.check()?;
        self.motion(target)?;
        self.verify(to)
    }

    /// A place so far from here, which must lie on the screen too.
    pub fn beside(&self, dx: i32, dy: i32) -> Result<Point, DesktopError> {
        motion::beside(self.link.pointer()?, dx, dy)
    }

    /// All steps but the last, each at its own time, slow at both ends.
    fn glide(&self, to: Point, seconds: f64, least: u32, stop: &Stop) -> Result<(), DesktopError> {
        let glide = Glide::new(self.link.pointer()?, to, seconds, least)?;
        for (when, at) in glide.places() {
            stop.rest_until(when)?;
            self.heed(stop)?;
            self.motion(wire(at)?)?;
            self.link.flush()?;
        }
        stop.rest_until(glide.end())?;
        self.heed(stop)
    }

    /// It has arrived when the next answer of the display has come.
    pub fn click(
        &mut self,
        button: Button,
        count: u8,
        modifiers: &[Modifier],
        stop: &Stop,
    ) -> Result<(), DesktopError> {
        let held = self.modifiers(modifiers)?;
        self.with_held(&held, |hands| {
            for nth in 0..count {
                if nth > 0 {
                    stop.rest(BETWEEN_CLICKS)?;
                }
                hands.tap(number(button))?;
            }
            Ok(())
        })
    }

    pub fn scroll(
        &mut self,
        direction: Direction,
        steps: u32,
        modifiers: &[Modifier],
        stop: &Stop,
    ) -> Result<(), DesktopError> {
        let wheel = match direction {
            Direction::Up => 4,
            Direction::Down => 5,
            Direction::Left => 6,
            Direction::Right => 7,
        };
        let held = self.modifiers(modifiers)?;
        self.with_held(&held, |hands| {
            for _ in 0..steps {
                stop.check()?;
                hands.tap(wheel)?;
            }
            hands.link.sync()
        })
    }

    pub fn drag(&mut self, drag: &Drag, stop: &Stop) -> Result<(), DesktopError> {
        let [first, rest @ ..] = drag.path.as_slice() else {
            return Err(DesktopError::bad("path must have at least 2 points"));
        };
        for point in &drag.path {
            self.link.within(*point)?;
        }
        let held = self.modifiers(&drag.modifiers)?;
        let _moving = stop.moves();
        self.place(*first)?;
        let legs = u32::try_from(rest.len()).unwrap_or(u32::MAX).max(1);
        let each = (drag.duration / f64::from(legs)).max(0.0);
        self.with_held(&held, |hands| {
            hands.hold_button(drag.button)?;
            let dragged = rest.iter().try_for_each(|point| {
                hands.glide(*point, each, LEAST_MOTIONS, stop)?;
                hands.place(*point)
            });
            let rested = dragged.and_then(|()| stop.rest(BEFORE_DROP));
            let dropped = hands.let_go_button(drag.button);
            rested.and(dropped)
        })
    }

    /// With keys held meanwhile, and let go whatever comes of it.
    pub fn with_held(
        &mut self,
        codes: &[u8],
        work: impl FnOnce(&mut Self) -> Result<(), DesktopError>,
    ) -> Result<(), DesktopError> {
        if codes.is_empty() {
            return work(self);
        }
        let new: Vec<u8> = codes.iter().copied().filter(|it| !self.keys.contains(it)).collect();
        let done = self.hold(&new).and_then(|()| work(self));
        let freed = self.let_go(&new);
        done.and(freed)
    }

    fn tap(&self, button: u8) -> Result<(), DesktopError> {
        self.button(button, true)?;
        self.button(button, false)
    }

    fn modifiers(&self, modifiers: &[Modifier]) -> Result<Vec<u8>, DesktopError> {
        if modifiers.is_empty() {
            return Ok(Vec::new());
        }
        let map = Keymap::read(&self.link)?;
        let code = |modifier: &Modifier| {
            let kernel::desktop::Key::Named(named) = (*modifier).into() else {
                return Err(DesktopError::key(modifier.name()));
            };
            let stroke = map.symbol(symbol_of(named)?);
            stroke.map(|it| it.code).ok_or_else(|| DesktopError::key(modifier.name()))
        };
        modifiers.iter().map(code).collect()
    }
}
