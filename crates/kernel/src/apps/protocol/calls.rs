//! Calls from the moment they are made until they are sent, or refused.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;

use super::{
    Answer, CallId, Called, Effect, Live, Machine, Outgoing, PATIENCE, Registered, Told,
    hands::LONGEST,
    manifest::Manifest,
    replies::{Caller, Open},
};
use crate::{
    apps::{AppFact, AppRequest, Asked, Cause, Keep, Kind, Telling, texts},
    windows::{By, Hands},
};

/// How many calls may be on their way in a session.
const MOST: usize = 1000;
/// How requests begin that bring an app up to date.
pub(super) const REPLAY: &str = "replay-";
/// How long a command waits for its app to say what it takes.
pub(super) const INTRODUCTION: Duration = Duration::from_secs(1);

pub(super) struct Waiting {
    pub called: Called,
    /// Its window's scoped id.
    pub window: String,
    stage: Stage,
    /// Whether the app was asked once more for the name that it does not know.
    asked_again: bool,
    /// When it is given up if the person does not hand the window back.
    give_up: Option<Timestamp>,
    /// Others that made the same call under the same key.
    others: Vec<CallId>,
}

/// What a call waits for.
#[derive(Clone, Debug, PartialEq)]
enum Stage {
    /// An app, until then.
    App(Timestamp),
    /// Its app to be brought up to date.
    Held,
    /// A manifest, until then; of this very request, if there is one.
    Manifest(Timestamp, Option<String>),
    /// The person to hand the window back, until then.
    Hands(Timestamp),
}

enum Judgement {
    Wait(Stage),
    /// For an answer to a new request for the manifest.
    AskAgain,
    Refuse(String),
    Send,
}

impl Waiting {
    pub fn until(&self) -> Option<Timestamp> {
        match &self.stage {
            Stage::App(until) | Stage::Manifest(until, _) | Stage::Hands(until) => Some(*until),
            Stage::Held => None,
        }
    }

    fn callers(&self) -> impl Iterator<Item = CallId> {
        std::iter::once(self.called.call).chain(self.others.iter().copied())
    }
}

impl Machine {
    pub(super) fn called(&mut self, called: Called) {
        if self.waiting.len() + self.open.len() >= MOST {
            return self.refuse(called.call, texts::TOO_MANY);
        }
        let window = match self.find(&called.window, called.monitor.as_deref()) {
            Ok(window) => window,
            Err(text) => return self.refuse(called.call, text),
        };
        if self.record.window(&window).is_none_or(|past| past.shown.frame.is_none()) {
            return self.refuse(called.call, texts::not_an_app(&called.window));
        }
        if self.is_settled_by_key(&called, &window) {
            return;
        }
        let stage = Stage::App(self.now + PATIENCE);
        let (asked_again, give_up, others) = (false, None, Vec::new());
        let waiting =
            Waiting { called, window: window.clone(), stage, asked_again, give_up, others };
        self.waiting.push(waiting);
        self.advance(&window);
    }

    /// Whoever waited has gone: what is not sent yet never will be.
    pub(super) fn abandoned(&mut self, call: CallId) {
        for waiting in &mut self.waiting {
            waiting.others.retain(|other| *other != call);
            if waiting.called.call == call && !waiting.others.is_empty() {
                waiting.called.call = waiting.others.remove(0);
            }
        }
        self.waiting.retain(|waiting| waiting.called.call != call);
        for open in self.open.values_mut() {
            open.callers.retain(|caller| caller.call != call);
        }
        self.holds.abandoned(call);
    }

    /// Moves every call of a window as far as it gets.
    pub(super) fn advance(&mut self, window: &str) {
        let mut index = 0;
        while let Some(waiting) = self.waiting.get(index) {
            if waiting.window != window {
                index += 1;
                continue;
            }
            match self.judge(waiting) {
                Judgement::Wait(stage) => {
                    if let Stage::Hands(until) = stage {
                        self.waiting[index].give_up = Some(until);
                    }
                    self.waiting[index].stage = stage;
                    index += 1;
                }
                Judgement::AskAgain => {
                    let request = self.fetch(window);
                    let waiting = &mut self.waiting[index];
                    waiting.asked_again = true;
                    waiting.stage = Stage::Manifest(self.now + INTRODUCTION, request);
                    index += 1;
                }
                Judgement::Refuse(text) => {
                    let waiting = self.waiting.remove(index);
                    self.tell_news(window, Telling::refused(&waiting.called.asked, &text));
                    for call in waiting.callers() {
                        self.refuse(call, text.clone());
                    }
                }
                Judgement::Send => {
                    let waiting = self.waiting.remove(index);
                    self.dispatch(waiting);
                }
            }
        }
    }

