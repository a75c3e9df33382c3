//! A desktop that is connected, whatever drives it.

use std::sync::Arc;

use kernel::desktop::{DesktopError, Outcome, Pixels};

use crate::{
    choice::{Backend, chosen},
    desk::{Desk, Job},
    local::Settings,
};

pub trait Seat: Send + Sync {
    /// Puts it behind the others, or tells its owner why not.
    fn enqueue(&self, job: Job);

    /// This and what follows is answered at once, whatever is being done.
    fn position(&self, moving: bool) -> Result<Outcome, DesktopError>;

    fn screen(&self) -> Result<Outcome, DesktopError>;

    fn glance(&self, cursor: bool) -> Result<Pixels, DesktopError>;

    /// Has the whole screen put where it can be read.
    fn capture(&self) -> Result<(), DesktopError> {
        self.glance(false).map(drop)
    }

    fn size(&self) -> Result<(u32, u32), DesktopError>;

    /// The kinds of action that can be done there.
    fn commands(&self) -> Vec<String>;

    /// Whether it is told what a person does there.
    fn hears(&self) -> bool;

    fn is_alive(&self) -> bool;

    /// What a person does from now on does not matter until we do something again.
    fn rest(&self) -> Result<(), DesktopError>;
}

#[cfg(target_os = "linux")]
pub fn open(settings: &Settings, desk: &Arc<Desk>) -> Result<Arc<dyn Seat>, DesktopError> {
    Ok(match chosen(settings)? {
        Backend::X11 => Arc::new(crate::x11::Seat::open(settings, desk)?),
        Backend::Wayland => Arc::new(crate::wayland::open(settings, desk)?),
    })
}

#[cfg(not(target_os = "linux"))]
pub fn open(settings: &Settings, desk: &Arc<Desk>) -> Result<Arc<dyn Seat>, DesktopError> {
    let Backend::Native = chosen(settings)?;
    Ok(Arc::new(crate::portable::open(settings, desk)?))
}

#[cfg(target_os = "linux")]
impl Seat for crate::x11::Seat {
    fn enqueue(&self, job: Job) {
        self.enqueue(job);
    }

    fn position(&self, moving: bool) -> Result<Outcome, DesktopError> {
        self.position(moving)
    }

    fn screen(&self) -> Result<Outcome, DesktopError> {
        self.screen()
    }

    fn glance(&self, cursor: bool) -> Result<Pixels, DesktopError> {
        self.glance(cursor)
    }

    fn capture(&self) -> Result<(), DesktopError> {
        self.capture()
    }

    fn size(&self) -> Result<(u32, u32), DesktopError> {
        self.size()
    }

    fn commands(&self) -> Vec<String> {
        kernel::desktop::Action::KINDS.map(ToOwned::to_owned).into()
    }

    fn hears(&self) -> bool {
        self.hears()
    }

    fn is_alive(&self) -> bool {
        self.is_alive()
    }

    fn rest(&self) -> Result<(), DesktopError> {
        self.rest()
    }
}
