//! Desktops that are stopped over HTTP, that cannot be had, and whose names are taken.

use kernel::desktop::{Code, DesktopError, Devices};
use serde_json::{Value, json};

use super::desktop::{Device, arm, key};
use crate::common::{House, Socket, error};

/// A device that begins and does not go on, and something for it to do.
async fn holding(house: &House) -> (Device, Value) {
    let key = key(house, "studio", "device").await;
    let device = Device::connected(house, &key, "studio").await;
    arm(house, "studio").await;
    device.desktop.hold(true);
    (device, json!({ "type": "mouse_click", "button": "left" }))
}

async fn one_works_and_one_waits(house: &House, device: &Device) {
    device.desktop.begun(1).await;
    while house.get("/api/status").await.1["devices"][0]["queue"] != 1 {}
}

#[tokio::test]
async fn what_works_and_what_waits_when_a_desktop_is_stopped_was_stopped_by_the_user() {
    let house = House::new([]).await;
    let (device, click) = holding(&house).await;
    let stopping = async {
        one_works_and_one_waits(&house, &device).await;
        let stopped = house.post("/api/desktop/stop", json!({ "device": "studio" })).await;
        assert_eq!((stopped.0, &stopped.1["paused"]), (200, &json!("owner")));
        device.desktop.hold(false);
    };
    let (one, two, ()) = tokio::join!(
        house.post("/api/command", click.clone()),
        house.post("/api/command", click.clone()),
        stopping,
    );
    for (status, answer) in [one, two] {
        let said = (status, &answer["error"], &answer["code"]);
        assert_eq!(said, (409, &json!("Stopped by user"), &json!("paused")));
    }
    let (status, later) = house.post("/api/command", click.clone()).await;
    assert_eq!((status, &later["error"]), (409, &json!("Paused by user")));
    assert_eq!(device.desktop.done(), []);
    assert_eq!(house.post("/api/desktop/hand_back", json!({})).await.0, 200);
    assert_eq!(house.post("/api/command", click).await.0, 200);
    assert_eq!(device.desktop.done().len(), 1);
}

#[tokio::test]
async fn a_cancel_ends_what_works_and_what_waits_and_only_that() {
    let house = House::new([]).await;
    let (device, click) = holding(&house).await;
    let cancelling = async {
        one_works_and_one_waits(&house, &device).await;
        let cancelled = house.post("/api/command", json!({ "type": "cancel" })).await;
        let said = json!({ "type": "success", "message": "Cancelled 2 commands" });
        assert_eq!(cancelled, (200, said));
        device.desktop.hold(false);
    };
    let (one, two, ()) = tokio::join!(
        house.post("/api/command", click.clone()),
        house.post("/api/command", click.clone()),
        cancelling,
    );
    for (status, answer) in [one, two] {
        let said = (status, &answer["error"], &answer["code"]);
        assert_eq!(said, (200, &json!("Cancelled"), &json!("cancelled")));
    }
    assert_eq!(device.desktop.done(), []);
    assert_eq!(house.post("/api/command", click).await.0, 200);
    assert_eq!(device.desktop.done().len(), 1);
}

#[tokio::test]
async fn one_that_cannot_be_had_answers_in_the_words_of_the_command() {
    let house = House::new([]).await;
    let why = DesktopError::new(Code::NoDisplay, "no display (DISPLAY is not set)");
    house.host().devices.lack(Devices::LOCAL, why, true);
    let wish = |device: Value| json!({ "type": "mouse_move", "x": 1, "y": 2, "device": device });
    let text = "Mouse move failed: no display (DISPLAY is not set)";
    let expected = json!({ "type": "error", "error": text, "code": "no_display" });
    for device in [Value::Null, json!("local")] {
        assert_eq!(house.post("/api/command", wish(device)).await, (200, expected.clone()));
    }
    let refused = error("NOT_FOUND", "no display (DISPLAY is not set)");
    assert_eq!(house.post("/api/desktop/arm", json!({})).await, (404, refused));
    let key = key(&house, "studio", "device").await;
    let device = Device::connected(&house, &key, "studio").await;
    arm(&house, "studio").await;
    assert_eq!(house.post("/api/command", wish(Value::Null)).await.0, 200);
    assert_eq!(device.desktop.done().len(), 1);
    assert_eq!(house.post("/api/command", wish(json!("local"))).await, (200, expected));
}

#[tokio::test]
async fn a_name_that_somebody_has_with_another_key_is_refused_at_the_door() {
    let house = House::new([]).await;
    let owner = [("authorization", house.bearer())];
    let mut first = Socket::open(house.address(), "/connect", &owner).await.unwrap();
    let hello = json!({
        "type": "handshake", "client": "rust-automation", "version": "0.1.0", "protocol": "1.1",
        "device": "studio", "commands": ["mouse_move"],
    });
    first.send(hello).await;
    assert_eq!(first.next().await["device"], "studio");
    let key = key(&house, "studio", "device").await;
    let path = format!("/connect?token={key}");
    let refused = Socket::open(house.address(), &path, &[]).await.err().unwrap();
    assert_eq!(refused, (409, error("CONFLICT", "that name belongs to another key")));
    drop(first);
    while house.get("/api/status").await.1["connected"] == true {}
    assert!(Socket::open(house.address(), &path, &[]).await.is_ok());
}
