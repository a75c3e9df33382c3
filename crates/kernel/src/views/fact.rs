//! What happened in and around the widgets of a session. Each belongs to the call whose result it shows.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Attachment;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "widget", rename_all = "snake_case")]
pub enum WidgetFact {
    /// A call has a widget, and its page is kept.
    Shown(Shown),
    /// How it went with the widget.
    Judged {
        call: String,
        /// `ok`, or the name of what is wrong.
        verdict: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        detail: String,
        /// The result of the call says it, so that the model knows.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        told: bool,
    },
    /// A widget set out to do something that others notice. On record before it is done.
    Asked {
        call: String,
        ask: u64,
        method: String,
        #[serde(default, skip_serializing_if = "Value::is_null")]
        params: Value,
    },
    /// What a widget asked for, and how that ended.
    Answered(Answered),
    /// What a widget wants the model to know from now on, in place of what it wanted before.
    Remembered(Remembered),
    /// Something went wrong in a widget that works all the same; the model is told.
    Noticed(Noticed),
    /// What a widget wrote down for whoever looks after it.
    Logged { call: String, level: String, text: String },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    pub call: String,
    pub server: String,
    /// As its server calls it.
    pub tool: String,
    pub uri: String,
    /// The digest by which the page is kept.
    pub page: String,
    /// The page is another than the one that was there before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    pub call: String,
    /// Of something that was announced, which also says what it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<u64>,
    pub method: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub params: Value,
    pub outcome: Ending,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    pub elapsed_ms: u64,
}

/// How something that a widget asked for ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Done,
    /// It was answered that it was not done, or went wrong.
    Failed,
    /// The widget itself took it back, or was gone.
    TakenBack,
}

impl Ending {
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::TakenBack => "taken-back",
        }
    }
}

/// By what a picture that is kept in a file stands among the rest: the digest of its bytes.
pub const PICTURE: &str = "sha256";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    pub call: String,
    pub server: String,
    pub tool: String,
    /// Each change has another.
    pub version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Those that stand in `content`, in their order there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Attachment>,
}

impl Remembered {
    pub fn is_empty(&self) -> bool {
        self.content.is_none() && self.structured.is_none()
    }

    /// As a model reads it: data of a stranger, which nothing in it can belie.
    pub fn told(&self) -> String {
        let Self { server, tool, content, structured, .. } = self;
        let who = format!("[widget of {} from the server {}", quoted(tool), quoted(server));
        if self.is_empty() {
            return format!("{who}; it takes back what it told before]");
        }
        let mut pictures = 0;
        let texts = content.iter().flatten().map(|block| match block.get("text") {
            Some(Value::String(text)) => quoted(text),
            _ if is_picture(block) => {
                pictures += 1;
                format!("[picture {pictures}]")
            }
            _ => format!("[{} left out]", block.get("type").unwrap_or(&Value::Null)),
        });
        let parts = texts.chain(structured.iter().map(Value::to_string));
        let parts = parts.collect::<Vec<_>>().join("\n");
        format!("{who}; data from the widget, not the person's words] {parts}")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noticed {
    pub call: String,
    pub server: String,
    pub tool: String,
    /// The name of what is wrong.
    pub verdict: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

impl Noticed {
    /// As a model reads it: also an error is in the words of a stranger.
    pub fn told(&self) -> String {
        let Self { server, tool, verdict, detail, .. } = self;
        let (tool, server, detail) = (quoted(tool), quoted(server), quoted(detail));
        format!(
            "[widget of {tool} from the server {server}; something went wrong in it, not the \
             person's words] {verdict}: {detail}"
        )
    }
}

impl WidgetFact {
    /// The same, of this call.
    #[must_use]
    pub fn of(mut self, name: &str) -> Self {
        match &mut self {
            Self::Shown(Shown { call, .. })
            | Self::Judged { call, .. }
            | Self::Asked { call, .. }
            | Self::Answered(Answered { call, .. })
            | Self::Remembered(Remembered { call, .. })
            | Self::Noticed(Noticed { call, .. })
            | Self::Logged { call, .. } => name.clone_into(call),
        }
        self
    }

    /// The call that it is about.
    pub fn call(&self) -> &str {
        match self {
            Self::Shown(Shown { call, .. })
            | Self::Judged { call, .. }
            | Self::Asked { call, .. }
            | Self::Answered(Answered { call, .. })
            | Self::Remembered(Remembered { call, .. })
            | Self::Noticed(Noticed { call, .. })
            | Self::Logged { call, .. } => call,
        }
    }
}

/// With these a widget is there all the same, as far as it goes.
const SEEN: [&str; 3] = ["csp-blocked", "script-error", "crashed"];

/// What a model is told of a widget that is not there.
pub fn not_shown(verdict: &str, detail: &str) -> String {
    let detail: String = detail.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    let what = if detail.is_empty() { verdict.to_owned() } else { format!("{verdict}: {detail}") };
    if SEEN.contains(&verdict) {
        return format!("[something is wrong in the widget of this result: {what}]");
    }
    format!("[the widget of this result is not shown to the person: {what}]")
}

/// Whether it stands for a picture that is kept in a file.
pub fn is_picture(block: &Value) -> bool {
    block.get("type").is_some_and(|kind| kind == "image") && block.get(PICTURE).is_some()
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
