//! What waits here for its turn on a device, and what does not wait.

use kernel::desktop::{Pause, Waiting};

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
async fn what_waits_here_is_cancelled_with_what_works_there_and_all_of_it_is_counted() {
    let hub = hub();
    let mut device = Device::ours(&hub, "a").await;
    let works = device.asked(MOVE);
    let sent = device.told().await;
    let pauses = device.asked(Action::Wait(Waiting::For(60.0)));
    let waits = [device.asked(CLICK), device.asked(CLICK)];
    queued(&hub, 2).await;
    let devices = hub.devices().clone();
    let cancelling = tokio::spawn(async move { devices.cancel("a", None).await });
    let told = device.told().await;
    assert_eq!(told, json!({ "type": "cancel", "commandId": told["commandId"] }));
    let id = &sent["commandId"];
    let ended =
        json!({ "type": "error", "error": "Cancelled", "code": "cancelled", "commandId": id });
    device.say(ended).await;
    let id = &told["commandId"];
    let counted = json!({ "type": "success", "message": "Cancelled 1 command", "commandId": id });
    device.say(counted).await;
    assert_eq!(cancelling.await.unwrap(), Ok(4));
    for ended in [works, pauses].into_iter().chain(waits) {
        assert_eq!(ended.await.unwrap(), Err(DesktopError::cancelled()));
    }
    assert!(device.hears_nothing().await);
}

#[tokio::test(start_paused = true)]
async fn one_of_the_seed_goes_on_with_what_it_does_and_gets_nothing_of_what_was_cancelled() {
    let hub = hub();
    let mut device = Device::plain(&hub, "a").await;
    let works = device.asked(MOVE);
    let sent = device.told().await;
    let cancel = || hub.devices().cancel("a", None);
    assert_eq!(cancel().await, Err(DesktopError::unsupported("cancel", "a")));
    let waits = device.asked(CLICK);
    queued(&hub, 1).await;
    assert_eq!(cancel().await, Ok(1));
    assert_eq!(waits.await.unwrap(), Err(DesktopError::cancelled()));
    device.say(success(&sent["commandId"])).await;
    assert_eq!(works.await.unwrap(), Ok(Outcome::said("Clicked left button")));
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
