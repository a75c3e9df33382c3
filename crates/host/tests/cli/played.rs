//! The real device on a real display, and a hub that is played by the test.

use futures::{SinkExt as _, StreamExt as _};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::{WebSocketStream, accept_async, tungstenite::Message};

use crate::{
    driven::Display,
    home::{Home, Process},
};

/// A hub and the device at it.
struct Stage {
    device: Process,
    socket: WebSocketStream<TcpStream>,
    _display: Display,
    _home: Home,
}

impl Stage {
    /// Whoever sits at the device lets the hub drive it; the hub greets it so.
    async fn set(ack: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (home, display) = (Home::new(), Display::open());
        let url = format!("ws://{}/connect", listener.local_addr().unwrap());
        let arguments = ["desktop", "--connect", &url, "--token", "x", "--arm", "15m"];
        let mut command = home.command(&arguments);
        command.env("DISPLAY", &display.name);
        let device = Process::start(command);
        let (stream, _) = listener.accept().await.unwrap();
        let socket = accept_async(stream).await.unwrap();
        let mut stage = Self { device, socket, _display: display, _home: home };
        let hello = stage.next().await;
        let seed = ["type", "client", "version"].map(|name| hello[name].as_str().unwrap());
        assert_eq!(seed, ["handshake", "rust-automation", "0.1.0"]);
        stage.send(&ack.to_string()).await;
        stage
    }

