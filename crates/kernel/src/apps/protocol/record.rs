//! What the facts of a session add up to for the App Protocol: journals, loads, keys, open requests.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use super::{
    deeds::Deeds,
    hands::Meanwhile,
    journal::{Entry, Journal, Limits, Load, Noted},
};
use crate::{
    apps::{AppFact, AppRequest, Asked, Cause, FailedReason, Inverse, Keep, Kind, Response},
    windows::Hands,
};

/// How many documents of a window are remembered, and how many commands that have no reply in time.
const LOADS: usize = 64;
const LATE: usize = 1000;
/// How many keys of a window are remembered.
const KEYS: usize = 1000;

/// A window, as far as an app in it is concerned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// What is in the frame, if it is one: the address of an app.
    pub frame: Option<Value>,
    pub app: Option<String>,
}

/// What happens to windows, as far as apps in them are concerned. They are named by their scoped ids.
#[derive(Clone, Debug, PartialEq)]
pub enum WindowEvent {
    /// Perhaps over one of the same name.
    Opened {
        window: String,
        shown: Shown,
    },
    /// It shows this from now on.
    Changed {
        window: String,
        shown: Shown,
    },
    Closed {
        window: String,
    },
    /// An agent has changed it.
    Driven {
        window: String,
    },
    /// With it ends what the agent was about, in every window.
    TurnEnded,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    windows: BTreeMap<String, Past>,
    /// Requests without an outcome, and commands that may still have a late one.
    pending: BTreeMap<String, Pending>,
    late: VecDeque<String>,
    limits: Limits,
}

/// What a window has been through since it was opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Past {
    pub shown: Shown,
    pub generation: u64,
    /// Whether an app has registered since the content came.
    pub registered: bool,
    /// How many commands were sent.
    pub sent: u64,
    pub journal: Journal,
    pub hands: Hands,
    /// Whether an agent has done something here, in the turn that goes on.
    pub driven: bool,
    /// What the person has done since they had the hands, until an agent is told of it.
    pub meanwhile: Meanwhile,
    /// What the person has changed since an agent last did something.
    pub edited: BTreeSet<String>,
    pub deeds: Deeds,
    loads: BTreeMap<u64, Load>,
    heard: u64,
    keys: BTreeMap<(String, String), Bound>,
    /// Of keys, the oldest first.
    bound: VecDeque<(String, String)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    pub asked: AppRequest,
    pub is_late: bool,
}

/// What a caller's own key for a command stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub request: String,
    pub command: String,
    pub params: Option<Value>,
    pub reply: Option<Response>,
}

impl Bound {
    pub fn is_for(&self, command: &str, params: Option<&Value>) -> bool {
        self.command == command && self.params.as_ref() == params
    }
}

impl Record {
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    pub fn window(&self, key: &str) -> Option<&Past> {
        self.windows.get(key)
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.windows.keys().map(String::as_str)
    }

    /// Requests that have no outcome.
    pub fn unanswered(&self) -> Vec<String> {
        let open = self.pending.iter().filter(|(_, pending)| !pending.is_late);
        open.map(|(id, _)| id.clone()).collect()
    }

    pub fn seen(&mut self, event: &WindowEvent) {
        match event {
            WindowEvent::Opened { window, shown } => {
                let past = self.windows.entry(window.clone()).or_default();
                (past.hands, past.driven) = (Hands::Agent, false);
                past.meanwhile = Meanwhile::default();
                past.generation += 1;
                past.registered = false;
                past.show(shown);
            }
            WindowEvent::Changed { window, shown } => {
                let Some(past) = self.windows.get_mut(window) else { return };
                if past.shown != *shown {
                    past.generation += 1;
                    past.registered = false;
                    past.show(shown);
                }
            }
            WindowEvent::Closed { window } => {
                self.windows.remove(window);
                let pending = &mut self.pending;
                pending.retain(|_, pending| !pending.is_late || pending.asked.window != *window);
                self.late.retain(|id| pending.contains_key(id));
            }
            WindowEvent::Driven { window } => {
                if let Some(past) = self.windows.get_mut(window) {
                    past.drive();
                    past.tell();
                }
            }
            WindowEvent::TurnEnded => {
                self.windows.values_mut().for_each(|past| past.driven = false);
            }
        }
    }

