//! What the person does on a device from afar, with their own hands, and what is recorded of it.

use super::{
    Action, Deed, Desktop, DesktopError, Devices, News, Order, Outcome, Pause, Who, acting::Way,
};
use crate::{
    desktop::{Code, Recording, Sight},
    toolbox::Caller,
};
use std::sync::Arc;

/// How much of the screen around a point is remembered, in pixels to each side.
pub(in crate::desktop) const REACH: u32 = 24;

impl Devices {
    /// The person takes a device into their own hands. Everybody else has to wait until they hand it
    /// back.
    pub async fn take_over(&self, device: &str) -> Result<(), DesktopError> {
        let desktop = self.get(device).ok_or_else(DesktopError::no_client)?;
        if let Err(error) = self.pause(device, Pause::Owner).await {
            // A device that cannot cancel is stopped on our side all the same.
            tracing::debug!(device, %error, "a device did not let go of everything");
        }
        let is_taken = desktop.states().borrow().paused.is_some();
        if is_taken {
            // Somebody at the device has it: it is lent to the person here, and to nobody else.
            desktop.hand_back().await?;
        }
        Ok(())
    }

    /// The person does something with their own hands. Nobody's leave is needed for that, only that
    /// they have taken the device over.
    pub async fn touch(
        &self,
        device: &str,
        order: Order,
    ) -> (Arc<Deed>, Result<Outcome, DesktopError>) {
        let who = Who { session: None, caller: Caller::Owner };
        self.perform(who, device, order, Way::Hands).await
    }

    /// Whatever the person's hands hold there is let go.
    pub async fn let_go(&self, device: &str) {
        if self.in_hands(device).is_err() {
            return;
        }
        if let Some(desktop) = self.get(device)
            && let Err(error) = desktop.act(Action::ReleaseAll.into()).await
        {
            tracing::debug!(device, %error, "a device did not let go of everything");
        }
    }

    pub(super) fn in_hands(&self, device: &str) -> Result<(), DesktopError> {
        let taken = self.inner().present.get(device).map(|present| present.paused);
        match taken {
            Some(Some(Pause::Owner)) => Ok(()),
            Some(_) => Err(DesktopError::new(Code::Denied, "Take the desktop over first")),
            None => Err(DesktopError::no_client()),
        }
    }

    /// From now on what is done on a device is recorded, whoever does it.
    pub fn record(&self, device: &str) -> Result<(), DesktopError> {
        let since = self.clock.now();
        let mut inner = self.inner();
        if !inner.present.contains_key(device) {
            return Err(DesktopError::no_client());
        }
        if inner.recordings.contains_key(device) {
            return Err(DesktopError::bad("What is done there is being recorded already"));
        }
        inner.recordings.insert(device.to_owned(), Recording::new(since));
        drop(inner);
        self.tell(News::Recording { device: device.to_owned() });
        Ok(())
    }

    /// What is being recorded there.
    pub fn recording(&self, device: &str) -> Option<Recording> {
        self.inner().recordings.get(device).cloned()
    }

    /// It is over; this is what was recorded.
    pub fn recorded(&self, device: &str) -> Option<Recording> {
        let recording = self.inner().recordings.remove(device);
        if recording.is_some() {
            self.tell(News::Recording { device: device.to_owned() });
        }
        recording
    }

    /// What is seen where something is about to be done, if that is to be remembered.
    pub(super) async fn witness(&self, device: &str, action: &Action) -> Option<Sight> {
        let (at, desktop) = {
            let inner = self.inner();
            let at = inner.recordings.get(device)?.looks_at(action)?;
            (at, inner.present.get(device)?.desktop.clone())
        };
        see(desktop.as_ref(), at).await
    }

    pub(super) fn note_step(
        &self,
        device: &str,
        action: &Action,
        sight: Option<Sight>,
        outcome: &Outcome,
    ) {
        let now = self.clock.now();
        let mut inner = self.inner();
        let Some(recording) = inner.recordings.get_mut(device) else { return };
        let before = recording.steps().len();
        recording.add(action, sight, outcome.at(), now);
        let grew = recording.steps().len() != before;
        drop(inner);
        if grew {
            self.tell(News::Recording { device: device.to_owned() });
        }
    }
}

/// How it looks around a point; nothing where the device cannot show it.
pub(in crate::desktop) async fn see(
    desktop: &dyn Desktop,
    at: crate::desktop::Point,
) -> Option<Sight> {
    let pixels = desktop.glance(false).await.ok()?;
    Some(Sight { at, crop: pixels.around(at, REACH)? })
}
