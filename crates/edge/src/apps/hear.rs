//! What a client of the App Protocol says, as far as it means something here.

use kernel::{
    apps::{Kind, Level, Remark, Response},
    windows::Hands,
};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Debug, PartialEq)]
pub enum Wish {
    /// Listen to what happens to the windows of a session: this one, or the one it follows anyway.
    Join { monitor: Option<String>, session: Option<String>, hands: bool },
    /// An app has registered in this window; its document was given that much again.
    Ready { window: String, instance: Option<String>, replayed: Option<u64> },
    /// An app has answered.
    Answer { request: String, window: Option<String>, response: Response },
    /// An app says something of itself, unasked.
    Remark { window: String, remark: Remark },
    /// Hear everything that is said to and by the app in this window; nothing more, if there is none.
    Inspect { window: Option<String> },
    /// The person says something, perhaps with a window in mind.
    Say { key: Option<String>, window: Option<String>, text: String },
    /// An app says something.
    Tell { window: String, words: AppWords },
    /// The person did something to windows.
    Touch(Vec<Touch>),
    /// The person did something in a window, by hand.
    Touched { window: String },
    /// Whose hands a window is to be in.
    Hand { window: String, to: Hands },
    /// Stop what is going on.
    Interrupt,
    /// Answer what was asked.
    Decide { dialog: String, confirmed: bool, remember: Remember },
    /// Understood, and of no meaning here.
    Nothing,
}

/// What an app says, in words that are its own alone.
#[derive(Debug, Default, PartialEq)]
pub struct AppWords {
    pub content: String,
    pub instructions: Option<String>,
    pub to_monitor: Option<String>,
    /// It is for the next turn, and begins none.
    pub inform: bool,
}

#[derive(Debug, PartialEq)]
pub enum Touch {
    Close {
        window: String,
    },
    Focus {
        window: String,
    },
    Minimise {
        window: String,
    },
    Maximise {
        window: String,
    },
    /// Moved, or given another size; all four are told in any case.
    Place {
        window: String,
        bounds: Bounds,
    },
    Open(Box<Opened>),
}

#[derive(Debug, PartialEq)]
pub struct Opened {
    pub window: String,
    pub title: String,
    pub renderer: String,
    pub data: Value,
    pub bounds: Bounds,
    pub app: Option<String>,
    pub monitor: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Bounds {
    pub x: f64,
    pub y: f64,
    pub w: f64,
    pub h: f64,
}

/// How long an answer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remember {
    #[default]
    Once,
    Always,
}

/// By this the words of an app are known where a client knows no better.
const TAG: &str = "<app_interaction>";
const END_TAG: &str = "</app_interaction>";

/// Whether a frame is one of ours, on a socket that others share.
pub fn is_ours(kind: &str) -> bool {
    let plain = |it: u8| it.is_ascii_uppercase() || it == b'_';
    kind.len() > 1 && kind.bytes().all(plain)
}

