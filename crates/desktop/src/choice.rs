//! What drives this machine's desktop: decided by the environment, unless somebody says.

use std::env;

use kernel::desktop::{Code, DesktopError};

use crate::local::Settings;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    #[cfg(target_os = "linux")]
    X11,
    #[cfg(target_os = "linux")]
    Wayland,
    /// The one way there is on this platform.
    #[cfg(not(target_os = "linux"))]
    Native,
}

impl Backend {
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(target_os = "linux")]
            Self::X11 => "x11",
            #[cfg(target_os = "linux")]
            Self::Wayland => "wayland",
            #[cfg(not(target_os = "linux"))]
            Self::Native => "native",
        }
    }
}

/// What would be used now, by the environment alone.
pub fn backend() -> Result<Backend, DesktopError> {
    let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let asked = set("MEGARON_DESKTOP_BACKEND");
    choose(asked.as_deref(), set("WAYLAND_DISPLAY").is_some(), set("DISPLAY").is_some())
}

/// Whether there seems to be something to connect to.
pub fn is_present() -> bool {
    backend().is_ok()
}

pub fn chosen(settings: &Settings) -> Result<Backend, DesktopError> {
    match settings.backend {
        Some(backend) => Ok(backend),
        #[cfg(target_os = "linux")]
        None if settings.display.is_some() => Ok(Backend::X11),
        None => backend(),
    }
}

#[cfg(target_os = "linux")]
fn choose(asked: Option<&str>, wayland: bool, x11: bool) -> Result<Backend, DesktopError> {
    let none = |text| Err(DesktopError::new(Code::NoDisplay, text));
    match (asked, wayland, x11) {
        // Never XWayland by itself: one would reach some windows and not others, and not say so.
        (None | Some("wayland"), true, _) => Ok(Backend::Wayland),
        (None | Some("x11"), _, true) => Ok(Backend::X11),
        (None, false, false) => none("no display (DISPLAY and WAYLAND_DISPLAY are not set)"),
        (Some("wayland"), false, _) => none("no display (WAYLAND_DISPLAY is not set)"),
        (Some("x11"), _, false) => none("no display (DISPLAY is not set)"),
        (Some(other), ..) => Err(unknown(other, &["x11", "wayland"])),
    }
}

#[cfg(not(target_os = "linux"))]
fn choose(asked: Option<&str>, _: bool, _: bool) -> Result<Backend, DesktopError> {
    match asked {
        None | Some("native") => Ok(Backend::Native),
        Some(other) => Err(unknown(other, &["native"])),
    }
}

fn unknown(asked: &str, known: &[&str]) -> DesktopError {
    let expected = known.join("` or `");
    let text = format!("MEGARON_DESKTOP_BACKEND is `{asked}`; expected `{expected}`");
    DesktopError::new(Code::Unsupported, text).expecting(known.iter().copied())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_session_of_wayland_is_driven_as_one_unless_somebody_says_otherwise() {
        for (asked, wayland, x11, chosen) in [
            (None, true, true, "wayland"),
            (None, true, false, "wayland"),
            (None, false, true, "x11"),
            (Some("x11"), true, true, "x11"),
            (Some("wayland"), true, true, "wayland"),
            (None, false, false, "no display (DISPLAY and WAYLAND_DISPLAY are not set)"),
            (Some("x11"), true, false, "no display (DISPLAY is not set)"),
            (Some("wayland"), false, true, "no display (WAYLAND_DISPLAY is not set)"),
            (
                Some("mir"),
                true,
                true,
                "MEGARON_DESKTOP_BACKEND is `mir`; expected `x11` or `wayland`",
            ),
        ] {
            let found = choose(asked, wayland, x11);
            let found = found.map_or_else(|error| error.text, |backend| backend.name().to_owned());
            assert_eq!(found, chosen);
        }
    }
}
