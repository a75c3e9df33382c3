//! The windows of other programs: which there are, and putting one in front, elsewhere or away.

use std::time::{Duration, Instant};

use kernel::desktop::{Code, DesktopError, Pane, Point, Rect};
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, EventMask,
    InputFocus, MapState, StackMode, Window,
};

use super::link::{Link, lost};
use crate::stop::Stop;

/// How long a manager of windows may take to do as it is told.
const PATIENCE: Duration = Duration::from_secs(2);
const GLANCE: Duration = Duration::from_millis(10);
/// How far within a frame the window of a program may be.
const DEPTH: u8 = 3;
/// How a manager of windows is told that a person's own tool asks, and that the place is that of the
/// window itself and not of the frame around it.
const TOOL: u32 = 2 << 12;
const STATIC: u32 = 10;
/// How often a window is put where it shall be.
const ATTEMPTS: u8 = 3;
/// The longest property that is read, in units of four bytes.
const LONGEST: u32 = 1 << 16;

/// Top of the stack first.
pub fn list(link: &Link) -> Result<Vec<Pane>, DesktopError> {
    let managed = property(link, link.root, "_NET_CLIENT_LIST_STACKING")?;
    let mut ids = match managed {
        Some(bytes) => numbers(&bytes),
        None => link.conn.query_tree(link.root).map_err(lost)?.reply().map_err(lost)?.children,
    };
    ids.reverse();
    let focused = focused(link)?;
    let monitors: Vec<Rect> = link.monitors()?.iter().map(|monitor| monitor.area).collect();
    let seen = ids.into_iter().filter_map(|id| pane(link, id, focused, &monitors));
    Ok(seen.collect())
}

/// Whose windows these are, by the names of their programs.
pub fn get(link: &Link, id: u32) -> Result<Pane, DesktopError> {
    let found = list(link)?.into_iter().find(|pane| pane.id == id);
    found.ok_or_else(|| DesktopError::bad(format!("no window has the id {id}")))
}

pub fn focus(link: &Link, id: u32, stop: &Stop) -> Result<Pane, DesktopError> {
    let pane = get(link, id)?;
    if managed(link)? {
        // 2: a person's own tool asks.
        tell(link, id, "_NET_ACTIVE_WINDOW", [2, 0, 0, 0, 0])?;
    } else {
        let above = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        link.conn.configure_window(id, &above).map_err(lost)?.check().map_err(lost)?;
        let focused = link.conn.set_input_focus(InputFocus::POINTER_ROOT, id, x11rb::CURRENT_TIME);
        focused.map_err(lost)?.check().map_err(lost)?;
    }
    until(stop, "the window did not get the focus", || Ok(focused(link)? == Some(id)))?;
    Ok(pane)
}

/// Where a window is, and how large.
type Place = (i32, i32, u32, u32);

/// Puts it where it shall be, as far as its manager lets it.
pub fn place(
    link: &Link,
    id: u32,
    (x, y): (Option<i32>, Option<i32>),
    (w, h): (Option<u32>, Option<u32>),
    stop: &Stop,
) -> Result<Pane, DesktopError> {
    let place = |pane: &Pane| -> Place { (pane.x, pane.y, pane.w, pane.h) };
    let before = place(&get(link, id)?);
    let wanted = (
        x.unwrap_or(before.0),
        y.unwrap_or(before.1),
        w.unwrap_or(before.2),
        h.unwrap_or(before.3),
    );
    let mut asked = wanted;
    for attempt in 1..=ATTEMPTS {
        let seen = place(&get(link, id)?);
        if seen == wanted || seen == asked {
            break;
        }
        ask_for(link, id, seen, asked)?;
        let stayed = "the window stayed where it was";
        match until(stop, stayed, || Ok(place(&get(link, id)?) != seen)) {
            // A manager may have other ideas of what fits, and then this is all that comes of it.
            Err(error) if attempt > 1 && error.code == Code::Failed => break,
            changed => changed?,
        }
        let now = place(&get(link, id)?);
        // Some count a border that others do not.
        (asked.0, asked.1) = (asked.0 + wanted.0 - now.0, asked.1 + wanted.1 - now.1);
        (asked.2, asked.3) = (now.2, now.3);
    }
    get(link, id)
}