    async fn send(&mut self, frame: &str) {
        self.socket.send(Message::text(frame)).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.next().await.unwrap().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    /// The next answer, whatever is said of how the device stands.
    async fn reply(&mut self) -> Value {
        loop {
            let frame = self.next().await;
            if frame["type"] != "state" {
                return frame;
            }
        }
    }

    /// Answers by the ids of their commands, up to this one, which is the last.
    async fn replies_to(&mut self, last: &str) -> Vec<Value> {
        let mut replies = Vec::new();
        while replies.last().is_none_or(|reply: &Value| reply["commandId"] != last) {
            replies.push(self.reply().await);
        }
        replies
    }

    fn stop(self) {
        self.device.signal(Signal::TERM);
        assert_eq!(self.device.wait().code, Some(0));
    }
}

fn said(message: &str) -> Value {
    json!({ "type": "success", "message": message })
}

fn refused(error: &str) -> Value {
    json!({ "type": "error", "error": error })
}

/// What the seed shows and lists, and the answers of its own program.
fn seed() -> Vec<(String, Value)> {
    let mut frames = vec![
        (
            json!({ "type": "mouse_move", "x": 500, "y": 500, "duration": 1.0 }),
            said("Moved mouse to (500, 500)"),
        ),
        (
            json!({ "type": "mouse_move", "x": 500, "y": 300, "duration": 0 }),
            said("Moved mouse to (500, 300)"),
        ),
        (
            json!({ "type": "get_mouse_position" }),
            json!({ "type": "mouse_position", "x": 500, "y": 300 }),
        ),
        (
            json!({ "type": "mouse_scroll", "direction": "down" }),
            said("Scrolled down with intensity 3"),
        ),
        (
            json!({ "type": "mouse_scroll", "direction": "diag" }),
            refused("Invalid scroll direction: diag"),
        ),
        (json!({ "type": "mouse_click", "button": "Left" }), refused("Invalid button: Left")),
        (json!({ "type": "keyboard_input", "text": "hello world" }), said("Typed: hello world")),
        (json!({ "type": "keyboard_input", "text": "" }), said("Typed: ")),
        (
            json!({ "type": "keyboard_command", "command": "page_upp" }),
            refused(
                "Keyboard command failed: Key not supported: page_upp key/command is not supported",
            ),
        ),
        (
            json!({ "type": "mouse_move", "x": 5000, "y": 300 }),
            refused(
                "Mouse move failed: Out of bounds error: Out of bounds at positions x,y :5000, 300",
            ),
        ),
        (
            json!({ "type": "mouse_move", "x": "abc", "y": 1 }),
            refused("Invalid command format: invalid type: string \"abc\", expected u32"),
        ),
        (
            json!({ "type": "mouse_move", "x": 1 }),
            refused("Invalid command format: missing field `y`"),
        ),
        (
            json!(5),
            refused(
                "Invalid command format: invalid type: integer `5`, expected internally tagged enum Command",
            ),
        ),
    ];
    for button in ["left", "right", "middle"] {
        let done = said(&format!("Clicked {button} button"));
        frames.push((json!({ "type": "mouse_click", "button": button }), done));
    }
    for direction in ["up", "down", "left", "right"] {
        let done = said(&format!("Scrolled {direction} with intensity 2"));
        frames.push((
            json!({ "type": "mouse_scroll", "direction": direction, "intensity": 2 }),
            done,
        ));
    }
    let text = "azAZ09!@#$%^&*()-_=+[]{};:'\",.<>/?|\\ \n";
    frames
        .push((json!({ "type": "keyboard_input", "text": text }), said(&format!("Typed: {text}"))));
    let keys = "return tab backspace delete escape space up down left right home end page_up \
                page_down shift control alt command";
    let functions = (1..=20).map(|number| format!("F{number}"));
    for key in keys.split(' ').map(str::to_owned).chain(functions) {
        let done = said(&format!("Executed keyboard command: {key}"));
        frames.push((json!({ "type": "keyboard_command", "command": key }), done));
    }
    let mut frames: Vec<_> =
        frames.into_iter().map(|(frame, reply)| (frame.to_string(), reply)).collect();
    frames.extend([
        (
            "not json".to_owned(),
            refused("Invalid command format: expected ident at line 1 column 2"),
        ),
        (
            String::new(),
            refused("Invalid command format: EOF while parsing a value at line 1 column 0"),
        ),
    ]);
    frames
}

#[tokio::test]
async fn the_commands_of_the_seed_are_answered_word_for_word_at_a_hub_that_knows_no_others() {
    let ack = json!({ "type": "handshake_ack", "server": "cloudflare-worker", "timestamp": 1 });
    let mut stage = Stage::set(ack).await;
    let line = stage.device.remark("armed until ");
    assert!(line.ends_with(": this desktop may be used from there"), "{line}");
    for (number, (frame, mut reply)) in seed().into_iter().enumerate() {
        let mut frame = frame;
        // Every other has an id, as far as it can.
        if number % 2 == 0
            && let Ok(Value::Object(mut fields)) = serde_json::from_str(&frame)
        {
            let id = format!("cmd_{number}_1768427191716");
            fields.insert("commandId".to_owned(), id.as_str().into());
            frame = Value::Object(fields).to_string();
            reply["commandId"] = id.into();
        }
        stage.send(&frame).await;
        assert_eq!(stage.next().await, reply, "{frame}");
    }
    stage.send(r#"{"type":"unknown_cmd"}"#).await;
    let unknown = stage.next().await;
    let text = "Invalid command format: unknown variant `unknown_cmd`, expected one of `mouse_move`, \
                `mouse_click`, `mouse_scroll`, `keyboard_input`, `keyboard_command`, `screenshot`, \
                `get_mouse_position`, ";
    assert!(unknown["error"].as_str().unwrap().starts_with(text), "{unknown}");
    stage.send(r#"{"type":"screenshot"}"#).await;
    let seen = stage.next().await;
    let data = seen["data"].as_str().unwrap();
    assert_eq!(seen, json!({ "type": "screenshot", "data": data }));
    // Such a hub has nothing to say about who has the desktop.
    stage.send(r#"{"type":"hand_back"}"#).await;
    assert_eq!(stage.next().await["type"], "error");
    stage.stop();
}

#[tokio::test]
async fn a_device_is_at_hand_while_the_pointer_is_on_its_way_and_clicks_when_it_is_there() {
    let mut stage = Stage::set(json!({ "type": "handshake_ack", "protocol": "1.1" })).await;
    let moves = |id: &str, x: u32, seconds: f64| {
        json!({ "type": "mouse_move", "x": x, "y": 9, "duration": seconds, "commandId": id })
            .to_string()
    };
    let click =
        |id: &str| json!({ "type": "mouse_click", "button": "left", "commandId": id }).to_string();
    stage.send(&moves("far", 700, 300.0)).await;
    stage.send(&click("after it")).await;
    // It is on its way until it is told otherwise, however slow the machine is.
    stage.send(r#"{"type":"get_mouse_position","commandId":"p"}"#).await;
    let mut position = stage.reply().await;
    while position["moving"] != true {
        assert_eq!(position["commandId"], "p", "{position}");
        stage.send(r#"{"type":"get_mouse_position","commandId":"p"}"#).await;
        position = stage.reply().await;
    }
    stage.socket.send(Message::Ping(b"still there?".to_vec().into())).await.unwrap();
    loop {
        match stage.socket.next().await.unwrap().unwrap() {
            Message::Pong(words) if *words == *b"still there?" => break,
            Message::Text(text) => assert!(!text.contains("commandId"), "{text}"),
            _ => (),
        }
    }
    stage.send(r#"{"type":"cancel","target":"far","commandId":"x"}"#).await;
    let ids = |replies: Vec<Value>| {
        let id = |reply: &Value| reply["commandId"].as_str().unwrap().to_owned();
        replies.iter().map(id).collect::<Vec<_>>()
    };
    assert_eq!(ids(stage.replies_to("after it").await), ["far", "x", "after it"]);

    stage.send(&moves("near", 600, 0.3)).await;
    stage.send(&click("there")).await;
    let replies = stage.replies_to("there").await;
    assert!(replies.iter().all(|reply| reply["type"] == "success"), "{replies:?}");
    assert_eq!((&replies[1]["x"], &replies[1]["y"]), (&json!(600), &json!(9)));
    assert_eq!(ids(replies), ["near", "there"]);
    stage.stop();
}
