//! Desktops over real sockets: who may connect, who may watch, and what the owner commands.

use std::{sync::Arc, time::Duration};

use kernel::ports::Clock as _;
use remote::device::{Address, Engine, Event, Identity, Leave, Link};
use serde_json::{Value, json};
use testkit::{FakeDesktop, ManualClock};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_tungstenite::tungstenite::{Message, protocol::frame::coding::CloseCode};

use crate::common::{House, Socket, bad, error};

/// A device of ours, connected.
pub struct Device {
    pub desktop: FakeDesktop,
    running: JoinHandle<()>,
    events: mpsc::UnboundedReceiver<Event>,
}

impl Device {
    fn start(house: &House, key: &str, name: &str) -> Self {
        let (desktop, clock) = (FakeDesktop::default(), Arc::new(ManualClock::default()));
        let url = format!("ws://{}/connect", house.address());
        let address = Address::new(&url, Some(key.to_owned()), false).unwrap();
        let engine = Engine::new(Arc::new(desktop.clone()), clock.clone(), Leave::default());
        let identity =
            Identity { app: "megaron/test".into(), device: name.into(), instance: "one".into() };
        let mut link = Link::new(address, identity, engine, clock);
        let (tell, events) = mpsc::unbounded_channel();
        let running = tokio::spawn(async move {
            link.run(|event| drop(tell.send(event))).await.ok();
        });
        Self { desktop, running, events }
    }

    pub async fn connected(house: &House, key: &str, name: &str) -> Self {
        let mut device = Self::start(house, key, name);
        device.greeted().await;
        device
    }

