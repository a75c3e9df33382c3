//! From a model's call to what a device does, and what the model is told of that.

use std::{
    collections::HashMap,
    marker::PhantomData,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kernel::{
    desktop::{
        Action, After, Class, Code, DesktopError, Done, Frame, Order, Outcome, Point, Shot, Who,
    },
    host::Host,
    toolbox::{Call, Deed, Detail, Picture, Reply, Risk},
    update::SessionId,
};
use serde_json::{Map, Value, json};

use super::{
    discreet,
    given::{Gesture, Given, Meant},
    leave::{Leaves, Need},
    view::{Album, View},
};
use crate::{agents::House, typed::Typed};

/// What is said to a model that finds the screen changed by somebody else.
const HANDED_BACK: &str = "The person took over this desktop and has handed it back. Nothing was \
    done; this is what it looks like now.";

/// Shared by all of them.
pub struct Driver {
    house: House,
    pub leaves: Leaves,
    /// The pictures of each device that each session has seen.
    albums: Mutex<HashMap<(SessionId, String), Album>>,
}

/// Who is told, and of what.
struct Scene<'a> {
    session: SessionId,
    device: &'a str,
    /// Where their points lie.
    view: View,
}

impl Driver {
    pub fn new(house: House) -> Self {
        Self { house, leaves: Leaves::default(), albums: Mutex::default() }
    }

    pub fn host(&self) -> Result<Arc<Host>, String> {
        self.house.host()
    }

    fn view(
        &self,
        session: SessionId,
        device: &str,
        shot: Option<&str>,
    ) -> Result<View, DesktopError> {
        self.albums().entry((session, device.to_owned())).or_default().view(shot)
    }

    fn albums(&self) -> MutexGuard<'_, HashMap<(SessionId, String), Album>> {
        self.albums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn drive(&self, call: &Call, device: String, meant: Meant) -> Result<Reply, String> {
        let Meant { mut action, mut own, view, after, mut notes, .. } = meant;
        let (host, session) = (self.house.host()?, call.session.id());
        let who = Who { session: Some(session), caller: call.caller.clone() };
        let was_paused = action.is_input() && handed_back(&host, &device).await;
        if was_paused {
            action = Action::Screenshot(Shot::default());
            own = action.clone();
        }
        let id = call.id.clone().unwrap_or_default();
        let is_done = action.is_input() || matches!(action, Action::Wait(_));
        let order = Order { id, action, after: after.filter(|_| is_done) };
        let scene = Scene { session, device: &device, view };
        let (_, result) = host.drive(who.clone(), &device, order).await;
        let outcome = result.map_err(|error| unsure(&own, error))?;
        let mut reply = self.told(&scene, &own, outcome, &mut notes);
        // Several things at once, and what only looks, have none of their own.
        if let Some(After { shot, .. }) = after.filter(|_| reply.pictures.is_empty()) {
            let look = Action::Screenshot(shot);
            if let Ok(outcome) = host.drive(who, &device, look.clone().into()).await.1 {
                let Reply { text, pictures, .. } = self.told(&scene, &look, outcome, &mut notes);
                reply.text = format!("{}\n{text}", reply.text);
                reply.pictures = pictures;
            }
        }
        if was_paused {
            reply.text = format!("{HANDED_BACK} {}", reply.text);
        }
        reply.text = noted(reply.text, notes);
        Ok(reply)
    }

    /// What a model is told, and shown.
    fn told(
        &self,
        scene: &Scene<'_>,
        own: &Action,
        outcome: Outcome,
        notes: &mut Map<String, Value>,
    ) -> Reply {
        let mut pictures = Vec::new();
        let text = match outcome {
            Outcome::Done(mut done) => {
                let frame = done.picture.take();
                let text = worded(scene.view, own, &done, notes);
                match frame {
                    Some(frame) => {
                        format!("{text}. {}", self.show(scene, own, frame, &mut pictures))
                    }
                    None => text,
                }
            }
            Outcome::Position { x, y, .. } => position(scene.view, x, y),
            Outcome::Picture(frame) => self.show(scene, own, frame, &mut pictures),
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
                let steps: &[Action] = match own {
                    Action::Batch { actions, .. } => actions,
                    _ => &[],
                };
                let mut lines = Vec::with_capacity(results.len());
                for (index, result) in results.into_iter().enumerate() {
                    // One that answers more than it was asked has no numbers of ours.
                    let own = steps.get(index).unwrap_or(own);
                    lines.push(match result {
                        Ok(outcome) => {
                            let mut notes = Map::new();
                            let reply = self.told(scene, own, outcome, &mut notes);
                            pictures.extend(reply.pictures);
                            noted(reply.text, notes)
                        }
                        Err(error) => unsure(own, error),
                    });
                }
                lines.join("\n")
            }
        };
        Reply { text, pictures, ..Reply::default() }
    }

    /// Puts a picture among those that were shown, and says whose points count from now on.
    fn show(
        &self,
        scene: &Scene<'_>,
        own: &Action,
        frame: Frame,
        pictures: &mut Vec<Picture>,
    ) -> String {
        let Frame { width, height, screen, .. } = frame;
        let only_looked = matches!(own, Action::Zoom(_));
        let (name, current) = {
            let mut albums = self.albums();
            let album = albums.entry((scene.session, scene.device.to_owned())).or_default();
            (album.add(frame.mapping(), only_looked), album.current())
        };
        pictures.push(Picture { mime: frame.format.mime().to_owned(), bytes: frame.bytes });
        let points = match current {
            _ if !only_looked => "Points are those of this picture from now on.".to_owned(),
            Some(current) => format!("Points are still those of {current}."),
            None => "Points are still those of the screen.".to_owned(),
        };
        format!(
            "The picture has {width}x{height} pixels, and shows {}x{} of the screen from ({}, {}). \
             It is {name}. {points}",
            screen.w, screen.h, screen.x, screen.y
        )
    }
}

