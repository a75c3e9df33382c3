//! From what was asked to what the hands and eyes do about it.

use std::time::{Duration, Instant};

use kernel::desktop::{
    Action, After, Button, Chords, Code, DesktopError, Done, Method, Order, Outcome, Pane, Point,
    Reach, Rect, Shot, Waiting,
};

use x11rb::protocol::xproto::ConnectionExt as _;

use super::{
    census::Census,
    eyes::Eyes,
    hands::Hands,
    line,
    link::{lost, place},
    windows,
};
use crate::{denied::refused, stop::Stop, worker};

/// Between two looks at a screen that shall have come to rest.
const LOOKS: Duration = Duration::from_millis(80);
const NO_DELAY: Duration = Duration::ZERO;

pub struct Performer {
    hands: Hands,
    eyes: Eyes,
    /// The keys that are down, by the names under which they were asked for.
    names: Vec<(String, Vec<u8>)>,
    census: Census,
}

impl Performer {
    pub fn new(hands: Hands, eyes: Eyes, denied: Vec<String>) -> Self {
        Self { hands, eyes, names: Vec::new(), census: Census::new(denied) }
    }

    fn act(&mut self, action: &Action, stop: &Stop) -> Result<Outcome, DesktopError> {
        if !action.is_input() || matches!(action, Action::Batch { .. }) {
            return self.attend(action, stop);
        }
        self.hands.ears.work();
        let reach = action.reach();
        self.spare(reach)?;
        self.hands.under.set(None);
        // The answers come with those to what is done now, and cost no time of their own.
        let conn = self.hands.link.conn.clone();
        // A click leaves the pointer where it is, so that one answer is about before and after.
        let moves = !matches!(action, Action::MouseClick { .. });
        let pointer = moves.then(|| conn.query_pointer(self.hands.link.root)).transpose();
        let pointer = pointer.map_err(lost)?;
        let focus = (reach == Reach::Focus).then(|| conn.get_input_focus()).transpose();
        let focus = focus.map_err(lost)?;
        let mut outcome = self.attend(action, stop)?;
        if let Outcome::Done(done) = &mut outcome {
            let seen = pointer.map(place).transpose()?;
            done.before = seen.map_or(done.at, |(before, _)| Some(before));
            let under = seen.map_or(x11rb::NONE, |(_, under)| under);
            let focus = focus.map(|it| it.reply().map_err(lost)).transpose()?;
            let focus = focus.map_or(x11rb::NONE, |it| it.focus);
            let link = &self.hands.link;
            let reached = match reach {
                Reach::Nothing => return Ok(outcome),
                Reach::Window(id) => id,
                Reach::Focus if !windows::is_none(link, focus) => focus,
                Reach::Focus => under,
                Reach::Here | Reach::At(_) | Reach::Along(_) => {
                    self.hands.under.get().unwrap_or(under)
                }
            };
            done.window = self.census.class_of(link, reached)?;
        }
        Ok(outcome)
    }

