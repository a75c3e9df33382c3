//! What the person at this machine lets a hub do, whatever the hub thinks.

use jiff::Timestamp;
use kernel::desktop::{Action, Code, DesktopError};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leave {
    /// When it ends. Without an end, a hub with rules of its own decides; one without gets nothing.
    pub until: Option<Timestamp>,
    /// It may look, and nothing else.
    pub view_only: bool,
}

impl Leave {
    /// `hub_asks` is whether the hub has rules of its own, which a person made there.
    pub fn check(
        self,
        action: &Action,
        hub_asks: bool,
        now: Timestamp,
    ) -> Result<(), DesktopError> {
        if *action == Action::ReleaseAll {
            return Ok(());
        }
        match self.until {
            Some(until) if until <= now => return Err(self.refusal()),
            None if !hub_asks => return Err(self.refusal()),
            Some(_) | None => (),
        }
        if self.view_only && action.is_input() {
            return Err(DesktopError::new(Code::Denied, "Desktop control is not granted"));
        }
        Ok(())
    }

    /// Why nothing may be done, if nothing may.
    pub fn refusal(self) -> DesktopError {
        let text = match self.until {
            Some(until) => format!("Desktop control expired at {until}"),
            None => "Desktop control is not armed".to_owned(),
        };
        DesktopError::new(Code::NotArmed, text)
    }

    /// Whether anything may be done at this moment.
    pub fn holds(self, hub_asks: bool, now: Timestamp) -> bool {
        self.check(&Action::GetMousePosition, hub_asks, now).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use kernel::desktop::Button;

    use super::*;

    const CLICK: Action = Action::MouseClick { button: Button::Left };

    fn said(leave: Leave, action: &Action, hub_asks: bool) -> String {
        let now = Timestamp::from_second(1000).unwrap();
        leave.check(action, hub_asks, now).map_or_else(|error| error.text, |()| "yes".to_owned())
    }

    #[test]
    fn a_hub_without_rules_needs_a_window_that_is_open() {
        let at = |second| Leave { until: Timestamp::from_second(second).ok(), view_only: false };
        assert_eq!(said(Leave::default(), &CLICK, false), "Desktop control is not armed");
        assert_eq!(said(Leave::default(), &CLICK, true), "yes");
        assert_eq!(said(at(1001), &CLICK, false), "yes");
        let expired = "Desktop control expired at 1970-01-01T00:16:40Z";
        assert_eq!(said(at(1000), &CLICK, true), expired);
        assert_eq!(said(at(1000), &Action::ReleaseAll, true), "yes");
    }

    #[test]
    fn who_may_only_look_may_only_look() {
        let leave = Leave { until: None, view_only: true };
        assert_eq!(said(leave, &Action::GetMousePosition, true), "yes");
        assert_eq!(said(leave, &CLICK, true), "Desktop control is not granted");
        assert_eq!(said(leave, &Action::ClipboardGet, true), "Desktop control is not granted");
    }
}
