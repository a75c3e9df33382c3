//! Seeing on Wayland: the outputs as one screen, and where we have put the pointer.

use std::sync::{Arc, Mutex, PoisonError};

use kernel::desktop::{DesktopError, Display, Point, Rect};

use super::{frame::Camera, link::Link, outputs};
use crate::rig::{Canvas, Eyes, lacking, overlap};

/// Where the pointer was put last: nobody tells where it is.
pub type At = Arc<Mutex<Option<Point>>>;

pub struct Sight {
    link: Link,
    camera: Option<Camera>,
    at: At,
}

impl Sight {
    pub fn new(link: Link, at: At) -> Self {
        let camera = Camera::new(&link);
        Self { link, camera, at }
    }
}

impl Eyes for Sight {
    fn backend(&self) -> &'static str {
        "wayland"
    }

    fn displays(&mut self) -> Result<Vec<Display>, DesktopError> {
        self.link.sync()?;
        Ok(outputs::layout(&self.link.world.outputs)?.displays)
    }

    fn pointer(&mut self) -> Result<Point, DesktopError> {
        let at = *self.at.lock().unwrap_or_else(PoisonError::into_inner);
        let unknown = "Wayland does not tell where the pointer is before it was moved from here";
        at.ok_or_else(|| lacking(unknown))
    }

    fn pixels(&mut self, area: Rect, cursor: bool) -> Result<Vec<u8>, DesktopError> {
        let displays = self.displays()?;
        let none = || lacking("this Wayland compositor offers no zwlr_screencopy_manager_v1");
        let camera = self.camera.as_ref().ok_or_else(none)?;
        let outputs = self.link.world.outputs.iter().filter(|it| it.is_shown());
        let outputs: Vec<_> = outputs.map(|it| (it.proxy.clone(), it.transform)).collect();
        let mut whole = Canvas::new(area)?;
        for (display, (output, transform)) in displays.iter().zip(outputs) {
            if overlap(display.area, area).is_none() {
                continue;
            }
            let picture = camera.take(&mut self.link, &output, transform, cursor)?;
            whole.draw(picture, display.area)?;
        }
        Ok(whole.bytes)
    }

    fn is_alive(&mut self) -> bool {
        self.link.is_alive()
    }
}
