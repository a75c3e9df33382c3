//! Calls that models are writing, as far as they have come: only those whose results are shown in widgets.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::update::{Seq, SessionId};

/// Longer arguments are not followed.
const LARGEST: usize = 1 << 20;

/// A call that is not whole: its session, the step it is of, and its place there.
pub type Place = (SessionId, Seq, usize);

#[derive(Default)]
pub struct Writing(Mutex<HashMap<Place, Written>>);

/// What was written of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The tool, as it is called here.
    pub name: String,
    /// The beginning of its arguments.
    pub args: String,
}

impl Writing {
    /// Adds a piece; says whether it is the first.
    pub(crate) fn add(&self, place: Place, name: &str, args: &str) -> bool {
        let mut calls = self.calls();
        let first = !calls.contains_key(&place);
        let written = calls.entry(place).or_default();
        if written.name.is_empty() {
            name.clone_into(&mut written.name);
        }
        if written.args.len() + args.len() <= LARGEST {
            written.args.push_str(args);
        }
        first
    }

    pub fn get(&self, place: Place) -> Option<Written> {
        self.calls().get(&place).cloned()
    }

    /// A step is over.
    pub(crate) fn end(&self, session: SessionId, step: Seq) {
        self.calls().retain(|(of, at, _), _| (*of, *at) != (session, step));
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<Place, Written>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets what was written in a step when that is over, however it ends.
pub(crate) struct Pen<'a> {
    pub writing: &'a Writing,
    pub session: SessionId,
    pub step: Seq,
}

impl Drop for Pen<'_> {
    fn drop(&mut self) {
        self.writing.end(self.session, self.step);
    }
}
