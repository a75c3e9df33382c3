//! The names that models have learnt elsewhere, at the door for programs.

use kernel::desktop::{Action, Button, Chords, Point};
use serde_json::{Value, json};

use super::desktop::{Device, arm, key};
use crate::common::House;

#[tokio::test]
async fn commands_are_understood_by_the_names_that_others_gave_them() {
    let house = House::new([]).await;
    let key = key(&house, "studio", "device").await;
    let device = Device::connected(&house, &key, "studio").await;
    arm(&house, "studio").await;
    let says = async |command: Value| {
        let (status, mut answer) = house.post("/api/command", command).await;
        answer.as_object_mut().unwrap().remove("commandId");
        (status, answer)
    };
    let clicked =
        says(json!({ "type": "left_click", "coordinate": ["3", -4], "button": "right" })).await;
    let expected = json!({
        "type": "success", "message": "Clicked left button at (3, 0)", "x": 3, "y": 0,
        "adjusted": { "y": { "from": -4, "to": 0 } }, "ignored": ["button"],
    });
    assert_eq!(clicked, (200, expected));
    let (status, pressed) = says(json!({ "type": "key", "text": "ctrl+s" })).await;
    assert_eq!((status, &pressed["message"]), (200, &json!("Pressed ctrl+s")));
    let (status, wrong) = says(json!({ "type": "scroll", "coordinate": [1, 2] })).await;
    let error = "Invalid command format: missing field `scroll_direction`";
    assert_eq!((status, &wrong["error"]), (400, &json!(error)));
    let at = Some(Point { x: 3, y: 0 });
    let click = Action::MouseClickAt { at, button: Button::Left, count: 1, modifiers: vec![] };
    let keys = Chords::parse("ctrl+s").unwrap();
    assert_eq!(device.desktop.done(), [click, Action::KeyCombo { keys, repeat: 1 }]);
}
