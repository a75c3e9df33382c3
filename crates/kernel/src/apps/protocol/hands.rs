//! Whose hands a window is in: a person who touches what an agent drives takes it, and it comes back.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use jiff::Timestamp;
use serde_json::Value;

use super::{Answer, CallId, Called, Connection, Effect, Machine, Record, replies::Open};
use crate::{
    apps::{AppFact, Asked, BackReason, Cause, texts},
    windows::{By, Hands},
};

/// A person who has not touched a window for so long has left it.
pub const SILENCE: Duration = Duration::from_mins(5);
/// How long a window stays in the hands of somebody who no longer shows it: a page may only be loaded
/// anew.
const DESERTED: Duration = Duration::from_secs(30);
/// How long an agent waits at most, even for a person who is busy.
pub(super) const LONGEST: Duration = Duration::from_mins(30);
/// How many state keys are told at once, and how long each may be.
const KEYS: usize = 64;
const KEY_BYTES: usize = 200;
/// How much of what the person did is told.
const TOLD: usize = 10;
const TOLD_CHARS: usize = 300;

/// What the person says of a window.
#[derive(Clone, Debug, PartialEq)]
pub struct HandsWish {
    /// Who is told when it is safe, if anybody waits for that.
    pub call: Option<CallId>,
    pub window: String,
    pub monitor: Option<String>,
    pub to: Hands,
}

/// Something that was done is to be taken back.
#[derive(Clone, Debug, PartialEq)]
pub struct Undo {
    pub call: CallId,
    pub window: String,
    pub monitor: Option<String>,
    /// The newest, where none is named.
    pub request: Option<String>,
    pub by: By,
    pub attended: bool,
    pub tool_call: Option<String>,
}

/// What the person did while they had the hands, as an agent is told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meanwhile {
    back: Option<BackReason>,
    keys: BTreeSet<String>,
    told: Vec<String>,
}

impl Meanwhile {
    pub fn back(&mut self, reason: BackReason) {
        self.back = Some(reason);
    }

    pub fn edited(&mut self, keys: &[String]) {
        self.keys.extend(keys.iter().take(KEYS.saturating_sub(self.keys.len())).cloned());
    }

    pub fn told(&mut self, content: &str) {
        if self.told.len() < TOLD {
            self.told.push(content.chars().take(TOLD_CHARS).collect());
        }
    }

    /// None if nobody had taken the window.
    fn note(&self) -> Option<String> {
        let how = match self.back? {
            BackReason::Person => "has handed it back",
            BackReason::Silence => "has not touched it for some minutes",
            BackReason::Left => "no longer shows it",
        };
        let mut note = format!("The person had taken this window over and {how}.");
        if !self.keys.is_empty() {
            let keys: Vec<&str> = self.keys.iter().map(String::as_str).collect();
            note = format!("{note} Meanwhile they changed: {}.", keys.join(", "));
        }
        // In quotes, for these are the words of an app.
        let told = self.told.iter().map(|told| Value::from(told.as_str()));
        let told = told.map(|told| format!("\nThe app told meanwhile: {told}"));
        note.extend(told);
        Some(note + "\nLook at what is there now before you go on.")
    }
}

/// What is true of hands only while somebody looks.
pub(super) struct Holds {
    /// When the person last touched what is in their hands.
    touched: BTreeMap<String, Timestamp>,
    /// Since when nobody shows any window.
    deserted: Option<Timestamp>,
    /// Who waits to change a window.
    awaiting: Vec<Awaiting>,
}

struct Awaiting {
    call: CallId,
    window: String,
    until: Timestamp,
}

impl Holds {
    pub fn resume(record: &Record, now: Timestamp) -> Self {
        let held = held(record).map(|window| (window.to_owned(), now));
        Self { touched: held.collect(), deserted: Some(now), awaiting: Vec::new() }
    }

    pub fn joined(&mut self) {
        self.deserted = None;
    }

    pub fn deserted(&mut self, now: Timestamp) {
        self.deserted = Some(now);
    }

    pub fn abandoned(&mut self, call: CallId) {
        self.awaiting.retain(|awaiting| awaiting.call != call);
    }

    pub fn is_awaited_by_nobody(&self) -> bool {
        self.awaiting.is_empty()
    }

    pub fn alarm(&self, record: &Record) -> Option<Timestamp> {
        let back = held(record).filter_map(|window| self.back(window).map(|(at, _)| at));
        back.chain(self.awaiting.iter().map(|awaiting| awaiting.until)).min()
    }

    /// When a window goes back by itself, and why.
    fn back(&self, window: &str) -> Option<(Timestamp, BackReason)> {
        let silent = *self.touched.get(window)? + SILENCE;
        match self.deserted.map(|since| since + DESERTED) {
            Some(left) if left < silent => Some((left, BackReason::Left)),
            _ => Some((silent, BackReason::Silence)),
        }
    }
}

/// The windows in the hands of the person.
fn held(record: &Record) -> impl Iterator<Item = &str> {
    let is_held = |key: &&str| record.window(key).is_some_and(|past| past.hands == Hands::Person);
    record.keys().filter(is_held)
}

impl Machine {
    pub(super) fn touched(&mut self, by: Connection, name: &str, monitor: Option<&str>) {
        let Some(window) = self.shown_by(by, name, monitor) else { return };
        if !self.is_in_persons_hands(&window) {
            if !self.is_driven(&window) {
                return;
            }
            self.note(AppFact::HandsTaken { window: window.clone() });
        }
        self.holds.touched.insert(window, self.now);
    }

