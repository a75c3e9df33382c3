//! Version 2 as a phone reads it: the frames of version 1, those it adds, and where each stands in the log.

use serde_json::Value;

use crate::{
    decode::{self, Event, Role, Row, Step},
    fields::{Fault, Fields},
};

/// A frame with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Telling {
    /// All up to here is told; absent where the server speaks version 1.
    pub seq: Option<i64>,
    pub news: News,
}

#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// What version 1 knows as well.
    Known(Event),
    /// `connected` of a server that speaks version 2.
    Agreed {
        event: Event,
        session: String,
        device: String,
        capabilities: Vec<String>,
    },
    /// All that was told of a reply is replaced by this.
    Replaced {
        reply_to: String,
        text: String,
    },
    CaughtUp,
    Reset,
    Accepted {
        reply_to: String,
        id: String,
        timestamp: String,
        position: i64,
        duplicate: bool,
    },
    User {
        id: String,
        content: String,
        timestamp: String,
        origin: String,
        /// The phone that said it, if one did.
        device: Option<String>,
        files: Vec<File>,
    },
    TaskFailed {
        id: String,
        steps: Vec<Step>,
        error: String,
    },
    Asked(Asked),
    Resolved {
        id: String,
        decision: String,
        by: String,
    },
    Sessions {
        reply_to: String,
        sessions: Vec<Session>,
    },
    Selected {
        reply_to: String,
        session: String,
    },
    Typing {
        device: String,
        active: bool,
    },
    Error {
        reply_to: Option<String>,
        code: String,
        message: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub name: String,
    pub url: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub id: String,
    pub title: String,
    pub detail: String,
    pub options: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: String,
    pub name: String,
    pub updated_at: String,
}

/// The history with `v=2`: its rows, and the place from which a socket goes on. A server of version 1
/// tells no place.
pub fn history(body: &str) -> Result<(Vec<Row>, Option<i64>), Fault> {
    let rows = decode::messages(body)?;
    let body = decode::json("/messages", body)?;
    Ok((rows, Fields::of("/messages", &body)?.maybe_whole("last_seq")?))
}

/// A frame of the socket, of either version.
pub fn telling(frame: &str) -> Result<Telling, Fault> {
    let event = decode::event(frame)?;
    let value = decode::json("frame", frame)?;
    let kind = Fields::of("frame", &value)?.text("type")?;
    let fields = Fields::of(kind, &value)?;
    let seq = fields.maybe_whole("seq")?;
    let news = match event {
        Event::Connected { .. } if fields.maybe_whole("v")?.is_some_and(|v| v >= 2) => {
            News::Agreed {
                event,
                session: fields.text("session")?.to_owned(),
                device: fields.text("device")?.to_owned(),
                capabilities: texts(&fields, "capabilities")?,
            }
        }
        Event::Stream { reply_to, delta } if fields.maybe_flag("replace")? == Some(true) => {
            News::Replaced { reply_to, text: delta }
        }
        Event::Other(kind) => more(&kind, &fields)?.unwrap_or(News::Known(Event::Other(kind))),
        event => News::Known(event),
    };
    if seq.is_none() && !matches!(news, News::Known(_) | News::Error { .. }) {
        return Err(Fault::new(fields.place("seq"), "it is missing"));
    }
    Ok(Telling { seq, news })
}

fn more(kind: &str, fields: &Fields<'_>) -> Result<Option<News>, Fault> {
    let text = |name| fields.text(name).map(str::to_owned);
    Ok(Some(match kind {
        "caught_up" => News::CaughtUp,
        "reset" => News::Reset,
        "message.accepted" => News::Accepted {
            reply_to: text("reply_to")?,
            id: text("id")?,
            timestamp: fields.time("timestamp")?.to_owned(),
            position: fields.whole("position")?,
            duplicate: fields.maybe_flag("duplicate")?.unwrap_or_default(),
        },
        "message.user" => News::User {
            id: text("id")?,
            content: text("content")?,
            timestamp: fields.time("timestamp")?.to_owned(),
            origin: text("origin")?,
            device: fields.maybe_text("device")?.map(str::to_owned),
            files: files(fields)?,
        },
        "task.failed" => {
            fields.share("progress")?;
            let (id, steps, error) = (text("task_id")?, decode::steps(fields)?, text("error")?);
            News::TaskFailed { id, steps, error }
        }
        "approval.request" => {
            text("tool")?;
            News::Asked(Asked {
                id: text("approval_id")?,
                title: text("title")?,
                detail: text("detail")?,
                options: texts(fields, "options")?,
            })
        }
        "approval.resolved" => News::Resolved {
            id: text("approval_id")?,
            decision: text("decision")?,
            by: text("by")?,
        },
        "session.list" => {
            News::Sessions { reply_to: text("reply_to")?, sessions: sessions(fields)? }
        }
        "session.selected" => {
            News::Selected { reply_to: text("reply_to")?, session: text("session")? }
        }
        "typing" => News::Typing {
            device: text("device")?,
            active: fields.maybe_flag("active")?.unwrap_or_default(),
        },
        "error" => News::Error {
            reply_to: fields.maybe_text("reply_to")?.map(str::to_owned),
            code: text("code")?,
            message: text("message")?,
        },
        _ => return Ok(None),
    }))
}

