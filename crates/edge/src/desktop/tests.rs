//! The hub by its transcript, without sockets: what a device says goes in, what it is told comes out.

mod waiting;

use std::{sync::Arc, time::Duration};

use axum::extract::ws::Utf8Bytes;
use kernel::{
    desktop::{
        Action, Arming, Button, Chords, Class, DesktopError, Devices, Order, Outcome, Point, Shot,
        Who,
    },
    roster::Roster,
    toolbox::Caller,
};
use serde_json::{Value, json};
use testkit::{Chance, ManualClock, MemoryStore};
use tokio::{
    task::JoinHandle,
    time::{Instant, timeout},
};

use super::{
    connection::Connection,
    hub::Hub,
    passes::{Bearer, Scope},
};
use crate::socket::{Dialect as _, Farewell};

/// How many of them are made by chance.
const FRAMES: usize = 100_000;
const CLICK: Action = Action::MouseClick { button: Button::Left };
const MOVE: Action = Action::MouseMove { to: Point { x: 5, y: 6 }, duration: 0.1 };

fn hub() -> Arc<Hub> {
    let clock = Arc::new(ManualClock::default());
    let roster = Arc::new(Roster::new([]));
    let devices = Arc::new(Devices::new(clock.clone(), roster));
    Arc::new(Hub::new(devices, clock, Arc::new(MemoryStore::default())))
}

/// A device that is played by the test, already introduced.
struct Device {
    hub: Arc<Hub>,
    name: String,
    connection: Connection,
}

impl Device {
    async fn plain(hub: &Arc<Hub>, name: &str) -> Self {
        let hello = json!({ "type": "handshake", "client": "rust-automation", "version": "0.1.0" });
        Self::with(hub, name, hello).await
    }

    async fn ours(hub: &Arc<Hub>, name: &str) -> Self {
        let hello = json!({
            "type": "handshake", "client": "rust-automation", "version": "0.1.0", "protocol": "1.1",
            "device": "another", "backend": "x11", "commands": Action::KINDS,
        });
        Self::with(hub, name, hello).await
    }

    async fn with(hub: &Arc<Hub>, name: &str, hello: Value) -> Self {
        let connection = Connection::new(hub.clone(), Bearer::Device(name.to_owned()));
        let mut device = Self { hub: hub.clone(), name: name.to_owned(), connection };
        device.say(hello.clone()).await;
        let ack = device.told().await;
        assert_eq!(
            (&ack["type"], &ack["server"]),
            (&json!("handshake_ack"), &json!("cloudflare-worker"))
        );
        let device_name = hello.get("protocol").map(|_| json!(name)).unwrap_or_default();
        assert_eq!(ack["device"], device_name);
        let classes = Class::ALL.to_vec();
        let until = hub.now() + Duration::from_hours(1);
        let device_name = name.to_owned();
        let arming = Arming { device: device_name, session: None, classes, until, area: None };
        hub.devices().arm(arming);
        device
    }

    async fn say(&mut self, frame: Value) {
        self.connection.hear(frame.to_string().as_bytes()).await;
    }

    /// The next frame it is told.
    async fn told(&mut self) -> Value {
        let mut out: Vec<Utf8Bytes> = Vec::new();
        while out.is_empty() {
            self.connection.say(&mut out).await;
        }
        assert_eq!(out.len(), 1, "{out:?}");
        serde_json::from_str(&out[0]).unwrap()
    }

    /// Whether it is told nothing, however long it waits.
    async fn hears_nothing(&mut self) -> bool {
        timeout(Duration::from_hours(1), self.told()).await.is_err()
    }

    fn asked(&self, action: Action) -> JoinHandle<Result<Outcome, DesktopError>> {
        let (hub, name) = (self.hub.clone(), self.name.clone());
        let who = Who { session: None, caller: Caller::Owner };
        tokio::spawn(async move { hub.devices().act(who, &name, action.into()).await.1 })
    }
}

fn success(id: &Value) -> Value {
    json!({ "type": "success", "message": "Clicked left button", "commandId": id })
}