    pub(super) fn advance_due(&mut self) {
        let due = self.waiting.iter().filter(|it| it.until().is_some_and(|at| at <= self.now));
        let windows: Vec<String> = due.map(|waiting| waiting.window.clone()).collect();
        for window in windows {
            self.advance(&window);
        }
    }

    pub(super) fn refuse(&mut self, call: CallId, text: impl Into<String>) {
        let answer = Answer::Refused(text.into());
        self.effects.push(Effect::Reply { call, answer, safe: false });
    }

    fn turn_down(&mut self, called: &Called, window: &str, text: String) {
        self.tell_news(window, Telling::refused(&called.asked, &text));
        self.refuse(called.call, text);
    }

    /// Answers a call that was made before under the same key, or lets it wait with the first.
    fn is_settled_by_key(&mut self, called: &Called, window: &str) -> bool {
        let (Some(key), Asked::Command { command, params }) = (&called.key, &called.asked) else {
            return false;
        };
        let same = |it: &&mut Waiting| it.window == window && it.called.key.as_ref() == Some(key);
        if let Some(first) = self.waiting.iter_mut().find(same) {
            if first.called.asked == called.asked {
                first.others.push(called.call);
            } else {
                self.turn_down(called, window, texts::key_reused(key));
            }
            return true;
        }
        let Some(bound) = self.record.window(window).and_then(|past| past.bound(key)) else {
            return false;
        };
        if !bound.is_for(command, params.as_ref()) {
            self.turn_down(called, window, texts::key_reused(key));
            return true;
        }
        if let Some(response) = bound.reply.clone() {
            let (window, kind, note) = (window.to_owned(), Kind::Command, None);
            let answer = Answer::Said { window, kind, response, note };
            self.effects.push(Effect::Reply { call: called.call, answer, safe: true });
            return true;
        }
        let Some(open) = self.open.get_mut(&bound.request) else { return false };
        open.callers.push(Caller { call: called.call, until: self.now + open.patience });
        true
    }

    /// Whether somebody takes this back already.
    pub(super) fn is_being_undone(&self, request: &str) -> bool {
        let asked = self.waiting.iter().filter_map(|waiting| waiting.called.undoes.as_ref());
        let open = self.open.values().filter(|open| !open.is_late);
        asked.chain(open.filter_map(|open| open.undoes.as_ref())).any(|other| other == request)
    }

    fn judge(&self, waiting: &Waiting) -> Judgement {
        let judged = self.judge_app(waiting);
        let (Judgement::Send, Asked::Command { .. }) = (&judged, &waiting.called.asked) else {
            return judged;
        };
        let Some(past) = self.record.window(&waiting.window) else { return judged };
        if past.hands == Hands::Person && waiting.called.by != By::Person {
            return self.judge_held(waiting);
        }
        // It may have been taken back by somebody else meanwhile.
        match &waiting.called.undoes {
            Some(request) => match past.deeds.to_undo(Some(request), &waiting.called.window) {
                Ok(_) => judged,
                Err(text) => Judgement::Refuse(text),
            },
            None => judged,
        }
    }

    /// The person has the window in their hands.
    fn judge_held(&self, waiting: &Waiting) -> Judgement {
        if !waiting.called.attended {
            return Judgement::Refuse(texts::IN_PERSONS_HANDS.to_owned());
        }
        let until = waiting.give_up.unwrap_or(self.now + LONGEST);
        if until <= self.now {
            return Judgement::Refuse(texts::STILL_IN_PERSONS_HANDS.to_owned());
        }
        Judgement::Wait(Stage::Hands(until))
    }

