//! What is written is what is read, and what is neither is an error with words.

use kernel::desktop::{Action, Button, Code, Format, Method, Point, Shot};

use super::*;

const EXTENDED: Envelope = Envelope { extended: true, now: 17, ms: Some(3), shot: 9 };
const CLICK: Action = Action::MouseClick { button: Button::Left };

fn frame(result: &Result<Outcome, DesktopError>, to: Envelope) -> Value {
    Value::Object(written(result, to))
}

fn picture() -> Frame {
    let bytes = include_bytes!("../../../testkit/src/screen.png").to_vec();
    let screen = Rect { x: 10, y: 20, w: 1920, h: 1080 };
    Frame { bytes, format: Format::Png, width: 16, height: 9, screen }
}

/// An outcome of each kind, with what it came of.
fn outcomes() -> Vec<(Action, Outcome)> {
    let display = Display {
        id: 1,
        name: "DP-1".into(),
        area: Rect { x: 0, y: 0, w: 10, h: 20 },
        scale: 1.5,
        primary: true,
    };
    let screen = Screen {
        w: 10,
        h: 20,
        displays: vec![display],
        backend: "x11".into(),
        layout: "de".into(),
        group: 1,
    };
    let pane = Pane {
        id: 5,
        title: "T".into(),
        class: "C".into(),
        pid: None,
        x: -1,
        y: 2,
        w: 3,
        h: 4,
        focused: true,
        minimized: false,
        display: None,
    };
    let done = Done {
        message: "Clicked left button".into(),
        before: Some(Point { x: 3, y: 4 }),
        at: Some(Point { x: 1, y: 2 }),
        window: Some("XTerm".into()),
        method: Some(Method::Keys),
        picture: Some(picture()),
    };
    let refused = Err(DesktopError::button("Left"));
    let batch = Action::Batch { actions: vec![CLICK, CLICK], stop_on_error: true };
    vec![
        (CLICK, Outcome::Done(done)),
        (Action::GetMousePosition, Outcome::Position { x: -5, y: 3, moving: true }),
        (Action::Screenshot(Shot::default()), Outcome::Picture(picture())),
        (Action::ScreenInfo, Outcome::Screen(screen)),
        (Action::WindowList, Outcome::Windows(vec![pane])),
        (Action::ClipboardGet, Outcome::Clipboard { text: None }),
        (Action::ClipboardGet, Outcome::Clipboard { text: Some("x".into()) }),
        (batch, Outcome::Batch(vec![Ok(Outcome::said("Clicked left button")), refused])),
    ]
}

#[test]
fn whatever_is_written_is_read_as_it_was_meant() {
    for (action, outcome) in outcomes() {
        let reply = frame(&Ok(outcome.clone()), EXTENDED);
        assert_eq!(read(&action, &reply), Ok(outcome), "{reply}");
    }
    for code in Code::ALL {
        let error = DesktopError::new(code, "no").expecting(["yes"]);
        assert_eq!(read(&CLICK, &frame(&Err(error.clone()), EXTENDED)), Err(error));
    }
}

#[test]
fn a_plain_hub_hears_the_words_of_the_seed_alone() {
    let done = Done { message: "Moved".into(), at: Some(Point { x: 1, y: 2 }), ..Done::default() };
    let moved = frame(&Ok(Outcome::Done(done)), Envelope::PLAIN);
    assert_eq!(moved, json!({ "type": "success", "message": "Moved" }));
    let position = Outcome::Position { x: 1, y: 2, moving: true };
    let position = frame(&Ok(position), Envelope::PLAIN);
    assert_eq!(position, json!({ "type": "mouse_position", "x": 1, "y": 2 }));
    let error = frame(&Err(DesktopError::button("Left")), Envelope::PLAIN);
    assert_eq!(error, json!({ "type": "error", "error": "Invalid button: Left" }));
    let picture = frame(&Ok(Outcome::Picture(picture())), Envelope::PLAIN);
    assert_eq!(picture.as_object().unwrap().keys().collect::<Vec<_>>(), ["type", "data"]);
}

