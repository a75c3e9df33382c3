//! What kind of harm an action can do, for whoever allows it.

use serde::{Deserialize, Serialize};

use super::key::{Chord, Key, Named};
use super::{action::Action, parts::Modifier};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Look,
    /// The pointer.
    Point,
    /// Text that sends nothing off.
    Type,
    /// What sends something off, or means something to the program or the system.
    Act,
    Clipboard,
}

impl Class {
    pub const ALL: [Self; 5] = [Self::Look, Self::Point, Self::Type, Self::Act, Self::Clipboard];

    pub fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Point => "point",
            Self::Type => "type",
            Self::Act => "act",
            Self::Clipboard => "clipboard",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl Action {
    /// All that must be allowed for it.
    pub fn classes(&self) -> Vec<Class> {
        let Self::Batch { actions, .. } = self else { return vec![self.class()] };
        let mut classes: Vec<Class> = actions.iter().map(Self::class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Whether it presses, moves or changes anything.
    pub fn is_input(&self) -> bool {
        self.classes().iter().any(|class| *class != Class::Look)
    }

    pub(super) fn class(&self) -> Class {
        match self {
            Self::GetMousePosition
            | Self::Screenshot(_)
            | Self::Wait(_)
            | Self::Zoom(_)
            | Self::ScreenInfo
            | Self::WindowList
            | Self::ReleaseAll
            | Self::Batch { .. } => Class::Look,
            Self::MouseMove { .. }
            | Self::MouseClick { .. }
            | Self::MouseScroll { .. }
            | Self::MouseMoveBy { .. }
            | Self::MouseDown { .. }
            | Self::MouseUp { .. }
            | Self::WindowFocus { .. }
            | Self::WindowMove { .. } => Class::Point,
            Self::MouseClickAt { modifiers, .. } | Self::MouseScrollAt { modifiers, .. } => {
                pointed(modifiers)
            }
            Self::MouseDrag(drag) => pointed(&drag.modifiers),
            Self::KeyboardInput { text, .. } | Self::KeyboardType { text, .. } => {
                if text.contains(['\n', '\r']) { Class::Act } else { Class::Type }
            }
            Self::KeyboardCommand { keys }
            | Self::KeyCombo { keys, .. }
            | Self::HoldKey { keys, .. }
            | Self::KeyDown { key: keys }
            | Self::KeyUp { key: keys } => {
                if keys.chords.iter().any(Chord::acts) {
                    Class::Act
                } else {
                    Class::Type
                }
            }
            Self::WindowClose { .. } => Class::Act,
            Self::ClipboardGet | Self::ClipboardSet { .. } => Class::Clipboard,
        }
    }
}

fn pointed(modifiers: &[Modifier]) -> Class {
    if modifiers.iter().all(|modifier| *modifier == Modifier::Shift) {
        Class::Point
    } else {
        Class::Act
    }
}

impl Chord {
    fn acts(&self) -> bool {
        self.keys.iter().any(|key| match key {
            Key::Named(Named::Return | Named::KeypadEnter) => true,
            key => matches!(
                key.modifier(),
                Some(Modifier::Control | Modifier::Alt | Modifier::Command)
            ),
        })
    }
}