    fn judge_app(&self, waiting: &Waiting) -> Judgement {
        let Called { asked, window: name, .. } = &waiting.called;
        let Some(past) = self.record.window(&waiting.window) else {
            return Judgement::Refuse(texts::not_found(name));
        };
        if past.shown.frame.is_none() {
            return Judgement::Refuse(texts::not_an_app(name));
        }
        if self.connections.is_empty() {
            let text =
                if past.registered { texts::silent(asked.kind()) } else { texts::NOT_REGISTERED };
            return Judgement::Refuse(format!("{text} {}", texts::NO_CLIENT));
        }
        let live = self.live.get(&waiting.window);
        let Some((live, owner)) = live.and_then(|live| Some((live, live.owner()?))) else {
            return match waiting.stage {
                Stage::App(until) if until <= self.now => {
                    Judgement::Refuse(texts::NOT_REGISTERED.to_owned())
                }
                Stage::App(until) => Judgement::Wait(Stage::App(until)),
                Stage::Held | Stage::Manifest(..) | Stage::Hands(_) => {
                    Judgement::Wait(Stage::App(self.now + PATIENCE))
                }
            };
        };
        match asked {
            Asked::Manifest => Judgement::Send,
            Asked::Query { .. } | Asked::Command { .. } if live.behind.is_some() => {
                Judgement::Wait(Stage::Held)
            }
            Asked::Query { .. } | Asked::Command { .. } => self.judge_by_manifest(waiting, owner),
        }
    }

    fn judge_by_manifest(&self, waiting: &Waiting, owner: &Registered) -> Judgement {
        match (&waiting.called.asked, &owner.manifest) {
            (Asked::Query { state_key }, Told::Manifest(manifest)) => {
                if manifest.has_state(state_key) {
                    return Judgement::Send;
                }
                self.judge_unknown(waiting, manifest, Kind::Query, state_key)
            }
            (Asked::Command { command, params }, Told::Manifest(manifest)) => {
                let Some(known) = manifest.command(command) else {
                    return self.judge_unknown(waiting, manifest, Kind::Command, command);
                };
                match known.check(command, params.as_ref()) {
                    Ok(()) => Judgement::Send,
                    Err(text) => Judgement::Refuse(text),
                }
            }
            (Asked::Command { .. }, Told::NotYet) => match &waiting.stage {
                Stage::Manifest(until, _) if *until <= self.now => Judgement::Send,
                Stage::Manifest(..) => Judgement::Wait(waiting.stage.clone()),
                Stage::App(_) | Stage::Held | Stage::Hands(_) => {
                    Judgement::Wait(Stage::Manifest(self.now + INTRODUCTION, None))
                }
            },
            (Asked::Manifest | Asked::Query { .. } | Asked::Command { .. }, _) => Judgement::Send,
        }
    }

    /// An app may have learnt new names: it is asked once more before one is refused.
    fn judge_unknown(
        &self,
        waiting: &Waiting,
        manifest: &Manifest,
        kind: Kind,
        name: &str,
    ) -> Judgement {
        if !waiting.asked_again {
            return Judgement::AskAgain;
        }
        match &waiting.stage {
            Stage::Manifest(until, Some(request))
                if *until > self.now && self.open.contains_key(request) =>
            {
                Judgement::Wait(waiting.stage.clone())
            }
            _ => Judgement::Refuse(manifest.unknown(kind, name)),
        }
    }

    fn dispatch(&mut self, waiting: Waiting) {
        let callers: Vec<CallId> = waiting.callers().collect();
        let Waiting { called, window, .. } = waiting;
        let manifest = self.live.get(&window).and_then(Live::manifest);
        let (mut keep, mut patience) = (Keep::default(), PATIENCE);
        if let Asked::Command { command, .. } = &called.asked {
            match manifest.as_ref().map(|manifest| manifest.command(command)) {
                Some(Some(known)) => (keep, patience) = (known.keep, known.patience),
                Some(None) => (),
                None => {
                    let what = format!("it has not said what `{command}` takes: it goes unchecked");
                    self.wonder_at(&window, None, what);
                }
            }
        }
        let position = match &called.asked {
            Asked::Command { .. } => self.record.window(&window).map(|past| past.sent + 1),
            Asked::Manifest | Asked::Query { .. } => None,
        };
        let letter = Letter {
            asked: called.asked,
            cause: called.cause,
            patience,
            key: called.key,
            position,
            keep,
            tool_call: called.tool_call,
            by: Some(called.by),
            undoes: called.undoes,
        };
        let Some(request) = self.send(&window, letter, manifest.as_ref()) else {
            for call in callers {
                self.refuse(call, texts::NOT_REGISTERED);
            }
            return;
        };
        if let Some(open) = self.open.get_mut(&request) {
            let until = open.until();
            open.callers.extend(callers.into_iter().map(|call| Caller { call, until }));
        }
    }
}

