//! A part of the screen, put together from pictures of single displays.

use fast_image_resize::{
    PixelType, ResizeAlg, ResizeOptions, Resizer,
    images::{Image, ImageRef},
};
use kernel::desktop::{DesktopError, Rect};

/// Pixels row by row: blue, green, red and one more.
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub bytes: Vec<u8>,
}

pub struct Canvas {
    area: Rect,
    pub bytes: Vec<u8>,
}

impl Canvas {
    pub fn new(area: Rect) -> Result<Self, DesktopError> {
        let size = u64::from(area.w) * u64::from(area.h) * 4;
        Ok(Self { area, bytes: vec![0; usize::try_from(size).map_err(|error| odd(&error))?] })
    }

    /// The picture of a display that lies there.
    pub fn draw(&mut self, picture: Picture, place: Rect) -> Result<(), DesktopError> {
        let Some(shared) = overlap(place, self.area) else { return Ok(()) };
        let picture = fitted(picture, place)?;
        let offset = |within: Rect, x: u32, y: u32| {
            let at = u64::from(y - within.y) * u64::from(within.w) + u64::from(x - within.x);
            usize::try_from(at * 4).unwrap_or(usize::MAX)
        };
        let length = usize::try_from(shared.w).unwrap_or(0) * 4;
        for y in shared.y..shared.y + shared.h {
            let (from, to) = (offset(place, shared.x, y), offset(self.area, shared.x, y));
            let source = picture.bytes.get(from..from.saturating_add(length));
            let target = self.bytes.get_mut(to..to.saturating_add(length));
            if let (Some(source), Some(target)) = (source, target) {
                target.copy_from_slice(source);
            }
        }
        Ok(())
    }
}

/// As large as its place on the screen.
fn fitted(picture: Picture, place: Rect) -> Result<Picture, DesktopError> {
    if (picture.width, picture.height) == (place.w, place.h) {
        return Ok(picture);
    }
    let Picture { width, height, bytes } = picture;
    let from = ImageRef::new(width, height, &bytes, PixelType::U8x4).map_err(|it| odd(&it))?;
    let mut to = Image::new(place.w, place.h, PixelType::U8x4);
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Nearest).use_alpha(false);
    Resizer::new().resize(&from, &mut to, &options).map_err(|it| odd(&it))?;
    Ok(Picture { width: place.w, height: place.h, bytes: to.into_vec() })
}

pub fn overlap(one: Rect, other: Rect) -> Option<Rect> {
    let (x, y) = (one.x.max(other.x), one.y.max(other.y));
    let end = |from: u32, length: u32| from.saturating_add(length);
    let right = end(one.x, one.w).min(end(other.x, other.w));
    let bottom = end(one.y, one.h).min(end(other.y, other.h));
    (right > x && bottom > y).then(|| Rect { x, y, w: right - x, h: bottom - y })
}

fn odd(error: &dyn std::fmt::Display) -> DesktopError {
    DesktopError::failed(format!("the picture cannot be made: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_put_where_their_displays_lie_and_made_as_large() {
        let area = Rect { x: 1, y: 0, w: 4, h: 2 };
        let mut canvas = Canvas::new(area).unwrap();
        let one = Picture { width: 2, height: 1, bytes: vec![1, 1, 1, 1, 2, 2, 2, 2] };
        canvas.draw(one, Rect { x: 0, y: 0, w: 2, h: 1 }).unwrap();
        let other = Picture { width: 1, height: 1, bytes: vec![7; 4] };
        canvas.draw(other, Rect { x: 3, y: 0, w: 2, h: 2 }).unwrap();
        let firsts: Vec<u8> = canvas.bytes.chunks(4).map(|pixel| pixel[0]).collect();
        assert_eq!(firsts, [2, 0, 7, 7, 0, 0, 7, 7]);
    }
}
