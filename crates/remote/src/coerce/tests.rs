//! Each row of the table of coercions, and what holds for all of them.

use proptest::prelude::*;

use super::*;
use crate::fields::SEED;

#[expect(clippy::needless_pass_by_value, reason = "`json!` reads best without a `&`")]
fn given(kind: &str, arguments: Value) -> Result<Coerced, String> {
    coerce(kind, arguments.as_object().unwrap())
}

/// What becomes of `x`, beside a `y` that is well.
#[expect(clippy::needless_pass_by_value, reason = "`json!` reads best without a `&`")]
fn x(value: Value) -> Result<(Value, bool), String> {
    let coerced = given("mouse_move", json!({ "x": value, "y": 1 }))?;
    Ok((coerced.arguments["x"].clone(), coerced.adjusted.contains_key("x")))
}

#[expect(clippy::needless_pass_by_value, reason = "`json!` reads best without a `&`")]
fn duration(value: Value) -> Result<(Value, bool), String> {
    let coerced = given("mouse_move", json!({ "x": 1, "y": 1, "duration": value }))?;
    let duration = coerced.arguments.get("duration").cloned().unwrap_or(Value::Null);
    Ok((duration, coerced.adjusted.contains_key("duration")))
}

#[test]
fn the_example_of_the_seed_is_sent_as_numbers() {
    let said = json!({ "x": "500", "y": "300", "duration": "1.5" });
    let arguments = json!({ "x": 500, "y": 300, "duration": 1.5 });
    let expected =
        Coerced { arguments: arguments.as_object().unwrap().clone(), ..Coerced::default() };
    assert_eq!(given("mouse_move", said), Ok(expected));
}

#[test]
fn whole_numbers_are_understood_however_they_are_spelt() {
    for (value, to) in [
        (json!(500), 500),
        (json!("500"), 500),
        (json!(" 500 \n"), 500),
        (json!("\u{a0}+7\u{2003}"), 7),
        (json!(500.0), 500),
        (json!(1e3), 1000),
        (json!("1e3"), 1000),
        (json!("12.0"), 12),
        (json!(4_294_967_295_u32), 4_294_967_295_u32),
        (json!("4294967295"), 4_294_967_295),
        (json!(0), 0),
        (json!(-0.0), 0),
    ] {
        assert_eq!(x(value.clone()), Ok((json!(to), false)), "{value}");
    }
}

#[test]
fn what_is_changed_is_told() {
    for (value, to) in [
        (json!(500.7), 500),
        (json!("12.9"), 12),
        (json!(-5), 0),
        (json!("-5"), 0),
        (json!(-0.5), 0),
        (json!(i64::MIN), 0),
    ] {
        let coerced = given("mouse_move", json!({ "x": value, "y": 1 })).unwrap();
        assert_eq!(coerced.arguments["x"], json!(to), "{value}");
        let adjusted = json!({ "x": { "from": value, "to": to } });
        assert_eq!(Value::Object(coerced.adjusted), adjusted);
    }
    let scroll = given("mouse_scroll", json!({ "direction": "up", "intensity": "4000000000" }));
    let scroll = scroll.unwrap();
    assert_eq!(scroll.arguments["intensity"], 100);
    assert_eq!(scroll.adjusted["intensity"], json!({ "from": "4000000000", "to": 100 }));
}

#[test]
fn what_is_no_number_is_refused_in_the_words_of_a_device() {
    for (value, error) in [
        (json!("abc"), "invalid type: string \"abc\", expected u32"),
        (json!("50px"), "invalid type: string \"50px\", expected u32"),
        (json!("1,200"), "invalid type: string \"1,200\", expected u32"),
        (json!("0x10"), "invalid type: string \"0x10\", expected u32"),
        (json!(""), "invalid type: string \"\", expected u32"),
        (json!("  "), "invalid type: string \"  \", expected u32"),
        (json!("e"), "invalid type: string \"e\", expected u32"),
        (json!("inf"), "invalid type: string \"inf\", expected u32"),
        (json!("1e999"), "invalid type: string \"1e999\", expected u32"),
        (json!(null), "invalid type: null, expected u32"),
        (json!(true), "invalid type: boolean `true`, expected u32"),
        (json!([1]), "invalid type: sequence, expected u32"),
        (json!({}), "invalid type: map, expected u32"),
        (json!(4_294_967_296_u64), "invalid value: integer `4294967296`, expected u32"),
        (json!("4294967296"), "invalid value: integer `4294967296`, expected u32"),
        (json!(1e20), "invalid type: floating point `1e+20`, expected u32"),
    ] {
        assert_eq!(x(value.clone()), Err(error.to_owned()), "{value}");
    }
    let scroll = |intensity: Value| {
        given("mouse_scroll", json!({ "direction": "up", "intensity": intensity }))
    };
    let error = "invalid value: integer `-3`, expected u32";
    assert_eq!(scroll(json!(-3)), Err(error.to_owned()));
    assert_eq!(scroll(json!("-3")), Err(error.to_owned()));
}