/// Something to be sent to the owner of a window.
pub(super) struct Letter {
    pub asked: Asked,
    pub cause: Cause,
    pub patience: Duration,
    pub key: Option<String>,
    pub position: Option<u64>,
    pub keep: Keep,
    pub tool_call: Option<String>,
    pub by: Option<By>,
    pub undoes: Option<String>,
}

impl Letter {
    pub fn fetch() -> Self {
        Self {
            asked: Asked::Manifest,
            cause: Cause::Manifest,
            patience: PATIENCE,
            key: None,
            position: None,
            keep: Keep::default(),
            tool_call: None,
            by: None,
            undoes: None,
        }
    }
}

impl Machine {
    /// Records a request and sends it to the window's owner; says what it is called.
    pub(super) fn send(
        &mut self,
        window: &str,
        letter: Letter,
        manifest: Option<&Arc<Manifest>>,
    ) -> Option<String> {
        let owner = self.live.get(window)?.owner()?.clone();
        let id = self.name(window, letter.cause);
        // What is played again is in the journal already.
        let recorded = match (&letter.asked, letter.cause) {
            (Asked::Command { command, .. }, Cause::Replay) => {
                Asked::Command { command: command.clone(), params: None }
            }
            (asked, _) => asked.clone(),
        };
        self.note(AppFact::Request(AppRequest {
            request: id.clone(),
            window: window.to_owned(),
            generation: owner.generation,
            asked: recorded,
            cause: letter.cause,
            deadline_ms: u64::try_from(letter.patience.as_millis()).unwrap_or(u64::MAX),
            idempotency_key: letter.key,
            position: letter.position,
            keep: letter.keep,
            by_app: manifest.and_then(|manifest| manifest.app.clone()),
            by: letter.by.clone(),
            undoes: letter.undoes.clone(),
        }));
        let (connection, generation) = (owner.connection, owner.generation);
        let is_replay = letter.cause == Cause::Replay;
        // A client that remembers what it gave a document tells it, should this fact be lost.
        let safe = letter.asked.kind() == Kind::Command && !(is_replay && owner.remembers);
        let request = Outgoing {
            request: id.clone(),
            window: owner.name,
            asked: letter.asked.clone(),
            instance: owner.instance,
            position: letter.position.filter(|_| is_replay && owner.remembers),
        };
        self.effects.push(Effect::Send { connection, request, safe });
        let open = Open {
            window: window.to_owned(),
            at: Some((connection, generation)),
            asked: letter.asked,
            cause: letter.cause,
            sent: self.now,
            heard: self.now,
            patience: letter.patience,
            keep: letter.keep,
            is_late: false,
            callers: Vec::new(),
            tool_call: letter.tool_call,
            by: letter.by,
            undoes: letter.undoes,
        };
        self.open.insert(id.clone(), open);
        Some(id)
    }

    /// Asks the owner what it can do, for ourselves.
    pub(super) fn fetch(&mut self, window: &str) -> Option<String> {
        let request = self.send(window, Letter::fetch(), None);
        let generation = self.live.get(window)?.owner()?.generation;
        if let Some(owner) = self.live.get_mut(window)?.load(generation) {
            owner.fetching.clone_from(&request);
            owner.is_stale = false;
        }
        request
    }

    fn name(&mut self, window: &str, cause: Cause) -> String {
        let bits = self.chance.bits();
        if cause != Cause::Replay {
            return format!("req-{bits:032x}");
        }
        let raw = window.split_once('/').map_or(window, |(_, raw)| raw);
        let steps = self.live.get(window).and_then(|live| live.behind.as_ref());
        format!("{REPLAY}{raw}-{bits:032x}-{}", steps.map_or(0, |behind| behind.steps))
    }
}
