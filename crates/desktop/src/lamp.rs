//! What shows on the screen itself that somebody may drive it, where that can be shown.

use crate::local::Settings;
#[cfg(target_os = "linux")]
use {
    crate::{
        choice::{Backend, chosen},
        wayland, x11,
    },
    std::{
        sync::{
            Mutex, PoisonError,
            mpsc::{Receiver, RecvTimeoutError, Sender, channel},
        },
        thread,
        time::Duration,
    },
};

/// Before a display is tried again that could not be reached.
#[cfg(target_os = "linux")]
const PAUSE: Duration = Duration::from_secs(5);

/// Shows and hides the frame, in a thread of its own while it shows.
#[derive(Default)]
pub struct Lamp {
    /// Dropping this puts it out.
    #[cfg(target_os = "linux")]
    lit: Mutex<Option<Sender<()>>>,
}

#[cfg(target_os = "linux")]
impl Lamp {
    /// What cannot be shown is no reason to do nothing else: the page and the terminal say it too.
    pub fn set(&self, on: bool, settings: &Settings) {
        let shine = chosen(settings).ok().filter(|_| on).map(|backend| match backend {
            Backend::X11 => x11::shine,
            Backend::Wayland => wayland::shine,
        });
        let mut lit = self.lit.lock().unwrap_or_else(PoisonError::into_inner);
        if lit.is_some() == shine.is_some() {
            return;
        }
        let (out, put_out) = channel();
        *lit = shine.map(|_| out);
        let Some(shine) = shine else { return };
        let display = settings.display.clone();
        let begun = thread::Builder::new().name("desktop-lamp".into()).spawn(move || {
            while let Err(error) = shine(display.as_deref(), &put_out) {
                tracing::warn!(%error, "cannot show on the screen that somebody may drive it");
                // The display may come back.
                if is_out(&put_out, PAUSE) {
                    return;
                }
            }
        });
        if let Err(error) = begun {
            tracing::warn!(%error, "cannot show on the screen that somebody may drive it");
        }
    }
}

/// Whether the other end is gone, or goes within this time.
#[cfg(target_os = "linux")]
pub fn is_out(put_out: &Receiver<()>, within: Duration) -> bool {
    put_out.recv_timeout(within) == Err(RecvTimeoutError::Disconnected)
}

#[cfg(not(target_os = "linux"))]
impl Lamp {
    /// Nothing is shown there: the page and the terminal say it.
    #[expect(clippy::unused_self, reason = "others do something")]
    pub fn set(&self, _: bool, _: &Settings) {}
}
