//! Everything that can be asked of a desktop, and the bounds of each part that are the same everywhere.

use super::{
    Chord, Chords, Code, DesktopError,
    parts::{Button, Direction, Drag, Method, Modifier, Point, Shot, Waiting},
    words::is_hidden,
};

/// The longest text that is typed at once, in characters.
pub const LONGEST_TEXT: usize = 20_000;
/// And the longest that is put on the clipboard, in bytes: with all that is around it, it fits a
/// frame of a mebibyte.
pub const LONGEST_CLIPBOARD: usize = 1_000_000;
pub const MOST_ACTIONS: usize = 24;
pub const MOST_REPEATS: u32 = 100;
/// Of one turn of the wheel.
pub const MOST_STEPS: u32 = 100;
/// The longest move, in seconds.
pub(super) const LONGEST_MOVE: f64 = 300.0;
const LONGEST_WAIT: f64 = 300.0;
const LONGEST_HOLD: f64 = 60.0;
const SHORTEST_HOLD: f64 = 0.05;
const LONGEST_PAUSE: u32 = 250;
const MOST_CHORDS: usize = 32;

/// One thing to do, named as on the wire. Times are in seconds; points are pixels of the screen,
/// counted from the top left of all displays together.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// At once if the duration is not above zero.
    MouseMove {
        to: Point,
        duration: f64,
    },
    /// Where the pointer is.
    MouseClick {
        button: Button,
    },
    MouseScroll {
        direction: Direction,
        intensity: u32,
    },
    GetMousePosition,
    /// What is secret is shown nowhere.
    KeyboardInput {
        text: String,
        secret: bool,
    },
    KeyboardCommand {
        keys: Chords,
    },
    Screenshot(Shot),

    MouseMoveBy {
        dx: i32,
        dy: i32,
        duration: f64,
    },
    /// Up to three times, with these keys held.
    MouseClickAt {
        at: Option<Point>,
        button: Button,
        count: u8,
        modifiers: Vec<Modifier>,
    },
    MouseDown {
        button: Button,
        at: Option<Point>,
    },
    MouseUp {
        button: Button,
        at: Option<Point>,
    },
    MouseDrag(Drag),
    MouseScrollAt {
        at: Point,
        direction: Direction,
        intensity: u32,
        modifiers: Vec<Modifier>,
    },
    KeyCombo {
        keys: Chords,
        repeat: u32,
    },
    HoldKey {
        keys: Chords,
        duration: f64,
    },
    KeyDown {
        key: Chords,
    },
    KeyUp {
        key: Chords,
    },
    KeyboardType {
        text: String,
        method: Method,
        secret: bool,
        delay_ms: u32,
    },
    Wait(Waiting),
    /// The same as a screenshot, of a region that is named.
    Zoom(Shot),
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
        actions: Vec<Action>,
        stop_on_error: bool,
    },
    ReleaseAll,
}

impl Action {
    /// Every kind, the seven of the reference first and in its order.
    pub const KINDS: [&'static str; 29] = [
        "mouse_move",
        "mouse_click",
        "mouse_scroll",
        "keyboard_input",
        "keyboard_command",
        "screenshot",
        "get_mouse_position",
        "mouse_move_by",
        "mouse_click_at",
        "mouse_down",
        "mouse_up",
        "mouse_drag",
        "mouse_scroll_at",
        "key_combo",
        "hold_key",
        "key_down",
        "key_up",
        "keyboard_type",
        "wait",
        "zoom",
        "screen_info",
        "window_list",
        "window_focus",
        "window_move",
        "window_close",
        "clipboard_get",
        "clipboard_set",
        "batch",
        "release_all",
    ];

