//! What the person is asked before something is done, and how often.

use kernel::{
    desktop::Method,
    update::{Message, WhenBusy},
};
use testkit::model::{call, text};

use super::*;

const NO: Decision = Decision::Deny { reason: None };
/// What a person arms who says nothing of it.
const USUAL: [Class; 3] = [Class::Look, Class::Point, Class::Type];

fn enter() -> Value {
    json!({ "command": "return" })
}

#[tokio::test]
async fn what_sends_something_off_is_asked_about_and_what_was_not_granted_is_refused() {
    let home = Home::new().await;
    home.arm(&[Class::Look, Class::Type, Class::Act]).await;
    let typed = home.said("keyboard_input", json!({ "text": "ls" })).await;
    assert_eq!(typed.as_deref(), Ok("Typed: ls"));
    let pressing = home.said("keyboard_command", json!({ "command": "return" }));
    let (pressed, asked) = tokio::join!(pressing, home.answer(ONCE));
    assert_eq!(asked, "Pressing return");
    assert_eq!(pressed.as_deref(), Ok("Executed keyboard command: return"));
    let moved = home.said("mouse_move", point(5, 6)).await;
    let refusal = "Desktop control is not granted; expected one of: point";
    assert_eq!(moved, Err(refusal.to_owned()));
    home.host.disarm("studio", None, "the owner").await;
    assert_eq!(home.host.devices.armed("studio", Some(home.session)), Armed::Never);
    let last = home.facts().await.pop().unwrap();
    let why = "the owner".to_owned();
    assert_eq!(last, DesktopFact::Disarmed { device: "studio".into(), why });
}

#[tokio::test]
async fn what_acts_is_asked_about_once_in_a_session_and_a_yes_counts() {
    let home = Home::new().await;
    home.arm(&USUAL).await;
    let Armed::Until(until, _) = home.host.devices.armed("studio", Some(home.session)) else {
        panic!("it is not armed")
    };
    let pressing = home.said("keyboard_command", enter());
    let (pressed, asked) = tokio::join!(pressing, home.answer(ONCE));
    let question = "Pressing return: let it act on studio (Return, shortcuts, closing windows)";
    assert_eq!(asked, question);
    assert_eq!(pressed.as_deref(), Ok("Executed keyboard command: return"));
    let again = home.unasked("keyboard_command", enter()).await;
    assert_eq!(again.as_deref(), Ok("Executed keyboard command: return"));
    assert_eq!(home.done().len(), 2);
    let armed = home.host.devices.armed("studio", Some(home.session));
    let classes = vec![Class::Look, Class::Point, Class::Type, Class::Act];
    assert_eq!(armed, Armed::Until(until, classes));
    // The clipboard is another matter.
    let reading = home.said("computer", json!({ "action": "clipboard_get" }));
    let (read, asked) = tokio::join!(reading, home.answer(NO));
    assert_eq!(asked, "Reading the clipboard: let it use the clipboard of studio");
    assert!(read.unwrap_err().starts_with("Desktop control is not granted. "));
    assert_eq!(home.done(), []);
}

#[tokio::test]
async fn a_secret_is_in_no_question_and_in_nothing_that_comes_of_the_answer() {
    let typing = json!({ "action": "type", "text": "hunter2\n", "secret": true });
    let saving = json!({ "action": "key", "text": "ctrl+s" });
    let both = json!({ "action": "batch", "actions": [typing, saving] });
    for (wish, title) in [(typing, "Typing a secret"), (both, "Typing a secret, Pressing ctrl+s")] {
        let home = Home::new().await;
        // Asked about when it is run, and before that.
        for (decision, classes) in [(NO, &USUAL[..]), (ONCE, &Class::ALL[..]), (ONCE, &USUAL[..])] {
            home.arm(classes).await;
            let doing = home.said("computer", wish.clone());
            let (said, asked) = tokio::join!(doing, home.answered(decision));
            assert!(asked.title.starts_with(title), "{asked:?}");
            let told = format!("{asked:?} {said:?}");
            assert!(told.contains("[secret, 8 chars]") && !told.contains("hunter2"), "{told}");
        }
        let log = home.host.ports.log.read(home.session, Seq(0), 1000).await.unwrap();
        let log = serde_json::to_string(&log).unwrap();
        assert!(log.contains("[secret, 8 chars]") && !log.contains("hunter2"), "{log}");
    }
}

#[tokio::test]
async fn a_secret_that_a_model_types_is_not_kept_with_its_call_and_what_stands_for_it_is_not_typed()
{
    let text = "hunter2".to_owned();
    let typed = Action::KeyboardType { text, method: Method::Auto, secret: true, delay_ms: 0 };
    secret_typed("computer", json!({ "action": "type" }), typed).await;
    let typed = Action::KeyboardInput { text: "hunter2".to_owned(), secret: true };
    secret_typed("keyboard_input", json!({}), typed).await;
}

