//! From what was asked to what the hands and eyes do about it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use kernel::desktop::{
    Action, After, Button, Chord, Chords, Code, DesktopError, Done, Frame, Key, Method, Modifier,
    Order, Outcome, Pane, Point, Reach, Rect, Shot, Waiting,
};

use super::{Eyes, Hands, area, lacking, screen};
use crate::{
    denied::{is_among, refused},
    picture::Pixels,
    stop::Stop,
    worker,
};

/// Between two looks at a screen that shall have come to rest.
const LOOKS: Duration = Duration::from_millis(80);

pub struct Performer {
    pub hands: Box<dyn Hands>,
    pub eyes: Box<dyn Eyes>,
    /// Down because of us until somebody says otherwise, oldest first.
    keys: Vec<Key>,
    pub buttons: Vec<Button>,
    /// The keys that are down, by the names under which they were asked for.
    names: Vec<(String, Vec<Key>)>,
    /// Programs whose windows get no input.
    denied: Vec<String>,
    alive: Arc<AtomicBool>,
}

impl Performer {
    /// With a word for whoever wants to know whether the line to the display is cut.
    pub fn new(
        hands: Box<dyn Hands>,
        eyes: Box<dyn Eyes>,
        denied: Vec<String>,
        alive: Arc<AtomicBool>,
    ) -> Self {
        let (keys, buttons, names) = (Vec::new(), Vec::new(), Vec::new());
        Self { hands, eyes, keys, buttons, names, denied, alive }
    }

    fn act(&mut self, action: &Action, stop: &Stop) -> Result<Outcome, DesktopError> {
        let (before, window) = self.ready(action)?;
        let mut method = None;
        match action {
            Action::MouseMove { to, duration } => self.move_to(*to, *duration, stop)?,
            Action::MouseMoveBy { dx, dy, duration } => {
                let to = self.beside(*dx, *dy)?;
                self.move_to(to, *duration, stop)?;
            }
            Action::MouseClick { button } => self.click(*button, 1, &[], stop)?,
            Action::MouseClickAt { at, button, count, modifiers } => {
                self.go(*at)?;
                self.click(*button, *count, modifiers, stop)?;
            }
            Action::MouseScroll { direction, intensity } => {
                self.scroll(*direction, *intensity, &[], stop)?;
            }
            Action::MouseScrollAt { at, direction, intensity, modifiers } => {
                self.go(Some(*at))?;
                self.scroll(*direction, *intensity, modifiers, stop)?;
            }
            Action::MouseDown { button, at } => self.button_down(*button, *at)?,
            Action::MouseUp { button, at } => self.button_up(*button, *at)?,
            Action::MouseDrag(drag) => self.drag(drag, stop)?,
            Action::KeyboardInput { text, .. } => self.hands.text(text, Duration::ZERO, stop)?,
            Action::KeyboardType { text, method: how, delay_ms, .. } => {
                if *how == Method::Paste {
                    return Err(lacking("text is typed here, and not pasted"));
                }
                self.hands.text(text, Duration::from_millis((*delay_ms).into()), stop)?;
                method = Some(Method::Keys);
            }
            Action::KeyboardCommand { keys } => self.press(&keys.chords, 1, stop)?,
            Action::KeyCombo { keys, repeat } => self.press(&keys.chords, *repeat, stop)?,
            Action::HoldKey { keys, duration } => self.hold_for(keys, *duration, stop)?,
            Action::KeyDown { key } => self.key_down(key)?,
            Action::KeyUp { key } => self.key_up(key)?,
            Action::Wait(Waiting::For(duration)) => stop.rest(seconds(*duration)?)?,
            Action::Wait(Waiting::Stable { timeout }) => self.still(*timeout, stop)?,
            Action::ClipboardSet { text } => self.hands.set_clipboard(text)?,
            Action::GetMousePosition => {
                let at = self.eyes.pointer()?;
                let signed = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
                return Ok(Outcome::Position { x: signed(at.x), y: signed(at.y), moving: false });
            }
            Action::Screenshot(shot) | Action::Zoom(shot) => {
                return self.picture(shot).map(Outcome::Picture);
            }
            Action::ScreenInfo => return screen(self.eyes.as_mut()).map(Outcome::Screen),
            Action::WindowList => return self.hands.windows().map(Outcome::Windows),
            Action::WindowFocus { id } => {
                return Ok(about("Focused", &self.hands.focus(*id, stop)?));
            }
            Action::WindowMove { .. } => {
                return Err(lacking("windows of other programs cannot be moved here"));
            }
            Action::WindowClose { id } => {
                return Ok(about("Closed", &self.hands.close(*id, stop)?));
            }
            Action::ClipboardGet => {
                return Ok(Outcome::Clipboard { text: self.hands.read_clipboard(stop)? });
            }
            Action::Batch { actions, stop_on_error } => {
                return self.batch(actions, *stop_on_error, stop);
            }
            Action::ReleaseAll => return self.release_all().map(released),
        }
        // Where that cannot be known, it is not said.
        let at = self.eyes.pointer().ok();
        let message = done(action, at);
        Ok(Outcome::Done(Done { message, before, at, window, method, picture: None }))
    }

