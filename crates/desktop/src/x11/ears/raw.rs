//! What a display tells of everything that is moved and pressed, without taking it from anybody.

use kernel::desktop::DesktopError;
use x11rb::protocol::{
    Event,
    xinput::{self, ConnectionExt as _, XIEventMask},
};

use crate::{
    ledger::Sent,
    x11::link::{Link, lost},
};

/// Hears of it from now on; says whether it can.
pub fn watch(link: &Link) -> Result<bool, DesktopError> {
    if !link.has(xinput::X11_EXTENSION_NAME)? {
        tracing::warn!(display = %link.display, "without XInput a person who takes over is noticed only where they move the pointer while we do");
        return Ok(false);
    }
    let conn = &link.conn;
    conn.xinput_xi_query_version(2, 2).map_err(lost)?.reply().map_err(lost)?;
    let mask = XIEventMask::RAW_MOTION
        | XIEventMask::RAW_BUTTON_PRESS
        | XIEventMask::RAW_BUTTON_RELEASE
        | XIEventMask::RAW_KEY_PRESS
        | XIEventMask::RAW_KEY_RELEASE;
    // It is told of the device in a hand, and again of the pointer or keyboard that this is part of: once is enough.
    let all = xinput::EventMask { deviceid: xinput::Device::ALL_MASTER.into(), mask: vec![mask] };
    let selected = conn.xinput_xi_select_events(link.root, &[all]);
    selected.map_err(lost)?.check().map_err(lost)?;
    Ok(true)
}

/// What was moved or pressed, if that is what it tells.
pub fn told(event: &Event) -> Option<Sent> {
    let code = |detail: u32| u8::try_from(detail).unwrap_or(0);
    match event {
        Event::XinputRawMotion(_) => Some(Sent::Motion),
        Event::XinputRawButtonPress(event) => {
            Some(Sent::Button { code: code(event.detail), down: true })
        }
        Event::XinputRawButtonRelease(event) => {
            Some(Sent::Button { code: code(event.detail), down: false })
        }
        Event::XinputRawKeyPress(event) => Some(Sent::Key { code: code(event.detail), down: true }),
        Event::XinputRawKeyRelease(event) => {
            Some(Sent::Key { code: code(event.detail), down: false })
        }
        _ => None,
    }
}
