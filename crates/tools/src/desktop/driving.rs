//! From a model's call to what a device does: which device, whose points, and whether the person lets it.

use std::{
    collections::HashMap,
    marker::PhantomData,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kernel::{
    desktop::{
        Action, After, Armed, Arming, Class, Code, DesktopError, Done, Frame, Mapping, Order,
        Outcome, Point, Shot, Who,
    },
    host::Host,
    leave::Wish,
    toolbox::{Call, Deed, Detail, Picture, Reply, Risk},
    update::SessionId,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::{agents::House, typed::Typed};

/// For how long a person's yes lets a session drive a device.
const WINDOW: Duration = Duration::from_mins(15);
/// How long the screen may take to come to rest before it is shown.
const SETTLING: u32 = 500;
/// What is said to a model that finds the screen changed by somebody else.
const HANDED_BACK: &str = "The person took over this desktop and has handed it back. Nothing was \
    done; this is what it looks like now.";

/// What a call of a desktop tool says.
pub trait Gesture: DeserializeOwned + JsonSchema + Send + 'static {
    const NAME: &'static str;
    /// Which device is meant, if one is named.
    fn device(&self) -> Option<&str>;
    /// What a person reads of it.
    fn title(&self) -> String;
    /// In pixels of the screen.
    fn meant(&self, view: View) -> Result<Meant, DesktopError>;
}

/// What a call comes down to.
#[derive(Debug)]
pub struct Meant {
    pub action: Action,
    /// Whether a picture of what came of it is wanted.
    pub shown: bool,
    /// What the provider of the model wants a person to look at before.
    pub checks: Vec<String>,
    /// What was made of the arguments before they were understood, for the model.
    pub notes: Map<String, Value>,
}

impl From<Action> for Meant {
    fn from(action: Action) -> Self {
        Self { action, shown: false, checks: Vec::new(), notes: Map::new() }
    }
}

/// The picture that a model took its points from, if it has seen any.
#[derive(Clone, Copy)]
pub struct View(pub Option<Mapping>);

impl View {
    pub fn point(self, x: u32, y: u32) -> Result<Point, DesktopError> {
        let Some(mapping) = self.0 else { return Ok(Point { x, y }) };
        let point = mapping.to_screen(Point { x, y });
        point.ok_or_else(|| DesktopError::out_of_bounds(x.into(), y.into()))
    }
}

/// Shared by all of them.
pub struct Driver {
    house: House,
    /// The last picture of each device that each session has seen.
    seen: Mutex<HashMap<(SessionId, String), Mapping>>,
}

impl Driver {
    pub fn new(house: House) -> Self {
        Self { house, seen: Mutex::default() }
    }

    pub fn host(&self) -> Result<Arc<Host>, String> {
        self.house.host()
    }

    fn view(&self, session: SessionId, device: &str) -> View {
        View(self.seen().get(&(session, device.to_owned())).copied())
    }

    fn seen(&self) -> MutexGuard<'_, HashMap<(SessionId, String), Mapping>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn drive(&self, call: &Call, device: String, meant: Meant) -> Result<Reply, String> {
        let Meant { action, shown, notes, .. } = meant;
        let (host, session) = (self.house.host()?, call.session.id());
        let who = Who { session: Some(session), caller: call.caller.clone() };
        let was_paused = action.is_input() && handed_back(&host, &device).await;
        let action = if was_paused { Action::Screenshot(Shot::default()) } else { action };
        let id = call.id.clone().unwrap_or_default();
        let is_done = action.is_input() || matches!(action, Action::Wait(_));
        let after = After { settle_ms: SETTLING, shot: Shot::default() };
        let after = (shown && is_done).then_some(after);
        let order = Order { id, action, after };
        let (_, result) = host.drive(who.clone(), &device, order).await;
        let mut reply = self.told(session, &device, result.map_err(explained)?);
        // Several things at once, and what only looks, have none of their own.
        if shown && reply.pictures.is_empty() {
            let look = Action::Screenshot(Shot::default()).into();
            if let Ok(outcome) = host.drive(who, &device, look).await.1 {
                let Reply { text, pictures, .. } = self.told(session, &device, outcome);
                reply.text = format!("{}\n{text}", reply.text);
                reply.pictures = pictures;
            }
        }
        if was_paused {
            reply.text = format!("{HANDED_BACK} {}", reply.text);
        }
        if !notes.is_empty() {
            reply.text = format!("{} {}", reply.text, Value::Object(notes));
        }
        Ok(reply)
    }

    /// What a model is told, and shown.
    fn told(&self, session: SessionId, device: &str, outcome: Outcome) -> Reply {
        let (mut frames, mut pictures) = (Vec::new(), Vec::new());
        let text = match outcome {
            Outcome::Done(Done { message, picture: None, .. }) => message,
            Outcome::Done(Done { message, picture: Some(frame), .. }) => {
                let text = format!("{message}. {}", shown(&frame));
                frames.push(frame);
                text
            }
            Outcome::Position { x, y, .. } => self.position(session, device, x, y),
            Outcome::Picture(frame) => {
                let text = shown(&frame);
                frames.push(frame);
                text
            }
            Outcome::Screen(screen) => {
                let displays = screen.displays.iter().map(|it| {
                    json!({ "id": it.id, "name": it.name, "area": it.area, "primary": it.primary })
                });
                let displays: Vec<_> = displays.collect();
                json!({ "w": screen.w, "h": screen.h, "displays": displays }).to_string()
            }
            Outcome::Windows(windows) => {
                let windows = windows.iter().map(|it| {
                    json!({
                        "id": it.id, "title": it.title, "class": it.class, "x": it.x, "y": it.y,
                        "w": it.w, "h": it.h, "focused": it.focused, "minimized": it.minimized,
                    })
                });
                json!({ "windows": windows.collect::<Vec<_>>() }).to_string()
            }
            Outcome::Clipboard { text } => text.unwrap_or_else(|| "There is no text on it.".into()),
            Outcome::Batch(results) => {
                let lines = results.into_iter().map(|result| match result {
                    Ok(outcome) => {
                        let reply = self.told(session, device, outcome);
                        pictures.extend(reply.pictures);
                        reply.text
                    }
                    Err(error) => explained(error),
                });
                lines.collect::<Vec<_>>().join("\n")
            }
        };
        if let Some(last) = frames.last() {
            self.seen().insert((session, device.to_owned()), last.mapping());
        }
        let picture =
            |frame: Frame| Picture { mime: frame.format.mime().to_owned(), bytes: frame.bytes };
        pictures.extend(frames.into_iter().map(picture));
        Reply { text, pictures, ..Reply::default() }
    }

    /// In the points of the picture that the model has seen, if the pointer is in it.
    fn position(&self, session: SessionId, device: &str, x: i32, y: i32) -> String {
        let point = u32::try_from(x).ok().zip(u32::try_from(y).ok()).map(|(x, y)| Point { x, y });
        let View(mapping) = self.view(session, device);
        let seen = point.zip(mapping).and_then(|(point, mapping)| mapping.to_picture(point));
        match seen {
            Some(seen) => format!("The pointer is at ({}, {}).", seen.x, seen.y),
            None => format!("The pointer is at ({x}, {y}) on the screen."),
        }
    }
}