    /// Where the pointer is before something is done, and what program will get it, as far as both can be
    /// known. Refuses what would reach a window that shall be left alone.
    fn ready(&mut self, action: &Action) -> Result<(Option<Point>, Option<String>), DesktopError> {
        if !action.is_input() {
            return Ok((None, None));
        }
        let reached = match action.reach() {
            Reach::Nothing => Vec::new(),
            Reach::Here | Reach::At(_) | Reach::Along(_) => self.hands.pointed_at()?,
            Reach::Focus => self.hands.in_focus()?.into_iter().collect(),
            // Where they cannot be listed, whoever names one is told so.
            Reach::Window(_) if matches!(action, Action::WindowMove { .. }) => Vec::new(),
            Reach::Window(id) => {
                let windows = self.hands.windows()?.into_iter();
                windows.filter(|pane| pane.id == id).map(|pane| pane.class).collect()
            }
        };
        if let Some(class) = reached.iter().find(|class| is_among(&self.denied, class)) {
            return Err(refused(class));
        }
        let window = match reached.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        };
        Ok((self.eyes.pointer().ok(), window))
    }

    fn batch(
        &mut self,
        actions: &[Action],
        stop_on_error: bool,
        stop: &Stop,
    ) -> Result<Outcome, DesktopError> {
        let mut results = Vec::new();
        for action in actions {
            let result = self.act(action, stop).map_err(|error| action.failed(error));
            let failed = match &result {
                Ok(_) => false,
                // What stops one of them stops all.
                Err(error) if matches!(error.code, Code::Cancelled | Code::Paused) => {
                    return Err(error.clone());
                }
                Err(_) => true,
            };
            results.push(result);
            if failed && stop_on_error {
                break;
            }
        }
        Ok(Outcome::Batch(results))
    }

    fn button_down(&mut self, button: Button, at: Option<Point>) -> Result<(), DesktopError> {
        if self.buttons.contains(&button) {
            let text = format!("the {} button is down already", button.name());
            return Err(DesktopError::bad(text));
        }
        self.go(at)?;
        self.hold_button(button)
    }

    fn button_up(&mut self, button: Button, at: Option<Point>) -> Result<(), DesktopError> {
        if !self.buttons.contains(&button) {
            return Err(DesktopError::bad(format!("the {} button is not down", button.name())));
        }
        self.go(at)?;
        self.let_go_button(button)
    }

    fn press(&mut self, chords: &[Chord], repeat: u32, stop: &Stop) -> Result<(), DesktopError> {
        let keys: Vec<Key> = chords.iter().flat_map(|chord| chord.keys.clone()).collect();
        self.hands.prepare(&keys)?;
        for _ in 0..repeat {
            for chord in chords {
                stop.check()?;
                let new = self.new_of(&chord.keys);
                let pressed = self.hold(&new);
                self.let_go(&new)?;
                pressed?;
            }
        }
        Ok(())
    }

    fn hold_for(&mut self, keys: &Chords, duration: f64, stop: &Stop) -> Result<(), DesktopError> {
        let duration = seconds(duration)?;
        let keys: Vec<Key> = keys.chords.iter().flat_map(|chord| chord.keys.clone()).collect();
        self.hands.prepare(&keys)?;
        let new = self.new_of(&keys);
        let rested = self.hold(&new).and_then(|()| stop.rest(duration));
        self.let_go(&new)?;
        rested
    }

    fn key_down(&mut self, keys: &Chords) -> Result<(), DesktopError> {
        let chord = keys.chords.first().ok_or_else(|| DesktopError::bad("name a key"))?;
        self.hands.prepare(&chord.keys)?;
        self.hold(&chord.keys)?;
        self.names.retain(|(name, _)| *name != keys.spoken);
        self.names.push((keys.spoken.clone(), chord.keys.clone()));
        Ok(())
    }

    fn key_up(&mut self, keys: &Chords) -> Result<(), DesktopError> {
        let chord = keys.chords.first().ok_or_else(|| DesktopError::bad("name a key"))?;
        if !chord.keys.iter().any(|key| self.keys.contains(key)) {
            return Err(DesktopError::bad(format!("{} is not down", keys.spoken)));
        }
        self.let_go(&chord.keys)?;
        self.names.retain(|(_, held)| *held != chord.keys);
        Ok(())
    }

    /// Those that nobody holds yet: what was held before shall be held afterwards.
    fn new_of(&self, keys: &[Key]) -> Vec<Key> {
        keys.iter().copied().filter(|key| !self.keys.contains(key)).collect()
    }

    fn hold(&mut self, keys: &[Key]) -> Result<(), DesktopError> {
        for key in keys {
            if !self.keys.contains(key) {
                self.keys.push(*key);
                self.hands.key(*key, true)?;
            }
        }
        Ok(())
    }

    /// The last that was pressed first.
    fn let_go(&mut self, keys: &[Key]) -> Result<(), DesktopError> {
        for key in keys.iter().rev() {
            if self.keys.contains(key) {
                self.hands.key(*key, false)?;
                self.keys.retain(|held| held != key);
            }
        }
        Ok(())
    }

    /// With keys held meanwhile, and let go whatever comes of it.
    pub fn with_held(
        &mut self,
        modifiers: &[Modifier],
        work: impl FnOnce(&mut Self) -> Result<(), DesktopError>,
    ) -> Result<(), DesktopError> {
        let keys: Vec<Key> = modifiers.iter().map(|modifier| Key::from(*modifier)).collect();
        let new = self.new_of(&keys);
        let done = self.hold(&new).and_then(|()| work(self));
        let freed = self.let_go(&new);
        done.and(freed)
    }

    fn picture(&mut self, shot: &Shot) -> Result<Frame, DesktopError> {
        let area = area(self.eyes.as_mut(), shot)?;
        let bytes = self.eyes.pixels(area, shot.cursor)?;
        Pixels { area, bytes }.encode(shot)
    }

    /// A picture once nothing moves any more, or the time is over.
    fn settled(&mut self, after: &After, stop: &Stop) -> Result<Frame, DesktopError> {
        let until = Instant::now() + Duration::from_millis(after.settle_ms.into());
        let area = area(self.eyes.as_mut(), &after.shot)?;
        self.at_rest(area, until, stop)?;
        self.picture(&after.shot)
    }

    fn still(&mut self, timeout: f64, stop: &Stop) -> Result<(), DesktopError> {
        let until = Instant::now() + seconds(timeout)?;
        let area = area(self.eyes.as_mut(), &Shot::default())?;
        if self.at_rest(area, until, stop)? {
            return Ok(());
        }
        Err(DesktopError::failed("the screen did not come to rest"))
    }

    /// Whether two looks showed the same before the time was over.
    fn at_rest(&mut self, area: Rect, until: Instant, stop: &Stop) -> Result<bool, DesktopError> {
        let mut before = self.eyes.pixels(area, false)?;
        while Instant::now() < until {
            stop.rest_until((Instant::now() + LOOKS).min(until))?;
            let now = self.eyes.pixels(area, false)?;
            if now == before {
                return Ok(true);
            }
            before = now;
        }
        Ok(false)
    }

    /// Says of how many keys and buttons.
    fn release_all(&mut self) -> Result<(usize, usize), DesktopError> {
        let counts = (self.keys.len(), self.buttons.len());
        for button in self.buttons.clone() {
            self.let_go_button(button)?;
        }
        self.let_go(&self.keys.clone())?;
        self.names.clear();
        Ok(counts)
    }
}

