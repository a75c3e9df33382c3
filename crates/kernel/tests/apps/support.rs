//! A machine, somebody who drives it, and all that it says in short words.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use kernel::{
    apps::{
        AppFact, Asked, Cause, Kind, Remark, Response, Telling,
        protocol::{
            Answer, CallId, Called, Connection, Effect, HandsWish, Input, Limits, Machine, Record,
            Shown, Undo, WindowEvent,
        },
        texts,
    },
    windows::{By, Hands},
};
use serde_json::{Value, json};

pub struct Scene {
    pub machine: Machine,
    pub now: Timestamp,
    pub kept: Vec<Kept>,
    /// What was told and not kept, with what a model calls the call that it is about.
    pub news: Vec<(Telling, Option<String>)>,
    limits: Limits,
    calls: u64,
    /// Requests by their short names.
    names: BTreeMap<String, String>,
}

/// What is in the log.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    Window(WindowEvent),
    App(AppFact),
}

pub fn rebuilt(kept: &[Kept], limits: Limits) -> Record {
    let mut record = Record::new(limits);
    for kept in kept {
        match kept {
            Kept::Window(event) => record.seen(event),
            Kept::App(fact) => drop(record.apply(fact)),
        }
    }
    record
}

pub fn frame(address: &str) -> Shown {
    Shown { frame: Some(json!(address)), app: None }
}

/// An app that counts, and that can be asked for its cells.
pub fn counter() -> Value {
    json!({
        "appId": "counter", "name": "Counter",
        "state": { "cells": {}, "manifest": {} },
        "commands": {
            "inc": { "params": {
                "type": "object", "required": ["by"], "properties": { "by": { "type": "number" } },
            } },
            "plus": { "inverse": "minus", "params": { "properties": { "by": {} } } },
            "minus": { "inverse": "plus", "params": { "properties": { "by": {} } } },
            "write": { "inverse": true }, "erase": { "inverse": { "command": "add" } },
            "change": { "inverse": "undo" },
            "undo": { "inverse": "redo", "params": { "properties": { "change": {} } } },
            "redo": { "inverse": "undo", "params": { "properties": { "change": {} } } },
            "add": {}, "set": { "replay": "last" }, "ping": { "replay": "never" },
            "slow": { "timeoutMs": 20_000 },
        },
    })
}

impl Scene {
    pub fn new() -> Self {
        Self::with(Limits::default())
    }

    pub fn with(limits: Limits) -> Self {
        let now = Timestamp::from_second(1_769_940_000).unwrap();
        let (machine, _) = Machine::resume(Record::new(limits), chance(0), now);
        let (kept, news, names) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { machine, now, kept, news, limits, calls: 0, names }
    }

    /// A window `dock` with an app, shown by connection 1, loaded as document `a` and introduced.
    pub fn docked() -> Self {
        let mut scene = Self::new();
        scene.open("dock");
        scene.join(1);
        scene.ready(1, "dock", "a");
        scene.introduce(1, "req-1");
        scene
    }

    pub fn open(&mut self, id: &str) -> Vec<String> {
        let window = if id.contains('/') { id.to_owned() } else { format!("monitor-0/{id}") };
        self.window(WindowEvent::Opened { window, shown: frame("/api/apps/counter/index.html") })
    }

    pub fn window(&mut self, event: WindowEvent) -> Vec<String> {
        self.kept.push(Kept::Window(event.clone()));
        self.step(Input::Window(event))
    }

    pub fn close(&mut self, id: &str) -> Vec<String> {
        self.window(WindowEvent::Closed { window: format!("monitor-0/{id}") })
    }

    pub fn join(&mut self, connection: u64) -> Vec<String> {
        self.step(Input::Joined(Connection(connection)))
    }

    pub fn leave(&mut self, connection: u64) -> Vec<String> {
        self.step(Input::Left(Connection(connection)))
    }

    /// An empty document has no name.
    pub fn ready(&mut self, connection: u64, window: &str, instance: &str) -> Vec<String> {
        self.ready_after(connection, window, instance, None)
    }

    /// The same of a client that remembers the last command that the document was given again.
    pub fn ready_after(
        &mut self,
        connection: u64,
        window: &str,
        instance: &str,
        replayed: Option<u64>,
    ) -> Vec<String> {
        let instance = (!instance.is_empty()).then(|| instance.to_owned());
        let (connection, window, monitor) = (Connection(connection), window.to_owned(), None);
        self.step(Input::Ready { connection, window, monitor, instance, replayed })
    }

    pub fn introduce(&mut self, connection: u64, request: &str) -> Vec<String> {
        self.answer(connection, request, Response::of(Kind::Manifest, Some(counter())))
    }

    pub fn done(&mut self, connection: u64, request: &str, result: Value) -> Vec<String> {
        self.answer(connection, request, Response::of(Kind::Command, Some(result)))
    }

