//! Every command as it stands on the wire, and what it means to a desktop.

use std::fmt;

use kernel::desktop::{
    Action, After, Button, Chords, DesktopError, Direction, Drag, Format, Method, Modifier, Point,
    Rect, Shot, Waiting,
};
use serde::{Deserialize, Deserializer, de::Visitor};
use serde_json::{Map, Value};

use super::{Request, malformed, read};

/// The order of the first seven is part of the protocol, and so are the names of their types.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "one of the seed's commands is called so")]
pub enum Command {
    MouseMove {
        x: u32,
        y: u32,
        #[serde(default = "one")]
        duration: Seconds,
    },
    MouseClick {
        button: String,
    },
    MouseScroll {
        direction: String,
        #[serde(default = "three")]
        intensity: u32,
    },
    KeyboardInput {
        text: String,
        #[serde(default)]
        secret: bool,
    },
    KeyboardCommand {
        command: String,
    },
    Screenshot(ShotFrame),
    GetMousePosition,
    MouseMoveBy {
        dx: i32,
        dy: i32,
        #[serde(default)]
        duration: f64,
    },
    MouseClickAt {
        x: Option<u32>,
        y: Option<u32>,
        #[serde(default = "left")]
        button: String,
        #[serde(default = "once")]
        count: u8,
        #[serde(default)]
        modifiers: Vec<String>,
    },
    MouseDown(PressFrame),
    MouseUp(PressFrame),
    MouseDrag {
        path: Vec<(u32, u32)>,
        #[serde(default = "left")]
        button: String,
        #[serde(default = "half")]
        duration: f64,
        #[serde(default)]
        modifiers: Vec<String>,
    },
    MouseScrollAt {
        x: u32,
        y: u32,
        direction: String,
        #[serde(default = "three")]
        intensity: u32,
        #[serde(default)]
        modifiers: Vec<String>,
    },
    KeyCombo {
        keys: Keys,
        #[serde(default = "one_time")]
        repeat: u32,
    },
    HoldKey {
        keys: Keys,
        duration: f64,
    },
    KeyDown {
        key: String,
    },
    KeyUp {
        key: String,
    },
    KeyboardType {
        text: String,
        #[serde(default = "auto")]
        method: String,
        #[serde(default)]
        secret: bool,
        #[serde(default)]
        delay_ms: u32,
    },
    Wait {
        duration: Option<f64>,
        until: Option<String>,
        timeout: Option<f64>,
    },
    Zoom(ShotFrame),
    ScreenInfo,
    WindowList,
    WindowFocus {
        id: u32,
    },
    WindowMove {
        id: u32,
        x: Option<i32>,
        y: Option<i32>,
        w: Option<u32>,
        h: Option<u32>,
    },
    WindowClose {
        id: u32,
    },
    ClipboardGet,
    ClipboardSet {
        text: String,
    },
    Batch {
        actions: Vec<Map<String, Value>>,
        #[serde(default = "yes")]
        stop_on_error: bool,
    },
    Cancel {
        target: Option<String>,
    },
    ReleaseAll,
    HandBack,
}

/// Said to be of 32 bits and kept as it was written: 0.1 would become another number on the way.
pub struct Seconds(f64);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Reader;

        impl Visitor<'_> for Reader {
            type Value = f64;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("f32")
            }

            fn visit_f64<E>(self, seconds: f64) -> Result<f64, E> {
                Ok(seconds)
            }

            #[expect(clippy::cast_precision_loss, reason = "no move takes that long")]
            fn visit_u64<E>(self, seconds: u64) -> Result<f64, E> {
                Ok(seconds as f64)
            }

            #[expect(clippy::cast_precision_loss, reason = "no move takes that long")]
            fn visit_i64<E>(self, seconds: i64) -> Result<f64, E> {
                Ok(seconds as f64)
            }
        }

        reader.deserialize_f32(Reader).map(Self)
    }
}

#[derive(Deserialize)]
pub struct PressFrame {
    #[serde(default = "left")]
    button: String,
    x: Option<u32>,
    y: Option<u32>,
}

