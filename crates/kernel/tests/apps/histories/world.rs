//! Pages, documents and callers around one machine, and a disk that loses what is not safe yet.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use jiff::Timestamp;
use kernel::{
    apps::{
        AppFact, AppRequest, Asked, Cause, FailedReason, Keep, Kind, Remark, Response,
        protocol::{
            Answer, CallId, Called, Connection, Effect, HandsWish, Input, Limits, Machine,
            Outgoing, Record, WindowEvent,
        },
    },
    windows::{By, Hands},
};
use serde_json::json;

use super::{Act, COMMANDS, FORGETFUL, Mood, PAGES, WINDOW};
use crate::support::{Kept, counter, frame, rebuilt};

/// An app: it remembers everything that it was told, by the name of the command.
#[derive(Clone, Default)]
pub struct Document {
    name: String,
    asked: VecDeque<Outgoing>,
    pub told: BTreeMap<String, Vec<u64>>,
    /// How far it was brought by what it was given again.
    replayed: u64,
}

#[derive(Default)]
pub struct Page {
    connection: Option<u64>,
    pub document: Option<Document>,
    /// On its way to the page, and from there. With the connection it is lost.
    coming: VecDeque<Outgoing>,
    going: VecDeque<Said>,
}

enum Said {
    Ready { instance: String, replayed: Option<u64> },
    Answer { request: String, response: Response },
}

/// What is said only once all that was recorded before it is safe.
enum Held {
    Request(u64, Outgoing),
    Reply(CallId, Answer),
}

pub struct World {
    pub machine: Machine,
    now: Timestamp,
    /// What is safe, and what is not yet.
    kept: Vec<Kept>,
    unsaved: Vec<Kept>,
    held: Vec<Held>,
    pub pages: [Page; PAGES],
    /// Connections, documents, calls and commands there have been.
    count: u64,
    /// Calls without a reply.
    pub waiting: Vec<CallId>,
    /// Commands, by the calls they were made with; and those of which a caller was told that they
    /// were carried out.
    called: BTreeMap<CallId, u64>,
    pub acknowledged: Vec<u64>,
    /// Whether the window is in the person's hands, by what is recorded.
    taken: bool,
}

impl World {
    pub fn new() -> Self {
        let now = Timestamp::from_second(1_769_940_000).unwrap();
        let (machine, _) = Machine::resume(Record::default(), chance(0), now);
        let mut world = Self {
            machine,
            now,
            kept: Vec::new(),
            unsaved: Vec::new(),
            held: Vec::new(),
            pages: Default::default(),
            count: 0,
            waiting: Vec::new(),
            called: BTreeMap::new(),
            acknowledged: Vec::new(),
            taken: false,
        };
        let window = WINDOW.to_owned();
        let event = WindowEvent::Opened { window, shown: frame("/api/apps/counter/index.html") };
        world.kept.push(Kept::Window(event.clone()));
        world.step(Input::Window(event));
        world
    }

    pub fn act(&mut self, act: &Act) {
        match *act {
            Act::Join(page) => self.join(page),
            Act::Load(page) => self.load(page),
            Act::Again(page) => self.announce(page),
            Act::Break(page) => self.disconnect(page),
            Act::Close(page) => {
                self.disconnect(page);
                self.pages[page] = Page::default();
            }
            Act::Deliver(page) => drop(self.deliver(page)),
            Act::Work(page, mood) => drop(self.work(page, mood)),
            Act::Hear(page) => drop(self.hear(page)),
            Act::Save => self.save(),
            Act::Command(which) => {
                let id = self.next();
                let params = Some(json!({ "id": id }));
                let call =
                    self.call(Asked::Command { command: COMMANDS[which].to_owned(), params });
                self.called.insert(call, id);
            }
            Act::Query => drop(self.call(Asked::Query { state_key: "cells".into() })),
            Act::Wait(milliseconds) => self.wait(milliseconds),
            Act::Restart => self.restart(),
            Act::Touch(page) => self.touch(page),
            Act::Edit(page) => {
                if let Some(connection) = self.pages[page].connection.map(Connection) {
                    let (window, keys) = ("dock".to_owned(), vec!["cells".to_owned()]);
                    let remark = Remark::StateChanged { keys, by_person: true };
                    self.step(Input::Remarked { connection, window, monitor: None, remark });
                }
            }
            Act::HandBack => {
                let (window, to) = ("dock".to_owned(), Hands::Agent);
                self.step(Input::Hands(HandsWish { call: None, window, monitor: None, to }));
                assert!(!self.is_taken(), "what was handed back is still held");
            }
            Act::Want => {
                let call = CallId(self.next());
                self.waiting.push(call);
                let (window, attended) = ("dock".to_owned(), true);
                self.step(Input::Awaited { call, window, monitor: None, attended });
            }
            Act::EndTurn => {
                self.unsaved.push(Kept::Window(WindowEvent::TurnEnded));
                self.step(Input::Window(WindowEvent::TurnEnded));
            }
        }
    }

