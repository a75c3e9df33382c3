//! A client like the original's at our hub: its frames, its order, its strictness, and nothing of ours.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_tungstenite::tungstenite::Message;

use super::desktop::{arm, key};
use crate::common::{House, Socket};

/// What it understands, as it reads it: by serde alone, without leniency.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "one of the seed's commands is called so")]
enum Command {
    MouseMove {
        x: u32,
        y: u32,
        #[serde(default = "slowly")]
        duration: f32,
    },
    MouseClick {
        button: String,
    },
    MouseScroll {
        direction: String,
        #[serde(default = "usual")]
        intensity: u32,
    },
    KeyboardInput {
        text: String,
    },
    KeyboardCommand {
        command: String,
    },
    Screenshot,
    GetMousePosition,
}

fn slowly() -> f32 {
    1.0
}

fn usual() -> u32 {
    3
}

/// A loop that reads, does and answers, one frame after another; it does nothing else meanwhile.
struct Original {
    socket: Socket,
    at: (u32, u32),
    heard: mpsc::UnboundedSender<Value>,
}

impl Original {
    /// Its key is in the address, for it knows no headers.
    async fn start(house: &House, key: &str) -> (JoinHandle<()>, mpsc::UnboundedReceiver<Value>) {
        let path = format!("/connect?token={key}");
        let mut socket = Socket::open(house.address(), &path, &[]).await.unwrap();
        let hello = json!({ "client": "rust-automation", "type": "handshake", "version": "0.1.0" });
        socket.send(hello).await;
        let ack = socket.next().await;
        assert_eq!(ack["type"], "handshake_ack");
        let (heard, frames) = mpsc::unbounded_channel();
        let client = Self { socket, at: (0, 0), heard };
        (tokio::spawn(client.run()), frames)
    }

    async fn run(mut self) {
        while let Some(Ok(message)) = self.socket.message().await {
            // Whatever is no text is not looked at.
            let Message::Text(text) = message else { continue };
            let mut frame: Value = serde_json::from_str(&text).unwrap();
            if frame["type"] == "handshake_ack" || frame["type"] == "pong" {
                continue;
            }
            self.heard.send(frame.clone()).ok();
            let id = frame.as_object_mut().unwrap().remove("commandId");
            let mut reply = match serde_json::from_value(frame) {
                Ok(command) => self.execute(command),
                Err(error) => failed(&format!("Invalid command format: {error}")),
            };
            if let Some(Value::String(id)) = id {
                reply.insert("commandId".to_owned(), id.into());
            }
            self.socket.send(Value::Object(reply)).await;
        }
    }