#[derive(Deserialize)]
pub struct ShotFrame {
    display: Option<u32>,
    region: Option<Rect>,
    max_edge: Option<u32>,
    format: Option<String>,
    quality: Option<u8>,
    cursor: Option<bool>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "keys must be a text like \"ctrl+c\" or a list of names")]
pub enum Keys {
    Spoken(String),
    Listed(Vec<String>),
}

#[derive(Deserialize)]
pub struct AfterFrame {
    #[serde(default = "settling")]
    settle_ms: u32,
    screenshot: Wanted,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "after.screenshot must be true or say what it shall show")]
pub enum Wanted {
    Whether(bool),
    Such(ShotFrame),
}

impl Command {
    pub fn translated(self) -> Result<Request, DesktopError> {
        let action = match self {
            Self::MouseMove { x, y, duration } => {
                Action::MouseMove { to: Point { x, y }, duration: duration.0 }
            }
            Self::MouseClick { button } => Action::MouseClick { button: Button::plain(&button)? },
            Self::MouseScroll { direction, intensity } => {
                Action::MouseScroll { direction: Direction::parse(&direction)?, intensity }
            }
            Self::KeyboardInput { text, secret } => Action::KeyboardInput { text, secret },
            Self::KeyboardCommand { command } => {
                named(Keys::Spoken(command), |keys| Action::KeyboardCommand { keys })?
            }
            Self::Screenshot(shot) => Action::Screenshot(shot.translated()?),
            Self::GetMousePosition => Action::GetMousePosition,
            Self::MouseMoveBy { dx, dy, duration } => Action::MouseMoveBy { dx, dy, duration },
            Self::MouseClickAt { x, y, button, count, modifiers } => Action::MouseClickAt {
                at: point(x, y)?,
                button: Button::parse(&button)?,
                count,
                modifiers: held(&modifiers)?,
            },
            Self::MouseDown(PressFrame { button, x, y }) => {
                Action::MouseDown { button: Button::parse(&button)?, at: point(x, y)? }
            }
            Self::MouseUp(PressFrame { button, x, y }) => {
                Action::MouseUp { button: Button::parse(&button)?, at: point(x, y)? }
            }
            Self::MouseDrag { path, button, duration, modifiers } => Action::MouseDrag(Drag {
                path: path.into_iter().map(|(x, y)| Point { x, y }).collect(),
                button: Button::parse(&button)?,
                duration,
                modifiers: held(&modifiers)?,
            }),
            Self::MouseScrollAt { x, y, direction, intensity, modifiers } => {
                Action::MouseScrollAt {
                    at: Point { x, y },
                    direction: Direction::parse(&direction)?,
                    intensity,
                    modifiers: held(&modifiers)?,
                }
            }
            Self::KeyCombo { keys, repeat } => {
                named(keys, |keys| Action::KeyCombo { keys, repeat })?
            }
            Self::HoldKey { keys, duration } => {
                named(keys, |keys| Action::HoldKey { keys, duration })?
            }
            Self::KeyDown { key } => named(Keys::Spoken(key), |key| Action::KeyDown { key })?,
            Self::KeyUp { key } => named(Keys::Spoken(key), |key| Action::KeyUp { key })?,
            Self::KeyboardType { text, method, secret, delay_ms } => {
                let method = Method::parse(&method)?;
                Action::KeyboardType { text, method, secret, delay_ms }
            }
            Self::Wait { duration, until, timeout } => {
                waiting(duration, until.as_deref(), timeout)?
            }
            Self::Zoom(shot) => Action::Zoom(shot.translated()?),
            Self::ScreenInfo => Action::ScreenInfo,
            Self::WindowList => Action::WindowList,
            Self::WindowFocus { id } => Action::WindowFocus { id },
            Self::WindowMove { id, x, y, w, h } => Action::WindowMove { id, x, y, w, h },
            Self::WindowClose { id } => Action::WindowClose { id },
            Self::ClipboardGet => Action::ClipboardGet,
            Self::ClipboardSet { text } => Action::ClipboardSet { text },
            Self::Batch { actions, stop_on_error } => {
                Action::Batch { actions: batched(actions)?, stop_on_error }
            }
            Self::ReleaseAll => Action::ReleaseAll,
            Self::Cancel { target } => return Ok(Request::Cancel { target }),
            Self::HandBack => return Ok(Request::HandBack),
        };
        Ok(Request::Do(Box::new(action.into())))
    }
}

