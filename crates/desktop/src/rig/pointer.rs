//! Moving smoothly, clicking, dragging and turning the wheel, whatever the hands are.

use kernel::desktop::{Button, DesktopError, Direction, Drag, Modifier, Point};

use super::{lacking, performing::Performer};
use crate::{
    motion::{self, BEFORE_DROP, BETWEEN_CLICKS, Glide, LEAST_MOTIONS},
    stop::Stop,
};

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
        motion::beside(self.eyes.pointer()?, dx, dy)
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
        let glide = Glide::new(from, to, seconds, least)?;
        let displays = self.eyes.displays()?;
        for (when, at) in glide.places() {
            stop.rest_until(when)?;
            // Between two displays there may be nothing that it could be on.
            if displays.iter().any(|display| display.area.contains(at)) {
                self.hands.point(at)?;
            }
        }
        stop.rest_until(glide.end())
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
