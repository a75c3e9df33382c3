//! How a pointer moves, whatever moves it.

use std::time::{Duration, Instant};

use kernel::desktop::{DesktopError, Point};

/// Between two steps of a smooth move: more are not seen, and cost.
const STEP: Duration = Duration::from_nanos(1_000_000_000 / 120);
/// Between the clicks of one double click: toolkits take longer pauses for two.
pub const BETWEEN_CLICKS: Duration = Duration::from_millis(30);
/// Before the button is let go at the end of a drag: toolkits want to have seen where that is.
pub const BEFORE_DROP: Duration = Duration::from_millis(50);
/// So many motions at least are seen while a button is held.
pub const LEAST_MOTIONS: u32 = 4;

/// A way from one point to another that begins now, slow at both ends.
pub struct Glide {
    from: Point,
    to: Point,
    begun: Instant,
    whole: Duration,
    steps: u32,
}

impl Glide {
    pub fn new(from: Point, to: Point, seconds: f64, least: u32) -> Result<Self, DesktopError> {
        let whole = Duration::try_from_secs_f64(seconds)
            .map_err(|_| DesktopError::bad("that is too long"))?;
        let steps = (whole.as_nanos() / STEP.as_nanos()).clamp(u128::from(least), 1 << 20);
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        Ok(Self { from, to, begun: Instant::now(), whole, steps })
    }

    /// All places but the last, each at its own time.
    pub fn places(&self) -> impl Iterator<Item = (Instant, Point)> {
        (1..self.steps).map(|step| {
            let part = f64::from(step) / f64::from(self.steps);
            let eased = part.powi(3) * (10.0 - 15.0 * part + 6.0 * part * part);
            let (x, y) =
                (between(self.from.x, self.to.x, eased), between(self.from.y, self.to.y, eased));
            (self.begun + self.whole.mul_f64(part), Point { x, y })
        })
    }

    /// When it shall have arrived.
    pub fn end(&self) -> Instant {
        self.begun + self.whole
    }
}

/// A place so far from here, unless that is nowhere.
pub fn beside(here: Point, dx: i32, dy: i32) -> Result<Point, DesktopError> {
    let moved = |at: u32, by: i32| i64::from(at) + i64::from(by);
    let (x, y) = (moved(here.x, dx), moved(here.y, dy));
    let (Ok(px), Ok(py)) = (u32::try_from(x), u32::try_from(y)) else {
        return Err(DesktopError::out_of_bounds(x, y));
    };
    Ok(Point { x: px, y: py })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glide_is_slow_at_both_ends_and_never_turns_back() {
        let (from, to) = (Point { x: 100, y: 900 }, Point { x: 1100, y: 400 });
        let glide = Glide::new(from, to, 1.0, 0).unwrap();
        let places: Vec<(Instant, Point)> = glide.places().collect();
        assert_eq!(places.len(), 119);
        assert!(places.is_sorted_by(|one, next| {
            one.0 < next.0 && one.1.x <= next.1.x && one.1.y >= next.1.y
        }));
        let (first, middle, last) = (places[0].1, places[59].1, places[118].1);
        assert_eq!((first, middle, last), (from, Point { x: 600, y: 650 }, to));
        assert!(places[118].0 < glide.end());
        assert_eq!(Glide::new(from, to, 0.0, LEAST_MOTIONS).unwrap().places().count(), 3);
        assert!(Glide::new(from, to, f64::INFINITY, 0).is_err());
    }

    #[test]
    fn what_is_beside_a_point_is_nowhere_below_zero() {
        let here = Point { x: 10, y: 20 };
        assert_eq!(beside(here, -10, 5), Ok(Point { x: 0, y: 25 }));
        assert_eq!(beside(here, -11, 5), Err(DesktopError::out_of_bounds(-1, 25)));
    }
}
