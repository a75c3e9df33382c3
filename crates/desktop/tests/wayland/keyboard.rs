//! Keys and text arrive exactly, whatever the text.

use kernel::desktop::{Action, Chords, Code, DesktopError, Done, Method, Outcome};

use crate::{
    stage::{Stage, Terminal},
    witness::Seen,
};

fn combo(keys: &str) -> Action {
    Action::KeyCombo { keys: Chords::parse(keys).unwrap(), repeat: 1 }
}

fn is_key(seen: &Seen) -> bool {
    matches!(seen, Seen::Key { .. })
}

#[tokio::test]
async fn any_text_arrives_as_it_was_written() {
    let Some(stage) = Stage::set() else { return };
    let mut terminal = Terminal::open(&stage).await;
    let seed: String = (' '..='~').collect();
    let chinese: String = ('\u{4e00}'..).take(200).collect();
    let texts = [
        seed.as_str(),
        "é à ü ß ñ € ÿ Ā ſ",
        "漢字かな한글 שלום العربية ไทย",
        "👩‍👩‍👧‍👦 🏳️‍🌈 e\u{301} \u{200b}\u{fe0f} 𝔘𐍈",
        &chinese,
        "C:\\new \\n 'quoted' \"twice\" {a|b} ~^`",
        "mixed é漢A1 and back again é漢A1",
    ];
    for text in texts {
        let said = stage.done(Action::KeyboardInput { text: text.to_owned(), secret: false }).await;
        assert_eq!(said, format!("Typed: {text}"));
        assert_eq!(terminal.read(text.len()), text);
    }
    // Every letter of Europe, one after another.
    let letters: String = ('\u{a0}'..='\u{52f}').collect();
    stage.done(Action::KeyboardInput { text: letters.clone(), secret: false }).await;
    assert_eq!(terminal.read(letters.len()), letters);
    let text = "one\ntwo\r\nthree\rfour\tend".to_owned();
    stage.done(Action::KeyboardInput { text, secret: false }).await;
    assert_eq!(terminal.read(22), "one\rtwo\rthree\rfour\tend");
}

#[tokio::test]
async fn text_is_typed_whatever_is_locked_and_what_cannot_be_is_refused_whole() {
    let Some(stage) = Stage::set() else { return };
    let mut terminal = Terminal::open(&stage).await;
    stage.done(combo("caps_lock")).await;
    let typing = |text: &str, method| Action::KeyboardType {
        text: text.into(),
        method,
        secret: false,
        delay_ms: 1,
    };
    let done = stage.act(typing("Abc é", Method::Auto)).await.unwrap();
    let Outcome::Done(Done { message, method, .. }) = done else { panic!("{done:?}") };
    assert_eq!((message.as_str(), method), ("Typed 5 characters", Some(Method::Keys)));
    assert_eq!(terminal.read(6), "Abc é");
    stage.done(combo("caps_lock")).await;
    for text in ["a\0b", &"x".repeat(20_001)] {
        let error = stage
            .act(Action::KeyboardInput { text: text.to_owned(), secret: false })
            .await
            .unwrap_err();
        assert_eq!(error.code, Code::TextUnsupported, "{error}");
    }
    let error = stage.act(typing("pasted", Method::Paste)).await;
    let text = "Keyboard input failed: text is typed here, and not pasted";
    assert_eq!(error, Err(DesktopError::new(Code::Unsupported, text)));
    // Of what was refused nothing arrived.
    stage.done(Action::KeyboardInput { text: "end".into(), secret: false }).await;
    assert_eq!(terminal.read(3), "end");
    stage.done(combo("ctrl+c")).await;
    stage.done(combo("alt+x")).await;
    stage.done(combo("up")).await;
    stage.done(combo("kp_7")).await;
    assert_eq!(terminal.read(7), "\u{3}\u{1b}x\u{1b}[A7");
}

#[tokio::test]
async fn combinations_press_and_let_go_in_the_right_order() {
    let Some(stage) = Stage::set() else { return };
    let witness = stage.witness("witness").await;
    let order = |codes: &[u32]| -> Vec<Seen> {
        let down = codes.iter().map(|code| Seen::Key { code: *code, down: true });
        down.chain(codes.iter().rev().map(|code| Seen::Key { code: *code, down: false })).collect()
    };
    // By the codes that kernels give to the keys of a common keyboard.
    let pressed: [(&str, &[u32]); 11] = [
        ("ctrl+shift+t", &[29, 42, 20]),
        ("alt+F4", &[56, 62]),
        ("ctrl++", &[29, 42, 13]),
        ("super", &[125]),
        ("altgr+e", &[84, 18]),
        ("return", &[28]),
        ("page_up", &[104]),
        ("F24", &[194]),
        ("delete", &[111]),
        ("A", &[42, 30]),
        ("volume_up", &[115]),
    ];
    for (keys, codes) in pressed {
        assert_eq!(stage.done(combo(keys)).await, format!("Pressed {keys}"));
        assert_eq!(witness.seen(codes.len() * 2, is_key), order(codes), "{keys}");
    }
    let keys = Chords::parse("shift+a").unwrap();
    stage.done(Action::HoldKey { keys, duration: 0.05 }).await;
    assert_eq!(witness.seen(4, is_key), order(&[42, 30]));
    let key = |name: &str| Chords::parse(name).unwrap();
    stage.done(Action::KeyDown { key: key("ctrl") }).await;
    stage.done(combo("ctrl+a")).await;
    stage.done(Action::KeyUp { key: key("ctrl") }).await;
    // What was held before is held after it.
    assert_eq!(witness.seen(4, is_key), order(&[29, 30]));
    let error = stage.act(Action::KeyUp { key: key("ctrl") }).await.unwrap_err();
    assert_eq!(error.text, "Key up failed: ctrl is not down");
    let error = stage.act(combo("fn")).await.unwrap_err();
    assert_eq!(error.code, Code::Unsupported);
}
