//! Whatever tabs, apps and callers do, in any order, each command counts once.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use jiff::Timestamp;
use kernel::apps::{
    AppFact, AppRequest, Asked, Cause, FailedReason, Keep, Kind, Response,
    protocol::{
        Answer, CallId, Called, Connection, Effect, Input, Limits, Machine, Outgoing, Record,
        WindowEvent,
    },
};
use proptest::{collection::vec, prelude::*};
use serde_json::json;

use crate::support::{Kept, counter, frame, rebuilt};

const PAGES: usize = 3;
const COMMANDS: [&str; 3] = ["add", "set", "ping"];

#[derive(Clone, Debug)]
enum Act {
    /// A page connects, and says so if its document is there.
    Join(usize),
    /// Its document loads, for the first time or anew.
    Load(usize),
    /// Its document says once more that it is ready.
    Again(usize),
    /// Its connection breaks; the document lives on.
    Break(usize),
    /// It is closed.
    Close(usize),
    /// Its document does the next thing that it was asked.
    Work(usize, Mood),
    /// The oldest of its answers arrives.
    Answer(usize),
    Command(usize),
    Query,
    Wait(u64),
    Restart,
}

#[derive(Clone, Copy, Debug)]
enum Mood {
    Good,
    /// It does not do what it is told.
    Bad,
    /// It does, and does not say so.
    Mute,
}

fn act() -> impl Strategy<Value = Act> {
    let page = || 0..PAGES;
    let mood = prop_oneof![6 => Just(Mood::Good), 1 => Just(Mood::Bad), 1 => Just(Mood::Mute)];
    prop_oneof![
        3 => page().prop_map(Act::Join),
        3 => page().prop_map(Act::Load),
        1 => page().prop_map(Act::Again),
        1 => page().prop_map(Act::Break),
        1 => page().prop_map(Act::Close),
        12 => (page(), mood).prop_map(|(page, mood)| Act::Work(page, mood)),
        12 => page().prop_map(Act::Answer),
        8 => (0..COMMANDS.len()).prop_map(Act::Command),
        2 => Just(Act::Query),
        2 => (0..7000_u64).prop_map(Act::Wait),
        1 => Just(Act::Restart),
    ]
}

/// An app: it remembers everything that it was told, by the name of the command.
#[derive(Clone, Default)]
struct Document {
    name: String,
    asked: VecDeque<(u64, Outgoing)>,
    told: BTreeMap<String, Vec<u64>>,
}

#[derive(Default)]
struct Page {
    connection: Option<u64>,
    document: Option<Document>,
    answers: VecDeque<(u64, String, Response)>,
}

struct World {
    machine: Machine,
    now: Timestamp,
    kept: Vec<Kept>,
    pages: [Page; PAGES],
    /// Connections, documents, calls and commands there have been.
    count: u64,
    /// Calls without a reply.
    waiting: Vec<CallId>,
}

impl World {
    fn new() -> Self {
        let now = Timestamp::from_second(1_769_940_000).unwrap();
        let (machine, _) = Machine::resume(Record::default(), chance(0), now);
        let (kept, pages, waiting) = (Vec::new(), Default::default(), Vec::new());
        let mut world = Self { machine, now, kept, pages, count: 0, waiting };
        let window = "monitor-0/dock".to_owned();
        let event = WindowEvent::Opened { window, shown: frame("/api/apps/counter/index.html") };
        world.kept.push(Kept::Window(event.clone()));
        world.step(Input::Window(event));
        world
    }

    fn act(&mut self, act: &Act) {
        match *act {
            Act::Join(page) => self.join(page),
            Act::Load(page) => self.load(page),
            Act::Again(page) => self.announce(page),
            Act::Break(page) => self.disconnect(page),
            Act::Close(page) => {
                self.disconnect(page);
                self.pages[page] = Page::default();
            }
            Act::Work(page, mood) => drop(self.work(page, mood)),
            Act::Answer(page) => drop(self.answer(page)),
            Act::Command(which) => {
                let params = Some(json!({ "id": self.next() }));
                self.call(Asked::Command { command: COMMANDS[which].to_owned(), params });
            }
            Act::Query => self.call(Asked::Query { state_key: "cells".into() }),
            Act::Wait(milliseconds) => self.wait(milliseconds),
            Act::Restart => self.restart(),
        }
    }

    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    fn join(&mut self, page: usize) {
        if self.pages[page].connection.is_none() {
            let connection = self.next();
            self.pages[page].connection = Some(connection);
            self.step(Input::Joined(Connection(connection)));
            self.announce(page);
        }
    }

    fn load(&mut self, page: usize) {
        if self.pages[page].connection.is_some() {
            let name = format!("document {}", self.next());
            self.pages[page].document = Some(Document { name, ..Document::default() });
            self.announce(page);
        }
    }

    fn announce(&mut self, page: usize) {
        let Page { connection: Some(connection), document: Some(document), .. } = &self.pages[page]
        else {
            return;
        };
        let (connection, instance) = (Connection(*connection), Some(document.name.clone()));
        self.step(Input::Ready { connection, window: "dock".into(), monitor: None, instance });
    }

    fn disconnect(&mut self, page: usize) {
        if let Some(connection) = self.pages[page].connection.take() {
            self.step(Input::Left(Connection(connection)));
        }
    }

