//! The displays of this machine and what they show, by `xcap`.

use std::fmt;

#[cfg(target_os = "macos")]
use kernel::desktop::Code;
use kernel::desktop::DesktopError;
use xcap::Monitor;

use super::Monitors;
use crate::rig::{Picture, Place};

/// Asked for anew each time: displays come and go.
pub struct All;

impl Monitors for All {
    fn places(&self) -> Result<Vec<Place>, DesktopError> {
        Monitor::all().map_err(failed)?.iter().map(place).collect()
    }

    fn picture(&self, nth: usize) -> Result<Picture, DesktopError> {
        permitted()?;
        let monitors = Monitor::all().map_err(failed)?;
        let gone = || DesktopError::failed("a display has gone");
        let image = monitors.get(nth).ok_or_else(gone)?.capture_image().map_err(failed)?;
        let (width, height) = image.dimensions();
        let mut bytes = image.into_raw();
        for [red, _, blue, _] in bytes.as_chunks_mut::<4>().0 {
            std::mem::swap(red, blue);
        }
        Ok(Picture { width, height, bytes })
    }
}

fn place(monitor: &Monitor) -> Result<Place, DesktopError> {
    let signed = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    let (w, h) = (monitor.width().map_err(failed)?, monitor.height().map_err(failed)?);
    let size = (signed(w), signed(h));
    Ok(Place {
        title: monitor.name().map_err(failed)?,
        at: (monitor.x().map_err(failed)?, monitor.y().map_err(failed)?),
        size,
        pixels: pixels(monitor, size)?,
        primary: monitor.is_primary().map_err(failed)?,
    })
}

/// Measured in points there.
#[cfg(target_os = "macos")]
fn pixels(monitor: &Monitor, size: (i32, i32)) -> Result<(i32, i32), DesktopError> {
    let scale = f64::from(monitor.scale_factor().map_err(failed)?);
    #[expect(clippy::cast_possible_truncation, reason = "no display is that large")]
    let scaled = |length: i32| (f64::from(length) * scale).round() as i32;
    Ok((scaled(size.0), scaled(size.1)))
}

/// Measured in pixels already.
#[cfg(not(target_os = "macos"))]
#[expect(clippy::unnecessary_wraps, reason = "others have to ask")]
fn pixels(_: &Monitor, size: (i32, i32)) -> Result<(i32, i32), DesktopError> {
    Ok(size)
}

/// Without it one would see the background and nothing on it.
#[cfg(target_os = "macos")]
fn permitted() -> Result<(), DesktopError> {
    if objc2_core_graphics::CGPreflightScreenCaptureAccess() {
        return Ok(());
    }
    let text = "this program may not see the screen: allow it in the system settings, under \
                Privacy & Security, Screen Recording";
    Err(DesktopError::new(Code::Permission, text))
}

#[cfg(not(target_os = "macos"))]
#[expect(clippy::unnecessary_wraps, reason = "others have to ask")]
fn permitted() -> Result<(), DesktopError> {
    Ok(())
}

fn failed(error: impl fmt::Display) -> DesktopError {
    DesktopError::failed(format!("OS Failure: {error}"))
}
