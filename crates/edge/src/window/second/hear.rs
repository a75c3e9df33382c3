//! What a phone of version 2 says on its socket, understood or answered with what was wrong.

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::window::{
    attachments,
    hear::{self, Complaint},
};

/// How long an answer in the person's own words may be.
const ANSWER_CHARS: usize = 10_000;

#[derive(Debug, PartialEq, Eq)]
pub enum Wish {
    Send {
        id: Option<String>,
        content: String,
        attachments: Vec<Uuid>,
    },
    /// The name of a message; the turn that is running if there is none.
    Cancel {
        id: Option<String>,
    },
    Respond {
        id: Option<String>,
        approval: String,
        decision: Decision,
    },
    Typing {
        active: bool,
    },
    Sessions {
        id: String,
    },
    Select {
        id: String,
        session: String,
    },
}

#[derive(Debug, PartialEq, Eq)]
pub enum Decision {
    Once,
    Session,
    Deny,
    Answer(String),
}

pub fn hear(frame: &[u8]) -> Result<Wish, Complaint> {
    let (frame, id, kind) = hear::open(frame)?;
    let complain = |code, message: &str| Complaint::new(id.clone(), code, message);
    let text = |name: &str| match frame.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        _ => Err(complain("bad_frame", &format!("{name} must be a string"))),
    };
    let named = || id.clone().unwrap_or_default();
    Ok(match kind.as_str() {
        "message.send" => {
            let content = hear::content(&frame, id.as_ref())?;
            let attachments = files(&frame).map_err(|message| complain("bad_frame", &message))?;
            Wish::Send { id, content, attachments }
        }
        "message.cancel" => Wish::Cancel { id },
        "approval.respond" => {
            let approval = text("approval_id")?;
            let decision = match text("decision")?.as_str() {
                "once" => Decision::Once,
                "session" => Decision::Session,
                "deny" => Decision::Deny,
                "answer" => {
                    let answer = text("answer")?;
                    if answer.chars().count() > ANSWER_CHARS {
                        let message = format!("answer has at most {ANSWER_CHARS} characters");
                        return Err(complain("too_long", &message));
                    }
                    Decision::Answer(answer)
                }
                _ => {
                    let message = "decision must be once, session, deny or answer";
                    return Err(complain("bad_frame", message));
                }
            };
            Wish::Respond { id, approval, decision }
        }
        "typing" => match frame.get("active") {
            Some(Value::Bool(active)) => Wish::Typing { active: *active },
            _ => return Err(complain("bad_frame", "active must be true or false")),
        },
        "session.list" => Wish::Sessions { id: named() },
        "session.select" => Wish::Select { id: named(), session: text("session")? },
        _ => {
            let known = "type must be message.send, message.cancel, approval.respond, session.list, \
                         session.select or typing";
            return Err(complain("unknown_type", known));
        }
    })
}

fn files(frame: &Map<String, Value>) -> Result<Vec<Uuid>, String> {
    let shape = || "attachments must be an array of objects with an id".to_owned();
    let files = match frame.get("attachments") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(files)) => files,
        Some(_) => return Err(shape()),
    };
    if files.len() > attachments::MOST {
        return Err(format!("at most {} attachments go along", attachments::MOST));
    }
    let id = |file: &Value| file.get("id")?.as_str()?.parse::<Uuid>().ok();
    files.iter().map(|file| id(file).ok_or_else(shape)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_wish_is_understood_or_told_what_is_wrong() {
        let heard = |frame: Value| hear(frame.to_string().as_bytes());
        let id = Some("a".to_owned());
        let file = Uuid::nil();
        for (frame, wish) in [
            (
                json!({ "type": "message.send", "id": "a", "content": "x", "attachments": [{ "id": file }] }),
                Wish::Send { id: id.clone(), content: "x".into(), attachments: vec![file] },
            ),
            (json!({ "type": "message.cancel" }), Wish::Cancel { id: None }),
            (json!({ "type": "message.cancel", "id": "a" }), Wish::Cancel { id: id.clone() }),
            (
                json!({ "type": "approval.respond", "id": "a", "approval_id": "q", "decision": "session" }),
                Wish::Respond { id: id.clone(), approval: "q".into(), decision: Decision::Session },
            ),
            (json!({ "type": "typing", "active": true }), Wish::Typing { active: true }),
            (json!({ "type": "session.list", "id": "a" }), Wish::Sessions { id: "a".into() }),
            (
                json!({ "type": "session.select", "id": "a", "session": "s" }),
                Wish::Select { id: "a".into(), session: "s".into() },
            ),
        ] {
            assert_eq!(heard(frame).unwrap(), wish);
        }
        let many = vec![json!({ "id": file }); 11];
        for (frame, code) in [
            (json!([]), "bad_frame"),
            (json!({ "type": "dance" }), "unknown_type"),
            (json!({ "type": "typing", "active": "yes" }), "bad_frame"),
            (json!({ "type": "session.select" }), "bad_frame"),
            (json!({ "type": "approval.respond", "approval_id": "q" }), "bad_frame"),
            (
                json!({ "type": "approval.respond", "approval_id": "q", "decision": "always" }),
                "bad_frame",
            ),
            (json!({ "type": "message.send", "content": "x", "attachments": many }), "bad_frame"),
            (json!({ "type": "message.send", "content": "x", "attachments": ["a"] }), "bad_frame"),
            (json!({ "type": "message.send", "content": " " }), "empty"),
        ] {
            assert_eq!(heard(frame.clone()).unwrap_err().code, code, "{frame:.60}");
        }
    }
}