    fn work(&mut self, page: usize, mood: Mood) -> bool {
        let Page { document, answers, .. } = &mut self.pages[page];
        let Some(document) = document else { return false };
        let Some((connection, Outgoing { request, asked, .. })) = document.asked.pop_front() else {
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
        if !matches!(mood, Mood::Mute) || response.kind == Some(Kind::Manifest) {
            answers.push_back((connection, request, response));
        }
        true
    }

    /// One that comes by a connection which is no more is lost.
    fn answer(&mut self, page: usize) -> bool {
        let Some((by, request, response)) = self.pages[page].answers.pop_front() else {
            return false;
        };
        if self.pages[page].connection == Some(by) {
            let (connection, window) = (Connection(by), Some("dock".to_owned()));
            self.step(Input::Answered { connection, request, window, response });
        }
        true
    }

    fn call(&mut self, asked: Asked) {
        let call = CallId(self.next());
        self.waiting.push(call);
        let (window, cause) = ("dock".to_owned(), Cause::Tool);
        let (monitor, key, tool_call) = (None, None, None);
        self.step(Input::Called(Called { call, window, monitor, asked, key, cause, tool_call }));
    }

    fn wait(&mut self, milliseconds: u64) {
        let end = self.now + Duration::from_millis(milliseconds);
        while let Some(at) = self.machine.alarm().filter(|at| *at <= end) {
            self.now = at;
            self.step(Input::Tick);
            assert!(self.machine.alarm().is_none_or(|next| next > at), "an alarm rings on");
        }
        self.now = end;
        self.step(Input::Tick);
        assert_eq!(self.machine.record(), &rebuilt(&self.kept, Limits::default()));
    }

    fn restart(&mut self) {
        let record = rebuilt(&self.kept, Limits::default());
        assert_eq!(self.machine.record(), &record);
        let (machine, effects) =
            Machine::resume(record, chance(u128::from(self.next()) << 64), self.now);
        self.machine = machine;
        self.waiting.clear();
        for page in &mut self.pages {
            page.connection = None;
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
                Effect::Record(fact) => self.kept.push(Kept::App(fact)),
                Effect::Send { connection: Connection(to), request, .. } => {
                    let page = self.pages.iter_mut().find(|page| page.connection == Some(to));
                    let document = page.unwrap().document.as_mut().unwrap();
                    document.asked.push_back((to, request));
                }
                Effect::Reply { call, answer, .. } => {
                    let place = self.waiting.iter().position(|waiting| *waiting == call);
                    self.waiting.remove(place.unwrap_or_else(|| panic!("two replies: {answer:?}")));
                    assert!(!matches!(answer, Answer::Refused(text) if text.is_empty()));
                }
                Effect::Tell(_) | Effect::News { .. } | Effect::Warn(_) => (),
            }
        }
    }

    /// Everybody does what they were asked, and says so.
    fn settle(&mut self) {
        for _ in 0..4 {
            let busy = |world: &mut Self, page| world.work(page, Mood::Good) || world.answer(page);
            while (0..PAGES).any(|page| busy(self, page)) {}
            self.wait(6000);
        }
    }

    /// The commands that were carried out, in the order in which they were sent, each with what its
    /// app had said about keeping it by then.
    fn carried_out(&self) -> Vec<(String, u64, Keep)> {
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

    fn outcomes(&self) -> BTreeMap<String, Vec<&'static str>> {
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

/// What an app that loads now is to be told, by the name of the command.
fn to_be_told(carried_out: &[(String, u64, Keep)]) -> BTreeMap<String, Vec<u64>> {
    let mut told: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (index, (command, id, keep)) in carried_out.iter().enumerate() {
        let later =
            |(other, _, keep): &(String, u64, Keep)| other == command && *keep == Keep::Last;
        let counts = match keep {
            Keep::Always => true,
            Keep::Last => !carried_out[index + 1..].iter().any(later),
            Keep::Never => false,
        };
        if counts {
            told.entry(command.clone()).or_default().push(*id);
        }
    }
    told
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_command_counts_once_and_each_request_has_one_outcome(acts in vec(act(), 1..120)) {
        let mut world = World::new();
        for act in &acts {
            world.act(act);
        }
        world.settle();
        let carried_out = world.carried_out();
        let expected = to_be_told(&carried_out);

        // A document that loads now is told all that counts, in order, and nothing else.
        for page in 0..PAGES {
            world.join(page);
        }
        world.settle();
        world.load(0);
        world.settle();
        prop_assert_eq!(&world.pages[0].document.as_ref().unwrap().told, &expected);
        prop_assert_eq!(&world.carried_out(), &carried_out);

        // One that was there before has been told it too, as soon as it is asked again.
        world.announce(PAGES - 1);
        world.settle();
        if let Some(last) = &world.pages[PAGES - 1].document {
            for (command, ids) in &expected {
                let told = last.told.get(command);
                let lacks = ids.iter().find(|id| told.is_none_or(|told| !told.contains(id)));
                prop_assert_eq!(lacks, None, "of {}", command);
            }
        }

        world.wait(700_000);
        for (request, outcome) in world.outcomes() {
            let valid: [&[&str]; 4] =
                [&["answered"], &["failed"], &["timeout"], &["timeout", "late"]];
            prop_assert!(valid.contains(&outcome.as_slice()), "{}: {:?}", request, outcome);
        }
        prop_assert_eq!(&world.waiting, &Vec::new());
        prop_assert_eq!(world.machine.record(), &rebuilt(&world.kept, Limits::default()));
    }
}
