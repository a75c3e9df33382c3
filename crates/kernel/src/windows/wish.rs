//! What is wished of the windows: whether it can be done, and the facts that do it.

use super::{
    Bounds, By, Content, DockEdge, MONITOR, Pane, Stance, Variant, Window, WindowChange, Windows,
    content::is_app, monitor_name,
};
use crate::{ports::StoreError, update::Fact};

/// How many windows a session may have open.
pub const MOST: usize = 1000;
/// How much one window may show.
pub const CONTENT_BYTES: usize = 2 << 20;
/// How much all of them may show.
pub const ALL_BYTES: usize = 64 << 20;
const ID_CHARS: usize = 128;
const TITLE_CHARS: usize = 200;
/// How far from the corner of a monitor, and how large.
const FARTHEST: i32 = 100_000;
const LARGEST: u32 = 100_000;
/// Where windows are put that say nothing of it: each a little further than the one before.
const FIRST: Bounds = Bounds { x: 40, y: 40, w: 640, h: 480 };
const STEP: i32 = 32;
const STEPS: usize = 10;

#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// Opens a window, in place of one of the same name.
    Open(Box<Opening>),
    /// All of it or nothing.
    Change {
        window: Named,
        changes: Vec<WindowChange>,
    },
    /// Bring it to the front, also where it is: whoever looks may have something else before it.
    Show {
        window: Named,
    },
    Close {
        window: Named,
    },
}

/// A window as somebody calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its id, scoped or not.
    pub name: String,
    /// Where the caller is, if they are anywhere.
    pub monitor: Option<String>,
}

impl Named {
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), monitor: None }
    }
}

/// A window that is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Opening {
    pub id: String,
    pub monitor: Option<String>,
    /// Its id where there is none.
    pub title: String,
    pub content: Content,
    pub bounds: Option<Bounds>,
    pub variant: Option<Variant>,
    pub dock_edge: Option<DockEdge>,
    pub frameless: bool,
    pub stance: Stance,
    /// Found in the address where it is not given.
    pub app: Option<String>,
}

