//! The windows of a session, as the page meets them.

use serde_json::{Value, json};

use crate::common::{House, error};

fn note(session: &str) -> Value {
    let content = json!({ "renderer": "markdown", "data": "# hi" });
    json!({ "session": session, "windowId": "note", "title": "A note", "content": content })
}

fn shown(more: &Value) -> Value {
    let mut window = json!({
        "windowId": "note", "monitorId": "monitor-0", "title": "A note",
        "content": { "renderer": "markdown", "data": "# hi" },
        "bounds": { "x": 40, "y": 40, "w": 640, "h": 480 },
        "frameless": false, "state": "normal", "generation": 2,
    });
    window.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    window
}

async fn windows(house: &House, session: &str) -> Value {
    let (status, windows) = house.get(&format!("/api/windows?session={session}")).await;
    assert_eq!(status, 200, "{windows}");
    windows
}

#[tokio::test]
async fn the_person_opens_changes_and_closes_a_window() {
    let house = House::new([]).await;
    let id = house.session().await;
    assert_eq!(windows(&house, &id).await, json!({ "windows": [], "focused": null }));
    assert_eq!(house.post("/api/windows", note(&id)).await, (200, shown(&json!({}))));
    let change = json!({
        "session": id, "title": "Another", "bounds": { "x": 1.4, "h": 200.5 },
        "operation": { "op": "insertAt", "position": 1, "data": "#" }, "focus": true,
        "state": "maximized",
    });
    let changed = shown(&json!({
        "title": "Another", "state": "maximized", "generation": 4,
        "content": { "renderer": "markdown", "data": "## hi" },
        "bounds": { "x": 1, "y": 40, "w": 640, "h": 201 },
    }));
    let path = "/api/windows/monitor-0%2Fnote";
    assert_eq!(house.patch(path, change).await, (200, changed.clone()));
    let all = json!({ "windows": [changed], "focused": "monitor-0/note" });
    assert_eq!(windows(&house, &id).await, all);
    let closed = house.delete(&format!("/api/windows/note?session={id}")).await;
    assert_eq!(closed, (200, json!({ "ok": true })));
    assert_eq!(windows(&house, &id).await, json!({ "windows": [], "focused": null }));
    let log = house.log(&id).await;
    let facts = log["facts"].as_array().unwrap().iter();
    let facts: Vec<_> = facts.map(|fact| fact["fact"].as_str().unwrap()).collect();
    let changes = ["window_changed"; 5];
    let expected = [&["opened", "window_opened"][..], &changes, &["window_closed"]].concat();
    assert_eq!(facts, expected);
    let last = &log["facts"][7];
    assert_eq!(
        (&last["window"], &last["by"]),
        (&json!("monitor-0/note"), &json!({ "who": "person" }))
    );
    assert!(house.history(&id).await.iter().all(|event| !event.to_string().contains("note")));
}

#[tokio::test]
async fn a_window_of_an_app_is_opened_under_a_name_of_its_own() {
    let house = House::new([]).await;
    let id = house.session().await;
    let wish = json!({
        "sessionId": id, "monitorId": "1", "variant": "panel", "dockEdge": "top",
        "frameless": true, "minimized": true,
        "content": { "renderer": "iframe", "data": "/api/apps/sheet/index.html" },
    });
    let (status, opened) = house.post("/api/windows", wish).await;
    assert_eq!(status, 200, "{opened}");
    let name = opened["windowId"].as_str().unwrap();
    assert!(name.starts_with("window-"), "{name}");
    let expected = json!({
        "windowId": name, "monitorId": "monitor-1", "title": name, "appId": "sheet",
        "content": { "renderer": "iframe", "data": "/api/apps/sheet/index.html" },
        "bounds": { "x": 40, "y": 40, "w": 640, "h": 480 }, "variant": "panel",
        "dockEdge": "top", "frameless": true, "state": "minimized", "generation": 2,
    });
    assert_eq!(opened, expected);
    let listed = json!({ "windows": [expected], "focused": null });
    assert_eq!(windows(&house, &id).await, listed);
}

