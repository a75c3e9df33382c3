//! Doing again what was recorded: it is looked before each step whether things are as they were.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{
    Desktop, DesktopError, News, Order, Outcome, Replay, Sight, Step, Stopped, Trajectory, Who,
    devices::see,
};
use crate::host::Host;

/// How much of what is seen may look different.
const TOLERANCE: f64 = 0.15;
/// How long a screen may take to look as it should.
const PATIENCE: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(100);

/// Who does it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// Somebody who needs leave for each step; it is on record in their session.
    Leave(Who),
    /// The person, who has taken the device over.
    Hands,
}

/// From where, and how closely it is looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Again {
    /// So many steps are left out.
    pub from: usize,
    /// The first of the others is done whatever it looks like: somebody has seen it and said so.
    pub anyway: bool,
}

impl Host {
    /// Does the steps one after another, until one cannot be done or looks wrong.
    pub async fn replay(
        &self,
        by: By,
        device: &str,
        trajectory: &Trajectory,
        Again { from, anyway }: Again,
    ) -> Replay {
        let (name, of) = (trajectory.name.clone(), trajectory.steps.len());
        let mut replay = Replay { name, done: from.min(of), of, stopped: None };
        for step in trajectory.steps.iter().skip(from) {
            let looks = !(anyway && replay.done == from);
            if let Err(stopped) = self.again(&by, device, step, looks).await {
                replay.stopped = Some(stopped);
                break;
            }
            replay.done += 1;
            let (device, done) = (device.to_owned(), replay.done);
            self.devices.tell(News::Replayed { device, done, of });
        }
        replay
    }

    async fn again(&self, by: &By, device: &str, step: &Step, looks: bool) -> Result<(), Stopped> {
        let action = step.motion.action().map_err(Stopped::Failed)?;
        let Some(action) = action else {
            // Whoever says that it shall go on has typed it.
            return if looks { Err(Stopped::Secret) } else { Ok(()) };
        };
        if let Some(sight) = step.sight.as_ref().filter(|_| looks) {
            let gone = || Stopped::Failed(DesktopError::no_client());
            let desktop = self.devices.get(device).ok_or_else(gone)?;
            looks_right(desktop.as_ref(), sight).await?;
        }
        let order = Order::from(action);
        let (_, result): (_, Result<Outcome, DesktopError>) = match by {
            By::Leave(who) => self.drive(who.clone(), device, order).await,
            By::Hands => self.touch(device, order).await,
        };
        result.map(drop).map_err(Stopped::Failed)
    }
}

/// Returns when it looks around a point as it did; programs take their time to draw.
async fn looks_right(desktop: &dyn Desktop, sight: &Sight) -> Result<(), Stopped> {
    let until = Instant::now() + PATIENCE;
    loop {
        let found = see(desktop, sight.at).await.map(|sight| sight.crop);
        let difference = found.as_ref().map_or(1.0, |found| sight.crop.difference(found));
        if difference <= TOLERANCE {
            return Ok(());
        }
        if Instant::now() >= until {
            return Err(Stopped::Differs { expected: sight.crop.clone(), found, difference });
        }
        sleep(GLANCE).await;
    }
}
