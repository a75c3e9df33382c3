//! What a screen shows at one moment, uncompressed, and whether two such moments look alike.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Mapping, Point, Rect};

/// How many bytes a pixel takes up.
pub const DEPTH: usize = 4;
/// How far a colour may be off before its pixel counts as another: the edges of letters are
/// smoothed differently from one time to the next.
const SHADE: u8 = 48;

/// Blue, green, red, and one that means nothing, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    mapping: Mapping,
    bytes: Vec<u8>,
}

impl Pixels {
    /// None if there are more or fewer bytes than the picture needs.
    pub fn new(mapping: Mapping, bytes: Vec<u8>) -> Option<Self> {
        let size = size(mapping.width).checked_mul(size(mapping.height))?.checked_mul(DEPTH)?;
        (bytes.len() == size).then_some(Self { mapping, bytes })
    }

    pub fn mapping(&self) -> Mapping {
        self.mapping
    }

    /// One row of a part of the picture, in its own pixels.
    pub fn row(&self, x: u32, y: u32, width: u32) -> &[u8] {
        let begins = (size(y) * size(self.mapping.width) + size(x)) * DEPTH;
        self.bytes.get(begins..begins + size(width) * DEPTH).unwrap_or_default()
    }

    /// Red, green and blue of a part of the picture, in its own pixels.
    pub fn colours(&self, part: Rect) -> Vec<u8> {
        let mut colours = Vec::with_capacity(size(part.w) * size(part.h) * 3);
        for y in part.y..part.y + part.h {
            for pixel in self.row(part.x, y, part.w).chunks_exact(DEPTH) {
                colours.extend([pixel[2], pixel[1], pixel[0]]);
            }
        }
        colours
    }

    /// What is seen around a point of the screen, as far as there is anything.
    pub fn around(&self, at: Point, reach: u32) -> Option<Crop> {
        let Mapping { width, height, .. } = self.mapping;
        let at = self.mapping.to_picture(at)?;
        let (x, y) = (at.x.saturating_sub(reach), at.y.saturating_sub(reach));
        let w = at.x.saturating_add(reach).min(width) - x;
        let h = at.y.saturating_add(reach).min(height) - y;
        let part = Rect { x, y, w: w.max(1), h: h.max(1) };
        Some(Crop { w: part.w, h: part.h, colours: self.colours(part) })
    }
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A small part of a screen that was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crop {
    pub w: u32,
    pub h: u32,
    /// Red, green, blue, row by row from the top.
    #[serde(serialize_with = "write", deserialize_with = "read")]
    pub colours: Vec<u8>,
}

impl Crop {
    /// How much of it looks different in another, from 0 to 1.
    pub fn difference(&self, other: &Self) -> f64 {
        if (self.w, self.h) != (other.w, other.h) || self.colours.len() != other.colours.len() {
            return 1.0;
        }
        let pairs = self.colours.chunks_exact(3).zip(other.colours.chunks_exact(3));
        let differs = |(one, other): &(&[u8], &[u8])| {
            one.iter().zip(*other).any(|(one, other)| one.abs_diff(*other) > SHADE)
        };
        let count = u32::try_from(pairs.filter(differs).count()).unwrap_or(u32::MAX);
        f64::from(count) / f64::from(self.w.saturating_mul(self.h).max(1))
    }
}

fn write<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
}

fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64_STANDARD.decode(text).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(w: u32, h: u32, colour: impl Fn(u32, u32) -> [u8; 4]) -> Pixels {
        let mapping = Mapping { width: w, height: h, screen: Rect { x: 0, y: 0, w, h } };
        let bytes = (0..h).flat_map(|y| (0..w).flat_map(move |x| [(x, y)]));
        let bytes = bytes.flat_map(|(x, y)| colour(x, y)).collect();
        Pixels::new(mapping, bytes).unwrap()
    }

    #[test]
    fn what_is_around_a_point_ends_where_the_screen_does() {
        let screen = screen(10, 6, |x, y| [y.to_le_bytes()[0], x.to_le_bytes()[0], 9, 0]);
        let corner = screen.around(Point { x: 0, y: 0 }, 2).unwrap();
        assert_eq!((corner.w, corner.h), (2, 2));
        assert_eq!(corner.colours, [9, 0, 0, 9, 1, 0, 9, 0, 1, 9, 1, 1]);
        let end = screen.around(Point { x: 9, y: 5 }, 3).unwrap();
        assert_eq!((end.w, end.h, end.colours.len()), (4, 4, 48));
        assert_eq!(screen.around(Point { x: 10, y: 0 }, 3), None);
    }

    #[test]
    fn the_difference_counts_pixels_and_forgives_shades() {
        let at = Point { x: 4, y: 4 };
        let plain = screen(8, 8, |_, _| [100; 4]).around(at, 4).unwrap();
        let shaded = screen(8, 8, |_, _| [140; 4]).around(at, 4).unwrap();
        let half = screen(8, 8, |x, _| if x < 4 { [100; 4] } else { [255; 4] });
        assert!(plain.difference(&shaded) < f64::EPSILON);
        let half = half.around(at, 4).unwrap();
        assert!((plain.difference(&half) - 0.5).abs() < f64::EPSILON);
        let smaller = screen(8, 8, |_, _| [100; 4]).around(at, 3).unwrap();
        assert!((plain.difference(&smaller) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_crop_is_kept_and_read_again() {
        let crop = screen(3, 3, |x, _| [x.to_le_bytes()[0]; 4]).around(Point { x: 1, y: 1 }, 1);
        let text = serde_json::to_string(&crop).unwrap();
        assert_eq!(serde_json::from_str::<Option<Crop>>(&text).unwrap(), crop);
    }
}
