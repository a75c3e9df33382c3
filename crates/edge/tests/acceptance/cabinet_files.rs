//! Apps and files that the person opens over HTTP.

use std::fs;

use serde_json::{Value, json};

use crate::{
    cabinet::put,
    common::{House, error},
};

fn opens(extension: &str) -> Value {
    let association =
        json!({ "extensions": [extension], "command": "open", "paramKey": "content" });
    json!({ "fileAssociations": [association] })
}

#[tokio::test]
async fn an_app_is_opened_in_a_window_of_a_session() {
    let house = House::new([]).await;
    put(
        &house,
        "ledger",
        &json!({ "name": "Ledger", "defaultWidth": 300, "defaultHeight": 200 }),
        &[],
    );
    let id = house.session().await;
    let opened = house.post("/api/apps/open", json!({ "session": id, "appId": "ledger" })).await;
    let window = json!({ "appId": "ledger", "windowId": "monitor-0/ledger" });
    assert_eq!(opened, (200, window.clone()));
    let again = house.post("/api/apps/open", json!({ "session": id, "appId": "ledger" })).await;
    assert_eq!(again, (200, window), "one that is there comes to the front");
    let (_, windows) = house.get(&format!("/api/windows?session={id}")).await;
    let windows = windows["windows"].as_array().unwrap();
    assert_eq!(windows.len(), 1);
    assert_eq!(
        (&windows[0]["title"], &windows[0]["appId"], &windows[0]["bounds"]),
        (&json!("Ledger"), &json!("ledger"), &json!({ "x": 40, "y": 40, "w": 300, "h": 200 }))
    );
    let bad = "one of appId, path and file is needed";
    let nothing = house.post("/api/apps/open", json!({ "session": id })).await;
    assert_eq!(nothing, (400, error("BAD_REQUEST", bad)));
    let none = house.post("/api/apps/open", json!({ "session": id, "appId": "none" })).await;
    assert_eq!(none, (404, error("NOT_FOUND", "No app is called \"none\".")));
    let nowhere = house.post("/api/apps/open", json!({ "session": "x", "appId": "ledger" })).await;
    assert_eq!(nowhere, (404, error("NOT_FOUND", "Session not found: x")));
}

#[tokio::test]
async fn a_file_goes_to_the_app_that_the_person_chooses() {
    let mut house = House::new([]).await;
    put(&house, "ledger", &opens(".tally"), &[]);
    put(&house, "table", &opens("TALLY"), &[]);
    fs::write(house.workspace().join("a.tally"), "1,2").unwrap();
    let id = house.session().await;
    let wish = json!({ "session": id, "path": "a.tally", "ask": true });
    let asked = house.post("/api/apps/open", wish.clone()).await;
    let choices = json!([{ "id": "ledger", "name": "Ledger" }, { "id": "table", "name": "Table" }]);
    assert_eq!(asked, (200, json!({ "choices": choices })));
    let (_, windows) = house.get(&format!("/api/windows?session={id}")).await;
    assert_eq!(windows["windows"], json!([]), "nothing is opened yet");
    let chosen = json!({ "session": id, "path": "a.tally", "appId": "table", "remember": true });
    let (status, answer) = house.post("/api/apps/open", chosen).await;
    // Nobody shows the window, so that the app cannot take the file.
    let text = answer["error"].as_str().unwrap();
    assert!(status == 409 && text.contains("No client is connected to this session"), "{answer}");
    house.restart().await;
    let (status, answer) = house.post("/api/apps/open", wish).await;
    assert_eq!(status, 409, "it is preferred from now on: {answer}");
    let (_, windows) = house.get(&format!("/api/windows?session={id}")).await;
    assert_eq!(windows["windows"][0]["appId"], "table");
    assert_eq!(windows["windows"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_cannot_be_opened_is_explained() {
    let house = House::new([]).await;
    put(&house, "ledger", &opens(".tally"), &[]);
    fs::write(house.workspace().join("a.xyz"), "").unwrap();
    fs::write(house.workspace().join("bad.tally"), b"\xff").unwrap();
    let id = house.session().await;
    let open = async |more: Value| {
        let mut wish = json!({ "session": id });
        wish.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        house.post("/api/apps/open", wish).await
    };
    let sent = |name: &str, base64: &str| json!({ "file": { "name": name, "base64": base64 } });
    let key = house.data_dir().join("key");
    for (more, status, code, text) in [
        (json!({ "path": "a.xyz" }), 404, "NOT_FOUND", "No app is associated with \".xyz\" files."),
        (sent("b.xyz", ""), 404, "NOT_FOUND", "No app is associated with \".xyz\" files."),
        (sent("b.tally", "%"), 400, "BAD_REQUEST", "file.base64: it is not base64"),
        (
            json!({ "path": "bad.tally" }),
            400,
            "BAD_REQUEST",
            "\"bad.tally\" is not text; the association does not declare encoding \"base64\".",
        ),
        (json!({ "path": "none.tally" }), 404, "NOT_FOUND", "File not found"),
        (
            json!({ "path": key.to_str().unwrap() }),
            403,
            "FORBIDDEN",
            "Access denied: path not in allowed directories",
        ),
        (
            json!({ "path": "a.xyz", "file": { "name": "a", "base64": "" } }),
            400,
            "BAD_REQUEST",
            "path or file is needed, and not both",
        ),
        (
            json!({ "path": "a.xyz", "appId": "ledger" }),
            400,
            "BAD_REQUEST",
            "App \"ledger\" does not open \".xyz\" files.",
        ),
    ] {
        assert_eq!(open(more.clone()).await, (status, error(code, text)), "{more}");
    }
    let (_, windows) = house.get(&format!("/api/windows?session={id}")).await;
    assert_eq!(windows["windows"], json!([]), "and no window was opened for it");
}
