//! What the strict vendors have in common: they remember what they said, and refuse what is wrong.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use models::{Kind, ProviderSettings};
use serde_json::{Value, json};

use super::{anthropic, chat, gemini, responses};
use crate::server::{Reply, Server, response};

pub const PICTURE: &str = "a picture of the hall";
/// The same in base64.
pub const PICTURE_BASE64: &str = "YSBwaWN0dXJlIG9mIHRoZSBoYWxs";

pub const ALL: [Speech; 4] = [anthropic::SPEECH, responses::SPEECH, chat::SPEECH, gemini::SPEECH];

/// How a vendor speaks and listens.
#[derive(Clone, Copy)]
pub struct Speech {
    pub name: &'static str,
    pub kind: Kind,
    pub model: &'static str,
    /// Whether a request keeps the rules, given what was said in answer to earlier ones.
    pub check: fn(&Value, &[Given]) -> Result<(), String>,
    /// Whether a request ends with the results of tools.
    pub after_tools: fn(&Value) -> bool,
    /// An answer as it is streamed.
    pub stream: fn(&Given) -> String,
    /// The same request, wrong in one way each.
    pub spoil: fn(&Value) -> Vec<Value>,
}

/// Something that was answered. Every word tells who said it and when.
#[derive(Clone, Debug)]
pub struct Given {
    pub thought: String,
    pub signature: String,
    pub text: String,
    pub calls: Vec<GivenCall>,
}

#[derive(Clone, Debug)]
pub struct GivenCall {
    pub name: &'static str,
    pub args: Value,
}

pub struct Vendor {
    pub speech: Speech,
    server: Server,
    memory: Arc<Mutex<Memory>>,
}

#[derive(Default)]
struct Memory {
    given: Vec<Given>,
    last: Option<(Value, Vec<Given>)>,
}

impl Vendor {
    pub async fn start(speech: Speech) -> Arc<Self> {
        let memory: Arc<Mutex<Memory>> = Arc::default();
        let shared = memory.clone();
        let server = Server::answering(move |_, request| {
            let body = request.split_once("\r\n\r\n").unwrap().1;
            let body: Value = serde_json::from_str(body).unwrap();
            let mut memory = shared.lock().unwrap();
            Reply::Whole(memory.answer(&speech, body))
        })
        .await;
        Arc::new(Self { speech, server, memory })
    }

    pub fn settings(&self) -> ProviderSettings {
        let mut settings = crate::settings(self.speech.kind, &self.server);
        settings.models = Some(vec![self.speech.model.into()]);
        settings
    }

    pub fn given(&self) -> Vec<Given> {
        self.memory.lock().unwrap().given.clone()
    }

    /// The last request, and what had been said before it.
    pub fn last(&self) -> (Value, Vec<Given>) {
        self.memory.lock().unwrap().last.clone().unwrap()
    }
}

impl Memory {
    fn answer(&mut self, speech: &Speech, body: Value) -> String {
        let verdict = unmixed(speech.name, &body).and_then(|()| (speech.check)(&body, &self.given));
        if let Err(reason) = verdict {
            let error = json!({ "type": "invalid_request_error", "message": reason });
            let body = json!({ "type": "error", "error": error }).to_string();
            return response("400 Bad Request", "content-type: application/json\r\n", &body);
        }
        let tools: &[&'static str] = match (speech.after_tools)(&body) {
            true => &[],
            false if body.to_string().contains("says-") => &["echo"],
            false => &["echo", "fail"],
        };
        let given = Given::new(speech.name, self.given.len(), tools);
        self.last = Some((body, self.given.clone()));
        self.given.push(given.clone());
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        format!("{head}{}", (speech.stream)(&given))
    }
}

impl Given {
    fn new(vendor: &str, number: usize, tools: &[&'static str]) -> Self {
        let call = |(at, name): (usize, &&'static str)| {
            let args = json!({ "say": format!("args-{vendor}-{number}-{at}") });
            GivenCall { name, args }
        };
        Self {
            thought: format!("thought-{vendor}-{number}"),
            signature: format!("sig-{vendor}-{number}"),
            text: format!("says-{vendor}-{number}"),
            calls: tools.iter().enumerate().map(call).collect(),
        }
    }

    /// Whether these words and calls are this answer's.
    pub fn is(&self, text: &str, args: &[Value]) -> bool {
        let own: Vec<&Value> = self.calls.iter().map(|call| &call.args).collect();
        self.text == text && own == args.iter().collect::<Vec<_>>()
    }
}

/// Nothing that only another vendor understands is ever shown.
fn unmixed(name: &str, body: &Value) -> Result<(), String> {
    let text = body.to_string();
    for other in ["anthropic", "responses", "chat", "gemini"] {
        let shows = |what: &str| text.contains(&format!("{what}-{other}"));
        ensure(other == name || !(shows("sig") || shows("thought")), || {
            format!("a trace of {other} was sent to {name}")
        })?;
    }
    ensure(text.contains(PICTURE_BASE64), || "the picture is missing".into())
}

pub fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// Each answer that was given comes back once.
pub fn all_there(found: &[&Given], given: &[Given]) -> Result<(), String> {
    let names = |given: &Given| given.text.clone();
    let found: Vec<String> = found.iter().map(|it| names(it)).collect();
    let expected: Vec<String> = given.iter().map(names).collect();
    ensure(found == expected, || format!("{found:?} came back of {expected:?}"))
}

/// Whether each call has one result: both sides without repeats, and the same.
pub fn paired(calls: &[&str], results: &[&str]) -> Result<(), String> {
    let distinct = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>();
    let (called, returned) = (distinct(calls), distinct(results));
    ensure(called.len() == calls.len(), || format!("calls share an id: {calls:?}"))?;
    ensure(returned.len() == results.len(), || format!("results share an id: {results:?}"))?;
    ensure(called == returned, || format!("calls {calls:?} have the results {results:?}"))
}

/// The name of a call as every vendor accepts it.
pub fn plain(id: &str, longest: usize) -> Result<(), String> {
    let is_plain = id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    ensure(is_plain && (1..=longest).contains(&id.len()), || {
        format!("{id} is no id of at most {longest} plain characters")
    })
}

pub fn list<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

pub fn word<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

/// What is at a place, or what is wrong if there is nothing.
pub fn required<'v>(value: &'v Value, field: &str) -> Result<&'v str, String> {
    value[field].as_str().filter(|it| !it.is_empty()).ok_or(format!("no {field} in {value}"))
}

/// The request without the last thing of this list that is like this.
pub fn without_last(body: &Value, list: &str, is: impl Fn(&Value) -> bool) -> Value {
    let mut body = body.clone();
    let items = body[list].as_array_mut().unwrap();
    let at = items.iter().rposition(is).unwrap();
    items.remove(at);
    body
}

/// The request with one word in place of another.
pub fn with_word(body: &Value, word: &str, other: &str) -> Value {
    let text = body.to_string();
    assert!(text.contains(word), "{word} is in it");
    serde_json::from_str(&text.replace(word, other)).unwrap()
}
