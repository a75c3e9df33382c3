//! A device reads strictly, and says exactly what was wrong.

use kernel::desktop::{Action, Point};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::fields::fields;

/// What is wrong with a frame.
fn error(frame: &str) -> String {
    parse(frame).result.unwrap_err().text
}

fn complaint(frame: &str) -> String {
    let error = error(frame);
    error.strip_prefix(PREFIX).unwrap_or_else(|| panic!("{error}")).to_owned()
}

#[test]
fn wrong_types_are_refused_in_the_words_of_the_reference() {
    for (x, text) in [
        ("\"abc\"", "invalid type: string \"abc\", expected u32"),
        ("\"500\"", "invalid type: string \"500\", expected u32"),
        ("-5", "invalid value: integer `-5`, expected u32"),
        ("4294967296", "invalid value: integer `4294967296`, expected u32"),
        ("1.5", "invalid type: floating point `1.5`, expected u32"),
        ("500.0", "invalid type: floating point `500.0`, expected u32"),
        ("1e3", "invalid type: floating point `1000.0`, expected u32"),
        ("-0", "invalid type: floating point `-0.0`, expected u32"),
        (
            "18446744073709551616",
            "invalid type: floating point `1.8446744073709552e+19`, expected u32",
        ),
        ("null", "invalid type: null, expected u32"),
        ("true", "invalid type: boolean `true`, expected u32"),
        ("[1]", "invalid type: sequence, expected u32"),
        ("{}", "invalid type: map, expected u32"),
    ] {
        let frame = format!(r#"{{"type":"mouse_move","x":{x},"y":1}}"#);
        assert_eq!(complaint(&frame), text, "{frame}");
    }
    for (duration, text) in [
        ("\"1.5\"", "invalid type: string \"1.5\", expected f32"),
        ("null", "invalid type: null, expected f32"),
        ("true", "invalid type: boolean `true`, expected f32"),
    ] {
        let frame = format!(r#"{{"type":"mouse_move","x":1,"y":1,"duration":{duration}}}"#);
        assert_eq!(complaint(&frame), text, "{frame}");
    }
    for (frame, text) in [
        (r#"{"type":"mouse_click","button":1}"#, "invalid type: integer `1`, expected a string"),
        (r#"{"type":"keyboard_input","text":5}"#, "invalid type: integer `5`, expected a string"),
        (r#"{"type":"keyboard_input","text":null}"#, "invalid type: null, expected a string"),
    ] {
        assert_eq!(complaint(frame), text);
    }
}

#[test]
fn what_is_missing_is_named() {
    for (frame, name) in [
        (json!({ "type": "mouse_move", "x": 1 }), "y"),
        (json!({ "type": "mouse_move", "y": 1 }), "x"),
        (json!({ "type": "mouse_click" }), "button"),
        (json!({ "type": "mouse_scroll" }), "direction"),
        (json!({ "type": "keyboard_input" }), "text"),
        (json!({ "type": "keyboard_command" }), "command"),
        (json!({ "x": 1 }), "type"),
        (json!({ "type": "mouse_click_at", "x": 1 }), "y"),
    ] {
        assert_eq!(complaint(&frame.to_string()), format!("missing field `{name}`"), "{frame}");
    }
}

#[test]
fn an_unknown_command_is_told_all_there_are_and_the_seven_first() {
    let seven = "expected one of `mouse_move`, `mouse_click`, `mouse_scroll`, `keyboard_input`, \
                 `keyboard_command`, `screenshot`, `get_mouse_position`, `mouse_move_by`, ";
    for name in ["unknown_cmd", "Mouse_Move", "", "ping"] {
        let text = complaint(&json!({ "type": name }).to_string());
        assert!(text.starts_with(&format!("unknown variant `{name}`, {seven}")), "{text}");
    }
    for (frame, text) in [
        (r#"{"type":5}"#, "invalid type: integer `5`, expected variant identifier"),
        (r#"{"type":null}"#, "invalid type: null, expected variant identifier"),
        ("5", "invalid type: integer `5`, expected internally tagged enum Command"),
        ("\"x\"", "invalid type: string \"x\", expected internally tagged enum Command"),
        ("null", "invalid type: null, expected internally tagged enum Command"),
        (
            r#"["mouse_click","left"]"#,
            "invalid type: sequence, expected internally tagged enum Command",
        ),
    ] {
        assert_eq!(complaint(frame), text, "{frame}");
    }
}

#[test]
fn what_is_no_json_is_said_to_be_none() {
    for (frame, text) in [
        ("not json", "expected ident at line 1 column 2"),
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{bad json", "key must be a string at line 1 column 2"),
        (r#"{"type":"get_mouse_position"} 5"#, "trailing characters at line 1 column 31"),
    ] {
        assert_eq!(complaint(frame), text, "{frame}");
        assert_eq!(parse(frame).id, None);
    }
}

#[test]
fn only_a_text_is_an_id() {
    let id = |id: &str| parse(&format!(r#"{{"type":"get_mouse_position","commandId":{id}}}"#));
    for (written, read) in
        [("\"a\"", Some("a")), ("\"\"", Some("")), ("7", None), ("null", None), ("{}", None)]
    {
        let Parsed { id, result } = id(written);
        assert_eq!((id.as_deref(), result.is_ok()), (read, true), "{written}");
    }
    // One that cannot be obeyed has an id all the same.
    assert_eq!(parse(r#"{"type":"x","commandId":"a"}"#).id.as_deref(), Some("a"));
}

#[test]
fn what_the_reference_accepts_is_accepted() {
    for frame in [
        r#"{"type":"mouse_move","x":1,"y":2,"duration":2,"colour":"red"}"#,
        r#"{"type":"mouse_move","x":9,"y":2,"x":1}"#,
        r#"{"type":"mouse_move","x":1,"y":2,"duration":-3.5}"#,
        r#"{"type":"mouse_scroll","direction":"up","intensity":0}"#,
        r#"{"type":"keyboard_input","text":""}"#,
        r#"{"type":"get_mouse_position","x":"whatever"}"#,
        r#"{"type":"mouse_click","button":"left","after":5}"#,
    ] {
        assert!(parse(frame).result.is_ok(), "{frame}");
    }
    let twice = parse(r#"{"type":"mouse_move","x":9,"y":2,"x":1,"duration":0}"#).result;
    let moved = |duration| Action::MouseMove { to: Point { x: 1, y: 2 }, duration };
    assert_eq!(twice, Ok(Request::Do(Box::new(moved(0.0).into()))));
    let tenth = parse(r#"{"type":"mouse_move","x":1,"y":2,"duration":0.1}"#).result;
    assert_eq!(tenth, Ok(Request::Do(Box::new(moved(0.1).into()))));
}

#[test]
fn greetings_are_heard_and_never_answered() {
    let greeted = |extended, device: Option<&str>| {
        let device = device.map(str::to_owned);
        Parsed { id: None, result: Ok(Request::Acknowledged { extended, device, lent: Lent::No }) }
    };
    let plain =
        r#"{"type":"handshake_ack","server":"cloudflare-worker","timestamp":1,"commandId":"a"}"#;
    assert_eq!(parse(plain), greeted(false, None));
    let ours = r#"{"type":"handshake_ack","server":"x","protocol":"1.1","device":"studio"}"#;
    assert_eq!(parse(ours), greeted(true, Some("studio")));
    let lent = |more: &str| {
        let frame = format!(r#"{{"type":"handshake_ack","protocol":"1.1",{more}}}"#);
        match parse(&frame).result {
            Ok(Request::Acknowledged { lent, .. }) => lent,
            other => panic!("{other:?}"),
        }
    };
    let until = jiff::Timestamp::from_second(900).ok();
    assert_eq!(lent(r#""armed":true,"until":900000"#), Lent::Until(until));
    // An older hub says no time, and what is none is not taken for one.
    for more in
        [r#""armed":true"#, r#""armed":true,"until":"soon""#, r#""armed":true,"until":9e99"#]
    {
        assert_eq!(lent(more), Lent::Until(None), "{more}");
    }
    for more in [r#""armed":false,"until":900000"#, r#""armed":1"#, r#""until":900000"#] {
        assert_eq!(lent(more), Lent::No, "{more}");
    }
    let pong = parse(r#"{"type":"pong","commandId":"a"}"#);
    assert_eq!(pong, Parsed { id: None, result: Ok(Request::Nothing) });
}

#[test]
fn names_that_are_not_known_are_refused_with_those_that_are() {
    for (frame, text, expected) in [
        (json!({ "type": "mouse_click", "button": "Left" }), "Invalid button: Left", "left"),
        (json!({ "type": "mouse_click", "button": "back" }), "Invalid button: back", "left"),
        (
            json!({ "type": "mouse_scroll", "direction": "diag" }),
            "Invalid scroll direction: diag",
            "up",
        ),
        (
            json!({ "type": "keyboard_command", "command": "page_upp" }),
            "Keyboard command failed: Key not supported: page_upp key/command is not supported",
            "pageup",
        ),
        (json!({ "type": "wait", "until": "noon" }), "Invalid until: noon", "stable"),
    ] {
        let error = parse(&frame.to_string()).result.unwrap_err();
        assert_eq!((error.text.as_str(), error.expected[0].as_str()), (text, expected));
    }
}

#[test]
fn a_duration_without_end_is_refused() {
    let text = error(r#"{"type":"mouse_move","x":1,"y":2,"duration":1e39}"#);
    assert!(text.starts_with("Mouse move failed: duration must be at most"), "{text}");
}

#[test]
fn a_batch_is_read_as_a_whole_or_not_at_all() {
    let click = json!({ "type": "mouse_click", "button": "left" });
    let batch = |actions: Vec<Value>| json!({ "type": "batch", "actions": actions }).to_string();
    assert!(parse(&batch(vec![click.clone(); 24])).result.is_ok());
    for actions in [
        Vec::new(),
        vec![click.clone(); 25],
        vec![click.clone(), json!({ "type": "mouse_click" })],
        vec![json!({ "type": "cancel" })],
        vec![json!({ "type": "batch", "actions": [click] })],
    ] {
        assert!(parse(&batch(actions.clone())).result.is_err(), "{actions:?}");
    }
}

#[test]
fn every_command_that_is_read_is_one_whose_fields_are_known() {
    let text = complaint(r#"{"type":"?"}"#);
    let listed: Vec<&str> = text.split('`').skip(3).step_by(2).collect();
    assert!(listed.len() > 25);
    let unknown: Vec<_> = listed.iter().filter(|name| fields(name).is_none()).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let kinds: Vec<_> = Action::KINDS.iter().filter(|kind| !listed.contains(kind)).collect();
    assert!(kinds.is_empty(), "{kinds:?}");
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|it| json!(it)),
        proptest::sample::select(Action::KINDS.to_vec()).prop_map(Value::from),
        ".{0,10}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let names = prop_oneof![
            proptest::sample::select(vec![
                "type",
                "x",
                "y",
                "commandId",
                "actions",
                "keys",
                "path",
                "region",
                "after",
                "duration",
                "button",
                "text",
                "screenshot",
            ])
            .prop_map(str::to_owned),
            ".{0,6}",
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((names, inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    /// No frame, however strange, is more than an error.
    #[test]
    fn nothing_that_is_sent_does_harm(value in value(), cut in 0_usize..200, noise in ".{0,20}") {
        let text = value.to_string();
        let cut: String = text.chars().take(cut).collect();
        for frame in [&text, &cut, &noise] {
            let parsed = parse(frame);
            if let Err(error) = parsed.result {
                prop_assert!(!error.text.is_empty());
            }
        }
    }
}
