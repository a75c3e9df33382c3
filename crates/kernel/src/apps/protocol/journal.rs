//! The commands that an app has carried out, and which loads of it have seen which of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::apps::Keep;

/// How many commands of a window are kept to be played again, and how much they may take up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub entries: usize,
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 10_000, bytes: 64 << 20 }
    }
}

/// In the order in which they were sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journal {
    entries: BTreeMap<u64, Entry>,
    bytes: usize,
    /// Where the newest command is of each name that is kept only once.
    newest: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub command: String,
    pub params: Option<Value>,
    pub keep: Keep,
    /// The app that carried it out, by its own name.
    pub app: Option<String>,
}

impl Entry {
    fn bytes(&self) -> usize {
        let params = self.params.as_ref().map_or(0, |params| params.to_string().len());
        self.command.len() + params
    }
}

/// Whether a command was taken into the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    Kept,
    /// It need not be played again.
    Passed,
    Full,
}

impl Journal {
    pub fn note(&mut self, position: u64, entry: Entry, limits: Limits) -> Noted {
        match entry.keep {
            Keep::Never => return Noted::Passed,
            Keep::Last => {
                if self.newest.get(&entry.command).is_some_and(|newest| *newest > position) {
                    return Noted::Passed;
                }
                if let Some(older) = self.newest.remove(&entry.command) {
                    self.remove(older);
                }
            }
            Keep::Always => (),
        }
        let bytes = entry.bytes();
        if self.entries.len() >= limits.entries || self.bytes + bytes > limits.bytes {
            return Noted::Full;
        }
        if entry.keep == Keep::Last {
            self.newest.insert(entry.command.clone(), position);
        }
        self.bytes += bytes;
        self.entries.insert(position, entry);
        Noted::Kept
    }

    pub fn get(&self, position: u64) -> Option<&Entry> {
        self.entries.get(&position)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn newest(&self) -> Option<&Entry> {
        self.entries.last_key_value().map(|(_, entry)| entry)
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn remove(&mut self, position: u64) {
        if let Some(entry) = self.entries.remove(&position) {
            self.bytes -= entry.bytes();
        }
    }
}

/// One document that an app was loaded into, and how far in the journal it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    pub instance: Option<String>,
    /// When it was last heard of, counted in registrations.
    pub heard: u64,
    upto: u64,
    /// What it has not seen of all that.
    lacks: BTreeSet<u64>,
    /// What it was sent last to bring it up to date, if that has no outcome.
    doubtful: Option<u64>,
}

impl Load {
    pub fn new(instance: Option<String>) -> Self {
        Self { instance, ..Self::default() }
    }

    /// The next command that it has not seen.
    pub fn next(&self, journal: &Journal) -> Option<u64> {
        let passed = self.lacks.iter().copied().find(|at| journal.entries.contains_key(at));
        passed.or_else(|| journal.entries.range(self.upto + 1..).next().map(|(at, _)| *at))
    }

    /// It has seen this one, or has been sent it at least.
    pub fn saw(&mut self, position: u64, journal: &Journal) {
        self.lacks.remove(&position);
        if position > self.upto {
            let between = journal.entries.range(self.upto + 1..position);
            self.lacks.extend(between.map(|(at, _)| *at));
            self.upto = position;
        }
    }

    /// It was sent this one to bring it up to date. It may run, and so it is not sent again, unless
    /// the client says that it never came.
    pub fn is_given(&mut self, position: u64, journal: &Journal) {
        self.saw(position, journal);
        self.doubtful = Some(position);
    }

    pub fn took(&mut self, position: u64) {
        self.doubtful.take_if(|doubtful| *doubtful == position);
    }

    /// The client says that this is the furthest one that came. What was before it came as well,
    /// though perhaps nobody had the time to write that down.
    pub fn was_given(&mut self, position: u64, journal: &Journal) {
        if let Some(lost) = self.doubtful.take().filter(|doubtful| *doubtful > position) {
            self.missed(lost);
        }
        while let Some(next) = self.next(journal).filter(|next| *next <= position) {
            self.saw(next, journal);
        }
    }

    /// Another has seen this one.
    pub fn missed(&mut self, position: u64) {
        if position <= self.upto {
            self.lacks.insert(position);
        }
    }

    pub fn forget_journal(&mut self) {
        self.lacks.clear();
        self.doubtful = None;
    }
}
