//! A device and a hub that is played by the test, over a real socket.

use kernel::desktop::{Code, DesktopError};
use serde_json::{Value, json};
use testkit::{FakeDesktop, ManualClock};
use tokio::{net::TcpListener, sync::mpsc, task::JoinHandle};
use tokio_tungstenite::accept_async;

use super::{
    super::{engine::Engine, leave::Leave},
    *,
};

struct House {
    listener: TcpListener,
    running: JoinHandle<LinkError>,
    events: mpsc::UnboundedReceiver<Event>,
}

impl House {
    async fn new(desktop: FakeDesktop) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}/connect", listener.local_addr().unwrap());
        let address = Address::new(&url, Some("the key".to_owned()), false).unwrap();
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::default());
        let until = Some(clock.now() + Duration::from_hours(1));
        let leave = Leave { until, view_only: false };
        let engine = Engine::new(Arc::new(desktop), clock.clone(), leave);
        let identity = Identity {
            app: "megaron/1".to_owned(),
            device: "studio".to_owned(),
            instance: "one".to_owned(),
        };
        let mut link = Link::new(address, identity, engine, clock);
        let (tell, events) = mpsc::unbounded_channel();
        let running = tokio::spawn(async move {
            let Err(error) = link.run(|event| drop(tell.send(event))).await;
            error
        });
        Self { listener, running, events }
    }

    async fn guest(&self) -> Guest {
        let (stream, _) = self.listener.accept().await.unwrap();
        Guest(accept_async(stream).await.unwrap())
    }

    async fn refuse(&self, status: &str) {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let (mut stream, _) = self.listener.accept().await.unwrap();
        let mut asked = [0; 4096];
        let read = stream.read(&mut asked).await.unwrap();
        let asked = String::from_utf8_lossy(&asked[..read]).to_lowercase();
        assert!(asked.contains("authorization: bearer the key"), "{asked}");
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

struct Guest(WebSocketStream<TcpStream>);

impl Guest {
    async fn next(&mut self) -> Value {
        loop {
            match self.0.next().await.unwrap().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) | Message::Pong(_) => (),
                other => panic!("{other:?}"),
            }
        }
    }

    async fn send(&mut self, frame: Value) {
        self.0.send(Message::text(frame.to_string())).await.unwrap();
    }
}

#[tokio::test]
async fn the_first_frame_is_the_handshake_and_the_connection_comes_back_after_a_loss() {
    let desktop = FakeDesktop::default();
    let mut house = House::new(desktop.clone()).await;
    let mut guest = house.guest().await;
    let hello = guest.next().await;
    for (name, value) in [
        ("type", "handshake"),
        ("client", "rust-automation"),
        ("version", "0.1.0"),
        ("protocol", "1.1"),
        ("device", "studio"),
        ("backend", "fake"),
    ] {
        assert_eq!(hello[name], value);
    }
    guest
        .send(json!({ "type": "handshake_ack", "server": "cloudflare-worker", "timestamp": 1 }))
        .await;
    guest.0.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    guest.send(json!({ "type": "mouse_click", "button": "left", "commandId": "a" })).await;
    let clicked = json!({ "type": "success", "message": "Clicked left button", "commandId": "a" });
    assert_eq!(guest.next().await, clicked);
    drop(guest);
    let mut guest = house.guest().await;
    assert_eq!(guest.next().await["type"], "handshake");
    guest.send(json!({ "type": "mouse_click", "button": "left", "commandId": "a" })).await;
    assert_eq!(guest.next().await, clicked);
    assert_eq!(desktop.done().len(), 1);
    let mut events = Vec::new();
    house.events.recv_many(&mut events, 3).await;
    while events.len() < 3 {
        house.events.recv_many(&mut events, 1).await;
    }
    assert_eq!(events[..2], [Event::Connected, Event::Greeted { device: None, open: true }]);
    assert!(matches!(events[2], Event::Lost { wait, .. } if wait < Duration::from_secs(5)));
}

#[tokio::test]
async fn a_ping_is_answered_while_the_pointer_is_on_its_way_and_what_follows_waits_for_it() {
    let desktop = FakeDesktop::default();
    let house = House::new(desktop.clone()).await;
    let mut guest = house.guest().await;
    guest.next().await;
    guest.send(json!({ "type": "handshake_ack", "protocol": "1.1", "device": "studio" })).await;
    desktop.hold(true);
    guest.send(json!({ "type": "mouse_move", "x": 9, "y": 9, "commandId": "m" })).await;
    guest.send(json!({ "type": "mouse_click", "button": "left", "commandId": "c" })).await;
    desktop.begun(1).await;
    guest.0.send(Message::Ping(b"still there?".to_vec().into())).await.unwrap();
    guest.send(json!({ "type": "get_mouse_position", "commandId": "p" })).await;
    let (mut ponged, mut looked) = (false, false);
    while !(ponged && looked) {
        match guest.0.next().await.unwrap().unwrap() {
            Message::Pong(words) => ponged = *words == *b"still there?",
            Message::Text(text) => {
                let frame: Value = serde_json::from_str(&text).unwrap();
                assert!(frame["commandId"] != "m" && frame["commandId"] != "c", "{frame}");
                looked |= frame["commandId"] == "p";
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(desktop.done(), []);
    desktop.hold(false);
    let mut answered = Vec::new();
    while answered.len() < 2 {
        answered.extend(guest.next().await["commandId"].as_str().map(str::to_owned));
    }
    assert_eq!(answered, ["m", "c"]);
}

#[tokio::test]
async fn a_key_that_is_refused_is_not_tried_again() {
    for (status, text) in [
        ("401 Unauthorized", "key refused by "),
        ("403 Forbidden", "key refused by "),
        ("409 Conflict", " does not want this device: its name belongs to another key"),
    ] {
        let house = House::new(FakeDesktop::default()).await;
        house.refuse(status).await;
        let error = house.running.await.unwrap().to_string();
        assert!(error.contains(text) && error.contains("127.0.0.1:"), "{error}");
    }
}

#[tokio::test]
async fn a_hub_that_is_not_well_is_tried_again() {
    let house = House::new(FakeDesktop::default()).await;
    house.refuse("503 Service Unavailable").await;
    assert_eq!(house.guest().await.next().await["type"], "handshake");
}

#[tokio::test]
async fn without_anything_to_drive_nobody_is_called() {
    let broken = DesktopError::new(Code::NoDisplay, "no display");
    let house = House::new(FakeDesktop::broken(broken.clone())).await;
    assert_eq!(house.running.await.unwrap(), LinkError::NoDesktop(broken));
}

#[tokio::test]
async fn a_frame_that_is_too_large_ends_the_connection_with_a_reason() {
    let house = House::new(FakeDesktop::default()).await;
    let mut guest = house.guest().await;
    guest.next().await;
    let large = json!({ "type": "keyboard_input", "text": "x".repeat(FRAME_BYTES) });
    // It may be cut off while still speaking.
    guest.0.send(Message::text(large.to_string())).await.ok();
    assert_eq!(house.guest().await.next().await["type"], "handshake");
}