/// Asks for all that is other than it is.
fn ask_for(link: &Link, id: u32, seen: Place, asked: Place) -> Result<(), DesktopError> {
    let other = |is_other: bool, value| is_other.then_some(value);
    let (x, y) = (other(asked.0 != seen.0, asked.0), other(asked.1 != seen.1, asked.1));
    let size = |is_other: bool, value| is_other.then_some(value);
    let (w, h) = (size(asked.2 != seen.2, asked.2), size(asked.3 != seen.3, asked.3));
    if managed(link)? {
        let flag = |bit: u32, is_given: bool| u32::from(is_given) << bit;
        let given = flag(8, x.is_some()) | flag(9, y.is_some());
        let given = given | flag(10, w.is_some()) | flag(11, h.is_some());
        let number = |it: Option<i32>| it.unwrap_or(0).cast_unsigned();
        let data = [TOOL | STATIC | given, number(x), number(y), w.unwrap_or(0), h.unwrap_or(0)];
        return tell(link, id, "_NET_MOVERESIZE_WINDOW", data);
    }
    let mut wish = ConfigureWindowAux::new();
    (wish.x, wish.y) = (x, y);
    (wish.width, wish.height) = (w, h);
    link.conn.configure_window(id, &wish).map_err(lost)?.check().map_err(lost)
}

pub fn close(link: &Link, id: u32, stop: &Stop) -> Result<Pane, DesktopError> {
    let pane = get(link, id)?;
    if managed(link)? {
        tell(link, id, "_NET_CLOSE_WINDOW", [0, 2, 0, 0, 0])?;
    } else {
        let (protocols, delete) = (link.atom("WM_PROTOCOLS")?, link.atom("WM_DELETE_WINDOW")?);
        let known = property(link, id, "WM_PROTOCOLS")?.map(|bytes| numbers(&bytes));
        if known.is_some_and(|known| known.contains(&delete)) {
            let data = [delete, x11rb::CURRENT_TIME, 0, 0, 0];
            let event = ClientMessageEvent::new(32, id, protocols, data);
            let sent = link.conn.send_event(false, id, EventMask::NO_EVENT, event);
            sent.map_err(lost)?.check().map_err(lost)?;
        } else {
            link.conn.kill_client(id).map_err(lost)?.check().map_err(lost)?;
        }
    }
    until(stop, "the window is still there", || Ok(get(link, id).is_err()))?;
    Ok(pane)
}

/// The first layout of the keyboard, if the display tells.
pub fn layout(link: &Link) -> Result<String, DesktopError> {
    let rules = property(link, link.root, "_XKB_RULES_NAMES")?.unwrap_or_default();
    let layouts = rules.split(|byte| *byte == 0).nth(2).unwrap_or_default();
    Ok(String::from_utf8_lossy(layouts).into_owned())
}

/// The program whose window gets what is done at this point, or where the pointer is.
pub fn class_at(link: &Link, at: Option<Point>) -> Result<Option<String>, DesktopError> {
    let Some(at) = at else {
        let asked = link.conn.query_pointer(link.root).map_err(lost)?;
        return class_of(link, asked.reply().map_err(lost)?.child);
    };
    let number = |it: u32| i16::try_from(it).unwrap_or(i16::MAX);
    let (x, y) = (number(at.x), number(at.y));
    let asked = link.conn.translate_coordinates(link.root, link.root, x, y).map_err(lost)?;
    class_of(link, asked.reply().map_err(lost)?.child)
}

/// The program that gets what is typed.
pub fn class_in_focus(link: &Link) -> Result<Option<String>, DesktopError> {
    let focus = link.conn.get_input_focus().map_err(lost)?.reply().map_err(lost)?.focus;
    if is_none(link, focus) { class_at(link, None) } else { class_of(link, focus) }
}

/// Whether nothing has the focus: then it is the window under the pointer that gets what is typed.
pub fn is_none(link: &Link, focus: Window) -> bool {
    focus <= 1 || focus == link.root
}

/// The program of a window, which a window around it or within it may know.
pub fn class_of(link: &Link, window: Window) -> Result<Option<String>, DesktopError> {
    let mut at = window;
    while at != x11rb::NONE && at != link.root {
        if let Some(class) = class(link, at)? {
            return Ok(Some(class));
        }
        // A window that has gone has none.
        let Ok(tree) = link.conn.query_tree(at).map_err(lost)?.reply() else { return Ok(None) };
        at = tree.parent;
    }
    class_within(link, window, DEPTH)
}

/// A manager of windows puts each into a frame of its own.
fn class_within(link: &Link, window: Window, depth: u8) -> Result<Option<String>, DesktopError> {
    if window == x11rb::NONE || depth == 0 {
        return Ok(None);
    }
    let Ok(tree) = link.conn.query_tree(window).map_err(lost)?.reply() else { return Ok(None) };
    for child in tree.children.into_iter().rev() {
        if let Some(class) = class(link, child)? {
            return Ok(Some(class));
        }
        if let Some(class) = class_within(link, child, depth - 1)? {
            return Ok(Some(class));
        }
    }
    Ok(None)
}

