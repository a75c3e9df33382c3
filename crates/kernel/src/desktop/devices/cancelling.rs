//! Orders that wait here before their device gets them, each of which can be cancelled until then.

use tokio::sync::oneshot;

use super::{Code, DesktopError, Devices};

/// An order that waits.
pub(super) struct Waiter {
    number: u64,
    device: String,
    order: String,
    /// Dropped when it is cancelled.
    _lasts: oneshot::Sender<()>,
}

/// An order waits while this is there.
struct Place<'a> {
    devices: &'a Devices,
    number: u64,
}

impl Devices {
    /// Waits for something before an order goes on to its device. Meanwhile it can be cancelled.
    pub async fn wait<T>(
        &self,
        device: &str,
        order: &str,
        until: impl Future<Output = T>,
    ) -> Result<T, DesktopError> {
        let (lasts, cancelled) = oneshot::channel();
        let place = self.place(device, order, lasts);
        tokio::select! {
            biased;
            _ = cancelled => Err(DesktopError::cancelled()),
            // It may have been cancelled in this very moment, and is counted then.
            done = until => if place.leave() { Ok(done) } else { Err(DesktopError::cancelled()) },
        }
    }

    /// Cancels what works on a device and what waits for it, whoever gave the order, or only the
    /// order of this id; says how many.
    pub async fn cancel(
        &self,
        device: &str,
        target: Option<String>,
    ) -> Result<usize, DesktopError> {
        let desktop = self.get(device).ok_or_else(DesktopError::no_client)?;
        let here = self.cancel_waiting(device, target.as_deref());
        if here > 0 && target.is_some() {
            return Ok(here);
        }
        match desktop.cancel(target).await {
            // It goes on with what it does, and gets no more of it.
            Err(error) if here > 0 && error.code == Code::Unsupported => Ok(here),
            there => Ok(here + there?),
        }
    }

    fn cancel_waiting(&self, device: &str, target: Option<&str>) -> usize {
        let is_meant = |it: &Waiter| it.device == device && target.is_none_or(|id| it.order == id);
        let mut inner = self.inner();
        let before = inner.waiting.len();
        inner.waiting.retain(|waiter| !is_meant(waiter));
        before - inner.waiting.len()
    }

    fn place(&self, device: &str, order: &str, lasts: oneshot::Sender<()>) -> Place<'_> {
        let mut inner = self.inner();
        inner.waits += 1;
        let (number, device, order) = (inner.waits, device.to_owned(), order.to_owned());
        inner.waiting.push(Waiter { number, device, order, _lasts: lasts });
        Place { devices: self, number }
    }
}

impl Place<'_> {
    /// Waits no longer; says whether it still did.
    fn leave(&self) -> bool {
        let mut inner = self.devices.inner();
        let at = inner.waiting.iter().position(|waiter| waiter.number == self.number);
        at.map(|at| inner.waiting.swap_remove(at)).is_some()
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}
