//! A connection to a display, and what its server can do.

use std::{
    env, fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kernel::desktop::{Code, DesktopError, Point, Rect};
use x11rb::{
    connection::{Connection as _, RequestConnection},
    cookie::Cookie,
    protocol::{
        Event,
        randr::{ConnectionExt as _, NotifyMask},
        xfixes::ConnectionExt as _,
        xkb::{self, ConnectionExt as _},
        xproto::{
            Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask,
            QueryPointerReply, Window,
        },
        xtest::{self, ConnectionExt as _},
    },
};

use super::line::{Connection, Purpose, connect};

/// Displays of other machines have ports of these numbers, from 6000 on.
const HIGHEST: u16 = u16::MAX - 6000;

/// Shared by those who work on the same display over the same line.
#[derive(Clone)]
pub struct Link {
    pub conn: Arc<Connection>,
    pub root: Window,
    pub display: String,
    /// The monitors as they were last seen, where it is heard when they change; and windows likewise.
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    watched: bool,
    monitors: Option<Arc<[Monitor]>>,
    /// Whether it is heard when windows come, and whether any has.
    heeded: bool,
    stirred: bool,
}

/// A monitor, as the server tells it.
#[derive(Clone, Debug)]
pub struct Monitor {
    pub name: String,
    pub area: Rect,
    pub primary: bool,
}

/// The display that is meant: the one that is named, else that of the environment.
pub fn named(display: Option<&str>) -> Result<String, DesktopError> {
    if let Some(display) = display {
        return Ok(display.to_owned());
    }
    let display = env::var("DISPLAY").ok().filter(|value| !value.is_empty());
    display.ok_or_else(|| none("no display (DISPLAY is not set)".into()))
}

impl Link {
    pub fn open(display: &str) -> Result<Self, DesktopError> {
        Self::open_for(display, Purpose::Asking)
    }

    pub fn open_for(display: &str, purpose: Purpose) -> Result<Self, DesktopError> {
        if !is_plausible(display) {
            let text = format!("`{display}` does not name a display; `:0` would");
            return Err(none(text));
        }
        let opened = connect(display, purpose);
        let (conn, screen) =
            opened.map_err(|error| none(format!("cannot reach X server {display}: {error}")))?;
        let root = conn.setup().roots.get(screen).map(|screen| screen.root);
        let root = root.ok_or_else(|| none(format!("X server {display} has no screen")))?;
        let link =
            Self { conn: Arc::new(conn), root, display: display.to_owned(), seen: Arc::default() };
        link.require(xtest::X11_EXTENSION_NAME, "XTEST")?;
        link.require(xkb::X11_EXTENSION_NAME, "XKB")?;
        link.conn.xtest_get_version(2, 2).map_err(lost)?.reply().map_err(lost)?;
        link.conn.xkb_use_extension(1, 0).map_err(lost)?.reply().map_err(lost)?;
        if link.has(x11rb::protocol::randr::X11_EXTENSION_NAME)? {
            link.conn.randr_query_version(1, 5).map_err(lost)?.reply().map_err(lost)?;
        }
        if link.has(x11rb::protocol::xfixes::X11_EXTENSION_NAME)? {
            link.conn.xfixes_query_version(5, 0).map_err(lost)?.reply().map_err(lost)?;
        }
        Ok(link)
    }

    pub fn has(&self, extension: &'static str) -> Result<bool, DesktopError> {
        Ok(self.conn.extension_information(extension).map_err(lost)?.is_some())
    }

    fn require(&self, extension: &'static str, name: &str) -> Result<(), DesktopError> {
        if self.has(extension)? {
            return Ok(());
        }
        let text = format!("X server {} lacks {name}", self.display);
        Err(DesktopError::new(Code::Unsupported, text))
    }

    /// Returns when the server has done all that was sent.
    pub fn sync(&self) -> Result<(), DesktopError> {
        self.conn.get_input_focus().map_err(lost)?.reply().map_err(lost).map(drop)
    }

    pub fn flush(&self) -> Result<(), DesktopError> {
        self.conn.flush().map_err(lost)
    }

    pub fn is_alive(&self) -> bool {
        self.sync().is_ok()
    }

    pub fn atom(&self, name: &str) -> Result<Atom, DesktopError> {
        let asked = self.conn.intern_atom(false, name.as_bytes()).map_err(lost)?;
        Ok(asked.reply().map_err(lost)?.atom)
    }

    /// Where the pointer is, in pixels of the whole screen.
    pub fn pointer(&self) -> Result<Point, DesktopError> {
        self.pointer_and_window().map(|(at, _)| at)
    }

    /// And the outermost window in which it is there, if any.
    pub fn pointer_and_window(&self) -> Result<(Point, Window), DesktopError> {
        place(self.conn.query_pointer(self.root).map_err(lost)?)
    }

    /// Width and height of everything together.
    pub fn size(&self) -> Result<(u32, u32), DesktopError> {
        let reply = self.conn.get_geometry(self.root).map_err(lost)?.reply().map_err(lost)?;
        Ok((reply.width.into(), reply.height.into()))
    }

    /// Hears from now on when monitors change. Only for a line on which nobody else listens.
    pub fn watch(&self) -> Result<(), DesktopError> {
        let changes = ChangeWindowAttributesAux::new().event_mask(EventMask::STRUCTURE_NOTIFY);
        let conn = &self.conn;
        conn.change_window_attributes(self.root, &changes).map_err(lost)?.check().map_err(lost)?;
        if self.has(x11rb::protocol::randr::X11_EXTENSION_NAME)? {
            let changes = NotifyMask::SCREEN_CHANGE
                | NotifyMask::CRTC_CHANGE
                | NotifyMask::OUTPUT_CHANGE
                | NotifyMask::RESOURCE_CHANGE;
            let selected = conn.randr_select_input(self.root, changes);
            selected.map_err(lost)?.check().map_err(lost)?;
        }
        self.seen().watched = true;
        Ok(())
    }

    /// All of them; a server that does not tell has one.
    pub fn monitors(&self) -> Result<Arc<[Monitor]>, DesktopError> {
        let mut seen = self.seen();
        self.hear(&mut seen)?;
        if let Some(monitors) = &seen.monitors {
            return Ok(monitors.clone());
        }
        let monitors: Arc<[Monitor]> = self.look_at_monitors()?.into();
        if seen.watched {
            seen.monitors = Some(monitors.clone());
        }
        Ok(monitors)
    }

    /// Hears from now on when windows come and change, or no longer.
    pub fn heed_windows(&self, heed: bool) -> Result<(), DesktopError> {
        let mut seen = self.seen();
        if seen.heeded == heed || !seen.watched {
            return Ok(());
        }
        let also = if heed { EventMask::SUBSTRUCTURE_NOTIFY } else { EventMask::NO_EVENT };
        let events = EventMask::STRUCTURE_NOTIFY | also;
        let changes = ChangeWindowAttributesAux::new().event_mask(events);
        let heeded = self.conn.change_window_attributes(self.root, &changes);
        heeded.map_err(lost)?.check().map_err(lost)?;
        seen.heeded = heed;
        Ok(())
    }

    /// Whether any window has come or changed since this was last asked, as far as that is heard.
    pub fn have_windows_stirred(&self) -> Result<bool, DesktopError> {
        let mut seen = self.seen();
        self.hear(&mut seen)?;
        Ok(std::mem::take(&mut seen.stirred) || !seen.heeded)
    }

    /// Everything that has been said to us so far.
    fn hear(&self, seen: &mut Seen) -> Result<(), DesktopError> {
        if !seen.watched {
            return Ok(());
        }
        while let Some(event) = self.conn.poll_for_event().map_err(lost)? {
            match event {
                Event::MapNotify(_) | Event::ReparentNotify(_) | Event::DestroyNotify(_) => {
                    seen.stirred = true;
                }
                Event::PropertyNotify(event) => {
                    seen.stirred |= event.atom == u32::from(AtomEnum::WM_CLASS);
                }
                Event::ConfigureNotify(event) if event.window != self.root => (),
                Event::UnmapNotify(_) | Event::CreateNotify(_) => (),
                // Whatever else it may be: looking again harms nobody.
                _ => seen.monitors = None,
            }
        }
        Ok(())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_at_monitors(&self) -> Result<Vec<Monitor>, DesktopError> {
        let (w, h) = self.size()?;
        let whole =
            Monitor { name: "screen".into(), area: Rect { x: 0, y: 0, w, h }, primary: true };
        if !self.has(x11rb::protocol::randr::X11_EXTENSION_NAME)? {
            return Ok(vec![whole]);
        }
        let asked = self.conn.randr_get_monitors(self.root, true).map_err(lost)?;
        // A server without this version of the extension says so with an error.
        let Ok(reply) = asked.reply() else { return Ok(vec![whole]) };
        let mut monitors = Vec::new();
        for monitor in reply.monitors {
            let name =
                self.conn.get_atom_name(monitor.name).map_err(lost)?.reply().map_err(lost)?;
            monitors.push(Monitor {
                name: String::from_utf8_lossy(&name.name).into_owned(),
                area: Rect {
                    x: unsigned(monitor.x),
                    y: unsigned(monitor.y),
                    w: monitor.width.into(),
                    h: monitor.height.into(),
                },
                primary: monitor.primary,
            });
        }
        Ok(if monitors.is_empty() { vec![whole] } else { monitors })
    }

    /// A point that lies on some display, in the numbers of the wire.
    pub fn within(&self, point: Point) -> Result<(i16, i16), DesktopError> {
        if !self.monitors()?.iter().any(|monitor| monitor.area.contains(point)) {
            return Err(DesktopError::out_of_bounds(point.x.into(), point.y.into()));
        }
        wire(point)
    }
}

/// A point in the numbers of the wire, which end before those of ours.
pub fn wire(point: Point) -> Result<(i16, i16), DesktopError> {
    let number = |number: u32| {
        let off = |_| DesktopError::out_of_bounds(point.x.into(), point.y.into());
        i16::try_from(number).map_err(off)
    };
    Ok((number(point.x)?, number(point.y)?))
}

/// The answer to a question that was sent.
pub fn place(
    asked: Cookie<'_, impl RequestConnection, QueryPointerReply>,
) -> Result<(Point, Window), DesktopError> {
    let reply = asked.reply().map_err(lost)?;
    Ok((Point { x: unsigned(reply.root_x), y: unsigned(reply.root_y) }, reply.child))
}

/// Whether its number is one that a display can have.
fn is_plausible(display: &str) -> bool {
    let number = display.rsplit_once(':').map(|(_, number)| number);
    let number = number.map(|it| it.split_once('.').map_or(it, |(number, _)| number));
    number.and_then(|it| it.parse::<u16>().ok()).is_some_and(|it| it < HIGHEST)
}

fn none(text: String) -> DesktopError {
    DesktopError::new(Code::NoDisplay, text)
}

/// Coordinates of the root are never below zero.
fn unsigned(number: i16) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

/// What the server or the line to it got wrong.
pub fn lost(error: impl fmt::Display) -> DesktopError {
    DesktopError::failed(format!("OS Failure: {error}"))
}
