//! From the events of another program's log to facts that are a valid history.

use std::collections::BTreeSet;

use jiff::Timestamp;
use kernel::{
    outputs::Embed,
    state::State,
    update::{Answer, Attachment, Entry, Fact, Failure, Message, Outcome, Output, ToolRequest},
};
use serde::Deserialize;
use serde_json::Value;

use super::said;

/// One line of the log.
#[derive(Deserialize)]
pub struct Event {
    pub r#type: String,
    pub id: Option<String>,
    #[serde(default)]
    pub data: Value,
    pub timestamp: Option<Timestamp>,
}

impl Event {
    pub fn text(&self, name: &str) -> &str {
        self.data.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Writes a history, one event after the other.
pub struct Historian {
    pub entries: Vec<Entry>,
    pub state: State,
    at: Timestamp,
    model: String,
    /// Not written yet: the reasoning comes after the message that it led to.
    answer: Option<Answer>,
    /// Whether the last answer asked for nothing more.
    done: bool,
    /// How many events were passed over that belong to no turn.
    pub strays: usize,
    /// The names under which messages are known there.
    keys: BTreeSet<String>,
}

impl Historian {
    pub fn open(opened: Fact, model: String, at: Timestamp) -> Self {
        let mut historian = Self {
            entries: Vec::new(),
            state: State::default(),
            at,
            model,
            answer: None,
            done: false,
            strays: 0,
            keys: BTreeSet::new(),
        };
        historian.write(opened);
        historian
    }

    pub fn write(&mut self, fact: Fact) {
        let entry = Entry { seq: self.state.last.next(), at: self.at, fact };
        self.state.apply(&entry);
        self.entries.push(entry);
    }

    /// `embed` finds what a tool has put out, by its name; `attached` what came with a message.
    pub fn read(
        &mut self,
        event: &Event,
        embed: impl Fn(&str) -> Option<Embed>,
        attached: impl FnMut(&Value) -> Option<Attachment>,
    ) {
        if event.r#type != "assistant.reasoning" {
            self.flush();
        }
        // Times may be missing, and never go back.
        self.at = event.timestamp.map_or(self.at, |at| at.max(self.at));
        match event.r#type.as_str() {
            "user.message" => self.said(event, attached),
            "assistant.message" => self.answered(event),
            "assistant.reasoning" => {
                let text = event.text("content");
                match &mut self.answer {
                    Some(answer) => text.clone_into(&mut answer.reasoning),
                    None => self.strays += 1,
                }
            }
            "assistant.turn_end" if self.done => self.end(Outcome::Finished),
            "tool.execution_complete" => self.returned(event, embed),
            "session.error" => {
                let kind = match event.text("errorType") {
                    "authorization" => Failure::BadKey,
                    "quota" => Failure::NoQuota,
                    _ => Failure::Protocol,
                };
                self.end(Outcome::failed(kind, event.text("message")));
            }
            "abort" => self.end(Outcome::Cancelled),
            _ => (),
        }
    }

    /// Nothing follows any more.
    pub fn close(&mut self) {
        self.flush();
        self.end(if self.done { Outcome::Finished } else { Outcome::Interrupted });
    }

    fn said(&mut self, event: &Event, attached: impl FnMut(&Value) -> Option<Attachment>) {
        self.end(if self.done { Outcome::Finished } else { Outcome::Interrupted });
        let files = event.data.get("attachments").and_then(Value::as_array);
        let attachments = files.into_iter().flatten().filter_map(attached).collect();
        // Two of one name are told apart by their places.
        let key = event.id.clone().filter(|id| self.keys.insert(id.clone()));
        let message = Message { attachments, key, ..said::message(event.text("content")) };
        self.write(Fact::Said { message, queued: None });
    }

    fn answered(&mut self, event: &Event) {
        let Some(turn) = &self.state.turn else {
            self.strays += 1;
            return;
        };
        let index = turn.steps;
        self.interrupt();
        self.write(Fact::StepStarted { index });
        let requests = event.data.get("toolRequests").and_then(Value::as_array);
        let calls = requests.into_iter().flatten().filter_map(request).collect();
        let text = event.text("content").to_owned();
        let model = self.model.clone();
        self.answer = Some(Answer { text, calls, model, ..Answer::to(self.state.last) });
    }

    fn flush(&mut self) {
        let Some(mut answer) = self.answer.take() else { return };
        let mut seen: Vec<String> = Vec::new();
        answer.calls.retain(|call| {
            let is_new = !seen.contains(&call.id);
            seen.push(call.id.clone());
            is_new
        });
        self.done = answer.calls.is_empty();
        self.write(Fact::Answered(answer));
    }

    fn returned(&mut self, event: &Event, embed: impl Fn(&str) -> Option<Embed>) {
        let call = event.text("toolCallId").to_owned();
        let is_open = self.state.turn.as_ref().is_some_and(|turn| turn.calls.contains(&call));
        if !is_open {
            self.strays += 1;
            return;
        }
        let output = output(&event.data);
        if let Some(embed) = shown(output.text()).and_then(embed) {
            self.write(Fact::Embedded(embed));
        }
        self.write(Fact::ToolReturned { call, output });
    }

    /// Calls of which no more is heard.
    fn interrupt(&mut self) {
        let open = self.state.turn.as_ref().map(|turn| turn.calls.clone()).unwrap_or_default();
        for call in open {
            self.write(Fact::ToolReturned { call, output: Output::Interrupted });
        }
    }

    fn end(&mut self, outcome: Outcome) {
        if self.state.turn.is_none() {
            return;
        }
        self.interrupt();
        self.write(Fact::TurnEnded(outcome));
        self.done = false;
    }
}

fn request(request: &Value) -> Option<ToolRequest> {
    let id = request.get("toolCallId")?.as_str()?.to_owned();
    let name = request.get("name")?.as_str()?.to_owned();
    let args = request.get("arguments").cloned().unwrap_or_default();
    // Some wrote them as text.
    let args = args.as_str().and_then(|it| serde_json::from_str(it).ok()).unwrap_or(args);
    Some(ToolRequest { title: name.clone(), id, name, args })
}

fn output(data: &Value) -> Output {
    let text = |pointer: &str| data.pointer(pointer).and_then(Value::as_str);
    let error = text("/error/message").unwrap_or_default();
    if data.get("success").and_then(Value::as_bool) == Some(true) {
        return Output::done(unwrapped(text("/result/content").unwrap_or_default()));
    }
    // So came the answers of other agents.
    if text("/error/code") == Some("text") {
        return Output::done(unwrapped(error));
    }
    Output::failed(error)
}

/// The words for the model, where they were put into an object.
fn unwrapped(text: &str) -> String {
    let object = serde_json::from_str::<Value>(text).ok();
    let inner = object.and_then(|it| Some(it.get("textResultForLlm")?.as_str()?.to_owned()));
    inner.unwrap_or_else(|| text.to_owned())
}

/// The name of what a tool has put out: `[output:out_1_abcdef]`.
fn shown(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("[output:")?;
    let (name, _) = rest.split_once(']')?;
    let fits = |it: char| it.is_ascii_alphanumeric() || it == '_';
    (!name.is_empty() && name.chars().all(fits)).then_some(name)
}