    async fn greeted(&mut self) {
        loop {
            if let Event::Greeted { .. } = self.events.recv().await.unwrap() {
                return;
            }
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.running.abort();
    }
}

pub async fn key(house: &House, name: &str, scope: &str) -> String {
    let (status, made) = house.post("/api/devices", json!({ "name": name, "scope": scope })).await;
    assert_eq!(status, 200, "{made}");
    made["key"].as_str().unwrap().to_owned()
}

pub async fn arm(house: &House, device: &str) {
    let all = ["look", "point", "type", "act", "clipboard"];
    let wish = json!({ "device": device, "classes": all });
    let (status, armed) = house.post("/api/desktop/arm", wish).await;
    assert_eq!((status, &armed["armed"]), (200, &json!(true)), "{armed}");
}

/// A client of the original: a token in the address, and the words of the seed.
pub async fn original(house: &House, key: &str) -> Socket {
    let mut socket =
        Socket::open(house.address(), &format!("/connect?token={key}"), &[]).await.unwrap();
    socket
        .send(json!({ "type": "handshake", "client": "rust-automation", "version": "0.1.0" }))
        .await;
    let ack = socket.next().await;
    assert_eq!(
        (&ack["type"], &ack["server"]),
        (&json!("handshake_ack"), &json!("cloudflare-worker"))
    );
    assert_eq!(ack.as_object().unwrap().len(), 3);
    socket
}

#[tokio::test]
async fn a_device_of_ours_is_driven_from_its_key_to_its_forgetting() {
    let house = House::new([]).await;
    let command = json!({ "type": "mouse_move", "x": "500", "y": 300.7, "duration": "0", "z": 1 });
    let nobody = house.post("/api/command", json!({ "type": "get_mouse_position" })).await;
    let text = "No client connected";
    assert_eq!(nobody, (503, json!({ "type": "error", "error": text, "code": "disconnected" })));
    let key = key(&house, "studio", "device").await;
    let mut device = Device::connected(&house, &key, "whatever it says").await;
    let (status, refused) = house.post("/api/command", command.clone()).await;
    assert_eq!((status, &refused["error"]), (409, &json!("Desktop control is not armed")));
    arm(&house, "studio").await;
    let viewers_key = self::key(&house, "wall", "viewer").await;
    let path = format!("/connect?device=web-viewer&token={viewers_key}");
    let mut viewer = Socket::open(house.address(), &path, &[]).await.unwrap();
    // It cannot drive, whatever it says.
    viewer.send(json!({ "type": "mouse_click", "button": "left" })).await;

    let (status, mut moved) = house.post("/api/command", command).await;
    let id = moved.as_object_mut().unwrap().remove("commandId").unwrap();
    let ms = house.world.clock.now().as_millisecond();
    assert!(id.as_str().unwrap().ends_with(&format!("_{ms}")), "{id}");
    let expected = json!({
        "type": "success", "message": "Moved mouse to (500, 300)", "x": 500, "y": 300,
        "adjusted": { "y": { "from": 300.7, "to": 300 } }, "ignored": ["z"],
    });
    assert_eq!((status, moved), (200, expected));
    let result = json!({ "type": "success", "message": "Moved mouse to (500, 300)" });
    let seen = json!({
        "tool": "mouse_move", "arguments": { "x": 500, "y": 300, "duration": 0.0 }, "result": result,
        "commandId": id, "device": "studio", "session": null, "ts": ms, "caller": "owner",
    });
    assert_eq!(viewer.next().await, seen);
    let (_, wrong) =
        house.post("/api/command", json!({ "type": "mouse_move", "x": 5000, "y": 1 })).await;
    assert_eq!(wrong["code"], "out_of_bounds");
    let text = &wrong["error"];
    assert_eq!(viewer.next().await["result"], json!({ "type": "error", "error": text }));
    let (status, position) =
        house.post("/api/command", json!({ "type": "get_mouse_position" })).await;
    assert_eq!((status, &position["x"]), (200, &json!(500)));
    let (status, picture) = house.post("/api/command", json!({ "type": "screenshot" })).await;
    assert_eq!(
        (status, &picture["width"], &picture["screen"]["w"]),
        (200, &json!(16), &json!(1920))
    );
    assert_eq!(viewer.next().await["result"]["type"], "mouse_position");
    assert_eq!(viewer.next().await["result"], json!({ "type": "screenshot" }));
    let actions = json!([{ "type": "clipboard_set", "text": "a" }, { "type": "clipboard_get" }]);
    let (_, both) =
        house.post("/api/command", json!({ "type": "batch", "actions": actions })).await;
    assert_eq!(both["results"][1], json!({ "type": "clipboard", "text": "a" }));
    let result = viewer.next().await["result"].clone();
    assert_eq!(
        (&result["completed"], &result["results"][1]),
        (&json!(2), &json!({ "type": "clipboard" }))
    );

    let (_, listed) = house.get("/api/devices").await;
    let names: Vec<_> =
        listed["devices"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["studio", "wall"]);
    assert_eq!(listed["devices"][0]["standing"]["backend"], "fake");
    assert!(!listed.to_string().contains(&key) && listed["devices"][1]["connected"] == false);
    let (_, status) = house.get("/api/status").await;
    assert_eq!(
        (&status["connected"], &status["devices"][0]["armed"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(status["sessions"].as_array().unwrap().len(), 1);

    assert_eq!(house.patch("/api/devices/studio", json!({ "name": "den" })).await.0, 200);
    device.greeted().await;
    let (_, status) = house.get("/api/status").await;
    assert_eq!(status["devices"][0]["name"], "den");
    assert_eq!(house.delete("/api/devices/den").await.0, 200);
    assert_eq!(
        house.delete("/api/devices/den").await,
        (404, error("NOT_FOUND", "Device not found: den"))
    );
    // Its key is void, so it gives up by itself.
    while device.events.recv().await.is_some() {}
    let refused = Socket::open(house.address(), &format!("/connect?token={key}"), &[]).await;
    assert_eq!(refused.err().unwrap(), (401, error("UNAUTHORIZED", "unauthorized")));
}

#[tokio::test]
async fn each_key_opens_its_own_door_and_no_other() {
    let house = House::new([]).await;
    let (device, viewer) = (key(&house, "a", "device").await, key(&house, "w", "viewer").await);
    let open = async |query: &str, headers: &[(&str, String)]| {
        let path = format!("/connect{query}");
        Socket::open(house.address(), &path, headers).await.err().map(|(status, _)| status)
    };
    let bearer = |key: &str| [("authorization", format!("Bearer {key}"))];
    assert_eq!(open("", &[]).await, Some(401));
    assert_eq!(open("?token=wrong", &[]).await, Some(401));
    assert_eq!(open("", &bearer("wrong")).await, Some(401));
    assert_eq!(open("", &bearer(&device)).await, None);
    assert_eq!(open("?device=desktop", &bearer(&house.key())).await, None);
    assert_eq!(open("?device=web-viewer", &bearer(&house.key())).await, None);
    assert_eq!(open("?device=web-viewer", &bearer(&viewer)).await, None);
    assert_eq!(open("", &bearer(&viewer)).await, Some(403));
    assert_eq!(open("?device=web-viewer", &bearer(&device)).await, Some(403));
    assert_eq!(open("?device=toaster", &bearer(&device)).await, Some(400));
    let foreign = [bearer(&device)[0].clone(), ("origin", "https://evil.example".to_owned())];
    assert_eq!(open("", &foreign).await, Some(403));
    for key in [&device, &viewer] {
        for (method, path) in [
            ("GET", "/api/status"),
            ("POST", "/api/command"),
            ("GET", "/api/devices"),
            ("GET", "/api/sessions"),
            ("POST", "/api/desktop/arm"),
        ] {
            let asked = house
                .ask_without_key(method, path)
                .header("authorization", &format!("Bearer {key}"));
            assert_eq!(asked.send().await.status, 401, "{path}");
            let asked = house.ask_without_key(method, &format!("{path}?token={key}"));
            assert_eq!(asked.send().await.status, 401, "{path}");
        }
    }
    let by_token = house.ask_without_key("GET", &format!("/api/status?token={}", house.key()));
    assert_eq!(by_token.send().await.status, 200);
}

#[tokio::test]
async fn a_client_of_the_original_works_as_it_is() {
    let house = House::new([]).await;
    let key = key(&house, "old", "device").await;
    let mut device = original(&house, &key).await;
    arm(&house, "old").await;
    let at = json!({ "type": "mouse_click_at", "x": 1, "y": 1 });
    let (status, refused) = house.post("/api/command", at).await;
    let text = "mouse_click_at is not supported by device old";
    assert_eq!(
        (status, &refused["error"], &refused["code"]),
        (400, &json!(text), &json!("unsupported"))
    );
    let typed = json!({ "type": "keyboard_input", "text": "hi", "commandId": "mine" });
    let answering = async {
        device.send_raw(Message::binary(vec![0xff])).await;
        let sent = device.next().await;
        let id = sent["commandId"].clone();
        assert_eq!(sent, json!({ "type": "keyboard_input", "text": "hi", "commandId": id }));
        assert_ne!(id, "mine");
        device.send(json!({ "type": "success", "message": "Typed: hi", "commandId": id })).await;
        id
    };
    let (id, (status, answer)) = tokio::join!(answering, house.post("/api/command", typed));
    let expected = json!({ "type": "success", "message": "Typed: hi", "commandId": id });
    assert_eq!((status, answer), (200, expected));
    // Another of the same key takes its place.
    let _second = original(&house, &key).await;
    let close = device.closed().await.unwrap().unwrap();
    assert_eq!((close.code, close.reason.as_str()), (CloseCode::Normal, "New desktop connected"));
}

#[tokio::test]
async fn a_device_that_leaves_is_said_to_have_left() {
    let house = House::new([]).await;
    let key = key(&house, "old", "device").await;
    let mut device = original(&house, &key).await;
    arm(&house, "old").await;
    let leaving = async {
        device.next().await;
        drop(device);
    };
    let click = json!({ "type": "mouse_click", "button": "left" });
    let ((), (status, answer)) = tokio::join!(leaving, house.post("/api/command", click));
    assert_eq!((status, &answer["error"]), (502, &json!("Client disconnected")));
}

#[tokio::test]
async fn a_device_that_is_connected_is_a_desktop_like_any_other() {
    let house = House::new([]).await;
    let key = key(&house, "studio", "device").await;
    let _device = Device::connected(&house, &key, "studio").await;
    let desktop = house.host().devices.get("studio").unwrap();
    testkit::contract::desktop(desktop.as_ref()).await;
}

#[tokio::test]
async fn several_devices_must_be_told_apart() {
    let house = House::new([]).await;
    let (a, b) = (key(&house, "a", "device").await, key(&house, "b", "device").await);
    let (a, b) = (Device::connected(&house, &a, "").await, Device::connected(&house, &b, "").await);
    arm(&house, "a").await;
    arm(&house, "b").await;
    let click =
        |device: Value| json!({ "type": "mouse_click", "button": "left", "device": device });
    let (status, refused) = house.post("/api/command", click(Value::Null)).await;
    let text = "Several devices: a, b; name one in \"device\"";
    assert_eq!((status, &refused["error"]), (400, &json!(text)));
    assert_eq!(house.post("/api/command", click("b".into())).await.0, 200);
    assert_eq!(house.post("/api/command", click("c".into())).await.0, 503);
    assert_eq!((a.desktop.done().len(), b.desktop.done().len()), (0, 1));
    let stopped = house.post("/api/desktop/stop", json!({ "device": "b" })).await;
    assert_eq!((stopped.0, &stopped.1["paused"]), (200, &json!("owner")));
    let (status, paused) = house.post("/api/command", click("b".into())).await;
    assert_eq!((status, &paused["error"]), (409, &json!("Paused by user")));
    assert_eq!(house.post("/api/command", click("a".into())).await.0, 200);
    let (status, back) = house.post("/api/desktop/hand_back", json!({ "device": "b" })).await;
    assert_eq!((status, &back["paused"]), (200, &Value::Null));
    assert_eq!(house.post("/api/command", click("b".into())).await.0, 200);
    let (_, disarmed) = house.post("/api/desktop/disarm", json!({ "device": "a" })).await;
    assert_eq!(disarmed["armed"], false);
    assert_eq!(house.post("/api/command", click("a".into())).await.0, 409);
}

#[tokio::test]
async fn a_hub_that_was_killed_knows_its_keys_and_has_disarmed_everything() {
    let mut house = House::new([]).await;
    let key = key(&house, "a", "device").await;
    let device = Device::connected(&house, &key, "").await;
    arm(&house, "a").await;
    assert_eq!(
        house.post("/api/command", json!({ "type": "mouse_click", "button": "left" })).await.0,
        200
    );
    house.restart().await;
    drop(device);
    let device = Device::connected(&house, &key, "").await;
    let (status, refused) =
        house.post("/api/command", json!({ "type": "mouse_click", "button": "left" })).await;
    assert_eq!((status, &refused["error"]), (409, &json!("Desktop control is not armed")));
    assert_eq!(device.desktop.done(), []);
}

#[tokio::test]
async fn bad_commands_are_refused_in_the_words_of_a_device_and_nothing_is_sent() {
    let house = House::new([]).await;
    let key = key(&house, "a", "device").await;
    let device = Device::connected(&house, &key, "").await;
    arm(&house, "a").await;
    for (body, text) in [
        (
            json!({ "type": "mouse_move", "x": "abc", "y": 1 }),
            "invalid type: string \"abc\", expected u32",
        ),
        (
            json!({ "type": "mouse_move", "X": 1, "y": 1 }),
            "missing field `x`; `X` is not known, is `x` meant?",
        ),
        (json!({ "type": 5 }), "invalid type: integer `5`, expected variant identifier"),
        (json!({ "x": 5 }), "missing field `type`"),
        (json!([1]), "expected an object with a `type`"),
    ] {
        let (status, refused) = house.post("/api/command", body.clone()).await;
        let expected = format!("Invalid command format: {text}");
        assert_eq!((status, &refused["error"]), (400, &json!(expected)), "{body}");
    }
    let broken = house.ask("POST", "/api/command").body("application/json", "{bad").send().await;
    assert_eq!(broken.json().0, 400);
    let unknown = house.post("/api/command", json!({ "type": "jump" })).await;
    assert!(
        unknown.0 == 400 && unknown.1["error"].as_str().unwrap().contains("unknown variant `jump`")
    );
    assert_eq!(device.desktop.done(), []);
    for (body, text) in [
        (
            json!({ "name": "" }),
            "name must be 1 to 64 letters, digits, dots, dashes and underscores, and begin with a letter or a digit",
        ),
        (json!({ "name": "local" }), "local is the machine of the server itself"),
    ] {
        assert_eq!(house.post("/api/devices", body).await, bad(text));
    }
    let twice = house.post("/api/devices", json!({ "name": "a" })).await;
    assert_eq!(twice.0, 409);
    for (body, text) in [
        (json!({ "seconds": 0 }), "seconds must be between 1 and 28800"),
        (
            json!({ "classes": ["fly"] }),
            "classes holds `fly`; expected some of look, point, type, act, clipboard",
        ),
    ] {
        assert_eq!(house.post("/api/desktop/arm", body).await, bad(text));
    }
}

#[tokio::test]
async fn a_window_of_time_ends_and_says_when() {
    let house = House::new([]).await;
    let key = key(&house, "a", "device").await;
    let _device = Device::connected(&house, &key, "").await;
    assert_eq!(house.post("/api/desktop/arm", json!({ "seconds": 60 })).await.0, 200);
    let click = json!({ "type": "mouse_click", "button": "left" });
    assert_eq!(house.post("/api/command", click.clone()).await.0, 200);
    let (status, denied) = house.post("/api/command", json!({ "type": "clipboard_get" })).await;
    assert_eq!((status, &denied["error"]), (403, &json!("Desktop control is not granted")));
    house.world.clock.advance(Duration::from_secs(61).try_into().unwrap());
    let (status, expired) = house.post("/api/command", click).await;
    let text = "Desktop control expired at 2026-02-01T10:01:00Z";
    assert_eq!((status, &expired["error"]), (409, &json!(text)));
}

#[tokio::test]
async fn whoever_arms_a_device_where_nobody_is_heard_is_told_so() {
    let house = House::new([]).await;
    let key_of_own = key(&house, "own", "device").await;
    let _device = Device::connected(&house, &key_of_own, "").await;
    let (_, armed) = house.post("/api/desktop/arm", json!({ "device": "own" })).await;
    assert_eq!((&armed["armed"], armed.get("caution")), (&json!(true), None));
    let deaf = "what you do at that machine does not stop agents: your pointer and keys are not \
                heard there, nor is Ctrl+Alt+Escape; stop them in the page";
    let hard_of_hearing = "the X server of that machine lacks XInput: your keys and \
        Ctrl+Alt+Escape do not stop agents there, your pointer only while they move it; stop them \
        in the page";
    for (name, backend, hears, caution) in [
        ("a", "wayland", Value::Null, json!(deaf)),
        ("b", "x11", json!(false), json!(hard_of_hearing)),
        ("c", "x11", json!(true), Value::Null),
        // One that was built before it could say so.
        ("d", "x11", Value::Null, Value::Null),
    ] {
        let path = format!("/connect?token={}", key(&house, name, "device").await);
        let mut device = Socket::open(house.address(), &path, &[]).await.unwrap();
        let hello = json!({
            "type": "handshake", "client": "rust-automation", "version": "0.1.0",
            "protocol": "1.1", "device": name, "backend": backend, "commands": ["mouse_move"],
            "hears": hears,
        });
        device.send(hello).await;
        assert_eq!(device.next().await["type"], "handshake_ack");
        let (status, armed) = house.post("/api/desktop/arm", json!({ "device": name })).await;
        assert_eq!((status, &armed["caution"]), (200, &caution), "{name}");
    }
}