    pub fn data(&mut self, connection: u64, request: &str, data: Value) -> Vec<String> {
        self.answer(connection, request, Response::of(Kind::Query, Some(data)))
    }

    pub fn answer(&mut self, connection: u64, request: &str, response: Response) -> Vec<String> {
        self.answer_in(connection, request, Some("dock"), response)
    }

    pub fn answer_in(
        &mut self,
        connection: u64,
        request: &str,
        window: Option<&str>,
        response: Response,
    ) -> Vec<String> {
        let request = self.full(request);
        let (connection, window) = (Connection(connection), window.map(str::to_owned));
        self.step(Input::Answered { connection, request, window, response })
    }

    /// Nothing that an app says of itself makes anybody say something.
    pub fn remark(&mut self, connection: u64, remark: Remark) {
        let (connection, window) = (Connection(connection), "dock".to_owned());
        let told = self.step(Input::Remarked { connection, window, monitor: None, remark });
        assert_eq!(told, NOTHING);
    }

    pub fn progress(&mut self, connection: u64, request: &str, done: f64) {
        let request = self.full(request);
        let (total, note) = (Some(4.0), Some("reading".to_owned()));
        self.remark(connection, Remark::Progress { request, done, total, note });
    }

    pub fn full(&self, request: &str) -> String {
        self.names.get(request).cloned().unwrap_or_else(|| request.to_owned())
    }

    pub fn manifest(&mut self, window: &str) -> Vec<String> {
        self.call(window, Asked::Manifest, None)
    }

    pub fn query(&mut self, window: &str, key: &str) -> Vec<String> {
        self.call(window, Asked::Query { state_key: key.into() }, None)
    }

    pub fn command(&mut self, window: &str, command: &str, params: Value) -> Vec<String> {
        self.keyed(window, command, params, None)
    }

    pub fn keyed(
        &mut self,
        window: &str,
        command: &str,
        params: Value,
        key: Option<&str>,
    ) -> Vec<String> {
        let params = (!params.is_null()).then_some(params);
        self.call(window, Asked::Command { command: command.into(), params }, key)
    }

    pub fn call(&mut self, window: &str, asked: Asked, key: Option<&str>) -> Vec<String> {
        self.call_from(None, window, asked, key)
    }

    pub fn call_from(
        &mut self,
        monitor: Option<&str>,
        window: &str,
        asked: Asked,
        key: Option<&str>,
    ) -> Vec<String> {
        self.calls += 1;
        self.step(Input::Called(Called {
            call: CallId(self.calls),
            window: window.to_owned(),
            monitor: monitor.map(str::to_owned),
            asked,
            key: key.map(str::to_owned),
            cause: Cause::Tool,
            tool_call: Some(format!("tool-{}", self.calls)),
            by: By::Agent,
            attended: true,
            undoes: None,
        }))
    }

    /// The person does something in a window.
    pub fn touch(&mut self, connection: u64, window: &str) -> Vec<String> {
        let (connection, window) = (Connection(connection), window.to_owned());
        self.step(Input::Touched { connection, window, monitor: None })
    }

    /// The person changes something in an app.
    pub fn edit(&mut self, connection: u64, window: &str, keys: &[&str]) -> Vec<String> {
        let (connection, window) = (Connection(connection), window.to_owned());
        let keys = keys.iter().map(|&key| key.to_owned()).collect();
        let remark = Remark::StateChanged { keys, by_person: true };
        self.step(Input::Remarked { connection, window, monitor: None, remark })
    }

    /// The person says whose hands a window is in.
    pub fn hand(&mut self, window: &str, to: Hands) -> Vec<String> {
        self.calls += 1;
        let (call, window) = (Some(CallId(self.calls)), window.to_owned());
        self.step(Input::Hands(HandsWish { call, window, monitor: None, to }))
    }

    /// An agent wants to change a window itself.
    pub fn want(&mut self, window: &str, attended: bool) -> Vec<String> {
        self.calls += 1;
        let (call, window) = (CallId(self.calls), window.to_owned());
        self.step(Input::Awaited { call, window, monitor: None, attended })
    }

    /// Somebody takes back what was done: this, or the newest.
    pub fn undo(&mut self, window: &str, request: Option<&str>, by: By) -> Vec<String> {
        self.calls += 1;
        let request = request.map(|name| self.names.get(name).cloned().unwrap_or(name.to_owned()));
        self.step(Input::Undo(Undo {
            call: CallId(self.calls),
            window: window.to_owned(),
            monitor: None,
            request,
            by,
            attended: true,
            tool_call: None,
        }))
    }

    pub fn end_turn(&mut self) -> Vec<String> {
        self.window(WindowEvent::TurnEnded)
    }