    /// Takes the window from an agent that has done something in this turn, and from nobody else.
    fn touch(&mut self, page: usize) {
        let Some(connection) = self.pages[page].connection.map(Connection) else { return };
        let past = self.machine.record().window(WINDOW).unwrap().clone();
        self.step(Input::Touched { connection, window: "dock".into(), monitor: None });
        if past.driven || past.hands == Hands::Person {
            assert!(self.is_taken(), "a touch has not taken what an agent drives");
        }
    }

    pub fn is_taken(&self) -> bool {
        self.machine.record().window(WINDOW).unwrap().hands == Hands::Person
    }

    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    pub fn join(&mut self, page: usize) {
        if self.pages[page].connection.is_none() {
            let connection = self.next();
            self.pages[page].connection = Some(connection);
            self.step(Input::Joined(Connection(connection)));
            self.announce(page);
        }
    }

    pub fn load(&mut self, page: usize) {
        if self.pages[page].connection.is_some() {
            let name = format!("document {}", self.next());
            self.pages[page].document = Some(Document { name, ..Document::default() });
            self.announce(page);
        }
    }

    pub fn announce(&mut self, page: usize) {
        let Page { connection: Some(_), document: Some(document), going, .. } =
            &mut self.pages[page]
        else {
            return;
        };
        let instance = document.name.clone();
        let replayed = (page != FORGETFUL).then_some(document.replayed);
        going.push_back(Said::Ready { instance, replayed });
    }

    fn disconnect(&mut self, page: usize) {
        if let Some(connection) = self.pages[page].connection.take() {
            self.pages[page].coming.clear();
            self.pages[page].going.clear();
            self.step(Input::Left(Connection(connection)));
        }
    }

    /// What is for a document that is not there any more goes nowhere.
    fn deliver(&mut self, page: usize) -> bool {
        let Page { document, coming, .. } = &mut self.pages[page];
        let Some(request) = coming.pop_front() else { return false };
        let document = document.as_mut().filter(|it| request.instance.as_ref() == Some(&it.name));
        if let Some(document) = document {
            document.replayed = document.replayed.max(request.position.unwrap_or_default());
            document.asked.push_back(request);
        }
        true
    }

    fn work(&mut self, page: usize, mood: Mood) -> bool {
        let Page { connection, document, going, .. } = &mut self.pages[page];
        let Some(document) = document else { return false };
        let Some(Outgoing { request, asked, .. }) = document.asked.pop_front() else {
            return false;
        };
        let is_replay = request.starts_with("replay-");
        let response = match (asked, mood) {
            (Asked::Manifest, _) => Response::of(Kind::Manifest, Some(counter())),
            (Asked::Query { .. }, _) => Response::of(Kind::Query, None),
            (Asked::Command { .. }, Mood::Bad) if !is_replay => {
                Response::error(Kind::Command, "no")
            }
            (Asked::Command { command, params }, _) => {
                let id = params.unwrap()["id"].as_u64().unwrap();
                let told = document.told.entry(command).or_default();
                assert!(!told.contains(&id), "{} is told {id} twice", document.name);
                told.push(id);
                Response::of(Kind::Command, Some(json!(id)))
            }
        };
        // Which commands are kept is said at least before they are carried out.
        let is_said = !matches!(mood, Mood::Mute) || response.kind == Some(Kind::Manifest);
        if is_said && connection.is_some() {
            going.push_back(Said::Answer { request, response });
        }
        true
    }

    fn hear(&mut self, page: usize) -> bool {
        let Page { connection: Some(connection), going, .. } = &mut self.pages[page] else {
            return false;
        };
        let Some(said) = going.pop_front() else { return false };
        let (connection, window, monitor) = (Connection(*connection), "dock".to_owned(), None);
        self.step(match said {
            Said::Ready { instance, replayed } => {
                let instance = Some(instance);
                Input::Ready { connection, window, monitor, instance, replayed }
            }
            Said::Answer { request, response } => {
                Input::Answered { connection, request, window: Some(window), response }
            }
        });
        true
    }

    fn call(&mut self, asked: Asked) -> CallId {
        let call = CallId(self.next());
        self.waiting.push(call);
        let (window, cause) = ("dock".to_owned(), Cause::Tool);
        let (monitor, key, tool_call) = (None, None, None);
        let (by, attended, undoes) = (By::Agent, true, None);
        self.step(Input::Called(Called {
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
        }));
        call
    }

    pub fn save(&mut self) {
        self.kept.append(&mut self.unsaved);
        for held in std::mem::take(&mut self.held) {
            match held {
                Held::Request(to, request) => self.send(to, request),
                Held::Reply(call, answer) => self.reply(call, &answer),
            }
        }
    }

    /// What is recorded, whether it is safe or not.
    pub fn recorded(&self) -> Vec<Kept> {
        self.kept.iter().chain(&self.unsaved).cloned().collect()
    }

    pub fn wait(&mut self, milliseconds: u64) {
        let end = self.now + Duration::from_millis(milliseconds);
        while let Some(at) = self.machine.alarm().filter(|at| *at <= end) {
            self.now = at;
            self.step(Input::Tick);
            assert!(self.machine.alarm().is_none_or(|next| next > at), "an alarm rings on");
        }
        self.now = end;
        self.step(Input::Tick);
        assert_eq!(self.machine.record(), &rebuilt(&self.recorded(), Limits::default()));
    }

