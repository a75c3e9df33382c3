//! The windows of a session: a fold over facts, held in memory while somebody looks.

mod content;
mod window;
mod wish;

use std::{collections::BTreeMap, sync::Arc};

pub use content::{Content, Operation, Renderer, is_app};
pub use window::{
    Bounds, By, DockEdge, Hands, MONITOR, Stance, Variant, Window, WindowChange, key,
};
pub(crate) use wish::Decision;
pub use wish::{ALL_BYTES, CONTENT_BYTES, MOST, Named, Opening, WindowError, Wish};

use crate::{
    apps::AppFact,
    update::{Entry, Fact, Seq},
};

/// What is open, by scoped id. The same whether it was heard fact by fact or read from the log,
/// from [`crate::state::State::windows_from`] on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Windows {
    open: BTreeMap<String, Pane>,
}

/// A window that is open.
#[derive(Clone, Debug, PartialEq)]
pub struct Pane {
    pub window: Arc<Window>,
    /// Rises whenever it shows something else, also if it is the same again: the place of the fact
    /// that said so. How often an app has loaded within it, the protocol of apps counts.
    pub generation: u64,
    /// The oldest fact that it, or what was done in it, is built from.
    pub since: Seq,
    /// Where it last came to the front.
    pub raised: Seq,
    pub hands: Hands,
    /// Whether an agent has done something in it, in the turn that goes on.
    pub driven: bool,
}

impl Windows {
    pub fn apply(&mut self, Entry { seq, fact, .. }: &Entry) {
        match fact {
            Fact::WindowOpened(window) => self.opened(*seq, window),
            Fact::WindowChanged { window, change, by } => {
                if let Some(pane) = self.open.get_mut(window) {
                    pane.driven |= change.drives(by);
                    // It could be done when it was recorded; what cannot any more changes nothing.
                    pane.change(*seq, change).ok();
                }
            }
            Fact::WindowClosed { window, .. } => drop(self.open.remove(window)),
            Fact::App(fact) => self.heard(fact),
            Fact::TurnEnded(_) => self.open.values_mut().for_each(|pane| pane.driven = false),
            _ => (),
        }
    }

    /// Whether anything would be different after this.
    pub(crate) fn hears(&self, fact: &Fact) -> bool {
        match fact {
            Fact::App(fact) => matches!(
                **fact,
                AppFact::HandsTaken { .. } | AppFact::HandsBack { .. } | AppFact::Request(_)
            ),
            Fact::TurnEnded(_) => self.open.values().any(|pane| pane.driven),
            fact => fact.is_of_windows(),
        }
    }

    fn heard(&mut self, fact: &AppFact) {
        let (window, hands) = match fact {
            AppFact::HandsTaken { window } => (window, Hands::Person),
            AppFact::HandsBack { window, .. } => (window, Hands::Agent),
            AppFact::Request(request) => {
                if let Some(pane) = self.open.get_mut(&request.window) {
                    pane.driven |= request.drives();
                }
                return;
            }
            _ => return,
        };
        if let Some(pane) = self.open.get_mut(window) {
            pane.hands = hands;
        }
    }

    fn opened(&mut self, seq: Seq, window: &Window) {
        let key = window.key();
        let same = self.open.get(&key).filter(|old| old.goes_on_in(window));
        let since = same.map_or(seq, |old| old.since);
        let window = Arc::new(window.clone());
        let (hands, driven) = (Hands::Agent, false);
        let pane = Pane { window, generation: seq.0, since, raised: seq, hands, driven };
        self.open.insert(key, pane);
    }

    pub fn get(&self, key: &str) -> Option<&Pane> {
        self.open.get(key)
    }

    /// The window that somebody means who says this: its scoped id, or the last part of it. Where
    /// several are meant, it is the one on the caller's own monitor.
    pub fn find(&self, name: &str, monitor: Option<&str>) -> Result<&Pane, WindowError> {
        if let Some(pane) = self.open.get(name).or_else(|| self.open.get(&scoped(name)?)) {
            return Ok(pane);
        }
        let mut hits = self.open.values().filter(|pane| pane.window.id == name);
        match (hits.next(), hits.next()) {
            (None, _) => Err(WindowError::Unknown(name.to_owned())),
            (Some(only), None) => Ok(only),
            (Some(_), Some(_)) => {
                let own = monitor.and_then(|own| self.open.get(&key(&monitor_name(own), name)));
                own.ok_or_else(|| self.ambiguous(name))
            }
        }
    }

    fn ambiguous(&self, name: &str) -> WindowError {
        let hits = self.open.iter().filter(|(_, pane)| pane.window.id == name);
        let keys = hits.map(|(key, _)| key.clone()).collect();
        WindowError::Ambiguous { name: name.to_owned(), keys }
    }

    /// In the order in which they were opened.
    pub fn list(&self) -> Vec<&Pane> {
        let mut panes: Vec<&Pane> = self.open.values().collect();
        panes.sort_by_key(|pane| pane.since);
        panes
    }

    /// The one at the front last.
    pub fn stacked(&self) -> Vec<&Pane> {
        let mut panes: Vec<&Pane> = self.open.values().collect();
        panes.sort_by_key(|pane| pane.raised);
        panes
    }

    /// The one at the front, of those that can be seen.
    pub fn focused(&self) -> Option<&Pane> {
        let seen = self.open.values().filter(|pane| pane.window.stance != Stance::Minimised);
        seen.max_by_key(|pane| pane.raised)
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The oldest fact that all but this one are built from.
    fn left_without(&self, key: &str) -> Option<Seq> {
        let others = self.open.iter().filter(|(other, _)| *other != key);
        others.map(|(_, pane)| pane.since).min()
    }
}

impl Pane {
    /// Whether what was done in the app of this window still counts in one that is opened over it.
    fn goes_on_in(&self, next: &Window) -> bool {
        let same_app = next.app.is_some() && self.window.app == next.app;
        same_app || self.window.content == next.content
    }

    fn change(&mut self, seq: Seq, change: &WindowChange) -> Result<(), String> {
        let window = Arc::make_mut(&mut self.window);
        match change {
            WindowChange::Moved { x, y } => (window.bounds.x, window.bounds.y) = (*x, *y),
            WindowChange::Resized { w, h } => (window.bounds.w, window.bounds.h) = (*w, *h),
            WindowChange::Titled { title } => window.title.clone_from(title),
            WindowChange::Content { content } => {
                window.content.clone_from(content);
                window.app = window.content.app().map(str::to_owned);
            }
            WindowChange::Updated { operation } => {
                window.content.update(operation)?;
                window.app = window.content.app().map(str::to_owned);
            }
            WindowChange::Minimised => window.stance = Stance::Minimised,
            WindowChange::Maximised => window.stance = Stance::Maximised,
            WindowChange::Restored => window.stance = Stance::Normal,
            WindowChange::Focused if window.stance == Stance::Minimised => {
                window.stance = Stance::Normal;
            }
            WindowChange::Focused => (),
        }
        if change.is_of_content() {
            self.generation = seq.0;
        }
        if change.raises() {
            self.raised = seq;
        }
        Ok(())
    }
}

/// A scoped id as we write it, from one as others do: `0/dock`.
fn scoped(name: &str) -> Option<String> {
    let (monitor, id) = name.split_once('/')?;
    Some(key(&monitor_name(monitor), id))
}

/// Others number their monitors.
fn monitor_name(name: &str) -> String {
    let numbered = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if numbered { format!("monitor-{name}") } else { name.to_owned() }
}
