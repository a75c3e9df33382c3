//! What is answered, in the words of the reference, and what may be told of an action to others.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    DesktopError,
    action::Action,
    parts::{Button, Modifier, Point, Shot, Waiting},
};

impl Action {
    /// An error in the words of this kind of action. Says it once, however often it is asked.
    pub fn failed(&self, error: DesktopError) -> DesktopError {
        let prefix = self.prefix();
        let spoken = ["Invalid ", "missing field "].iter().any(|it| error.text.starts_with(it));
        if error.code.is_ours() || spoken || prefix.is_empty() || error.text.starts_with(prefix) {
            return error;
        }
        DesktopError { text: format!("{prefix}: {}", error.text), ..error }
    }

    fn prefix(&self) -> &'static str {
        match self {
            Self::MouseMove { .. } | Self::MouseMoveBy { .. } => "Mouse move failed",
            Self::MouseClick { .. } | Self::MouseClickAt { .. } => "Click failed",
            Self::MouseScroll { .. } | Self::MouseScrollAt { .. } => "Scroll failed",
            Self::GetMousePosition => "Failed to get mouse position",
            Self::KeyboardInput { .. } | Self::KeyboardType { .. } => "Keyboard input failed",
            Self::KeyboardCommand { .. } => "Keyboard command failed",
            Self::Screenshot(_) => "Screenshot failed",
            Self::MouseDown { .. } => "Mouse down failed",
            Self::MouseUp { .. } => "Mouse up failed",
            Self::MouseDrag(_) => "Drag failed",
            Self::KeyCombo { .. } => "Key combination failed",
            Self::HoldKey { .. } => "Hold failed",
            Self::KeyDown { .. } => "Key down failed",
            Self::KeyUp { .. } => "Key up failed",
            Self::Wait(_) => "Wait failed",
            Self::Zoom(_) => "Zoom failed",
            Self::ScreenInfo => "Failed to get screen info",
            Self::WindowList => "Failed to list windows",
            Self::WindowFocus { .. } => "Window focus failed",
            Self::WindowMove { .. } => "Window move failed",
            Self::WindowClose { .. } => "Window close failed",
            Self::ClipboardGet => "Failed to get clipboard",
            Self::ClipboardSet { .. } => "Failed to set clipboard",
            Self::ReleaseAll => "Release failed",
            // Each of its actions speaks for itself.
            Self::Batch { .. } => "",
        }
    }

    /// What is answered when it was done; `at` is where the pointer is then.
    pub fn done(&self, at: Option<Point>) -> String {
        let at = at.unwrap_or(Point { x: 0, y: 0 });
        match self {
            Self::MouseMove { to, .. } => format!("Moved mouse to ({}, {})", to.x, to.y),
            Self::MouseMoveBy { .. } => format!("Moved mouse to ({}, {})", at.x, at.y),
            Self::MouseClick { button } => format!("Clicked {} button", button.name()),
            Self::MouseScroll { direction, intensity } => {
                format!("Scrolled {} with intensity {intensity}", direction.name())
            }
            Self::KeyboardInput { text, secret: true } => format!("Typed: {}", hidden(text)),
            Self::KeyboardInput { text, .. } => format!("Typed: {text}"),
            Self::KeyboardCommand { keys } => format!("Executed keyboard command: {}", keys.spoken),
            Self::MouseClickAt { button, count, .. } => {
                let clicked = match count {
                    1 => "Clicked",
                    2 => "Double-clicked",
                    _ => "Triple-clicked",
                };
                pressed(clicked, *button, at)
            }
            Self::MouseDown { button, .. } => pressed("Pressed", *button, at),
            Self::MouseUp { button, .. } => pressed("Released", *button, at),
            Self::MouseDrag(drag) => {
                let from = drag.path.first().copied().unwrap_or(at);
                let to = drag.path.last().copied().unwrap_or(at);
                let button = drag.button.name();
                format!(
                    "Dragged {button} button from ({}, {}) to ({}, {})",
                    from.x, from.y, to.x, to.y
                )
            }
            Self::MouseScrollAt { at, direction, intensity, .. } => {
                let direction = direction.name();
                format!("Scrolled {direction} with intensity {intensity} at ({}, {})", at.x, at.y)
            }
            Self::KeyCombo { keys, .. } => format!("Pressed {}", keys.spoken),
            Self::HoldKey { keys, duration } => format!("Held {} for {duration} s", keys.spoken),
            Self::KeyDown { key } => format!("Pressed {}", key.spoken),
            Self::KeyUp { key } => format!("Released {}", key.spoken),
            Self::KeyboardType { text, .. } => {
                format!("Typed {} characters", text.chars().count())
            }
            Self::Wait(Waiting::For(seconds)) => format!("Waited {seconds} s"),
            Self::Wait(Waiting::Stable { .. }) => "Waited until the screen was still".to_owned(),
            Self::WindowFocus { id } => format!("Focused window {id}"),
            Self::WindowMove { id, .. } => format!("Moved window {id}"),
            Self::WindowClose { id } => format!("Closed window {id}"),
            Self::ClipboardSet { text } => {
                format!("Clipboard set ({} characters)", text.chars().count())
            }
            Self::ReleaseAll => "Released everything".to_owned(),
            Self::GetMousePosition
            | Self::Screenshot(_)
            | Self::Zoom(_)
            | Self::ScreenInfo
            | Self::WindowList
            | Self::ClipboardGet
            | Self::Batch { .. } => "Done".to_owned(),
        }
    }

    /// What it asks for, by the names of the wire, as everybody may see it: without secrets.
    pub fn arguments(&self) -> BTreeMap<String, Value> {
        let value = match self {
            Self::MouseMove { to, duration } => {
                json!({ "x": to.x, "y": to.y, "duration": duration })
            }
            Self::MouseClick { button } => json!({ "button": button.name() }),
            Self::MouseScroll { direction, intensity } => {
                json!({ "direction": direction.name(), "intensity": intensity })
            }
            Self::KeyboardInput { text, secret: true } => {
                json!({ "text": hidden(text), "secret": true })
            }
            Self::KeyboardInput { text, .. } | Self::ClipboardSet { text } => {
                json!({ "text": text })
            }
            Self::KeyboardCommand { keys } => json!({ "command": keys.spoken }),
            Self::MouseMoveBy { dx, dy, duration } => {
                json!({ "dx": dx, "dy": dy, "duration": duration })
            }
            Self::MouseClickAt { at, button, count, modifiers } => json!({
                "x": at.map(|at| at.x), "y": at.map(|at| at.y),
                "button": button.name(), "count": count, "modifiers": names(modifiers),
            }),
            Self::MouseDown { button, at } | Self::MouseUp { button, at } => json!({
                "button": button.name(), "x": at.map(|at| at.x), "y": at.map(|at| at.y),
            }),
            Self::MouseDrag(drag) => json!({
                "path": drag.path.iter().map(|at| [at.x, at.y]).collect::<Vec<_>>(),
                "button": drag.button.name(),
                "duration": drag.duration,
                "modifiers": names(&drag.modifiers),
            }),
            Self::MouseScrollAt { at, direction, intensity, modifiers } => json!({
                "x": at.x, "y": at.y, "direction": direction.name(),
                "intensity": intensity, "modifiers": names(modifiers),
            }),
            Self::KeyCombo { keys, repeat } => json!({ "keys": keys.spoken, "repeat": repeat }),
            Self::HoldKey { keys, duration } => {
                json!({ "keys": keys.spoken, "duration": duration })
            }
            Self::KeyDown { key } | Self::KeyUp { key } => json!({ "key": key.spoken }),
            Self::KeyboardType { text, method, secret, delay_ms } => json!({
                "text": if *secret { hidden(text) } else { text.clone() },
                "method": method.name(), "secret": secret, "delay_ms": delay_ms,
            }),
            Self::Wait(Waiting::For(seconds)) => json!({ "duration": seconds }),
            Self::Wait(Waiting::Stable { timeout }) => {
                json!({ "until": "stable", "timeout": timeout })
            }
            Self::Screenshot(shot) | Self::Zoom(shot) => shown(shot),
            Self::WindowFocus { id } | Self::WindowClose { id } => json!({ "id": id }),
            Self::WindowMove { id, x, y, w, h } => {
                json!({ "id": id, "x": x, "y": y, "w": w, "h": h })
            }
            Self::Batch { actions, stop_on_error } => {
                let told = |action: &Self| json!({ "type": action.kind(), "arguments": action.arguments() });
                json!({
                    "actions": actions.iter().map(told).collect::<Vec<_>>(),
                    "stop_on_error": stop_on_error,
                })
            }
            Self::GetMousePosition
            | Self::ScreenInfo
            | Self::WindowList
            | Self::ClipboardGet
            | Self::ReleaseAll => json!({}),
        };
        let Value::Object(fields) = value else { return BTreeMap::new() };
        fields.into_iter().filter(|(_, value)| !value.is_null()).collect()
    }

    /// Whether something in it may be shown nowhere.
    pub fn is_secret(&self) -> bool {
        match self {
            Self::Batch { actions, .. } => actions.iter().any(Self::is_secret),
            _ => self.secret().is_some(),
        }
    }

    /// What may be shown nowhere; a batch is asked step by step.
    pub fn secret(&self) -> Option<&str> {
        match self {
            Self::KeyboardInput { text, secret: true }
            | Self::KeyboardType { text, secret: true, .. } => Some(text),
            _ => None,
        }
    }
}

/// What is shown in the place of a secret, and stays when it is hidden again.
pub fn hidden(text: &str) -> String {
    if is_hidden(text) {
        return text.to_owned();
    }
    format!("[secret, {} chars]", text.chars().count())
}

/// Whether that is what this is, and no secret.
pub(super) fn is_hidden(text: &str) -> bool {
    let count = text.strip_prefix("[secret, ").and_then(|it| it.strip_suffix(" chars]"));
    count.is_some_and(|it| !it.is_empty() && it.bytes().all(|digit| digit.is_ascii_digit()))
}

fn pressed(what: &str, button: Button, at: Point) -> String {
    format!("{what} {} button at ({}, {})", button.name(), at.x, at.y)
}

fn names(modifiers: &[Modifier]) -> Vec<&'static str> {
    modifiers.iter().map(|modifier| modifier.name()).collect()
}

fn shown(shot: &Shot) -> Value {
    json!({
        "display": shot.display, "region": shot.region, "max_edge": shot.max_edge,
        "format": shot.format.name(), "quality": shot.quality, "cursor": shot.cursor,
    })
}
