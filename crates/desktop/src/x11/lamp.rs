//! A frame around the screen while somebody may drive it: always in front, and never in the way.

use std::{
    sync::mpsc::Receiver,
    time::{Duration, Instant},
};

use kernel::desktop::DesktopError;
use x11rb::{
    connection::{Connection as _, RequestConnection as _},
    protocol::{
        Event,
        shape::{self, ConnectionExt as _, SK, SO},
        xproto::{
            ClipOrdering, ConfigureWindowAux, ConnectionExt as _, CreateGCAux, CreateWindowAux,
            EventMask, Gcontext, StackMode, Visibility, Window, WindowClass,
        },
    },
};

use super::link::{self, Link, lost};
use crate::lamp::is_out;

const LABEL: &str = "Agents may use this desktop. Ctrl+Alt+Escape stops them.";
/// How thick the frame is.
const LINE: u16 = 3;
const ORANGE: u32 = 0x00d9_7706;
const WHITE: u32 = 0x00ff_ffff;
/// How wide and high the letters of the font are that every display has.
const LETTER: (u16, u16) = (6, 13);
const PADDING: u16 = 8;
/// How often one looks whether somebody has put something in front.
const GLANCE: Duration = Duration::from_millis(100);

/// Until the other end is gone, or the display.
pub fn shine(display: Option<&str>, put_out: &Receiver<()>) -> Result<(), DesktopError> {
    let link = Link::open(&link::named(display)?)?;
    if link.conn.extension_information(shape::X11_EXTENSION_NAME).map_err(lost)?.is_none() {
        return Err(lost("the display lacks SHAPE, and the frame would be in the way"));
    }
    let mut frame = Frame::around(&link)?;
    let mut size = link.size()?;
    loop {
        let next = Instant::now() + GLANCE;
        while let Some(event) = link.conn.poll_for_event().map_err(lost)? {
            frame.heard(&event)?;
        }
        let now = link.size()?;
        if now != size {
            (frame, size) = (Frame::around(&link)?, now);
        }
        if is_out(put_out, next.saturating_duration_since(Instant::now())) {
            return Ok(());
        }
    }
}

/// Lines along the edges and a label.
struct Frame<'a> {
    link: &'a Link,
    windows: Vec<Window>,
    label: Window,
    ink: Option<Gcontext>,
}

impl<'a> Frame<'a> {
    fn around(link: &'a Link) -> Result<Self, DesktopError> {
        let (w, h) = link.size()?;
        let wide = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
        let far = |number: u16| i16::try_from(number).unwrap_or(i16::MAX);
        let (w, h) = (wide(w), wide(h));
        let letters = u16::try_from(LABEL.len()).unwrap_or(u16::MAX);
        let long = (letters * LETTER.0 + 2 * PADDING).min(w);
        let mut frame = Self { link, windows: Vec::new(), label: x11rb::NONE, ink: None };
        let (begin, sides) = ((w - long) / 2, h.saturating_sub(2 * LINE));
        // None lies on another, or each would for ever want to be in front.
        for (x, y, w, h) in [
            (0, 0, begin, LINE),
            (begin + long, 0, w - begin - long, LINE),
            (0, h.saturating_sub(LINE), w, LINE),
            (0, LINE, LINE, sides),
            (w.saturating_sub(LINE), LINE, LINE, sides),
            (begin, 0, long, LETTER.1 + PADDING),
        ] {
            frame.label = frame.window((far(x), far(y)), (w.max(1), h.max(1)))?;
            frame.windows.push(frame.label);
        }
        frame.ink = frame.pen()?;
        frame.write()?;
        link.sync()?;
        Ok(frame)
    }

    /// Nobody manages it, and whatever is done there goes to what lies behind.
    fn window(&self, (x, y): (i16, i16), (w, h): (u16, u16)) -> Result<Window, DesktopError> {
        let (conn, root) = (&self.link.conn, self.link.root);
        let window = conn.generate_id().map_err(lost)?;
        let aux = CreateWindowAux::new()
            .override_redirect(1)
            .background_pixel(ORANGE)
            .event_mask(EventMask::VISIBILITY_CHANGE | EventMask::EXPOSURE);
        let output = WindowClass::INPUT_OUTPUT;
        let made = conn.create_window(0, window, root, x, y, w, h, 0, output, 0, &aux);
        made.map_err(lost)?.check().map_err(lost)?;
        let nothing: [x11rb::protocol::xproto::Rectangle; 0] = [];
        let order = ClipOrdering::UNSORTED;
        let shaped = conn.shape_rectangles(SO::SET, SK::INPUT, order, window, 0, 0, &nothing);
        shaped.map_err(lost)?.check().map_err(lost)?;
        conn.map_window(window).map_err(lost)?.check().map_err(lost)?;
        Ok(window)
    }

    /// None where the display has no such font.
    fn pen(&self) -> Result<Option<Gcontext>, DesktopError> {
        let conn = &self.link.conn;
        let font = conn.generate_id().map_err(lost)?;
        if conn.open_font(font, b"fixed").map_err(lost)?.check().is_err() {
            return Ok(None);
        }
        let pen = conn.generate_id().map_err(lost)?;
        let aux = CreateGCAux::new().foreground(WHITE).background(ORANGE).font(font);
        conn.create_gc(pen, self.label, &aux).map_err(lost)?.check().map_err(lost)?;
        Ok(Some(pen))
    }

    fn write(&self) -> Result<(), DesktopError> {
        let Some(pen) = self.ink else { return Ok(()) };
        let (x, y) = (PADDING.cast_signed(), (LETTER.1 + 1).cast_signed());
        let written = self.link.conn.image_text8(self.label, pen, x, y, LABEL.as_bytes());
        written.map_err(lost)?.check().map_err(lost)
    }

    fn heard(&self, event: &Event) -> Result<(), DesktopError> {
        match event {
            Event::Expose(event) if event.window == self.label => self.write(),
            Event::VisibilityNotify(event) if event.state != Visibility::UNOBSCURED => self.rise(),
            _ => Ok(()),
        }
    }

    fn rise(&self) -> Result<(), DesktopError> {
        let above = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        for window in &self.windows {
            self.link.conn.configure_window(*window, &above).map_err(lost)?.ignore_error();
        }
        self.link.flush()
    }
}

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        for window in &self.windows {
            // Where the line is cut they are gone already.
            if let Ok(sent) = self.link.conn.destroy_window(*window) {
                sent.ignore_error();
            }
        }
        self.link.flush().ok();
    }
}
