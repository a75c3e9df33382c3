//! What a client of the Caco socket says, understood or answered with what was wrong.

pub use kernel::gallery::is_slug;
use kernel::update::Seq;
use serde_json::{Map, Value};

use super::say::Deltas;

#[derive(Debug, PartialEq)]
pub enum Wish {
    Subscribe {
        session: String,
        after: Option<Seq>,
        deltas: Deltas,
    },
    History {
        session: String,
        after: Seq,
        id: Option<Value>,
    },
    SetState {
        data: Map<String, Value>,
        place: Place,
        id: Option<Value>,
    },
    GetState {
        place: Place,
        id: Option<Value>,
    },
    Ping {
        id: Option<Value>,
    },
    HoldFrame {
        frame: String,
    },
    FrameMessage {
        frame: String,
        message: Value,
    },
    /// What the page says of a frame that it shows.
    FrameNote {
        frame: String,
        note: Value,
    },
    /// Run a command and tell what it prints.
    Shell {
        id: String,
        order: Value,
    },
    ShellCancel {
        id: String,
    },
    /// Says nothing, and is answered with nothing.
    Nothing,
}

/// Whose applet state is meant, as far as it was said.
#[derive(Debug, Default, PartialEq)]
pub struct Place {
    pub session: Option<String>,
    pub slug: Option<String>,
}

#[derive(Debug, PartialEq)]
pub struct Complaint {
    pub id: Option<Value>,
    pub error: String,
}

pub fn hear(frame: &[u8]) -> Result<Wish, Complaint> {
    let complain = |error: &str| Complaint { id: None, error: error.to_owned() };
    let value: Value =
        serde_json::from_slice(frame).map_err(|_| complain("Invalid JSON message"))?;
    let frame = match value {
        Value::Null => return Err(complain("Invalid JSON message")),
        Value::Object(frame) => frame,
        _ => return Err(complain("Unknown message type: undefined")),
    };
    let id = frame.get("id").filter(|id| !id.is_null()).cloned();
    understand(frame, id.clone()).map_err(|error| Complaint { id, error })
}

fn understand(mut frame: Map<String, Value>, id: Option<Value>) -> Result<Wish, String> {
    let kind = match frame.get("type") {
        None => "undefined".to_owned(),
        Some(Value::String(kind)) => kind.clone(),
        Some(other) => other.to_string(),
    };
    match kind.as_str() {
        "subscribe" => {
            let Some(session) = text(&frame, "sessionId")? else { return Ok(Wish::Nothing) };
            Ok(Wish::Subscribe { session, after: after(&frame)?, deltas: deltas(&frame)? })
        }
        "requestHistory" => {
            let session = text(&frame, "sessionId")?;
            let session = session.ok_or("sessionId is required for requestHistory")?;
            Ok(Wish::History { session, after: after(&frame)?.unwrap_or_default(), id })
        }
        "setState" => match frame.remove("data") {
            None | Some(Value::Null) => Ok(Wish::Nothing),
            Some(Value::Object(data)) => Ok(Wish::SetState { data, place: place(&frame)?, id }),
            Some(_) => Err("Invalid state object".to_owned()),
        },
        "getState" => Ok(Wish::GetState { place: place(&frame)?, id }),
        "ping" => Ok(Wish::Ping { id }),
        "holdFrame" => Ok(Wish::HoldFrame { frame: frame_id(&frame, "holdFrame")? }),
        "frameMessage" => {
            let name = frame_id(&frame, "frameMessage")?;
            let message = frame.remove("message").ok_or("message is required for frameMessage")?;
            Ok(Wish::FrameMessage { frame: name, message })
        }
        "frameNote" => {
            let name = frame_id(&frame, "frameNote")?;
            let note = frame.remove("note").ok_or("note is required for frameNote")?;
            Ok(Wish::FrameNote { frame: name, note })
        }
        "shell" => {
            let id = text(&frame, "id")?.ok_or("id is required for shell")?;
            Ok(Wish::Shell { id, order: Value::Object(frame) })
        }
        "shellCancel" => {
            let id = text(&frame, "id")?.ok_or("id is required for shellCancel")?;
            Ok(Wish::ShellCancel { id })
        }
        "sendMessage" => Err("Use POST /api/sessions/:id/messages instead".to_owned()),
        other => Err(format!("Unknown message type: {other}")),
    }
}

/// A string that says something; absent, null and empty are the same.
fn text(frame: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match frame.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("{name} must be a string")),
    }
}

fn frame_id(frame: &Map<String, Value>, kind: &str) -> Result<String, String> {
    text(frame, "frameId")?.ok_or_else(|| format!("frameId is required for {kind}"))
}

