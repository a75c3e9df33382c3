//! Seeing: the pixels of the screen with the pointer in them, the displays, the windows.

use std::{
    fs::File,
    os::{fd::OwnedFd, unix::fs::FileExt as _},
};

use kernel::desktop::{
    self, DesktopError, Display, Frame, Mapping, Pane, Point, Rect, Screen, Shot,
};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use x11rb::{
    connection::Connection as _,
    protocol::{
        shm::{self, ConnectionExt as _, Seg},
        xfixes::{self, ConnectionExt as _},
        xkb::ConnectionExt as _,
        xproto::{ConnectionExt as _, ImageFormat},
    },
};

use super::{
    journal::KEYBOARD,
    link::{Link, lost},
    windows,
};
use crate::picture::Pixels;

/// Used by one thread at a time.
pub struct Eyes {
    pub link: Link,
    /// Memory that the display writes into, as large as it was needed so far; none where the
    /// display is too far away for that.
    shared: Option<Shared>,
    can_share: bool,
}

struct Shared {
    segment: Seg,
    file: File,
    size: usize,
}

/// Where the pixels are, and how many bytes.
pub enum Captured {
    Shared(usize),
    Sent(Vec<u8>),
}

impl Eyes {
    pub fn open(link: Link) -> Result<Self, DesktopError> {
        let can_share = link.has(shm::X11_EXTENSION_NAME)?;
        Ok(Self { link, shared: None, can_share })
    }

    pub fn picture(&mut self, shot: &Shot) -> Result<Frame, DesktopError> {
        let area = self.area(shot)?;
        let mut pixels = Pixels { area, bytes: self.pixels(area)? };
        if shot.cursor {
            self.draw_cursor(&mut pixels)?;
        }
        pixels.encode(shot)
    }

    /// The whole screen as it is, for somebody who looks often.
    pub fn glance(&mut self, cursor: bool) -> Result<desktop::Pixels, DesktopError> {
        let area = self.area(&Shot::default())?;
        let mut pixels = Pixels { area, bytes: self.pixels(area)? };
        if cursor {
            self.draw_cursor(&mut pixels)?;
        }
        let mapping = Mapping { width: area.w, height: area.h, screen: area };
        let odd = || DesktopError::failed("only screens of 24 bit colour can be seen");
        desktop::Pixels::new(mapping, pixels.bytes).ok_or_else(odd)
    }

    /// The part of the screen that is meant.
    pub fn area(&self, shot: &Shot) -> Result<Rect, DesktopError> {
        let (w, h) = self.link.size()?;
        let mut whole = Rect { x: 0, y: 0, w, h };
        if let Some(display) = shot.display {
            let monitors = self.link.monitors()?;
            let found = usize::try_from(display).ok().and_then(|at| monitors.get(at));
            let missing = || {
                let count = monitors.len();
                let text = format!("there is no display {display}; there are {count}, from 0");
                DesktopError::bad(text)
            };
            whole = found.ok_or_else(missing)?.area;
        }
        let Some(region) = shot.region else { return Ok(whole) };
        let last = Point {
            x: region.x.saturating_add(region.w - 1),
            y: region.y.saturating_add(region.h - 1),
        };
        let first = Point { x: region.x, y: region.y };
        for corner in [first, last] {
            if !whole.contains(corner) {
                return Err(DesktopError::out_of_bounds(corner.x.into(), corner.y.into()));
            }
        }
        Ok(region)
    }

    /// Rows from top to bottom, four bytes for each pixel.
    pub fn pixels(&mut self, area: Rect) -> Result<Vec<u8>, DesktopError> {
        match (self.capture(area)?, &self.shared) {
            (Captured::Sent(bytes), _) => Ok(bytes),
            (Captured::Shared(size), Some(shared)) => {
                let mut bytes = vec![0; size];
                shared.file.read_exact_at(&mut bytes, 0).map_err(lost)?;
                Ok(bytes)
            }
            (Captured::Shared(_), None) => Err(lost("the shared memory is gone")),
        }
    }

