//! Applets: found, loaded, and what they say of themselves.

use std::{fs, path::Path, time::Duration};

use serde_json::{Value, json};

use crate::common::{House, bad, error, no_session};

const NOBODY: &str = "0190f5fe-7c00-7a00-8000-0000000000ff";

fn write(root: &Path, slug: &str, files: &[(&str, &str)]) {
    fs::create_dir_all(root.join(slug)).unwrap();
    for (name, text) in files {
        fs::write(root.join(slug).join(name), text).unwrap();
    }
}

fn meta(name: &str, day: u8, more: &Value) -> String {
    let mut meta = json!({ "name": name, "updatedAt": format!("2040-01-{day:02}T00:00:00.000Z") });
    meta.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    meta.to_string()
}

/// The applets that did not come with the program, once there are so many.
async fn own(house: &House, count: usize) -> Vec<Value> {
    loop {
        let (status, listed) = house.get("/api/applets").await;
        assert_eq!(status, 200);
        let all = listed["applets"].as_array().unwrap();
        let own: Vec<Value> = all.iter().filter(|it| it["bundled"] == false).cloned().collect();
        if own.len() == count {
            return own;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn applets_are_listed_with_the_newest_first_and_the_owners_win() {
    let house = House::new([]).await;
    let (ours, theirs) = (house.applets(), house.caco());
    let params = json!({ "path": { "required": true, "description": "which" } });
    let more = json!({ "description": "ours", "params": params, "permissions": ["shell"] });
    write(&ours, "clock", &[("content.html", "<b>"), ("meta.json", &meta("Clock", 1, &more))]);
    let more = json!({ "params": { "page": "a page" } });
    write(&theirs, "clock", &[("content.html", ""), ("meta.json", &meta("Not", 9, &json!({})))]);
    write(&theirs, "book", &[("content.html", ""), ("meta.json", &meta("Book", 2, &more))]);
    write(&theirs, "broken", &[("content.html", ""), ("meta.json", "{")]);
    let path = |root: &Path, rest: &str| root.join(rest).to_str().unwrap().to_owned();
    let paths = |root: &Path, slug: &str| {
        json!({
            "root": path(root, slug), "meta": path(root, &format!("{slug}/meta.json")),
            "html": path(root, &format!("{slug}/content.html")),
            "js": path(root, &format!("{slug}/script.js")),
            "css": path(root, &format!("{slug}/style.css")),
        })
    };
    let expected = json!([
        {
            "slug": "book", "name": "Book", "description": null, "params": { "page": "a page" },
            "updatedAt": "2040-01-02T00:00:00.000Z", "paths": paths(&theirs, "book"),
            "permissions": [], "bundled": false,
        },
        {
            "slug": "clock", "name": "Clock", "description": "ours", "params": params,
            "updatedAt": "2040-01-01T00:00:00.000Z", "paths": paths(&ours, "clock"),
            "permissions": ["shell"], "bundled": false,
        },
    ]);
    assert_eq!(json!(own(&house, 2).await), expected);
}

#[tokio::test]
async fn an_applet_is_loaded_or_the_answer_says_why_not() {
    let house = House::new([]).await;
    write(&house.applets(), "a", &[("content.html", "<b>a"), ("meta.json", r#"{"name":"A"}"#)]);
    let all = [
        ("content.html", "<b>b"),
        ("meta.json", r#"{"name":"B"}"#),
        ("script.js", "go()"),
        ("style.css", "b{}"),
    ];
    write(&house.applets(), "b", &all);
    let loaded = |slug: &str, title: &str, js: Value, css: Value| {
        let html = format!("<b>{slug}");
        let loaded = json!({
            "ok": true, "slug": slug, "title": title, "html": html, "js": js, "css": css,
        });
        (200, loaded)
    };
    let plain = loaded("a", "A", json!(null), json!(null));
    assert_eq!(house.post("/api/applets/a/load", json!({})).await, plain);
    let bare = house.ask("POST", "/api/applets/a/load").header("content-type", "application/json");
    assert_eq!(bare.send().await.json(), plain, "a body is not needed");
    let whole = loaded("b", "B", json!("go()"), json!("b{}"));
    assert_eq!(house.post("/api/applets/b/load", json!({})).await, whole);

    let missing = (404, error("NOT_FOUND", "Applet \"none\" not found"));
    assert_eq!(house.post("/api/applets/none/load", json!({})).await, missing);
    let failed = (500, error("INTERNAL_ERROR", "Failed to load applet"));
    let long = "x".repeat(65);
    for slug in [
        "A",
        "a_b",
        "-a",
        "a-",
        ".a",
        "_a",
        "a.b",
        "%2e%2e",
        "%2e",
        "..%2fapplets%2fa",
        "a%00",
        "a%20b",
        "%ff",
        "a%2f",
        "%252e%252e",
        "a%5cb",
        &long,
    ] {
        let answer = house.post(&format!("/api/applets/{slug}/load"), json!({})).await;
        assert_eq!(answer, failed, "{slug}");
    }
    let answer = house.post("/api/applets/a/load", json!({ "keepState": "yes" })).await;
    let text = "Invalid JSON body: keepState: invalid type: string \"yes\", expected a boolean";
    assert_eq!(answer, bad(text));
    let answer = house.post("/api/applets/a/load", json!({ "sessionId": NOBODY })).await;
    assert_eq!(answer, no_session(NOBODY));
}

#[tokio::test]
async fn the_state_of_an_applet_is_its_own_and_that_of_its_session() {
    let mut house = House::new([]).await;
    for slug in ["a", "b"] {
        write(&house.applets(), slug, &[("content.html", ""), ("meta.json", r#"{"name":"x"}"#)]);
    }
    let (one, two) = (house.session().await, house.session().await);
    let place = |session: &str, slug: &str| format!("?sessionId={session}&slug={slug}");
    let state = |query: String| {
        let house = &house;
        async move {
            let (status, answer) = house.get(&format!("/api/applet/state{query}")).await;
            assert_eq!(status, 200, "{answer}");
            answer["state"].clone()
        }
    };
    let set = |query: String, data: Value| {
        let house = &house;
        async move { house.post(&format!("/api/applet/state{query}"), data).await }
    };
    let ok = (200, json!({ "ok": true }));
    assert_eq!(set(place(&one, "a"), json!({ "n": 1, "m": 1 })).await, ok);
    assert_eq!(set(place(&one, "a"), json!({ "n": 2 })).await, ok);
    assert_eq!(set(place(&one, "b"), json!({ "n": 3 })).await, ok);
    assert_eq!(set(place(&two, "a"), json!({ "n": 4 })).await, ok);
    assert_eq!(state(place(&one, "a")).await, json!({ "n": 2, "m": 1 }));
    assert_eq!(state(place(&one, "b")).await, json!({ "n": 3 }));
    assert_eq!(state(place(&two, "a")).await, json!({ "n": 4 }));
    assert_eq!(state(String::new()).await, json!({}), "nothing is open yet");

    let keep = json!({ "keepState": true });
    assert_eq!(house.post("/api/applets/a/load", keep).await.0, 200);
    assert_eq!(state(String::new()).await, json!({ "n": 4 }), "now one is, in the active session");
    assert_eq!(house.post("/api/applets/a/load", json!({})).await.0, 200);
    assert_eq!(state(place(&two, "a")).await, json!({}), "loading clears it");
    assert_eq!(state(place(&one, "a")).await, json!({ "n": 2, "m": 1 }), "and no other");
    let there = json!({ "sessionId": one });
    assert_eq!(house.post("/api/applets/b/load", there).await.0, 200);
    assert_eq!(state(place(&one, "b")).await, json!({}));

    assert_eq!(set(place(NOBODY, "a"), json!({})).await, no_session(NOBODY));
    assert_eq!(set(place("x", "a"), json!({})).await, no_session("x"));
    for slug in ["..", "a/b", "A", "a%23b", "a%00"] {
        assert_eq!(set(place(&one, slug), json!({})).await, bad("Invalid slug"), "{slug}");
    }
    for data in [json!("x"), json!(1), json!(null)] {
        assert_eq!(set(place(&one, "a"), data).await, bad("Invalid state object"));
    }
    let large = json!({ "k": "x".repeat(1_000_000), "l": "" });
    assert_eq!(set(place(&one, "a"), large).await, ok);
    let more = json!({ "l": "x".repeat(100_000) });
    let text = "applet state would be larger than 1 MB";
    assert_eq!(set(place(&one, "a"), more).await, (413, error("PAYLOAD_TOO_LARGE", text)));
    house.restart().await;
    let (_, answer) = house.get(&format!("/api/applet/state{}", place(&two, "a"))).await;
    assert_eq!(answer, json!({ "state": {} }));
    let (_, answer) = house.get(&format!("/api/applet/state{}", place(&one, "a"))).await;
    assert_eq!(answer["state"]["n"], 2, "it survives a power cut");
}

#[tokio::test]
async fn everybody_hears_that_an_applet_changed() {
    let house = House::new([]).await;
    let mut socket = house.socket().await;
    write(&house.applets(), "a", &[("content.html", ""), ("meta.json", r#"{"name":"x"}"#)]);
    let event = json!({ "type": "applet.changed", "data": { "slug": "a" } });
    assert_eq!(socket.next().await, json!({ "type": "globalEvent", "event": event }));
}

#[tokio::test]
async fn whoever_hears_of_state_is_told_whose_it_is() {
    let house = House::new([]).await;
    let id = house.session().await;
    let (mut sender, mut other) = (house.listener(&id).await, house.listener(&id).await);
    let data = json!({ "n": 1 });
    sender.send(json!({ "type": "setState", "data": data, "appletSlug": "a" })).await;
    let heard = other.until(|frame| frame["type"] == "stateUpdate").await;
    let expected = json!({ "type": "stateUpdate", "appletSlug": "a", "data": data });
    assert_eq!(heard.last(), Some(&expected));
}
