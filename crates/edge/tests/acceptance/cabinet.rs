//! Apps on disk: listed, put in, served on the other origin, and what they keep there.

use std::{
    fs,
    io::{Cursor, Write as _},
    time::Duration,
};

use serde_json::{Value, json};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::common::{Ask, House, Reply, error};

pub fn put(house: &House, id: &str, description: &Value, files: &[(&str, &str)]) {
    let folder = house.data_dir().join("apps").join(id);
    let page = ("index.html", "<!doctype html><script>yaar.app.register({})</script>");
    for (path, text) in [page].iter().chain(files) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(folder.join("app.json"), description.to_string()).unwrap();
}

/// Returns when the server has heard of an app that was just put there.
pub async fn listed(house: &House, id: &str) {
    loop {
        let (_, listed) = house.get("/api/apps").await;
        if listed["apps"].as_array().unwrap().iter().any(|app| app["id"] == id) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// One app in a frame.
pub struct Frame<'a> {
    house: &'a House,
    pub answer: Value,
    /// The path of its first document.
    pub start: String,
    /// The path of its ticket, with a slash at the end.
    path: String,
    pub told: Value,
}

impl<'a> Frame<'a> {
    pub async fn open(house: &'a House, id: &str, session: Option<&str>) -> Self {
        Self::of(house, json!({ "kind": "app", "id": id, "sessionId": session })).await
    }

    async fn of(house: &'a House, wish: Value) -> Self {
        let (status, answer) = house.post("/api/frames", wish).await;
        assert_eq!(status, 200, "{answer}");
        let url = answer["url"].as_str().unwrap();
        let start = url.strip_prefix(&format!("http://{}", house.sandbox())).unwrap().to_owned();
        let ticket = start.split('/').nth(2).unwrap();
        let path = format!("/f/{ticket}/");
        let sdk = Ask::new(house.sandbox(), "GET", &format!("{path}__megaron/sdk.js"));
        let sdk = sdk.send().await.text();
        let told = sdk.strip_prefix("globalThis.__megaron=").unwrap().split(";\n").next().unwrap();
        let told = serde_json::from_str(told).unwrap();
        Self { house, answer, start, path, told }
    }

    /// As a script in the frame asks, without its token.
    pub fn bare(&self, method: &str, path: &str) -> Ask {
        let path = format!("{}{path}", self.path);
        Ask::new(self.house.sandbox(), method, &path).header("origin", "null")
    }

    pub fn ask(&self, method: &str, path: &str) -> Ask {
        self.bare(method, path).header("x-iframe-token", self.told["token"].as_str().unwrap())
    }

    async fn get(&self, path: &str) -> Reply {
        self.ask("GET", path).send().await
    }

    async fn save(&self, path: &str, text: &str) -> (u16, Value) {
        let ask = self.ask("POST", &format!("api/storage/{path}"));
        json_of(&ask.body("application/octet-stream", text).send().await)
    }

    async fn read(&self, path: &str) -> (u16, String) {
        let reply = self.get(&format!("api/storage/{path}")).await;
        (reply.status, reply.text())
    }
}

pub fn json_of(reply: &Reply) -> (u16, Value) {
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
}

fn denied() -> (u16, Value) {
    (403, error("FORBIDDEN", "Access denied"))
}

fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, text) in files {
        writer.start_file(*path, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[tokio::test]
async fn apps_are_listed_with_what_they_ask_for_and_what_is_wrong_with_them() {
    let house = House::new([]).await;
    let description = json!({
        "name": "Ledger", "icon": "📊", "hidden": 1, "permissions": ["downloads"],
        "domains": ["api.example.com"],
        "fileAssociations": [{ "extensions": ["TALLY"], "command": "open", "paramKey": "content" }],
    });
    put(&house, "ledger", &description, &[]);
    put(&house, "pictured", &json!({}), &[("icon.svg", "<svg/>")]);
    let (status, listed) = house.get("/api/apps").await;
    let find = |id: &str| {
        let apps = listed["apps"].as_array().unwrap();
        apps.iter().find(|app| app["id"] == id).unwrap_or_else(|| panic!("{listed}")).clone()
    };
    assert_eq!(status, 200);
    assert_eq!(
        find("ledger"),
        json!({
            "id": "ledger", "name": "Ledger", "icon": "📊", "iconType": "emoji", "hidden": false,
            "appProtocol": false, "entry": "index.html", "bundled": false,
            "fileAssociations": [
                { "extensions": [".tally"], "command": "open", "paramKey": "content", "encoding": "text" },
            ],
            "permissions": ["downloads"],
            "domains": { "connect": ["https://api.example.com"], "load": [] },
            "problems": [{ "path": "/hidden", "message": "expected true or false, got a number" }],
        })
    );
    let pictured = find("pictured");
    assert_eq!(pictured["icon"], "/api/apps/pictured/icon");
    assert_eq!(
        (&pictured["iconType"], &find("scratchpad")["bundled"]),
        (&json!("image"), &json!(true))
    );
    let icon = house.ask("GET", "/api/apps/pictured/icon").send().await;
    assert_eq!((icon.status, icon.text().as_str()), (200, "<svg/>"));
    assert_eq!(icon.header("content-type"), Some("image/svg+xml"));
    assert!(icon.header("content-security-policy").unwrap().ends_with("; sandbox"));
    for path in [
        "/api/apps/ledger/icon",
        "/api/apps/none/icon",
        "/api/apps/..%2f..%2fkey/icon",
        "/api/apps/ledger/index.html",
        "/api/apps/ledger/app.json",
        "/api/apps/ledger/../../key",
        "/api/apps/ledger/",
    ] {
        let reply = house.ask("GET", path).send().await;
        assert_eq!(reply.json().0, 404, "{path}: no file of an app is of the page's origin");
    }
    let without = house.ask_without_key("GET", "/api/apps").send().await;
    assert_eq!(without.status, 401);
}

#[tokio::test]
async fn an_app_is_served_on_the_other_origin_with_nothing_but_what_it_declared() {
    let house = House::new([]).await;
    let description = json!({
        "domains": { "connect": ["api.example.com"], "load": ["https://cdn.example.com"] },
        "permissions": ["downloads"],
    });
    let files = [("a/b.js", "b"), ("src/main.ts", "x"), (".env", "x"), ("start.html", "<p>")];
    put(&house, "ledger", &description, &files);
    let id = house.session().await;
    let frame = Frame::open(&house, "ledger", Some(&id)).await;
    assert_eq!(frame.answer["sandbox"], "allow-scripts allow-forms allow-downloads");
    assert_eq!((&frame.answer["title"], &frame.told["app"]), (&json!("Ledger"), &json!("ledger")));
    let document = Ask::new(house.sandbox(), "GET", &frame.start).send().await;
    let ticket = frame.start.trim_end_matches('/');
    let expected = format!(
        "<!doctype html><script src=\"{ticket}/__megaron/sdk.js\"></script><script>yaar.app.register({{}})</script>"
    );
    assert_eq!(document.text(), expected, "what it is lent comes first");
    assert_eq!(document.header("cache-control"), Some("no-cache"));
    assert_eq!(document.header("referrer-policy"), Some("no-referrer"));
    let (own, page) = (format!("{}{ticket}/", house.sandbox()), house.address());
    let policy = document.header("content-security-policy").unwrap();
    for part in [
        format!("script-src {own} 'unsafe-inline' 'unsafe-eval' https://cdn.example.com;"),
        format!("connect-src {own} https://api.example.com;"),
        "default-src 'none';".to_owned(),
        format!("frame-ancestors http://{page} https://{page};"),
        "sandbox allow-scripts allow-forms allow-downloads".to_owned(),
    ] {
        assert!(policy.contains(&part), "{part} in {policy}");
    }
    let script = frame.get("static/a/b.js").await;
    assert_eq!((script.status, script.text().as_str()), (200, "b"));
    assert_eq!(script.header("content-type"), Some("text/javascript; charset=utf-8"));
    for path in [
        "src/main.ts",
        ".env",
        "none.js",
        "a",
        "a/",
        "..",
        "../key",
        "%2e%2e/key",
        "%2e%2e%2fkey",
        "a/../../../key",
        "..%5ckey",
        "%252e%252e/key",
        "/etc/passwd",
        "//etc/passwd",
        "a//b.js",
        "api",
        "static/src/../../key",
        "dist/%2e%2e/src/main.ts",
        "a%00.js",
        "%ff",
    ] {
        assert_eq!(frame.get(path).await.status, 404, "{path}");
    }
    let (status, answer) = house.post("/api/frames", json!({ "kind": "app", "id": "ledgr" })).await;
    let missing = error("NOT_FOUND", "no app is called `ledgr`; did you mean `ledger`?");
    assert_eq!((status, answer), (404, missing));
    put(
        &house,
        "later",
        &json!({ "entry": "sub dir/start.html" }),
        &[("sub dir/start.html", "<p>hi")],
    );
    listed(&house, "later").await;
    let later = Frame::open(&house, "later", None).await;
    assert!(later.start.ends_with("/sub%20dir/start.html"), "{}", later.start);
    assert!(Ask::new(house.sandbox(), "GET", &later.start).send().await.text().ends_with("<p>hi"));
}

#[tokio::test]
async fn whoever_shows_an_app_loads_it_anew_when_its_files_change() {
    let house = House::new([]).await;
    put(&house, "ledger", &json!({}), &[]);
    let frame = Frame::open(&house, "ledger", None).await;
    let mut socket = house.socket().await;
    let id = &frame.answer["frameId"];
    socket.send(json!({ "type": "holdFrame", "frameId": id })).await;
    socket.until(|heard| heard["type"] == "frameHeld").await;
    let told = json!({ "type": "frameMessage", "frameId": id, "message": { "type": "reload" } });
    // It may change before the frame is listened for, so it does until that is heard of.
    let mut change = tokio::time::interval(Duration::from_millis(300));
    loop {
        tokio::select! {
            heard = socket.next() => if heard == told { break },
            _ = change.tick() => put(&house, "ledger", &json!({}), &[("index.html", "new")]),
        }
    }
    let document = Ask::new(house.sandbox(), "GET", &frame.start).send().await.text();
    assert!(document.ends_with("new"), "{document}");
}

#[tokio::test]
async fn an_app_keeps_files_that_no_other_app_sees() {
    let mut house = House::new([]).await;
    put(&house, "ledger", &json!({}), &[]);
    put(&house, "other", &json!({}), &[]);
    let frame = Frame::open(&house, "ledger", None).await;
    let done = |path: &str| (200, json!({ "ok": true, "path": path }));
    assert_eq!(frame.save("apps/self/a%20b.json", "{}").await, done("apps/ledger/a b.json"));
    assert_eq!(frame.save("apps/ledger/d/x.txt", "grüße").await, done("apps/ledger/d/x.txt"));
    let reply = frame.get("api/storage/apps/self/a%20b.json").await;
    assert_eq!((reply.status, reply.text().as_str()), (200, "{}"));
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("cache-control"), Some("no-cache"));
    assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    assert_eq!(reply.header("content-security-policy"), Some("default-src 'none'; sandbox"));
    let (_, listed) = json_of(&frame.get("api/storage/apps/self?list=true").await);
    let shown: Vec<(&str, bool, u64)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            assert!(item["modifiedAt"].as_str().unwrap().ends_with('Z'), "{item}");
            (
                item["path"].as_str().unwrap(),
                item["isDirectory"].as_bool().unwrap(),
                item["size"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(shown, [("apps/ledger/d", true, 0), ("apps/ledger/a b.json", false, 2)]);
    let none = frame.get("api/storage/apps/self/none?list=true").await;
    assert_eq!(json_of(&none), (200, json!([])));
    let missing = (404, error("NOT_FOUND", "File not found"));
    assert_eq!(json_of(&frame.get("api/storage/apps/self/none").await), missing);

    let other = Frame::open(&house, "other", None).await;
    assert_eq!(json_of(&other.get("api/storage/apps/ledger/a%20b.json").await), denied());
    assert_eq!(other.save("apps/ledger/a%20b.json", "theirs").await, denied());
    let gone = frame.ask("DELETE", "api/storage/apps/self/d/x.txt").send().await;
    assert_eq!(json_of(&gone), done("apps/ledger/d/x.txt"));
    let again = frame.ask("DELETE", "api/storage/apps/self/d/x.txt").send().await;
    assert_eq!(json_of(&again), missing);

    house.restart().await;
    let frame = Frame::open(&house, "ledger", None).await;
    assert_eq!(
        frame.read("apps/self/a%20b.json").await,
        (200, "{}".into()),
        "also after a restart"
    );
    let kept = house.data_dir().join("storage/apps/ledger/a b.json");
    assert_eq!(fs::read_to_string(kept).unwrap(), "{}");
}

#[tokio::test]
async fn no_path_leads_from_one_apps_files_to_anything_else() {
    let house = House::new([]).await;
    put(&house, "ledger", &json!({}), &[]);
    fs::create_dir_all(house.data_dir().join("storage/apps/ledger")).unwrap();
    fs::create_dir_all(house.data_dir().join("storage/apps/other")).unwrap();
    fs::write(house.data_dir().join("storage/apps/other/x"), "secret").unwrap();
    fs::write(house.data_dir().join("storage/shared"), "secret").unwrap();
    let frame = Frame::open(&house, "ledger", None).await;
    for path in [
        "apps/other/x",
        "apps/self/../other/x",
        "apps/self/%2e%2e/other/x",
        "apps/self/%2E%2E%2fother/x",
        "apps/self/..%2fother/x",
        "../key",
        "%2e%2e/key",
        "apps/self/../../../key",
        "shared",
        "",
        "apps",
        "apps/ledgers/x",
        "apps/self/..%5cother%5cx",
        "apps/self/%00",
        "apps/self/%ff",
        "apps/SELF/x",
        "/etc/passwd",
        "apps/self/.megaron-1-1.tmp",
        "apps/other%2fx",
        "apps/self%2f%2e%2e%2fother%2fx",
    ] {
        for method in ["GET", "POST", "DELETE"] {
            let reply = frame.ask(method, &format!("api/storage/{path}")).send().await;
            assert_eq!(json_of(&reply), denied(), "{method} {path}");
        }
        let listed = frame.get(&format!("api/storage/{path}?list=true")).await;
        assert_eq!(json_of(&listed), denied(), "{path}");
    }
    assert_eq!(
        fs::read_to_string(house.data_dir().join("storage/apps/other/x")).unwrap(),
        "secret"
    );
    for (method, path) in [
        ("GET", "api/apps"),
        ("GET", "api/sessions"),
        ("GET", "api/applets"),
        ("PUT", "api/files/x"),
        ("GET", "api/fetch"),
        ("GET", "api/storage"),
        ("POST", "api/shell"),
        ("GET", "api/%73torage/apps/self/x"),
    ] {
        let reply = frame.ask(method, path).header("authorization", &house.bearer()).send().await;
        let text = format!("An app may not use {method} /{path}");
        assert_eq!(json_of(&reply), (403, error("FORBIDDEN", &text)));
    }
}

#[tokio::test]
async fn only_its_own_token_opens_what_an_app_keeps() {
    let house = House::new([]).await;
    put(&house, "ledger", &json!({}), &[]);
    let id = house.session().await;
    let frame = Frame::open(&house, "ledger", Some(&id)).await;
    let other = Frame::open(&house, "ledger", Some(&id)).await;
    assert_eq!(frame.save("apps/self/x.png", "x").await.0, 200);
    let path = "api/storage/apps/self/x.png";
    let missing = (401, error("UNAUTHORIZED", "Missing iframe token"));
    let invalid = (403, error("FORBIDDEN", "Invalid iframe token"));
    let word = |frame: &Frame<'_>, name: &str| frame.told[name].as_str().unwrap().to_owned();
    for method in ["GET", "POST", "DELETE"] {
        assert_eq!(json_of(&frame.bare(method, path).send().await), missing, "{method}");
        let wrong = frame.bare(method, path).header("x-iframe-token", &word(&other, "token"));
        assert_eq!(json_of(&wrong.send().await), invalid, "{method}");
        let key = frame.bare(method, path).header("authorization", &house.bearer());
        assert_eq!(json_of(&key.send().await), missing, "the key counts for nothing here");
    }
    let fetch = frame.bare("POST", "api/fetch").json(&json!({ "url": "https://a.example" }));
    assert_eq!(json_of(&fetch.send().await), missing);
    let reading = format!("{path}?token={}", word(&frame, "readToken"));
    assert_eq!(frame.bare("GET", &reading).send().await.text(), "x");
    let only = (403, error("FORBIDDEN", "This token is good for reading files only"));
    for (method, path) in [
        ("POST", reading.clone()),
        ("DELETE", reading.clone()),
        ("GET", format!("{reading}&list=true")),
    ] {
        assert_eq!(json_of(&frame.bare(method, &path).send().await), only, "{method} {path}");
    }
    let swapped = frame.bare("GET", path).header("x-iframe-token", &word(&frame, "readToken"));
    assert_eq!(json_of(&swapped.send().await), invalid);
    let in_address = format!("{path}?token={}", word(&frame, "token"));
    assert_eq!(json_of(&frame.bare("GET", &in_address).send().await), invalid);

    let preflight =
        frame.bare("OPTIONS", path).header("access-control-request-method", "POST").send().await;
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-origin"), Some("*"));
    assert!(preflight.header("access-control-allow-headers").unwrap().contains("X-Iframe-Token"));
    assert!(preflight.header("access-control-allow-methods").unwrap().contains("DELETE"));
    assert_eq!(preflight.header("access-control-allow-credentials"), None);
    let shown = frame.answer["frameId"].as_str().unwrap();
    assert_eq!(house.delete(&format!("/api/frames/{shown}")).await.0, 200);
    assert_eq!(frame.get(path).await.status, 404, "and they die with the window");
    assert_eq!(frame.bare("GET", &reading).send().await.status, 404);
    let log = house.log(&id).await.to_string();
    assert!(!log.contains(&word(&frame, "token")) && !log.contains(&word(&frame, "readToken")));
}

#[tokio::test]
async fn what_an_app_keeps_has_its_limits() {
    let house = House::new([]).await;
    put(&house, "small", &json!({ "storage": { "quota": 10 } }), &[]);
    let frame = Frame::open(&house, "small", None).await;
    assert_eq!(frame.save("apps/self/x", "123456").await.0, 200);
    let full = error("STORAGE_FULL", "The app keeps as much as it may (10 bytes)");
    assert_eq!(frame.save("apps/self/y", "123456").await, (507, full));
    assert_eq!(frame.save("apps/self/x", "1234567890").await.0, 200);
    let large = vec![b'x'; (50 << 20) + 1];
    let ask = frame.ask("POST", "api/storage/apps/self/y").body("application/octet-stream", large);
    let text = "Request body too large (max 52428800 bytes)";
    assert_eq!(json_of(&ask.send().await), (413, error("PAYLOAD_TOO_LARGE", text)));
}

#[tokio::test]
async fn an_archive_is_looked_at_then_put_in_then_taken_out() {
    let house = House::new([]).await;
    let archive = zipped(&[
        ("ledger/app.json", r#"{"name":"Ledger","permissions":["popups"]}"#),
        ("ledger/index.html", "<p>hi"),
    ]);
    let send = async |query: &str, kind: &str, bytes: Vec<u8>| {
        house.ask("POST", &format!("/api/apps{query}")).body(kind, bytes).send().await.json()
    };
    let (status, seen) = send("?dryRun=true", "application/zip", archive.clone()).await;
    assert_eq!(status, 200, "{seen}");
    let short = |answer: &Value| {
        json!([
            answer["app"]["id"],
            answer["app"]["permissions"],
            answer["app"]["bundled"],
            answer["replaces"]
        ])
    };
    assert_eq!(short(&seen), json!(["ledger", ["popups"], false, false]));
    assert!(!house.data_dir().join("apps/ledger").exists());
    let (_, put) = send("", "application/zip", archive.clone()).await;
    assert_eq!(short(&put), json!(["ledger", ["popups"], false, false]));
    let frame = Frame::open(&house, "ledger", None).await;
    assert!(Ask::new(house.sandbox(), "GET", &frame.start).send().await.text().ends_with("<p>hi"));
    let (_, again) = send("", "application/octet-stream", archive.clone()).await;
    assert_eq!(short(&again), json!(["ledger", ["popups"], false, true]));
    let (_, named) = send("?id=other", "application/zip", archive.clone()).await;
    assert_eq!(named["app"]["id"], "other");

    let bad = |text: &str| (400, error("BAD_REQUEST", text));
    let none = "expected a .zip or a .tar.gz archive";
    assert_eq!(send("", "application/zip", b"hello".to_vec()).await, bad(none));
    let out = zipped(&[("app.json", "{}"), ("../../x", "")]);
    let text = "the path `../../x` leads out of the app";
    assert_eq!(send("?id=x", "application/zip", out).await, bad(text));
    for kind in ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded", ""] {
        assert_eq!(send("", kind, archive.clone()).await.0, 415, "{kind}");
    }
    for id in ["../x", "A", "", ".x"] {
        assert_eq!(
            send(&format!("?id={id}"), "application/zip", archive.clone()).await.0,
            400,
            "{id}"
        );
    }
    assert_eq!(house.delete("/api/apps/ledger").await, (200, json!({ "ok": true })));
    let gone = error("NOT_FOUND", "no app is called `ledger`");
    assert_eq!(house.delete("/api/apps/ledger").await, (404, gone));
    let stays = error("CONFLICT", "`scratchpad` came with the program and cannot be removed");
    assert_eq!(house.delete("/api/apps/scratchpad").await, (409, stays));
    assert_eq!(house.delete("/api/apps/..%2fkey").await.0, 404);
    assert!(house.data_dir().join("key").exists());
}

#[tokio::test]
async fn an_app_that_outlives_the_server_keeps_what_it_may() {
    let mut house = House::new([]).await;
    put(&house, "ledger", &json!({}), &[("index.html", "<p>Ledger</p>")]);
    listed(&house, "ledger").await;
    let id = house.session().await;
    let content = json!({ "renderer": "iframe", "data": "/api/apps/ledger/index.html" });
    let window = json!({ "session": id, "windowId": "w", "title": "W", "content": content });
    let (status, opened) = house.post("/api/windows", window).await;
    assert_eq!(status, 200, "{opened}");
    let wish = json!({ "kind": "window", "id": "w", "sessionId": id });
    let frame = Frame::of(&house, wish.clone()).await;
    assert_eq!(frame.save("apps/self/a.txt", "kept").await.0, 200);
    let (path, told) = (frame.path.clone(), frame.told.clone());
    let given = &frame.answer;
    let kept = json!({ "frameId": given["frameId"], "url": given["url"], "nonce": given["nonce"] });
    house.restart().await;
    let mut again = wish.clone();
    again["keep"] = kept;
    let (status, answer) = house.post("/api/frames", again).await;
    assert_eq!(status, 200, "{answer}");
    // The document is the one of before, and knows of nothing.
    let start = String::new();
    let frame = Frame { house: &house, answer, start, path, told: told.clone() };
    assert_eq!(frame.read("apps/self/a.txt").await, (200, "kept".into()));
    let other = Frame::of(&house, wish).await;
    assert_ne!(other.told["token"], told["token"], "another frame has tokens of its own");
    let log = house.log(&id).await.to_string();
    for secret in ["token", "readToken"] {
        assert!(!log.contains(told[secret].as_str().unwrap()), "no token is kept");
    }
}
