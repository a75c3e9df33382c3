//! The parts of what can be asked of a desktop: points, buttons, directions, pictures.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    DesktopError, Key,
    action::{LONGEST_MOVE, at_most, between},
};

const MOST_POINTS: usize = 100;
/// In milliseconds.
const LONGEST_SETTLING: u32 = 5_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    pub x: u32,
    pub y: u32,
}

/// A part of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rect {
    pub x: u32,
    pub y: u32,
    pub w: u32,
    pub h: u32,
}

impl Rect {
    pub fn contains(self, Point { x, y }: Point) -> bool {
        let inside = |at: u32, from: u32, length: u32| at >= from && at - from < length;
        inside(x, self.x, self.w) && inside(y, self.y, self.h)
    }
}

/// As a person reads it.
impl fmt::Display for Rect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { x, y, w, h } = self;
        write!(f, "{x}, {y}, {w} × {h}")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Button {
    Left,
    Right,
    Middle,
    Back,
    Forward,
}

impl Button {
    pub fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::Middle => "middle",
            Self::Back => "back",
            Self::Forward => "forward",
        }
    }

    /// One of the three that the reference knows, in its spelling.
    pub fn plain(name: &str) -> Result<Self, DesktopError> {
        match name {
            "left" => Ok(Self::Left),
            "right" => Ok(Self::Right),
            "middle" => Ok(Self::Middle),
            _ => Err(DesktopError::button(name)),
        }
    }

    pub fn parse(name: &str) -> Result<Self, DesktopError> {
        match name {
            "back" => Ok(Self::Back),
            "forward" => Ok(Self::Forward),
            _ => Self::plain(name)
                .map_err(|error| error.expecting(["left", "right", "middle", "back", "forward"])),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Up,
    Down,
    Left,
    Right,
}

impl Direction {
    pub fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Left => "left",
            Self::Right => "right",
        }
    }

    pub fn parse(name: &str) -> Result<Self, DesktopError> {
        match name {
            "up" => Ok(Self::Up),
            "down" => Ok(Self::Down),
            "left" => Ok(Self::Left),
            "right" => Ok(Self::Right),
            _ => Err(DesktopError::direction(name)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Modifier {
    Shift,
    Control,
    Alt,
    Command,
}

impl Modifier {
    pub fn name(self) -> &'static str {
        match self {
            Self::Shift => "shift",
            Self::Control => "control",
            Self::Alt => "alt",
            Self::Command => "command",
        }
    }

    /// By any name that a key has.
    pub fn parse(name: &str) -> Result<Self, DesktopError> {
        let key = Key::parse(name).ok();
        key.and_then(Key::modifier).ok_or_else(|| {
            DesktopError::bad(format!("Invalid modifier: {name}"))
                .expecting(["shift", "control", "alt", "command"])
        })
    }
}

/// A button held from the first point to the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Drag {
    pub path: Vec<Point>,
    pub button: Button,
    pub duration: f64,
    pub modifiers: Vec<Modifier>,
}

impl Drag {
    pub(super) fn check(&self) -> Result<(), DesktopError> {
        if !(2..=MOST_POINTS).contains(&self.path.len()) {
            let count = self.path.len();
            let text = format!("path must have between 2 and {MOST_POINTS} points, not {count}");
            return Err(DesktopError::bad(text));
        }
        between("duration", self.duration, f64::NEG_INFINITY, LONGEST_MOVE)
    }
}

/// How text gets into a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By keys where the keyboard has them, else by the clipboard.
    Auto,
    Keys,
    Paste,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Keys => "keys",
            Self::Paste => "paste",
        }
    }

    pub fn parse(name: &str) -> Result<Self, DesktopError> {
        match name {
            "auto" => Ok(Self::Auto),
            "keys" => Ok(Self::Keys),
            "paste" => Ok(Self::Paste),
            _ => Err(DesktopError::bad(format!("Invalid method: {name}"))
                .expecting(["auto", "keys", "paste"])),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Waiting {
    For(f64),
    /// Until the screen has stopped changing.
    Stable {
        timeout: f64,
    },
}

/// What a picture shall show, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shot {
    /// All of them if none is named.
    pub display: Option<u32>,
    pub region: Option<Rect>,
    /// How long the longer edge may be.
    pub max_edge: u32,
    pub format: Format,
    /// Of what loses something, from 1 to 100.
    pub quality: u8,
    pub cursor: bool,
}

impl Default for Shot {
    fn default() -> Self {
        Self {
            display: None,
            region: None,
            max_edge: 1568,
            format: Format::Webp,
            quality: 80,
            cursor: true,
        }
    }
}

impl Shot {
    pub(super) fn check(&self) -> Result<(), DesktopError> {
        if self.region.is_some_and(|region| region.w == 0 || region.h == 0) {
            return Err(DesktopError::bad("the region must not be empty"));
        }
        if self.max_edge == 0 {
            return Err(DesktopError::bad("max_edge must be at least 1"));
        }
        if !(1..=100).contains(&self.quality) {
            return Err(DesktopError::bad("quality must be between 1 and 100"));
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Webp,
    Png,
    Jpeg,
}

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Self::Webp => "webp",
            Self::Png => "png",
            Self::Jpeg => "jpeg",
        }
    }

    pub fn mime(self) -> &'static str {
        match self {
            Self::Webp => "image/webp",
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }

    pub fn parse(name: &str) -> Result<Self, DesktopError> {
        match name {
            "webp" => Ok(Self::Webp),
            "png" => Ok(Self::Png),
            "jpeg" | "jpg" => Ok(Self::Jpeg),
            _ => Err(DesktopError::bad(format!("Invalid format: {name}"))
                .expecting(["webp", "png", "jpeg"])),
        }
    }
}

/// A picture once the screen has come to rest, or this time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    pub settle_ms: u32,
    pub shot: Shot,
}

impl After {
    pub fn check(&self) -> Result<(), DesktopError> {
        at_most("settle_ms", self.settle_ms, LONGEST_SETTLING)?;
        self.shot.check()
    }
}
