//! Leave that ends while something is done by it: whoever waits or works is told at once.

use tokio::sync::watch;

use super::{Action, DesktopError, Devices, Who, acting::Way};

/// Who wants what, and by which right.
#[derive(Clone, Copy)]
pub(super) struct Right<'a> {
    pub who: &'a Who,
    pub device: &'a str,
    pub action: &'a Action,
    pub way: Way,
}

/// From when on it is noticed that something may have to end.
pub(super) struct Lasting {
    pub endings: watch::Receiver<()>,
    /// How many stops there were by then.
    pub stops: u64,
}

impl Devices {
    pub(super) fn lasting(&self) -> Lasting {
        let endings = self.endings.subscribe();
        Lasting { endings, stops: self.inner().stops }
    }

    /// Some time is over: what was done by leave of it ends.
    pub(in crate::desktop) fn time_is_over(&self) {
        self.endings.send_replace(());
    }

    /// Whether what was allowed a while ago still is.
    pub(super) fn still(&self, right: Right<'_>, stops: u64) -> Result<(), DesktopError> {
        let Right { who, device, action, way } = right;
        let is_stopped = |stopped: u64| stopped > stops;
        if self.inner().present.get(device).is_some_and(|it| is_stopped(it.stopped)) {
            return Err(DesktopError::stopped());
        }
        match way {
            Way::Hands => self.in_hands(device),
            // Letting go is never wrong.
            Way::Leave if *action == Action::ReleaseAll => Ok(()),
            // Somebody at the device itself.
            Way::Leave if action.is_input() && self.paused(device).is_some() => {
                Err(DesktopError::stopped())
            }
            Way::Leave => self.may(who, device, action).map(drop),
        }
    }
}
