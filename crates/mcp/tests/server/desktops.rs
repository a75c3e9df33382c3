//! The tools for desktops, lent to clients like any other.

use std::{sync::Arc, time::Duration};

use kernel::desktop::{Action, Arming, Class, Point};
use serde_json::{Value, json};
use testkit::{FakeDesktop, World};

use super::talk::Talk;

#[tokio::test]
async fn a_client_sees_a_desktop_and_drives_it_once_it_is_armed() {
    let mut talk = Talk::new(&World::new([])).await;
    let desktop = FakeDesktop::default();
    let _stay = talk.host.devices.join("studio", Arc::new(desktop.clone()));
    let mut editions = talk.host.ports.tools.editions();
    tokio::spawn(tools::desktop::offer(&talk.host));
    editions.wait_for(|_| talk.host.ports.tools.is_ours("computer")).await.unwrap();

    talk.request(1, "tools/list", json!({})).await;
    let listed = talk.answer(1).await;
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    for name in [
        "computer",
        "desktop_replay",
        "get_mouse_position",
        "keyboard_command",
        "keyboard_input",
        "mouse_click",
        "mouse_move",
        "mouse_scroll",
        "screenshot",
    ] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }

    let until = talk.host.ports.clock.now() + Duration::from_mins(15);
    let classes = vec![Class::Look, Class::Point];
    let arming = Arming { device: "studio".into(), session: None, classes, until, area: None };
    talk.host.arm(arming).await.unwrap();
    talk.call(2, "screenshot", json!({})).await;
    let shown = talk.answer(2).await;
    let kinds: Vec<&Value> =
        shown["content"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(shown["isError"], false, "{shown}");
    assert_eq!(kinds, ["text", "image"]);
    assert_eq!(shown["content"][1]["mimeType"], "image/png");
    // In the points of that picture, as for everybody who has seen one.
    talk.call(3, "computer", json!({ "action": "left_click", "coordinate": ["3", 4] })).await;
    let text = r#"Clicked left button at (3, 4) {"screen":{"x":420,"y":540}}"#;
    let content = json!([{ "type": "text", "text": text }]);
    assert_eq!(talk.answer(3).await, json!({ "content": content, "isError": false }));
    let (done, there) = (desktop.done(), Point { x: 420, y: 540 });
    let hit = |it: &Action| matches!(it, Action::MouseClickAt { at, .. } if *at == Some(there));
    assert!(done.len() == 1 && done.iter().all(hit), "{done:?}");
    // And what was not granted is refused to them as well.
    talk.call(4, "keyboard_input", json!({ "text": "ls" })).await;
    let text = "Desktop control is not granted; expected one of: type";
    let content = json!([{ "type": "text", "text": text }]);
    assert_eq!(talk.answer(4).await, json!({ "content": content, "isError": true }));
}
