//! Moving smoothly, clicking, dragging and turning the wheel, whatever the hands are.

use std::time::{Duration, Instant};

use kernel::desktop::{Button, DesktopError, Direction, Drag, Modifier, Point};

use super::{lacking, performing::Performer};
use crate::stop::Stop;

/// Between two steps of a smooth move: more are not seen, and cost.
const STEP: Duration = Duration::from_nanos(1_000_000_000 / 120);
/// Between the clicks of one double click: toolkits take longer pauses for two.
const BETWEEN_CLICKS: Duration = Duration::from_millis(30);
/// Before the button is let go at the end of a drag: toolkits want to have seen where that is.
const BEFORE_DROP: Duration = Duration::from_millis(50);
/// So many motions at least are seen while a button is held.
const LEAST_MOTIONS: u32 = 4;

impl Performer {
    pub fn move_to(&mut self, to: Point, seconds: f64, stop: &Stop) -> Result<(), DesktopError> {
        self.within(&[to])?;
        if seconds > 0.0 {
            let _moving = stop.moves();
            self.glide(to, seconds, 0, stop)?;
        }
        stop.check()?;
        self.hands.point(to)
    }

    /// There, or nowhere.
    pub fn go(&mut self, point: Option<Point>) -> Result<(), DesktopError> {
        let Some(point) = point else { return Ok(()) };
        self.within(&[point])?;
        self.hands.point(point)
    }

    /// A place so far from here, which must lie on the screen too.
    pub fn beside(&mut self, dx: i32, dy: i32) -> Result<Point, DesktopError> {
        let here = self.eyes.pointer()?;
        let moved = |at: u32, by: i32| i64::from(at) + i64::from(by);
        let (x, y) = (moved(here.x, dx), moved(here.y, dy));
        let (Ok(px), Ok(py)) = (u32::try_from(x), u32::try_from(y)) else {
            return Err(DesktopError::out_of_bounds(x, y));
        };
        Ok(Point { x: px, y: py })
    }

    /// All steps but the last, each at its own time, slow at both ends.
    fn glide(
        &mut self,
        to: Point,
        seconds: f64,
        least: u32,
        stop: &Stop,
    ) -> Result<(), DesktopError> {
        // Where nobody can tell where it is, it waits at the end.
        let from = self.eyes.pointer().unwrap_or(to);
        let begun = Instant::now();
        let whole = Duration::try_from_secs_f64(seconds)
            .map_err(|_| DesktopError::bad("that is too long"))?;
        let steps = (whole.as_nanos() / STEP.as_nanos()).clamp(u128::from(least), 1 << 20);
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        let displays = self.eyes.displays()?;
        for step in 1..steps {
            let part = f64::from(step) / f64::from(steps);
            stop.rest_until(begun + whole.mul_f64(part))?;
            let eased = part.powi(3) * (10.0 - 15.0 * part + 6.0 * part * part);
            let at = Point { x: between(from.x, to.x, eased), y: between(from.y, to.y, eased) };
            // Between two displays there may be nothing that it could be on.
            if displays.iter().any(|display| display.area.contains(at)) {
                self.hands.point(at)?;
            }
        }
        stop.rest_until(begun + whole)
    }

    pub fn click(
        &mut self,
        button: Button,
        count: u8,
        modifiers: &[Modifier],
        stop: &Stop,
    ) -> Result<(), DesktopError> {
        if self.buttons.contains(&button) {
            let text = format!("the {} button is down already", button.name());
            return Err(DesktopError::bad(text));
        }
        self.with_held(modifiers, |performer| {
            for nth in 0..count {
                if nth > 0 {
                    stop.rest(BETWEEN_CLICKS)?;
                }
                performer.hands.button(button, true)?;
                performer.hands.button(button, false)?;
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
        self.with_held(modifiers, |performer| {
            for _ in 0..steps {
                stop.check()?;
                performer.hands.wheel(direction)?;
            }
            Ok(())
        })
    }

    pub fn drag(&mut self, drag: &Drag, stop: &Stop) -> Result<(), DesktopError> {
        let [first, rest @ ..] = drag.path.as_slice() else {
            return Err(DesktopError::bad("path must have at least 2 points"));
        };
        self.within(&drag.path)?;
        let _moving = stop.moves();
        self.hands.point(*first)?;
        let legs = u32::try_from(rest.len()).unwrap_or(u32::MAX).max(1);
        let each = (drag.duration / f64::from(legs)).max(0.0);
        self.with_held(&drag.modifiers, |performer| {
            performer.hold_button(drag.button)?;
            let dragged = rest.iter().try_for_each(|point| {
                performer.glide(*point, each, LEAST_MOTIONS, stop)?;
                performer.hands.point(*point)
            });
            let rested = dragged.and_then(|()| stop.rest(BEFORE_DROP));
            let dropped = performer.let_go_button(drag.button);
            rested.and(dropped)
        })
    }

    pub fn hold_button(&mut self, button: Button) -> Result<(), DesktopError> {
        self.buttons.push(button);
        self.hands.button(button, true)
    }

    pub fn let_go_button(&mut self, button: Button) -> Result<(), DesktopError> {
        self.hands.button(button, false)?;
        self.buttons.retain(|it| *it != button);
        Ok(())
    }

    /// Each of them must lie on some display.
    fn within(&mut self, points: &[Point]) -> Result<(), DesktopError> {
        let displays = self.eyes.displays()?;
        if displays.is_empty() {
            return Err(lacking("there is no display to point at"));
        }
        let on = |point: Point| displays.iter().any(|display| display.area.contains(point));
        match points.iter().find(|point| !on(**point)) {
            None => Ok(()),
            Some(off) => Err(DesktopError::out_of_bounds(off.x.into(), off.y.into())),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between two points of a screen"
)]
fn between(from: u32, to: u32, part: f64) -> u32 {
    let (from, to) = (f64::from(from), f64::from(to));
    (from + (to - from) * part).round() as u32
}
