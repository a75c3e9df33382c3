//! What cannot be done with windows, and how that is said; and which window is meant.

use kernel::windows::{Bounds, CONTENT_BYTES, Operation, WindowError};
use serde_json::json;

use crate::*;

#[tokio::test]
async fn a_window_that_cannot_be_is_refused_with_what_was_expected() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    let long = "x".repeat(129);
    let bounds = |x, w| Some(Bounds { x, y: 0, w, h: 1 });
    let iframe = shows(Renderer::Iframe, "/api/apps/sheet/index.html");
    let ids = "a window's id has 1 to 128 characters, none of them a slash or a control character";
    let monitor = "is no monitor; expected `monitor-0` or the like, and no slash in a window's id";
    for (opening, problem) in [
        (note("", "x"), ids.to_owned()),
        (note(&long, "x"), ids.to_owned()),
        (note("a\nb", "x"), ids.to_owned()),
        (note("monitor-0/a/b", "x"), ids.to_owned()),
        (note("a/b", "x"), format!("`a` {monitor}")),
        (
            Opening { monitor: Some("monitor-".into()), ..note("a", "x") },
            format!("`monitor-` {monitor}"),
        ),
        (
            Opening { title: "x".repeat(201), ..note("a", "x") },
            "a title has at most 200 characters, not 201".to_owned(),
        ),
        (
            Opening { bounds: bounds(0, 0), ..note("a", "x") },
            "w and h are from 1 to 100000, not 0 and 1".to_owned(),
        ),
        (
            Opening { bounds: bounds(100_001, 1), ..note("a", "x") },
            "x and y are from -100000 to 100000, not 100001 and 0".to_owned(),
        ),
        (
            Opening { app: Some("Sheet".into()), ..note("a", "x") },
            "`Sheet` is no app's id; expected a small letter, then small letters, digits and hyphens"
                .to_owned(),
        ),
        (
            Opening { app: Some("dock".into()), ..Opening::new("a", "t", iframe) },
            "the address is of the app `sheet`, not of `dock`".to_owned(),
        ),
        (
            note("a", &"x".repeat(CONTENT_BYTES)),
            "a window shows at most 2097152 bytes; that would be 2097154".to_owned(),
        ),
    ] {
        assert_eq!(arrange(&host, id, open(opening)).await, Err(problem));
    }
    assert_eq!(window_facts(&world, id).await, []);
}

#[tokio::test]
async fn changes_that_cannot_all_be_made_are_not_made_at_all() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    arrange(&host, id, open(note("a", "x"))).await.unwrap();
    let before = host.windows(id).await.unwrap();
    let append = |text: String| WindowChange::Updated {
        operation: Operation::Append { data: Value::String(text) },
    };
    let number = WindowChange::Updated { operation: Operation::Prepend { data: json!(1) } };
    for (bad, problem) in [
        (WindowChange::Resized { w: 0, h: 0 }, "w and h are from 1 to 100000, not 0 and 0"),
        (WindowChange::Titled { title: String::new() }, "the title is empty"),
        (number, "a text window shows a text; expected a string, found a number"),
        (
            append("x".repeat(CONTENT_BYTES)),
            "a window shows at most 2097152 bytes; that would be 2097155",
        ),
    ] {
        let wish = change("a", [WindowChange::Minimised, bad]);
        assert_eq!(arrange(&host, id, wish).await, Err(problem.to_owned()));
    }
    assert_eq!(host.windows(id).await.unwrap(), before);
}

#[tokio::test]
async fn all_windows_together_show_only_so_much() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    let large = "x".repeat(CONTENT_BYTES - 2);
    for number in 0..32 {
        arrange(&host, id, open(note(&number.to_string(), &large))).await.unwrap();
    }
    let problem = "all windows together show at most 67108864 bytes; close some".to_owned();
    assert_eq!(arrange(&host, id, open(note("one", ""))).await, Err(problem));
    arrange(&host, id, open(note("7", "less"))).await.unwrap();
    arrange(&host, id, open(note("one", ""))).await.unwrap();
}

#[tokio::test]
async fn a_window_is_found_by_either_name_and_never_by_chance() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    let on = |monitor: &str, name: &str| {
        open(Opening { monitor: Some(monitor.to_owned()), ..note(name, "x") })
    };
    for wish in [on("monitor-0", "dock"), on("1", "dock"), on("monitor-1", "only")] {
        arrange(&host, id, wish).await.unwrap();
    }
    arrange(&host, id, open(note("monitor-2/far", "x"))).await.unwrap();
    let windows = host.windows(id).await.unwrap();
    let find = |name: &str, monitor: Option<&str>| match windows.find(name, monitor) {
        Ok(pane) => Ok(pane.window.key()),
        Err(error) => Err(error.to_string()),
    };
    for (name, monitor, key) in [
        ("monitor-0/dock", None, "monitor-0/dock"),
        ("1/dock", None, "monitor-1/dock"),
        ("dock", Some("monitor-1"), "monitor-1/dock"),
        ("dock", Some("0"), "monitor-0/dock"),
        ("only", None, "monitor-1/only"),
        ("only", Some("monitor-0"), "monitor-1/only"),
        ("far", None, "monitor-2/far"),
    ] {
        assert_eq!(find(name, monitor), Ok(key.to_owned()), "{name} {monitor:?}");
    }
    let several = "several windows are called \"dock\": monitor-0/dock, monitor-1/dock; say which";
    for monitor in [None, Some("monitor-7")] {
        assert_eq!(find("dock", monitor), Err(several.to_owned()));
    }
    for name in ["", "/", "monitor-0/only", "monitor-0/monitor-0/dock", "ock", "Dock"] {
        assert_eq!(find(name, None), Err(format!("Window \"{name}\" not found.")));
    }
    let ambiguous = windows.find("dock", None);
    assert!(matches!(ambiguous, Err(WindowError::Ambiguous { .. })));
    assert_eq!(arrange(&host, id, close("dock")).await, Err(several.to_owned()));
}
