//! What shows on the screen itself that somebody may drive it, where that can be shown.

use crate::local::Settings;
#[cfg(target_os = "linux")]
use crate::{
    choice::{Backend, chosen},
    wayland, x11,
};

#[derive(Default)]
pub struct Lamp {
    #[cfg(target_os = "linux")]
    x11: x11::Lamp,
    #[cfg(target_os = "linux")]
    wayland: wayland::Lamp,
}

#[cfg(target_os = "linux")]
impl Lamp {
    pub fn set(&self, on: bool, settings: &Settings) {
        let backend = chosen(settings).ok();
        let shows = |which| on && backend == Some(which);
        self.x11.set(shows(Backend::X11), settings.display.clone());
        self.wayland.set(shows(Backend::Wayland), settings.display.clone());
    }
}

#[cfg(not(target_os = "linux"))]
impl Lamp {
    /// Nothing is shown there: the page and the terminal say it.
    #[expect(clippy::unused_self, reason = "others do something")]
    pub fn set(&self, _: bool, _: &Settings) {}
}