/// The type of a frame, if it has one.
pub fn kind(frame: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Typed {
        r#type: String,
    }
    serde_json::from_slice::<Typed>(frame).ok().map(|typed| typed.r#type)
}

/// Whether an app says in it what is in it, which may be much.
pub fn is_reply(frame: &[u8]) -> bool {
    kind(frame).as_deref() == Some("APP_PROTOCOL_RESPONSE")
}

/// What a frame means; or why it means nothing, which is for the log.
pub fn hear(frame: &[u8]) -> Result<Wish, String> {
    let value: Value = serde_json::from_slice(frame).map_err(|_| "no JSON".to_owned())?;
    let Value::Object(mut frame) = value else { return Err("no JSON object".to_owned()) };
    let kind = text(&frame, "type").ok_or("no type")?;
    match kind.as_str() {
        "SUBSCRIBE_MONITOR" => {
            let (monitor, session) = (text(&frame, "monitorId"), text(&frame, "sessionId"));
            let hands = frame.get("hands") == Some(&Value::Bool(true));
            Ok(Wish::Join { monitor, session, hands })
        }
        "APP_PROTOCOL_READY" => {
            let (window, instance) = (need(&frame, "windowId")?, text(&frame, "instance"));
            let replayed = frame.get("replayed").and_then(Value::as_u64);
            Ok(Wish::Ready { window, instance, replayed })
        }
        "APP_PROTOCOL_RESPONSE" => answer(frame),
        "APP_PROTOCOL_PROGRESS" | "APP_PROTOCOL_STATE_CHANGED" | "APP_PROTOCOL_CONSOLE" => {
            let window = need(&frame, "windowId")?;
            Ok(Wish::Remark { window, remark: remark(&kind, &frame)? })
        }
        "APP_PROTOCOL_INSPECT" => Ok(Wish::Inspect { window: text(&frame, "windowId") }),
        "USER_MESSAGE" => {
            let (key, text) = (text(&frame, "messageId"), need(&frame, "content")?);
            Ok(Wish::Say { key, window: None, text })
        }
        "WINDOW_MESSAGE" => window_message(&frame),
        "USER_INTERACTION" => {
            let told = frame.remove("interactions").ok_or("no interactions")?;
            let Value::Array(told) = told else { return Err("interactions is no list".into()) };
            Ok(Wish::Touch(told.into_iter().filter_map(touch).collect()))
        }
        "APP_TOUCHED" => Ok(Wish::Touched { window: need(&frame, "windowId")? }),
        "APP_HANDS" => {
            let (window, to) = (need(&frame, "windowId")?, need(&frame, "hands")?);
            let to = hands(&to).ok_or("hands is neither agent nor person")?;
            Ok(Wish::Hand { window, to })
        }
        "INTERRUPT" | "INTERRUPT_AGENT" => Ok(Wish::Interrupt),
        "DIALOG_FEEDBACK" => decide(&frame),
        // Known, and nothing that this house does or has.
        "RENDERING_FEEDBACK"
        | "COMPONENT_ACTION"
        | "TOAST_ACTION"
        | "RESET"
        | "SET_PROVIDER"
        | "USER_PROMPT_RESPONSE"
        | "REMOVE_MONITOR" => Ok(Wish::Nothing),
        other => Err(format!("no type is called {other}")),
    }
}

/// As it is spelt on every wire.
pub fn hands(name: &str) -> Option<Hands> {
    match name {
        "agent" => Some(Hands::Agent),
        "person" => Some(Hands::Person),
        _ => None,
    }
}

fn answer(mut frame: Map<String, Value>) -> Result<Wish, String> {
    let (request, window) = (need(&frame, "requestId")?, text(&frame, "windowId"));
    let Some(Value::Object(response)) = frame.remove("response") else {
        return Err("response is no object".to_owned());
    };
    Ok(Wish::Answer { request, window, response: read_response(response) })
}

/// What is missing and what is null are two things.
fn read_response(mut response: Map<String, Value>) -> Response {
    let (kind, name) = match text(&response, "kind").as_deref() {
        Some("manifest") => (Some(Kind::Manifest), "manifest"),
        Some("query") => (Some(Kind::Query), "data"),
        Some("command") => (Some(Kind::Command), "result"),
        _ => (None, "result"),
    };
    let error = response.remove("error").and_then(complaint);
    Response { value: response.remove(name), kind, error }
}

/// What counts as an error: whatever a script would call true.
fn complaint(error: Value) -> Option<String> {
    match error {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => (!text.is_empty()).then_some(text),
        Value::Number(number) if number.as_f64() == Some(0.0) => None,
        other => Some(other.to_string()),
    }
}

fn remark(kind: &str, frame: &Map<String, Value>) -> Result<Remark, String> {
    let number = |name: &str| frame.get(name).and_then(Value::as_f64);
    let texts = |name: &str| {
        let all = frame.get(name).and_then(Value::as_array);
        all.map(|all| all.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>())
            .ok_or_else(|| format!("{name} is no list"))
    };
    Ok(match kind {
        "APP_PROTOCOL_PROGRESS" => Remark::Progress {
            request: need(frame, "requestId")?,
            done: number("done").ok_or("done is no number")?,
            total: number("total"),
            note: text(frame, "note"),
        },
        "APP_PROTOCOL_STATE_CHANGED" => Remark::StateChanged {
            keys: texts("stateKeys")?,
            by_person: frame.get("byPerson") == Some(&Value::Bool(true)),
        },
        _ => Remark::Printed {
            level: Level::parse(&text(frame, "level").unwrap_or_default()),
            text: texts("args")?.join(" "),
        },
    })
}

fn window_message(frame: &Map<String, Value>) -> Result<Wish, String> {
    let (window, content) = (need(frame, "windowId")?, need(frame, "content")?);
    if text(frame, "origin").as_deref() == Some("app") {
        let words = AppWords {
            content,
            instructions: text(frame, "instructions"),
            to_monitor: text(frame, "toMonitor"),
            inform: frame.get("inform") == Some(&Value::Bool(true)),
        };
        return Ok(Wish::Tell { window, words });
    }
    // All of it is the app's, whatever stands behind the tag that is said to end it.
    if let Some(rest) = content.strip_prefix(TAG) {
        let content = rest.strip_suffix(END_TAG).unwrap_or(rest).to_owned();
        return Ok(Wish::Tell { window, words: AppWords { content, ..AppWords::default() } });
    }
    Ok(Wish::Say { key: text(frame, "messageId"), window: Some(window), text: content })
}

fn decide(frame: &Map<String, Value>) -> Result<Wish, String> {
    let dialog = need(frame, "dialogId")?;
    let Some(Value::Bool(confirmed)) = frame.get("confirmed") else {
        return Err("confirmed is neither true nor false".to_owned());
    };
    let remember = match text(frame, "rememberChoice").as_deref() {
        Some("always") => Remember::Always,
        _ => Remember::Once,
    };
    Ok(Wish::Decide { dialog, confirmed: *confirmed, remember })
}

/// What was done, if it was done to a window and all is there that is needed.
fn touch(told: Value) -> Option<Touch> {
    let Value::Object(mut told) = told else { return None };
    let window = need(&told, "windowId").ok()?;
    let bounds = || Bounds::deserialize(told.get("bounds")?).ok().filter(Bounds::is_sound);
    match text(&told, "type")?.as_str() {
        "window.close" => Some(Touch::Close { window }),
        "window.focus" => Some(Touch::Focus { window }),
        "window.minimize" => Some(Touch::Minimise { window }),
        "window.maximize" => Some(Touch::Maximise { window }),
        "window.move" | "window.resize" => Some(Touch::Place { window, bounds: bounds()? }),
        "window.create" => {
            let bounds = bounds()?;
            let content = told.get_mut("content")?.as_object_mut()?;
            let (renderer, data) = (text(content, "renderer")?, content.remove("data")?);
            let title = text(&told, "windowTitle").unwrap_or_else(|| window.clone());
            let (app, monitor) = (text(&told, "appId"), text(&told, "monitorId"));
            let opened = Opened { window, title, renderer, data, bounds, app, monitor };
            Some(Touch::Open(Box::new(opened)))
        }
        _ => None,
    }
}

impl Bounds {
    fn is_sound(&self) -> bool {
        [self.x, self.y, self.w, self.h].iter().all(|it| it.is_finite())
    }
}

/// A string that says something; whatever else is there counts as nothing.
fn text(frame: &Map<String, Value>, name: &str) -> Option<String> {
    frame.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn need(frame: &Map<String, Value>, name: &str) -> Result<String, String> {
    text(frame, name).ok_or_else(|| format!("no {name}"))
}

#[cfg(test)]
mod tests;