#[tokio::test(start_paused = true)]
async fn commands_are_numbered_over_all_devices_and_answered_by_their_ids() {
    let hub = hub();
    let (mut a, mut b) = (Device::plain(&hub, "a").await, Device::plain(&hub, "b").await);
    let (one, two) = (a.asked(MOVE), b.asked(CLICK));
    let (first, second) = (a.told().await, b.told().await);
    let mut ids = [first["commandId"].clone(), second["commandId"].clone()];
    ids.sort_by_key(Value::to_string);
    let ms = hub.now().as_millisecond();
    assert_eq!(ids, [0, 1].map(|seq| json!(format!("cmd_{seq}_{ms}"))));
    let id = &first["commandId"];
    let moving = json!({ "type": "mouse_move", "x": 5, "y": 6, "duration": 0.1, "commandId": id });
    assert_eq!(first, moving);
    // Each is answered by whoever was asked: the other's word does not count.
    b.say(success(&first["commandId"])).await;
    b.say(success(&second["commandId"])).await;
    assert_eq!(two.await.unwrap(), Ok(Outcome::said("Clicked left button")));
    let error = json!({ "type": "error", "error": "Mouse move failed: no", "commandId": id });
    a.say(error).await;
    assert_eq!(one.await.unwrap(), Err(DesktopError::failed("Mouse move failed: no")));
}

