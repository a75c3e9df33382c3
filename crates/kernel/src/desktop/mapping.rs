//! From the points of a picture to those of the screen it shows, and back, without a rounding error.

use super::parts::{Point, Rect};

/// A picture of so many pixels shows this part of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    pub width: u32,
    pub height: u32,
    pub screen: Rect,
}

impl Mapping {
    /// The pixel of the screen in the middle of what a pixel of the picture shows.
    pub fn to_screen(self, Point { x, y }: Point) -> Option<Point> {
        let Self { width, height, screen } = self;
        (x < width && y < height).then(|| Point {
            x: screen.x + scaled(x, width, screen.w),
            y: screen.y + scaled(y, height, screen.h),
        })
    }

    pub fn to_picture(self, Point { x, y }: Point) -> Option<Point> {
        let Self { width, height, screen } = self;
        let x = x.checked_sub(screen.x).filter(|x| *x < screen.w)?;
        let y = y.checked_sub(screen.y).filter(|y| *y < screen.h)?;
        Some(Point { x: scaled(x, screen.w, width), y: scaled(y, screen.h, height) })
    }

    /// The largest picture of a part of the screen whose longer edge is at most this.
    pub fn within(screen: Rect, edge: u32) -> Self {
        let longest = screen.w.max(screen.h);
        if longest <= edge {
            return Self { width: screen.w, height: screen.h, screen };
        }
        let shrunk = |side: u32| {
            let side = (u64::from(side) * u64::from(edge) * 2 + u64::from(longest))
                / (u64::from(longest) * 2);
            u32::try_from(side).unwrap_or(u32::MAX).max(1)
        };
        Self { width: shrunk(screen.w), height: shrunk(screen.h), screen }
    }
}

/// The middle of the `at`th of `of` equal parts, in a length of `onto`.
fn scaled(at: u32, of: u32, onto: u32) -> u32 {
    let (at, of, onto) = (u64::from(at), u64::from(of), u64::from(onto));
    u32::try_from((2 * at + 1) * onto / (2 * of)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_of_a_picture_is_found_again_by_way_of_the_screen() {
        for (w, h) in [(1920, 1080), (3840, 2160), (2560, 1440), (1366, 768), (100, 3000), (1, 1)] {
            let screen = Rect { x: 30, y: 7, w, h };
            let mapping = Mapping::within(screen, 1568);
            assert!(mapping.width.max(mapping.height) <= 1568);
            for x in 0..mapping.width {
                let y = x % mapping.height;
                let there = mapping.to_screen(Point { x, y }).unwrap();
                assert!(screen.contains(there));
                assert_eq!(mapping.to_picture(there), Some(Point { x, y }));
            }
            let beside = Point { x: mapping.width, y: 0 };
            assert_eq!(mapping.to_screen(beside), None);
            assert_eq!(mapping.to_picture(Point { x: 29, y: 7 }), None);
        }
    }

    #[test]
    fn a_picture_keeps_the_shape_of_what_it_shows() {
        let screen = Rect { x: 0, y: 0, w: 1920, h: 1080 };
        let Mapping { width, height, .. } = Mapping::within(screen, 1568);
        assert_eq!((width, height), (1568, 882));
        let Mapping { width, height, .. } = Mapping::within(screen, 4000);
        assert_eq!((width, height), (1920, 1080));
    }
}
