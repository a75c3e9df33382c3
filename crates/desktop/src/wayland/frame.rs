//! One picture of one output: asked for, drawn into shared memory, and put upright.

use std::{
    fs::File,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::fs::FileExt as _,
    },
};

use kernel::desktop::DesktopError;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use wayland_client::{
    Connection, Dispatch, QueueHandle, WEnum,
    protocol::{
        wl_buffer::WlBuffer,
        wl_output::{Transform, WlOutput},
        wl_shm::{Format, WlShm},
    },
};
use wayland_protocols_wlr::screencopy::v1::client::{
    zwlr_screencopy_frame_v1::{self, Flags, ZwlrScreencopyFrameV1},
    zwlr_screencopy_manager_v1::ZwlrScreencopyManagerV1,
};

use super::{
    link::{Link, World, lost, silent},
    outputs::is_sideways,
};
use crate::rig::{Picture, lacking};

/// How far the picture has come that was asked for last.
#[derive(Default)]
pub struct Capture {
    shape: Option<Shape>,
    upside_down: bool,
    end: Option<End>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Ready,
    Failed,
}

#[derive(Clone, Copy)]
struct Shape {
    format: Format,
    width: u32,
    height: u32,
    stride: u32,
}

/// What is needed to take pictures.
pub struct Camera {
    manager: ZwlrScreencopyManagerV1,
    shm: WlShm,
}

impl Camera {
    /// None where the compositor lends no pictures.
    pub fn new(link: &Link) -> Option<Self> {
        Some(Self { manager: link.bind(1)?, shm: link.bind(1)? })
    }

    pub fn take(
        &self,
        link: &mut Link,
        output: &WlOutput,
        transform: Transform,
        cursor: bool,
    ) -> Result<Picture, DesktopError> {
        link.world.capture = Capture::default();
        let queue = link.handle();
        let frame = self.manager.capture_output(i32::from(cursor), output, &queue, ());
        let taken = self.draw(link, &frame);
        frame.destroy();
        let (shape, file) = taken?;
        let mut bytes = vec![0; size(shape.stride)? * size(shape.height)?];
        file.read_exact_at(&mut bytes, 0).map_err(lost)?;
        let picture = packed(shape, &bytes, link.world.capture.upside_down)?;
        Ok(upright(picture, transform))
    }

    fn draw(
        &self,
        link: &mut Link,
        frame: &ZwlrScreencopyFrameV1,
    ) -> Result<(Shape, File), DesktopError> {
        while link.world.capture.shape.is_none() && link.world.capture.end.is_none() {
            link.listen()?;
        }
        let Some(shape) = link.world.capture.shape else { return Err(refused()) };
        let length = size(shape.stride)? * size(shape.height)?;
        let file: OwnedFd = memfd_create("megaron-screen", MemfdFlags::CLOEXEC).map_err(lost)?;
        ftruncate(&file, length.try_into().map_err(lost)?).map_err(lost)?;
        let queue = link.handle();
        let signed = |number: u32| i32::try_from(number).map_err(lost);
        let whole = i32::try_from(length).map_err(lost)?;
        let pool = self.shm.create_pool(file.as_fd(), whole, &queue, ());
        let (width, height) = (signed(shape.width)?, signed(shape.height)?);
        let stride = signed(shape.stride)?;
        let buffer = pool.create_buffer(0, width, height, stride, shape.format, &queue, ());
        frame.copy(&buffer);
        while link.world.capture.end.is_none() {
            link.listen()?;
        }
        buffer.destroy();
        pool.destroy();
        if link.world.capture.end == Some(End::Failed) {
            return Err(refused());
        }
        Ok((shape, file.into()))
    }
}

fn refused() -> DesktopError {
    DesktopError::failed("the compositor did not make the picture")
}

fn size(number: u32) -> Result<usize, DesktopError> {
    usize::try_from(number).map_err(lost)
}

/// Without what is between the rows, in the order of colours that we use.
fn packed(shape: Shape, bytes: &[u8], upside_down: bool) -> Result<Picture, DesktopError> {
    let Shape { format, width, height, stride } = shape;
    let convert: fn([u8; 4]) -> [u8; 4] = match format {
        Format::Xrgb8888 | Format::Argb8888 => |pixel| pixel,
        Format::Xbgr8888 | Format::Abgr8888 => |[red, green, blue, more]| [blue, green, red, more],
        Format::Xrgb2101010 | Format::Argb2101010 => |pixel| deep(pixel, [0, 10, 20]),
        Format::Xbgr2101010 | Format::Abgr2101010 => |pixel| deep(pixel, [20, 10, 0]),
        other => return Err(lacking(format!("pictures of the format {other:?} cannot be read"))),
    };
    let (row, width_in_bytes) = (size(stride)?, size(width)? * 4);
    let mut packed = Vec::with_capacity(width_in_bytes * size(height)?);
    for y in 0..size(height)? {
        let y = if upside_down { size(height)? - 1 - y } else { y };
        let line = bytes.get(y * row..y * row + width_in_bytes).ok_or_else(refused)?;
        packed.extend(line.as_chunks::<4>().0.iter().copied().flat_map(convert));
    }
    Ok(Picture { width, height, bytes: packed })
}

