//! What apps have carried out that can be taken back, and which of it still can be.

use std::collections::{BTreeSet, VecDeque};

use crate::apps::{Inverse, texts};

/// How many of a window are remembered.
const MOST: usize = 100;

/// In the order in which they were carried out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deeds(VecDeque<Deed>);

#[derive(Clone, Debug, PartialEq)]
pub struct Deed {
    pub request: String,
    pub command: String,
    pub inverse: Option<Inverse>,
    /// The request that it took back.
    pub undoes: Option<String>,
    /// Whether the person has changed something since.
    is_passed: bool,
}

/// What may be done about something that was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reversal {
    Undoable,
    Undone,
    /// Others came after it.
    Covered,
    /// The person has changed something since, and the app does not say which change was which.
    Passed,
}

impl Deeds {
    pub fn note(
        &mut self,
        request: String,
        command: String,
        inverse: Option<Inverse>,
        undoes: Option<String>,
    ) {
        if inverse.is_none() && undoes.is_none() {
            return;
        }
        self.0.push_back(Deed { request, command, inverse, undoes, is_passed: false });
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    /// The person has changed something.
    pub fn pass(&mut self) {
        self.0.iter_mut().for_each(|deed| deed.is_passed = true);
    }

    /// None of what cannot be taken back at all.
    pub fn standing(&self, request: &str) -> Option<Reversal> {
        let place = self.0.iter().position(|deed| deed.request == request)?;
        let deed = &self.0[place];
        let inverse = deed.inverse.as_ref()?;
        let undone = self.undone();
        Some(if undone.contains(request) {
            Reversal::Undone
        } else if self.is_covered(place, &undone) {
            Reversal::Covered
        } else if deed.is_passed && !inverse.exact {
            Reversal::Passed
        } else {
            Reversal::Undoable
        })
    }

    /// What is to be taken back: this one, or the newest that is no taking back itself. Or why not.
    pub fn to_undo(
        &self,
        request: Option<&str>,
        window: &str,
    ) -> Result<(&Deed, &Inverse), String> {
        let found = if let Some(request) = request {
            self.0.iter().find(|deed| deed.request == request)
        } else {
            let undone = self.undone();
            let stands = |deed: &&Deed| !undone.contains(deed.request.as_str());
            self.0.iter().rev().filter(stands).find(|deed| deed.undoes.is_none())
        };
        let deed = found.ok_or_else(|| texts::nothing_to_undo(window))?;
        let Some(inverse) = &deed.inverse else { return Err(texts::nothing_to_undo(window)) };
        match self.standing(&deed.request) {
            Some(Reversal::Undoable) => Ok((deed, inverse)),
            Some(Reversal::Undone) => Err(texts::undone_already(&deed.command)),
            Some(Reversal::Covered) => Err(texts::covered(&deed.command)),
            Some(Reversal::Passed) => Err(texts::passed(&deed.command)),
            None => Err(texts::nothing_to_undo(window)),
        }
    }

    /// What was taken back, and not done again since by taking that back.
    fn undone(&self) -> BTreeSet<&str> {
        let mut undone = BTreeSet::new();
        for deed in self.0.iter().rev() {
            if let Some(other) = &deed.undoes
                && !undone.contains(deed.request.as_str())
            {
                undone.insert(other.as_str());
            }
        }
        undone
    }

    /// Whether something came after it that still counts: what was done and taken back does not.
    fn is_covered(&self, place: usize, undone: &BTreeSet<&str>) -> bool {
        let later: Vec<&Deed> = self.0.iter().skip(place + 1).collect();
        let is_later = |request: &str| later.iter().any(|deed| deed.request == request);
        let cancels = |deed: &Deed| deed.undoes.as_deref().is_some_and(is_later);
        later.iter().any(|deed| !undone.contains(deed.request.as_str()) && !cancels(deed))
    }
}
