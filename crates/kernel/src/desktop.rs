//! Screens, pointers and keyboards that can be driven: what may be asked of one, and what comes of it.

mod action;
mod classes;
mod devices;
mod driving;
mod error;
mod hushed;
mod keeping;
mod key;
mod mapping;
mod outcome;
mod parts;
mod pixels;
mod reach;
mod replaying;
mod trajectory;
mod words;

use std::{collections::BTreeMap, time::Duration};

use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::toolbox::Caller;

pub use action::{Action, LONGEST_CLIPBOARD, LONGEST_TEXT, MOST_ACTIONS, MOST_REPEATS, MOST_STEPS};
pub use classes::Class;
pub use devices::{Armed, Arming, Deed, Devices, News, Noted, Stay, Who};
pub use error::{Code, DesktopError};
pub(crate) use keeping::Kept;
pub use key::{Chord, Chords, Key, KeyError, Named};
pub use mapping::Mapping;
pub use outcome::{Display, Done, Frame, Outcome, Pane, Screen};
pub use parts::{
    After, Button, Direction, Drag, Format, Method, Modifier, Point, Rect, Shot, Waiting,
};
pub use pixels::{Crop, DEPTH, Pixels};
pub use reach::Reach;
pub use replaying::{Again, By};
pub use trajectory::{
    Motion, Recording, Replay, Sight, Step, Stopped, Trajectories, Trajectory, TrajectoryError,
};
pub use words::hidden;

/// A machine whose screen can be seen and whose pointer and keyboard can be moved.
///
/// Input is done one thing at a time, in the order in which it was asked for; what only looks is
/// answered at once. Errors carry the whole text that the one who asked shall read.
pub trait Desktop: Send + Sync {
    /// What it is. Asked for before anything else, and it may have to be reached first.
    fn info(&self) -> BoxFuture<'_, Result<Info, DesktopError>>;

    /// Does one thing, and answers when it is seen to be done. Dropping the future cancels it.
    fn act(&self, order: Order) -> BoxFuture<'_, Result<Outcome, DesktopError>>;

    /// Cancels what is running and waiting, or only the order of this id; says how many.
    fn cancel(&self, target: Option<String>) -> BoxFuture<'_, Result<usize, DesktopError>>;

    /// The person gives control back after they took it.
    fn hand_back(&self) -> BoxFuture<'_, Result<(), DesktopError>>;

    /// A person is expected to use it for a while: what they do before the next order is not a
    /// taking over.
    fn rest(&self) {}

    /// What its screen shows now, with the pointer or without. Does not wait for what is being
    /// done, where that can be helped.
    fn glance(&self, cursor: bool) -> BoxFuture<'_, Result<Pixels, DesktopError>> {
        let _ = cursor;
        let error = DesktopError::new(Code::Unsupported, "this device cannot show its screen");
        future::ready(Err(error)).boxed()
    }

    /// How long to wait between two glances, at least.
    fn pace(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// Somebody may drive it until then, or nobody may. Told whenever that changes, and more often.
    fn lend(&self, until: Option<Timestamp>) {
        self.indicate(until.is_some());
    }

    /// Shows on the screen itself, or no longer, that somebody may drive it.
    fn indicate(&self, _armed: bool) {}

    /// How it stands, now and whenever that changes.
    fn states(&self) -> watch::Receiver<State>;
}

/// Something to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Unique among the orders of its sender; empty if it has none.
    pub id: String,
    pub action: Action,
    /// A picture of what came of it.
    pub after: Option<After>,
}

impl From<Action> for Order {
    fn from(action: Action) -> Self {
        Self { id: String::new(), action, after: None }
    }
}

/// What is known of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// `linux`, `macos`, `windows`.
    pub platform: String,
    /// What drives it: `x11`, `wayland`, `native`. Empty if it does not say.
    pub backend: String,
    /// Width and height of everything that is shown, if it is known.
    pub screen: Option<(u32, u32)>,
    /// The kinds of action that it knows, by [`Action::kind`].
    pub commands: Vec<String>,
    /// Whether it hears what a person does at that machine.
    pub hears: bool,
}

impl Info {
    /// What a person must know before they let it be driven: where nobody hears what they do
    /// there, it does not stop anybody.
    pub fn caution(&self) -> Option<&'static str> {
        match self.backend.as_str() {
            "wayland" | "native" => Some(
                "what you do at that machine does not stop agents: your pointer and keys are not \
                 heard there, nor is Ctrl+Alt+Escape; stop them in the page",
            ),
            "x11" if !self.hears => Some(
                "the X server of that machine lacks XInput: your keys and Ctrl+Alt+Escape do not \
                 stop agents there, your pointer only while they move it; stop them in the page",
            ),
            _ => None,
        }
    }
}

/// How a device stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Why it does nothing until it is handed back.
    pub paused: Option<Pause>,
    /// Until when its own side allows anything; none where only ours is asked.
    pub until: Option<Timestamp>,
    /// Keys and buttons that are down because of us.
    pub keys: Vec<String>,
    pub buttons: Vec<String>,
    /// How many orders wait.
    pub queue: usize,
}

/// Why a device was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pause {
    /// Somebody moved the pointer or pressed a key.
    Human,
    /// The pointer was put into the corner at 0,0.
    Corner,
    /// The chord for this was pressed.
    Panic,
    /// The owner said so.
    Owner,
}

impl Pause {
    pub fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Corner => "corner",
            Self::Panic => "panic",
            Self::Owner => "owner",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Human, Self::Corner, Self::Panic, Self::Owner];
        all.into_iter().find(|pause| pause.name() == name)
    }
}

/// By which right something was done on a desktop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leave {
    /// The person did it.
    Hands,
    /// The person had lent it until then.
    Until(Timestamp),
}

/// Something of a desktop that is kept in the log of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "desktop", rename_all = "snake_case")]
pub enum DesktopFact {
    /// The person allowed the session to drive a device, for a while.
    Armed {
        device: String,
        classes: Vec<Class>,
        until: Timestamp,
        /// The part of the screen that it may touch; all of it if none is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        area: Option<Rect>,
    },
    Disarmed {
        device: String,
        /// For a person: `the owner`, `the time ran out`.
        why: String,
    },
    /// The person took the device, and everything stopped.
    Paused { device: String, why: Pause },
    /// And gave it back.
    HandedBack { device: String },
    /// Something was done, or refused; secrets are left out of it.
    Acted {
        device: String,
        command: String,
        kind: String,
        arguments: BTreeMap<String, serde_json::Value>,
        /// What was answered.
        result: String,
        /// A [`Code`], if it was not done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<Code>,
        /// Where the pointer was before and afterwards, if that was seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<Point>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Point>,
        /// The program that got it, if it was input and that was seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<String>,
        /// None if it needs no leave, or had none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        leave: Option<Leave>,
        ms: u64,
        /// Who wanted it; not known of what is older than this was kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caller: Option<Caller>,
    },
}