/// Ten bits of each colour become eight.
fn deep(pixel: [u8; 4], shifts: [u32; 3]) -> [u8; 4] {
    let pixel = u32::from_le_bytes(pixel);
    let [blue, green, red] = shifts.map(|shift| ((pixel >> (shift + 2)) & 0xff).to_le_bytes()[0]);
    [blue, green, red, 0]
}

/// As a person sees it, whichever way the output is turned.
fn upright(picture: Picture, transform: Transform) -> Picture {
    if transform == Transform::Normal {
        return picture;
    }
    let Picture { width: w, height: h, bytes } = picture;
    let (width, height) = if is_sideways(transform) { (h, w) } else { (w, h) };
    let pixels = bytes.as_chunks::<4>().0;
    let mut turned = Vec::with_capacity(bytes.len());
    for y in 0..height {
        for x in 0..width {
            // Where that pixel is in what was drawn.
            let (from_x, from_y) = match transform {
                Transform::_90 => (y, h - 1 - x),
                Transform::_180 => (w - 1 - x, h - 1 - y),
                Transform::_270 => (w - 1 - y, x),
                Transform::Flipped => (w - 1 - x, y),
                Transform::Flipped90 => (y, x),
                Transform::Flipped180 => (x, h - 1 - y),
                Transform::Flipped270 => (w - 1 - y, h - 1 - x),
                _ => (x, y),
            };
            let at = u64::from(from_y) * u64::from(w) + u64::from(from_x);
            let pixel = usize::try_from(at).ok().and_then(|at| pixels.get(at));
            turned.extend(pixel.copied().unwrap_or_default());
        }
    }
    Picture { width, height, bytes: turned }
}

impl Dispatch<ZwlrScreencopyFrameV1, ()> for World {
    fn event(
        world: &mut Self,
        _: &ZwlrScreencopyFrameV1,
        event: zwlr_screencopy_frame_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwlr_screencopy_frame_v1::Event;
        match event {
            Event::Buffer { format: WEnum::Value(format), width, height, stride } => {
                world.capture.shape = Some(Shape { format, width, height, stride });
            }
            // One that we know nothing of.
            Event::Buffer { .. } | Event::Failed => world.capture.end = Some(End::Failed),
            Event::Flags { flags: WEnum::Value(flags) } => {
                world.capture.upside_down = flags.contains(Flags::YInvert);
            }
            Event::Ready { .. } => world.capture.end = Some(End::Ready),
            _ => (),
        }
    }
}

silent!(ZwlrScreencopyManagerV1, WlBuffer);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_put_upright_whichever_way_the_output_is_turned() {
        let pixel = |it: u8| [it; 4];
        let bytes: Vec<u8> = (1..=6).flat_map(pixel).collect();
        for (transform, seen) in [
            (Transform::Normal, [1, 2, 3, 4, 5, 6]),
            (Transform::_180, [6, 5, 4, 3, 2, 1]),
            (Transform::Flipped, [3, 2, 1, 6, 5, 4]),
            (Transform::Flipped180, [4, 5, 6, 1, 2, 3]),
            (Transform::_90, [4, 1, 5, 2, 6, 3]),
            (Transform::_270, [3, 6, 2, 5, 1, 4]),
            (Transform::Flipped90, [1, 4, 2, 5, 3, 6]),
            (Transform::Flipped270, [6, 3, 5, 2, 4, 1]),
        ] {
            let picture = upright(Picture { width: 3, height: 2, bytes: bytes.clone() }, transform);
            let wide = if is_sideways(transform) { (2, 3) } else { (3, 2) };
            assert_eq!((picture.width, picture.height), wide, "{transform:?}");
            let expected: Vec<u8> = seen.into_iter().flat_map(pixel).collect();
            assert_eq!(picture.bytes, expected, "{transform:?}");
        }
    }

    #[test]
    fn rows_are_packed_and_colours_put_in_order() {
        let shape = |format| Shape { format, width: 1, height: 2, stride: 8 };
        let bytes = [1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0];
        let packed = |format, upside_down| packed(shape(format), &bytes, upside_down);
        assert_eq!(packed(Format::Xrgb8888, false).unwrap().bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(packed(Format::Xrgb8888, true).unwrap().bytes, [5, 6, 7, 8, 1, 2, 3, 4]);
        assert_eq!(packed(Format::Abgr8888, false).unwrap().bytes, [3, 2, 1, 4, 7, 6, 5, 8]);
        let white = (0x3ff_u32 << 20).to_le_bytes();
        assert_eq!(deep(white, [0, 10, 20]), [0, 0, 255, 0]);
        assert!(packed(Format::Nv12, false).is_err());
    }
}
