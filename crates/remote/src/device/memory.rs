//! What was answered to which command, so that one that is sent again is not done again.

use std::collections::VecDeque;

use kernel::desktop::DesktopError;
use serde_json::{Map, Value};

use crate::reply::{Envelope, written};

const MOST: usize = 256;
/// Larger answers hold pictures or much text, and are kept without.
const LONGEST: usize = 64 * 1024;
/// As much of a text as is kept of those, in characters; a batch has two dozen of them.
const EXCERPT: usize = 500;
/// Hubs count: whatever is longer is no id, and memory is not for it.
const LONGEST_ID: usize = 1024;

#[derive(Default)]
pub struct Memory(VecDeque<(String, String)>);

impl Memory {
    /// The empty name is nobody's. `is_extended` is whether the answer is for a hub that knows more
    /// than the seed.
    pub fn keep(&mut self, id: &str, reply: &Map<String, Value>, is_extended: bool) {
        if id.is_empty() || id.len() > LONGEST_ID {
            return;
        }
        let mut kept = serde_json::to_string(reply).unwrap_or_default();
        if kept.len() > LONGEST {
            kept = Value::Object(outlined(reply, is_extended)).to_string();
        }
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back((id.to_owned(), kept));
    }

    pub fn recall(&self, id: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(kept, _)| kept == id);
        found.map(|(_, reply)| reply.as_str())
    }
}

/// What came of it, without what it looked like.
fn outlined(reply: &Map<String, Value>, is_extended: bool) -> Map<String, Value> {
    let mut reply = reply.clone();
    reply.remove("screenshot");
    for value in reply.values_mut() {
        match value {
            Value::String(text) => shorten(text),
            Value::Array(results) => {
                for result in results {
                    outline_result(result, is_extended);
                }
            }
            _ => (),
        }
    }
    reply
}

/// Of a batch. What only looked can be asked for again, and is not worth its room.
fn outline_result(result: &mut Value, is_extended: bool) {
    let Value::Object(fields) = result else { return };
    let kind = fields.get("type").and_then(Value::as_str);
    *fields = if matches!(kind, Some("success" | "error" | "mouse_position")) {
        outlined(fields, is_extended)
    } else {
        let gone = DesktopError::failed("It was answered before, and is not kept: look again");
        written(&Err(gone), Envelope { extended: is_extended, ..Envelope::PLAIN })
    };
}

fn shorten(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(EXCERPT) {
        text.truncate(end);
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keep(memory: &mut Memory, id: &str, reply: &Value) {
        memory.keep(id, reply.as_object().unwrap(), true);
    }

    fn recalled(memory: &Memory, id: &str) -> Option<Value> {
        memory.recall(id).map(|reply| serde_json::from_str(reply).unwrap())
    }

    #[test]
    fn the_last_answers_are_remembered_and_no_more() {
        let mut memory = Memory::default();
        for number in 0..=MOST {
            keep(&mut memory, &number.to_string(), &json!({ "message": number }));
        }
        let endless = "x".repeat(LONGEST_ID + 1);
        for id in ["", &endless] {
            keep(&mut memory, id, &json!({ "message": "nobody's" }));
        }
        let recalled = ["0", "1", "256", "", &endless].map(|id| recalled(&memory, id));
        let message = |number: usize| Some(json!({ "message": number }));
        assert_eq!(recalled, [None, message(1), message(256), None, None]);
    }

    #[test]
    fn of_a_large_answer_it_is_remembered_what_was_done() {
        let mut memory = Memory::default();
        let picture = json!({ "data": "x".repeat(LONGEST), "width": 16 });
        let done = json!({ "type": "success", "message": "Clicked left button", "commandId": "a" });
        let mut seen = done.clone();
        seen["screenshot"] = picture.clone();
        keep(&mut memory, "a", &seen);
        assert_eq!(recalled(&memory, "a"), Some(done.clone()));
        seen["screenshot"]["data"] = "small".into();
        keep(&mut memory, "b", &seen);
        assert_eq!(recalled(&memory, "b"), Some(seen));

        let text = "é".repeat(20_000);
        let results = json!([
            { "type": "success", "message": format!("Typed: {text}") },
            { "type": "screenshot", "data": "x".repeat(LONGEST) },
            { "type": "mouse_position", "x": 1, "y": 2 },
        ]);
        keep(&mut memory, "c", &json!({ "type": "batch", "completed": 3, "results": results }));
        let kept = recalled(&memory, "c").unwrap();
        assert!(kept.to_string().len() < LONGEST);
        let typed = kept["results"][0]["message"].as_str().unwrap();
        assert!(typed.starts_with("Typed: éé") && typed.ends_with('…'), "{typed}");
        assert_eq!(kept["results"][1]["code"], "failed");
        assert_eq!(kept["results"][2], json!({ "type": "mouse_position", "x": 1, "y": 2 }));
        assert_eq!((&kept["type"], &kept["completed"]), (&json!("batch"), &json!(3)));
    }
}