impl worker::Performer for Performer {
    fn perform(&mut self, order: &Order, stop: &Stop) -> Result<Outcome, DesktopError> {
        if let Some(after) = &order.after {
            // Before anything is done: what cannot be shown is said of the order, not of what it did.
            area(self.eyes.as_mut(), &after.shot)?;
        }
        let mut outcome = self.act(&order.action, stop)?;
        if let Some(after) = &order.after
            && let Outcome::Done(done) = &mut outcome
        {
            done.picture = Some(self.settled(after, stop)?);
        }
        Ok(outcome)
    }

    fn calm(&mut self) {
        if let Err(error) = self.release_all() {
            tracing::warn!(%error, "cannot let go of what was pressed");
        }
        // What could not be let go went with the line to the display.
        (self.keys, self.buttons, self.names) = (Vec::new(), Vec::new(), Vec::new());
    }

    fn held(&self) -> (Vec<String>, Vec<String>) {
        let keys = self.names.iter().map(|(name, _)| name.clone()).collect();
        let buttons = self.buttons.iter().map(|it| it.name().to_owned()).collect();
        (keys, buttons)
    }

    fn is_holding(&self) -> bool {
        !self.keys.is_empty() || !self.buttons.is_empty()
    }

    fn is_alive(&mut self) -> bool {
        self.hands.is_alive() && self.eyes.is_alive()
    }

    fn part(&mut self) {
        self.alive.store(false, Ordering::Release);
    }
}

/// Without a place where none is known.
fn done(action: &Action, at: Option<Point>) -> String {
    let said = action.done(at);
    match at {
        Some(_) => said,
        None => said.strip_suffix(" at (0, 0)").map_or_else(|| said.clone(), ToOwned::to_owned),
    }
}

fn released((keys, buttons): (usize, usize)) -> Outcome {
    let count =
        |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    Outcome::said(format!("Released {}, {}", count(keys, "key"), count(buttons, "button")))
}

fn about(what: &str, pane: &Pane) -> Outcome {
    Outcome::said(format!("{what} window {}", pane.title))
}

fn seconds(seconds: f64) -> Result<Duration, DesktopError> {
    Duration::try_from_secs_f64(seconds.max(0.0)).map_err(|_| DesktopError::bad("that is too long"))
}