#[test]
fn seconds_keep_their_fraction_and_end_at_twenty_five() {
    for (value, to, told) in [
        (json!(1.5), json!(1.5), false),
        (json!("1.5"), json!(1.5), false),
        (json!("0.1"), json!(0.1), false),
        (json!(2), json!(2), false),
        (json!(0), json!(0), false),
        (json!(-1), json!(-1), false),
        (json!(25), json!(25), false),
        (json!(26), json!(25), true),
        (json!("1e30"), json!(25), true),
        (json!(1e39), json!(25), true),
        (json!(null), json!(null), false),
        (json!(" "), json!(null), true),
    ] {
        assert_eq!(duration(value.clone()), Ok((to, told)), "{value}");
    }
    for (value, error) in [
        (json!("1.5s"), "invalid type: string \"1.5s\", expected f32"),
        (json!("Infinity"), "invalid type: string \"Infinity\", expected f32"),
        (json!("NaN"), "invalid type: string \"NaN\", expected f32"),
        (json!(true), "invalid type: boolean `true`, expected f32"),
    ] {
        assert_eq!(duration(value.clone()), Err(error.to_owned()), "{value}");
    }
}

#[test]
fn what_is_missing_is_named_with_what_may_have_been_meant() {
    for (kind, said, error) in [
        ("mouse_move", json!({ "y": 1 }), "missing field `x`"),
        (
            "mouse_move",
            json!({ "X": 1, "y": 1 }),
            "missing field `x`; `X` is not known, is `x` meant?",
        ),
        (
            "mouse_click",
            json!({ "btn": "left" }),
            "missing field `button`; `btn` is not known, is `button` meant?",
        ),
        (
            "mouse_scroll",
            json!({ "dir": "up" }),
            "missing field `direction`; `dir` is not known, is `direction` meant?",
        ),
        ("keyboard_input", json!({ "colour": "red" }), "missing field `text`"),
        ("keyboard_command", json!({}), "missing field `command`"),
    ] {
        assert_eq!(given(kind, said.clone()), Err(error.to_owned()), "{said}");
    }
}

#[test]
fn neither_the_command_nor_its_id_can_be_smuggled_in() {
    let said = json!({ "button": "left", "type": "keyboard_input", "commandId": "mine", "x": 5 });
    let coerced = given("mouse_click", said).unwrap();
    assert_eq!(Value::Object(coerced.arguments), json!({ "button": "left" }));
    assert_eq!(coerced.ignored, ["x"]);
}

#[test]
fn texts_are_left_alone_and_nothing_else_is_one() {
    let text = json!({ "text": " 5 " });
    assert_eq!(Value::Object(given("keyboard_input", text.clone()).unwrap().arguments), text);
    for (value, error) in [
        (json!(5), "invalid type: integer `5`, expected a string"),
        (json!(null), "invalid type: null, expected a string"),
    ] {
        assert_eq!(given("keyboard_input", json!({ "text": value })), Err(error.to_owned()));
    }
}

#[test]
fn each_action_of_a_batch_is_treated_like_a_command() {
    let said = json!({ "actions": [
        { "type": "mouse_move", "x": "-4", "y": 2.0, "z": 1 },
        { "type": "mouse_click", "button": "left" },
        5,
    ] });
    let coerced = given("batch", said).unwrap();
    let actions = json!([
        { "type": "mouse_move", "x": 0, "y": 2 }, { "type": "mouse_click", "button": "left" }, 5,
    ]);
    assert_eq!(coerced.arguments["actions"], actions);
    assert_eq!(coerced.adjusted["actions[0].x"], json!({ "from": "-4", "to": 0 }));
    assert_eq!(coerced.ignored, ["actions[0].z"]);
    let bad = json!({ "actions": [{ "type": "mouse_move", "x": "a", "y": 1 }] });
    let error = "actions[0]: invalid type: string \"a\", expected u32";
    assert_eq!(given("batch", bad), Err(error.to_owned()));
}