fn shown(frame: &Frame) -> String {
    let Frame { width, height, screen, .. } = frame;
    format!(
        "The picture has {width}x{height} pixels, and shows {}x{} of the screen from ({}, {}). \
         Points are those of this picture from now on.",
        screen.w, screen.h, screen.x, screen.y
    )
}

pub fn explained(error: DesktopError) -> String {
    if error.expected.is_empty() {
        return error.text;
    }
    format!("{}; expected one of: {}", error.text, error.expected.join(", "))
}

/// Returns when nobody has taken the device over; says whether somebody had.
pub async fn handed_back(host: &Host, device: &str) -> bool {
    let mut news = host.devices.news();
    let Some(desktop) = host.devices.get(device) else { return false };
    let mut states = desktop.states();
    let mut was_paused = false;
    while host.devices.paused(device).is_some() {
        was_paused = true;
        tokio::select! {
            _ = news.recv() => (),
            changed = states.changed() => if changed.is_err() { return was_paused },
        }
    }
    was_paused
}

/// Returns when the session may drive the device: it may already, or the person says so now. However
/// much an agent may do unasked, this is asked.
pub async fn armed(host: &Host, call: &Call, device: &str) -> Result<(), String> {
    let session = call.session.id();
    if let Armed::Until(..) = host.devices.armed(device, Some(session)) {
        return Ok(());
    }
    let minutes = WINDOW.as_secs() / 60;
    let args = json!({ "device": device, "minutes": minutes });
    let deed = Deed {
        risk: Risk::Acts,
        detail: Detail::Arguments { args },
        subjects: vec![device.to_owned()],
        within: None,
    };
    let title = format!("See and drive the desktop {device} for {minutes} minutes");
    let wish = Wish { name: "desktop".into(), title, deed };
    let leave = host.leave(session, call.caller.clone(), wish).await;
    leave.map_err(|error| format!("Desktop control is not granted. {error}"))?;
    let until = host.ports.clock.now().checked_add(WINDOW).map_err(|error| error.to_string())?;
    let classes = vec![Class::Look, Class::Point, Class::Type, Class::Act, Class::Clipboard];
    let arming = Arming { device: device.to_owned(), session: Some(session), classes, until };
    host.arm(arming).await.map(drop).map_err(|error| error.to_string())
}

