//! What has changed from one picture of a screen to the next, in as few rectangles as is easy.

use bytes::{BufMut as _, Bytes, BytesMut};
use kernel::desktop::{Pixels, Rect};

/// The edge of the squares that are compared.
const TILE: u32 = 64;
/// More rectangles than this become one.
const MOST: usize = 48;
/// A rectangle that takes more bytes for a pixel than this is a photograph, and loses little by
/// losing some.
const DENSE: usize = 1;
const QUALITY: u8 = 80;

/// Everything that is different, or all of it if there was nothing to compare with.
pub fn changed(before: Option<&Pixels>, now: &Pixels) -> Vec<Rect> {
    let mapping = now.mapping();
    let whole = Rect { x: 0, y: 0, w: mapping.width, h: mapping.height };
    let Some(before) = before.filter(|before| before.mapping() == mapping) else {
        return vec![whole];
    };
    let mut found: Vec<Rect> = Vec::new();
    for y in (0..whole.h).step_by(size(TILE)) {
        for run in runs(before, now, y) {
            // Below one that is as wide, it is the same one.
            let above = found.iter_mut().find(|it| (it.x, it.w, it.y + it.h) == (run.x, run.w, y));
            match above {
                Some(above) => above.h += run.h,
                None => found.push(run),
            }
        }
    }
    if found.len() > MOST { vec![around(&found)] } else { found }
}

/// The stretches of a row of squares that are different.
fn runs(before: &Pixels, now: &Pixels, y: u32) -> Vec<Rect> {
    let mapping = now.mapping();
    let h = TILE.min(mapping.height - y);
    let mut runs: Vec<Rect> = Vec::new();
    for x in (0..mapping.width).step_by(size(TILE)) {
        let w = TILE.min(mapping.width - x);
        if (y..y + h).all(|y| before.row(x, y, w) == now.row(x, y, w)) {
            continue;
        }
        match runs.last_mut().filter(|run| run.x + run.w == x) {
            Some(run) => run.w += w,
            None => runs.push(Rect { x, y, w, h }),
        }
    }
    runs
}

fn around(parts: &[Rect]) -> Rect {
    let left = parts.iter().map(|part| part.x).min().unwrap_or(0);
    let top = parts.iter().map(|part| part.y).min().unwrap_or(0);
    let right = parts.iter().map(|part| part.x + part.w).max().unwrap_or(0);
    let bottom = parts.iter().map(|part| part.y + part.h).max().unwrap_or(0);
    Rect { x: left, y: top, w: right - left, h: bottom - top }
}

/// A picture on the wire, all numbers with their largest part first: its number in four bytes, how
/// many parts it has in two; then of each part x, y, width and height in two bytes each, how many
/// bytes follow in four, and those: a PNG or a JPEG.
pub fn written(number: u32, pixels: &Pixels, parts: &[Rect]) -> Result<Bytes, String> {
    let mut frame = BytesMut::new();
    frame.put_u32(number);
    frame.put_u16(u16::try_from(parts.len()).map_err(text)?);
    for part in parts {
        for side in [part.x, part.y, part.w, part.h] {
            frame.put_u16(u16::try_from(side).map_err(text)?);
        }
        let picture = picture(&pixels.colours(*part), part.w, part.h)?;
        frame.put_u32(u32::try_from(picture.len()).map_err(text)?);
        frame.put_slice(&picture);
    }
    Ok(frame.freeze())
}

fn picture(colours: &[u8], w: u32, h: u32) -> Result<Vec<u8>, String> {
    let exact = png(colours, w, h).map_err(text)?;
    if exact.len() <= size(w) * size(h) * DENSE {
        return Ok(exact);
    }
    let (w, h) = (u16::try_from(w).map_err(text)?, u16::try_from(h).map_err(text)?);
    let mut bytes = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut bytes, QUALITY);
    encoder.encode(colours, w, h, jpeg_encoder::ColorType::Rgb).map_err(text)?;
    Ok(if bytes.len() < exact.len() { bytes } else { exact })
}

pub fn png(colours: &[u8], w: u32, h: u32) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, w, h);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(colours)?;
    writer.finish()?;
    Ok(bytes)
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use kernel::desktop::Mapping;

    use super::*;

    const WIDTH: u32 = 200;
    const HEIGHT: u32 = 150;

    fn screen(painted: &[Rect]) -> Pixels {
        let screen = Rect { x: 0, y: 0, w: WIDTH, h: HEIGHT };
        let mapping = Mapping { width: WIDTH, height: HEIGHT, screen };
        let points =
            (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| kernel::desktop::Point { x, y }));
        let bytes = points.flat_map(|at| {
            let is_painted = painted.iter().any(|part| part.contains(at));
            if is_painted { [0, 0, 255, 0] } else { [9, 9, 9, 0] }
        });
        Pixels::new(mapping, bytes.collect()).unwrap()
    }

    fn rect(x: u32, y: u32, w: u32, h: u32) -> Rect {
        Rect { x, y, w, h }
    }

    #[test]
    fn only_what_has_changed_is_found() {
        let plain = screen(&[]);
        assert_eq!(changed(None, &plain), [rect(0, 0, WIDTH, HEIGHT)]);
        assert_eq!(changed(Some(&plain), &plain), []);
        let dot = screen(&[rect(199, 149, 1, 1)]);
        assert_eq!(changed(Some(&plain), &dot), [rect(192, 128, 8, 22)]);
        let bar = screen(&[rect(60, 10, 10, 100)]);
        assert_eq!(changed(Some(&plain), &bar), [rect(0, 0, 128, 128)]);
        let two = screen(&[rect(0, 0, 1, 1), rect(130, 0, 1, 1)]);
        assert_eq!(changed(Some(&plain), &two), [rect(0, 0, 64, 64), rect(128, 0, 64, 64)]);
    }

    #[test]
    fn a_picture_on_the_wire_holds_its_parts() {
        let red = screen(&[rect(0, 0, WIDTH, HEIGHT)]);
        let frame = written(7, &red, &[rect(4, 5, 6, 3)]).unwrap();
        assert_eq!(&frame[..14], [0, 0, 0, 7, 0, 1, 0, 4, 0, 5, 0, 6, 0, 3]);
        let length = u32::from_be_bytes(frame[14..18].try_into().unwrap());
        assert_eq!(frame.len(), 18 + size(length));
        let mut reader = png::Decoder::new(std::io::Cursor::new(&frame[18..])).read_info().unwrap();
        let mut colours = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut colours).unwrap();
        assert_eq!(colours, [255, 0, 0].repeat(18));
    }

    #[test]
    fn noise_is_not_sent_exactly() {
        let mut state = 1_u32;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        let colours: Vec<u8> = (0..64 * 64 * 3).map(|_| noise()).collect();
        let picture = picture(&colours, 64, 64).unwrap();
        assert_eq!(picture[..2], [0xff, 0xd8]);
    }
}
