//! Text arrives exactly, whatever the layout of the keyboard and the state of its locks.

use desktop::Local;
use kernel::desktop::{
    Action, After, Code, Desktop as _, DesktopError, Format, Frame, Method, Order, Outcome, Pane,
    Rect, Shot,
};
use x11rb::protocol::xkb::Group;

use crate::{
    collector,
    seeing::decoded,
    stage::{PATIENCE, Stage, Terminal, settings},
    witness::{Seen, Witness},
};

/// What the reference lists, and the two that it forgot.
const PRINTABLE: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\
    !@#$%^&*()-_=+[]{};:'\",.<>/?|\\ `~";
/// Some of everything: what the layout has, what it has elsewhere, and what it has nowhere.
const MIXED: &str = "Zy é€ß漢ñ {[~ שלום 👩‍👧 ^`";
const RUNS: usize = 100;

async fn type_exactly(stage: &Stage, terminal: &mut Terminal, text: &str) {
    let said = stage.done(Action::KeyboardInput { text: text.to_owned(), secret: false }).await;
    assert_eq!(said, format!("Typed: {text}"));
    assert_eq!(terminal.read(text.len()), text);
}

#[tokio::test]
async fn every_printable_character_arrives_on_an_american_keyboard() {
    let stage = Stage::set();
    let mut terminal = stage.terminal().await;
    for _ in 0..RUNS {
        type_exactly(&stage, &mut terminal, PRINTABLE).await;
    }
    let witness = Witness::at(&stage.display, (0, 0, 10, 10));
    witness.lock(true, Group::M1);
    stage.done(Action::WindowFocus { id: stage.window("XTerm").await.id }).await;
    for _ in 0..RUNS {
        type_exactly(&stage, &mut terminal, PRINTABLE).await;
    }
    assert_eq!(witness.locks(), (true, 0));
    // Whatever is on the keyboard needs no other keyboard.
    assert!(!witness.seen().contains(&Seen::Remapped));
    assert_eq!(witness.held(), (vec![], 2));
}

#[tokio::test]
async fn every_character_arrives_on_an_american_keyboard() {
    arrives_on("us", Group::M1).await;
}

#[tokio::test]
async fn every_character_arrives_on_a_german_keyboard() {
    arrives_on("de", Group::M1).await;
}

#[tokio::test]
async fn every_character_arrives_on_a_french_keyboard() {
    arrives_on("fr", Group::M1).await;
}

#[tokio::test]
async fn every_character_arrives_while_a_russian_group_is_in_use() {
    arrives_on("us,ru", Group::M2).await;
}

async fn arrives_on(layout: &str, group: Group) {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 10, 10));
    stage.layout(layout);
    let mut terminal = stage.terminal().await;
    for caps in [false, true] {
        witness.lock(caps, group);
        for _ in 0..RUNS {
            type_exactly(&stage, &mut terminal, PRINTABLE).await;
            type_exactly(&stage, &mut terminal, MIXED).await;
        }
        assert_eq!(witness.locks(), (caps, u8::from(group)));
    }
    assert_eq!(witness.held().0, Vec::<u8>::new());
}

#[tokio::test]
async fn text_of_any_script_arrives_and_the_clipboard_is_as_before() {
    let stage = Stage::set();
    let mut terminal = stage.terminal().await;
    stage.done(Action::ClipboardSet { text: "kept".into() }).await;
    let many: String = (0x4e00..0x4e00 + 200).filter_map(char::from_u32).collect();
    for text in ["é à ü ß ñ €", "漢字かな한글", "שלום مرحبا", "👩‍👩‍👧‍👦 e\u{301}", &many]
    {
        for _ in 0..RUNS {
            type_exactly(&stage, &mut terminal, text).await;
        }
    }
    let clipboard = stage.act(Action::ClipboardGet).await;
    assert_eq!(clipboard, Ok(Outcome::Clipboard { text: Some("kept".into()) }));
}

