//! What is kept and shown of a call that holds a secret: all but that.

use kernel::desktop::hidden;
use serde_json::{Map, Value};

/// None if there is nothing secret in it.
pub fn told(args: &Value) -> Option<Value> {
    let mut told = args.clone();
    hide(&mut told).then_some(told)
}

/// Whatever it is, it is meant to be one, unless it says no.
pub fn is_secret(step: &Map<String, Value>) -> bool {
    !matches!(step.get("secret"), None | Some(Value::Null | Value::Bool(false)))
}

/// Says whether there was anything to hide.
fn hide(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) => {
            let is_secret = is_secret(fields);
            let mut hid = false;
            for (name, field) in fields {
                if is_secret && name == "text" && !field.is_null() {
                    // Digits without quotes are typed as well.
                    let text = field.as_str().map_or_else(|| field.to_string(), ToOwned::to_owned);
                    (*field, hid) = (hidden(&text).into(), true);
                } else {
                    hid |= hide(field);
                }
            }
            hid
        }
        Value::Array(items) => items.iter_mut().map(hide).filter(|hid| *hid).count() > 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_is_told_by_its_length_wherever_it_is_and_nothing_else_is_changed() {
        let secret = json!({ "action": "type", "text": "hünter2", "secret": true });
        let digits = json!({ "text": 1234, "secret": "yes" });
        let plain = json!({ "action": "type", "text": "hello", "secret": false });
        let batch = json!({ "action": "batch", "actions": [secret, plain, digits] });
        let expected = json!({ "action": "batch", "actions": [
            { "action": "type", "text": "[secret, 7 chars]", "secret": true },
            plain,
            { "text": "[secret, 4 chars]", "secret": "yes" },
        ] });
        assert_eq!(told(&batch), Some(expected));
        assert_eq!(told(&plain), None);
        assert_eq!(told(&json!(null)), None);
    }
}