impl Opening {
    pub fn new(id: impl Into<String>, title: impl Into<String>, content: Content) -> Self {
        Self {
            id: id.into(),
            monitor: None,
            title: title.into(),
            content,
            bounds: None,
            variant: None,
            dock_edge: None,
            frameless: false,
            stance: Stance::Normal,
            app: None,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum WindowError {
    /// In the words of the protocol.
    #[error("Window \"{0}\" not found.")]
    Unknown(String),
    #[error("several windows are called \"{name}\": {}; say which", keys.join(", "))]
    Ambiguous { name: String, keys: Vec<String> },
    /// What was wrong, and what was expected.
    #[error("{0}")]
    Bad(String),
    #[error("{MOST} windows are open already; close one first")]
    TooMany,
    #[error("{0}")]
    TooLarge(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What is to be recorded, and of which window.
pub(crate) struct Decision {
    pub window: String,
    pub facts: Vec<Fact>,
}

impl Windows {
    pub(crate) fn decide(&self, wish: Wish, by: &By) -> Result<Decision, WindowError> {
        match wish {
            Wish::Open(opening) => self.decide_opening(*opening, by),
            Wish::Change { window, changes } => self.decide_changes(&window, changes, by),
            Wish::Show { window: Named { name, monitor } } => {
                let window = self.find(&name, monitor.as_deref())?.window.key();
                let (change, by) = (WindowChange::Focused, by.clone());
                let facts = vec![Fact::WindowChanged { window: window.clone(), change, by }];
                Ok(Decision { window, facts })
            }
            Wish::Close { window: Named { name, monitor } } => {
                let window = self.find(&name, monitor.as_deref())?.window.key();
                let (left, by) = (self.left_without(&window), by.clone());
                let facts = vec![Fact::WindowClosed { window: window.clone(), by, left }];
                Ok(Decision { window, facts })
            }
        }
    }

    fn decide_opening(&self, opening: Opening, by: &By) -> Result<Decision, WindowError> {
        let Opening { id, monitor, title, content, bounds, .. } = opening;
        let (monitor, id) = named(&id, monitor.as_deref()).map_err(WindowError::Bad)?;
        let content = content.checked().map_err(WindowError::Bad)?;
        let app = app(&content, opening.app).map_err(WindowError::Bad)?;
        let title = if title.trim().is_empty() { id.clone() } else { title };
        let window = Window {
            title: titled(title).map_err(WindowError::Bad)?,
            bounds: placed(bounds.unwrap_or_else(|| self.next_place()))
                .map_err(WindowError::Bad)?,
            id,
            monitor,
            content,
            variant: opening.variant,
            dock_edge: opening.dock_edge,
            frameless: opening.frameless,
            stance: opening.stance,
            app,
            by: by.clone(),
        };
        let key = window.key();
        if self.len() >= MOST && self.get(&key).is_none() {
            return Err(WindowError::TooMany);
        }
        self.fits(&key, &window.content)?;
        Ok(Decision { window: key, facts: vec![Fact::WindowOpened(Box::new(window))] })
    }

    fn decide_changes(
        &self,
        Named { name, monitor }: &Named,
        changes: Vec<WindowChange>,
        by: &By,
    ) -> Result<Decision, WindowError> {
        let mut pane = self.find(name, monitor.as_deref())?.clone();
        let window = pane.window.key();
        let mut facts = Vec::new();
        for change in changes {
            let change = checked(change, &pane).map_err(WindowError::Bad)?;
            if !self.matters(&pane, &change) {
                continue;
            }
            pane.change(pane.raised, &change).map_err(WindowError::Bad)?;
            facts.push(Fact::WindowChanged { window: window.clone(), change, by: by.clone() });
        }
        self.fits(&window, &pane.window.content)?;
        Ok(Decision { window, facts })
    }

    /// Whether anything would be different. Content that is set again is loaded again.
    fn matters(&self, pane: &Pane, change: &WindowChange) -> bool {
        let Window { bounds, stance, .. } = *pane.window;
        match change {
            WindowChange::Moved { x, y } => (bounds.x, bounds.y) != (*x, *y),
            WindowChange::Resized { w, h } => (bounds.w, bounds.h) != (*w, *h),
            WindowChange::Titled { title } => pane.window.title != *title,
            WindowChange::Minimised => stance != Stance::Minimised,
            WindowChange::Maximised => stance != Stance::Maximised,
            WindowChange::Restored => stance != Stance::Normal,
            WindowChange::Focused => {
                let front = self.focused().is_some_and(|front| front.raised == pane.raised);
                !front || stance == Stance::Minimised
            }
            WindowChange::Content { .. } | WindowChange::Updated { .. } => true,
        }
    }

    fn fits(&self, key: &str, content: &Content) -> Result<(), WindowError> {
        let bytes = content.bytes();
        if bytes > CONTENT_BYTES {
            let most = CONTENT_BYTES;
            let text = format!("a window shows at most {most} bytes; that would be {bytes}");
            return Err(WindowError::TooLarge(text));
        }
        let others = self.open.iter().filter(|(other, _)| *other != key);
        let all: usize = others.map(|(_, pane)| pane.window.content.bytes()).sum();
        if all + bytes > ALL_BYTES {
            let text = format!("all windows together show at most {ALL_BYTES} bytes; close some");
            return Err(WindowError::TooLarge(text));
        }
        Ok(())
    }

    fn next_place(&self) -> Bounds {
        let steps = i32::try_from(self.len() % STEPS).unwrap_or_default();
        Bounds { x: FIRST.x + steps * STEP, y: FIRST.y + steps * STEP, ..FIRST }
    }
}

/// The change as it is kept, or what is wrong with it.
fn checked(change: WindowChange, pane: &Pane) -> Result<WindowChange, String> {
    let bounds = pane.window.bounds;
    match &change {
        WindowChange::Moved { x, y } => drop(placed(Bounds { x: *x, y: *y, ..bounds })?),
        WindowChange::Resized { w, h } => drop(placed(Bounds { w: *w, h: *h, ..bounds })?),
        WindowChange::Titled { title } => drop(titled(title.clone())?),
        WindowChange::Content { content } => {
            return Ok(WindowChange::Content { content: content.clone().checked()? });
        }
        // Whether it can be done is found out in doing it.
        WindowChange::Updated { .. }
        | WindowChange::Focused
        | WindowChange::Minimised
        | WindowChange::Maximised
        | WindowChange::Restored => (),
    }
    Ok(change)
}

/// The monitor and the id, from an id that may name both.
fn named(id: &str, monitor: Option<&str>) -> Result<(String, String), String> {
    let id = id.trim();
    let (monitor, id) = match id.split_once('/') {
        Some((monitor, id)) => (monitor_name(monitor), id),
        None => (monitor.map_or_else(|| MONITOR.to_owned(), monitor_name), id),
    };
    let plain = |text: &str| !text.contains(|it: char| it == '/' || it.is_control());
    let fits = |text: &str| (1..=ID_CHARS).contains(&text.chars().count()) && plain(text);
    if !monitor.strip_prefix("monitor-").is_some_and(fits) {
        let shown: String = monitor.chars().take(ID_CHARS).collect();
        return Err(format!(
            "`{shown}` is no monitor; expected `monitor-0` or the like, and no slash in a window's id"
        ));
    }
    if !fits(id) {
        return Err(format!(
            "a window's id has 1 to {ID_CHARS} characters, none of them a slash or a control \
             character"
        ));
    }
    Ok((monitor, id.to_owned()))
}

fn titled(title: String) -> Result<String, String> {
    match title.chars().count() {
        1..=TITLE_CHARS => Ok(title),
        0 => Err("the title is empty".to_owned()),
        many => Err(format!("a title has at most {TITLE_CHARS} characters, not {many}")),
    }
}

fn placed(bounds: Bounds) -> Result<Bounds, String> {
    let Bounds { x, y, w, h } = bounds;
    let near = -FARTHEST..=FARTHEST;
    if !near.contains(&x) || !near.contains(&y) {
        return Err(format!("x and y are from -{FARTHEST} to {FARTHEST}, not {x} and {y}"));
    }
    let size = 1..=LARGEST;
    if !size.contains(&w) || !size.contains(&h) {
        return Err(format!("w and h are from 1 to {LARGEST}, not {w} and {h}"));
    }
    Ok(bounds)
}

/// The app that is shown, which an address of the house names.
fn app(content: &Content, said: Option<String>) -> Result<Option<String>, String> {
    let found = content.app().map(str::to_owned);
    match (found, said) {
        (found, None) => Ok(found),
        (_, Some(said)) if !is_app(&said) => Err(format!(
            "`{said}` is no app's id; expected a small letter, then small letters, digits and hyphens"
        )),
        (Some(found), Some(said)) if found != said => {
            Err(format!("the address is of the app `{found}`, not of `{said}`"))
        }
        (_, said) => Ok(said),
    }
}