    /// Time passes, and whenever the machine wants to know, it is told.
    pub fn wait(&mut self, milliseconds: u64) -> Vec<String> {
        let end = self.now + Duration::from_millis(milliseconds);
        let mut said = Vec::new();
        while let Some(at) = self.machine.alarm().filter(|at| *at <= end) {
            assert!(at >= self.now, "an alarm for the past");
            self.now = at;
            let before = self.machine.alarm();
            said.extend(self.step(Input::Tick));
            assert_ne!(self.machine.alarm(), before, "an alarm that changes nothing");
        }
        self.now = end;
        said.extend(self.step(Input::Tick));
        said
    }

    /// The process ends, and another reads the log.
    pub fn restart(&mut self) {
        let record = rebuilt(&self.kept, self.limits);
        assert_eq!(self.machine.record(), &record, "what the log says");
        self.resume(record);
    }

    /// The same, and what came after so many entries of the log was not safe yet.
    pub fn lose(&mut self, from: usize) {
        self.kept.truncate(from);
        self.resume(rebuilt(&self.kept, self.limits));
    }

    fn resume(&mut self, record: Record) {
        let start = u128::from(self.calls) << 64;
        let (machine, effects) = Machine::resume(record, chance(start), self.now);
        self.machine = machine;
        assert_eq!(self.tell(effects), Vec::<String>::new());
    }

    pub fn step(&mut self, input: Input) -> Vec<String> {
        let effects = self.machine.step(self.now, input);
        self.tell(effects)
    }

    /// The facts of the protocol since the log was this long, as they are kept.
    pub fn facts_since(&self, start: usize) -> Vec<AppFact> {
        let facts = self.kept[start..].iter().filter_map(|kept| match kept {
            Kept::App(fact) => Some(fact.clone()),
            Kept::Window(_) => None,
        });
        facts.collect()
    }

    fn tell(&mut self, effects: Vec<Effect>) -> Vec<String> {
        effects.into_iter().filter_map(|effect| self.line(effect)).collect()
    }

    fn line(&mut self, effect: Effect) -> Option<String> {
        Some(match effect {
            Effect::Record(fact) => {
                self.kept.push(Kept::App(fact));
                return None;
            }
            Effect::Send { connection, request, safe } => {
                let is_remembered = request.position.is_some();
                assert_eq!(safe, request.asked.kind() == Kind::Command && !is_remembered);
                let name = self.short(&request.request);
                let asked = match request.asked {
                    Asked::Manifest => "manifest".to_owned(),
                    Asked::Query { state_key } => format!("query {state_key}"),
                    Asked::Command { command, params: None } => format!("command {command}"),
                    Asked::Command { command, params: Some(params) } => {
                        format!("command {command} {params}")
                    }
                };
                format!("to {}: {} {asked} [{name}]", connection.0, request.window)
            }
            Effect::Reply { call, answer, .. } => match answer {
                Answer::Said { kind, response, note, .. } => {
                    let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
                    match texts::result(kind, &response) {
                        Ok(text) => format!("call {} = {text}{note}", call.0),
                        Err(text) => format!("call {} ! {text}{note}", call.0),
                    }
                }
                Answer::Free { note: None } => format!("call {} may", call.0),
                Answer::Free { note: Some(note) } => format!("call {} may ({note})", call.0),
                Answer::Refused(text) => format!("call {} ! {text}", call.0),
                Answer::Open { request } => {
                    format!("call {} ! open [{}]", call.0, self.short(&request))
                }
            },
            Effect::Tell(notice) => {
                let text = self.names.iter().fold(notice.text, |text, (short, full)| {
                    text.replace(full.as_str(), &format!("[{short}]"))
                });
                format!("{}: {text}", if notice.awaited { "follow-up" } else { "note" })
            }
            Effect::News { what, tool_call, .. } => {
                self.news.push((what, tool_call));
                return None;
            }
            Effect::Warn(text) => format!("warn: {text}"),
            Effect::Touch { .. } => return None,
        })
    }

    fn short(&mut self, full: &str) -> String {
        let parts: Vec<&str> = full.split('-').collect();
        let trim = |hex: &str| hex.trim_start_matches('0').to_owned();
        let short = match parts.as_slice() {
            ["req", bits] => format!("req-{}", trim(bits)),
            ["replay", window, bits, index] => format!("replay-{window}-{}-{index}", trim(bits)),
            _ => panic!("a strange id: {full}"),
        };
        self.names.insert(short.clone(), full.to_owned());
        short
    }
}

/// Not by chance, so that a test can say what comes.
fn chance(mut start: u128) -> impl FnMut() -> u128 + Send {
    move || {
        start += 1;
        start
    }
}

/// Nothing is said to anybody.
pub const NOTHING: [&str; 0] = [];