async fn secret_typed(tool: &str, mut args: Value, typed: Action) {
    let mut typing = |text: &str| {
        args["secret"] = true.into();
        args["text"] = text.into();
        args.clone()
    };
    let (first, again) = (typing("hunter2"), typing("[secret, 7 chars]"));
    let home = Home::with([
        vec![call("1", tool, first)],
        vec![call("2", tool, again.clone())],
        vec![text("done")],
    ])
    .await;
    home.arm(&USUAL).await;
    let message = Message::from_user("log in");
    home.host.post(home.session, message, WhenBusy::Refuse).await.unwrap();
    let log = home.ended().await;
    let calls: Vec<Value> = log
        .iter()
        .filter_map(|fact| match fact {
            Fact::Answered(answer) => Some(answer.calls.iter().map(|call| call.args.clone())),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(calls, [again.clone(), again]);
    let told = serde_json::to_string(&log).unwrap();
    assert!(!told.contains("hunter2"), "{told}");
    let unknown = "what was secret is not kept: `text` only says how long it was; the secret itself \
                   was expected";
    assert!(told.contains(&format!("Keyboard input failed: {unknown}")), "{told}");
    assert_eq!(home.done(), [typed]);
}

#[tokio::test]
async fn a_yes_is_for_the_part_of_the_screen_that_was_lent() {
    let home = Home::new().await;
    let part = Some(Rect { x: 0, y: 0, w: 800, h: 600 });
    for session in [None, Some(home.session)] {
        let until = home.host.ports.clock.now() + Duration::from_mins(15);
        let (device, classes) = ("studio".to_owned(), USUAL.to_vec());
        let arming = Arming { device, session, classes, until, area: part };
        home.host.arm(arming.clone()).await.unwrap();
        let reading = home.said("computer", json!({ "action": "clipboard_get" }));
        let (read, _) = tokio::join!(reading, home.answer(ONCE));
        read.unwrap();
        let armings = home.host.devices.armings();
        let theirs = armings.into_iter().find(|it| it.session == Some(home.session));
        let classes = [&USUAL[..], &[Class::Clipboard]].concat();
        let expected = Arming { session: Some(home.session), classes, ..arming };
        assert_eq!(theirs, Some(expected));
        let moved = home.said("mouse_move", point(900, 5)).await;
        let refusal = "Desktop control is lent for a part of the screen only: (900, 5) lies outside; \
                       expected one of: 0, 0, 800 × 600";
        assert_eq!(moved, Err(refusal.to_owned()));
    }
}

#[tokio::test]
async fn a_no_is_a_no_and_is_asked_again() {
    let home = Home::new().await;
    home.arm(&USUAL).await;
    for _ in 0..2 {
        let pressing = home.said("keyboard_command", enter());
        let (refused, _) = tokio::join!(pressing, home.answer(NO));
        assert!(refused.unwrap_err().starts_with("Desktop control is not granted. "));
    }
    assert_eq!(home.done(), []);
}

#[tokio::test]
async fn a_yes_holds_for_the_arming_that_it_was_given_for() {
    let home = Home::new().await;
    home.arm(&USUAL).await;
    let (pressed, _) = tokio::join!(home.said("keyboard_command", enter()), home.answer(ONCE));
    pressed.unwrap();
    home.host.disarm("studio", None, "the owner").await;
    home.done();
    let pressing = home.said("keyboard_command", enter());
    let answers = async { (home.answer(ONCE).await, home.answer(NO).await) };
    let (refused, (first, second)) = tokio::join!(pressing, answers);
    assert_eq!(first, "See and drive the desktop studio for 15 minutes");
    assert!(second.starts_with("Pressing return: let it act on studio"), "{second}");
    assert!(refused.unwrap_err().starts_with("Desktop control is not granted. "));
    assert_eq!(home.done(), []);
}

#[tokio::test]
async fn nobody_is_asked_about_what_would_be_refused_anyway() {
    let home = Home::new().await;
    home.arm(&[Class::Look, Class::Act]).await;
    let batch = json!({ "action": "batch", "actions": [
        { "action": "left_click", "coordinate": [1, 2] }, { "action": "key", "text": "Return" },
    ] });
    let refused = home.unasked("computer", batch).await;
    let refusal = "Desktop control is not granted; expected one of: point";
    assert_eq!(refused, Err(refusal.to_owned()));
    assert_eq!(home.done(), []);
}

#[tokio::test]
async fn a_recording_that_acts_is_asked_about_once() {
    let home = Home::new().await;
    home.host.devices.record("studio").unwrap();
    home.host.take_over("studio").await.unwrap();
    let press = Action::KeyCombo { keys: Chords::parse("Return").unwrap(), repeat: 1 };
    home.host.devices.touch("studio", press.clone().into()).await.1.unwrap();
    let steps = home.host.devices.recorded("studio").unwrap().into_steps();
    home.host.trajectories.keep("send", "studio", steps).await.unwrap();
    home.host.hand_back("studio").await.unwrap();
    home.done();
    home.arm(&USUAL).await;
    let wish = json!({ "name": "send" });
    let (done, asked) = tokio::join!(home.said("desktop_replay", wish), home.answer(ONCE));
    let question = "Doing send again: let it act on studio (Return, shortcuts, closing windows)";
    assert_eq!(asked, question);
    assert_eq!(done.as_deref(), Ok("Did all 1 steps of send."));
    assert_eq!(home.done(), [press]);
}