fn class(link: &Link, window: Window) -> Result<Option<String>, DesktopError> {
    let named = AtomEnum::WM_CLASS.into();
    Ok(property_of(link, window, named)?.as_deref().and_then(class_from))
}

/// What a program calls itself, as it is written on its windows.
pub fn class_from(written: &[u8]) -> Option<String> {
    let name = written.split(|byte| *byte == 0).nth(1)?;
    Some(String::from_utf8_lossy(name).into_owned())
}

fn until(
    stop: &Stop,
    otherwise: &str,
    holds: impl Fn() -> Result<bool, DesktopError>,
) -> Result<(), DesktopError> {
    let end = Instant::now() + PATIENCE;
    while !holds()? {
        if Instant::now() >= end {
            return Err(DesktopError::failed(otherwise));
        }
        stop.rest(GLANCE)?;
    }
    Ok(())
}

fn managed(link: &Link) -> Result<bool, DesktopError> {
    Ok(property(link, link.root, "_NET_SUPPORTING_WM_CHECK")?.is_some())
}

fn tell(link: &Link, id: u32, message: &str, data: [u32; 5]) -> Result<(), DesktopError> {
    let event = ClientMessageEvent::new(32, id, link.atom(message)?, data);
    let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
    link.conn.send_event(false, link.root, mask, event).map_err(lost)?.check().map_err(lost)
}

fn focused(link: &Link) -> Result<Option<Window>, DesktopError> {
    if let Some(bytes) = property(link, link.root, "_NET_ACTIVE_WINDOW")? {
        return Ok(numbers(&bytes).first().copied());
    }
    let mut at = link.conn.get_input_focus().map_err(lost)?.reply().map_err(lost)?.focus;
    if at <= 1 || at == link.root {
        return Ok(None);
    }
    // The focus may lie on something within the window.
    loop {
        let tree = link.conn.query_tree(at).map_err(lost)?.reply().map_err(lost)?;
        if tree.parent == link.root || tree.parent == x11rb::NONE {
            return Ok(Some(at));
        }
        at = tree.parent;
    }
}

/// None if it has gone meanwhile, or was never there to be seen.
fn pane(link: &Link, id: Window, focused: Option<Window>, monitors: &[Rect]) -> Option<Pane> {
    let attributes = link.conn.get_window_attributes(id).ok()?.reply().ok()?;
    let minimized = attributes.map_state != MapState::VIEWABLE;
    let managed = property(link, id, "WM_STATE").ok()?.is_some();
    if attributes.override_redirect || (minimized && !managed) {
        return None;
    }
    let size = link.conn.get_geometry(id).ok()?.reply().ok()?;
    let place = link.conn.translate_coordinates(id, link.root, 0, 0).ok()?.reply().ok()?;
    let text = |name: &str| property(link, id, name).ok().flatten();
    let title = text("_NET_WM_NAME").or_else(|| text("WM_NAME")).unwrap_or_default();
    let class = text("WM_CLASS").as_deref().and_then(class_from).unwrap_or_default();
    let pid = text("_NET_WM_PID").and_then(|bytes| numbers(&bytes).first().copied());
    let (x, y) = (i32::from(place.dst_x), i32::from(place.dst_y));
    let (w, h) = (u32::from(size.width), u32::from(size.height));
    let shared = |area: &Rect| {
        let overlap = |at: i32, length: u32, from: u32, whole: u32| {
            let (at, from) = (i64::from(at), i64::from(from));
            (at + i64::from(length)).min(from + i64::from(whole)) - at.max(from)
        };
        overlap(x, w, area.x, area.w).max(0) * overlap(y, h, area.y, area.h).max(0)
    };
    let most = (0u32..).zip(monitors).max_by_key(|(_, area)| shared(area));
    Some(Pane {
        id,
        title: String::from_utf8_lossy(&title).into_owned(),
        class,
        pid,
        x,
        y,
        w,
        h,
        focused: focused == Some(id),
        minimized,
        display: most.filter(|(_, area)| shared(area) > 0).map(|(id, _)| id),
    })
}

/// None if it has none of this name.
fn property(link: &Link, window: Window, name: &str) -> Result<Option<Vec<u8>>, DesktopError> {
    property_of(link, window, link.atom(name)?)
}

fn property_of(link: &Link, window: Window, atom: Atom) -> Result<Option<Vec<u8>>, DesktopError> {
    let asked = link.conn.get_property(false, window, atom, AtomEnum::ANY, 0, LONGEST);
    // A window that has gone has none.
    let Ok(reply) = asked.map_err(lost)?.reply() else { return Ok(None) };
    Ok((reply.type_ != x11rb::NONE).then_some(reply.value))
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_ne_bytes(*bytes)).collect()
}
