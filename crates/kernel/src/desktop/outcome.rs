//! What came of something that was done on a desktop.

use super::{
    DesktopError,
    mapping::Mapping,
    parts::{Format, Method, Point, Rect},
};

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was done, and seen to be.
    Done(Done),
    /// Signed, as the reference has it; never negative on our own devices.
    Position {
        x: i32,
        y: i32,
        moving: bool,
    },
    Picture(Frame),
    Screen(Screen),
    /// Top of the stack first.
    Windows(Vec<Pane>),
    /// None if there is something in it that is not text.
    Clipboard {
        text: Option<String>,
    },
    /// Of each that was tried.
    Batch(Vec<Result<Outcome, DesktopError>>),
}

impl Outcome {
    pub fn said(message: impl Into<String>) -> Self {
        Self::Done(Done { message: message.into(), ..Done::default() })
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// `Moved mouse to (500, 300)`.
    pub message: String,
    /// Where the pointer was, and where it is then.
    pub before: Option<Point>,
    pub at: Option<Point>,
    /// The program that got it: `XTerm`.
    pub window: Option<String>,
    /// How text was typed.
    pub method: Option<Method>,
    /// What it looks like, if that was asked for.
    pub picture: Option<Frame>,
}

/// A picture of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub bytes: Vec<u8>,
    pub format: Format,
    pub width: u32,
    pub height: u32,
    /// The part of the screen that it shows.
    pub screen: Rect,
}

impl Frame {
    pub fn mapping(&self) -> Mapping {
        Mapping { width: self.width, height: self.height, screen: self.screen }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Screen {
    /// Everything together.
    pub w: u32,
    pub h: u32,
    pub displays: Vec<Display>,
    pub backend: String,
    /// Of the keyboard: `us`. Empty if it cannot be told.
    pub layout: String,
    pub group: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Display {
    pub id: u32,
    pub name: String,
    pub area: Rect,
    pub scale: f64,
    pub primary: bool,
}

/// A window of some program on that screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pane {
    pub id: u32,
    pub title: String,
    /// What program it belongs to: `XTerm`.
    pub class: String,
    pub pid: Option<u32>,
    /// Parts of it may lie outside the screen.
    pub x: i32,
    pub y: i32,
    pub w: u32,
    pub h: u32,
    pub focused: bool,
    pub minimized: bool,
    /// The display that holds most of it.
    pub display: Option<u32>,
}
