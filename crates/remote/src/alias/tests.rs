//! Each name that is known from elsewhere, and what it comes down to here.

use super::*;
use crate::coerce::understood;

#[expect(clippy::needless_pass_by_value, reason = "`json!` reads best without a `&`")]
fn heard(kind: &str, given: Value) -> Result<(String, Value, Vec<String>), String> {
    let (kind, coerced) = understood(kind, given.as_object().unwrap())?;
    Ok((kind, Value::Object(coerced.arguments), coerced.ignored))
}

#[test]
fn each_name_means_what_it_means_elsewhere() {
    let click = |button, count| json!({ "x": 3, "y": 4, "button": button, "count": count });
    let at = json!({ "coordinate": ["3", 4] });
    let held = json!(["ctrl", "shift"]);
    for (said, given, kind, arguments) in [
        ("left_click", at.clone(), "mouse_click_at", click("left", 1)),
        ("right_click", at.clone(), "mouse_click_at", click("right", 1)),
        ("middle_click", at.clone(), "mouse_click_at", click("middle", 1)),
        ("double_click", at.clone(), "mouse_click_at", click("left", 2)),
        ("triple_click", json!({ "x": 3, "y": 4 }), "mouse_click_at", click("left", 3)),
        (
            "left_click",
            json!({ "text": "ctrl+shift" }),
            "mouse_click_at",
            json!({ "button": "left", "count": 1, "modifiers": held }),
        ),
        (
            "click",
            json!({ "x": 3, "y": 4, "button": "wheel", "keys": held }),
            "mouse_click_at",
            json!({ "x": 3, "y": 4, "button": "middle", "modifiers": held }),
        ),
        (
            "left_click_drag",
            json!({ "start_coordinate": [1, 2], "coordinate": [3, 4] }),
            "mouse_drag",
            json!({ "path": [[1, 2], [3, 4]], "button": "left" }),
        ),
        (
            "drag",
            json!({ "path": [{ "x": 1, "y": 2 }, [3, 4]] }),
            "mouse_drag",
            json!({ "path": [[1, 2], [3, 4]] }),
        ),
        ("left_mouse_down", json!({}), "mouse_down", json!({ "button": "left" })),
        ("left_mouse_up", at.clone(), "mouse_up", json!({ "button": "left", "x": 3, "y": 4 })),
        (
            "scroll",
            json!({ "coordinate": [3, 4], "scroll_direction": "up", "scroll_amount": 5 }),
            "mouse_scroll_at",
            json!({ "x": 3, "y": 4, "direction": "up", "intensity": 5 }),
        ),
        (
            "scroll",
            json!({ "x": 3, "y": 4, "scroll_x": 0, "scroll_y": -250 }),
            "mouse_scroll_at",
            json!({ "x": 3, "y": 4, "direction": "up", "intensity": 3 }),
        ),
        (
            "scroll",
            json!({ "scroll_x": "101" }),
            "mouse_scroll",
            json!({ "direction": "right", "intensity": 2 }),
        ),
        (
            "key",
            json!({ "text": "ctrl+s", "repeat": 2 }),
            "key_combo",
            json!({ "keys": "ctrl+s", "repeat": 2 }),
        ),
        ("keypress", json!({ "keys": held }), "key_combo", json!({ "keys": held })),
        ("hotkey", json!({ "keys": "ctrl+s" }), "key_combo", json!({ "keys": "ctrl+s" })),
        (
            "hold_key",
            json!({ "text": "shift", "duration": 2 }),
            "hold_key",
            json!({ "keys": "shift", "duration": 2 }),
        ),
        ("key_down", json!({ "text": "shift" }), "key_down", json!({ "key": "shift" })),
        ("type", json!({ "text": "hi" }), "keyboard_type", json!({ "text": "hi" })),
        ("move", at.clone(), "mouse_move", json!({ "x": 3, "y": 4, "duration": 0 })),
        ("mouse_move", at, "mouse_move", json!({ "x": 3, "y": 4, "duration": 0 })),
        ("mouse_move", json!({ "x": 3, "y": 4 }), "mouse_move", json!({ "x": 3, "y": 4 })),
        ("cursor_position", json!({}), "get_mouse_position", json!({})),
        ("take_screenshot", json!({}), "screenshot", json!({})),
        (
            "zoom",
            json!({ "region": [1, 2, 11, 22] }),
            "zoom",
            json!({ "region": { "x": 1, "y": 2, "w": 10, "h": 20 } }),
        ),
        ("wait", json!({ "duration": 1 }), "wait", json!({ "duration": 1 })),
    ] {
        let expected = Ok((kind.to_owned(), arguments, vec![]));
        assert_eq!(heard(said, given.clone()), expected, "{said} {given}");
    }
}

#[test]
fn what_is_left_out_is_told_and_nothing_else_is_done_instead() {
    let (_, arguments, ignored) =
        heard("right_click", json!({ "coordinate": [1, 2], "x": 9, "button": "left" })).unwrap();
    let kept = json!({ "x": 1, "y": 2, "button": "right", "count": 1 });
    assert_eq!((arguments, ignored), (kept, vec!["button".to_owned(), "x".to_owned()]));
    let (_, arguments, ignored) =
        heard("scroll", json!({ "scroll_x": 100, "scroll_y": 300 })).unwrap();
    let kept = json!({ "direction": "down", "intensity": 3 });
    assert_eq!((arguments, ignored), (kept, vec!["scroll_x".to_owned()]));
    for (said, given, error) in [
        (
            "scroll",
            json!({ "scroll_direction": "up", "text": "ctrl" }),
            "missing field `coordinate`; keys are held where a point is named",
        ),
        ("scroll", json!({}), "missing field `scroll_direction`"),
        ("scroll", json!({ "scroll_y": "far" }), "invalid type: string \"far\", expected f32"),
        ("left_click", json!({ "coordinate": 5 }), "coordinate must be [x, y]"),
        ("left_click", json!({ "coordinate": [1, 2, 3] }), "coordinate must be [x, y]"),
        ("left_click_drag", json!({ "coordinate": [1, 2] }), "missing field `start_coordinate`"),
    ] {
        assert_eq!(heard(said, given.clone()), Err(error.to_owned()), "{said} {given}");
    }
}

#[test]
fn a_batch_knows_the_same_names() {
    let said = json!({ "actions": [{ "type": "left_click", "coordinate": [-1, 2], "z": 1 }] });
    let (kind, coerced) = understood("batch", said.as_object().unwrap()).unwrap();
    let click = json!({ "type": "mouse_click_at", "x": 0, "y": 2, "button": "left", "count": 1 });
    assert_eq!((kind.as_str(), &coerced.arguments["actions"]), ("batch", &json!([click])));
    let notes = json!({
        "adjusted": { "actions[0].x": { "from": -1, "to": 0 } }, "ignored": ["actions[0].z"],
    });
    assert_eq!(Value::Object(coerced.notes()), notes);
}