    /// Has the display put its pixels where they can be read.
    pub fn capture(&mut self, area: Rect) -> Result<Captured, DesktopError> {
        let Rect { x, y, w, h } = area;
        let size = usize::try_from(u64::from(w) * u64::from(h) * 4).map_err(lost)?;
        let far = |number: u32| i16::try_from(number).map_err(lost);
        let wide = |number: u32| u16::try_from(number).map_err(lost);
        let (x, y, w, h) = (far(x)?, far(y)?, wide(w)?, wide(h)?);
        let (conn, root) = (self.link.conn.clone(), self.link.root);
        let format = ImageFormat::Z_PIXMAP;
        if let Some(shared) = self.shared(size) {
            let drawn = conn.shm_get_image(root, x, y, w, h, !0, format.into(), shared.segment, 0);
            drawn.map_err(lost)?.reply().map_err(lost)?;
            return Ok(Captured::Shared(size));
        }
        let drawn = conn.get_image(format, root, x, y, w, h, !0).map_err(lost)?;
        let reply = drawn.reply().map_err(lost)?;
        if reply.data.len() != size {
            return Err(DesktopError::failed("only screens of 24 bit colour can be seen"));
        }
        Ok(Captured::Sent(reply.data))
    }

    fn shared(&mut self, size: usize) -> Option<&Shared> {
        if !self.can_share {
            return None;
        }
        if self.shared.as_ref().is_none_or(|shared| shared.size < size) {
            let old = self.shared.take();
            if let Some(old) = old
                && let Ok(sent) = self.link.conn.shm_detach(old.segment)
            {
                sent.ignore_error();
            }
            self.shared = share(&self.link, size);
            // A display on another machine cannot, whatever it says.
            self.can_share = self.shared.is_some();
        }
        self.shared.as_ref()
    }

    /// The display does not paint the pointer into the picture.
    fn draw_cursor(&self, pixels: &mut Pixels) -> Result<(), DesktopError> {
        if !self.link.has(xfixes::X11_EXTENSION_NAME)? {
            return Ok(());
        }
        let cursor = self.link.conn.xfixes_get_cursor_image().map_err(lost)?;
        let cursor = cursor.reply().map_err(lost)?;
        let left = i64::from(cursor.x) - i64::from(cursor.xhot) - i64::from(pixels.area.x);
        let top = i64::from(cursor.y) - i64::from(cursor.yhot) - i64::from(pixels.area.y);
        let (width, height) = (i64::from(pixels.area.w), i64::from(pixels.area.h));
        let rows = cursor.cursor_image.chunks(usize::from(cursor.width).max(1));
        for (y, row) in (top..).zip(rows) {
            for (x, colour) in (left..).zip(row) {
                if !(0..width).contains(&x) || !(0..height).contains(&y) {
                    continue;
                }
                let at = usize::try_from((y * width + x) * 4).unwrap_or(usize::MAX);
                let Some(pixel) = pixels.bytes.get_mut(at..at.saturating_add(3)) else { continue };
                let [blue, green, red, alpha] = colour.to_le_bytes();
                for (under, over) in pixel.iter_mut().zip([blue, green, red]) {
                    let kept = u16::from(*under) * u16::from(255 - alpha) / 255;
                    // What lies above has been multiplied with its own opacity already.
                    *under = u8::try_from(kept + u16::from(over)).unwrap_or(u8::MAX);
                }
            }
        }
        Ok(())
    }

    pub fn screen(&self) -> Result<Screen, DesktopError> {
        let (w, h) = self.link.size()?;
        let monitors = self.link.monitors()?;
        let displays = (0..).zip(monitors.iter()).map(|(id, monitor)| Display {
            id,
            name: monitor.name.clone(),
            area: monitor.area,
            scale: 1.0,
            primary: monitor.primary,
        });
        let state = self.link.conn.xkb_get_state(KEYBOARD).map_err(lost)?.reply().map_err(lost)?;
        Ok(Screen {
            w,
            h,
            displays: displays.collect(),
            backend: "x11".into(),
            layout: windows::layout(&self.link)?,
            group: u32::from(u8::from(state.group)),
        })
    }

    pub fn windows(&self) -> Result<Vec<Pane>, DesktopError> {
        windows::list(&self.link)
    }
}

fn share(link: &Link, size: usize) -> Option<Shared> {
    let file: OwnedFd = memfd_create("megaron-screen", MemfdFlags::CLOEXEC).ok()?;
    ftruncate(&file, size.try_into().ok()?).ok()?;
    let lent = file.try_clone().ok()?;
    let segment = link.conn.generate_id().ok()?;
    link.conn.shm_attach_fd(segment, lent, false).ok()?.check().ok()?;
    Some(Shared { segment, file: file.into(), size })
}
