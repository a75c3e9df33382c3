//! How displays that are measured in some unit become one screen of pixels.

#[cfg(any(test, not(target_os = "linux")))]
use kernel::desktop::Point;
use kernel::desktop::{Display, Rect};

/// A display as its platform tells of it.
#[derive(Clone, Debug)]
pub struct Place {
    pub title: String,
    /// Where it lies and how large it is, in the unit of the platform.
    pub at: (i32, i32),
    pub size: (i32, i32),
    /// How many pixels it has, as a person sees it.
    pub pixels: (i32, i32),
    pub primary: bool,
}

/// Everything that is shown, in pixels of the sharpest display, so that each pixel of it is one of
/// the screen; what is on others is shown larger than it is.
#[cfg_attr(
    all(target_os = "linux", not(test)),
    expect(dead_code, reason = "compositors are pointed at by parts of the whole")
)]
pub struct Layout {
    pub displays: Vec<Display>,
    /// What the platform calls the top left.
    origin: (i32, i32),
    /// How many pixels its unit has.
    sharpness: f64,
}

impl Layout {
    pub fn new(places: &[Place]) -> Self {
        let sharp = |it: &Place| f64::from(it.pixels.0) / f64::from(it.size.0.max(1));
        let sharpness = places.iter().map(sharp).fold(0.0, f64::max);
        let left = places.iter().map(|it| it.at.0).min().unwrap_or(0);
        let top = places.iter().map(|it| it.at.1).min().unwrap_or(0);
        let displays: Vec<Display> = (0..)
            .zip(places)
            .map(|(id, it)| {
                let along = |from: i32, length: i32| {
                    let (begin, end) = (pixels(from, sharpness), pixels(from + length, sharpness));
                    (begin, end.saturating_sub(begin))
                };
                let (x, w) = along(it.at.0 - left, it.size.0);
                let (y, h) = along(it.at.1 - top, it.size.1);
                let (name, area) = (it.title.clone(), Rect { x, y, w, h });
                Display { id, name, area, scale: sharp(it), primary: it.primary }
            })
            .collect();
        Self { displays, origin: (left, top), sharpness }
    }
}

#[cfg(any(test, not(target_os = "linux")))]
impl Layout {
    /// A pixel in the unit of the platform.
    pub fn unit(&self, Point { x, y }: Point) -> (i32, i32) {
        let along = |pixel: u32, origin: i32| origin.saturating_add(units(pixel, self.sharpness));
        (along(x, self.origin.0), along(y, self.origin.1))
    }

    /// And back, as far as that lies on the screen.
    pub fn pixel(&self, (x, y): (i32, i32)) -> Point {
        let along = |at: i32, origin: i32| pixels(at.saturating_sub(origin), self.sharpness);
        Point { x: along(x, self.origin.0), y: along(y, self.origin.1) }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what is below zero or too large becomes the nearest"
)]
fn pixels(length: i32, sharpness: f64) -> u32 {
    (f64::from(length) * sharpness).round() as u32
}

#[cfg(any(test, not(target_os = "linux")))]
#[expect(clippy::cast_possible_truncation, reason = "what is too large becomes the largest")]
fn units(pixel: u32, sharpness: f64) -> i32 {
    (f64::from(pixel) / sharpness.max(f64::MIN_POSITIVE)).floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_become_one_screen_in_pixels_of_the_sharpest() {
        let place = |at, size, pixels, primary| {
            let title = "some".to_owned();
            Place { title, at, size, pixels, primary }
        };
        let sharp = place((-100, 50), (960, 540), (1920, 1080), false);
        let layout = Layout::new(&[sharp, place((860, 0), (800, 600), (800, 600), true)]);
        let areas: Vec<Rect> = layout.displays.iter().map(|it| it.area).collect();
        let first = Rect { x: 0, y: 100, w: 1920, h: 1080 };
        assert_eq!(areas, [first, Rect { x: 1920, y: 0, w: 1600, h: 1200 }]);
        assert_eq!(crate::rig::size(&layout.displays), (3520, 1200));
        let scales: Vec<(f64, bool)> =
            layout.displays.iter().map(|it| (it.scale, it.primary)).collect();
        assert_eq!(scales, [(2.0, false), (1.0, true)]);
        assert_eq!(layout.unit(Point { x: 201, y: 100 }), (0, 50));
        assert_eq!(layout.pixel((0, 50)), Point { x: 200, y: 100 });
        assert_eq!(layout.pixel((-200, -7)), Point { x: 0, y: 0 });
    }
}
