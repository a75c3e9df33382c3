//! An order as it is written for a device.

use kernel::desktop::{Action, After, DesktopError, Order, Shot};
use serde_json::{Map, Value, json};

/// The largest frame that a device takes; it leaves whoever sends a larger one.
pub const FRAME_BYTES: usize = 1 << 20;

/// Secrets included: this goes to the device and nowhere else. One that knows only the seed is told
/// nothing that it would not understand. What no device takes is not sent: texts grow on the wire by
/// all that is escaped there.
pub fn command(order: &Order, is_plain: bool) -> Result<Map<String, Value>, DesktopError> {
    let frame = framed(order, is_plain);
    let length = serde_json::to_string(&frame).map_or(usize::MAX, |frame| frame.len());
    if length <= FRAME_BYTES {
        return Ok(frame);
    }
    let text = format!(
        "a device takes at most {FRAME_BYTES} bytes at once, and this makes {length} on the way: \
         send less at a time"
    );
    Err(order.action.failed(DesktopError::bad(text)))
}

fn framed(order: &Order, is_plain: bool) -> Map<String, Value> {
    let mut frame = flat(&order.action);
    match order.action {
        Action::Screenshot(_) if is_plain => frame.retain(|name, _| name == "type"),
        Action::KeyboardInput { .. } if is_plain => frame.retain(|name, _| name != "secret"),
        _ => (),
    }
    if let Some(After { settle_ms, shot }) = &order.after {
        let after = json!({ "settle_ms": settle_ms, "screenshot": picture(shot) });
        frame.insert("after".to_owned(), after);
    }
    if !order.id.is_empty() {
        frame.insert("commandId".to_owned(), order.id.as_str().into());
    }
    frame
}

fn flat(action: &Action) -> Map<String, Value> {
    let mut frame = Map::from_iter([("type".to_owned(), action.kind().into())]);
    frame.extend(action.arguments());
    match action {
        Action::Batch { actions, .. } => {
            let actions = actions.iter().map(|action| Value::Object(flat(action)));
            frame.insert("actions".to_owned(), actions.collect());
        }
        _ => {
            if let Some(text) = action.secret() {
                frame.insert("text".to_owned(), text.into());
            }
        }
    }
    frame
}

fn picture(shot: &Shot) -> Value {
    Action::Screenshot(*shot).arguments().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use kernel::desktop::{Code, LONGEST_CLIPBOARD, Method, Point};

    use super::*;
    use crate::command::{Request, parse};

    fn written(order: &Order) -> Value {
        Value::Object(command(order, false).unwrap())
    }

    #[test]
    fn an_order_is_written_as_the_seed_has_it() {
        let to = Point { x: 500, y: 300 };
        let action = Action::MouseMove { to, duration: 0.1 };
        let order = Order { id: "cmd_0_1".to_owned(), action, after: None };
        let frame = json!({ "type": "mouse_move", "x": 500, "y": 300, "duration": 0.1, "commandId": "cmd_0_1" });
        assert_eq!(written(&order), frame);
    }

    #[test]
    fn a_plain_device_is_asked_for_a_picture_in_one_word() {
        let order = Order::from(Action::Screenshot(Shot::default()));
        let plain = Value::Object(command(&order, true).unwrap());
        assert_eq!(plain, json!({ "type": "screenshot" }));
    }

    #[test]
    fn a_secret_reaches_the_device() {
        let secret = |text: &str| Action::KeyboardType {
            text: text.to_owned(),
            method: Method::Auto,
            secret: true,
            delay_ms: 0,
        };
        let alone = written(&secret("swordfish").into());
        assert_eq!(alone["text"], "swordfish");
        let batch = Action::Batch { actions: vec![secret("swordfish")], stop_on_error: true };
        assert_eq!(written(&batch.into())["actions"][0]["text"], "swordfish");
        let seeds = Action::KeyboardInput { text: "swordfish".to_owned(), secret: true }.into();
        let mut frame = json!({ "type": "keyboard_input", "text": "swordfish", "secret": true });
        assert_eq!(written(&seeds), frame);
        frame.as_object_mut().unwrap().remove("secret");
        assert_eq!(Value::Object(command(&seeds, true).unwrap()), frame);
    }

    #[test]
    fn the_longest_text_for_the_clipboard_fits_unless_too_much_of_it_is_escaped() {
        let filled = |letter: &str| {
            let text = letter.repeat(LONGEST_CLIPBOARD / letter.len());
            Order { id: "cmd_0_1768427191716".to_owned(), ..Action::ClipboardSet { text }.into() }
        };
        for letter in ["x", "漢", "🙂"] {
            let order = filled(letter);
            let frame = written(&order).to_string();
            assert!(frame.len() <= FRAME_BYTES, "{letter}: {}", frame.len());
            assert_eq!(parse(&frame).result, Ok(Request::Do(Box::new(order))));
        }
        for letter in ["\n", "\u{1}"] {
            let order = filled(letter);
            order.action.check().unwrap();
            let error = command(&order, false).unwrap_err();
            assert_eq!(error.code, Code::BadRequest);
            assert!(error.text.contains("send less at a time"), "{error}");
        }
    }

    #[test]
    fn whatever_is_written_is_read_as_it_was_meant() {
        for order in crate::examples::orders() {
            let parsed = parse(&written(&order).to_string());
            assert_eq!(parsed.result, Ok(Request::Do(Box::new(order))));
        }
    }
}
