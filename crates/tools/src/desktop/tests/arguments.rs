//! What models write, and what it comes down to.

use super::*;

#[tokio::test]
async fn arguments_are_read_as_the_hub_reads_them_and_changes_are_told() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    let to = |x, y| Point { x, y };
    let moved = |x, y, duration| vec![Action::MouseMove { to: to(x, y), duration }];
    for (args, action) in [
        (json!({ "x": "500", "y": " 300 ", "duration": "1.5" }), moved(500, 300, 1.5)),
        (json!({ "x": 500.0, "y": 1e3, "duration": 0 }), moved(500, 1000, 0.0)),
        (json!({ "x": "+7", "y": "1e3", "duration": null }), moved(7, 1000, 1.0)),
    ] {
        let said = home.said("mouse_move", args.clone()).await;
        let Action::MouseMove { to, .. } = &action[0] else { panic!() };
        assert_eq!(said, Ok(format!("Moved mouse to ({}, {})", to.x, to.y)), "{args}");
        assert_eq!(home.done(), action, "{args}");
    }
    let said = home.said("mouse_move", json!({ "x": -5, "y": "12.9", "Y": 1, "type": "x" })).await;
    let noted =
        r#"{"adjusted":{"x":{"from":-5,"to":0},"y":{"from":"12.9","to":12}},"ignored":["Y"]}"#;
    assert_eq!(said, Ok(format!("Moved mouse to (0, 12) {noted}")));
    home.done();
    for (args, complaint) in [
        (json!({ "x": "abc", "y": 1 }), "invalid type: string \"abc\", expected u32"),
        (json!({ "x": "50px", "y": 1 }), "invalid type: string \"50px\", expected u32"),
        (json!({ "x": true, "y": 1 }), "invalid type: boolean `true`, expected u32"),
        (json!({ "x": 1 }), "missing field `y`"),
        (
            json!({ "x": 1, "y": 2, "duration": "1.5s" }),
            "invalid type: string \"1.5s\", expected f32",
        ),
    ] {
        let said = home.said("mouse_move", args).await;
        assert_eq!(said, Err(format!("Invalid command format: {complaint}")));
    }
    assert_eq!(home.done(), []);
}

#[tokio::test]
async fn where_there_is_no_display_it_is_said_in_the_words_of_the_command() {
    let home = Home::new().await;
    let why = DesktopError::new(Code::NoDisplay, "no display (DISPLAY is not set)");
    home.host.devices.lack(Devices::LOCAL, why, true);
    for (tool, args, words) in [
        (
            "mouse_move",
            json!({ "x": 1, "y": 2 }),
            "Mouse move failed: no display (DISPLAY is not set)",
        ),
        ("screenshot", json!({}), "Screenshot failed: no display (DISPLAY is not set)"),
        (
            "computer",
            json!({ "action": "left_click" }),
            "Click failed: no display (DISPLAY is not set)",
        ),
        // What is no command is not excused by that.
        ("mouse_move", json!({ "x": 1 }), "Invalid command format: missing field `y`"),
    ] {
        let mut args = args;
        args["device"] = json!("local");
        assert_eq!(home.said(tool, args).await, Err(words.to_owned()));
    }
}

