//! The pointer: moving it smoothly, clicking, dragging and turning the wheel.

use std::time::{Duration, Instant};

use kernel::desktop::{Button, DesktopError, Direction, Drag, Modifier, Point};

use super::{
    hands::{Hands, number},
    keymap::Keymap,
    keymap::symbol_of,
};
use crate::stop::Stop;

/// Between two steps of a smooth move: more are not seen, and cost.
const STEP: Duration = Duration::from_nanos(1_000_000_000 / 120);
/// Between the clicks of one double click: toolkits take longer pauses for two.
const BETWEEN_CLICKS: Duration = Duration::from_millis(30);
/// Before the button is let go at the end of a drag: toolkits want to have seen where that is.
const BEFORE_DROP: Duration = Duration::from_millis(50);
/// So many motions at least are seen while a button is held.
const LEAST_MOTIONS: u32 = 4;

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
        let here = self.link.pointer()?;
        let moved = |at: u32, by: i32| i64::from(at) + i64::from(by);
        let (x, y) = (moved(here.x, dx), moved(here.y, dy));
        let (Ok(px), Ok(py)) = (u32::try_from(x), u32::try_from(y)) else {
            return Err(DesktopError::out_of_bounds(x, y));
        };
        Ok(Point { x: px, y: py })
    }

    /// All steps but the last, each at its own time, slow at both ends.
    fn glide(&self, to: Point, seconds: f64, least: u32, stop: &Stop) -> Result<(), DesktopError> {
        let from = self.link.pointer()?;
        let begun = Instant::now();
        let whole = Duration::try_from_secs_f64(seconds)
            .map_err(|_| DesktopError::bad("that is too long"))?;
        let steps = (whole.as_nanos() / STEP.as_nanos()).clamp(u128::from(least), 1 << 20);
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        for step in 1..steps {
            let part = f64::from(step) / f64::from(steps);
            stop.rest_until(begun + whole.mul_f64(part))?;
            self.heed(stop)?;
            let eased = part.powi(3) * (10.0 - 15.0 * part + 6.0 * part * part);
            self.motion((between(from.x, to.x, eased), between(from.y, to.y, eased)))?;
            self.link.flush()?;
        }
        stop.rest_until(begun + whole)?;
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

#[expect(clippy::cast_possible_truncation, reason = "between two points of a screen")]
fn between(from: u32, to: u32, part: f64) -> i16 {
    let (from, to) = (f64::from(from), f64::from(to));
    (from + (to - from) * part).round() as i16
}