#[tokio::test]
async fn whoever_keeps_what_was_on_the_clipboard_is_not_taken_for_the_window_in_focus() {
    let stage = Stage::set();
    let own = std::process::Command::new("sh")
        .args(["-c", "printf kept | xclip -display \"$0\" -selection clipboard -i", &stage.display])
        .stdout(std::process::Stdio::null())
        .status();
    assert!(own.unwrap().success());
    let clipboard = || stage.act(Action::ClipboardGet);
    let unchanged = Ok(Outcome::Clipboard { text: Some("kept".into()) });
    // It owns the clipboard some time after it was started.
    let owned = async { while clipboard().await != unchanged {} };
    tokio::time::timeout(PATIENCE, owned).await.unwrap();
    let kept = collector::begin(&stage.display);
    // A window that takes nothing is in focus, while somebody else fetches all that is offered.
    let _witness = Witness::at(&stage.display, (0, 0, 100, 100));
    let (text, impatient) = ("漢字".to_owned(), stage.impatient());
    let action = Action::KeyboardType { text, method: Method::Paste, secret: false, delay_ms: 0 };
    let complaint = "Keyboard input failed: the window in focus did not take the paste";
    let fetched = async {
        // It may be too late for what is offered for a moment only.
        while !kept.try_iter().any(|text| text == "漢字") {
            let error = impatient.act(action.clone().into()).await.unwrap_err();
            assert_eq!(error.text, complaint);
        }
    };
    tokio::time::timeout(PATIENCE, fetched).await.unwrap();
    // To one of us the other is a person.
    stage.local.hand_back().await.unwrap();
    assert_eq!(clipboard().await, unchanged);
    let mut terminal = stage.terminal().await;
    type_exactly(&stage, &mut terminal, "漢字かな").await;
    assert_eq!(clipboard().await, unchanged);
    let read = std::process::Command::new("xclip")
        .args(["-display", &stage.display, "-selection", "clipboard", "-o"])
        .output();
    assert_eq!(String::from_utf8_lossy(&read.unwrap().stdout), "kept");
}

#[tokio::test]
async fn ends_of_lines_are_one_key_and_a_layout_may_change_between_texts() {
    let stage = Stage::set();
    let mut terminal = stage.terminal().await;
    let text = "a\nb\r\nc\rd\te\\n".to_owned();
    stage.done(Action::KeyboardInput { text, secret: false }).await;
    assert_eq!(terminal.read(11), "a\rb\rc\rd\te\\n");
    for layout in ["de", "us", "fr"] {
        stage.layout(layout);
        type_exactly(&stage, &mut terminal, "qwertz azerty ;:/").await;
    }
}

#[tokio::test]
async fn what_cannot_be_typed_whole_is_not_begun() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 100, 100));
    for (text, complaint) in [
        ("ab\0".to_owned(), "the control character U+0000 cannot be typed"),
        ("x\u{1b}[A".to_owned(), "the control character U+001B cannot be typed"),
        ("a".repeat(20_001), "the text has 20001 characters; at most 20000 are typed"),
    ] {
        let error = stage.act(Action::KeyboardInput { text, secret: false }).await.unwrap_err();
        assert_eq!(error.text, format!("Keyboard input failed: {complaint}"));
        assert_eq!(error.code, Code::TextUnsupported);
    }
    assert_eq!(witness.seen(), []);
    assert_eq!(
        stage.done(Action::KeyboardInput { text: String::new(), secret: false }).await,
        "Typed: "
    );
    assert_eq!(witness.seen(), []);
}