    fn attend(&mut self, action: &Action, stop: &Stop) -> Result<Outcome, DesktopError> {
        let hands = &mut self.hands;
        match action {
            Action::MouseMove { to, duration } => {
                hands.move_to(*to, *duration, stop)?;
                // That has been seen already.
                return Ok(done(action, *to));
            }
            Action::MouseMoveBy { dx, dy, duration } => {
                hands.move_to(hands.beside(*dx, *dy)?, *duration, stop)?;
            }
            Action::MouseClick { button } => {
                hands.click(*button, 1, &[], stop)?;
                return Ok(done(action, hands.look()?));
            }
            Action::MouseClickAt { at, button, count, modifiers } => {
                hands.go(*at)?;
                hands.click(*button, *count, modifiers, stop)?;
            }
            Action::MouseScroll { direction, intensity } => {
                hands.scroll(*direction, *intensity, &[], stop)?;
            }
            Action::MouseScrollAt { at, direction, intensity, modifiers } => {
                hands.place(*at)?;
                hands.scroll(*direction, *intensity, modifiers, stop)?;
            }
            Action::MouseDown { button, at } => self.button_down(*button, *at)?,
            Action::MouseUp { button, at } => self.button_up(*button, *at)?,
            Action::MouseDrag(drag) => hands.drag(drag, stop)?,
            Action::KeyboardInput { text, .. } => {
                hands.type_text(text, Method::Auto, NO_DELAY, stop)?;
            }
            Action::KeyboardType { text, method, delay_ms, .. } => {
                let delay = Duration::from_millis((*delay_ms).into());
                let method = hands.type_text(text, *method, delay, stop)?;
                let message = action.done(None);
                return Ok(Outcome::Done(Done {
                    message,
                    method: Some(method),
                    ..Done::default()
                }));
            }
            Action::KeyboardCommand { keys } => hands.press(&keys.chords, 1, stop)?,
            Action::KeyCombo { keys, repeat } => hands.press(&keys.chords, *repeat, stop)?,
            Action::HoldKey { keys, duration } => {
                let duration = seconds(*duration)?;
                for chord in &keys.chords {
                    hands.hold_for(chord, duration, stop)?;
                }
            }
            Action::KeyDown { key } => self.key_down(key)?,
            Action::KeyUp { key } => self.key_up(key)?,
            Action::Wait(Waiting::For(duration)) => stop.rest(seconds(*duration)?)?,
            Action::Wait(Waiting::Stable { timeout }) => self.still(*timeout, stop)?,
            Action::GetMousePosition => {
                let at = hands.link.pointer()?;
                let signed = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
                return Ok(Outcome::Position { x: signed(at.x), y: signed(at.y), moving: false });
            }
            Action::Screenshot(shot) | Action::Zoom(shot) => {
                return self.eyes.picture(shot).map(Outcome::Picture);
            }
            Action::ScreenInfo => return self.eyes.screen().map(Outcome::Screen),
            Action::WindowList => return self.eyes.windows().map(Outcome::Windows),
            Action::WindowFocus { id } => {
                return Ok(about("Focused", &windows::focus(&hands.link, *id, stop)?));
            }
            Action::WindowMove { id, x, y, w, h } => {
                let pane = windows::place(&hands.link, *id, (*x, *y), (*w, *h), stop)?;
                return Ok(about("Moved", &pane));
            }
            Action::WindowClose { id } => {
                return Ok(about("Closed", &windows::close(&hands.link, *id, stop)?));
            }
            Action::ClipboardGet => {
                return Ok(Outcome::Clipboard { text: hands.ears.read_clipboard(stop)? });
            }
            Action::ClipboardSet { text } => hands.ears.set_clipboard(text)?,
            Action::Batch { actions, stop_on_error } => {
                return self.batch(actions, *stop_on_error, stop);
            }
            Action::ReleaseAll => {
                let (keys, buttons) = hands.release_all()?;
                self.names.clear();
                let count = |count: usize, what: &str| {
                    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
                };
                let message =
                    format!("Released {}, {}", count(keys, "key"), count(buttons, "button"));
                return Ok(Outcome::said(message));
            }
        }
        Ok(done(action, self.hands.link.pointer()?))
    }

    /// Refuses what would reach a window that shall be left alone.
    fn spare(&mut self, reach: Reach<'_>) -> Result<(), DesktopError> {
        let link = &self.hands.link;
        if reach == Reach::Nothing || !self.census.is_wary(link)? {
            return Ok(());
        }
        let spared = |class: Option<String>| match class {
            Some(class) if self.census.denies(&class) => Err(refused(&class)),
            Some(_) | None => Ok(()),
        };
        match reach {
            Reach::Nothing => Ok(()),
            Reach::Here => spared(windows::class_at(link, None)?),
            Reach::At(at) => spared(windows::class_at(link, Some(at))?),
            Reach::Along(path) => {
                path.iter().try_for_each(|at| spared(windows::class_at(link, Some(*at))?))
            }
            Reach::Focus => spared(windows::class_in_focus(link)?),
            Reach::Window(id) => spared(windows::class_of(link, id)?),
        }
    }

    fn batch(
        &mut self,
        actions: &[Action],
        stop_on_error: bool,
        stop: &Stop,
    ) -> Result<Outcome, DesktopError> {
        let mut results = Vec::new();
        for action in actions {
            self.hands.heed(stop)?;
            let result = self.act(action, stop).map_err(|error| action.failed(error));
            if let Err(error) = &result {
                // What stops one of them stops all.
                if matches!(error.code, Code::Cancelled | Code::Paused) {
                    return Err(error.clone());
                }
                results.push(result);
                if stop_on_error {
                    break;
                }
                continue;
            }
            results.push(result);
        }
        Ok(Outcome::Batch(results))
    }

    fn button_down(&mut self, button: Button, at: Option<Point>) -> Result<(), DesktopError> {
        if self.hands.buttons.contains(&button) {
            let text = format!("the {} button is down already", button.name());
            return Err(DesktopError::bad(text));
        }
        self.hands.go(at)?;
        self.hands.hold_button(button)
    }

    fn button_up(&mut self, button: Button, at: Option<Point>) -> Result<(), DesktopError> {
        if !self.hands.buttons.contains(&button) {
            return Err(DesktopError::bad(format!("the {} button is not down", button.name())));
        }
        self.hands.go(at)?;
        self.hands.let_go_button(button)
    }

