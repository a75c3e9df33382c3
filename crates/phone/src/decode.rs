//! What the shipped app can decode: every payload of version 1, with its types and no leniency.

use std::collections::HashSet;

use serde_json::Value;

use crate::fields::{Fault, Fields};

/// The largest frame that does not end the app's socket.
pub const FRAME_BYTES: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    pub agent: String,
    pub busy: bool,
    pub context_remaining: f64,
    pub tokens_used: i64,
    pub version: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    User,
    Agent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub id: String,
    pub role: Role,
    pub content: String,
    pub timestamp: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub name: String,
    pub status: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub id: String,
    pub title: String,
    pub visibility: Option<String>,
    pub show_progress: Option<bool>,
    pub progress: f64,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Connected {
        agent: String,
        busy: bool,
        context_remaining: f64,
        tokens_used: Option<i64>,
    },
    Stream {
        reply_to: String,
        delta: String,
    },
    Complete {
        reply_to: String,
        id: String,
        content: String,
        timestamp: String,
    },
    TaskCreated(Task),
    TaskUpdated {
        id: String,
        progress: f64,
        steps: Vec<Step>,
    },
    TaskCompleted {
        id: String,
        result: String,
    },
    StatusUpdate {
        busy: bool,
        context_remaining: f64,
        tokens_used: Option<i64>,
    },
    /// Nothing that the app knows, which is how there is room for more.
    Other(String),
}

/// The body of `GET /status`.
pub fn status(body: &str) -> Result<Status, Fault> {
    let body = json("/status", body)?;
    let fields = Fields::of("/status", &body)?;
    Ok(Status {
        agent: fields.text("agent")?.to_owned(),
        busy: busy(&fields)?,
        context_remaining: fields.share("context_remaining")?,
        tokens_used: fields.whole("tokens_used")?,
        version: fields.maybe_text("version")?.map(str::to_owned),
    })
}

/// The body of `GET /messages`.
pub fn messages(body: &str) -> Result<Vec<Row>, Fault> {
    let body = json("/messages", body)?;
    let rows = Fields::of("/messages", &body)?.list("messages")?;
    rows.iter().enumerate().map(|(index, row)| self::row(index, row)).collect()
}

fn row(index: usize, row: &Value) -> Result<Row, Fault> {
    let fields = Fields::of(format!("/messages.messages[{index}]"), row)?;
    let role = match fields.text("role")? {
        "user" => Role::User,
        "agent" => Role::Agent,
        other => {
            let what = format!("`{other}` is neither `user` nor `agent`");
            return Err(Fault::new(fields.place("role"), what));
        }
    };
    Ok(Row {
        id: fields.text("id")?.to_owned(),
        role,
        content: fields.text("content")?.to_owned(),
        timestamp: fields.time("timestamp")?.to_owned(),
    })
}

/// A frame of the socket.
pub fn event(frame: &str) -> Result<Event, Fault> {
    if frame.len() > FRAME_BYTES {
        let what = format!("{} bytes end the socket: {FRAME_BYTES} are the most", frame.len());
        return Err(Fault::new("frame", what));
    }
    let frame = json("frame", frame)?;
    let kind = Fields::of("frame", &frame)?.text("type")?;
    let fields = Fields::of(kind, &frame)?;
    let text = |name| fields.text(name).map(str::to_owned);
    Ok(match kind {
        "connected" => Event::Connected {
            agent: text("agent")?,
            busy: busy(&fields)?,
            context_remaining: fields.share("context_remaining")?,
            tokens_used: fields.maybe_whole("tokens_used")?,
        },
        "message.stream" => Event::Stream { reply_to: text("reply_to")?, delta: text("delta")? },
        "message.complete" => Event::Complete {
            reply_to: text("reply_to")?,
            id: text("id")?,
            content: text("content")?,
            timestamp: fields.time("timestamp")?.to_owned(),
        },
        "task.created" => {
            fields.text("status")?;
            Event::TaskCreated(Task {
                id: text("task_id")?,
                title: text("title")?,
                visibility: fields.maybe_text("visibility")?.map(str::to_owned),
                show_progress: fields.maybe_flag("show_progress")?,
                progress: fields.share("progress")?,
                steps: steps(&fields)?,
            })
        }
        "task.updated" => Event::TaskUpdated {
            id: text("task_id")?,
            progress: fields.share("progress")?,
            steps: steps(&fields)?,
        },
        "task.completed" => {
            fields.share("progress")?;
            Event::TaskCompleted { id: text("task_id")?, result: text("result")? }
        }
        "status.update" => Event::StatusUpdate {
            busy: busy(&fields)?,
            context_remaining: fields.share("context_remaining")?,
            tokens_used: fields.maybe_whole("tokens_used")?,
        },
        other => Event::Other(other.to_owned()),
    })
}

fn busy(fields: &Fields<'_>) -> Result<bool, Fault> {
    match fields.text("status")? {
        "idle" => Ok(false),
        "busy" => Ok(true),
        other => {
            let what = format!("`{other}` is neither `idle` nor `busy`");
            Err(Fault::new(fields.place("status"), what))
        }
    }
}

/// Steps are told apart by their names, so each has its own.
pub fn steps(fields: &Fields<'_>) -> Result<Vec<Step>, Fault> {
    let mut names = HashSet::new();
    let mut steps = Vec::new();
    for (index, step) in fields.list("steps")?.iter().enumerate() {
        let step = Fields::of(fields.place(&format!("steps[{index}]")), step)?;
        let (name, status) = (step.text("name")?, step.text("status")?);
        if !names.insert(name) {
            return Err(Fault::new(step.place("name"), format!("`{name}` is there twice")));
        }
        if !matches!(status, "pending" | "in_progress" | "completed" | "failed") {
            return Err(Fault::new(step.place("status"), format!("`{status}` is not known")));
        }
        steps.push(Step { name: name.to_owned(), status: status.to_owned() });
    }
    Ok(steps)
}

pub fn json(place: &str, text: &str) -> Result<Value, Fault> {
    serde_json::from_str(text).map_err(|error| Fault::new(place, format!("no JSON: {error}")))
}