/// Each row of the table of the protocol, by both doors of a model: what is done, and what is told
/// of it; or what is wrong.
#[tokio::test]
async fn every_row_of_the_table_holds_for_a_tool_call() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    for (x, result) in [
        (json!("500"), Ok((500, false))),
        (json!(" 500 "), Ok((500, false))),
        (json!("+7"), Ok((7, false))),
        (json!(500.0), Ok((500, false))),
        (json!(1e3), Ok((1000, false))),
        (json!("1e3"), Ok((1000, false))),
        (json!(500.7), Ok((500, true))),
        (json!("12.9"), Ok((12, true))),
        (json!(-5), Ok((0, true))),
        (json!("-5"), Ok((0, true))),
        (json!("abc"), Err("invalid type: string \"abc\", expected u32")),
        (json!("50px"), Err("invalid type: string \"50px\", expected u32")),
        (json!("1,200"), Err("invalid type: string \"1,200\", expected u32")),
        (json!("0x10"), Err("invalid type: string \"0x10\", expected u32")),
        (json!(""), Err("invalid type: string \"\", expected u32")),
        (json!(true), Err("invalid type: boolean `true`, expected u32")),
        (json!([1]), Err("invalid type: sequence, expected u32")),
        (json!({}), Err("invalid type: map, expected u32")),
        (json!(4_294_967_296_u64), Err("invalid value: integer `4294967296`, expected u32")),
    ] {
        let own = ("mouse_move", json!({ "x": x, "y": 1, "duration": 0 }));
        let learnt = ("computer", json!({ "action": "mouse_move", "coordinate": [x, 1] }));
        for (name, args) in [own, learnt] {
            let said = home.said(name, args.clone()).await;
            match result {
                Ok((to, told)) => {
                    let to = Point { x: to, y: 1 };
                    let moved = Action::MouseMove { to, duration: 0.0 };
                    assert_eq!(home.done(), [moved], "{args}");
                    let note = json!({ "adjusted": { "x": { "from": x, "to": to.x } } });
                    let note = if told { format!(" {note}") } else { String::new() };
                    assert_eq!(said, Ok(format!("Moved mouse to ({}, 1){note}", to.x)));
                }
                Err(error) => {
                    assert_eq!(said, Err(format!("Invalid command format: {error}")), "{args}");
                    assert_eq!(home.done(), []);
                }
            }
        }
    }
    for (amount, result) in [
        (json!("7"), Ok((7, false))),
        (json!(null), Ok((3, false))),
        (json!(101), Ok((100, true))),
        (json!(-1), Err("invalid value: integer `-1`, expected u32")),
    ] {
        let own = ("mouse_scroll", json!({ "direction": "up", "intensity": amount }));
        let learnt = json!({
            "action": "scroll", "scroll_direction": "up", "scroll_amount": amount,
        });
        for (name, args) in [own, ("computer", learnt)] {
            let said = home.said(name, args.clone()).await;
            match result {
                Ok((intensity, told)) => {
                    let direction = Direction::Up;
                    assert_eq!(home.done(), [Action::MouseScroll { direction, intensity }]);
                    let note =
                        json!({ "adjusted": { "intensity": { "from": amount, "to": 100 } } });
                    let note = if told { format!(" {note}") } else { String::new() };
                    let text = format!("Scrolled up with intensity {intensity}{note}");
                    assert_eq!(said, Ok(text), "{args}");
                }
                Err(error) => {
                    assert_eq!(said, Err(format!("Invalid command format: {error}")), "{args}");
                    assert_eq!(home.done(), []);
                }
            }
        }
    }
    for (name, args, error) in [
        (
            "mouse_move",
            json!({ "X": 1, "y": 1 }),
            "missing field `x`; `X` is not known, is `x` meant?",
        ),
        ("mouse_click", json!({ "button": 1 }), "invalid type: integer `1`, expected a string"),
        ("computer", json!({ "coordinate": [1, 2] }), "missing field `action`"),
        (
            "computer",
            json!({ "action": "scroll", "scroll_direction": "up", "text": "ctrl" }),
            "missing field `coordinate`; keys are held where a point is named",
        ),
        ("computer", json!({ "action": "hand_back" }), "that is not a command"),
        ("computer", json!({ "action": "wait", "device": 5 }), "device must be the name of one"),
    ] {
        let said = home.said(name, args.clone()).await;
        assert_eq!(said, Err(format!("Invalid command format: {error}")), "{args}");
    }
    let smuggled = json!({
        "action": "left_click", "coordinate": [1, 2], "type": "keyboard_input", "commandId": "mine",
        "btn": 1,
    });
    let said = home.said("computer", smuggled).await;
    assert_eq!(said.as_deref(), Ok(r#"Clicked left button at (1, 2) {"ignored":["btn"]}"#));
    assert!(matches!(home.done().as_slice(), [Action::MouseClickAt { .. }]));
}

#[tokio::test]
async fn words_that_other_models_have_learnt_mean_the_same() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    let at = |x, y| Some(Point { x, y });
    let click = |at, button, count| Action::MouseClickAt { at, button, count, modifiers: vec![] };
    for (args, action) in [
        (
            json!({ "action": "click", "x": 3, "y": 4, "button": "wheel" }),
            click(at(3, 4), Button::Middle, 1),
        ),
        (json!({ "action": "double_click", "x": 3, "y": 4 }), click(at(3, 4), Button::Left, 2)),
        (
            json!({ "action": "scroll", "x": 3, "y": 4, "scroll_x": 0, "scroll_y": -250 }),
            Action::MouseScrollAt {
                at: Point { x: 3, y: 4 },
                direction: Direction::Up,
                intensity: 3,
                modifiers: vec![],
            },
        ),
        (
            json!({ "action": "drag", "path": [{ "x": 1, "y": 2 }, [3, 4], { "x": 5, "y": 6 }] }),
            Action::MouseDrag(Drag {
                path: vec![Point { x: 1, y: 2 }, Point { x: 3, y: 4 }, Point { x: 5, y: 6 }],
                button: Button::Left,
                duration: 0.5,
                modifiers: vec![],
            }),
        ),
        (
            json!({ "action": "move", "x": 9, "y": 8 }),
            Action::MouseMove { to: Point { x: 9, y: 8 }, duration: 0.0 },
        ),
        (
            json!({ "action": "keypress", "keys": ["SHIFT", "a"] }),
            Action::KeyCombo { keys: Chords::parse("SHIFT+a").unwrap(), repeat: 1 },
        ),
    ] {
        let said = home.said("computer", args.clone()).await;
        assert_eq!(said, Ok(action.done(Some(pointed(&action)))), "{args}");
        assert_eq!(home.done(), [action], "{args}");
    }
    let batch = json!({ "action": "batch", "show": true, "actions": [
        { "action": "click", "x": 1, "y": 2, "button": "left" }, { "action": "type", "text": "hi" },
    ] });
    let reply = home.call("computer", batch).await.unwrap();
    let said = "Clicked left button at (1, 2)\nTyped 2 characters\nThe picture has 1568x882 pixels";
    assert!(reply.text.starts_with(said), "{}", reply.text);
    assert_eq!(reply.pictures.len(), 1);
    let warned = json!({ "action": "click", "x": 1, "y": 2, "warnings": ["Look first."] });
    let (said, asked) = tokio::join!(home.said("computer", warned), home.answer(ONCE));
    assert_eq!((said.is_ok(), asked.as_str()), (true, "Clicking"));
}