#[tokio::test]
async fn windows_outlive_the_server_and_not_their_session() {
    let mut house = House::new([]).await;
    let id = house.session().await;
    house.post("/api/windows", note(&id)).await;
    let before = windows(&house, &id).await;
    house.restart().await;
    assert_eq!(windows(&house, &id).await, before);
    assert_eq!(house.delete(&format!("/api/sessions/{id}")).await.0, 200);
    let (status, answer) = house.get(&format!("/api/windows?session={id}")).await;
    assert_eq!((status, answer), (404, error("NOT_FOUND", &format!("Session not found: {id}"))));
}

#[tokio::test]
async fn what_cannot_be_done_is_explained_and_changes_nothing() {
    let house = House::new([]).await;
    let id = house.session().await;
    house.post("/api/windows", note(&id)).await;
    house
        .post(
            "/api/windows",
            json!({ "session": id, "windowId": "1/note", "content": {
        "renderer": "text", "data": "" } }),
        )
        .await;
    let before = house.snapshot(&id).await;
    let bad = |message: &str| (400, error("BAD_REQUEST", message));
    let new = |more: Value| {
        let mut body = note(&id);
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for (body, answer) in [
        (
            json!({ "session": id }),
            bad("content is required; expected {\"renderer\": string, \"data\": …}"),
        ),
        (json!({}), bad("Invalid JSON body: missing field `session`")),
        (new(json!({ "session": "x" })), (404, error("NOT_FOUND", "Session not found: x"))),
        (
            new(json!({ "content": ["text", "x"] })),
            bad("Invalid JSON body: content: invalid type: sequence, expected a map"),
        ),
        (
            new(json!({ "content": { "renderer": "video", "data": "" } })),
            bad("no renderer is called `video`; expected one of markdown, html, text, table, \
                 image, iframe"),
        ),
        (
            new(json!({ "content": { "renderer": "text", "data": 5 } })),
            bad("a text window shows a text; expected a string, found a number"),
        ),
        (
            new(json!({ "windowId": "a/b" })),
            bad(
                "`a` is no monitor; expected `monitor-0` or the like, and no slash in a window's id",
            ),
        ),
        (
            new(json!({ "bounds": { "x": 0, "y": 0, "w": -5, "h": 1e300 } })),
            bad("w and h are from 1 to 100000, not 0 and 4294967295"),
        ),
        (
            new(json!({ "content": { "renderer": "text", "data": "x".repeat(2 << 20) } })),
            (
                413,
                error(
                    "PAYLOAD_TOO_LARGE",
                    "a window shows at most 2097152 bytes; that would be 2097154",
                ),
            ),
        ),
    ] {
        assert_eq!(house.post("/api/windows", body).await, answer);
    }
    let several = "several windows are called \"note\": monitor-0/note, monitor-1/note; say which";
    let lost = |name: &str| (404, error("NOT_FOUND", &format!("Window \"{name}\" not found.")));
    for (name, body, answer) in [
        ("gone", json!({ "session": id, "focus": true }), lost("gone")),
        ("note", json!({ "session": id, "focus": true }), (409, error("CONFLICT", several))),
        (
            "0%2Fnote",
            json!({ "session": id }),
            bad("there is nothing to change; expected one of title, content, operation, bounds, \
                 focus or state"),
        ),
        (
            "0%2Fnote",
            json!({ "session": id, "operation": { "op": "append", "data": 1 } }),
            bad("a markdown window shows a text; expected a string, found a number"),
        ),
        ("%ff", json!({ "session": id }), bad("Invalid window id")),
    ] {
        assert_eq!(house.patch(&format!("/api/windows/{name}"), body).await, answer, "{name}");
    }
    let gone = house.delete(&format!("/api/windows/gone?session={id}")).await;
    assert_eq!(gone, lost("gone"));
    let conflict = house.delete(&format!("/api/windows/note?session={id}")).await;
    assert_eq!(conflict, (409, error("CONFLICT", several)));
    assert_eq!(house.snapshot(&id).await, before);
    let mine = house.delete(&format!("/api/windows/note?session={id}&monitorId=1")).await;
    assert_eq!(mine, (200, json!({ "ok": true })));
    assert_eq!(windows(&house, &id).await["windows"][0]["monitorId"], "monitor-0");
}