#[tokio::test(start_paused = true)]
async fn a_silent_device_is_waited_for_half_a_minute_and_a_late_answer_reaches_nobody() {
    let hub = hub();
    let mut device = Device::plain(&hub, "a").await;
    let (begun, asked) = (Instant::now(), device.asked(CLICK));
    let late = device.told().await;
    assert_eq!(asked.await.unwrap(), Err(DesktopError::timeout()));
    assert_eq!(begun.elapsed(), Duration::from_secs(30));
    let asked = device.asked(CLICK);
    let next = device.told().await;
    device.say(success(&late["commandId"])).await;
    assert!(!asked.is_finished());
    device.say(success(&next["commandId"])).await;
    assert!(asked.await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn one_of_ours_is_told_to_stop_what_nobody_waits_for() {
    let hub = hub();
    let mut device = Device::ours(&hub, "a").await;
    let asked = device.asked(CLICK);
    let sent = device.told().await;
    asked.abort();
    let cancel = device.told().await;
    assert_eq!((&cancel["type"], &cancel["target"]), (&json!("cancel"), &sent["commandId"]));
    // One that knows only the seed would not understand.
    let mut plain = Device::plain(&hub, "b").await;
    let asked = plain.asked(CLICK);
    plain.told().await;
    asked.abort();
    assert!(plain.hears_nothing().await);
}

#[tokio::test(start_paused = true)]
async fn what_says_how_long_it_takes_is_given_that_time() {
    let hub = hub();
    let mut device = Device::ours(&hub, "a").await;
    let keys = Chords::parse("shift").unwrap();
    let (begun, asked) = (Instant::now(), device.asked(Action::HoldKey { keys, duration: 60.0 }));
    device.told().await;
    assert_eq!(asked.await.unwrap(), Err(DesktopError::timeout()));
    assert_eq!(begun.elapsed(), Duration::from_secs(70));
}

#[tokio::test(start_paused = true)]
async fn input_is_sent_one_at_a_time_and_a_look_at_once() {
    let hub = hub();
    let mut device = Device::ours(&hub, "a").await;
    let one = device.asked(MOVE);
    let first = device.told().await;
    let two = device.asked(CLICK);
    let look = device.asked(Action::GetMousePosition);
    let asked = device.told().await;
    assert_eq!(asked["type"], "get_mouse_position");
    let position = json!({ "type": "mouse_position", "x": 1, "y": 2, "moving": true, "commandId": asked["commandId"] });
    device.say(position).await;
    assert_eq!(look.await.unwrap(), Ok(Outcome::Position { x: 1, y: 2, moving: true }));
    device.say(success(&first["commandId"])).await;
    let second = device.told().await;
    assert_eq!(second["type"], "mouse_click");
    device.say(success(&second["commandId"])).await;
    assert!(one.await.unwrap().is_ok() && two.await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_device_that_dies_fails_its_own_calls_alone() {
    let hub = hub();
    let (mut a, mut b) = (Device::plain(&hub, "a").await, Device::plain(&hub, "b").await);
    let (lost, kept) = (a.asked(CLICK), b.asked(CLICK));
    a.told().await;
    let sent = b.told().await;
    let nobody = a.asked(CLICK);
    drop(a);
    assert_eq!(lost.await.unwrap(), Err(DesktopError::disconnected()));
    assert!(nobody.await.unwrap().is_err());
    b.say(success(&sent["commandId"])).await;
    assert!(kept.await.unwrap().is_ok());
    assert_eq!(hub.devices().list().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_newest_connection_of_a_name_wins_and_the_old_one_is_sent_away() {
    let hub = hub();
    let mut old = Device::plain(&hub, "a").await;
    let lost = old.asked(CLICK);
    old.told().await;
    let mut new = Device::plain(&hub, "a").await;
    old.connection.say(&mut Vec::new()).await;
    let farewell = Farewell { code: 1000, reason: "New desktop connected" };
    assert_eq!((old.connection.farewell(), new.connection.farewell()), (Some(farewell), None));
    drop(old);
    assert_eq!(lost.await.unwrap(), Err(DesktopError::disconnected()));
    let asked = new.asked(CLICK);
    let sent = new.told().await;
    new.say(success(&sent["commandId"])).await;
    assert!(asked.await.unwrap().is_ok());
    assert_eq!(hub.guests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_device_that_does_not_introduce_itself_is_taken_for_a_plain_one() {
    let hub = hub();
    let bearer = Bearer::Device("shy".to_owned());
    let mut device = Device {
        hub: hub.clone(),
        name: "shy".to_owned(),
        connection: Connection::new(hub.clone(), bearer),
    };
    let begun = Instant::now();
    assert!(device.hears_nothing().await);
    assert!(begun.elapsed() > Duration::from_secs(2));
    let info = hub.devices().get("shy").unwrap().info().await.unwrap();
    assert_eq!(info.commands, remote::SEED);
    // It may say more later, and is taken at its word.
    device
        .say(json!({ "type": "handshake", "protocol": "1.1", "commands": ["mouse_move", "wat"] }))
        .await;
    assert_eq!(device.told().await["protocol"], "1.1");
    let info = hub.devices().get("shy").unwrap().info().await.unwrap();
    assert_eq!(info.commands, ["mouse_move"]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_that_a_device_does_not_know() {
    let hub = hub();
    let mut device = Device::plain(&hub, "studio").await;
    let (button, count) = (Button::Left, 1);
    let click = Action::MouseClickAt { at: None, button, count, modifiers: Vec::new() };
    let error = DesktopError::unsupported("mouse_click_at", "studio");
    assert_eq!(device.asked(click).await.unwrap(), Err(error));
    assert!(device.hears_nothing().await);
    let shot = device.asked(Action::Screenshot(Shot::default()));
    let sent = device.told().await;
    let id = sent["commandId"].clone();
    assert_eq!(sent, json!({ "type": "screenshot", "commandId": id }));
    let error =
        json!({ "type": "error", "error": "Screenshot not yet implemented", "commandId": id });
    device.say(error).await;
    assert_eq!(shot.await.unwrap(), Err(DesktopError::failed("Screenshot not yet implemented")));
}

#[tokio::test(start_paused = true)]
async fn waiting_is_done_without_the_device() {
    let hub = hub();
    let device = Device::plain(&hub, "a").await;
    let begun = Instant::now();
    let waited = device.asked(Action::Wait(kernel::desktop::Waiting::For(1.5)));
    assert_eq!(waited.await.unwrap(), Ok(Outcome::said("Waited 1.5 s")));
    assert_eq!(begun.elapsed(), Duration::from_millis(1500));
}

#[tokio::test(start_paused = true)]
async fn too_many_that_wait_are_refused() {
    let hub = hub();
    let mut device = Device::plain(&hub, "a").await;
    let desktop = hub.devices().get("a").unwrap();
    let asked: Vec<_> = (0..100)
        .map(|_| {
            let desktop = desktop.clone();
            tokio::spawn(async move { desktop.act(Order::from(CLICK)).await })
        })
        .collect();
    let mut full = 0;
    let answering = async {
        loop {
            let sent = device.told().await;
            device.say(success(&sent["commandId"])).await;
        }
    };
    tokio::select! {
        () = answering => (),
        () = async {
            for one in asked {
                full += usize::from(one.await.unwrap() == Err(DesktopError::queue_full()));
            }
        } => (),
    }
    assert_eq!(full, 35);
}

#[tokio::test(start_paused = true)]
async fn nothing_a_device_says_does_harm() {
    let hub = hub();
    let mut device = Device::ours(&hub, "a").await;
    let asked = device.asked(CLICK);
    let id = device.told().await["commandId"].clone();
    let kinds = ["handshake", "state", "success", "error", "screenshot", "batch", "pong"];
    let names = [
        "commandId",
        "message",
        "error",
        "code",
        "data",
        "width",
        "results",
        "paused",
        "held",
        "queue",
        "until",
        "protocol",
        "device",
        "commands",
        "screen",
        "hears",
    ];
    let mut chance = Chance::new(7, &kinds, &names);
    for _ in 0..FRAMES {
        let frame = chance.frame(|chance| {
            let hello = json!({
                "type": "handshake", "protocol": "1.1", "device": "b", "commands": ["wait"],
                "screen": { "w": 5, "h": 5 },
            });
            let held = json!({ "keys": ["shift"], "buttons": [] });
            let state = json!({ "type": "state", "paused": null, "held": held, "queue": 3 });
            chance.of(&[success(&json!("cmd_99_1")), hello, state]).clone()
        });
        device.connection.hear(frame.as_bytes()).await;
    }
    // Every introduction that is one was acknowledged, and nobody was sent away for it.
    let mut told = Vec::new();
    device.connection.say(&mut told).await;
    let is_ack = |frame: &Utf8Bytes| frame.contains("handshake_ack");
    assert!(told.len() > 1000 && told.iter().all(is_ack), "{}", told.len());
    assert_eq!(device.connection.farewell(), None);
    for frame in [
        json!(5),
        json!([]),
        json!({}),
        json!({ "type": 5, "commandId": {} }),
        json!({ "type": "success", "commandId": "cmd_99_1" }),
        json!({ "type": "state", "paused": 7, "held": "all", "queue": -1, "until": 1e300 }),
        json!({ "type": "handshake", "protocol": 5, "commands": [[]], "screen": { "w": -1 } }),
        json!({ "type": "mouse_move", "x": 1, "y": 1 }),
    ] {
        device.say(frame).await;
    }
    // The second introduction is acknowledged again, and everything goes on.
    assert_eq!(device.told().await["type"], "handshake_ack");
    assert!(!asked.is_finished());
    device.say(success(&id)).await;
    assert!(asked.await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_name_that_belongs_to_a_key_cannot_be_taken_with_another() {
    let hub = hub();
    hub.passes.make("studio", Scope::Device).await.unwrap();
    for (name, reason) in [
        ("studio", "that name belongs to another key"),
        ("local", "that is the name of the hub's own machine"),
        ("../x", "a name has 1 to 64 letters, digits, dots, dashes and underscores"),
    ] {
        let mut connection = Connection::new(hub.clone(), Bearer::Owner);
        let hello = json!({ "type": "handshake", "protocol": "1.1", "device": name });
        connection.hear(hello.to_string().as_bytes()).await;
        connection.say(&mut Vec::new()).await;
        assert_eq!(connection.farewell(), Some(Farewell { code: 1008, reason }));
    }
    assert_eq!(hub.devices().list(), []);
}

#[tokio::test(start_paused = true)]
async fn a_device_of_ours_is_told_until_when_it_may_be_driven_so_that_it_can_show_it() {
    let hub = hub();
    let (mut ours, mut plain) = (Device::ours(&hub, "a").await, Device::plain(&hub, "b").await);
    let after = |seconds| Some(hub.now() + Duration::from_secs(seconds));
    // Longer and shorter are news, the same once more is not.
    for until in [after(900), after(1800), after(60), None] {
        for name in ["a", "a", "b"] {
            hub.devices().get(name).unwrap().lend(until);
        }
        let told = ours.told().await;
        let mut expected = json!({
            "type": "handshake_ack", "server": "cloudflare-worker", "name": "megaron",
            "timestamp": hub.now().as_millisecond(), "protocol": "1.1", "device": "a",
            "armed": until.is_some(),
        });
        if let Some(until) = until {
            expected["until"] = until.as_millisecond().into();
        }
        assert_eq!(told, expected);
    }
    assert!(ours.hears_nothing().await);
    assert!(plain.hears_nothing().await);
}
