//! How fast a hub may drive us, however fast it asks.

use std::time::Duration;

use kernel::desktop::{Action, DesktopError};
use tokio::time::Instant;

/// Actions in a second, and how many at once after a rest.
const RATE: u32 = 50;
const BURST: u32 = 20;
/// Characters that are typed in a second.
const CHARACTERS: u32 = 2_000;
/// Who would have to wait longer is refused.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Pace {
    /// From when on the next action fits.
    free: Option<Instant>,
}

impl Pace {
    /// When this may be done, from now on.
    pub fn fit(&mut self, action: &Action, now: Instant) -> Result<Instant, DesktopError> {
        let cost = cost(action);
        if cost.is_zero() {
            return Ok(now);
        }
        let rested = now.checked_sub(Duration::from_secs(1) * BURST / RATE).unwrap_or(now);
        let free = self.free.unwrap_or(rested).max(rested);
        if free > now + PATIENCE {
            return Err(DesktopError::rate_limited());
        }
        self.free = Some(free + cost);
        Ok(free.max(now))
    }
}

fn cost(action: &Action) -> Duration {
    if !action.is_input() {
        return Duration::ZERO;
    }
    let one = Duration::from_secs(1) / RATE;
    match action {
        Action::Batch { actions, .. } => actions.iter().map(cost).sum(),
        Action::KeyboardInput { text, .. } | Action::KeyboardType { text, .. } => {
            let count = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
            one.max(Duration::from_secs(1).saturating_mul(count) / CHARACTERS)
        }
        _ => one,
    }
}

#[cfg(test)]
mod tests {
    use kernel::desktop::Button;

    use super::*;

    const CLICK: Action = Action::MouseClick { button: Button::Left };

    #[test]
    fn a_burst_is_let_through_and_the_rest_follows_at_the_rate() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        let waits: Vec<u128> = (0..72)
            .map_while(|_| pace.fit(&CLICK, now).ok())
            .map(|at| (at - now).as_millis())
            .collect();
        assert!(waits[..=20].iter().all(|wait| *wait == 0), "{waits:?}");
        assert_eq!(waits[21..24], [20, 40, 60]);
        // One second is as long as anybody waits.
        assert_eq!((waits.len(), waits.last()), (71, Some(&1000)));
        let later = now + Duration::from_secs(10);
        assert_eq!(pace.fit(&CLICK, later).unwrap(), later);
    }

    #[test]
    fn a_long_text_takes_its_time() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        let text = Action::KeyboardInput { text: "x".repeat(20_000), secret: false };
        assert_eq!(pace.fit(&text, now).unwrap(), now);
        assert!(pace.fit(&CLICK, now + Duration::from_secs(8)).is_err());
        assert!(pace.fit(&Action::GetMousePosition, now).is_ok());
        let later = now + Duration::from_secs(10);
        assert_eq!(pace.fit(&CLICK, later).unwrap(), later);
    }
}
