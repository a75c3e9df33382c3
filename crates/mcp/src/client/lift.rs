//! Older servers put what they say of widgets among the annotations of a tool, where it would be lost: it is moved
//! to where it belongs before anybody reads the message.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The message with what begins with `ui/` in `_meta` as well, where nothing else is said there.
pub fn lift(message: &str) -> Cow<'_, str> {
    if !message.contains("\"ui/resourceUri\"") {
        return Cow::Borrowed(message);
    }
    let Ok(mut value) = serde_json::from_str::<Value>(message) else {
        return Cow::Borrowed(message);
    };
    let tools = value.pointer_mut("/result/tools").and_then(Value::as_array_mut);
    let moved = tools.into_iter().flatten().map(lift_one).filter(|moved| *moved).count();
    if moved == 0 { Cow::Borrowed(message) } else { Cow::Owned(value.to_string()) }
}

/// Whether there was something to move.
fn lift_one(tool: &mut Value) -> bool {
    let annotations = tool.get("annotations").and_then(Value::as_object);
    let ours = annotations.into_iter().flatten().filter(|(name, _)| name.starts_with("ui/"));
    let ours: Map<String, Value> =
        ours.map(|(name, value)| (name.clone(), value.clone())).collect();
    let Some(tool) = tool.as_object_mut().filter(|_| !ours.is_empty()) else { return false };
    let meta = tool.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
    let Some(meta) = meta.as_object_mut() else { return false };
    for (name, value) in ours {
        meta.entry(name).or_insert(value);
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "shorter where it is called")]
    fn lifted(tool: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [tool] } });
        let after: Value = serde_json::from_str(&lift(&message.to_string())).unwrap();
        after["result"]["tools"][0].clone()
    }

    #[test]
    fn what_is_said_of_widgets_among_annotations_is_found() {
        let old =
            json!({ "ui/resourceUri": "ui://a", "ui/capabilities": {}, "readOnlyHint": true });
        let after = lifted(json!({ "name": "t", "annotations": old }));
        assert_eq!(after["_meta"], json!({ "ui/resourceUri": "ui://a", "ui/capabilities": {} }));
        assert_eq!(after["annotations"], old);
        let both = json!({ "annotations": old, "_meta": { "ui/resourceUri": "ui://b", "x": 1 } });
        let meta = json!({ "ui/resourceUri": "ui://b", "x": 1, "ui/capabilities": {} });
        assert_eq!(lifted(both)["_meta"], meta);
    }

    #[test]
    fn every_other_message_stays_as_it_is() {
        for message in [
            "",
            "{",
            r#"{"result":{"tools":[{"_meta":{"ui/resourceUri":"ui://a"}}]}}"#,
            r#"{"result":{"tools":3,"x":"ui/resourceUri"}}"#,
            r#"{ "x": "ui/resourceUri" }"#,
        ] {
            assert_eq!(lift(message), message);
        }
    }
}