    fn restart(&mut self) {
        assert_eq!(self.machine.record(), &rebuilt(&self.recorded(), Limits::default()));
        self.unsaved.clear();
        self.held.clear();
        let record = rebuilt(&self.kept, Limits::default());
        let (machine, effects) =
            Machine::resume(record, chance(u128::from(self.next()) << 64), self.now);
        self.machine = machine;
        self.taken = self.is_taken();
        self.waiting.clear();
        for page in &mut self.pages {
            page.connection = None;
            page.coming.clear();
            page.going.clear();
        }
        self.carry_out(effects);
    }

    fn step(&mut self, input: Input) {
        let effects = self.machine.step(self.now, input);
        self.carry_out(effects);
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Record(fact) => {
                    match &fact {
                        AppFact::HandsTaken { .. } => self.taken = true,
                        AppFact::HandsBack { .. } => self.taken = false,
                        _ => (),
                    }
                    self.unsaved.push(Kept::App(fact));
                }
                Effect::Send { connection: Connection(to), request, safe } => {
                    let is_new = request.asked.is_command() && !request.is_replay();
                    assert!(!is_new || !self.taken, "{request:?} is sent to what a person holds");
                    if safe && !self.unsaved.is_empty() {
                        self.held.push(Held::Request(to, request));
                    } else {
                        self.send(to, request);
                    }
                }
                Effect::Reply { call, answer, safe } => {
                    if safe && !self.unsaved.is_empty() {
                        self.held.push(Held::Reply(call, answer));
                    } else {
                        self.reply(call, &answer);
                    }
                }
                Effect::Tell(_) | Effect::Warn(_) | Effect::Touch { .. } | Effect::News { .. } => {}
            }
        }
    }

    /// To a connection that may be gone by now.
    fn send(&mut self, to: u64, request: Outgoing) {
        if let Some(page) = self.pages.iter_mut().find(|page| page.connection == Some(to)) {
            page.coming.push_back(request);
        }
    }

    fn reply(&mut self, call: CallId, answer: &Answer) {
        let place = self.waiting.iter().position(|waiting| *waiting == call);
        self.waiting.remove(place.unwrap_or_else(|| panic!("two replies: {answer:?}")));
        match answer {
            Answer::Said { response, .. } if response.error.is_none() => {
                self.acknowledged.extend(self.called.get(&call));
            }
            Answer::Refused(text) => assert!(!text.is_empty()),
            Answer::Said { .. } | Answer::Open { .. } | Answer::Free { .. } => (),
        }
    }

    /// Everybody does what they were asked, and says so.
    pub fn settle(&mut self) {
        for _ in 0..4 {
            let busy = |world: &mut Self, page| {
                world.save();
                world.deliver(page) || world.work(page, Mood::Good) || world.hear(page)
            };
            while (0..PAGES).any(|page| busy(self, page)) {}
            self.wait(6000);
        }
        self.save();
    }

    /// The commands that were carried out, in the order in which they were sent, each with what its
    /// app had said about keeping it by then.
    pub fn carried_out(&self) -> Vec<(String, u64, Keep)> {
        let facts = || {
            self.kept.iter().filter_map(|kept| match kept {
                Kept::App(fact) => Some(fact),
                Kept::Window(_) => None,
            })
        };
        let done: BTreeMap<&String, Option<Keep>> = facts()
            .filter_map(|fact| match fact {
                AppFact::Response { request, response, keep, .. } if response.error.is_none() => {
                    Some((request, *keep))
                }
                _ => None,
            })
            .collect();
        facts()
            .filter_map(|fact| {
                let AppFact::Request(asked) = fact else { return None };
                let told = done.get(&asked.request).filter(|_| asked.cause == Cause::Tool)?;
                let Asked::Command { command, params: Some(params) } = &asked.asked else {
                    return None;
                };
                Some((command.clone(), params["id"].as_u64()?, told.unwrap_or(asked.keep)))
            })
            .collect()
    }

    pub fn outcomes(&self) -> BTreeMap<String, Vec<&'static str>> {
        let mut outcomes: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
        for kept in &self.kept {
            match kept {
                Kept::App(AppFact::Request(AppRequest { request, .. })) => {
                    assert_eq!(outcomes.insert(request.clone(), Vec::new()), None);
                }
                Kept::App(AppFact::Response { request, late, .. }) => {
                    let what = if *late { "late" } else { "answered" };
                    outcomes.get_mut(request).unwrap().push(what);
                }
                Kept::App(AppFact::Failed { request, reason }) => {
                    let what = if *reason == FailedReason::Timeout { "timeout" } else { "failed" };
                    outcomes.get_mut(request).unwrap().push(what);
                }
                _ => (),
            }
        }
        outcomes
    }
}

fn chance(mut start: u128) -> impl FnMut() -> u128 + Send {
    move || {
        start += 1;
        start
    }
}