/// What was done, in the model's own numbers; where that is on the screen goes into the notes.
fn worded(view: View, own: &Action, done: &Done, notes: &mut Map<String, Value>) -> String {
    let (text, there) = view.words(own, done);
    if let Some(Point { x, y }) = there {
        notes.insert("screen".to_owned(), json!({ "x": x, "y": y }));
    }
    text
}

fn noted(text: String, notes: Map<String, Value>) -> String {
    if notes.is_empty() { text } else { format!("{text} {}", Value::Object(notes)) }
}

/// In the points of the picture that the model has seen, if the pointer is in it.
fn position(View(mapping): View, x: i32, y: i32) -> String {
    let point = u32::try_from(x).ok().zip(u32::try_from(y).ok()).map(|(x, y)| Point { x, y });
    let seen = point.zip(mapping).and_then(|(point, mapping)| mapping.to_picture(point));
    match seen {
        Some(seen) => format!("The pointer is at ({}, {}).", seen.x, seen.y),
        None => format!("The pointer is at ({x}, {y}) on the screen."),
    }
}

/// Whoever hears that nothing was answered must not believe that nothing was done.
fn unsure(action: &Action, error: DesktopError) -> String {
    let unanswered = error == DesktopError::timeout() || error == DesktopError::disconnected();
    let text = explained(error);
    if unanswered && action.is_input() {
        return format!("{text}; it may or may not have happened: look before doing it again");
    }
    text
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

/// A tool that makes one gesture.
pub struct Driving<G> {
    driver: Arc<Driver>,
    gesture: PhantomData<fn() -> G>,
}

impl<G: Gesture> Driving<G> {
    pub fn new(driver: Arc<Driver>) -> Self {
        Self { driver, gesture: PhantomData }
    }

    fn read(&self, input: &Given<G>, call: &Call) -> Result<(String, Meant), String> {
        let (host, session) = (self.driver.house.host()?, call.session.id());
        let named = input.device().map_err(explained)?;
        let device = match host.devices.pick(named, Some(session)) {
            Ok(device) => device,
            Err(error) if error.code == Code::NoDisplay => {
                // Said as the device would, had it come so far.
                let meant = input.meant(View(None)).map_err(explained)?;
                return Err(explained(meant.own.failed(error)));
            }
            Err(error) => return Err(explained(error)),
        };
        let shot = input.shot().map_err(explained)?;
        let view = self.driver.view(session, &device, shot).map_err(explained)?;
        let meant = input.meant(view).map_err(explained)?;
        meant.action.check().map_err(explained)?;
        Ok((device, meant))
    }
}

/// As everybody who may be asked about it sees it.
fn shown(device: &str, action: &Action) -> Value {
    json!({ "device": device, "type": action.kind(), "arguments": action.arguments() })
}

impl<G: Gesture> Typed for Driving<G> {
    type Input = Given<G>;
    type Output = Reply;
    const NAME: &'static str = G::NAME;
    const RISK: Risk = Risk::Acts;

    fn title(&self, input: &Given<G>) -> String {
        G::title(&input.arguments)
    }

    fn told(args: &Value) -> Option<Value> {
        discreet::told(args)
    }

    /// Once a device is armed, looking, pointing and writing need no further yes; what sends
    /// something off, and the clipboard, do. Where that is asked when it is run, it is not asked here.
    async fn foresee(&self, input: Given<G>, call: &Call) -> Result<Deed, String> {
        let (device, Meant { action, checks, .. }) = self.read(&input, call)?;
        let (host, session) = (self.driver.house.host()?, call.session.id());
        let asks: Option<Class> =
            self.driver.leaves.asks(&host, session, &device, &action.classes());
        let risk = match asks {
            _ if !checks.is_empty() => Risk::Acts,
            Some(_) => Risk::Acts,
            None if action.is_input() => Risk::Shows,
            None => Risk::Reads,
        };
        let mut args = shown(&device, &action);
        let mut subjects: Vec<String> =
            asks.map(|class| format!("{device} {}", class.name())).into_iter().collect();
        if !checks.is_empty() {
            // A yes to one warning is no yes to another.
            subjects = vec![format!("{device} {}", checks.join("; "))];
            args["warnings"] = checks.into();
        }
        Ok(Deed { risk, detail: Detail::Arguments { args }, subjects, within: None })
    }

    async fn run(&self, input: Given<G>, call: Call) -> Result<Reply, String> {
        let (device, meant) = self.read(&input, &call)?;
        let (classes, title) = (meant.action.classes(), self.title(&input));
        let need = Need { classes, title, args: shown(&device, &meant.action) };
        let host = self.driver.house.host()?;
        self.driver.leaves.armed(&host, &call, &device, need).await?;
        self.driver.drive(&call, device, meant).await
    }

    fn forget(&self, session: SessionId) {
        self.driver.albums().retain(|(of, _), _| *of != session);
        self.driver.leaves.forget(session);
    }
}