#[test]
fn the_numbers_within_points_and_areas_are_treated_like_others() {
    let drag = given("mouse_drag", json!({ "path": [["1", 2.0], [-3, "4"]] })).unwrap();
    assert_eq!(drag.arguments["path"], json!([[1, 2], [0, 4]]));
    let told = json!({ "from": [["1", 2.0], [-3, "4"]], "to": [[1, 2], [0, 4]] });
    assert_eq!(drag.adjusted["path"], told);
    let spelt = given("mouse_drag", json!({ "path": [["1", 2.0], [3, "4"]] })).unwrap();
    assert_eq!(spelt.adjusted, Map::new());
    let area = json!({ "x": 10, "y": 20, "w": 30, "h": 40 });
    for (region, told) in [
        (json!({ "x": "10", "y": 20, "w": 30.0, "h": 40 }), false),
        (json!([10, "20", 40, 60]), false),
        (json!([10.5, 20, 40, 60]), true),
    ] {
        let zoom = given("zoom", json!({ "region": region })).unwrap();
        assert_eq!(zoom.arguments["region"], area, "{region}");
        assert_eq!(zoom.adjusted.contains_key("region"), told, "{region}");
    }
    let more = json!({ "x": 10, "y": 20, "w": 30, "h": 40, "width": 5, "z": null });
    for kind in ["screenshot", "zoom"] {
        let seen = given(kind, json!({ "region": more, "z": 1 })).unwrap();
        assert_eq!(seen.arguments["region"], area);
        assert_eq!(seen.ignored, ["region.width", "region.z", "z"]);
    }
    let after =
        json!({ "settle_ms": "300", "screenshot": { "region": more, "zoom": 2 }, "wait": 1 });
    let moved = given("mouse_move", json!({ "x": 1, "y": 2, "after": after })).unwrap();
    let shown = json!({ "settle_ms": 300, "screenshot": { "region": area } });
    assert_eq!(moved.arguments["after"], shown);
    let unknown = ["screenshot.region.width", "screenshot.region.z", "screenshot.zoom", "wait"];
    assert_eq!(moved.ignored, unknown.map(|name| format!("after.{name}")));
    let narrow = json!({ "button": "left", "after": { "screenshot": { "region": [5, 5, 5, 9] } } });
    let error = "after: screenshot: region must be [left, top, right, bottom]";
    assert_eq!(given("mouse_click", narrow), Err(error.to_owned()));
    for (region, error) in [
        (json!([5, 5, 5, 9]), "region must be [left, top, right, bottom]"),
        (json!([1, 2, 3]), "region must be [left, top, right, bottom]"),
        (json!([1, 2, "c", 4]), "invalid type: string \"c\", expected u32"),
        (json!({ "x": 0, "y": 0, "w": -1, "h": 1 }), "invalid value: integer `-1`, expected u32"),
    ] {
        let zoom = given("zoom", json!({ "region": region }));
        assert_eq!(zoom, Err(error.to_owned()), "{region}");
    }
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-10_000_i64..10_000).prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |it| Number::from_f64(it).map(Value::Number)),
        any::<i64>().prop_map(|it| it.to_string().into()),
        "[ +-]?[0-9]{0,12}(\\.[0-9]{0,3})?(e[0-9])? ?".prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        Just(json!([1])),
        Just(json!({ "a": 1 })),
    ]
}

fn arguments() -> impl Strategy<Value = Map<String, Value>> {
    let names = prop_oneof![
        proptest::sample::select(vec![
            "x",
            "y",
            "duration",
            "intensity",
            "button",
            "direction",
            "text",
            "command",
            "type",
            "commandId",
            "X",
            "region",
        ])
        .prop_map(str::to_owned),
        "[a-z]{0,6}",
    ];
    proptest::collection::vec((names, scalar()), 0..8).prop_map(|pairs| pairs.into_iter().collect())
}

proptest! {
    /// Whatever is passed on is what every device accepts, and coercing it again changes nothing.
    #[test]
    fn what_is_passed_on_is_accepted_by_the_strictest_device(
        kind in proptest::sample::select(SEED.to_vec()), given in arguments(),
    ) {
        let Ok(coerced) = coerce(kind, &given) else { return Ok(()) };
        let mut frame = coerced.arguments.clone();
        frame.insert("type".to_owned(), kind.into());
        if kind != "screenshot" {
            let parsed = crate::command::parse(&Value::Object(frame).to_string());
            // A text may still name nothing that there is, which has words of its own.
            let error = parsed.result.err().map(|error| error.text).unwrap_or_default();
            prop_assert!(!error.starts_with(crate::command::PREFIX), "{}", error);
        }
        let again = coerce(kind, &coerced.arguments);
        let same = Coerced { arguments: coerced.arguments, ..Coerced::default() };
        prop_assert_eq!(again, Ok(same));
    }

    /// A whole number in range arrives as it is, in every spelling.
    #[test]
    fn no_number_is_lost_on_the_way(number: u32, blanks in "[ \t]{0,3}", plus in "[+]?") {
        for value in [json!(number), json!(f64::from(number)), json!(format!("{blanks}{plus}{number}{blanks}"))] {
            prop_assert_eq!(x(value), Ok((json!(number), false)));
        }
    }

    /// Everything that became something else is told, and nothing that stayed the same.
    #[test]
    fn every_change_is_told(given in arguments()) {
        let Ok(coerced) = coerce("mouse_move", &given) else { return Ok(()) };
        for (name, to) in &coerced.arguments {
            let from = &given[name];
            if let Some(told) = coerced.adjusted.get(name) {
                prop_assert_eq!(told, &json!({ "from": from, "to": to }));
            } else {
                let from = number(from).and_then(|it| it.as_f64());
                prop_assert_eq!(from, to.as_f64(), "{}", name);
            }
        }
        for name in given.keys().filter(|name| !is_envelope(name)) {
            let kept = coerced.arguments.contains_key(name);
            let told = coerced.ignored.contains(name) || coerced.adjusted.contains_key(name);
            prop_assert!(kept || told || given[name].is_null(), "{} vanished", name);
        }
    }
}