    /// Takes a fact in. Says what became of a command that was carried out.
    pub fn apply(&mut self, fact: &AppFact) -> Option<Noted> {
        match fact {
            AppFact::Ready { window, instance, generation, replayed, .. } => {
                let past = self.windows.get_mut(window)?;
                past.ready(instance.clone(), *generation, *replayed);
            }
            AppFact::Request(request) => self.requested(request),
            AppFact::Response { request, response, keep, inverse, .. } => {
                return self.answered(request, response, *keep, inverse.as_ref());
            }
            AppFact::Failed { request, reason } => self.failed(request, *reason),
            AppFact::Retired { window } => {
                self.windows.get_mut(window)?.retire();
            }
            AppFact::HandsTaken { window } => {
                let past = self.windows.get_mut(window)?;
                past.hands = Hands::Person;
                past.meanwhile = Meanwhile::default();
            }
            AppFact::HandsBack { window, reason } => {
                let past = self.windows.get_mut(window)?;
                past.hands = Hands::Agent;
                past.meanwhile.back(*reason);
            }
            AppFact::Edited { window, keys } => {
                let past = self.windows.get_mut(window)?;
                past.edited.extend(keys.iter().cloned());
                past.deeds.pass();
                if past.hands == Hands::Person {
                    past.meanwhile.edited(keys);
                }
            }
            AppFact::Interaction { window, content, .. } => {
                let past = self.windows.get_mut(window)?;
                if past.hands == Hands::Person {
                    past.meanwhile.told(content);
                }
            }
            AppFact::Lost { .. }
            | AppFact::Owner { .. }
            | AppFact::Rejected { .. }
            | AppFact::Replay { .. }
            | AppFact::File { .. } => (),
        }
        None
    }

    fn requested(&mut self, request: &AppRequest) {
        let pending = Pending { asked: request.clone(), is_late: false };
        self.pending.insert(request.request.clone(), pending);
        let Some(past) = self.windows.get_mut(&request.window) else { return };
        let (Asked::Command { command, params }, Some(position)) =
            (&request.asked, request.position)
        else {
            return;
        };
        if request.cause == Cause::Replay {
            if let Some(load) = past.loads.get_mut(&request.generation) {
                load.is_given(position, &past.journal);
            }
            return;
        }
        past.sent = past.sent.max(position);
        if request.drives() {
            past.drive();
        }
        if !past.knows(request.generation) {
            return;
        }
        if let Some(key) = &request.idempotency_key {
            let (request, command) = (request.request.clone(), command.clone());
            past.bind(key, Bound { request, command, params: params.clone(), reply: None });
        }
    }

    fn answered(
        &mut self,
        id: &str,
        response: &Response,
        told: Option<Keep>,
        inverse: Option<&Inverse>,
    ) -> Option<Noted> {
        let Pending { asked: request, is_late } = self.pending.remove(id)?;
        if is_late {
            self.late.retain(|late| late != id);
        }
        let past = self.windows.get_mut(&request.window)?;
        if request.drives() {
            past.tell();
        }
        let AppRequest { generation, keep, by_app: app, undoes, .. } = request;
        let (Asked::Command { command, params }, Some(position)) =
            (request.asked, request.position)
        else {
            return None;
        };
        if request.cause == Cause::Replay {
            past.took(generation, position);
            return None;
        }
        // A load that is not known was in the window before it showed what it shows.
        if !past.knows(generation) {
            return None;
        }
        if let Some(bound) = request.idempotency_key.and_then(|key| past.bound_mut(&key, id)) {
            bound.reply = Some(response.clone());
        }
        if response.kind != Some(Kind::Command) || response.error.is_some() {
            return None;
        }
        past.deeds.note(id.to_owned(), command.clone(), inverse.cloned(), undoes);
        let entry = Entry { command, params, keep: told.unwrap_or(keep), app };
        let noted = past.journal.note(position, entry, self.limits);
        if noted == Noted::Kept {
            past.carried_out(generation, position);
        }
        Some(noted)
    }