    fn key_down(&mut self, keys: &Chords) -> Result<(), DesktopError> {
        let chord = keys.chords.first().ok_or_else(|| DesktopError::bad("name a key"))?;
        let codes = self.hands.codes(chord)?;
        self.hands.hold(&codes)?;
        self.names.retain(|(name, _)| *name != keys.spoken);
        self.names.push((keys.spoken.clone(), codes));
        Ok(())
    }

    fn key_up(&mut self, keys: &Chords) -> Result<(), DesktopError> {
        let chord = keys.chords.first().ok_or_else(|| DesktopError::bad("name a key"))?;
        let codes = self.hands.codes(chord)?;
        if !codes.iter().any(|code| self.hands.keys.contains(code)) {
            return Err(DesktopError::bad(format!("{} is not down", keys.spoken)));
        }
        self.hands.let_go(&codes)?;
        self.names.retain(|(_, held)| *held != codes);
        Ok(())
    }

    /// A picture once nothing moves any more, or the time is over.
    fn settled(
        &mut self,
        after: &After,
        stop: &Stop,
    ) -> Result<kernel::desktop::Frame, DesktopError> {
        let until = Instant::now() + Duration::from_millis(after.settle_ms.into());
        let area = self.eyes.area(&after.shot)?;
        self.at_rest(area, until, stop)?;
        self.eyes.picture(&after.shot)
    }

    fn still(&mut self, timeout: f64, stop: &Stop) -> Result<(), DesktopError> {
        let until = Instant::now() + seconds(timeout)?;
        let area = self.eyes.area(&Shot::default())?;
        if self.at_rest(area, until, stop)? {
            return Ok(());
        }
        Err(DesktopError::failed("the screen did not come to rest"))
    }

    /// Whether two looks showed the same before the time was over.
    fn at_rest(&mut self, area: Rect, until: Instant, stop: &Stop) -> Result<bool, DesktopError> {
        let mut before = self.eyes.pixels(area)?;
        while Instant::now() < until {
            stop.rest_until((Instant::now() + LOOKS).min(until))?;
            let now = self.eyes.pixels(area)?;
            if now == before {
                return Ok(true);
            }
            before = now;
        }
        Ok(false)
    }
}

impl worker::Performer for Performer {
    fn perform(&mut self, order: &Order, stop: &Stop) -> Result<Outcome, DesktopError> {
        if let Some(after) = &order.after {
            // Before anything is done: what cannot be shown is said of the order, not of what it did.
            self.eyes.area(&after.shot)?;
        }
        // What was moved since the last order was moved while nothing was done.
        self.hands.last.set(None);
        let outcome = self.act(&order.action, stop);
        self.hands.ears.worked();
        let mut outcome = outcome?;
        if let Some(after) = &order.after
            && let Outcome::Done(done) = &mut outcome
        {
            done.picture = Some(self.settled(after, stop)?);
        }
        Ok(outcome)
    }

    fn calm(&mut self) {
        if let Err(error) = self.hands.release_all() {
            tracing::warn!(%error, "cannot let go of what was pressed");
        }
        self.names.clear();
    }

    fn held(&self) -> (Vec<String>, Vec<String>) {
        let keys = self.names.iter().map(|(name, _)| name.clone()).collect();
        let buttons = self.hands.buttons.iter().map(|it| it.name().to_owned()).collect();
        (keys, buttons)
    }

    fn is_holding(&self) -> bool {
        !self.hands.keys.is_empty() || !self.hands.buttons.is_empty()
    }

    fn is_alive(&mut self) -> bool {
        self.hands.link.is_alive()
    }

    fn part(&mut self) {
        self.hands.ears.close();
    }

    /// A round trip or two, and nothing that is not known already of the windows.
    fn is_quick(&self, order: &Order) -> bool {
        let short = match order.action {
            Action::MouseMove { duration, .. } => duration <= 0.0,
            Action::MouseClick { .. } => self.is_listening(),
            _ => false,
        };
        short && order.after.is_none() && line::is_shared()
    }

    fn is_listening(&self) -> bool {
        self.census.is_listening()
    }

    fn rest(&mut self) {
        if let Err(error) = self.census.rest(&self.hands.link) {
            tracing::debug!(%error, "cannot stop listening to windows");
        }
    }

    fn leave(&mut self) {
        self.calm();
        self.part();
    }
}

fn done(action: &Action, at: Point) -> Outcome {
    Outcome::Done(Done { message: action.done(Some(at)), at: Some(at), ..Done::default() })
}

fn about(what: &str, pane: &Pane) -> Outcome {
    Outcome::said(format!("{what} window {}", pane.title))
}

fn seconds(seconds: f64) -> Result<Duration, DesktopError> {
    Duration::try_from_secs_f64(seconds.max(0.0)).map_err(|_| DesktopError::bad("that is too long"))
}
