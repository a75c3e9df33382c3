//! What a step of a trajectory does, in a vocabulary small enough to be kept.

use serde::{Deserialize, Serialize};

use crate::desktop::{
    Action, Button, Chords, DesktopError, Direction, Drag, Method, Modifier, Point, Waiting,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Motion {
    Move {
        to: Point,
    },
    Click {
        at: Point,
        button: Button,
        count: u8,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        modifiers: Vec<Modifier>,
    },
    Drag {
        path: Vec<Point>,
        button: Button,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        modifiers: Vec<Modifier>,
    },
    Scroll {
        at: Point,
        direction: Direction,
        steps: u32,
    },
    Type {
        text: String,
    },
    /// It was not kept.
    TypeSecret,
    Press {
        keys: String,
        repeat: u32,
    },
    Wait {
        seconds: f64,
    },
}

impl Motion {
    /// What a device is asked for it; nothing if only the person can do it.
    pub fn action(&self) -> Result<Option<Action>, DesktopError> {
        Ok(Some(match self.clone() {
            Self::Move { to } => Action::MouseMove { to, duration: 0.0 },
            Self::Click { at, button, count, modifiers } => {
                Action::MouseClickAt { at: Some(at), button, count, modifiers }
            }
            Self::Drag { path, button, modifiers } => {
                Action::MouseDrag(Drag { path, button, duration: 0.5, modifiers })
            }
            Self::Scroll { at, direction, steps } => {
                Action::MouseScrollAt { at, direction, intensity: steps, modifiers: Vec::new() }
            }
            Self::Type { text } => {
                Action::KeyboardType { text, method: Method::Auto, secret: false, delay_ms: 0 }
            }
            Self::TypeSecret => return Ok(None),
            Self::Press { keys, repeat } => {
                Action::KeyCombo { keys: Chords::parse(&keys)?, repeat }
            }
            Self::Wait { seconds } => Action::Wait(Waiting::For(seconds)),
        }))
    }

    /// Where it is done, if that is a place.
    pub fn place(&self) -> Option<Point> {
        match self {
            Self::Move { to } => Some(*to),
            Self::Click { at, .. } | Self::Scroll { at, .. } => Some(*at),
            Self::Drag { path, .. } => path.first().copied(),
            Self::Type { .. } | Self::TypeSecret | Self::Press { .. } | Self::Wait { .. } => None,
        }
    }

    /// In a line, for a person.
    pub fn title(&self) -> String {
        match self {
            Self::Move { to } => format!("Move to {}, {}", to.x, to.y),
            Self::Click { at, button, count, .. } => {
                let clicks = match count {
                    1 => "Click",
                    2 => "Double-click",
                    _ => "Triple-click",
                };
                let which = if *button == Button::Left {
                    String::new()
                } else {
                    format!(" the {} button", button.name())
                };
                format!("{clicks}{which} at {}, {}", at.x, at.y)
            }
            Self::Drag { path, .. } => match (path.first(), path.last()) {
                (Some(from), Some(to)) => {
                    format!("Drag from {}, {} to {}, {}", from.x, from.y, to.x, to.y)
                }
                _ => "Drag".to_owned(),
            },
            Self::Scroll { at, direction, .. } => {
                format!("Scroll {} at {}, {}", direction.name(), at.x, at.y)
            }
            Self::Type { text } => format!("Type “{}”", text.chars().take(80).collect::<String>()),
            Self::TypeSecret => "Type something that was not kept".to_owned(),
            Self::Press { keys, .. } => format!("Press {keys}"),
            Self::Wait { seconds } => format!("Wait for {seconds} s"),
        }
    }
}