#[test]
fn an_extended_answer_has_what_the_reference_has() {
    let error = frame(&Err(DesktopError::button("Left")), EXTENDED);
    let expected = json!({
        "type": "error", "error": "Invalid button: Left", "code": "bad_request",
        "expected": ["left", "right", "middle"],
    });
    assert_eq!(error, expected);
    let mut picture = frame(&Ok(Outcome::Picture(picture())), EXTENDED);
    picture.as_object_mut().unwrap().remove("data");
    let expected = json!({
        "type": "screenshot", "format": "png", "width": 16, "height": 9, "scale": 0.008_333,
        "screen": { "x": 10, "y": 20, "w": 1920, "h": 1080 }, "id": "shot_9", "ts": 17, "ms": 3,
    });
    assert_eq!(picture, expected);
}

#[test]
fn a_picture_of_a_plain_device_shows_as_much_as_it_is_large() {
    let shot = Action::Screenshot(Shot::default());
    let reply = frame(&Ok(Outcome::Picture(picture())), Envelope::PLAIN);
    let screen = Rect { x: 0, y: 0, w: 16, h: 9 };
    assert_eq!(read(&shot, &reply), Ok(Outcome::Picture(Frame { screen, ..picture() })));
}

#[test]
fn a_device_that_lies_is_not_believed() {
    let good = frame(&Ok(Outcome::Picture(picture())), EXTENDED);
    let mut lies = vec![
        (CLICK, json!({})),
        (CLICK, json!({ "type": "success" })),
        (CLICK, json!({ "type": "success", "message": 5 })),
        (CLICK, json!({ "type": "mouse_position", "x": 1, "y": 2 })),
        (Action::GetMousePosition, json!({ "type": "success", "message": "yes" })),
        (Action::GetMousePosition, json!({ "type": "mouse_position", "x": "1", "y": 2 })),
        (Action::ScreenInfo, json!({ "type": "screen_info", "virtual": { "w": -1, "h": 2 } })),
        (Action::WindowList, json!({ "type": "window_list", "windows": [5] })),
        (
            Action::Batch { actions: vec![CLICK], stop_on_error: true },
            json!({ "type": "batch", "results": [{}, {}] }),
        ),
    ];
    for (name, value) in [
        ("data", json!("%%%")),
        ("data", json!("AAAA")),
        ("data", json!(5)),
        ("width", json!(17)),
        ("height", json!(1)),
        ("screen", json!({ "x": 0, "y": 0, "w": 0, "h": 5 })),
        ("screen", json!({ "x": u32::MAX, "y": 0, "w": 2, "h": 5 })),
    ] {
        let mut lie = good.clone();
        lie[name] = value;
        lies.push((Action::Screenshot(Shot::default()), lie));
    }
    for (action, lie) in lies {
        let error = read(&action, &lie).unwrap_err();
        assert_eq!(error.code, Code::Failed, "{lie}");
        assert!(error.text.contains("the device's answer is not understood"), "{}", error.text);
    }
}

#[test]
fn a_secret_that_a_device_repeats_goes_no_further() {
    let text = "swordfish".to_owned();
    let secret = Action::KeyboardType { text, method: Method::Auto, secret: true, delay_ms: 0 };
    let reply = json!({ "type": "error", "error": "cannot type swordfish here" });
    let error = read(&secret, &reply).unwrap_err();
    assert_eq!(error.text, "cannot type [secret] here");
}

#[test]
fn what_a_device_says_at_length_is_cut() {
    let long = "x".repeat(100_000);
    let reply = json!({ "type": "success", "message": long });
    let Ok(Outcome::Done(done)) = read(&CLICK, &reply) else { panic!("it was done") };
    assert_eq!(done.message.chars().count(), 30_001);
}
