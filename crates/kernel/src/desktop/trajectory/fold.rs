//! From what was done, as it was done, to the steps that do it again.

use jiff::Timestamp;

use super::{MOST_STEPS, Motion, Sight, Step};
use crate::desktop::{Action, Button, LONGEST_TEXT, Point};

/// Clicks that come closer together than this are one, in milliseconds and in pixels.
const AGAIN: i64 = 500;
const NEAR: u32 = 4;
/// Of the way of a drag no more points are kept than a device takes.
const MOST_POINTS: usize = 100;

/// What has been recorded so far.
#[derive(Clone, Debug)]
pub struct Recording {
    pub since: Timestamp,
    steps: Vec<Step>,
    /// Where the pointer is, as far as that is known.
    at: Option<Point>,
    held: Option<Held>,
    /// When the last step was done.
    last: Option<Timestamp>,
}

/// A button that is down, and the way it has come.
#[derive(Clone, Debug)]
struct Held {
    button: Button,
    path: Vec<Point>,
    sight: Option<Sight>,
}

impl Recording {
    pub fn new(since: Timestamp) -> Self {
        Self { since, steps: Vec::new(), at: None, held: None, last: None }
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    /// Around where it is worth looking before an action, if it is to be recorded and looking helps.
    pub fn looks_at(&self, action: &Action) -> Option<Point> {
        let is_recorded = matches!(
            action,
            Action::MouseClick { .. }
                | Action::MouseClickAt { .. }
                | Action::MouseDown { .. }
                | Action::MouseDrag(_)
                | Action::MouseScroll { .. }
                | Action::MouseScrollAt { .. }
                | Action::KeyCombo { .. }
                | Action::KeyboardCommand { .. }
        );
        if !is_recorded || self.held.is_some() || self.steps.len() >= MOST_STEPS {
            return None;
        }
        self.place(action)
    }

    fn place(&self, action: &Action) -> Option<Point> {
        match action {
            Action::MouseClickAt { at, .. }
            | Action::MouseDown { at, .. }
            | Action::MouseUp { at, .. } => at.or(self.at),
            Action::MouseScrollAt { at, .. } => Some(*at),
            Action::MouseDrag(drag) => drag.path.first().copied(),
            _ => self.at,
        }
    }

    /// Something was done, which was seen to end with the pointer there.
    pub fn add(
        &mut self,
        action: &Action,
        sight: Option<Sight>,
        at: Option<Point>,
        now: Timestamp,
    ) {
        let place = self.place(action);
        let motion = match action {
            Action::MouseMove { to, .. } => {
                self.moved(*to);
                None
            }
            Action::MouseDown { button, .. } => {
                let path = place.into_iter().collect();
                self.held = Some(Held { button: *button, path, sight: sight.clone() });
                None
            }
            Action::MouseUp { .. } => return self.released(place, now),
            Action::Batch { actions, .. } => {
                for action in actions {
                    self.add(action, None, None, now);
                }
                None
            }
            action => place_of(action, place),
        };
        self.at = at.or(place).or(self.at);
        if let Some(motion) = motion {
            self.push(Step { motion, sight }, now);
        }
    }

    fn moved(&mut self, to: Point) {
        self.at = Some(to);
        let Some(held) = &mut self.held else { return };
        // The end of the way counts more than how it came there.
        if held.path.len() >= MOST_POINTS - 1 {
            held.path.pop();
        }
        held.path.push(to);
    }

    fn released(&mut self, place: Option<Point>, now: Timestamp) {
        let Some(Held { button, mut path, sight }) = self.held.take() else { return };
        path.extend(place.filter(|place| path.last() != Some(place)));
        self.at = path.last().copied().or(self.at);
        let Some(first) = path.first().copied() else { return };
        let motion = if path.iter().all(|point| is_near(*point, first)) {
            Motion::Click { at: first, button, count: 1, modifiers: Vec::new() }
        } else {
            Motion::Drag { path, button, modifiers: Vec::new() }
        };
        self.push(Step { motion, sight }, now);
    }

    /// What belongs to the step before becomes part of it.
    fn push(&mut self, step: Step, now: Timestamp) {
        let quick =
            self.last.is_some_and(|last| now.as_millisecond() - last.as_millisecond() < AGAIN);
        self.last = Some(now);
        let has_room = self.steps.len() < MOST_STEPS;
        match (self.steps.last_mut().map(|last| &mut last.motion), &step.motion) {
            (Some(Motion::Type { text }), Motion::Type { text: more })
                if text.chars().count() + more.chars().count() <= LONGEST_TEXT =>
            {
                text.push_str(more);
            }
            (
                Some(Motion::Click { at, button, count, modifiers }),
                Motion::Click { at: again, button: same, count: 1, modifiers: with },
            ) if quick
                && is_near(*at, *again)
                && button == same
                && modifiers == with
                && *count < 3 =>
            {
                *count += 1;
            }
            (
                Some(Motion::Scroll { at, direction, steps }),
                Motion::Scroll { at: there, direction: same, steps: more },
            ) if at == there
                && direction == same
                && *steps + more <= crate::desktop::MOST_STEPS =>
            {
                *steps += more;
            }
            _ if has_room => self.steps.push(step),
            _ => (),
        }
    }
}

fn place_of(action: &Action, place: Option<Point>) -> Option<Motion> {
    Some(match action {
        Action::MouseClick { button } => {
            Motion::Click { at: place?, button: *button, count: 1, modifiers: Vec::new() }
        }
        Action::MouseClickAt { button, count, modifiers, .. } => Motion::Click {
            at: place?,
            button: *button,
            count: *count,
            modifiers: modifiers.clone(),
        },
        Action::MouseDrag(drag) => Motion::Drag {
            path: drag.path.clone(),
            button: drag.button,
            modifiers: drag.modifiers.clone(),
        },
        Action::MouseScroll { direction, intensity }
        | Action::MouseScrollAt { direction, intensity, .. } => {
            Motion::Scroll { at: place?, direction: *direction, steps: *intensity }
        }
        action if action.secret().is_some() => Motion::TypeSecret,
        Action::KeyboardInput { text, .. } | Action::KeyboardType { text, .. } => {
            Motion::Type { text: text.clone() }
        }
        Action::KeyboardCommand { keys } => Motion::Press { keys: keys.spoken.clone(), repeat: 1 },
        Action::KeyCombo { keys, repeat } => {
            Motion::Press { keys: keys.spoken.clone(), repeat: *repeat }
        }
        Action::Wait(crate::desktop::Waiting::For(seconds)) => Motion::Wait { seconds: *seconds },
        _ => return None,
    })
}

fn is_near(one: Point, other: Point) -> bool {
    one.x.abs_diff(other.x) <= NEAR && one.y.abs_diff(other.y) <= NEAR
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desktop::{Chords, Method};

    fn point(x: u32, y: u32) -> Point {
        Point { x, y }
    }

    fn typed(text: &str, secret: bool) -> Action {
        Action::KeyboardType { text: text.into(), method: Method::Auto, secret, delay_ms: 0 }
    }

    fn folded(done: &[(i64, Action)]) -> Vec<Motion> {
        let mut recording = Recording::new(Timestamp::UNIX_EPOCH);
        for (ms, action) in done {
            let now = Timestamp::from_millisecond(*ms).unwrap();
            recording.add(action, None, None, now);
        }
        recording.into_steps().into_iter().map(|step| step.motion).collect()
    }

    const LEFT: Button = Button::Left;

    #[test]
    fn what_hands_do_becomes_clicks_and_drags() {
        let down = |x, y| Action::MouseDown { button: LEFT, at: Some(point(x, y)) };
        let up = |x, y| Action::MouseUp { button: LEFT, at: Some(point(x, y)) };
        let slide = |x, y| Action::MouseMove { to: point(x, y), duration: 0.0 };
        let steps = folded(&[
            (0, slide(9, 9)),
            (0, down(10, 10)),
            (50, up(11, 10)),
            (200, down(10, 10)),
            (250, up(10, 10)),
            (2000, down(10, 10)),
            (2050, up(10, 10)),
            (3000, down(10, 10)),
            (3010, slide(40, 40)),
            (3050, up(80, 10)),
        ]);
        let click =
            |count| Motion::Click { at: point(10, 10), button: LEFT, count, modifiers: vec![] };
        let path = vec![point(10, 10), point(40, 40), point(80, 10)];
        let drag = Motion::Drag { path, button: LEFT, modifiers: vec![] };
        assert_eq!(steps, [click(2), click(1), drag]);
    }

    #[test]
    fn letters_become_words_and_secrets_are_not_kept() {
        let press = Action::KeyCombo { keys: Chords::parse("ctrl+s").unwrap(), repeat: 1 };
        let steps = folded(&[
            (0, typed("h", false)),
            (9, typed("i", false)),
            (9, press),
            (9, typed("hush", true)),
            (9, typed("!", false)),
        ]);
        let text = |text: &str| Motion::Type { text: text.into() };
        let pressed = Motion::Press { keys: "ctrl+s".into(), repeat: 1 };
        assert_eq!(steps, [text("hi"), pressed, Motion::TypeSecret, text("!")]);
        assert!(!serde_json::to_string(&steps).unwrap().contains("hush"));
    }

    #[test]
    fn a_click_without_a_place_is_where_the_pointer_was_put() {
        let steps = folded(&[
            (0, Action::MouseClick { button: LEFT }),
            (0, Action::MouseMove { to: point(3, 4), duration: 1.0 }),
            (0, Action::MouseClick { button: Button::Right }),
        ]);
        let at = point(3, 4);
        assert_eq!(
            steps,
            [Motion::Click { at, button: Button::Right, count: 1, modifiers: vec![] }]
        );
    }

    #[test]
    fn a_recording_does_not_grow_for_ever() {
        let click = |x| Action::MouseClickAt {
            at: Some(point(x, 0)),
            button: LEFT,
            count: 1,
            modifiers: vec![],
        };
        let done: Vec<_> = (0..600).map(|at| (0, click(at * 10))).collect();
        assert_eq!(folded(&done).len(), MOST_STEPS);
    }
}