fn texts(fields: &Fields<'_>, name: &str) -> Result<Vec<String>, Fault> {
    let text = |it: &Value| it.as_str().map(str::to_owned);
    let texts: Option<_> = fields.list(name)?.iter().map(text).collect();
    texts.ok_or_else(|| Fault::new(fields.place(name), "an array of strings is expected"))
}

fn files(fields: &Fields<'_>) -> Result<Vec<File>, Fault> {
    if !fields.has("attachments") {
        return Ok(Vec::new());
    }
    let file = |file: &Value| {
        let file = Fields::of(fields.place("attachments"), file)?;
        file.text("mime")?;
        Ok(File { name: file.text("name")?.to_owned(), url: file.text("url")?.to_owned() })
    };
    fields.list("attachments")?.iter().map(file).collect()
}

fn sessions(fields: &Fields<'_>) -> Result<Vec<Session>, Fault> {
    let session = |session: &Value| {
        let session = Fields::of(fields.place("sessions"), session)?;
        session.text("status")?;
        Ok(Session {
            id: session.text("id")?.to_owned(),
            name: session.text("name")?.to_owned(),
            updated_at: session.time("updated_at")?.to_owned(),
        })
    };
    fields.list("sessions")?.iter().map(session).collect()
}

/// A conversation as a phone of version 2 keeps it: told twice is told once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// All up to here was heard; the place to go on from.
    pub seq: Option<i64>,
    pub rows: Vec<Row>,
    /// Answers being written, by what they answer.
    pub writing: Vec<(String, String)>,
    /// Tasks, and what each ended with.
    pub tasks: Vec<(String, Option<String>)>,
    pub asked: Vec<Asked>,
    pub busy: bool,
    /// What was said here and not yet taken.
    pub sending: Vec<(String, String)>,
    /// The history must be read anew.
    pub is_void: bool,
    /// What the server calls this phone.
    pub device: Option<String>,
}

impl Timeline {
    pub fn load(&mut self, rows: Vec<Row>, seq: Option<i64>) {
        *self = Self { sending: std::mem::take(&mut self.sending), rows, seq, ..Self::default() };
    }

    pub fn hear(&mut self, telling: &Telling) {
        match &telling.news {
            News::Known(event) => self.know(event),
            News::Agreed { event, device, .. } => {
                self.device = Some(device.clone());
                self.know(event);
            }
            News::Replaced { reply_to, text } => {
                self.writing.retain(|(it, _)| it != reply_to);
                self.writing.push((reply_to.clone(), text.clone()));
            }
            News::Accepted { reply_to, id, timestamp, .. } => {
                let place = self.sending.iter().position(|(it, _)| it == reply_to);
                if let Some((_, content)) = place.map(|place| self.sending.remove(place)) {
                    self.add(id, Role::User, &content, timestamp);
                }
            }
            News::User { id, content, timestamp, device, .. } => {
                // The word that it was taken was cut off.
                let ours = device.is_some() && *device == self.device;
                let place = self.sending.iter().position(|(_, it)| ours && it == content);
                place.map(|place| self.sending.remove(place));
                self.add(id, Role::User, content, timestamp);
            }
            News::TaskFailed { id, error, .. } => self.end(id, error),
            News::Asked(asked) => {
                if self.asked.iter().all(|it| it.id != asked.id) {
                    self.asked.push(asked.clone());
                }
            }
            News::Resolved { id, .. } => self.asked.retain(|it| it.id != *id),
            News::Reset => self.is_void = true,
            News::CaughtUp
            | News::Sessions { .. }
            | News::Selected { .. }
            | News::Typing { .. }
            | News::Error { .. } => (),
        }
        self.seq = self.seq.max(telling.seq);
    }

    fn know(&mut self, event: &Event) {
        match event {
            Event::Connected { busy, .. } => {
                self.busy = *busy;
                self.writing.clear();
            }
            Event::StatusUpdate { busy, .. } => self.busy = *busy,
            Event::Stream { reply_to, delta } => {
                match self.writing.iter_mut().find(|(it, _)| it == reply_to) {
                    Some((_, text)) => text.push_str(delta),
                    None => self.writing.push((reply_to.clone(), delta.clone())),
                }
            }
            Event::Complete { reply_to, id, content, timestamp } => {
                self.writing.retain(|(it, _)| it != reply_to);
                self.add(id, Role::Agent, content, timestamp);
            }
            Event::TaskCreated(task) => {
                if self.tasks.iter().all(|(id, _)| *id != task.id) {
                    self.tasks.push((task.id.clone(), None));
                }
            }
            Event::TaskCompleted { id, result } => self.end(id, result),
            Event::TaskUpdated { .. } | Event::Other(_) => (),
        }
    }

    fn add(&mut self, id: &str, role: Role, content: &str, timestamp: &str) {
        if self.rows.iter().any(|row| row.id == id) {
            return;
        }
        let (id, content, timestamp) = (id.to_owned(), content.to_owned(), timestamp.to_owned());
        self.rows.push(Row { id, role, content, timestamp });
    }

    fn end(&mut self, id: &str, with: &str) {
        if let Some((_, end)) = self.tasks.iter_mut().find(|(it, _)| it == id) {
            *end = Some(with.to_owned());
        }
    }
}
