//! What a phone says on its socket, understood or answered with what was wrong.

use serde_json::{Map, Value};

pub const CONTENT_CHARS: usize = 65_536;
/// How long the phone's own name for a message may be.
const ID_BYTES: usize = 200;

/// `message.send`, the one thing that a phone of version 1 says.
#[derive(Debug, PartialEq, Eq)]
pub struct Send {
    /// The phone's own name for it, if it gave one.
    pub id: Option<String>,
    pub content: String,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Complaint {
    pub reply_to: Option<String>,
    pub code: &'static str,
    pub message: String,
}

impl Complaint {
    pub fn new(reply_to: Option<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self { reply_to, code, message: message.into() }
    }
}

pub fn hear(frame: &[u8]) -> Result<Send, Complaint> {
    let (frame, id, kind) = open(frame)?;
    if kind != "message.send" {
        return Err(Complaint::new(id, "unknown_type", "type must be message.send"));
    }
    let content = content(&frame, id.as_ref())?;
    Ok(Send { id, content })
}

/// What is in a frame, the phone's own name for it, and what kind it is.
type Opened = (Map<String, Value>, Option<String>, String);

/// Any frame, whatever it asks for.
pub fn open(frame: &[u8]) -> Result<Opened, Complaint> {
    let complain = |code, message: &str| Complaint::new(None, code, message);
    let value: Value = serde_json::from_slice(frame)
        .map_err(|_| complain("bad_json", "a frame must be JSON in UTF-8"))?;
    let Value::Object(frame) = value else {
        return Err(complain("bad_frame", "a frame must be a JSON object"));
    };
    let id = id(&frame)?;
    let kind = match frame.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        _ => return Err(Complaint::new(id, "bad_frame", "type must be a string")),
    };
    Ok((frame, id, kind))
}

/// The words of a message.
pub fn content(frame: &Map<String, Value>, id: Option<&String>) -> Result<String, Complaint> {
    let complain = |code, message: String| Complaint::new(id.cloned(), code, message);
    match frame.get("content") {
        Some(Value::String(content)) if content.trim().is_empty() => {
            Err(complain("empty", "the message is empty".to_owned()))
        }
        Some(Value::String(content)) if content.chars().count() > CONTENT_CHARS => Err(complain(
            "too_long",
            format!("the message is longer than {CONTENT_CHARS} characters"),
        )),
        Some(Value::String(content)) => Ok(content.clone()),
        _ => Err(complain("bad_frame", "content must be a string".to_owned())),
    }
}

fn id(frame: &Map<String, Value>) -> Result<Option<String>, Complaint> {
    let id = match frame.get("id") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(id)) if id.is_empty() => return Ok(None),
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        Some(_) => return Err(Complaint::new(None, "bad_frame", "id must be a string")),
    };
    if id.len() > ID_BYTES {
        let message = format!("id must have at most {ID_BYTES} bytes");
        return Err(Complaint::new(None, "bad_frame", message));
    }
    Ok(Some(id))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_is_understood_whatever_its_name_looks_like() {
        let heard = |id: Value| {
            let frame = json!({"type": "message.send", "content": "a/b", "id": id, "more": []});
            hear(frame.to_string().replace('/', "\\/").as_bytes()).unwrap()
        };
        let send = |id: Option<&str>| Send { id: id.map(str::to_owned), content: "a/b".to_owned() };
        assert_eq!(heard(json!("msg_1A2B3C4D")), send(Some("msg_1A2B3C4D")));
        assert_eq!(heard(json!(7)), send(Some("7")));
        assert_eq!(heard(json!(null)), send(None));
        assert_eq!(heard(json!("")), send(None));
    }

    #[test]
    fn what_cannot_be_understood_is_answered_with_what_was_wrong() {
        let deep = "[".repeat(10_000);
        let long = json!({"type": "message.send", "id": "a", "content": "ä".repeat(65_537)});
        let named = json!({"type": "message.send", "id": "a".repeat(1 << 20), "content": "x"});
        for (frame, reply_to, code) in [
            ("", None, "bad_json"),
            ("{", None, "bad_json"),
            (deep.as_str(), None, "bad_json"),
            (r#"{"type":"message.send","content":"\ud800"}"#, None, "bad_json"),
            ("[]", None, "bad_frame"),
            ("1", None, "bad_frame"),
            ("\"x\"", None, "bad_frame"),
            ("null", None, "bad_frame"),
            ("{}", None, "bad_frame"),
            (r#"{"type":5,"id":"a"}"#, Some("a"), "bad_frame"),
            (r#"{"type":"dance","id":"a"}"#, Some("a"), "unknown_type"),
            (r#"{"type":"message.send","id":"a"}"#, Some("a"), "bad_frame"),
            (r#"{"type":"message.send","id":"a","content":null}"#, Some("a"), "bad_frame"),
            (r#"{"type":"message.send","id":"a","content":5}"#, Some("a"), "bad_frame"),
            (r#"{"type":"message.send","id":"a","content":{}}"#, Some("a"), "bad_frame"),
            (r#"{"type":"message.send","id":"a","content":" \n"}"#, Some("a"), "empty"),
            (r#"{"type":"message.send","id":[],"content":"x"}"#, None, "bad_frame"),
            (&long.to_string(), Some("a"), "too_long"),
            (&named.to_string(), None, "bad_frame"),
        ] {
            let complaint = hear(frame.as_bytes()).unwrap_err();
            assert_eq!(
                (complaint.reply_to.as_deref(), complaint.code),
                (reply_to, code),
                "{frame:.60}"
            );
        }
        assert_eq!(hear(&[0xff, 0xfe]).unwrap_err().code, "bad_json");
        let most = json!({"type": "message.send", "content": "ä".repeat(65_536)});
        assert!(hear(most.to_string().as_bytes()).is_ok());
    }
}