    fn execute(&mut self, command: Command) -> Map<String, Value> {
        match command {
            // It would never come to an end.
            Command::MouseMove { duration, .. } if !duration.is_finite() => panic!("{duration}"),
            Command::MouseMove { x, y, .. } => {
                self.at = (x, y);
                done(&format!("Moved mouse to ({x}, {y})"))
            }
            Command::MouseClick { button } => match button.as_str() {
                "left" | "right" | "middle" => done(&format!("Clicked {button} button")),
                _ => failed(&format!("Invalid button: {button}")),
            },
            Command::MouseScroll { direction, intensity } => {
                done(&format!("Scrolled {direction} with intensity {intensity}"))
            }
            Command::KeyboardInput { text } => done(&format!("Typed: {text}")),
            Command::KeyboardCommand { command } if command == "space" => failed(&format!(
                "Keyboard command failed: Key not supported: {command} key/command is not supported"
            )),
            Command::KeyboardCommand { command } => {
                done(&format!("Executed keyboard command: {command}"))
            }
            Command::Screenshot => failed("Screenshot not yet implemented"),
            Command::GetMousePosition => {
                let (x, y) = self.at;
                object(json!({ "type": "mouse_position", "x": x, "y": y }))
            }
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`json!` reads best without a `&`")]
fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn done(message: &str) -> Map<String, Value> {
    object(json!({ "message": message, "type": "success" }))
}

fn failed(error: &str) -> Map<String, Value> {
    object(json!({ "error": error, "type": "error" }))
}

#[tokio::test]
async fn a_client_that_knows_nothing_of_us_is_driven_in_its_own_words() {
    let house = House::new([]).await;
    let key = key(&house, "old", "device").await;
    let (client, mut heard) = Original::start(&house, &key).await;
    arm(&house, "old").await;
    let moved = json!({ "type": "mouse_move", "x": "500", "y": 300, "duration": "1.5" });
    let says = |text: &str| json!({ "type": "success", "message": text });
    let complains = |text: &str| json!({ "type": "error", "error": text, "code": "failed" });
    for (command, sent, reply) in [
        (
            moved,
            json!({ "type": "mouse_move", "x": 500, "y": 300, "duration": 1.5 }),
            says("Moved mouse to (500, 300)"),
        ),
        (
            json!({ "type": "get_mouse_position" }),
            json!({ "type": "get_mouse_position" }),
            json!({ "type": "mouse_position", "x": 500, "y": 300 }),
        ),
        (
            json!({ "type": "mouse_click", "button": "left" }),
            json!({ "type": "mouse_click", "button": "left" }),
            says("Clicked left button"),
        ),
        (
            json!({ "type": "mouse_scroll", "direction": "down", "intensity": "2" }),
            json!({ "type": "mouse_scroll", "direction": "down", "intensity": 2 }),
            says("Scrolled down with intensity 2"),
        ),
        (
            json!({ "type": "keyboard_input", "text": "hi" }),
            json!({ "type": "keyboard_input", "text": "hi" }),
            says("Typed: hi"),
        ),
        // It repeats what it typed, and nobody else does.
        (
            json!({ "type": "keyboard_input", "text": "pi", "secret": true }),
            json!({ "type": "keyboard_input", "text": "pi" }),
            says("Typed: [secret, 2 chars]"),
        ),
        (
            json!({ "type": "keyboard_command", "command": "return" }),
            json!({ "type": "keyboard_command", "command": "return" }),
            says("Executed keyboard command: return"),
        ),
        // What it cannot do is its own to say.
        (
            json!({ "type": "keyboard_command", "command": "space" }),
            json!({ "type": "keyboard_command", "command": "space" }),
            complains(
                "Keyboard command failed: Key not supported: space key/command is not supported",
            ),
        ),
    ] {
        let (status, mut answer) = house.post("/api/command", command.clone()).await;
        let id = answer.as_object_mut().unwrap().remove("commandId").unwrap();
        assert_eq!((status, &answer), (200, &reply), "{command}");
        let mut frame = heard.recv().await.unwrap();
        assert_eq!(frame.as_object_mut().unwrap().remove("commandId"), Some(id));
        assert_eq!(frame, sent);
    }
    // What it does not know is not sent: it would do something else and say that all is well.
    for command in [
        json!({ "type": "mouse_click_at", "x": 1, "y": 1 }),
        json!({ "type": "key_combo", "keys": "ctrl+c" }),
        json!({ "type": "keyboard_type", "text": "hi" }),
        json!({ "type": "window_list" }),
    ] {
        let (status, refused) = house.post("/api/command", command.clone()).await;
        let kind = command["type"].as_str().unwrap();
        let text = format!("{kind} is not supported by device old");
        assert_eq!((status, &refused["error"]), (400, &json!(text)));
        assert_eq!(refused["code"], "unsupported");
    }
    let (_, position) = house.post("/api/command", json!({ "type": "get_mouse_position" })).await;
    assert_eq!((&position["x"], &position["y"]), (&json!(500), &json!(300)));
    assert_eq!(heard.recv().await.unwrap()["type"], "get_mouse_position");
    let (_, status) = house.get("/api/status").await;
    let commands = json!([
        "mouse_move",
        "mouse_click",
        "mouse_scroll",
        "keyboard_input",
        "keyboard_command",
        "screenshot",
        "get_mouse_position",
    ]);
    assert_eq!(status["devices"][0]["commands"], commands);
    client.abort();
}