    /// Its name on the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::MouseMove { .. } => "mouse_move",
            Self::MouseClick { .. } => "mouse_click",
            Self::MouseScroll { .. } => "mouse_scroll",
            Self::GetMousePosition => "get_mouse_position",
            Self::KeyboardInput { .. } => "keyboard_input",
            Self::KeyboardCommand { .. } => "keyboard_command",
            Self::Screenshot(_) => "screenshot",
            Self::MouseMoveBy { .. } => "mouse_move_by",
            Self::MouseClickAt { .. } => "mouse_click_at",
            Self::MouseDown { .. } => "mouse_down",
            Self::MouseUp { .. } => "mouse_up",
            Self::MouseDrag(_) => "mouse_drag",
            Self::MouseScrollAt { .. } => "mouse_scroll_at",
            Self::KeyCombo { .. } => "key_combo",
            Self::HoldKey { .. } => "hold_key",
            Self::KeyDown { .. } => "key_down",
            Self::KeyUp { .. } => "key_up",
            Self::KeyboardType { .. } => "keyboard_type",
            Self::Wait(_) => "wait",
            Self::Zoom(_) => "zoom",
            Self::ScreenInfo => "screen_info",
            Self::WindowList => "window_list",
            Self::WindowFocus { .. } => "window_focus",
            Self::WindowMove { .. } => "window_move",
            Self::WindowClose { .. } => "window_close",
            Self::ClipboardGet => "clipboard_get",
            Self::ClipboardSet { .. } => "clipboard_set",
            Self::Batch { .. } => "batch",
            Self::ReleaseAll => "release_all",
        }
    }

    /// Whether it fits the bounds that hold on every device. Nothing is done unless it does.
    pub fn check(&self) -> Result<(), DesktopError> {
        match self {
            Self::MouseMove { duration, .. } | Self::MouseMoveBy { duration, .. } => {
                between("duration", *duration, f64::NEG_INFINITY, LONGEST_MOVE)
            }
            Self::MouseScroll { intensity, .. } | Self::MouseScrollAt { intensity, .. } => {
                at_most("intensity", *intensity, MOST_STEPS)
            }
            Self::MouseClickAt { count, .. } if !(1..=3).contains(count) => {
                Err(DesktopError::bad(format!("count must be 1, 2 or 3, not {count}")))
            }
            Self::MouseDrag(drag) => drag.check(),
            Self::KeyboardCommand { keys } => typeable(keys),
            Self::KeyCombo { keys, repeat } => {
                if !(1..=MOST_REPEATS).contains(repeat) {
                    return Err(DesktopError::bad("repeat must be between 1 and 100"));
                }
                typeable(keys)
            }
            Self::HoldKey { keys, duration } => {
                between("duration", *duration, SHORTEST_HOLD, LONGEST_HOLD)?;
                single(keys)
            }
            Self::KeyDown { key } | Self::KeyUp { key } => single(key),
            // Whoever reads what is on record, after a restart or in an answer of their own, knows no more.
            _ if self.secret().is_some_and(is_hidden) => {
                let what = "what was secret is not kept: `text` only says how long it was";
                Err(DesktopError::bad(format!("{what}; the secret itself was expected")))
            }
            Self::KeyboardInput { text, .. } => writable(text),
            Self::KeyboardType { text, delay_ms, .. } => {
                at_most("delay_ms", *delay_ms, LONGEST_PAUSE)?;
                writable(text)
            }
            Self::Wait(Waiting::For(seconds)) => between("duration", *seconds, 0.0, LONGEST_WAIT),
            Self::Wait(Waiting::Stable { timeout }) => {
                between("timeout", *timeout, 0.0, LONGEST_WAIT)
            }
            Self::Zoom(shot) if shot.region.is_none() => {
                Err(DesktopError::bad("missing field `region`"))
            }
            Self::Screenshot(shot) | Self::Zoom(shot) => shot.check(),
            Self::WindowMove { x: None, y: None, w: None, h: None, .. } => {
                Err(DesktopError::bad("name at least one of x, y, w and h"))
            }
            Self::ClipboardSet { text } if text.len() > LONGEST_CLIPBOARD => {
                Err(DesktopError::bad("the text is longer than 1 MB"))
            }
            Self::Batch { actions, .. } => batched(actions),
            Self::MouseClick { .. }
            | Self::GetMousePosition
            | Self::MouseClickAt { .. }
            | Self::MouseDown { .. }
            | Self::MouseUp { .. }
            | Self::ScreenInfo
            | Self::WindowList
            | Self::WindowFocus { .. }
            | Self::WindowMove { .. }
            | Self::WindowClose { .. }
            | Self::ClipboardGet
            | Self::ClipboardSet { .. }
            | Self::ReleaseAll => Ok(()),
        }
        .map_err(|error| self.failed(error))
    }
}

pub(super) fn between(name: &str, value: f64, least: f64, most: f64) -> Result<(), DesktopError> {
    if !value.is_nan() && value >= least && value <= most {
        return Ok(());
    }
    let bounds = if least.is_finite() {
        format!("between {least} and {most} seconds")
    } else {
        format!("at most {most} seconds")
    };
    Err(DesktopError::bad(format!("{name} must be {bounds}, not {value}")))
}

pub(super) fn at_most(name: &str, value: u32, most: u32) -> Result<(), DesktopError> {
    if value <= most {
        return Ok(());
    }
    Err(DesktopError::bad(format!("{name} must be at most {most}, not {value}")))
}

/// What is typed is known before the first key is pressed.
fn writable(text: &str) -> Result<(), DesktopError> {
    let length = text.chars().count();
    if length > LONGEST_TEXT {
        let text = format!("the text has {length} characters; at most {LONGEST_TEXT} are typed");
        return Err(DesktopError::new(Code::TextUnsupported, text));
    }
    let strange = |c: &char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    let Some(strange) = text.chars().find(strange) else { return Ok(()) };
    let text = format!("the control character U+{:04X} cannot be typed", u32::from(strange));
    Err(DesktopError::new(Code::TextUnsupported, text))
}

/// The chords by which a person takes over and gives back are theirs alone.
fn typeable(keys: &Chords) -> Result<(), DesktopError> {
    if keys.chords.is_empty() {
        return Err(DesktopError::bad("name at least one key"));
    }
    if keys.chords.len() > MOST_CHORDS {
        return Err(DesktopError::bad(format!("at most {MOST_CHORDS} combinations at once")));
    }
    if keys.chords.iter().any(Chord::is_reserved) {
        let text = format!("{} is for the person alone", keys.spoken);
        return Err(DesktopError::new(Code::Denied, text));
    }
    Ok(())
}

fn single(keys: &Chords) -> Result<(), DesktopError> {
    typeable(keys)?;
    if keys.chords.len() == 1 {
        return Ok(());
    }
    Err(DesktopError::bad("name keys that are pressed together, not one after another"))
}

fn batched(actions: &[Action]) -> Result<(), DesktopError> {
    if !(1..=MOST_ACTIONS).contains(&actions.len()) {
        let count = actions.len();
        return Err(DesktopError::bad(format!(
            "a batch has between 1 and {MOST_ACTIONS} actions, not {count}"
        )));
    }
    if actions.iter().any(|action| matches!(action, Action::Batch { .. })) {
        return Err(DesktopError::bad("a batch cannot hold another"));
    }
    actions.iter().try_for_each(Action::check)
}