    /// Told once for each key, until an agent does something again.
    pub(super) fn edited(&mut self, window: &str, keys: &[String]) {
        let Some(past) = self.record.window(window) else { return };
        let room = KEYS.saturating_sub(past.edited.len());
        let is_new = |key: &&String| key.len() <= KEY_BYTES && !past.edited.contains(*key);
        let keys: BTreeSet<String> = keys.iter().filter(is_new).take(room).cloned().collect();
        if !keys.is_empty() {
            let keys = keys.into_iter().collect();
            self.note(AppFact::Edited { window: window.to_owned(), keys });
        }
    }

    pub(super) fn handed(&mut self, HandsWish { call, window, monitor, to }: HandsWish) {
        let window = match self.find(&window, monitor.as_deref()) {
            Ok(window) => window,
            Err(text) => {
                if let Some(call) = call {
                    self.refuse(call, text);
                }
                return;
            }
        };
        let is_held = self.is_in_persons_hands(&window);
        if to == Hands::Agent && is_held {
            self.give_back(&window, BackReason::Person);
        }
        if to == Hands::Person && !is_held {
            self.note(AppFact::HandsTaken { window: window.clone() });
        }
        if to == Hands::Person {
            self.holds.touched.insert(window, self.now);
        }
        if let Some(call) = call {
            let answer = Answer::Free { note: None };
            self.effects.push(Effect::Reply { call, answer, safe: true });
        }
    }

    pub(super) fn awaited(
        &mut self,
        call: CallId,
        name: &str,
        monitor: Option<&str>,
        attended: bool,
    ) {
        // What is not there is found missing by whoever wants to change it.
        let found = self.find(name, monitor).ok();
        let Some(window) = found.filter(|window| self.is_in_persons_hands(window)) else {
            let found = self.find(name, monitor).ok();
            let past = found.and_then(|window| self.record.window(&window));
            let answer = Answer::Free { note: past.and_then(|past| past.meanwhile.note()) };
            return self.effects.push(Effect::Reply { call, answer, safe: false });
        };
        if !attended {
            return self.refuse(call, texts::IN_PERSONS_HANDS);
        }
        self.holds.awaiting.push(Awaiting { call, window, until: self.now + LONGEST });
    }

    pub(super) fn undo(&mut self, undo: Undo) {
        let Undo { call, window: name, monitor, request, by, attended, tool_call } = undo;
        let window = match self.find(&name, monitor.as_deref()) {
            Ok(window) => window,
            Err(text) => return self.refuse(call, text),
        };
        let Some(past) = self.record.window(&window) else { return };
        let (request, asked) = match past.deeds.to_undo(request.as_deref(), &name) {
            Ok((deed, inverse)) => {
                let (command, params) = (inverse.command.clone(), inverse.params.clone());
                (deed.request.clone(), Asked::Command { command, params })
            }
            Err(text) => return self.refuse(call, text),
        };
        if self.is_being_undone(&request) {
            return self.refuse(call, texts::BEING_UNDONE);
        }
        let (key, cause, undoes) = (None, Cause::Tool, Some(request));
        let window = name;
        self.called(Called {
            call,
            window,
            monitor,
            asked,
            key,
            cause,
            tool_call,
            by,
            attended,
            undoes,
        });
    }

    /// What is told with a result, to whoever is no person.
    pub(super) fn note_for(&self, open: &Open) -> Option<String> {
        if !open.is_command() || open.by == Some(By::Person) {
            return None;
        }
        let past = self.record.window(&open.window)?;
        past.meanwhile.note().filter(|_| past.hands == Hands::Agent)
    }

    /// Does what is due.
    pub(super) fn hands_due(&mut self) {
        let backs = held(&self.record)
            .filter_map(|window| Some((window.to_owned(), self.holds.back(window)?)));
        let due = backs.filter(|(_, (at, _))| *at <= self.now);
        for (window, (_, reason)) in due.collect::<Vec<_>>() {
            self.give_back(&window, reason);
        }
        let now = self.now;
        let over = self.holds.awaiting.extract_if(.., |awaiting| awaiting.until <= now);
        for Awaiting { call, .. } in over.collect::<Vec<_>>() {
            self.refuse(call, texts::STILL_IN_PERSONS_HANDS);
        }
    }

    /// Lets those go on who wait for a window that is in nobody's hands.
    pub(super) fn release(&mut self, window: &str) {
        if self.is_in_persons_hands(window) {
            return;
        }
        self.holds.touched.remove(window);
        let note = self.record.window(window).and_then(|past| past.meanwhile.note());
        let free = self.holds.awaiting.extract_if(.., |awaiting| awaiting.window == window);
        for Awaiting { call, .. } in free.collect::<Vec<_>>() {
            let answer = Answer::Free { note: note.clone() };
            self.effects.push(Effect::Reply { call, answer, safe: true });
        }
    }

    fn give_back(&mut self, window: &str, reason: BackReason) {
        self.note(AppFact::HandsBack { window: window.to_owned(), reason });
        self.release(window);
        self.advance(window);
    }

    fn shown_by(&self, by: Connection, name: &str, monitor: Option<&str>) -> Option<String> {
        self.find(name, monitor).ok().filter(|_| self.connections.contains(&by))
    }

    fn is_in_persons_hands(&self, window: &str) -> bool {
        self.record.window(window).is_some_and(|past| past.hands == Hands::Person)
    }

    /// Whether anybody but the person is doing something there.
    fn is_driven(&self, window: &str) -> bool {
        let is_busy = |open: &Open| {
            let by_person = open.by.as_ref().is_none_or(|by| *by == By::Person);
            open.window == window && open.is_command() && !open.is_late && !by_person
        };
        let driven = self.record.window(window).is_some_and(|past| past.driven);
        driven || self.open.values().any(is_busy)
    }
}
