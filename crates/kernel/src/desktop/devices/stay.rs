//! A device that is there for as long as somebody says so.

use std::sync::Arc;

use super::{Devices, News, Present};

/// A device is there while this is.
pub struct Stay {
    pub(super) devices: Arc<Devices>,
    pub(super) device: String,
    pub(super) number: u64,
}

impl Stay {
    /// Whether no other has taken its name.
    pub fn is_current(&self) -> bool {
        let inner = self.devices.inner();
        inner.present.get(&self.device).is_some_and(|present| present.stay == self.number)
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        let mut inner = self.devices.inner();
        let ours = |present: &Present| present.stay == self.number;
        if inner.present.get(&self.device).is_some_and(ours) {
            inner.present.remove(&self.device);
            drop(inner);
            self.devices.tell(News::Left { device: self.device.clone() });
        }
    }
}