    fn failed(&mut self, id: &str, reason: FailedReason) {
        let Some(pending) = self.pending.get_mut(id) else { return };
        let AppRequest { cause, generation, position, .. } = pending.asked;
        let is_command = pending.asked.asked.kind() == Kind::Command;
        if reason != FailedReason::Timeout || !is_command || cause == Cause::Replay {
            let pending = self.pending.remove(id);
            let past = pending.and_then(|it| self.windows.get_mut(&it.asked.window));
            // Where whoever was asked is gone, it is for them to say when they come back.
            if let (Some(past), Some(position), true) =
                (past, position, cause == Cause::Replay && reason != FailedReason::OwnerLost)
            {
                past.took(generation, position);
            }
            return;
        }
        pending.is_late = true;
        self.late.push_back(id.to_owned());
        if self.late.len() > LATE
            && let Some(oldest) = self.late.pop_front()
        {
            self.pending.remove(&oldest);
        }
    }
}

impl Past {
    /// What the document of a load calls itself.
    pub fn instance(&self, generation: u64) -> Option<&str> {
        self.loads.get(&generation)?.instance.as_deref()
    }

    /// The load that a document with this name is.
    pub fn load_of(&self, instance: &str) -> Option<u64> {
        let found = self.loads.iter().find(|(_, load)| load.instance.as_deref() == Some(instance));
        found.map(|(generation, _)| *generation)
    }

    pub fn knows(&self, generation: u64) -> bool {
        self.loads.contains_key(&generation)
    }

    /// What the next document is called that loads here.
    pub fn next_generation(&self) -> u64 {
        if self.registered { self.generation + 1 } else { self.generation }
    }

    /// The next command that a load has not seen.
    pub fn lacking(&self, generation: u64) -> Option<u64> {
        self.loads.get(&generation)?.next(&self.journal)
    }

    pub fn bound(&self, key: &str) -> Option<&Bound> {
        self.keys.get(&(self.scope(), key.to_owned()))
    }

    fn bound_mut(&mut self, key: &str, request: &str) -> Option<&mut Bound> {
        let bound = self.keys.get_mut(&(self.scope(), key.to_owned()));
        bound.filter(|bound| bound.request == request)
    }

    fn bind(&mut self, key: &str, bound: Bound) {
        let name = (self.scope(), key.to_owned());
        if self.keys.insert(name.clone(), bound).is_none() {
            self.bound.push_back(name);
        }
        if self.bound.len() > KEYS
            && let Some(oldest) = self.bound.pop_front()
        {
            self.keys.remove(&oldest);
        }
    }

    /// Keys are for one app: the window's, or else whatever has this address.
    fn scope(&self) -> String {
        match (&self.shown.app, &self.shown.frame) {
            (Some(app), _) => format!("app {app}"),
            (None, frame) => format!("frame {}", frame.as_ref().unwrap_or(&Value::Null)),
        }
    }

    fn show(&mut self, shown: &Shown) {
        if self.shown != *shown {
            self.shown = shown.clone();
            self.journal.clear();
            self.deeds = Deeds::default();
            self.loads.clear();
        }
    }

    fn ready(&mut self, instance: Option<String>, generation: u64, replayed: Option<u64>) {
        if generation < self.generation && !self.knows(generation) {
            return;
        }
        self.heard += 1;
        self.generation = self.generation.max(generation);
        self.registered = true;
        let load = self.loads.entry(generation).or_insert_with(|| Load::new(instance));
        load.heard = self.heard;
        if let Some(replayed) = replayed {
            load.was_given(replayed, &self.journal);
        }
        if self.loads.len() > LOADS {
            let oldest = self.loads.iter().min_by_key(|(_, load)| load.heard);
            if let Some(oldest) = oldest.map(|(generation, _)| *generation) {
                self.loads.remove(&oldest);
            }
        }
    }

    fn took(&mut self, generation: u64, position: u64) {
        if let Some(load) = self.loads.get_mut(&generation) {
            load.took(position);
        }
    }

    fn carried_out(&mut self, by: u64, position: u64) {
        for (generation, load) in &mut self.loads {
            if *generation == by {
                load.saw(position, &self.journal);
            } else {
                load.missed(position);
            }
        }
    }

    /// An agent does something.
    fn drive(&mut self) {
        self.driven = true;
        self.edited.clear();
    }

    /// An agent has been told what the person did.
    fn tell(&mut self) {
        if self.hands == Hands::Agent {
            self.meanwhile = Meanwhile::default();
        }
    }

    fn retire(&mut self) {
        self.journal.clear();
        self.deeds = Deeds::default();
        for load in self.loads.values_mut() {
            load.forget_journal();
        }
    }
}
