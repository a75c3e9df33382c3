//! Which buttons are held, on record while they are: a compositor lets go of the keys of one who is killed, not of buttons.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use kernel::desktop::DesktopError;
use serde::{Deserialize, Serialize};
use wayland_client::protocol::wl_pointer::ButtonState;
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_manager_v1::ZwlrVirtualPointerManagerV1;

use super::link::{Link, lost};
use crate::{guard::Guard, local::Settings};

/// Tells those of one process apart.
static NUMBER: AtomicU32 = AtomicU32::new(0);

pub struct Journal {
    /// None where nobody wants it kept.
    path: Option<PathBuf>,
    owner: String,
    _guard: Option<Guard>,
}

#[derive(Serialize, Deserialize)]
struct Held {
    owner: String,
    buttons: Vec<u32>,
}

/// Beside that of X11, which says other things.
pub fn path(journal: &Path) -> PathBuf {
    journal.with_extension("wayland")
}

impl Journal {
    /// What another has left is let go first.
    pub fn open(settings: &Settings, socket: &Path) -> Result<Self, DesktopError> {
        let path = settings.journal.as_deref().map(path);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let owner = format!("{}-{number}", std::process::id());
        let mut guard = None;
        if let Some(path) = &path {
            mend(socket, path, None)?;
            let display = socket.to_string_lossy();
            guard = Guard::post(&settings.guard, &display, path, &owner);
        }
        Ok(Self { path, owner, _guard: guard })
    }

    /// Before they are pressed, and after they came up.
    pub fn buttons(&self, buttons: &[u32]) -> Result<(), DesktopError> {
        let Some(path) = &self.path else { return Ok(()) };
        if buttons.is_empty() {
            return forget(path);
        }
        let held = Held { owner: self.owner.clone(), buttons: buttons.to_vec() };
        let text = serde_json::to_vec(&held).map_err(lost)?;
        fs::write(path, text).map_err(lost)
    }
}

/// Lets go of what is on record, of this owner or of any.
pub fn mend(socket: &Path, path: &Path, owner: Option<&str>) -> Result<(), DesktopError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(lost(error)),
    };
    // What cannot be read was cut short while it was written, before anything was pressed.
    let Ok(held) = serde_json::from_slice::<Held>(&text) else { return forget(path) };
    if owner.is_some_and(|owner| owner != held.owner) {
        return Ok(());
    }
    let mut link = Link::open(socket)?;
    // From now on it is ours, and whoever comes next may write their own.
    let claimed = path.with_extension("mending");
    fs::rename(path, &claimed).map_err(lost)?;
    let pointers: ZwlrVirtualPointerManagerV1 = link.require(1)?;
    let pointer = pointers.create_virtual_pointer(None, &link.handle(), ());
    for button in held.buttons {
        pointer.button(0, button, ButtonState::Released);
        pointer.frame();
    }
    link.sync()?;
    forget(&claimed)
}

fn forget(path: &Path) -> Result<(), DesktopError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(lost(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}
