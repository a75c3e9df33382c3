//! Whatever a hub sends, a device answers it and goes on.

use std::time::Duration;

use kernel::desktop::Action;
use serde_json::Value;
use testkit::Chance;

use super::{Device, click};
use crate::{
    command::{Request, parse},
    examples, say,
};

const FRAMES: usize = 100_000;
const NAMES: [&str; 18] = [
    "x",
    "y",
    "dx",
    "duration",
    "button",
    "direction",
    "intensity",
    "text",
    "command",
    "keys",
    "key",
    "path",
    "region",
    "actions",
    "after",
    "id",
    "commandId",
    "target",
];

#[tokio::test(start_paused = true)]
async fn each_of_a_hundred_thousand_frames_by_chance_is_answered() {
    let orders = examples::orders();
    let kinds = [&Action::KINDS[..], &["hand_back", "cancel", "handshake_ack"]].concat();
    let (mut device, mut chance) = (Device::plain(), Chance::new(9, &kinds, &NAMES));
    let (mut done, mut refused) = (0, 0);
    for number in 0..FRAMES {
        let frame = chance.frame(|chance| {
            let mut order = chance.of(&orders).clone();
            order.id = format!("cmd_{number}");
            Value::Object(say::command(&order, false).unwrap())
        });
        let parsed = parse(&frame);
        device.engine.hear(&frame);
        if matches!(parsed.result, Ok(Request::Acknowledged { .. } | Request::Nothing)) {
            continue;
        }
        let reply = device.reply().await;
        assert_eq!(reply["commandId"].as_str(), parsed.id.as_deref(), "{frame}: {reply}");
        match reply["type"].as_str() {
            Some("error") => refused += 1,
            Some(_) => done += 1,
            None => panic!("{frame}: {reply}"),
        }
        // A line that is lost loses nothing but what was under way.
        if number % 10_000 == 0 {
            device.engine.disconnected().await;
        }
        // They come no faster than they may, or most would be refused for that alone.
        tokio::time::advance(Duration::from_millis(20)).await;
    }
    assert!(done > 10_000 && refused > 10_000, "{done} {refused}");
    tokio::time::advance(Duration::from_mins(1)).await;
    assert_eq!(device.ask(click("last")).await["type"], "success");
}