fn place(frame: &Map<String, Value>) -> Result<Place, String> {
    let (session, slug) = (text(frame, "sessionId")?, text(frame, "appletSlug")?);
    if slug.as_deref().is_some_and(|slug| !is_slug(slug)) {
        return Err("Invalid slug".to_owned());
    }
    Ok(Place { session, slug })
}

fn after(frame: &Map<String, Value>) -> Result<Option<Seq>, String> {
    match frame.get("after") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            // JavaScript writes whole numbers past 2^53 with a fraction or an exponent; so be it.
            let seq = value.as_u64().ok_or("Invalid after")?;
            Ok(Some(Seq(seq)))
        }
    }
}

fn deltas(frame: &Map<String, Value>) -> Result<Deltas, String> {
    match frame.get("deltas") {
        None | Some(Value::Null) => Ok(Deltas::Both),
        Some(Value::String(name)) => match name.as_str() {
            "seed" => Ok(Deltas::Seed),
            "native" => Ok(Deltas::Native),
            "both" => Ok(Deltas::Both),
            other => Err(format!("Invalid deltas: {other}")),
        },
        Some(other) => Err(format!("Invalid deltas: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn error(frame: &str) -> (Option<Value>, String) {
        let Complaint { id, error } = hear(frame.as_bytes()).unwrap_err();
        (id, error)
    }

    #[test]
    fn what_cannot_be_understood_is_answered_with_what_was_wrong() {
        for (frame, text) in [
            ("", "Invalid JSON message"),
            ("{", "Invalid JSON message"),
            ("null", "Invalid JSON message"),
            ("{}", "Unknown message type: undefined"),
            ("[]", "Unknown message type: undefined"),
            ("\"ping\"", "Unknown message type: undefined"),
            (r#"{"type":"dance"}"#, "Unknown message type: dance"),
            (r#"{"type":5}"#, "Unknown message type: 5"),
            (r#"{"type":"requestHistory"}"#, "sessionId is required for requestHistory"),
            (r#"{"type":"requestHistory","sessionId":7}"#, "sessionId must be a string"),
            (r#"{"type":"sendMessage"}"#, "Use POST /api/sessions/:id/messages instead"),
            (r#"{"type":"subscribe","sessionId":"s","after":-1}"#, "Invalid after"),
            (r#"{"type":"subscribe","sessionId":"s","after":1.5}"#, "Invalid after"),
            (r#"{"type":"subscribe","sessionId":"s","after":"1"}"#, "Invalid after"),
            (r#"{"type":"subscribe","sessionId":"s","deltas":"all"}"#, "Invalid deltas: all"),
            (r#"{"type":"subscribe","sessionId":"s","deltas":1}"#, "Invalid deltas: 1"),
            (r#"{"type":"setState","data":[1]}"#, "Invalid state object"),
            (r#"{"type":"holdFrame"}"#, "frameId is required for holdFrame"),
            (r#"{"type":"holdFrame","frameId":1}"#, "frameId must be a string"),
            (r#"{"type":"frameMessage","message":1}"#, "frameId is required for frameMessage"),
            (r#"{"type":"frameMessage","frameId":"f"}"#, "message is required for frameMessage"),
        ] {
            assert_eq!(error(frame), (None, text.to_owned()), "{frame}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(error(&deep), (None, "Invalid JSON message".to_owned()));
        assert!(hear(&[0xff, 0xfe]).is_err());
    }

    #[test]
    fn a_complaint_bears_the_name_of_the_request() {
        let frame = r#"{"type":"requestHistory","id":"q1"}"#;
        let text = "sessionId is required for requestHistory".to_owned();
        assert_eq!(error(frame), (Some(json!("q1")), text));
    }

    #[test]
    fn wishes_are_understood() {
        let wish = |frame: Value| hear(frame.to_string().as_bytes()).unwrap();
        assert_eq!(wish(json!({"type":"ping","id":0})), Wish::Ping { id: Some(json!(0)) });
        assert_eq!(wish(json!({"type":"subscribe"})), Wish::Nothing);
        assert_eq!(wish(json!({"type":"setState"})), Wish::Nothing);
        let session = || "s".to_owned();
        assert_eq!(
            wish(json!({"type":"subscribe","sessionId":"s","after":3,"deltas":"native"})),
            Wish::Subscribe { session: session(), after: Some(Seq(3)), deltas: Deltas::Native }
        );
        assert_eq!(
            wish(json!({"type":"requestHistory","sessionId":"s","id":1})),
            Wish::History { session: session(), after: Seq(0), id: Some(json!(1)) }
        );
        let place = Place { session: Some(session()), slug: Some("calc".to_owned()) };
        assert_eq!(
            wish(json!({"type":"getState","sessionId":"s","appletSlug":"calc"})),
            Wish::GetState { place, id: None }
        );
    }
}
