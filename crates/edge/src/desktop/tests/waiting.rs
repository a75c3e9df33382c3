//! What waits here for its turn on a device, and what does not wait.

use kernel::desktop::Pause;

use super::*;

/// Returns when so many wait for their turn.
async fn queued(hub: &Hub, count: usize) {
    while hub.guests()[0].remote.queue() != count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_waits_when_everything_is_stopped_is_never_sent() {
    let hub = hub();
    let mut device = Device::plain(&hub, "a").await;
    let works = device.asked(MOVE);
    let sent = device.told().await;
    let waits = [device.asked(CLICK), device.asked(CLICK)];
    queued(&hub, 2).await;
    // One that knows only the seed cannot be told to stop; on our side it is stopped all the same.
    hub.devices().pause("a", Pause::Owner).await.unwrap_err();
    assert_eq!(works.await.unwrap(), Err(DesktopError::stopped()));
    for waits in waits {
        assert_eq!(waits.await.unwrap(), Err(DesktopError::stopped()));
    }
    device.say(success(&sent["commandId"])).await;
    assert!(device.hears_nothing().await);
    assert_eq!(device.asked(CLICK).await.unwrap(), Err(DesktopError::paused()));
}

#[tokio::test(start_paused = true)]
async fn what_waits_when_a_person_takes_the_device_there_is_never_sent() {
    let hub = hub();
    let mut device = Device::ours(&hub, "a").await;
    let works = device.asked(MOVE);
    let sent = device.told().await;
    let waits = device.asked(CLICK);
    queued(&hub, 1).await;
    device.say(json!({ "type": "state", "paused": "human" })).await;
    let stopped = json!({
        "type": "error", "error": "Stopped by user", "code": "paused", "commandId": sent["commandId"],
    });
    device.say(stopped).await;
    assert_eq!(works.await.unwrap(), Err(DesktopError::stopped()));
    assert_eq!(waits.await.unwrap(), Err(DesktopError::stopped()));
    assert!(device.hears_nothing().await);
}

#[tokio::test(start_paused = true)]
async fn whoever_looks_waits_for_no_turn_and_keeps_nobody_waiting() {
    let hub = hub();
    let mut device = Device::ours(&hub, "a").await;
    let desktop = hub.devices().get("a").unwrap();
    let works = device.asked(MOVE);
    let moving = device.told().await;
    let look = || {
        let desktop = desktop.clone();
        tokio::spawn(async move { desktop.glance(true).await.map(drop) })
    };
    let looks = [look(), look()];
    let picture = device.told().await;
    assert_eq!(picture["type"], "screenshot");
    device.say(success(&moving["commandId"])).await;
    works.await.unwrap().unwrap();
    // Nobody has answered the first who looked: the click is sent, and no second picture is wanted.
    let clicks = device.asked(CLICK);
    let clicking = device.told().await;
    assert_eq!(clicking["type"], "mouse_click");
    device.say(success(&clicking["commandId"])).await;
    clicks.await.unwrap().unwrap();
    assert!(!looks.iter().any(JoinHandle::is_finished));
    for id in [picture["commandId"].clone(), Value::Null] {
        let id = if id.is_null() { device.told().await["commandId"].clone() } else { id };
        device.say(json!({ "type": "error", "error": "no", "commandId": id })).await;
    }
    for look in looks {
        assert_eq!(look.await.unwrap(), Err(DesktopError::failed("no")));
    }
}