#[tokio::test]
async fn the_rest_of_what_a_desktop_can_do_is_done_by_the_same_tool() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    let shift = || Chords::parse("shift").unwrap();
    let (w, h) = (Some(800), None);
    let shot = Shot { max_edge: 800, format: Format::Jpeg, quality: 50, ..Shot::default() };
    for (args, action) in [
        (
            json!({ "action": "mouse_move_by", "dx": -3, "dy": 4 }),
            Action::MouseMoveBy { dx: -3, dy: 4, duration: 0.0 },
        ),
        (json!({ "action": "key_down", "text": "shift" }), Action::KeyDown { key: shift() }),
        (json!({ "action": "key_up", "text": "shift" }), Action::KeyUp { key: shift() }),
        (
            json!({ "action": "window_move", "window": "7", "x": -5, "y": 6, "w": 800 }),
            Action::WindowMove { id: 7, x: Some(-5), y: Some(6), w, h },
        ),
        (json!({ "action": "wait" }), Action::Wait(Waiting::For(1.0))),
        (
            json!({ "action": "wait", "until": "stable", "timeout": 3 }),
            Action::Wait(Waiting::Stable { timeout: 3.0 }),
        ),
        (json!({ "action": "release_all" }), Action::ReleaseAll),
        (
            json!({ "action": "screenshot", "max_edge": 800, "format": "jpeg", "quality": 50 }),
            Action::Screenshot(shot),
        ),
    ] {
        home.said("computer", args.clone()).await.unwrap();
        assert_eq!(home.done(), [action], "{args}");
    }
    let after = json!({ "settle_ms": 20, "screenshot": { "max_edge": 800, "format": "jpeg", "quality": 50 } });
    let typed = json!({ "action": "type", "text": "hi", "after": after });
    let shown = home.call("computer", typed).await.unwrap();
    assert_eq!(shown.pictures.len(), 1);
    let asked = *home.desktop.after.lock().unwrap();
    assert_eq!(asked, Some(After { settle_ms: 20, shot }));
}

#[tokio::test]
async fn who_hears_no_answer_is_told_that_it_may_have_happened() {
    let home = Home::new().await;
    home.arm(&Class::ALL).await;
    let unsure = "; it may or may not have happened: look before doing it again";
    for (error, text) in [
        (DesktopError::timeout(), "Command timeout - no response from client"),
        (DesktopError::disconnected(), "Client disconnected"),
    ] {
        *home.desktop.fails.lock().unwrap() = Some(error);
        let clicked = home.said("mouse_click", json!({ "button": "left" })).await;
        assert_eq!(clicked, Err(format!("{text}{unsure}")));
        let looked = home.said("get_mouse_position", json!({})).await;
        assert_eq!(looked, Err(text.to_owned()), "nothing is changed by looking");
    }
    *home.desktop.fails.lock().unwrap() = Some(DesktopError::queue_full());
    let clicked = home.said("mouse_click", json!({ "button": "left" })).await;
    assert_eq!(clicked, Err("Too many commands are waiting".to_owned()));
}
