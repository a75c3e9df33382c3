//! A device and a hub that is played by the test, over a real socket.

use jiff::Timestamp;
use kernel::desktop::{Code, DesktopError, Pause};
use serde_json::{Value, json};
use testkit::{FakeDesktop, ManualClock};
use tokio::{net::TcpListener, sync::mpsc, task::JoinHandle};
use tokio_tungstenite::accept_async;

use super::{
    super::{engine::Engine, leave::Leave, shown::Window},
    *,
};

struct House {
    listener: TcpListener,
    running: JoinHandle<LinkError>,
    events: mpsc::UnboundedReceiver<Event>,
    clock: Arc<ManualClock>,
    /// How long whoever sits there lets it be driven.
    until: Timestamp,
}

impl House {
    async fn new(desktop: FakeDesktop) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}/connect", listener.local_addr().unwrap());
        let address = Address::new(&url, Some("the key".to_owned()), false).unwrap();
        let clock = Arc::new(ManualClock::default());
        let until = clock.now() + Duration::from_hours(1);
        let leave = Leave { until: Some(until), view_only: false };
        let engine = Engine::new(Arc::new(desktop), clock.clone(), leave);
        let identity = Identity {
            app: "megaron/1".to_owned(),
            device: "studio".to_owned(),
            instance: "one".to_owned(),
        };
        let mut link = Link::new(address, identity, engine, clock.clone());
        let (tell, events) = mpsc::unbounded_channel();
        let running = tokio::spawn(async move {
            let Err(error) = link.run(|event| drop(tell.send(event))).await;
            error
        });
        Self { listener, running, events, clock, until }
    }

    async fn event(&mut self) -> Event {
        self.events.recv().await.unwrap()
    }

    /// The next event of this kind.
    async fn change(&mut self) -> Change {
        loop {
            if let Event::Changed(change) = self.event().await {
                return change;
            }
        }
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
    let armed = Event::Changed(Change::Window(Window::Open { until: Some(house.until) }));
    for expected in [Event::Connected, Event::Greeted { device: None, needs_leave: false }, armed] {
        assert_eq!(house.event().await, expected);
    }
    let lost = house.event().await;
    assert!(matches!(lost, Event::Lost { wait, .. } if wait < Duration::from_secs(5)), "{lost:?}");
    assert_eq!(house.event().await, Event::Changed(Change::Window(Window::Closed)));
}

#[tokio::test]
async fn whoever_sits_there_is_told_who_may_drive_it_and_who_has_it() {
    let desktop = FakeDesktop::default();
    let mut house = House::new(desktop.clone()).await;
    let mut guest = house.guest().await;
    guest.send(json!({ "type": "handshake_ack", "server": "cloudflare-worker" })).await;
    let until = Some(house.until);
    assert_eq!(house.change().await, Change::Window(Window::Open { until }));
    desktop.take(Some(Pause::Panic));
    assert_eq!(house.change().await, Change::Paused(Pause::Panic));
    desktop.take(None);
    assert_eq!(house.change().await, Change::HandedBack);
    // This hub is told nothing of it, and it ends all the same.
    house.clock.advance(Duration::from_hours(1).try_into().unwrap());
    assert_eq!(house.change().await, Change::Window(Window::Over));
    drop(guest);
    desktop.take(Some(Pause::Human));
    assert_eq!(house.change().await, Change::Paused(Pause::Human));
}

#[tokio::test]
async fn a_hub_that_does_not_want_us_is_believed_the_third_time() {
    let mut house = House::new(FakeDesktop::default()).await;
    for _ in 0..3 {
        let mut guest = house.guest().await;
        guest.next().await;
        let reason = "that name belongs to another key".into();
        guest.0.close(Some(CloseFrame { code: CloseCode::Policy, reason })).await.unwrap();
    }
    let error = house.running.await.unwrap().to_string();
    let words = " does not want this device: that name belongs to another key";
    assert!(error.ends_with(words), "{error}");
    let mut said = 0;
    while let Some(event) = house.events.recv().await {
        said += usize::from(matches!(&event, Event::Lost { why, .. } if why.ends_with(words)));
    }
    assert_eq!(said, 2);
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
    // More than fits on the way: who is not heard out cannot say it all.
    let large = json!({ "type": "keyboard_input", "text": "x".repeat(16 * FRAME_BYTES) });
    guest.0.send(Message::text(large.to_string())).await.unwrap();
    let Some(Ok(Message::Close(Some(close)))) = guest.0.next().await else {
        panic!("it left without a word");
    };
    assert_eq!((u16::from(close.code), &*close.reason), (1009, "frame larger than 1 MB"));
    assert_eq!(house.guest().await.next().await["type"], "handshake");
}
