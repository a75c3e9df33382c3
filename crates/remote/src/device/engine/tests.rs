//! A device by its transcript: frames in, frames out.

mod hostile;

use kernel::desktop::{Button, Pause};
use serde_json::json;
use testkit::{FakeDesktop, ManualClock};

use super::*;

struct Device {
    desktop: FakeDesktop,
    engine: Engine,
}

impl Device {
    fn new(leave: Leave) -> Self {
        let desktop = FakeDesktop::default();
        let clock = Arc::new(ManualClock::default());
        let engine = Engine::new(Arc::new(desktop.clone()), clock, leave);
        Self { desktop, engine }
    }

    /// At a hub that knows only the seed, with leave for an hour.
    fn plain() -> Self {
        let until = (ManualClock::default().now() + std::time::Duration::from_hours(1)).into();
        let mut device = Self::new(Leave { until, view_only: false });
        let ack = json!({ "type": "handshake_ack", "server": "cloudflare-worker", "timestamp": 1 });
        device.hear(ack);
        device
    }

    /// At a hub of ours, and done with telling how it stands.
    async fn extended() -> Self {
        let mut device = Self::new(Leave::default());
        device.hear(json!({ "type": "handshake_ack", "protocol": "1.1", "device": "studio" }));
        let stands = json!({
            "type": "state", "armed": true, "until": null, "paused": null,
            "held": { "keys": [], "buttons": [] }, "queue": 0,
        });
        assert_eq!(device.next().await, stands);
        device
    }

    #[expect(clippy::needless_pass_by_value, reason = "`json!` reads best without a `&`")]
    fn hear(&mut self, frame: Value) {
        self.engine.hear(&frame.to_string());
    }

    async fn next(&mut self) -> Value {
        serde_json::from_str(&self.engine.next().await).unwrap()
    }

    /// The next frame, whatever it says of how the device stands.
    async fn reply(&mut self) -> Value {
        loop {
            let frame = self.next().await;
            if frame["type"] != "state" {
                return frame;
            }
        }
    }

    async fn ask(&mut self, frame: Value) -> Value {
        self.hear(frame);
        self.reply().await
    }
}

fn click(id: &str) -> Value {
    json!({ "type": "mouse_click", "button": "left", "commandId": id })
}

#[tokio::test(start_paused = true)]
async fn the_commands_of_the_seed_are_answered_byte_for_byte() {
    let mut device = Device::plain();
    for (frame, reply) in [
        (
            json!({ "type": "mouse_move", "x": 500, "y": 300, "commandId": "cmd_1_2" }),
            json!({ "type": "success", "message": "Moved mouse to (500, 300)", "commandId": "cmd_1_2" }),
        ),
        (
            json!({ "type": "get_mouse_position" }),
            json!({ "type": "mouse_position", "x": 500, "y": 300 }),
        ),
        (
            json!({ "type": "mouse_click", "button": "left" }),
            json!({ "type": "success", "message": "Clicked left button" }),
        ),
        (
            json!({ "type": "mouse_scroll", "direction": "down" }),
            json!({ "type": "success", "message": "Scrolled down with intensity 3" }),
        ),
        (
            json!({ "type": "keyboard_input", "text": "hi", "commandId": "" }),
            json!({ "type": "success", "message": "Typed: hi", "commandId": "" }),
        ),
        (
            json!({ "type": "keyboard_command", "command": "return", "commandId": 7 }),
            json!({ "type": "success", "message": "Executed keyboard command: return" }),
        ),
        (
            json!({ "type": "mouse_move", "x": 5000, "y": 300 }),
            json!({ "type": "error", "error":
                "Mouse move failed: Out of bounds error: Out of bounds at positions x,y :5000, 300" }),
        ),
        (
            json!({ "type": "mouse_click", "button": "Left" }),
            json!({ "type": "error", "error": "Invalid button: Left" }),
        ),
        (
            json!({ "type": "keyboard_command", "command": "page_upp" }),
            json!({ "type": "error", "error":
                "Keyboard command failed: Key not supported: page_upp key/command is not supported" }),
        ),
    ] {
        assert_eq!(device.ask(frame.clone()).await, reply, "{frame}");
    }
}

#[tokio::test(start_paused = true)]
async fn greetings_get_no_answer_and_what_follows_does() {
    let mut device = Device::plain();
    device.hear(json!({ "type": "handshake_ack", "commandId": "a" }));
    device.hear(json!({ "type": "pong", "commandId": "b" }));
    let reply = device.ask(json!({ "type": "ping", "commandId": "c" })).await;
    assert_eq!(reply["commandId"], "c");
    assert!(reply["error"].as_str().unwrap().contains("unknown variant `ping`"), "{reply}");
}