/// A tool that makes one gesture.
pub struct Driving<G> {
    driver: Arc<Driver>,
    gesture: PhantomData<fn() -> G>,
}

impl<G: Gesture> Driving<G> {
    pub fn new(driver: Arc<Driver>) -> Self {
        Self { driver, gesture: PhantomData }
    }

    fn read(&self, input: &G, call: &Call) -> Result<(String, Meant), String> {
        let (host, session) = (self.driver.house.host()?, call.session.id());
        let device = host.devices.pick(input.device(), Some(session)).map_err(explained)?;
        let meant = input.meant(self.driver.view(session, &device)).map_err(explained)?;
        meant.action.check().map_err(explained)?;
        Ok((device, meant))
    }
}

impl<G: Gesture> Typed for Driving<G> {
    type Input = G;
    type Output = Reply;
    const NAME: &'static str = G::NAME;
    const RISK: Risk = Risk::Acts;

    fn title(&self, input: &G) -> String {
        input.title()
    }

    /// Once a device is armed, looking, pointing and writing need no further yes; what sends
    /// something off, and the clipboard, do.
    async fn foresee(&self, input: G, call: &Call) -> Result<Deed, String> {
        let (device, Meant { action, checks, .. }) = self.read(&input, call)?;
        let classes = action.classes();
        let asks = classes.iter().find(|it| matches!(it, Class::Act | Class::Clipboard));
        let risk = match asks {
            _ if !checks.is_empty() => Risk::Acts,
            Some(_) => Risk::Acts,
            None if action.is_input() => Risk::Shows,
            None => Risk::Reads,
        };
        let kind = action.kind();
        let mut args = json!({ "device": device, "type": kind, "arguments": action.arguments() });
        let mut subjects: Vec<String> =
            asks.map(|class| format!("{device} {}", class.name())).into_iter().collect();
        if !checks.is_empty() {
            // A yes to one warning is no yes to another.
            subjects = vec![format!("{device} {}", checks.join("; "))];
            args["warnings"] = checks.into();
        }
        Ok(Deed { risk, detail: Detail::Arguments { args }, subjects, within: None })
    }

    async fn run(&self, input: G, call: Call) -> Result<Reply, String> {
        let (device, meant) = self.read(&input, &call)?;
        armed(self.driver.house.host()?.as_ref(), &call, &device).await?;
        self.driver.drive(&call, device, meant).await
    }

    fn forget(&self, session: SessionId) {
        self.driver.seen().retain(|(of, _), _| *of != session);
    }
}

/// What is wrong with a call that names something that does not go together.
pub fn bad(text: impl Into<String>) -> DesktopError {
    DesktopError::new(Code::BadRequest, text)
}