/// What is done with keys, or why there are none, in the words of what would have been done.
fn named(keys: Keys, action: impl Fn(Chords) -> Action) -> Result<Action, DesktopError> {
    let chords = match keys {
        Keys::Spoken(keys) => Chords::parse(&keys),
        Keys::Listed(keys) => Chords::together(&keys),
    };
    chords.map(&action).map_err(|error| {
        let none = Chords { spoken: String::new(), chords: Vec::new() };
        action(none).failed(error.into())
    })
}

fn waiting(
    duration: Option<f64>,
    until: Option<&str>,
    timeout: Option<f64>,
) -> Result<Action, DesktopError> {
    match (duration, until) {
        (Some(seconds), None) => Ok(Action::Wait(Waiting::For(seconds))),
        (None, Some("stable")) => {
            Ok(Action::Wait(Waiting::Stable { timeout: timeout.unwrap_or(10.0) }))
        }
        (None, Some(other)) => {
            Err(DesktopError::bad(format!("Invalid until: {other}")).expecting(["stable"]))
        }
        (None, None) => Err(malformed("missing field `duration`")),
        (Some(_), Some(_)) => Err(DesktopError::bad("Invalid wait: say either duration or until")),
    }
}

fn batched(actions: Vec<Map<String, Value>>) -> Result<Vec<Action>, DesktopError> {
    let one = |frame| match read(Value::Object(frame))? {
        Request::Do(order) => Ok(order.action),
        _ => Err(DesktopError::bad("Invalid batch: cancel and hand_back stand alone")),
    };
    actions.into_iter().map(one).collect()
}

fn point(x: Option<u32>, y: Option<u32>) -> Result<Option<Point>, DesktopError> {
    match (x, y) {
        (Some(x), Some(y)) => Ok(Some(Point { x, y })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(malformed("missing field `y`")),
        (None, Some(_)) => Err(malformed("missing field `x`")),
    }
}

fn held(names: &[String]) -> Result<Vec<Modifier>, DesktopError> {
    names.iter().map(|name| Modifier::parse(name)).collect()
}

impl ShotFrame {
    fn translated(self) -> Result<Shot, DesktopError> {
        let Self { display, region, max_edge, format, quality, cursor } = self;
        let usual = Shot::default();
        let format = format.as_deref().map(Format::parse).transpose()?;
        Ok(Shot {
            display,
            region,
            max_edge: max_edge.unwrap_or(usual.max_edge),
            format: format.unwrap_or(usual.format),
            quality: quality.unwrap_or(usual.quality),
            cursor: cursor.unwrap_or(usual.cursor),
        })
    }
}

impl AfterFrame {
    pub fn translated(self) -> Result<Option<After>, DesktopError> {
        let shot = match self.screenshot {
            Wanted::Whether(false) => return Ok(None),
            Wanted::Whether(true) => Shot::default(),
            Wanted::Such(shot) => shot.translated()?,
        };
        let after = After { settle_ms: self.settle_ms, shot };
        after.check()?;
        Ok(Some(after))
    }
}

fn one() -> Seconds {
    Seconds(1.0)
}

fn half() -> f64 {
    0.5
}

fn once() -> u8 {
    1
}

fn one_time() -> u32 {
    1
}

fn three() -> u32 {
    3
}

fn settling() -> u32 {
    500
}

fn yes() -> bool {
    true
}

fn left() -> String {
    "left".to_owned()
}

fn auto() -> String {
    "auto".to_owned()
}
