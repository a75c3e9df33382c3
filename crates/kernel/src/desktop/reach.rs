//! What gets an action: the window under the pointer, the one in focus, one that is named, or none.

use super::{action::Action, parts::Point};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach<'a> {
    /// It only looks, moves or lets go.
    Nothing,
    /// Whatever is under the pointer.
    Here,
    At(Point),
    /// Whatever is under any of these.
    Along(&'a [Point]),
    Focus,
    Window(u32),
}

impl Action {
    /// A batch reaches nothing by itself: each of its actions does.
    pub fn reach(&self) -> Reach<'_> {
        match self {
            Self::MouseClick { .. } | Self::MouseScroll { .. } => Reach::Here,
            Self::MouseClickAt { at, .. }
            | Self::MouseDown { at, .. }
            | Self::MouseUp { at, .. } => at.map_or(Reach::Here, Reach::At),
            Self::MouseScrollAt { at, .. } => Reach::At(*at),
            Self::MouseDrag(drag) => Reach::Along(&drag.path),
            Self::KeyboardInput { .. }
            | Self::KeyboardType { .. }
            | Self::KeyboardCommand { .. }
            | Self::KeyCombo { .. }
            | Self::HoldKey { .. }
            | Self::KeyDown { .. } => Reach::Focus,
            Self::WindowFocus { id } | Self::WindowMove { id, .. } | Self::WindowClose { id } => {
                Reach::Window(*id)
            }
            Self::MouseMove { .. }
            | Self::MouseMoveBy { .. }
            | Self::KeyUp { .. }
            | Self::Wait(_)
            | Self::GetMousePosition
            | Self::Screenshot(_)
            | Self::Zoom(_)
            | Self::ScreenInfo
            | Self::WindowList
            | Self::ClipboardGet
            | Self::ClipboardSet { .. }
            | Self::Batch { .. }
            | Self::ReleaseAll => Reach::Nothing,
        }
    }
}
