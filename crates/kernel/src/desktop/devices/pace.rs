//! How fast a device is driven at most.

use std::time::Duration;

use tokio::time::Instant;

use super::{Action, DesktopError, Devices};

/// Actions in a second, and how many at once after a rest.
const RATE: u32 = 50;
const BURST: u32 = 20;
/// Characters that are typed in a second.
const CHARACTERS: u32 = 2_000;
/// How long an order waits for its turn before it is refused.
const PATIENCE: Duration = Duration::from_secs(1);

impl Devices {
    /// Returns when an order fits the rate.
    pub(super) async fn fits(&self, device: &str, action: &Action) -> Result<(), DesktopError> {
        let now = Instant::now();
        let begins = {
            let mut inner = self.inner();
            let Some(present) = inner.present.get_mut(device) else { return Ok(()) };
            let rested = now.checked_sub(Duration::from_secs(1) * BURST / RATE).unwrap_or(now);
            let free = present.free.unwrap_or(rested).max(rested);
            if free > now + PATIENCE {
                return Err(DesktopError::rate_limited());
            }
            present.free = Some(free + cost(action));
            free
        };
        if begins > now {
            tokio::time::sleep_until(begins).await;
        }
        Ok(())
    }
}

/// How much of the rate an action takes up.
fn cost(action: &Action) -> Duration {
    let one = Duration::from_secs(1) / RATE;
    match action {
        Action::Batch { actions, .. } => actions.iter().map(cost).sum(),
        Action::KeyboardInput { text, .. } | Action::KeyboardType { text, .. } => {
            let count = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
            one.max(Duration::from_secs(1) * count / CHARACTERS)
        }
        _ => one,
    }
}
