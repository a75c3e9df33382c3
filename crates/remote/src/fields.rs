//! Every command by name, and what may be said with it.

/// Something that may be said with a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Pixels from the top or the left; there are none before the first.
    Coordinate,
    Count {
        most: u32,
    },
    /// Pixels in either direction.
    Offset,
    Seconds {
        most: f64,
    },
    Text,
    /// A list of points.
    Points,
    /// A part of the screen.
    Area,
    /// Whatever it is, it is left so.
    Any,
    /// What shall be shown afterwards, and how that picture shall be.
    After,
    Shot,
    /// Commands, each with fields of its own.
    Actions,
}

impl Kind {
    pub fn is_number(self) -> bool {
        match self {
            Self::Coordinate | Self::Count { .. } | Self::Offset | Self::Seconds { .. } => true,
            Self::Text
            | Self::Points
            | Self::Area
            | Self::Any
            | Self::After
            | Self::Shot
            | Self::Actions => false,
        }
    }

    /// What may be said within it; `None` where that is nothing to go into.
    pub fn parts(self) -> Option<Vec<Field>> {
        match self {
            Self::After => Some(vec![may("settle_ms", COUNT), may("screenshot", Self::Shot)]),
            Self::Shot => fields("screenshot"),
            _ => None,
        }
    }
}

/// The seven that every device knows.
pub const SEED: [&str; 7] = [
    "mouse_move",
    "mouse_click",
    "mouse_scroll",
    "keyboard_input",
    "keyboard_command",
    "screenshot",
    "get_mouse_position",
];

/// Longer moves would outlast the patience of whoever asked.
const LONGEST_MOVE: f64 = 25.0;
const MOST_STEPS: u32 = 100;
const COUNT: Kind = Kind::Count { most: u32::MAX };
const MOVE: Kind = Kind::Seconds { most: LONGEST_MOVE };
const STEPS: Kind = Kind::Count { most: MOST_STEPS };
/// Where more than this is an error of its own.
const SECONDS: Kind = Kind::Seconds { most: f64::MAX };

const fn must(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: true }
}

const fn may(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: false }
}

const AFTER: Field = may("after", Kind::After);
const PICTURE: [Field; 5] = [
    may("display", COUNT),
    may("max_edge", COUNT),
    may("format", Kind::Text),
    may("quality", COUNT),
    may("cursor", Kind::Any),
];

/// What may be said with a command; `None` if there is no such command.
pub fn fields(command: &str) -> Option<Vec<Field>> {
    use Kind::{Any, Coordinate, Offset, Text};
    let (x, y) = (must("x", Coordinate), must("y", Coordinate));
    let (at_x, at_y) = (may("x", Coordinate), may("y", Coordinate));
    let (button, modifiers) = (may("button", Text), may("modifiers", Any));
    let input = match command {
        "mouse_move" => vec![x, y, may("duration", MOVE)],
        "mouse_click" => vec![must("button", Text)],
        "mouse_scroll" => vec![must("direction", Text), may("intensity", STEPS)],
        "keyboard_input" => vec![must("text", Text), may("secret", Any)],
        "clipboard_set" => vec![must("text", Text)],
        "keyboard_command" => vec![must("command", Text)],
        "mouse_click_at" => vec![at_x, at_y, button, may("count", COUNT), modifiers],
        "mouse_down" | "mouse_up" => vec![button, at_x, at_y],
        "mouse_drag" => vec![must("path", Kind::Points), button, may("duration", MOVE), modifiers],
        "mouse_scroll_at" => {
            vec![x, y, must("direction", Text), may("intensity", STEPS), modifiers]
        }
        "mouse_move_by" => vec![must("dx", Offset), must("dy", Offset), may("duration", MOVE)],
        "key_combo" => vec![must("keys", Any), may("repeat", COUNT)],
        "hold_key" => vec![must("keys", Any), must("duration", SECONDS)],
        "key_down" | "key_up" => vec![must("key", Text)],
        "keyboard_type" => vec![
            must("text", Text),
            may("method", Text),
            may("secret", Any),
            may("delay_ms", COUNT),
        ],
        "window_focus" | "window_close" => vec![must("id", COUNT)],
        "window_move" => vec![
            must("id", COUNT),
            may("x", Offset),
            may("y", Offset),
            may("w", COUNT),
            may("h", COUNT),
        ],
        _ => return looking(command),
    };
    Some(input.into_iter().chain([AFTER]).collect())
}

/// Those that change nothing on the screen, and those about other commands.
fn looking(command: &str) -> Option<Vec<Field>> {
    let picture = |region| PICTURE.into_iter().chain([region]).collect();
    Some(match command {
        "screenshot" => picture(may("region", Kind::Area)),
        "zoom" => picture(must("region", Kind::Area)),
        "wait" => vec![may("duration", SECONDS), may("until", Kind::Text), may("timeout", SECONDS)],
        "batch" => vec![must("actions", Kind::Actions), may("stop_on_error", Kind::Any)],
        "cancel" => vec![may("target", Kind::Text)],
        "get_mouse_position" | "screen_info" | "window_list" | "clipboard_get" | "release_all"
        | "hand_back" => Vec::new(),
        _ => return None,
    })
}