#[tokio::test(start_paused = true)]
async fn commands_without_an_id_are_answered_in_their_order() {
    let mut device = Device::plain();
    device.desktop.hold(true);
    device.hear(json!({ "type": "mouse_click", "button": "left" }));
    device.hear(json!({ "type": "nonsense" }));
    device.hear(json!({ "type": "get_mouse_position" }));
    device.hear(json!({ "type": "mouse_click", "button": "right" }));
    device.desktop.hold(false);
    let mut kinds = Vec::new();
    for _ in 0..4 {
        kinds.push(device.next().await["type"].as_str().unwrap().to_owned());
    }
    assert_eq!(kinds, ["success", "error", "mouse_position", "success"]);
    let clicks = [Button::Left, Button::Right].map(|button| Action::MouseClick { button });
    assert_eq!(device.desktop.done(), clicks);
}

#[tokio::test(start_paused = true)]
async fn a_look_is_answered_while_the_pointer_is_on_its_way() {
    let mut device = Device::extended().await;
    device.hear(json!({ "type": "mouse_move", "x": 9, "y": 9, "duration": 2, "commandId": "m" }));
    device.hear(click("c"));
    device.hear(json!({ "type": "get_mouse_position", "commandId": "p" }));
    let begun = Instant::now();
    let position = device.reply().await;
    assert!(begun.elapsed().is_zero());
    assert_eq!((&position["commandId"], &position["moving"]), (&json!("p"), &json!(true)));
    let (moved, clicked) = (device.reply().await, device.reply().await);
    assert_eq!((&moved["commandId"], &clicked["commandId"]), (&json!("m"), &json!("c")));
    assert_eq!((&moved["ms"], &moved["x"]), (&json!(2000), &json!(9)));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_move_is_over_at_once_and_the_rest_goes_on_or_does_not() {
    let mut device = Device::extended().await;
    let slow =
        |id| json!({ "type": "mouse_move", "x": 9, "y": 9, "duration": 20, "commandId": id });
    device.hear(slow("a"));
    device.hear(slow("b"));
    device.hear(click("c"));
    device.hear(json!({ "type": "get_mouse_position", "commandId": "p" }));
    assert_eq!(device.reply().await["commandId"], "p");
    let begun = Instant::now();
    device.hear(json!({ "type": "cancel", "target": "a", "commandId": "x" }));
    let cancelled =
        |id| json!({ "type": "error", "error": "Cancelled", "code": "cancelled", "commandId": id });
    assert_eq!(device.reply().await, cancelled("a"));
    assert_eq!(device.reply().await["message"], "Cancelled 1 command");
    assert!(begun.elapsed().is_zero());
    device.hear(json!({ "type": "cancel", "commandId": "y" }));
    assert_eq!(device.reply().await, cancelled("b"));
    assert_eq!(device.reply().await, cancelled("c"));
    assert_eq!(device.reply().await["message"], "Cancelled 2 commands");
    assert_eq!(device.desktop.done(), []);
    assert_eq!(device.ask(click("d")).await["type"], "success");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_is_sent_again_is_not_done_again() {
    let mut device = Device::extended().await;
    let first = device.ask(click("a")).await;
    device.engine.disconnected().await;
    device.hear(json!({ "type": "handshake_ack", "protocol": "1.1" }));
    assert_eq!(device.ask(click("a")).await, first);
    assert_eq!(device.desktop.done().len(), 1);
    // Nor is one that is being done.
    device.desktop.hold(true);
    device.hear(click("b"));
    device.hear(click("b"));
    device.desktop.hold(false);
    assert_eq!(device.reply().await["commandId"], "b");
    assert_eq!(device.ask(click("c")).await["commandId"], "c");
    assert_eq!(device.desktop.done().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_had_a_large_answer_is_not_done_again() {
    let mut device = Device::extended().await;
    let text = "x".repeat(100_000);
    device.ask(json!({ "type": "clipboard_set", "text": text, "commandId": "s" })).await;
    let click = json!({ "type": "mouse_click", "button": "left" });
    let actions = json!([click, { "type": "clipboard_get" }]);
    let batch = json!({ "type": "batch", "actions": actions, "commandId": "b" });
    let text = "🙂".repeat(20_000);
    let typed = json!({ "type": "keyboard_input", "text": text, "commandId": "t" });
    let first = [device.ask(batch.clone()).await, device.ask(typed.clone()).await];
    assert!(first.iter().all(|reply| reply.to_string().len() > 64 * 1024));
    let done = device.desktop.done();
    let [batch, typed] = [device.ask(batch).await, device.ask(typed).await];
    assert_eq!(device.desktop.done(), done);
    assert_eq!(batch["results"][0], first[0]["results"][0]);
    for (again, first) in [batch, typed].iter().zip(first) {
        assert_eq!((&again["type"], &again["commandId"]), (&first["type"], &first["commandId"]));
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_cut_short_by_a_loss_is_not_begun_again() {
    let mut device = Device::extended().await;
    let slow = json!({ "type": "mouse_move", "x": 9, "y": 9, "duration": 20, "commandId": "a" });
    device.hear(slow.clone());
    device.hear(click("b"));
    device.hear(json!({ "type": "get_mouse_position", "commandId": "p" }));
    assert_eq!(device.reply().await["moving"], true);
    device.engine.disconnected().await;
    device.hear(json!({ "type": "handshake_ack", "protocol": "1.1" }));
    assert_eq!(device.ask(slow).await["error"], "Cancelled");
    // What had not begun may be.
    assert_eq!(device.ask(click("b")).await["type"], "success");
}

#[tokio::test(start_paused = true)]
async fn what_a_lost_hub_asked_for_is_not_done() {
    let mut device = Device::extended().await;
    device.hear(json!({ "type": "mouse_move", "x": 9, "y": 9, "duration": 20, "commandId": "a" }));
    device.hear(click("b"));
    device.hear(json!({ "type": "get_mouse_position", "commandId": "p" }));
    assert_eq!(device.reply().await["commandId"], "p");
    device.engine.disconnected().await;
    device.hear(json!({ "type": "handshake_ack", "protocol": "1.1" }));
    assert_eq!(device.ask(click("c")).await["commandId"], "c");
    assert_eq!(device.desktop.done(), [Action::MouseClick { button: Button::Left }]);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_at_once_are_bounded_and_paced() {
    let mut device = Device::extended().await;
    for number in 0..1000 {
        device.hear(click(&number.to_string()));
    }
    let begun = Instant::now();
    let (mut done, mut full) = (0, 0);
    for _ in 0..1000 {
        let reply = device.reply().await;
        match reply["code"].as_str() {
            None => done += 1,
            Some("queue_full") => full += 1,
            Some(other) => panic!("{other}"),
        }
    }
    assert_eq!((done, full), (64, 936));
    assert!(begun.elapsed().as_millis() >= 800, "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn when_a_person_takes_over_nothing_that_waits_is_done() {
    let mut device = Device::extended().await;
    device.desktop.hold(true);
    device.hear(click("a"));
    device.hear(click("b"));
    device.hear(json!({ "type": "get_mouse_position", "commandId": "p" }));
    assert_eq!(device.reply().await["commandId"], "p");
    device.desktop.take(Some(Pause::Human));
    let mut stopped = Vec::new();
    let mut told = false;
    while stopped.len() < 2 || !told {
        let frame = device.next().await;
        match frame["type"].as_str() {
            Some("state") => told |= frame["paused"] == "human",
            _ => stopped.push((frame["commandId"].clone(), frame["error"].clone())),
        }
    }
    stopped.sort_by_key(|(id, _)| id.to_string());
    let expected = [(json!("a"), json!("Stopped by user")), (json!("b"), json!("Stopped by user"))];
    assert_eq!(stopped, expected);
    assert_eq!(device.ask(click("c")).await["error"], "Paused by user");
    let resumed = device.ask(json!({ "type": "hand_back", "commandId": "h" })).await;
    assert_eq!(resumed["message"], "Resumed");
    device.desktop.hold(false);
    assert_eq!(device.ask(click("d")).await["type"], "success");
}

#[tokio::test(start_paused = true)]
async fn a_hub_that_asks_nobody_does_not_take_back_what_a_person_took() {
    let mut device = Device::plain();
    device.desktop.take(Some(Pause::Human));
    let text = "Only the person at this machine hands it back to this hub: ctrl+alt+return";
    let refused = json!({ "type": "error", "error": text, "commandId": "h" });
    assert_eq!(device.ask(json!({ "type": "hand_back", "commandId": "h" })).await, refused);
    assert_eq!(device.ask(json!({ "type": "hand_back" })).await["error"], text);
    assert_eq!(device.ask(click("a")).await["error"], "Paused by user");
    device.desktop.take(None);
    assert_eq!(device.ask(click("b")).await["type"], "success");
}

#[tokio::test(start_paused = true)]
async fn a_hub_without_rules_gets_nothing_unless_the_person_said_so() {
    let mut device = Device::new(Leave::default());
    device.hear(json!({ "type": "handshake_ack", "server": "cloudflare-worker", "timestamp": 1 }));
    let error =
        json!({ "type": "error", "error": "Desktop control is not armed", "commandId": "a" });
    assert_eq!(device.ask(click("a")).await, error);
    assert_eq!(device.desktop.done(), []);
}

#[tokio::test(start_paused = true)]
async fn when_the_time_given_at_the_machine_is_over_nothing_goes_on_or_stays_pressed() {
    let desktop = FakeDesktop::default();
    let clock = Arc::new(ManualClock::default());
    let until = clock.now() + std::time::Duration::from_mins(15);
    let leave = Leave { until: Some(until), view_only: false };
    let engine = Engine::new(Arc::new(desktop.clone()), clock.clone(), leave);
    let mut device = Device { desktop, engine };
    device.hear(json!({ "type": "handshake_ack", "protocol": "1.1", "armed": true }));
    let pressed = json!({ "type": "key_down", "key": "shift", "commandId": "a" });
    assert_eq!(device.ask(pressed).await["message"], "Pressed shift");
    assert!(device.desktop.is_lit());
    device.desktop.hold(true);
    device.hear(click("b"));
    device.hear(click("c"));
    device.hear(json!({ "type": "get_mouse_position", "commandId": "p" }));
    assert_eq!(device.reply().await["commandId"], "p");
    clock.advance(std::time::Duration::from_mins(15).try_into().unwrap());
    let refused = |id| {
        let text = format!("Desktop control expired at {until}");
        json!({ "type": "error", "error": text, "code": "not_armed", "commandId": id })
    };
    assert_eq!(device.reply().await, refused("b"));
    assert_eq!(device.reply().await, refused("c"));
    let stands = device.next().await;
    assert_eq!((&stands["type"], &stands["armed"]), (&json!("state"), &json!(false)));
    assert!(!device.desktop.is_lit());
    let key = kernel::desktop::Chords::parse("shift").unwrap();
    assert_eq!(
        (device.desktop.done(), device.desktop.releases()),
        (vec![Action::KeyDown { key }], 1)
    );
    // It is over once, and what comes later is refused like before.
    assert_eq!(device.ask(click("d")).await, refused("d"));
    assert_eq!(device.desktop.releases(), 1);
}

#[tokio::test(start_paused = true)]
async fn it_shows_when_it_may_be_driven_and_no_longer_than_that() {
    let mut device = Device::extended().await;
    let told = |armed: bool| json!({ "type": "handshake_ack", "protocol": "1.1", "device": "studio", "armed": armed });
    assert!(!device.desktop.is_lit());
    for armed in [true, false, true] {
        device.hear(told(armed));
        assert_eq!(device.desktop.is_lit(), armed);
    }
    device.engine.disconnected().await;
    assert!(!device.desktop.is_lit());
    // Whoever said so at this machine is shown it at any hub.
    assert!(Device::plain().desktop.is_lit());
}

#[tokio::test(start_paused = true)]
async fn it_knows_until_when_from_a_hub_that_says_so_and_ends_with_whoever_ends_first() {
    let at = |seconds| ManualClock::default().now() + std::time::Duration::from_secs(seconds);
    let told = |until: Value| json!({ "type": "handshake_ack", "protocol": "1.1", "armed": true, "until": until });
    let ms = |seconds| json!(at(seconds).as_millisecond());
    for (here, said, shown) in [
        (None, ms(900), Some(at(900))),
        (None, Value::Null, None),
        (Some(at(60)), ms(900), Some(at(60))),
        (Some(at(3600)), ms(900), Some(at(900))),
        (Some(at(3600)), Value::Null, Some(at(3600))),
    ] {
        let mut device = Device::new(Leave { until: here, view_only: false });
        device.hear(told(said.clone()));
        let window = *device.engine.window().borrow();
        assert_eq!(window, Window::Open { until: shown }, "{here:?} {said}");
        device.hear(told(ms(30)));
        let window = *device.engine.window().borrow();
        assert_eq!(window, Window::Open { until: Some(at(30)) }, "{here:?} {said}");
    }
}
