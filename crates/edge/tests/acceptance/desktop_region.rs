//! A part of a desktop's screen, lent over HTTP.

use kernel::desktop::{Action, Point};
use serde_json::{Value, json};

use super::desktop::{Device, arm, key};
use crate::common::{House, bad};

fn to(x: u32, y: u32) -> Value {
    json!({ "type": "mouse_move", "x": x, "y": y, "duration": 0 })
}

#[tokio::test]
async fn a_part_of_a_screen_is_lent_and_shown_and_nothing_is_done_beside_it() {
    let house = House::new([]).await;
    let key = key(&house, "studio", "device").await;
    let device = Device::connected(&house, &key, "studio").await;
    let part = json!({ "x": 1000, "y": 0, "w": 800, "h": 600 });
    let wish = json!({ "device": "studio", "seconds": 900, "region": part });
    let (status, armed) = house.post("/api/desktop/arm", wish).await;
    let expected = json!({
        "device": "studio", "armed": true, "until": armed["until"], "paused": null,
        "classes": ["look", "point", "type"], "regions": [part],
    });
    assert_eq!((status, &armed), (200, &expected));
    let (_, stands) = house.get("/api/status").await;
    assert_eq!(stands["devices"][0]["regions"], json!([part]));
    let (_, state) = house.get("/api/desktop").await;
    let arming = json!({
        "until": armed["until"], "classes": ["look", "point", "type"], "region": part,
    });
    assert_eq!(state["devices"][0]["armings"], json!([arming]));

    assert_eq!(house.post("/api/command", to(1500, 300)).await.0, 200);
    let (status, mut refused) = house.post("/api/command", to(5, 5)).await;
    refused.as_object_mut().unwrap().remove("commandId").unwrap();
    let only = "Desktop control is lent for a part of the screen only";
    let expected = json!({
        "type": "error", "error": format!("{only}: (5, 5) lies outside"), "code": "denied",
        "expected": ["1000, 0, 800 × 600"],
    });
    assert_eq!((status, refused), (403, expected));
    // The only window of that screen has the focus, and lies elsewhere.
    let (_, refused) =
        house.post("/api/command", json!({ "type": "keyboard_input", "text": "a" })).await;
    assert_eq!(refused["error"], format!("{only}: the window in focus lies outside"));
    let click = json!({ "type": "mouse_click", "button": "left" });
    let steps = json!([to(1100, 100), click, to(900, 100)]);
    let (_, refused) =
        house.post("/api/command", json!({ "type": "batch", "actions": steps })).await;
    assert_eq!(refused["error"], format!("{only}: (900, 100) lies outside"));
    let at = Point { x: 1500, y: 300 };
    assert_eq!(device.desktop.done(), [Action::MouseMove { to: at, duration: 0.0 }]);

    // All of it, once more.
    arm(&house, "studio").await;
    assert_eq!(house.get("/api/status").await.1["devices"][0]["regions"], json!([]));
    assert_eq!(house.post("/api/command", to(5, 5)).await.0, 200);
}

#[tokio::test]
async fn a_part_that_is_none_is_refused_before_anything_is_lent() {
    let house = House::new([]).await;
    let key = key(&house, "studio", "device").await;
    let _device = Device::connected(&house, &key, "studio").await;
    let whole = |name: &str, least: u8, said: &str| {
        format!("region.{name} must be a whole number from {least} to 4294967295, not {said}")
    };
    for (region, text) in [
        (json!({ "x": 0, "y": 0, "w": 0, "h": 5 }), whole("w", 1, "0")),
        (json!({ "x": 0, "y": 0, "w": 5, "h": 0 }), whole("h", 1, "0")),
        (json!({ "x": -1, "y": 0, "w": 5, "h": 5 }), whole("x", 0, "-1")),
        (json!({ "x": 0, "y": 1.5, "w": 5, "h": 5 }), whole("y", 0, "1.5")),
        (json!({ "x": 0, "y": 0, "w": "5", "h": 5 }), whole("w", 1, "\"5\"")),
        (json!({ "x": 0, "y": 0, "w": 4_294_967_296_u64, "h": 5 }), whole("w", 1, "4294967296")),
        (json!({ "x": 0, "y": 0, "w": 5 }), whole("h", 1, "null")),
        (
            json!({ "x": 0, "y": 0, "w": 5, "h": 5, "width": 5 }),
            "region holds `width`; expected x, y, w and h alone".to_owned(),
        ),
        (
            json!([0, 0, 5, 5]),
            "Invalid JSON body: region: invalid type: sequence, expected a map".to_owned(),
        ),
    ] {
        let wish = json!({ "device": "studio", "region": region });
        assert_eq!(house.post("/api/desktop/arm", wish).await, bad(&text), "{region}");
    }
    assert_eq!(house.get("/api/status").await.1["devices"][0]["armed"], false);
}
