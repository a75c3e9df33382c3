//! Whose hands windows are in, for those who asked to hear of it.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{
    apps::AppFact,
    update::{Fact, Origin},
    windows::{self, By, WindowChange, Windows},
};

use super::{super::frames::Action, split};

/// What has been told so far, by the scoped ids of windows.
#[derive(Default)]
pub struct Hands {
    held: BTreeSet<String>,
    driven: BTreeSet<String>,
    /// Whose history grows when these are answered.
    asked: BTreeMap<String, String>,
}

/// Something to be told of a window.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    Hands { window: String, is_held: bool, is_driven: bool },
    Noted { window: String },
}

impl Word {
    pub fn window(&self) -> &str {
        let (Self::Hands { window, .. } | Self::Noted { window }) = self;
        window
    }

    pub fn action(&self) -> Action<'_> {
        let (_, window_id) = split(self.window());
        match self {
            Self::Hands { is_held, is_driven, .. } => {
                let hands = if *is_held { "person" } else { "agent" };
                Action::Hands { window_id, hands, driven: *is_driven }
            }
            Self::Noted { .. } => Action::Noted { window_id },
        }
    }
}

impl Hands {
    /// As they are when somebody comes; what is as usual need not be said.
    pub fn of(windows: &Windows) -> (Self, Vec<Word>) {
        let mut hands = Self::default();
        for pane in windows.list() {
            let key = pane.window.key();
            if pane.hands == windows::Hands::Person {
                hands.held.insert(key.clone());
            }
            if pane.driven {
                hands.driven.insert(key);
            }
        }
        let unusual: BTreeSet<&String> = hands.held.union(&hands.driven).collect();
        let words = unusual.into_iter().map(|window| hands.word(window)).collect();
        (hands, words)
    }

    pub fn fact(&mut self, fact: &Fact) -> Vec<Word> {
        match fact {
            Fact::WindowOpened(window) => {
                self.forget(&window.key());
                Vec::new()
            }
            Fact::WindowClosed { window, .. } => {
                self.forget(window);
                Vec::new()
            }
            Fact::WindowChanged { window, change, by } => {
                let noted = Word::Noted { window: window.clone() };
                let drives = *by == By::Agent && *change != WindowChange::Focused;
                let driven = drives.then(|| self.drive(window)).flatten();
                driven.into_iter().chain([noted]).collect()
            }
            Fact::TurnEnded(_) => {
                let rested = std::mem::take(&mut self.driven);
                rested.iter().map(|window| self.word(window)).collect()
            }
            Fact::Said { message, .. } | Fact::Queued(message) => match &message.origin {
                Origin::App { window: Some(window), .. } => {
                    vec![Word::Noted { window: window.clone() }]
                }
                _ => Vec::new(),
            },
            Fact::App(fact) => self.app(fact),
            _ => Vec::new(),
        }
    }

    fn app(&mut self, fact: &AppFact) -> Vec<Word> {
        let noted = |window: &String| Word::Noted { window: window.clone() };
        match fact {
            AppFact::HandsTaken { window } => {
                self.held.insert(window.clone());
                vec![self.word(window), noted(window)]
            }
            AppFact::HandsBack { window, .. } => {
                self.held.remove(window);
                vec![self.word(window), noted(window)]
            }
            AppFact::Request(request) if request.is_wanted() => {
                self.asked.insert(request.request.clone(), request.window.clone());
                let driven = request.drives().then(|| self.drive(&request.window)).flatten();
                driven.into_iter().chain([noted(&request.window)]).collect()
            }
            AppFact::Response { request, .. } | AppFact::Failed { request, .. } => {
                self.asked.remove(request).iter().map(noted).collect()
            }
            AppFact::Edited { window, .. }
            | AppFact::Interaction { window, .. }
            | AppFact::File { window, .. } => vec![noted(window)],
            _ => Vec::new(),
        }
    }

    /// Says so if it is news.
    fn drive(&mut self, window: &str) -> Option<Word> {
        self.driven.insert(window.to_owned()).then(|| self.word(window))
    }

    fn forget(&mut self, window: &str) {
        self.held.remove(window);
        self.driven.remove(window);
    }

    fn word(&self, window: &str) -> Word {
        let (is_held, is_driven) = (self.held.contains(window), self.driven.contains(window));
        Word::Hands { window: window.to_owned(), is_held, is_driven }
    }
}
