//! A display of Wayland whose compositor lends pointers, keyboards and pictures to others, as those made of wlroots do.

mod clipboard;
mod eyes;
mod frame;
mod hands;
mod journal;
mod keymap;
mod lamp;
mod link;
mod outputs;
mod windows;

use std::{path::Path, sync::Arc};

use kernel::desktop::DesktopError;

use self::{eyes::Sight, hands::Touch, journal::Journal, link::Link};
pub use self::{journal::path as record, lamp::shine};
use crate::{desk::Desk, local::Settings, rig::Rigged};

pub fn open(settings: &Settings, desk: &Arc<Desk>) -> Result<Rigged, DesktopError> {
    let socket = link::socket(settings.display.as_deref())?;
    let at = Arc::default();
    let journal = Journal::open(settings, &socket)?;
    let hands = Touch::new(Link::open(&socket)?, journal, Arc::clone(&at))?;
    let sight = |at| Link::open(&socket).map(|link| Box::new(Sight::new(link, at)));
    let (acting, looking) = (sight(Arc::clone(&at))?, sight(at)?);
    Rigged::new(Box::new(hands), [acting, looking], settings, desk)
}

/// What the guard of one who is gone does.
pub fn mend(socket: &Path, journal: &Path, owner: &str) -> Result<(), DesktopError> {
    journal::mend(socket, journal, Some(owner))
}
