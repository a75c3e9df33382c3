//! Each row of the table of coercions through `POST /api/command`: what reaches the device, or what is
//! answered in its words without its hearing of it.

use serde_json::{Value, json};

use super::desktop::{arm, key, original};
use crate::common::House;

/// A move with this in the place of `x`.
#[expect(clippy::needless_pass_by_value, reason = "`json!` reads best without a `&`")]
fn x(value: Value) -> Value {
    json!({ "type": "mouse_move", "x": value, "y": 1, "duration": 0.1 })
}

#[expect(clippy::needless_pass_by_value, reason = "`json!` reads best without a `&`")]
fn lasting(value: Value) -> Value {
    json!({ "type": "mouse_move", "x": 1, "y": 1, "duration": value })
}

#[expect(clippy::needless_pass_by_value, reason = "`json!` reads best without a `&`")]
fn scroll(intensity: Value) -> Value {
    json!({ "type": "mouse_scroll", "direction": "up", "intensity": intensity })
}

/// What is wished, what is sent for it, and what is said to have been changed.
fn sent() -> Vec<(Value, Value, Value)> {
    let changed = |name: &str, from: Value, to: Value| json!({ name: { "from": from, "to": to } });
    let none = Value::Null;
    vec![
        (x(json!("500")), x(json!(500)), none.clone()),
        (x(json!(" 500 ")), x(json!(500)), none.clone()),
        (x(json!("+7")), x(json!(7)), none.clone()),
        (x(json!(500.0)), x(json!(500)), none.clone()),
        (x(json!("1e3")), x(json!(1000)), none.clone()),
        (x(json!(500.7)), x(json!(500)), changed("x", json!(500.7), json!(500))),
        (x(json!("12.9")), x(json!(12)), changed("x", json!("12.9"), json!(12))),
        (x(json!(-5)), x(json!(0)), changed("x", json!(-5), json!(0))),
        (x(json!("-5")), x(json!(0)), changed("x", json!("-5"), json!(0))),
        (lasting(json!("1.5")), lasting(json!(1.5)), none.clone()),
        (lasting(json!(26)), lasting(json!(25.0)), changed("duration", json!(26), json!(25))),
        (lasting(json!(-1)), lasting(json!(-1.0)), none.clone()),
        (lasting(json!(null)), lasting(json!(1.0)), none.clone()),
        (scroll(json!(null)), scroll(json!(3)), none.clone()),
        (scroll(json!(101)), scroll(json!(100)), changed("intensity", json!(101), json!(100))),
        (
            json!({ "type": "keyboard_input", "text": " 5 ", "commandId": "mine" }),
            json!({ "type": "keyboard_input", "text": " 5 " }),
            none,
        ),
    ]
}

/// What is wished, and what is wrong with it.
fn refused() -> Vec<(Value, &'static str)> {
    vec![
        (x(json!("abc")), "invalid type: string \"abc\", expected u32"),
        (x(json!("50px")), "invalid type: string \"50px\", expected u32"),
        (x(json!("1,200")), "invalid type: string \"1,200\", expected u32"),
        (x(json!("0x10")), "invalid type: string \"0x10\", expected u32"),
        (x(json!("")), "invalid type: string \"\", expected u32"),
        (x(json!(null)), "invalid type: null, expected u32"),
        (x(json!(true)), "invalid type: boolean `true`, expected u32"),
        (x(json!([1])), "invalid type: sequence, expected u32"),
        (x(json!({})), "invalid type: map, expected u32"),
        (x(json!(4_294_967_296_u64)), "invalid value: integer `4294967296`, expected u32"),
        (x(json!("4294967296")), "invalid value: integer `4294967296`, expected u32"),
        (scroll(json!(-3)), "invalid value: integer `-3`, expected u32"),
        (lasting(json!("1.5s")), "invalid type: string \"1.5s\", expected f32"),
        (lasting(json!("Infinity")), "invalid type: string \"Infinity\", expected f32"),
        (lasting(json!("NaN")), "invalid type: string \"NaN\", expected f32"),
        (json!({ "type": "mouse_move", "y": 1 }), "missing field `x`"),
        (
            json!({ "type": "mouse_click", "btn": "left" }),
            "missing field `button`; `btn` is not known, is `button` meant?",
        ),
        (
            json!({ "type": "keyboard_input", "text": 5 }),
            "invalid type: integer `5`, expected a string",
        ),
    ]
}

#[tokio::test]
async fn each_row_of_the_table_reaches_the_device_or_is_refused_before_it() {
    let house = House::new([]).await;
    let key = key(&house, "old", "device").await;
    let mut device = original(&house, &key).await;
    arm(&house, "old").await;
    // Nothing of this is sent: else it would be the first thing that the device hears below.
    for (wish, text) in refused() {
        let (status, answer) = house.post("/api/command", wish.clone()).await;
        let text = json!(format!("Invalid command format: {text}"));
        assert_eq!((status, &answer["error"]), (400, &text), "{wish}");
        assert_eq!(answer["code"], "bad_request");
    }
    for (wish, expected, adjusted) in sent() {
        let hearing = async {
            let mut heard = device.next().await;
            let id = heard.as_object_mut().unwrap().remove("commandId").unwrap();
            device.send(json!({ "type": "success", "message": "", "commandId": id })).await;
            heard
        };
        let (heard, answer) = tokio::join!(hearing, house.post("/api/command", wish.clone()));
        assert_eq!(heard, expected, "{wish}");
        assert_eq!((answer.0, &answer.1["adjusted"]), (200, &adjusted), "{wish}");
    }
}
