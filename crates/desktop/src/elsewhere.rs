//! Platforms whose desktops nobody has taught us yet, and which say so.

use std::{path::Path, sync::Arc};

use kernel::desktop::{Code, DesktopError, Outcome};

use crate::{
    desk::{Desk, Job},
    local::Settings,
};

/// Nothing was ever pressed there.
pub fn mend(_: &str, _: &Path, _: &str) -> Result<(), DesktopError> {
    Ok(())
}

/// Shows nothing.
#[derive(Default)]
pub struct Lamp;

impl Lamp {
    #[expect(clippy::unused_self, reason = "others do something")]
    pub fn set(&self, _: bool, _: Option<String>) {}
}

/// There is none.
pub enum Seat {}

impl Seat {
    pub fn open(_: &Settings, _: &Arc<Desk>) -> Result<Self, DesktopError> {
        let platform = std::env::consts::OS;
        let text = format!("the desktop of {platform} is not supported on this platform yet");
        Err(DesktopError::new(Code::Unsupported, text))
    }

    pub fn enqueue(&self, _: Job) {
        match *self {}
    }

    pub fn position(&self, _: bool) -> Result<Outcome, DesktopError> {
        match *self {}
    }

    pub fn screen(&self) -> Result<Outcome, DesktopError> {
        match *self {}
    }

    pub fn glance(&self, _: bool) -> Result<kernel::desktop::Pixels, DesktopError> {
        match *self {}
    }

    pub fn pixels(&self) -> Result<Vec<u8>, DesktopError> {
        match *self {}
    }

    pub fn size(&self) -> Result<(u32, u32), DesktopError> {
        match *self {}
    }

    pub fn is_alive(&self) -> bool {
        match *self {}
    }

    pub fn rest(&self) -> Result<(), DesktopError> {
        match *self {}
    }
}