#[tokio::test]
async fn keys_are_lent_what_they_lack_where_nobody_pastes() {
    let stage = Stage::set();
    let witness = Witness::at(&stage.display, (0, 0, 100, 100));
    let before = witness.keymap();
    let text = "漢é".to_owned();
    let action = Action::KeyboardType { text, method: Method::Keys, secret: true, delay_ms: 0 };
    assert_eq!(stage.done(action).await, "Typed 2 characters");
    let codes: Vec<Seen> = witness.seen();
    // The meaning is gone by the time the witness looks, but the keys were pressed.
    let pressed = codes.iter().filter(|seen| matches!(seen, Seen::KeyDown(_))).count();
    assert_eq!(pressed, 2, "{codes:?}");
    assert_eq!(witness.keymap(), before);
    assert_eq!(witness.held(), (vec![], 0));
    let text = "x".to_owned();
    let action = Action::KeyboardType { text, method: Method::Paste, secret: false, delay_ms: 0 };
    let error = stage.impatient().act(action.into()).await.unwrap_err();
    let expected = "Keyboard input failed: the window in focus did not take the paste";
    assert_eq!(error.text, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_that_takes_no_paste_gets_every_character_by_lent_keys() {
    let stage = Stage::set();
    let deaf = "XTerm*VT100.translations: #override Shift <Key>Insert: ignore()";
    let mut terminal = stage.terminal_with(&["-xrm", deaf]).await;
    let witness = Witness::at(&stage.display, (0, 0, 10, 10));
    let before = witness.keymap();
    let impatient = stage.impatient();
    let id = stage.window("XTerm").await.id;
    impatient.act(Action::WindowFocus { id }.into()).await.unwrap();
    // More than will ever be typed: the keys mean this until it has been read.
    let (part, method) = ("漢é€ש한", Method::Auto);
    let text = part.repeat(4000);
    let action = Action::KeyboardType { text, method, secret: false, delay_ms: 20 };
    let reading = async {
        let read = tokio::task::spawn_blocking(move || terminal.read(5 * part.len())).await;
        impatient.cancel(None).await.unwrap();
        read.unwrap()
    };
    let (typed, read) = futures::join!(impatient.act(action.into()), reading);
    assert_eq!(read, part.repeat(5));
    assert_eq!(typed, Err(DesktopError::cancelled()));
    assert_eq!((witness.keymap(), witness.held()), (before, (vec![], 0)));
}

#[tokio::test]
async fn a_picture_that_follows_what_was_typed_shows_it() {
    let stage = Stage::set();
    let _terminal = stage.showing("");
    let Pane { id, x, y, w, h, .. } = stage.window("XTerm").await;
    stage.done(Action::WindowFocus { id }).await;
    let unsigned = |number: i32| u32::try_from(number).unwrap();
    let region = Some(Rect { x: unsigned(x), y: unsigned(y), w, h });
    let shot = Shot { region, format: Format::Png, cursor: false, ..Shot::default() };
    let dark = |frame: &Frame| decoded(frame).iter().filter(|it| **it == [0; 3]).count();
    // Each of them is in the picture when the terminal was not too busy to show it in time.
    let shown = async {
        let (mut last, mut grown) = (None, 0);
        while grown < 3 {
            let order = Order {
                after: Some(After { settle_ms: 5000, shot }),
                ..Action::KeyboardInput { text: "#".into(), secret: false }.into()
            };
            let Ok(Outcome::Done(done)) = stage.local.act(order).await else { panic!() };
            let now = dark(&done.picture.unwrap());
            let Ok(Outcome::Picture(later)) = stage.act(Action::Screenshot(shot)).await else {
                panic!()
            };
            let shows = last.is_some_and(|last| now > last) && now == dark(&later);
            grown = if shows { grown + 1 } else { 0 };
            last = Some(now);
        }
    };
    tokio::time::timeout(PATIENCE, shown).await.unwrap();
}

#[tokio::test]
async fn a_large_text_goes_through_the_clipboard_in_pieces_both_ways() {
    let stage = Stage::set();
    let text = "Größe 漢字 ".repeat(40_000);
    assert!(text.len() > 2 * 256 * 1024);
    stage.done(Action::ClipboardSet { text: text.clone() }).await;
    let read = std::process::Command::new("xclip")
        .args(["-display", &stage.display, "-selection", "clipboard", "-o", "-t", "UTF8_STRING"])
        .output()
        .unwrap_or_else(|error| panic!("these tests need xclip, `make display`: {error}"));
    assert!(read.stdout == text.as_bytes(), "{} bytes of {}", read.stdout.len(), text.len());
    let other = Local::new(settings(&stage.display, stage.folder.path().join("other.json")));
    let read = other.act(Action::ClipboardGet.into()).await;
    assert!(read == Ok(Outcome::Clipboard { text: Some(text) }));
}
